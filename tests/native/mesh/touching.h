// SPDX-License-Identifier: GPL-3.0-or-later
//
// Skins that touch themselves: the outside of blocks on an uneven grid, whose gaps may be of no width; and
// which nodes of a cage hang together.

#pragma once

#include "mesh/cage.h"
#include "mesh/solids.h"

/// Of each node the least node of its piece, to be freed: pieces are what cells share nodes in.
static inline int32_t* findPieces(const srCage* cage) {
    int32_t* piece = malloc(sizeof(int32_t) * (size_t)cage->nodeCount);
    for (int32_t n = 0; n < cage->nodeCount; n++) {
        piece[n] = n;
    }
    for (bool changes = true; changes;) {
        changes = false;
        for (int32_t e = 0; e < cage->edgeCount; e++) {
            int32_t a = cage->edges[e][0], b = cage->edges[e][1];
            int32_t low = piece[a] < piece[b] ? piece[a] : piece[b];
            changes = changes || piece[a] != piece[b];
            piece[a] = piece[b] = low;
        }
    }
    return piece;
}

#define BLOCKS_MAX 16

/// Planes of the grid along each axis, and which of its boxes are full.
typedef struct Blocks {
    double planes[3][BLOCKS_MAX];
    int counts[3]; // boxes
    bool isFull[BLOCKS_MAX][BLOCKS_MAX][BLOCKS_MAX];
} Blocks;

static inline bool isFullAt(const Blocks* blocks, const int box[3]) {
    for (int axis = 0; axis < 3; axis++) {
        if (box[axis] < 0 || box[axis] >= blocks->counts[axis]) {
            return false;
        }
    }
    return blocks->isFull[box[0]][box[1]][box[2]];
}

/// The sides of full boxes that border on empty ones, outward. Points are shared as on the grid, so that
/// planes at one place stay two.
static inline void addBlocks(Soup* soup, const Blocks* blocks) {
    int32_t first = soup->pointCount;
    int sizes[3] = {blocks->counts[0] + 1, blocks->counts[1] + 1, blocks->counts[2] + 1};
    for (int i = 0; i < sizes[0] * sizes[1] * sizes[2]; i++) {
        addPoint(soup, blocks->planes[0][i % sizes[0]], blocks->planes[1][i / sizes[0] % sizes[1]],
                 blocks->planes[2][i / (sizes[0] * sizes[1])]);
    }
    for (int i = 0; i < blocks->counts[0] * blocks->counts[1] * blocks->counts[2]; i++) {
        const int box[3] = {i % blocks->counts[0], i / blocks->counts[0] % blocks->counts[1],
                            i / (blocks->counts[0] * blocks->counts[1])};
        for (int side = 0; side < 6 && isFullAt(blocks, box); side++) {
            int axis = side / 2, up = side % 2;
            int beyond[3] = {box[0], box[1], box[2]};
            beyond[axis] += up ? 1 : -1;
            if (isFullAt(blocks, beyond)) {
                continue;
            }
            int32_t corners[4];
            for (int c = 0; c < 4; c++) {
                // round the side, counter-clockwise seen from outside
                int p[3] = {box[0], box[1], box[2]};
                int turn = up ? c : 3 - c;
                p[axis] += up;
                p[(axis + 1) % 3] += turn == 1 || turn == 2;
                p[(axis + 2) % 3] += turn >= 2;
                corners[c] = first + (p[2] * sizes[1] + p[1]) * sizes[0] + p[0];
            }
            addTriangle(soup, corners[0], corners[1], corners[2]);
            addTriangle(soup, corners[0], corners[2], corners[3]);
        }
    }
}

/// A palm of height 3 with fingers of height 4, side by side along x with gaps between them, one and a fifth
/// wide and deep.
static inline void addHand(Soup* soup, int fingerCount, double gap) {
    Blocks hand = {.counts = {2 * fingerCount - 1, 3, 1}};
    for (int i = 0; i < 2 * fingerCount; i++) {
        hand.planes[0][i] = 1.2 * ((i + 1) / 2) + gap * (i / 2);
    }
    const double heights[4] = {0.0, 3.0, 5.0, 7.0};
    memcpy(hand.planes[1], heights, sizeof(heights));
    hand.planes[2][1] = 1.2;
    for (int i = 0; i < 2 * fingerCount - 1; i++) {
        hand.isFull[i][0][0] = true;
        hand.isFull[i][1][0] = hand.isFull[i][2][0] = i % 2 == 0;
    }
    addBlocks(soup, &hand);
}

/// A closed cylinder along z, of radius 1 and length 5, its axis at (x, y).
static inline void addThigh(Soup* soup, double x, double y) {
    enum {
        around = 32,
        down = 24
    };
    int32_t first = soup->pointCount;
    for (int i = 0; i < around * (down + 1); i++) {
        double angle = 2.0 * 3.14159265358979323846 * (i % around) / around;
        addPoint(soup, x + cos(angle), y + sin(angle), 5.0 * (i / around) / down);
    }
    int32_t bottom = addPoint(soup, x, y, 0.0), top = addPoint(soup, x, y, 5.0);
    for (int i = 0; i < around * down; i++) {
        int32_t p = first + i, q = first + i / around * around + (i + 1) % around;
        addTriangle(soup, p, q, q + around);
        addTriangle(soup, p, q + around, p + around);
    }
    for (int i = 0; i < around; i++) {
        int32_t p = first + i, q = first + (i + 1) % around;
        addTriangle(soup, q, p, bottom);
        addTriangle(soup, p + around * down, q + around * down, top);
    }
}

/// What goes round along z: a ring of points for each radius and height of the outline, which is closed.
static inline void addRing(Soup* soup, const double (*outline)[2], int count) {
    enum {
        around = 32
    };
    int32_t first = soup->pointCount;
    for (int i = 0; i < around * count; i++) {
        double angle = 2.0 * 3.14159265358979323846 * (i % around) / around;
        addPoint(soup, outline[i / around][0] * cos(angle), outline[i / around][0] * sin(angle),
                 outline[i / around][1]);
    }
    for (int i = 0; i < around * count; i++) {
        int32_t next = i / around * around + (i + 1) % around;
        int32_t p = first + i, q = first + next;
        int32_t row = i / around == count - 1 ? -around * (count - 1) : around;
        addTriangle(soup, p, q, q + row);
        addTriangle(soup, p, q + row, p + row);
    }
}

/// A ring of a rectangular section.
static inline void addWasher(Soup* soup, double inner, double outer, double low, double high) {
    enum {
        steps = 8
    };
    double outline[2 * steps][2];
    for (int i = 0; i < steps; i++) {
        double z = low + (high - low) * i / (steps - 1);
        outline[i][0] = outer, outline[i][1] = z;
        outline[2 * steps - 1 - i][0] = inner, outline[2 * steps - 1 - i][1] = z;
    }
    addRing(soup, (const double (*)[2])outline, 2 * steps);
}

/// A block of edge 4 with a slit in its front (y = 4): 2 deep, from x = 1 to 3, at half its height.
static inline void addMouth(Soup* soup, double gap) {
    Blocks head = {.counts = {3, 2, 3}};
    const double x[4] = {0.0, 1.0, 3.0, 4.0}, y[3] = {0.0, 2.0, 4.0}, z[4] = {0.0, 2.0, 2.0 + gap, 4.0};
    memcpy(head.planes[0], x, sizeof(x));
    memcpy(head.planes[1], y, sizeof(y));
    memcpy(head.planes[2], z, sizeof(z));
    for (int i = 0; i < 18; i++) {
        head.isFull[i % 3][i / 3 % 2][i / 6] = !(i % 3 == 1 && i / 3 % 2 == 1 && i / 6 == 1);
    }
    addBlocks(soup, &head);
}
