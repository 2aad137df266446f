// SPDX-License-Identifier: GPL-3.0-or-later
//
// Heat on the skin: (M + l² K) x = M w, with the cotangents K that are above zero, so that nothing
// overshoots, and lumped areas M. In modes of K each step multiplies by 1 / (1 + l² eigenvalue): the energy,
// which weighs modes by the square of theirs, can but fall. Conjugate gradients on eight columns at once,
// from w itself, so that the first residual is -l² K w and constants stay as they are.

#include "weights/skin_smooth.h"

#include "core/alloc.h"
#include "mesh/weld.h"

#include <math.h>
#include <string.h>

#define WIDTH 8

// Twice, because once leaves kinks of a quarter of the strength: energies of the six sample characters and
// four scanned ones fell by a third with one step of as much, by half with two.
#define STEP_COUNT 2

// Values of points at one place that are not of parts that only touch
#define ALIKE 0.01

// A triangle that is flatter, in shares of its longest side, counts as if it were not.
#define LEAST_HEIGHT 0.01

// Of a triangle's edge, on skins coarser than the cage: a cage knows one vertex near a bone from its
// neighbours, and triangles cannot show that but as a spike. With 0.3 some cylinders of 26 vertices and tori
// of 128 still had more energy than what heat flowing from bones over the same triangles gives.
#define EDGE_SHARE 0.4

// Squared, of the skin's area: a box of twelve triangles has no smaller part that could be spread.
#define AREA_SHARE (1.0 / 128.0)

// Squared, of the mean over the skin
#define ERROR2 1e-12
#define STEP_LIMIT 300

typedef struct Edge {
    int32_t from, to;
    double pull; // times length squared
} Edge;

typedef struct Smoothing {
    const srSurface* surface;
    double length;
    int32_t columnCount;
    float* values;
    int32_t* places; // the point that each goes with
    Edge* edges;     // three a triangle
    double* masses;
    double* diagonal;
    double massSum;
    double (*x)[WIDTH], (*r)[WIDTH], (*p)[WIDTH], (*q)[WIDTH];
} Smoothing;

static srResult allocate(Smoothing* s) {
    size_t pointCount = (size_t)s->surface->pointCount;
    s->places = SR_ALLOC(int32_t, pointCount);
    s->edges = SR_ALLOC(Edge, 3 * (size_t)s->surface->triangleCount);
    s->masses = SR_ALLOC_ZERO(double, pointCount);
    s->diagonal = SR_ALLOC_ZERO(double, pointCount);
    s->x = srAlloc(pointCount, sizeof(s->x[0]));
    s->r = srAlloc(pointCount, sizeof(s->r[0]));
    s->p = srAlloc(pointCount, sizeof(s->p[0]));
    s->q = srAlloc(pointCount, sizeof(s->q[0]));
    bool isAllocated = s->places != NULL && s->edges != NULL && s->masses != NULL && s->diagonal != NULL &&
                       s->x != NULL && s->r != NULL && s->p != NULL && s->q != NULL;
    return isAllocated ? sr_success : srFailOutOfMemory("weights of the skin");
}

static srVec3 crossOf(const srSurface* surface, int32_t triangle) {
    const int32_t* corners = surface->triangles[triangle];
    srVec3 a = surface->points[corners[0]];
    return srCross(srSub(surface->points[corners[1]], a), srSub(surface->points[corners[2]], a));
}

double srFindSmoothLength(const srSurface* surface, double spacing) {
    double doubled = 0.0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        doubled += srLength(crossOf(surface, t));
    }
    // of an equilateral triangle of the mean area; continuous where triangles become larger than cubes
    double edge2 = surface->triangleCount > 0 ? doubled / surface->triangleCount * 2.0 / sqrt(3.0) : 0.0;
    double coarse = fmin(EDGE_SHARE * sqrt(edge2), sqrt(edge2) - spacing);
    return fmax(SR_SMOOTH_CUBE_SHARE * spacing, fmin(coarse, sqrt(AREA_SHARE * 0.5 * doubled)));
}

static void release(Smoothing* s) {
    size_t pointCount = (size_t)s->surface->pointCount;
    SR_FREE(s->places, pointCount);
    SR_FREE(s->edges, 3 * (size_t)s->surface->triangleCount);
    SR_FREE(s->masses, pointCount);
    SR_FREE(s->diagonal, pointCount);
    srFree(s->x, pointCount, sizeof(s->x[0]));
    srFree(s->r, pointCount, sizeof(s->r[0]));
    srFree(s->p, pointCount, sizeof(s->p[0]));
    srFree(s->q, pointCount, sizeof(s->q[0]));
}

static bool areAlike(const Smoothing* s, int32_t a, int32_t b) {
    const float *u = s->values + s->columnCount * (int64_t)a, *v = s->values + s->columnCount * (int64_t)b;
    double most = 0.0;
    for (int32_t j = 0; j < s->columnCount; j++) {
        most = fmax(most, fabs((double)u[j] - (double)v[j]));
    }
    return most < ALIKE;
}

static srResult findPlaces(Smoothing* s) {
    const srProgress nobody = {0};
    srWelded welded = {0};
    SR_TRY(srWeldSurface(s->surface, &nobody, &welded));
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        int32_t place = welded.places[v];
        s->places[v] = place != v && areAlike(s, v, place) ? place : v;
    }
    srDestroyWelded(&welded);
    return sr_success;
}

static void joinCorners(Smoothing* s, int32_t triangle) {
    const int32_t* corners = s->surface->triangles[triangle];
    const srVec3* points = s->surface->points;
    srVec3 a = points[corners[0]], b = points[corners[1]], c = points[corners[2]];
    srVec3 ab = srSub(b, a), bc = srSub(c, b), ca = srSub(a, c);
    double doubled = srLength(srCross(ab, ca));
    double longest2 = fmax(srDot(ab, ab), fmax(srDot(bc, bc), srDot(ca, ca)));
    double scale = 0.5 * s->length * s->length / fmax(doubled, LEAST_HEIGHT * longest2);
    for (int k = 0; k < 3; k++) {
        int32_t tip = corners[k], from = corners[(k + 1) % 3], to = corners[(k + 2) % 3];
        double dot = srDot(srSub(points[from], points[tip]), srSub(points[to], points[tip]));
        Edge* edge = &s->edges[3 * triangle + k]; // across: its cotangent
        *edge = (Edge){s->places[from], s->places[to], scale * dot};
        s->diagonal[edge->from] += edge->pull;
        s->diagonal[edge->to] += edge->pull;
        s->masses[s->places[tip]] += doubled / 6.0;
    }
}

// Points that nothing is known of keep what they have.
static void fillMatrix(Smoothing* s) {
    for (int32_t t = 0; t < s->surface->triangleCount; t++) {
        joinCorners(s, t);
    }
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        s->massSum += s->masses[v];
        s->diagonal[v] += s->masses[v];
        s->diagonal[v] = s->diagonal[v] > 0.0 ? s->diagonal[v] : 1.0;
    }
}

// out += scale l² K x
static void addPulls(const Smoothing* s, double scale, const double (*x)[WIDTH], double (*out)[WIDTH]) {
    for (int32_t e = 0; e < 3 * s->surface->triangleCount; e++) {
        const Edge* edge = &s->edges[e];
        const double *from = x[edge->from], *to = x[edge->to];
        double *outFrom = out[edge->from], *outTo = out[edge->to], pull = scale * edge->pull;
        for (int c = 0; c < WIDTH; c++) {
            double flow = pull * (from[c] - to[c]);
            outFrom[c] += flow;
            outTo[c] -= flow;
        }
    }
}

// What remains, times the inverse of the diagonal; the next direction; whether nothing remains.
static bool turn(Smoothing* s, double rests[WIDTH], bool isFirst) {
    double before[WIDTH], shares[WIDTH];
    bool isDone = true;
    memcpy(before, rests, sizeof(before));
    memset(rests, 0, sizeof(before));
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        double inverse = 1.0 / s->diagonal[v];
        for (int c = 0; c < WIDTH; c++) {
            rests[c] += s->r[v][c] * s->r[v][c] * inverse;
        }
    }
    for (int c = 0; c < WIDTH; c++) {
        isDone = isDone && rests[c] <= ERROR2 * s->massSum;
        shares[c] = !isFirst && before[c] > 0.0 ? rests[c] / before[c] : 0.0;
    }
    for (int32_t v = 0; v < s->surface->pointCount && !isDone; v++) {
        double inverse = 1.0 / s->diagonal[v];
        for (int c = 0; c < WIDTH; c++) {
            s->p[v][c] = inverse * s->r[v][c] + (isFirst ? 0.0 : shares[c] * s->p[v][c]);
        }
    }
    return isDone;
}

static void go(Smoothing* s, const double rests[WIDTH]) {
    double heights[WIDTH] = {0}, steps[WIDTH];
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        for (int c = 0; c < WIDTH; c++) {
            s->q[v][c] = s->masses[v] * s->p[v][c];
        }
    }
    addPulls(s, 1.0, (const double (*)[WIDTH])s->p, s->q);
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        for (int c = 0; c < WIDTH; c++) {
            heights[c] += s->p[v][c] * s->q[v][c];
        }
    }
    for (int c = 0; c < WIDTH; c++) {
        steps[c] = heights[c] > 0.0 ? rests[c] / heights[c] : 0.0;
    }
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        for (int c = 0; c < WIDTH; c++) {
            s->x[v][c] += steps[c] * s->p[v][c];
            s->r[v][c] -= steps[c] * s->q[v][c];
        }
    }
}

static srResult smoothOnce(Smoothing* s, const srProgress* progress) {
    double rests[WIDTH] = {0};
    memset(s->r, 0, (size_t)s->surface->pointCount * sizeof(s->r[0]));
    addPulls(s, -1.0, (const double (*)[WIDTH])s->x, s->r);
    for (int step = 0; step < STEP_LIMIT && !turn(s, rests, step == 0); step++) {
        SR_TRY(srReportProgress(progress, (double)step / STEP_LIMIT));
        go(s, rests);
    }
    return sr_success;
}

static void readColumns(Smoothing* s, int32_t first) {
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        const float* row = s->values + s->columnCount * (int64_t)v;
        for (int32_t c = 0; c < WIDTH; c++) {
            s->x[v][c] = first + c < s->columnCount ? (double)row[first + c] : 0.0;
        }
    }
}

static void writeColumns(const Smoothing* s, int32_t first) {
    for (int32_t v = 0; v < s->surface->pointCount; v++) {
        float* row = s->values + s->columnCount * (int64_t)v;
        const double* x = s->x[s->places[v]];
        for (int32_t c = 0; c < WIDTH && first + c < s->columnCount; c++) {
            row[first + c] = (float)x[c];
        }
    }
}

static srResult smoothAll(Smoothing* s, const srProgress* progress) {
    SR_TRY(allocate(s));
    SR_TRY(findPlaces(s));
    fillMatrix(s);
    int32_t blockCount = (s->columnCount + WIDTH - 1) / WIDTH;
    for (int32_t k = 0; k < STEP_COUNT * blockCount; k++) {
        srProgress part = srPartOfProgress(progress, (double)k / (STEP_COUNT * blockCount),
                                           (k + 1.0) / (STEP_COUNT * blockCount));
        if (k % STEP_COUNT == 0) {
            readColumns(s, WIDTH * (k / STEP_COUNT));
        }
        SR_TRY(smoothOnce(s, &part));
        if (k % STEP_COUNT == STEP_COUNT - 1) {
            writeColumns(s, WIDTH * (k / STEP_COUNT));
        }
    }
    return srReportProgress(progress, 1.0);
}

srResult srSmoothOnSkin(const srSurface* surface, double length, int32_t columnCount,
                        const srProgress* progress, float* values) {
    Smoothing s = {.surface = surface, .length = length, .columnCount = columnCount, .values = values};
    srResult result = smoothAll(&s, progress);
    release(&s);
    return result;
}
