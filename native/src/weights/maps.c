// SPDX-License-Identifier: GPL-3.0-or-later
//
// One column a painted map.

#include "weights/maps.h"

#include "core/alloc.h"
#include "weights/spread.h"

#include <math.h>
#include <string.h>

#define LOWEST_FACTOR 0.01f
#define HIGHEST_FACTOR 100.0f

// What spreads less than this from the unpainted value is rounding.
#define SMALLEST_CHANGE 1e-6

typedef struct Maps {
    const srCage* cage;
    const srEmbedding* embedding;
    const float* const* painted;
    const srProgress* progress;       // may be null
    srMapKind kinds[sr_mapKindCount]; // of the columns
    double lowest[sr_mapKindCount];   // that is said in a column
    double highest[sr_mapKindCount];
    int32_t columnCount;
    double* columns;
} Maps;

static bool isFactor(srMapKind kind) {
    return kind <= sr_mapDamping;
}

srMapRange srGetMapRange(srMapKind kind) {
    return isFactor(kind) ? (srMapRange){LOWEST_FACTOR, HIGHEST_FACTOR, 1.0f}
                          : (srMapRange){0.0f, 1.0f, 0.0f};
}

static float clampToRange(float value, srMapRange range) {
    bool isFinite = value - value == 0.0f;
    float clamped = value < range.lowest ? range.lowest : value > range.highest ? range.highest : value;
    return isFinite ? clamped : range.unpainted;
}

// zero is unpainted, also in what spreads
static double toSpread(srMapKind kind, float value) {
    float clamped = clampToRange(value, srGetMapRange(kind));
    return isFactor(kind) ? log((double)clamped) : (double)clamped;
}

// The spread overshoots beside a painted step, by some per cent of it: nowhere is more than was painted.
static float fromSpread(const Maps* maps, int32_t column, double spread) {
    srMapKind kind = maps->kinds[column];
    double settled = fabs(spread) < SMALLEST_CHANGE ? 0.0 : spread;
    settled = fmin(fmax(settled, maps->lowest[column]), maps->highest[column]);
    return clampToRange((float)(isFactor(kind) ? exp(settled) : settled), srGetMapRange(kind));
}

static bool isPainted(const Maps* maps, srMapKind kind) {
    for (int32_t v = 0; maps->painted[kind] != NULL && v < maps->embedding->pointCount; v++) {
        if (toSpread(kind, maps->painted[kind][v]) != 0.0) {
            return true;
        }
    }
    return false;
}

static srResult tellProgress(const Maps* maps, double fraction) {
    return maps->progress != NULL ? srReportProgress(maps->progress, fraction) : sr_success;
}

static srResult spreadColumns(Maps* maps) {
    srResult result = sr_success;
    srSpread* spread = NULL;
    int32_t vertexCount = maps->embedding->pointCount;
    size_t nodeCount = (size_t)maps->cage->nodeCount;
    uint8_t* isHeard = SR_ALLOC(uint8_t, vertexCount);
    if (isHeard == NULL) {
        return srFailOutOfMemory("the painted maps");
    }
    memset(isHeard, 1, (size_t)vertexCount);
    SR_TRY_CLEANUP(srCreateSpread(maps->cage, maps->embedding, isHeard, maps->progress, &spread));
    for (int32_t column = 0; column < maps->columnCount; column++) {
        SR_TRY_CLEANUP(tellProgress(maps, 0.5 + 0.4 * column / maps->columnCount));
        srMapKind kind = maps->kinds[column];
        maps->lowest[column] = maps->highest[column] = toSpread(kind, maps->painted[kind][0]);
        for (int32_t v = 0; v < vertexCount; v++) {
            double value = toSpread(kind, maps->painted[kind][v]);
            maps->lowest[column] = fmin(maps->lowest[column], value);
            maps->highest[column] = fmax(maps->highest[column], value);
            srSpread_Say(spread, v, value, maps->columns + (size_t)column * nodeCount);
        }
    }
    SR_TRY_CLEANUP(srSpread_Solve(spread, maps->columns, maps->columnCount));

cleanup:
    srDestroySpread(spread);
    SR_FREE(isHeard, vertexCount);
    return result;
}

// so that a pinned vertex stays to the bit where the rig puts it
static void pinExactly(const Maps* maps, float* pins) {
    const srEmbedding* embedding = maps->embedding;
    for (int32_t v = 0; v < embedding->pointCount; v++) {
        for (int c = 0; c < 4 && srIsEmbedded(embedding, v); c++) {
            if (maps->painted[sr_mapPin][v] >= 1.0f && embedding->weights[v][c] != 0.0f) {
                pins[embedding->nodes[v][c]] = 1.0f;
            }
        }
    }
}

static srResult storeColumns(const Maps* maps, srNodeMaps* out) {
    for (int32_t column = 0; column < maps->columnCount; column++) {
        srMapKind kind = maps->kinds[column];
        const double* from = maps->columns + (size_t)column * (size_t)out->nodeCount;
        float* to = out->values[kind] = SR_ALLOC(float, out->nodeCount);
        if (to == NULL) {
            return srFailOutOfMemory("the painted maps");
        }
        for (int32_t i = 0; i < out->nodeCount; i++) {
            to[i] = fromSpread(maps, column, from[i]);
        }
        if (kind == sr_mapPin) {
            pinExactly(maps, to);
        }
    }
    return sr_success;
}

srResult srTransferMaps(const srCage* cage, const srEmbedding* embedding,
                        const float* const painted[sr_mapKindCount], const srProgress* progress,
                        srNodeMaps* outMaps) {
    srResult result = sr_success;
    Maps maps = {.cage = cage, .embedding = embedding, .painted = painted, .progress = progress};
    *outMaps = (srNodeMaps){.nodeCount = cage->nodeCount};
    for (int kind = 0; kind < sr_mapKindCount; kind++) {
        if (isPainted(&maps, (srMapKind)kind)) {
            maps.kinds[maps.columnCount++] = (srMapKind)kind;
        }
    }
    if (maps.columnCount == 0) {
        return sr_success;
    }
    size_t size = (size_t)maps.columnCount * (size_t)cage->nodeCount;
    maps.columns = SR_ALLOC_ZERO(double, size);
    if (maps.columns == NULL) {
        return srFailOutOfMemory("the painted maps");
    }
    SR_TRY_CLEANUP(spreadColumns(&maps));
    SR_TRY_CLEANUP(tellProgress(&maps, 0.9));
    SR_TRY_CLEANUP(storeColumns(&maps, outMaps));

cleanup:
    SR_FREE(maps.columns, size);
    if (result != sr_success) {
        srDestroyNodeMaps(outMaps);
    }
    return result;
}

void srDestroyNodeMaps(srNodeMaps* maps) {
    for (int kind = 0; kind < sr_mapKindCount; kind++) {
        SR_FREE(maps->values[kind], maps->nodeCount);
    }
    *maps = (srNodeMaps){0};
}
