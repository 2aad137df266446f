// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small shapes for tests, made from nothing.

#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// a sphere that grows; an edge's midpoint is found again through a table of edges
typedef struct srSphere {
    float* points;
    int32_t pointCount;
    int32_t* triangles;
    int32_t triangleCount;
    int64_t* edgeKeys; // open addressing; zero is empty
    int32_t* edgeMidpoints;
    int32_t tableSize; // a power of two
} srSphere;

#define GOLDEN 1.6180339887498949

// the corners of three golden rectangles, each across the two others
static const double corners[12][3] = {{-1, GOLDEN, 0}, {1, GOLDEN, 0}, {-1, -GOLDEN, 0}, {1, -GOLDEN, 0},
                                      {0, -1, GOLDEN}, {0, 1, GOLDEN}, {0, -1, -GOLDEN}, {0, 1, -GOLDEN},
                                      {GOLDEN, 0, -1}, {GOLDEN, 0, 1}, {-GOLDEN, 0, -1}, {-GOLDEN, 0, 1}};

static const int32_t icosahedron[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                           {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                           {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                           {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

static int32_t addPoint(srSphere* sphere, double x, double y, double z) {
    double length = sqrt(x * x + y * y + z * z);
    float* point = &sphere->points[3 * sphere->pointCount];
    point[0] = (float)(x / length);
    point[1] = (float)(y / length);
    point[2] = (float)(z / length);
    return sphere->pointCount++;
}

static int32_t midpoint(srSphere* sphere, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b;
    int32_t high = a < b ? b : a;
    int64_t key = ((int64_t)high << 32) | low;
    int32_t slot = (int32_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 33) & (sphere->tableSize - 1);
    while (sphere->edgeKeys[slot] != 0 && sphere->edgeKeys[slot] != key) {
        slot = (slot + 1) & (sphere->tableSize - 1);
    }
    if (sphere->edgeKeys[slot] == 0) {
        const float* p = &sphere->points[3 * low];
        const float* q = &sphere->points[3 * high];
        sphere->edgeKeys[slot] = key;
        sphere->edgeMidpoints[slot] = addPoint(sphere, (double)p[0] + (double)q[0],
                                               (double)p[1] + (double)q[1], (double)p[2] + (double)q[2]);
    }
    return sphere->edgeMidpoints[slot];
}

// Each triangle becomes four; from the last to the first, so that they can take their places in one array
static void subdivide(srSphere* sphere) {
    memset(sphere->edgeKeys, 0, sizeof(int64_t) * (size_t)sphere->tableSize);
    for (int32_t t = sphere->triangleCount - 1; t >= 0; t--) {
        int32_t a = sphere->triangles[3 * t];
        int32_t b = sphere->triangles[3 * t + 1];
        int32_t c = sphere->triangles[3 * t + 2];
        int32_t ab = midpoint(sphere, a, b);
        int32_t bc = midpoint(sphere, b, c);
        int32_t ca = midpoint(sphere, c, a);
        int32_t four[12] = {a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca};
        memcpy(&sphere->triangles[12 * t], four, sizeof(four));
    }
    sphere->triangleCount *= 4;
}

static void* allocOrFail(size_t size) {
    void* block = malloc(size);
    if (block == NULL) {
        fail_msg("no memory for a sphere");
    }
    return block;
}

void srTestSphere(int32_t levels, float radius, float** outPoints, int32_t* outPointCount,
                  int32_t** outTriangles, int32_t* outTriangleCount) {
    int32_t triangleCount = 20 << (2 * levels);
    int32_t pointCount = triangleCount / 2 + 2;
    srSphere sphere = {.triangleCount = 20, .tableSize = 4};
    while (sphere.tableSize < 2 * triangleCount) {
        sphere.tableSize *= 2;
    }
    sphere.points = allocOrFail(sizeof(float) * 3 * (size_t)pointCount);
    sphere.triangles = allocOrFail(sizeof(int32_t) * 3 * (size_t)triangleCount);
    sphere.edgeKeys = allocOrFail(sizeof(int64_t) * (size_t)sphere.tableSize);
    sphere.edgeMidpoints = allocOrFail(sizeof(int32_t) * (size_t)sphere.tableSize);

    for (int32_t i = 0; i < 12; i++) {
        addPoint(&sphere, corners[i][0], corners[i][1], corners[i][2]);
    }
    memcpy(sphere.triangles, icosahedron, sizeof(icosahedron));
    for (int32_t level = 0; level < levels; level++) {
        subdivide(&sphere);
    }
    for (int32_t i = 0; i < 3 * sphere.pointCount; i++) {
        sphere.points[i] *= radius;
    }

    free(sphere.edgeKeys);
    free(sphere.edgeMidpoints);
    *outPoints = sphere.points;
    *outPointCount = sphere.pointCount;
    *outTriangles = sphere.triangles;
    *outTriangleCount = sphere.triangleCount;
}
