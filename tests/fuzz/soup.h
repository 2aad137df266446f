// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bytes as a polygon soup, for the targets that want a surface. The first byte says how coordinates are
// meant: as small whole numbers, so that points, edges and faces coincide often, or as the bits of floats,
// with every NaN and infinity there is.

#pragma once

#include "target.h"

#include <string.h>

enum {
    soupMaxPoints = 64,
    soupMaxTriangles = 128
};

typedef struct srFuzzSoup {
    float points[3 * soupMaxPoints];
    int32_t pointCount;
    int32_t triangles[3 * soupMaxTriangles];
    int32_t triangleCount;
} srFuzzSoup;

static inline float srFuzzCoordinate(const uint8_t* bytes, uint8_t kind) {
    if ((kind & 1) == 0) {
        return (float)(int8_t)bytes[0] * ((kind & 2) == 0 ? 0.125f : 1e5f);
    }
    float value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/// Layout: kind, count of points, points, three indices a triangle to the end. An index is taken as it is
/// when the kind says so, and may then be out of range.
static inline srFuzzSoup srFuzzReadSoup(const uint8_t* bytes, size_t size) {
    srFuzzSoup soup = {.pointCount = 0};
    if (size < 2) {
        return soup;
    }
    uint8_t kind = bytes[0];
    size_t at = 2, step = (kind & 1) == 0 ? 1 : sizeof(float);
    int32_t wanted = bytes[1] % (soupMaxPoints + 1);
    while (soup.pointCount < wanted && at + 3 * step <= size) {
        for (int c = 0; c < 3; c++, at += step) {
            soup.points[3 * soup.pointCount + c] = srFuzzCoordinate(bytes + at, kind);
        }
        soup.pointCount++;
    }
    while (soup.triangleCount < soupMaxTriangles && at + 3 <= size && soup.pointCount > 0) {
        for (int c = 0; c < 3; c++, at++) {
            int32_t index = (kind & 4) != 0 ? (int8_t)bytes[at] : bytes[at] % soup.pointCount;
            soup.triangles[3 * soup.triangleCount + c] = index;
        }
        soup.triangleCount++;
    }
    return soup;
}

/// A cube in whole numbers, an open cup, two tetrahedra that pass through each other, and one in floats.
static inline void srFuzzVisitSoups(srFuzzSeedFcn* visit, void* context) {
    static const uint8_t cube[] = {0, 8, 0, 0, 0, 8, 0, 0, 8, 8, 0, 0, 8, 0, 0, 0, 8, 8, 0, 8, 8,
                                   8, 8, 0, 8, 8, 0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0,
                                   5, 4, 1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    static const uint8_t pair[] = {0,  8, 0, 0, 0,  40, 0, 0, 0,  40, 0, 0, 0, 40, 5, 5, 5,
                                   60, 5, 5, 5, 60, 5,  5, 5, 60, 0,  2, 1, 0, 1,  3, 1, 2,
                                   3,  2, 0, 3, 4,  6,  5, 4, 5,  7,  5, 6, 7, 6,  4, 7};
    visit(cube, sizeof(cube), context);
    visit(cube, sizeof(cube) - 6, context);
    visit(pair, sizeof(pair), context);
    const float corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint8_t faces[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    uint8_t bytes[2 + sizeof(corners) + sizeof(faces)] = {1, 4};
    memcpy(bytes + 2, corners, sizeof(corners));
    memcpy(bytes + 2 + sizeof(corners), faces, sizeof(faces));
    visit(bytes, sizeof(bytes), context);
}
