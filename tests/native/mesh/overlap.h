// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two blocks that overlap and share no node, as two fingers do whose cells were split; and what tests of
// embeddings do with any cage.

#pragma once

#include "mesh/solids.h"

/// Copies two cages into one.
static inline void joinCages(const srCage* a, const srCage* b, srVec3 shift, srCage* outCage) {
    int32_t nodeCount = a->nodeCount + b->nodeCount, cellCount = a->cellCount + b->cellCount;
    srVec3* nodes = malloc(sizeof(srVec3) * (size_t)nodeCount);
    int32_t (*cells)[4] = malloc(sizeof(cells[0]) * (size_t)cellCount);
    for (int32_t i = 0; i < nodeCount; i++) {
        nodes[i] = i < a->nodeCount ? a->nodes[i] : srAdd(b->nodes[i - a->nodeCount], shift);
    }
    for (int32_t i = 0; i < 4 * cellCount; i++) {
        int32_t cell = i / 4;
        cells[cell][i % 4] =
            cell < a->cellCount ? a->cells[cell][i % 4] : b->cells[cell - a->cellCount][i % 4] + a->nodeCount;
    }
    srResult result = srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, cellCount, outCage);
    free(nodes);
    free(cells);
    assert_success(result);
}

/// Two blocks of 2 x 1 x 1, the second shifted by `shift`.
static inline void makeOverlap(srVec3 shift, srCage* outCage) {
    srCage block;
    makeBlock(8, 4, 4, 0.25, &block);
    joinCages(&block, &block, shift, outCage);
    srDestroyCage(&block);
}

/// Which of the pieces that hang together each node belongs to, named by its lowest node. To be freed.
static inline int32_t* findPieces(const srCage* cage) {
    int32_t* piece = malloc(sizeof(int32_t) * (size_t)cage->nodeCount);
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        piece[i] = i;
    }
    for (bool isChanged = true; isChanged;) {
        isChanged = false;
        for (int32_t e = 0; e < cage->edgeCount; e++) {
            int32_t a = cage->edges[e][0], b = cage->edges[e][1];
            int32_t least = piece[a] < piece[b] ? piece[a] : piece[b];
            isChanged |= piece[a] != least || piece[b] != least;
            piece[a] = piece[b] = least;
        }
    }
    return piece;
}
