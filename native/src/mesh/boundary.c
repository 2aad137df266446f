// SPDX-License-Identifier: GPL-3.0-or-later
//
// Boundary faces by sorting all faces of all cells.

#include "mesh/boundary.h"

#include "core/alloc.h"
#include "mesh/sort.h"

#include <string.h>

// Face f of a cell lies opposite to corner f; outward for positive volume.
static const int faceCorners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void getFace(const srCage* cage, int32_t face, int32_t outNodes[3]) {
    for (int c = 0; c < 3; c++) {
        outNodes[c] = cage->cells[face / 4][faceCorners[face % 4][c]];
    }
}

static void getSortedFace(const srCage* cage, int32_t face, int32_t outNodes[3]) {
    int32_t n[3];
    getFace(cage, face, n);
    int32_t low = n[0] < n[1] ? n[0] : n[1], high = n[0] < n[1] ? n[1] : n[0];
    outNodes[0] = n[2] < low ? n[2] : low;
    outNodes[2] = n[2] > high ? n[2] : high;
    outNodes[1] = n[2] < low ? low : n[2] > high ? high : n[2];
}

static bool isSameFace(const srCage* cage, int32_t a, int32_t b) {
    int32_t nodesA[3], nodesB[3];
    getSortedFace(cage, a, nodesA);
    getSortedFace(cage, b, nodesB);
    return memcmp(nodesA, nodesB, sizeof(nodesA)) == 0;
}

// Equal faces next to each other: by the highest node, then, stably, by the other two.
static void sortFaces(const srCage* cage, srKeyed* faces, srKeyed* scratch, int32_t count) {
    int32_t nodes[3];
    for (int32_t face = 0; face < count; face++) {
        getSortedFace(cage, face, nodes);
        faces[face] = (srKeyed){(uint64_t)nodes[2], face};
    }
    srSortKeyed(faces, scratch, count);
    for (int32_t place = 0; place < count; place++) {
        getSortedFace(cage, faces[place].value, nodes);
        faces[place].key = srPairKey(nodes[0], nodes[1]);
    }
    srSortKeyed(faces, scratch, count);
}

// Marks faces that have no equal; returns how many.
static int32_t markSingles(const srCage* cage, const srKeyed* faces, int32_t count, uint8_t* isSingle) {
    int32_t singleCount = 0;
    for (int32_t begin = 0, end = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && isSameFace(cage, faces[begin].value, faces[end].value);) {
            end++;
        }
        isSingle[faces[begin].value] = end - begin == 1;
        singleCount += end - begin == 1;
    }
    return singleCount;
}

static srResult collectSingles(const srCage* cage, const uint8_t* isSingle, int32_t singleCount,
                               srBoundary* out) {
    srBoundary boundary = {.faceCount = singleCount};
    boundary.faces = srAlloc((size_t)singleCount, sizeof(boundary.faces[0]));
    boundary.cells = SR_ALLOC(int32_t, singleCount);
    if (boundary.faces == NULL || boundary.cells == NULL) {
        srDestroyBoundary(&boundary);
        return srFailOutOfMemory("the cage's skin");
    }
    int32_t next = 0;
    for (int32_t face = 0; face < 4 * cage->cellCount; face++) {
        if (isSingle[face]) {
            getFace(cage, face, boundary.faces[next]);
            boundary.cells[next++] = face / 4;
        }
    }
    *out = boundary;
    return sr_success;
}

srResult srCreateBoundary(const srCage* cage, srBoundary* outBoundary) {
    srResult result = sr_success;
    int32_t count = 4 * cage->cellCount;
    srKeyed* faces = SR_ALLOC(srKeyed, count);
    srKeyed* scratch = SR_ALLOC(srKeyed, count);
    uint8_t* isSingle = SR_ALLOC_ZERO(uint8_t, count);
    if (faces == NULL || scratch == NULL || isSingle == NULL) {
        result = srFailOutOfMemory("the cage's skin");
        goto cleanup;
    }
    sortFaces(cage, faces, scratch, count);
    int32_t singleCount = markSingles(cage, faces, count, isSingle);
    if (singleCount == 0) {
        result = srFail(sr_errorBadMesh, "The cage has no skin: each of its cells is there more than once.");
        goto cleanup;
    }
    SR_TRY_CLEANUP(collectSingles(cage, isSingle, singleCount, outBoundary));

cleanup:
    SR_FREE(faces, count);
    SR_FREE(scratch, count);
    SR_FREE(isSingle, count);
    return result;
}

void srDestroyBoundary(srBoundary* boundary) {
    SR_FREE(boundary->faces, boundary->faceCount);
    SR_FREE(boundary->cells, boundary->faceCount);
    *boundary = (srBoundary){0};
}
