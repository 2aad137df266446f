// SPDX-License-Identifier: GPL-3.0-or-later
//
// The story of a computation of weights, and its last two steps: onto the skin, and to both sides of it.

#include "weights/biharmonic_skin.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "mesh/hints.h"
#include "mesh/interpolation.h"
#include "mesh/mesher.h"
#include "weights/skin_smooth.h"

#include <math.h>
#include <string.h>

#define NOTHING 1e-3f         // a weight that moves nothing one could see
#define FAINTEST 0.02f        // a weight that may come of smoothing where there was nothing
#define MIRROR_TOLERANCE 1e-4 // of the skin's size: what modelling by hand leaves

// ---- onto the skin ----

static void pack(const float* nodeWeights, int32_t nodeCount, int32_t columnCount, int32_t first,
                 srVec3f* out) {
    for (int32_t i = 0; i < nodeCount; i++) {
        const float* row = nodeWeights + columnCount * (int64_t)i;
        out[i].x = row[first];
        out[i].y = first + 1 < columnCount ? row[first + 1] : 0.0f;
        out[i].z = first + 2 < columnCount ? row[first + 2] : 0.0f;
    }
}

// Smooth interpolation overshoots a little; what is below zero is nothing.
static void normalise(float* row, int32_t columnCount) {
    double sum = 0.0;
    for (int32_t j = 0; j < columnCount; j++) {
        row[j] = row[j] > 0.0f ? row[j] : 0.0f;
        sum += (double)row[j];
    }
    for (int32_t j = 0; j < columnCount && sum > 0.0; j++) {
        row[j] = (float)((double)row[j] / sum);
    }
}

srResult srBringWeightsToPoints(const srCage* cage, const srEmbedding* embedding, const srVec3* points,
                                const float* nodeWeights, int32_t columnCount, float* outValues) {
    srResult result = sr_success;
    srBlend blend = {0};
    size_t scratchSize = 0, count = (size_t)embedding->pointCount;
    void* scratch = NULL;
    srVec3f* vectors = SR_ALLOC(srVec3f, cage->nodeCount);
    float* triples = SR_ALLOC(float, 3 * count);
    if (vectors == NULL || triples == NULL) {
        result = srFailOutOfMemory("weights of the skin");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateBlend(cage, embedding, points, &blend));
    scratchSize = srBlend_GetScratchSize(&blend);
    scratch = srAlloc(scratchSize, 1);
    if (scratch == NULL && scratchSize > 0) {
        result = srFailOutOfMemory("weights of the skin");
        goto cleanup;
    }
    for (int32_t first = 0; first < columnCount; first += 3) {
        pack(nodeWeights, cage->nodeCount, columnCount, first, vectors);
        srInterpolate(&blend, vectors, scratch, triples);
        for (size_t v = 0; v < count; v++) {
            for (int32_t c = 0; c < 3 && first + c < columnCount; c++) {
                outValues[v * (size_t)columnCount + (size_t)(first + c)] = triples[3 * v + (size_t)c];
            }
        }
    }
    for (size_t v = 0; v < count; v++) {
        normalise(outValues + v * (size_t)columnCount, columnCount);
    }

cleanup:
    srDestroyBlend(&blend);
    srFree(scratch, scratchSize, 1);
    SR_FREE(vectors, cage->nodeCount);
    SR_FREE(triples, 3 * count);
    return result;
}

// Over triangles that are longer than wide, heat comes farther than one would have it: a hundredth of a leg's
// bone over the hip and down to the other leg's knee.
static void dropFaint(const float* before, float* values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        values[k] = before[k] < NOTHING && values[k] < FAINTEST ? before[k] : values[k];
    }
}

static srResult smooth(const srSurface* surface, double spacing, int32_t columnCount,
                       const srProgress* progress, float* values) {
    double length = srFindSmoothLength(surface, spacing);
    if (length <= SR_SMOOTH_CUBE_SHARE * spacing) {
        return srSmoothOnSkin(surface, length, columnCount, progress, values);
    }
    size_t count = (size_t)surface->pointCount * (size_t)columnCount;
    float* before = SR_ALLOC(float, count);
    if (before == NULL) {
        return srFailOutOfMemory("weights of the skin");
    }
    memcpy(before, values, count * sizeof(float));
    srResult result = srSmoothOnSkin(surface, length, columnCount, progress, values);
    if (result == sr_success) {
        dropFaint(before, values, count);
    }
    SR_FREE(before, count);
    return result;
}

// ---- to both sides ----

static bool isFinite(srVec3 x) {
    double sum = x.x + x.y + x.z;
    return sum - sum == 0.0;
}

srResult srFindMirrorImages(const srVec3* points, int32_t pointCount, double tolerance, int32_t* outImages,
                            int32_t* outCount) {
    srResult result = sr_success;
    int32_t* self = SR_ALLOC(int32_t, pointCount);
    srVec3* mirrored = SR_ALLOC(srVec3, pointCount);
    *outCount = 0;
    if (self == NULL || mirrored == NULL) {
        result = srFailOutOfMemory("mirror images");
        goto cleanup;
    }
    for (int32_t v = 0; v < pointCount; v++) {
        self[v] = v;
        mirrored[v] = (srVec3){-points[v].x, points[v].y, points[v].z};
    }
    SR_TRY_CLEANUP(srFindNearestHints(points, self, pointCount, mirrored, pointCount, outImages));
    for (int32_t v = 0; v < pointCount; v++) {
        int32_t image = outImages[v];
        srVec3 d = image != SR_NULL_INDEX ? srSub(mirrored[v], points[image]) : (srVec3){0.0, 0.0, 0.0};
        self[v] = image != SR_NULL_INDEX && isFinite(points[v]) && srDot(d, d) <= tolerance * tolerance
                      ? image
                      : SR_NULL_INDEX;
    }
    // where points lie upon each other the nearest one of the nearest one may be another
    for (int32_t v = 0; v < pointCount; v++) {
        outImages[v] = self[v] != SR_NULL_INDEX && self[self[v]] == v ? self[v] : SR_NULL_INDEX;
        *outCount += outImages[v] != SR_NULL_INDEX;
    }

cleanup:
    SR_FREE(self, pointCount);
    SR_FREE(mirrored, pointCount);
    return result;
}

// Weights of a vertex that some column on the other side answers to, and of those that none does.
static void sumPaired(const srWeightsDef* def, const float* row, double* outPaired, double* outSingle) {
    double sums[2] = {0.0, 0.0};
    for (int32_t j = 0; j < def->columnCount; j++) {
        sums[def->mirrorColumns[j] == SR_NULL_INDEX] += (double)row[j];
    }
    *outPaired = sums[0];
    *outSingle = sums[1];
}

// Of a vertex and its image, so that both get the same bits. What columns without an image hold stays as it
// is, and what they leave is shared out as it is in the mean of the two.
static void makePairSymmetric(const srWeightsDef* def, float* row, float* other, float* mean) {
    double paired[2], single[2], scales[2] = {1.0, 1.0};
    sumPaired(def, row, &paired[0], &single[0]);
    sumPaired(def, other, &paired[1], &single[1]);
    double sum = 0.5 * (paired[0] + paired[1]);
    if (sum <= 0.0) {
        return;
    }
    if (single[0] > 0.0 || single[1] > 0.0) {
        scales[0] = paired[0] / sum;
        scales[1] = paired[1] / sum;
    }
    for (int32_t j = 0; j < def->columnCount; j++) {
        int32_t image = def->mirrorColumns[j];
        mean[j] = image != SR_NULL_INDEX ? 0.5f * (row[j] + other[image]) : 0.0f;
    }
    for (int32_t j = 0; j < def->columnCount; j++) {
        if (def->mirrorColumns[j] != SR_NULL_INDEX) {
            row[j] = (float)((double)mean[j] * scales[0]);
        }
    }
    for (int32_t j = 0; j < def->columnCount; j++) {
        int32_t image = def->mirrorColumns[j];
        if (image != SR_NULL_INDEX) {
            other[image] = (float)((double)mean[j] * scales[1]);
        }
    }
}

static srResult makeSymmetric(const srWeightsDef* def, const srVec3* skin, double size, float* values,
                              int32_t* outCount) {
    int32_t columns = def->columnCount;
    int32_t* images = SR_ALLOC(int32_t, def->skinVertexCount);
    float* mean = SR_ALLOC(float, columns);
    srResult result = images == NULL || mean == NULL ? srFailOutOfMemory("mirror images") : sr_success;
    if (result == sr_success) {
        result = srFindMirrorImages(skin, def->skinVertexCount, MIRROR_TOLERANCE * size, images, outCount);
    }
    for (int32_t v = 0; result == sr_success && v < def->skinVertexCount; v++) {
        int32_t image = images[v];
        if (image >= v) { // else none, or done with it
            makePairSymmetric(def, values + columns * (int64_t)v, values + columns * (int64_t)image, mean);
        }
    }
    SR_FREE(images, def->skinVertexCount);
    SR_FREE(mean, columns);
    return result;
}

// ---- the whole ----

typedef struct Weighing {
    const srWeightsDef* def;
    srProgress progress;
    srSurface surface;
    srMesh mesh;
    srEmbedding embedding;
    srVec3* skin;
    srVec3* points;
    double spacing;
    float* nodeWeights;
    srWeightsReport report;
} Weighing;

static srVec3* widen(const float* from, int32_t count) {
    srVec3* out = SR_ALLOC(srVec3, count);
    for (int32_t k = 0; out != NULL && k < count; k++) {
        const float* x = from + 3 * (size_t)k;
        out[k] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }
    return out;
}

static bool reportCage(float fraction, void* context) {
    const srProgress* part = context;
    return part->report == NULL ||
           part->report(part->from + fraction * (part->to - part->from), part->context);
}

static srResult makeCage(Weighing* w) {
    const srWeightsDef* def = w->def;
    double start = srGetSeconds();
    srSurfaceReport odd = {0};
    SR_TRY(srCreateSurface(def->skinPositions, def->skinVertexCount, def->skinTriangles,
                           def->skinTriangleCount, &w->surface, &odd));
    srProgress part = srPartOfProgress(&w->progress, 0.0, 0.5);
    const srSolidSettings solid = {(double)def->largestHole, (double)def->sheetThickness, def->fillsHollows};
    srMesherSettings settings = {
        .targetNodeCount = def->targetNodeCount,
        .progress = reportCage,
        .progressContext = &part,
        .solid = &solid,
        .gluesContacts = def->joinsTouching,
    };
    srMesherReport made = {0};
    SR_TRY(srMeshSurface(&w->surface, &settings, &w->mesh, &made));
    SR_TRY(srReportProgress(&w->progress, 0.5));
    w->spacing = made.spacing;
    w->report.nodeCount = w->mesh.cage.nodeCount;
    w->report.cellCount = w->mesh.cage.cellCount;
    w->report.cageSeconds = (float)(srGetSeconds() - start);
    return sr_success;
}

static srResult embed(Weighing* w) {
    const srWeightsDef* def = w->def;
    w->skin = widen(def->skinPositions, def->skinVertexCount);
    w->points = widen(def->points, def->pointCount);
    if (w->skin == NULL || w->points == NULL) {
        return srFailOutOfMemory("weights of the skin");
    }
    return srCreateEmbedding(&w->mesh.cage, w->skin, w->mesh.pointCells, def->skinVertexCount, &w->embedding);
}

static srResult solve(Weighing* w, float* outValues) {
    const srWeightsDef* def = w->def;
    srAnchors anchors = {
        .points = w->points,
        .columns = def->pointColumns,
        .pointCount = def->pointCount,
        .elements = (const int32_t (*)[3])def->elements,
        .elementCount = def->elementCount,
        .columnCount = def->columnCount,
        .hintPoints = w->skin,
        .hintCells = w->embedding.cells,
        .hintCount = def->skinVertexCount,
    };
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    settings.tolerance = (double)def->tolerance;
    srProgress part = srPartOfProgress(&w->progress, 0.55, 0.95);
    srBiharmonicReport found = {0};
    SR_TRY(srSolveBiharmonic(&w->mesh.cage, &anchors, &settings, &part,
                             &(srBiharmonicAnswer){.weights = w->nodeWeights}, &found));
    SR_TRY(srBringWeightsToPoints(&w->mesh.cage, &w->embedding, w->skin, w->nodeWeights, def->columnCount,
                                  outValues));
    srProgress smoothing = srPartOfProgress(&w->progress, 0.95, 1.0);
    SR_TRY(smooth(&w->surface, w->spacing, def->columnCount, &smoothing, outValues));
    for (int32_t v = 0; v < def->skinVertexCount; v++) {
        normalise(outValues + (size_t)v * (size_t)def->columnCount, def->columnCount);
    }
    w->report.outsideColumnCount = found.outsideCount;
    w->report.orphanCount = found.orphanCount;
    w->report.iterationCount = found.loop.iterationCount;
    w->report.primalResidual = (float)found.loop.primalResidual;
    w->report.dualResidual = (float)found.loop.dualResidual;
    w->report.isConverged = found.loop.isConverged;
    w->report.energy = (float)found.energy;
    return sr_success;
}

srResult srWeighSkin(const srWeightsDef* def, const srProgress* progress, float* outValues,
                     srWeightsReport* outReport) {
    srResult result = sr_success;
    Weighing w = {.def = def, .progress = progress != NULL ? *progress : (srProgress){0}};
    size_t nodeWeightCount = 0;
    double start = srGetSeconds();
    SR_TRY_CLEANUP(makeCage(&w));
    SR_TRY_CLEANUP(embed(&w));
    SR_TRY_CLEANUP(srReportProgress(&w.progress, 0.55));
    nodeWeightCount = (size_t)w.mesh.cage.nodeCount * (size_t)def->columnCount;
    w.nodeWeights = SR_ALLOC(float, nodeWeightCount);
    if (w.nodeWeights == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    SR_TRY_CLEANUP(solve(&w, outValues));
    if (def->mirrorColumns != NULL) {
        SR_TRY_CLEANUP(makeSymmetric(def, w.skin, w.surface.size, outValues, &w.report.mirroredVertexCount));
    }
    w.report.weightsSeconds = (float)(srGetSeconds() - start) - w.report.cageSeconds;
    *outReport = w.report;

cleanup:
    SR_FREE(w.nodeWeights, nodeWeightCount);
    SR_FREE(w.skin, def->skinVertexCount);
    SR_FREE(w.points, def->pointCount);
    srDestroyEmbedding(&w.embedding);
    srDestroyMesh(&w.mesh);
    srDestroySurface(&w.surface);
    return result;
}
