// SPDX-License-Identifier: GPL-3.0-or-later

#include "embed_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum {
    evenings = 4
};

static srVec3 placeOf(double theta, double phi) {
    srVec3 p = {0.9 * sin(theta) * cos(phi), sin(theta) * sin(phi), 1.3 * cos(theta)};
    return (srVec3){0.96 * p.x + 0.28 * p.z, p.y, 0.96 * p.z - 0.28 * p.x};
}

static void addTriangle(Shape* shape, int32_t a, int32_t b, int32_t c) {
    int32_t* t = shape->triangles + 3 * (size_t)shape->triangleCount++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static void fillSkin(Shape* shape, int32_t around, int32_t down) {
    int32_t rings = down - 1, south = shape->vertexCount - 1;
    shape->vertices[0] = placeOf(0.0, 0.0);
    shape->vertices[south] = placeOf(PI, 0.0);
    for (int32_t i = 0; i < around * rings; i++) {
        shape->vertices[1 + i] = placeOf(PI * (i / around + 1) / down, 2.0 * PI * (i % around) / around);
    }
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, last = (rings - 1) * around;
        addTriangle(shape, 0, 1 + i, 1 + next);
        addTriangle(shape, south, 1 + last + next, 1 + last + i);
        for (int32_t ring = 0; ring < rings - 1; ring++) {
            int32_t here = 1 + ring * around, below = here + around;
            addTriangle(shape, here + i, below + i, below + next);
            addTriangle(shape, here + i, below + next, here + next);
        }
    }
}

// An edge of a triangle
typedef struct Edge {
    int32_t low, high, triangle;
} Edge;

static int compareEdges(const void* a, const void* b) {
    const Edge *x = a, *y = b;
    int byLow = (x->low > y->low) - (x->low < y->low);
    return byLow != 0 ? byLow : (x->high > y->high) - (x->high < y->high);
}

static void findEdges(Shape* shape) {
    size_t count = 3 * (size_t)shape->triangleCount;
    Edge* edges = malloc(count * sizeof(Edge));
    for (size_t e = 0; e < count; e++) {
        const int32_t* t = shape->triangles + e / 3 * 3;
        int32_t a = t[e % 3], b = t[(e + 1) % 3];
        edges[e] = (Edge){a < b ? a : b, a < b ? b : a, (int32_t)(e / 3)};
    }
    qsort(edges, count, sizeof(Edge), compareEdges);
    for (size_t e = 0; e + 1 < count; e++) {
        if (compareEdges(&edges[e], &edges[e + 1]) == 0) {
            shape->edges[shape->edgeCount][0] = edges[e].triangle;
            shape->edges[shape->edgeCount++][1] = edges[e + 1].triangle;
        }
    }
    free(edges);
}

static srResult makeCage(Shape* shape, int32_t nodeCount) {
    srSurfaceReport found;
    srMesherReport made;
    const srMesherSettings settings = {.targetNodeCount = nodeCount};
    float* points = malloc(12 * (size_t)shape->vertexCount);
    for (int32_t v = 0; v < shape->vertexCount; v++) {
        srVec3f p = srToFloat(shape->vertices[v]);
        memcpy(points + 3 * (size_t)v, &p, sizeof(p));
    }
    srResult result = srCreateSurface(points, shape->vertexCount, shape->triangles, shape->triangleCount,
                                      &shape->surface, &found);
    free(points);
    SR_TRY(result);
    return srMeshSurface(&shape->surface, &settings, &shape->cage, &made);
}

srResult createShape(Shape* shape, int32_t around, int32_t down, int32_t nodeCount) {
    *shape = (Shape){.vertexCount = 2 + around * (down - 1)};
    size_t count = (size_t)shape->vertexCount;
    shape->vertices = malloc(count * sizeof(srVec3));
    shape->triangles = malloc(6 * count * sizeof(int32_t));
    shape->edges = malloc(3 * count * sizeof(shape->edges[0]));
    fillSkin(shape, around, down);
    findEdges(shape);
    SR_TRY(makeCage(shape, nodeCount));
    SR_TRY(srCreateEmbedding(&shape->cage, shape->vertices, NULL, shape->vertexCount, &shape->embedding));
    SR_TRY(srCreateBlend(&shape->cage, &shape->embedding, shape->vertices, &shape->blend));
    shape->vectors = malloc(sizeof(srVec3f) * (size_t)shape->cage.nodeCount);
    return sr_success;
}

void destroyShape(Shape* shape) {
    free(shape->vertices);
    free(shape->triangles);
    free(shape->edges);
    free(shape->vectors);
    srDestroyBlend(&shape->blend);
    srDestroyEmbedding(&shape->embedding);
    srDestroyCage(&shape->cage);
    srDestroySurface(&shape->surface);
}

srVec3 wave(srVec3 p) {
    srVec3 u = {sin(2.0 * p.z + p.y), cos(2.3 * p.x - p.z), sin(1.7 * p.y + p.x * p.z)};
    return srMulAdd(p, 0.15, u);
}

void moveSmoothly(Shape* shape) {
    for (int32_t node = 0; node < shape->cage.nodeCount; node++) {
        srVec3 p = shape->cage.nodes[node];
        shape->vectors[node] = srToFloat(srSub(wave(p), p));
    }
}

static double drawNumber(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

// Half of itself and half of the mean of its neighbours
static void evenOut(const srCage* cage, srVec3* u, srVec3* sums, int32_t* counts) {
    memset(sums, 0, sizeof(srVec3) * (size_t)cage->nodeCount);
    memset(counts, 0, sizeof(int32_t) * (size_t)cage->nodeCount);
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        int32_t a = cage->edges[e][0], b = cage->edges[e][1];
        sums[a] = srAdd(sums[a], u[b]);
        sums[b] = srAdd(sums[b], u[a]);
        counts[a]++;
        counts[b]++;
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        u[node] = srAdd(srScale(0.5, u[node]), srScale(0.5 / counts[node], sums[node]));
    }
}

void moveRoughly(Shape* shape) {
    const srCage* cage = &shape->cage;
    size_t count = (size_t)cage->nodeCount;
    srVec3* u = malloc(sizeof(srVec3) * count);
    srVec3* sums = malloc(sizeof(srVec3) * count);
    int32_t* counts = malloc(sizeof(int32_t) * count);
    uint64_t state = 1;
    double square = 0.0, length = 0.0;
    for (size_t i = 0; i < count; i++) {
        u[i].x = drawNumber(&state);
        u[i].y = drawNumber(&state);
        u[i].z = drawNumber(&state);
    }
    for (int round = 0; round < evenings; round++) {
        evenOut(cage, u, sums, counts);
    }
    for (size_t i = 0; i < count; i++) {
        square += srDot(u[i], u[i]) / (3.0 * (double)count);
    }
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        length +=
            srDistance(cage->nodes[cage->edges[e][0]], cage->nodes[cage->edges[e][1]]) / cage->edgeCount;
    }
    for (size_t i = 0; i < count; i++) {
        shape->vectors[i] = srToFloat(srScale(0.1 * length / sqrt(square), u[i]));
    }
    free(u);
    free(sums);
    free(counts);
}

static srVec3 normalOf(const Shape* shape, const float* offsets, int32_t triangle) {
    srVec3 p[3];
    for (int c = 0; c < 3; c++) {
        int32_t v = shape->triangles[3 * (size_t)triangle + (size_t)c];
        const float* o = offsets + 3 * (size_t)v;
        p[c] = srAdd(shape->vertices[v], (srVec3){(double)o[0], (double)o[1], (double)o[2]});
    }
    srVec3 n = srCross(srSub(p[1], p[0]), srSub(p[2], p[0]));
    return srScale(1.0 / srLength(n), n);
}

double findLargestAngle(const Shape* shape, const float* offsets) {
    double largest = 0.0;
    for (int32_t e = 0; e < shape->edgeCount; e++) {
        srVec3 a = normalOf(shape, offsets, shape->edges[e][0]);
        srVec3 b = normalOf(shape, offsets, shape->edges[e][1]);
        largest = fmax(largest, 2.0 * asin(0.5 * srDistance(a, b)));
    }
    return largest;
}
