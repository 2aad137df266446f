// SPDX-License-Identifier: GPL-3.0-or-later
//
// Faces gathered by their lowest point; equal ones are found by comparing the few of one point.

#include "mesh/faces.h"

#include <string.h>

const int srFaceCorners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void getFace(const int32_t (*tets)[4], int32_t face, int32_t out[3]) {
    for (int c = 0; c < 3; c++) {
        out[c] = tets[face / 4][srFaceCorners[face % 4][c]];
    }
}

static int32_t lowestOf(const int32_t n[3]) {
    int32_t low = n[0] < n[1] ? n[0] : n[1];
    return n[2] < low ? n[2] : low;
}

static bool hasPoint(const int32_t n[3], int32_t point) {
    return n[0] == point || n[1] == point || n[2] == point;
}

static void pairFaces(const int32_t (*tets)[4], int32_t faceCount, const int32_t* starts, int32_t* ends,
                      int32_t* faces, int32_t* opposite) {
    int32_t n[3], m[3];
    for (int32_t face = 0; face < faceCount; face++) {
        getFace(tets, face, n);
        int32_t low = lowestOf(n);
        opposite[face] = SR_NULL_INDEX;
        for (int32_t p = starts[low]; p < ends[low]; p++) {
            getFace(tets, faces[p], m);
            if (hasPoint(m, n[0]) && hasPoint(m, n[1]) && hasPoint(m, n[2])) {
                opposite[faces[p]] = face;
                opposite[face] = faces[p];

                // paired ones are looked for no more
                faces[p] = faces[--ends[low]];
                break;
            }
        }
        if (opposite[face] == SR_NULL_INDEX) {
            faces[ends[low]++] = face;
        }
    }
}

srResult srPairFaces(const int32_t (*tets)[4], int32_t tetCount, int32_t pointCount, srArena* arena,
                     int32_t* outOpposite) {
    srArenaMark mark = srArena_GetMark(arena);
    int32_t* starts = SR_PUSH(arena, int32_t, pointCount + 1, "faces of points");
    int32_t* ends = SR_PUSH(arena, int32_t, pointCount + 1, "faces of points");
    int32_t* faces = SR_PUSH(arena, int32_t, 4 * (size_t)tetCount, "faces of points");
    if (starts == NULL || ends == NULL || faces == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    memset(starts, 0, ((size_t)pointCount + 1) * sizeof(int32_t));
    int32_t n[3];
    for (int32_t face = 0; face < 4 * tetCount; face++) {
        getFace(tets, face, n);
        starts[lowestOf(n) + 1]++;
    }
    for (int32_t point = 0; point < pointCount; point++) {
        starts[point + 1] += starts[point];
    }
    memcpy(ends, starts, ((size_t)pointCount + 1) * sizeof(int32_t));
    pairFaces(tets, 4 * tetCount, starts, ends, faces, outOpposite);
    srArena_Release(arena, mark);
    return sr_success;
}
