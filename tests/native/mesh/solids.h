// SPDX-License-Identifier: GPL-3.0-or-later
//
// Shapes for the tests of mesh and weights: surfaces put together from spheres and boxes, and block-shaped
// cages.

#pragma once

#include "mesh/cage.h"
#include "mesh/surface.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Triangles under construction. Starts zeroed; free with freeSoup.
typedef struct Soup {
    float* points;
    int32_t* triangles;
    int32_t pointCount;
    int32_t triangleCount;
} Soup;

static inline void freeSoup(Soup* soup) {
    free(soup->points);
    free(soup->triangles);
    *soup = (Soup){0};
}

static inline int32_t addPoint(Soup* soup, double x, double y, double z) {
    soup->points = realloc(soup->points, 3 * sizeof(float) * (size_t)(soup->pointCount + 1));
    float* p = soup->points + 3 * soup->pointCount;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return soup->pointCount++;
}

static inline void addTriangle(Soup* soup, int32_t a, int32_t b, int32_t c) {
    soup->triangles = realloc(soup->triangles, 3 * sizeof(int32_t) * (size_t)(soup->triangleCount + 1));
    int32_t* t = soup->triangles + 3 * soup->triangleCount++;
    t[0] = a, t[1] = b, t[2] = c;
}

/// Outward; inward when `radius` is negative.
static inline void addSphere(Soup* soup, int32_t levels, double radius, double x, double y, double z) {
    float* points;
    int32_t* triangles;
    int32_t pointCount, triangleCount, first = soup->pointCount;
    srTestSphere(levels, (float)fabs(radius), &points, &pointCount, &triangles, &triangleCount);
    for (int32_t v = 0; v < pointCount; v++) {
        const float* p = points + 3 * v;
        addPoint(soup, x + (double)p[0], y + (double)p[1], z + (double)p[2]);
    }
    for (int32_t t = 0; t < triangleCount; t++) {
        const int32_t* c = triangles + 3 * t;
        bool isInward = radius < 0.0;
        addTriangle(soup, first + c[0], first + c[isInward ? 2 : 1], first + c[isInward ? 1 : 2]);
    }
    free(points);
    free(triangles);
}

/// A box from the origin's corner `lower` with edges `size`, outward, 12 triangles.
static inline void addBox(Soup* soup, const double lower[3], const double size[3]) {
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    int32_t first = soup->pointCount;
    for (int c = 0; c < 8; c++) {
        addPoint(soup, lower[0] + (c & 1) * size[0], lower[1] + (c >> 1 & 1) * size[1],
                 lower[2] + (c >> 2) * size[2]);
    }
    for (int f = 0; f < 6; f++) {
        addTriangle(soup, first + faces[f][0], first + faces[f][1], first + faces[f][2]);
        addTriangle(soup, first + faces[f][0], first + faces[f][2], first + faces[f][3]);
    }
}

/// A plate along y that is folded at x = 0, its sides rising by `slope` as they go out to x = -1 and 1: in
/// one piece, or as two plates that touch in the fold.
static inline void addFold(Soup* soup, double slope, double thickness, bool isApart) {
    const double xs[2][4] = {{-1.0, 0.0, 0.0, -1.0}, {0.0, 1.0, 1.0, 0.0}};
    static const int faces[6][4] = {{0, 1, 2, 3}, {7, 6, 5, 4}, {0, 4, 5, 1},
                                    {2, 6, 7, 3}, {1, 5, 6, 2}, {3, 7, 4, 0}};
    int32_t corners[2][8];
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < 8; c++) {
            double x = xs[side][c % 4], y = c < 4 ? 0.0 : 2.0;
            bool isShared = side == 1 && x == 0.0 && !isApart; // with the other one's other corner there
            corners[side][c] = isShared
                                   ? corners[0][c ^ 1]
                                   : addPoint(soup, x, y, slope * fabs(x) - (c % 4 < 2 ? thickness : 0.0));
        }
    }
    for (int side = 0; side < 2; side++) {
        for (int f = 0; f < 6; f++) {
            const int* face = faces[f];
            if (!isApart && f == 4 + side) {
                continue; // the one within
            }
            addTriangle(soup, corners[side][face[0]], corners[side][face[1]], corners[side][face[2]]);
            addTriangle(soup, corners[side][face[0]], corners[side][face[2]], corners[side][face[3]]);
        }
    }
}

/// A cap of a ball of radius 1 around the lowest point, hollow and open at the angle `open`: as thick as
/// `thickest` below and `thinnest` at the rim.
static inline void addCup(Soup* soup, double open, double thickest, double thinnest) {
    enum {
        around = 24,
        rings = 10
    };
    int32_t corners[2][rings + 1][around];
    for (int layer = 0; layer < 2; layer++) {
        for (int ring = 0; ring <= rings; ring++) {
            double share = ring / (double)rings, polar = open * share;
            double radius = 1.0 - layer * (thickest + (thinnest - thickest) * share);
            for (int k = 0; k < around; k++) {
                double turn = 8.0 * atan(1.0) * k / around, beside = radius * sin(polar);
                corners[layer][ring][k] =
                    ring == 0 && k > 0
                        ? corners[layer][0][0]
                        : addPoint(soup, beside * cos(turn), beside * sin(turn), -radius * cos(polar));
            }
        }
    }
    for (int k = 0; k < around; k++) {
        int next = (k + 1) % around;
        for (int layer = 0; layer < 2; layer++) {
            for (int ring = 0; ring < rings; ring++) {
                int32_t (*c)[around] = corners[layer];
                int32_t low = c[ring][layer == 0 ? k : next], lowNext = c[ring][layer == 0 ? next : k];
                int32_t high = c[ring + 1][layer == 0 ? k : next],
                        highNext = c[ring + 1][layer == 0 ? next : k];
                if (ring > 0) {
                    addTriangle(soup, low, lowNext, highNext);
                }
                addTriangle(soup, low, highNext, high);
            }
        }
        int32_t a = corners[0][rings][k], b = corners[0][rings][next];
        int32_t c = corners[1][rings][k], d = corners[1][rings][next];
        addTriangle(soup, a, b, c);
        addTriangle(soup, b, d, c);
    }
}

static inline srSurface makeSurface(const Soup* soup) {
    srSurface surface = {0};
    srSurfaceReport report;
    assert_success(srCreateSurface(soup->points, soup->pointCount, soup->triangles, soup->triangleCount,
                                   &surface, &report));
    return surface;
}

static inline srSurface makeSphere(int32_t levels, double radius) {
    Soup soup = {0};
    addSphere(&soup, levels, radius, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

/// A block of nx x ny x nz cubes of edge `edge` from the origin, six cells a cube (all around one diagonal).
static inline void makeBlock(int nx, int ny, int nz, double edge, srCage* outCage) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int strides[3] = {1, nx + 1, (nx + 1) * (ny + 1)};
    int32_t nodeCount = (nx + 1) * (ny + 1) * (nz + 1), cellCount = 0;
    srVec3* nodes = malloc(sizeof(srVec3) * (size_t)nodeCount);
    int32_t (*cells)[4] = malloc(sizeof(cells[0]) * (size_t)(6 * nx * ny * nz));
    for (int32_t i = 0; i < nodeCount; i++) {
        nodes[i] = srScale(edge, (srVec3){i % (nx + 1), i / (nx + 1) % (ny + 1), i / strides[2]});
    }
    for (int cube = 0; cube < nx * ny * nz; cube++) {
        int32_t corner = cube % nx + strides[1] * (cube / nx % ny) + strides[2] * (cube / (nx * ny));
        for (int o = 0; o < 6; o++) {
            int32_t* cell = cells[cellCount++];
            cell[0] = corner;
            for (int c = 0; c < 3; c++) {
                cell[c + 1] = cell[c] + strides[orders[o][c]];
            }
        }
    }
    srResult result = srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, cellCount, outCage);
    free(nodes);
    free(cells);
    assert_success(result);
}

static inline double sumVolumes(const srCage* cage) {
    double volume = 0.0;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        volume += srCellVolume(cage, cell);
    }
    return volume;
}

static inline srVec3 randomPoint(uint64_t* seed, double extent) {
    double x = srTestRandom(seed), y = srTestRandom(seed), z = srTestRandom(seed);
    return srScale(extent, (srVec3){2.0 * x - 1.0, 2.0 * y - 1.0, 2.0 * z - 1.0});
}
