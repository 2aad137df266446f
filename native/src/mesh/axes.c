// SPDX-License-Identifier: GPL-3.0-or-later
//
// The longest direction by moments, and the turning itself.

#include "mesh/axes.h"

#include "core/alloc.h"

#include <string.h>

// Long: so many times as long as wide; askew: the box along its own axes has less of the volume than that.
#define LEAST_RATIO 3.0
#define LARGEST_SHARE 0.5

// What a flat box is taken to be thick, in its diagonal.
#define LEAST_EXTENT 1e-3

// Squarings of the moments, which leave nothing but the longest direction.
#define SQUARINGS 7

typedef struct Box {
    srVec3 lower, upper;
} Box;

static srVec3 along(const srAxes* own, srVec3 x) {
    return (srVec3){srDot(own->directions[0], x), srDot(own->directions[1], x), srDot(own->directions[2], x)};
}

static void addMoment(srVec3 x, double weight, double moments[3][3]) {
    const double c[3] = {x.x, x.y, x.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            moments[i][j] += weight * c[i] * c[j];
        }
    }
}

static void centreOf(const srSurface* surface, int32_t triangle, srVec3* outCentre, double* outArea) {
    const int32_t* c = surface->triangles[triangle];
    srVec3 a = surface->points[c[0]], b = surface->points[c[1]], d = surface->points[c[2]];
    *outArea = 0.5 * srLength(srCross(srSub(b, a), srSub(d, a)));
    *outCentre = srScale(1.0 / 3.0, srAdd(a, srAdd(b, d)));
}

// Second moments of the area around its middle; a triangle's are those of its corners and three times its
// centre's, over twelve.
static void findMoments(const srSurface* surface, double moments[3][3]) {
    srVec3 sum = {0}, centre;
    double whole = 0.0, area;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        centreOf(surface, t, &centre, &area);
        sum = srMulAdd(sum, area, centre);
        whole += area;
    }
    srVec3 middle = whole > 0.0 ? srScale(1.0 / whole, sum) : sum;
    memset(moments, 0, 9 * sizeof(double));
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        centreOf(surface, t, &centre, &area);
        addMoment(srSub(centre, middle), 9.0 * area, moments);
        for (int c = 0; c < 3; c++) {
            addMoment(srSub(surface->points[surface->triangles[t][c]], middle), area, moments);
        }
    }
}

// The direction of the largest moment; zero when there is none.
static srVec3 longestDirection(double moments[3][3]) {
    for (int squaring = 0; squaring < SQUARINGS; squaring++) {
        double square[3][3] = {{0}}, trace = moments[0][0] + moments[1][1] + moments[2][2];
        if (!(trace > 0.0) || !isfinite(trace)) {
            return (srVec3){0};
        }
        for (int i = 0; i < 9; i++) {
            for (int k = 0; k < 3; k++) {
                square[i / 3][i % 3] += moments[i / 3][k] / trace * (moments[k][i % 3] / trace);
            }
        }
        memcpy(moments, square, sizeof(square));
    }
    int best = 0;
    for (int i = 1; i < 3; i++) {
        best = moments[i][i] > moments[best][best] ? i : best;
    }
    srVec3 column = {moments[0][best], moments[1][best], moments[2][best]};
    double length = srLength(column);
    return length > 0.0 ? srScale(1.0 / length, column) : column;
}

// The second axis is the one of space that is farthest from the first: where a shape is mirrored by that
// axis, the first has no part along it, and the second is it.
static srAxes axesAlong(srVec3 direction) {
    const double c[3] = {fabs(direction.x), fabs(direction.y), fabs(direction.z)};
    int least = c[1] < c[0] ? 1 : 0;
    least = c[2] < c[least] ? 2 : least;
    srVec3 axis = {least == 0, least == 1, least == 2};
    srVec3 across = srMulAdd(axis, -srDot(axis, direction), direction);
    across = srScale(1.0 / srLength(across), across);
    return (srAxes){{across, srCross(direction, across), direction}};
}

static Box turnedBox(const srSurface* surface, const srAxes* own) {
    srVec3 first = along(own, surface->points[surface->triangles[0][0]]);
    Box box = {first, first};
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            srVec3 x = along(own, surface->points[surface->triangles[t][c]]);
            box.lower = srMin(box.lower, x);
            box.upper = srMax(box.upper, x);
        }
    }
    return box;
}

static double volumeOf(srVec3 extent, double size) {
    double least = LEAST_EXTENT * size;
    return fmax(extent.x, least) * fmax(extent.y, least) * fmax(extent.z, least);
}

bool srFindAxes(const srSurface* surface, srAxes* outAxes) {
    double moments[3][3];
    findMoments(surface, moments);
    srVec3 direction = longestDirection(moments);
    if (!(srLength(direction) > 0.0)) {
        return false;
    }
    *outAxes = axesAlong(direction);
    Box box = turnedBox(surface, outAxes);
    srVec3 turned = srSub(box.upper, box.lower), plain = srSub(surface->upper, surface->lower);
    return turned.z >= LEAST_RATIO * fmax(turned.x, turned.y) &&
           volumeOf(turned, surface->size) <= LARGEST_SHARE * volumeOf(plain, surface->size);
}

srResult srTurnIntoAxes(const srSurface* surface, const srAxes* own, srSurface* outSurface) {
    Box box = turnedBox(surface, own);
    srSurface turned = {
        .points = SR_ALLOC(srVec3, surface->pointCount),
        .pointCount = surface->pointCount,
        .triangles = srAlloc((size_t)surface->triangleCount, sizeof(turned.triangles[0])),
        .triangleCount = surface->triangleCount,
        .lower = box.lower,
        .upper = box.upper,
        .size = surface->size,
    };
    if (turned.points == NULL || turned.triangles == NULL) {
        srDestroySurface(&turned);
        return srFailOutOfMemory("the turned surface");
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        turned.points[p] = along(own, surface->points[p]);
    }
    memcpy(turned.triangles, surface->triangles,
           (size_t)surface->triangleCount * sizeof(turned.triangles[0]));
    *outSurface = turned;
    return sr_success;
}

void srTurnOutOfAxes(const srAxes* own, srVec3* points, int32_t pointCount) {
    for (int32_t p = 0; p < pointCount; p++) {
        srVec3 x = srScale(points[p].x, own->directions[0]);
        x = srMulAdd(x, points[p].y, own->directions[1]);
        points[p] = srMulAdd(x, points[p].z, own->directions[2]);
    }
}
