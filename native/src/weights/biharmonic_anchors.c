// SPDX-License-Identifier: GPL-3.0-or-later
//
// Samples every quarter of a cell. Bone by bone the pull is alpha times the integral over it of |B w - e|^2,
// alpha = STRENGTH / l^2 with l the size of cells there: tried on cages with and without nodes on the bones,
// 30 to 100 are equally good.
//
// A bone outside of the cage holds no line in it but a patch of it, the wider the farther away it is. It
// pulls as one within cells as large as that patch, w wide, and at least as long. Pulled as hard as by a bone
// that lies there, the place that it is nearest to would be a spike.

#include "weights/biharmonic_anchors.h"

#include "core/alloc.h"
#include "mesh/cellgrid.h"
#include "mesh/embedding.h"
#include "mesh/hints.h"
#include "mesh/nearest.h"

#include <math.h>

#define STRENGTH 60.0
#define SAMPLES_A_CELL 4.0
#define MOST_SAMPLES 2000 // of a segment
#define MOST_ROWS 48      // of a triangle
#define ON_ANCHOR 1e-6    // of the cage's size: a node is on it
#define AGREE 1e-3        // values of two elements at a node
#define TOLD (-2)         // a column that needs no nearest sample
#define INSIDE (-1e-6)    // least weight of a sample within its cell
#define PATCH 4.0         // how wide a bone holds outside, of its distance
#define WIDEST 0.33       // of the cage's size

// samples before they have a cell
typedef struct Raw {
    srVec3* places;
    srAnchorValue* values;
    double* measures; // lengths
    int32_t count, room;
} Raw;

typedef struct Sampling {
    const srCage* cage;
    const srAnchors* anchors;
    double cellSize; // edge of a regular cell of mean volume
    srReach reach;
    Raw raw;
    srAnchorRows* rows;
} Sampling;

static srVec3 pointOf(const srAnchors* anchors, int32_t element, int corner) {
    return anchors->points[anchors->elements[element][corner]];
}

static srAnchorValue valueOf(const srAnchors* anchors, int32_t element, double b, double c) {
    const int32_t* corners = anchors->elements[element];
    return (srAnchorValue){
        .columns = {anchors->columns[corners[0]], anchors->columns[corners[1]], anchors->columns[corners[2]]},
        .values = {1.0 - b - c, b, c},
    };
}

static srResult checkAnchors(const srAnchors* anchors) {
    if (anchors->elementCount < 1 || anchors->columnCount < 1) {
        return srFail(sr_errorInvalidValue, "There is no bone to compute weights for.");
    }
    for (int32_t p = 0; p < anchors->pointCount; p++) {
        srVec3 x = anchors->points[p];
        double sum = x.x + x.y + x.z;
        if (sum - sum != 0.0) {
            return srFail(sr_errorNotFinite, "Point %d of the bones is not a place.", p);
        }
        if (anchors->columns[p] < 0 || anchors->columns[p] >= anchors->columnCount) {
            return srFail(sr_errorInvalidValue, "Point %d of the bones is of weight %d; there are %d.", p,
                          anchors->columns[p], anchors->columnCount);
        }
    }
    for (int32_t e = 0; e < anchors->elementCount; e++) {
        for (int c = 0; c < 3; c++) {
            if (anchors->elements[e][c] < 0 || anchors->elements[e][c] >= anchors->pointCount) {
                return srFail(sr_errorInvalidValue, "Bone %d has point %d; there are %d.", e,
                              anchors->elements[e][c], anchors->pointCount);
            }
        }
    }
    return sr_success;
}

// ---- nodes on anchors ----

// Where on the element's plane, line or point a place is nearest: its coordinates. False beside the element.
static bool findOnElement(const srAnchors* anchors, int32_t element, srVec3 x, double tolerance, double* outB,
                          double* outC) {
    srVec3 a = pointOf(anchors, element, 0), r = srSub(x, a);
    srVec3 u = srSub(pointOf(anchors, element, 1), a), v = srSub(pointOf(anchors, element, 2), a);
    double uu = srDot(u, u), uv = srDot(u, v), vv = srDot(v, v), ru = srDot(r, u), rv = srDot(r, v);
    double b = 0.0, c = 0.0, area = uu * vv - uv * uv;
    if (area > 1e-12 * uu * vv) {
        b = (ru * vv - rv * uv) / area;
        c = (rv * uu - ru * uv) / area;
    } else if (vv >= uu && vv > 0.0) {
        c = rv / vv;
    } else if (uu > 0.0) {
        b = ru / uu;
    }
    double slack = 1e-9;
    if (b < -slack || c < -slack || b + c > 1.0 + slack) {
        return false;
    }
    *outB = fmin(fmax(b, 0.0), 1.0);
    *outC = fmin(fmax(c, 0.0), 1.0 - *outB);
    srVec3 off = srSub(r, srAdd(srScale(*outB, u), srScale(*outC, v)));
    return srDot(off, off) <= tolerance * tolerance;
}

static double shareOf(const srAnchorValue* value, int32_t column) {
    double sum = 0.0;
    for (int c = 0; c < 3; c++) {
        sum += value->columns[c] == column ? value->values[c] : 0.0;
    }
    return sum;
}

// What is the same of all columns of one is the same of those of the other, as either sums to one.
static bool doAgree(const srAnchorValue* a, const srAnchorValue* b) {
    double apart = 0.0;
    for (int c = 0; c < 3; c++) {
        apart = fmax(apart, fabs(shareOf(a, a->columns[c]) - shareOf(b, a->columns[c])));
    }
    return apart <= AGREE;
}

// A joint of two bones is neither's: a node there that went with one would draw all around it along. Samples
// of both pull on it.
static void fixNode(Sampling* s, int32_t node, srAnchorValue value, bool* isContested) {
    if (!s->rows->isFixed[node]) {
        s->rows->isFixed[node] = true;
        s->rows->fixedValues[node] = value;
    } else if (!doAgree(&s->rows->fixedValues[node], &value)) {
        isContested[node] = true;
    }
}

static srResult fixNodes(Sampling* s) {
    double tolerance = ON_ANCHOR * s->reach.size;
    srVec3 slack = {tolerance, tolerance, tolerance};
    int32_t nodeCount = s->cage->nodeCount;
    bool* isContested = SR_ALLOC_ZERO(bool, nodeCount);
    if (isContested == NULL) {
        return srFailOutOfMemory("the bones of weights");
    }
    for (int32_t e = 0; e < s->anchors->elementCount; e++) {
        srVec3 a = pointOf(s->anchors, e, 0), b = pointOf(s->anchors, e, 1), c = pointOf(s->anchors, e, 2);
        srVec3 lower = srSub(srMin(a, srMin(b, c)), slack), upper = srAdd(srMax(a, srMax(b, c)), slack);
        for (int32_t i = 0; i < nodeCount; i++) {
            srVec3 x = s->cage->nodes[i];
            bool isNear = x.x >= lower.x && x.y >= lower.y && x.z >= lower.z && x.x <= upper.x &&
                          x.y <= upper.y && x.z <= upper.z;
            double onB, onC;
            if (isNear && findOnElement(s->anchors, e, x, tolerance, &onB, &onC)) {
                fixNode(s, i, valueOf(s->anchors, e, onB, onC), isContested);
            }
        }
    }
    for (int32_t i = 0; i < nodeCount; i++) {
        s->rows->isFixed[i] = s->rows->isFixed[i] && !isContested[i];
        s->rows->fixedCount += s->rows->isFixed[i];
    }
    SR_FREE(isContested, nodeCount);
    return sr_success;
}

// ---- samples ----

static srResult addSample(Raw* raw, srVec3 place, srAnchorValue value, double measure) {
    if (raw->count == raw->room) {
        int32_t room = raw->room > 0 ? 2 * raw->room : 256;
        srVec3* places = srRealloc(raw->places, (size_t)raw->room, (size_t)room, sizeof(srVec3));
        raw->places = places != NULL ? places : raw->places;
        srAnchorValue* values =
            places != NULL ? srRealloc(raw->values, (size_t)raw->room, (size_t)room, sizeof(srAnchorValue))
                           : NULL;
        raw->values = values != NULL ? values : raw->values;
        double* measures =
            values != NULL ? srRealloc(raw->measures, (size_t)raw->room, (size_t)room, sizeof(double)) : NULL;
        raw->measures = measures != NULL ? measures : raw->measures;
        if (measures == NULL) {
            // what has grown already is freed by the new size
            SR_FREE(raw->places, places != NULL ? room : raw->room);
            SR_FREE(raw->values, values != NULL ? room : raw->room);
            SR_FREE(raw->measures, raw->room);
            *raw = (Raw){0};
            return srFailOutOfMemory("the bones of weights");
        }
        raw->room = room;
    }
    raw->places[raw->count] = place;
    raw->values[raw->count] = value;
    raw->measures[raw->count++] = measure;
    return sr_success;
}

// the part of a segment that is within reach of the cage, as shares of it; empty when there is none
static void clip(const Sampling* s, srVec3 a, srVec3 d, double* outFrom, double* outTo) {
    double margin = 0.5 * s->reach.size;
    const double at[3] = {a.x - s->reach.middle.x, a.y - s->reach.middle.y, a.z - s->reach.middle.z};
    const double by[3] = {d.x, d.y, d.z};
    *outFrom = 0.0;
    *outTo = 1.0;
    for (int k = 0; k < 3; k++) {
        if (by[k] == 0.0) {
            *outTo = fabs(at[k]) > margin ? -1.0 : *outTo;
            continue;
        }
        double one = (-margin - at[k]) / by[k], other = (margin - at[k]) / by[k];
        *outFrom = fmax(*outFrom, fmin(one, other));
        *outTo = fmin(*outTo, fmax(one, other));
    }
}

static srResult sampleSegment(Sampling* s, int32_t element, int end) {
    srVec3 a = pointOf(s->anchors, element, 0), d = srSub(pointOf(s->anchors, element, end), a);
    double from, to, length = sqrt(srDot(d, d));
    clip(s, a, d, &from, &to);
    if (!(to >= from)) { // all of it is far away: both ends and the middle ask for the nearest place
        from = 0.0;
        to = 1.0;
    }
    double wanted = ceil(SAMPLES_A_CELL * (to - from) * length / s->cellSize);
    int32_t count = wanted > MOST_SAMPLES ? MOST_SAMPLES : wanted < 1.0 ? 1 : (int32_t)wanted;
    double measure = fmax((to - from) * length, s->cellSize) / count;
    for (int32_t k = 0; k < count; k++) {
        double t = from + (to - from) * (k + 0.5) / count;
        srAnchorValue value = valueOf(s->anchors, element, end == 1 ? t : 0.0, end == 2 ? t : 0.0);
        SR_TRY(addSample(&s->raw, srAdd(a, srScale(t, d)), value, measure));
    }
    return sr_success;
}

static srResult sampleTriangle(Sampling* s, int32_t element) {
    srVec3 a = pointOf(s->anchors, element, 0), u = srSub(pointOf(s->anchors, element, 1), a);
    srVec3 v = srSub(pointOf(s->anchors, element, 2), a), normal = srCross(u, v);
    double longest = sqrt(fmax(srDot(u, u), srDot(v, v))), area = 0.5 * sqrt(srDot(normal, normal));
    double wanted = ceil(0.5 * SAMPLES_A_CELL * longest / s->cellSize);
    int32_t rows = wanted > MOST_ROWS ? MOST_ROWS : (int32_t)wanted;
    for (int32_t p = 0; p < 2 * rows; p++) {
        for (int32_t q = 0; q + p / 2 < rows; q++) {
            double third = p % 2 == 0 ? 1.0 / 3.0 : 2.0 / 3.0;
            double b = (p / 2 + third) / rows, c = (q + third) / rows;
            if (b + c < 1.0) {
                SR_TRY(addSample(&s->raw, srAdd(a, srAdd(srScale(b, u), srScale(c, v))),
                                 valueOf(s->anchors, element, b, c), area / s->cellSize / (rows * rows)));
            }
        }
    }
    return sr_success;
}

static srResult sampleElements(Sampling* s) {
    for (int32_t e = 0; e < s->anchors->elementCount; e++) {
        const int32_t* corners = s->anchors->elements[e];
        srVec3 a = pointOf(s->anchors, e, 0), u = srSub(pointOf(s->anchors, e, 1), a);
        srVec3 v = srSub(pointOf(s->anchors, e, 2), a), normal = srCross(u, v);
        bool isFlat = srDot(normal, normal) <= 1e-12 * srDot(u, u) * srDot(v, v) || corners[1] == corners[2];
        if (isFlat) {
            SR_TRY(sampleSegment(s, e, srDot(v, v) > srDot(u, u) ? 2 : 1));
        } else {
            SR_TRY(sampleTriangle(s, e));
        }
    }
    return sr_success;
}

// ---- their cells ----

// returns what size cells have there
static double takeSample(Sampling* s, const srEmbedding* embedding, const double* sizes, int32_t k) {
    srAnchorSample* out = &s->rows->samples[s->rows->sampleCount++];
    double sum = 0.0, size = 0.0;
    for (int c = 0; c < 4; c++) {
        out->nodes[c] = embedding->nodes[k][c];
        out->weights[c] = fmax((double)embedding->weights[k][c], 0.0);
        sum += out->weights[c];
        size += 0.25 * sizes[out->nodes[c]];
    }
    for (int c = 0; c < 4; c++) {
        out->weights[c] /= sum;
    }
    out->value = s->raw.values[k];
    out->strength = STRENGTH * s->raw.measures[k] / (size * size);
    return size;
}

static bool isInside(const srEmbedding* embedding, int32_t k) {
    double least = 0.0;
    for (int c = 0; c < 4; c++) {
        least = fmin(least, (double)embedding->weights[k][c]);
    }
    return embedding->cells[k] != SR_NULL_INDEX && least >= INSIDE;
}

// The place of its cell that is nearest to a sample outside, in place of weights that reach beyond the cell.
static void pullIn(const Sampling* s, srEmbedding* embedding, int32_t k) {
    const int32_t* corners = embedding->nodes[k];
    srVec3 x = srCutToReach(s->reach, s->raw.places[k]), foot = x;
    double best2 = HUGE_VAL, w[4];
    for (int c = 0; c < 4; c++) {
        const srVec3* nodes = s->cage->nodes;
        srVec3 candidate = foot;
        srNearestOnTriangle(x, nodes[corners[c]], nodes[corners[(c + 1) % 4]], nodes[corners[(c + 2) % 4]],
                            &candidate);
        srKeepNearer(x, candidate, &best2, &foot);
    }
    srFindBarycentric(s->cage, embedding->cells[k], foot, w);
    for (int c = 0; c < 4; c++) {
        embedding->weights[k][c] = (float)w[c];
    }
}

// of a place to where its cell is
static double distanceTo(const Sampling* s, const srEmbedding* embedding, int32_t k) {
    srVec3 x = {0.0, 0.0, 0.0};
    double sum = 0.0;
    for (int c = 0; c < 4; c++) {
        sum += fmax((double)embedding->weights[k][c], 0.0);
    }
    for (int c = 0; c < 4; c++) {
        double share = fmax((double)embedding->weights[k][c], 0.0) / sum;
        x = srAdd(x, srScale(share, s->cage->nodes[embedding->nodes[k][c]]));
    }
    srVec3 d = srSub(x, srCutToReach(s->reach, s->raw.places[k]));
    return sqrt(srDot(d, d));
}

// what a sample that is not inside speaks for
static int32_t columnOf(const srAnchorValue* value) {
    return value->columns[value->values[1] > value->values[0] ? 1 : 0];
}

static void tellColumns(const srAnchorValue* value, int32_t* nearest) {
    for (int c = 0; c < 3; c++) {
        nearest[value->columns[c]] = TOLD;
    }
}

// A sample outside, of a bone of whose samples so long a part counts.
static void takeSoftly(Sampling* s, const srEmbedding* embedding, const double* sizes, int32_t k,
                       double length) {
    double size = takeSample(s, embedding, sizes, k);
    double width = fmin(size + PATCH * distanceTo(s, embedding, k), fmax(size, WIDEST * s->reach.size));
    s->rows->samples[s->rows->sampleCount - 1].strength =
        STRENGTH * s->raw.measures[k] / (width * width) * fmax(1.0, width / length);
}

// Of a column without anything inside the samples that are about as near as the nearest: where the bone
// passes by.
static bool isNearOutside(const Sampling* s, const srEmbedding* embedding, const int32_t* nearest,
                          int32_t k) {
    int32_t best = nearest[columnOf(&s->raw.values[k])];
    return best >= 0 && embedding->cells[k] != SR_NULL_INDEX &&
           distanceTo(s, embedding, k) <= 2.0 * distanceTo(s, embedding, best) + s->cellSize;
}

static void takeOutside(Sampling* s, const srEmbedding* embedding, const double* sizes, int32_t* nearest,
                        double* lengths) {
    for (int32_t k = 0; k < s->raw.count; k++) {
        int32_t column = columnOf(&s->raw.values[k]), best = nearest[column];
        if (best != TOLD && embedding->cells[k] != SR_NULL_INDEX &&
            (best < 0 || distanceTo(s, embedding, k) < distanceTo(s, embedding, best))) {
            nearest[column] = k;
        }
    }
    for (int32_t k = 0; k < s->raw.count; k++) {
        if (isNearOutside(s, embedding, nearest, k)) {
            lengths[columnOf(&s->raw.values[k])] += s->raw.measures[k];
        }
    }
    for (int32_t k = 0; k < s->raw.count; k++) {
        if (isNearOutside(s, embedding, nearest, k)) {
            int32_t column = columnOf(&s->raw.values[k]);
            s->rows->outsideCount += k == nearest[column];
            takeSoftly(s, embedding, sizes, k, lengths[column]);
        }
    }
}

// Inside ones, and of a column without any those that are near.
static void takeSamples(Sampling* s, srEmbedding* embedding, const double* sizes, int32_t* nearest,
                        double* lengths) {
    for (int32_t j = 0; j < s->anchors->columnCount; j++) {
        nearest[j] = SR_NULL_INDEX;
    }
    for (int32_t k = 0; k < s->raw.count; k++) {
        if (isInside(embedding, k)) {
            takeSample(s, embedding, sizes, k);
            tellColumns(&s->raw.values[k], nearest);
        } else if (embedding->cells[k] != SR_NULL_INDEX) {
            pullIn(s, embedding, k);
        }
    }
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        if (s->rows->isFixed[i]) {
            tellColumns(&s->rows->fixedValues[i], nearest);
        }
    }
    takeOutside(s, embedding, sizes, nearest, lengths);
}

// the size of cells around each node: the edge of regular ones that would weigh as much
static void measureCells(const Sampling* s, double* sizes) {
    double share = 6.0 * sqrt(2.0) * s->cage->nodeCount / s->cage->cellCount;
    for (int32_t cell = 0; cell < s->cage->cellCount; cell++) {
        for (int c = 0; c < 4; c++) {
            sizes[s->cage->cells[cell][c]] += 0.25 * srCellVolume(s->cage, cell);
        }
    }
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        sizes[i] = cbrt(share * sizes[i]);
    }
}

static srResult placeSamples(Sampling* s) {
    int32_t count = s->raw.count, columnCount = s->anchors->columnCount;
    srResult result = sr_success;
    srEmbedding embedding = {0};
    int32_t* hints = SR_ALLOC(int32_t, count);
    int32_t* nearest = SR_ALLOC(int32_t, columnCount);
    double* lengths = SR_ALLOC_ZERO(double, columnCount);
    double* sizes = SR_ALLOC_ZERO(double, s->cage->nodeCount);
    s->rows->sampleRoom = count;
    s->rows->samples = SR_ALLOC(srAnchorSample, count);
    if (hints == NULL || nearest == NULL || lengths == NULL || sizes == NULL || s->rows->samples == NULL) {
        result = srFailOutOfMemory("the bones of weights");
        goto cleanup;
    }
    if (s->anchors->hintPoints != NULL) {
        SR_TRY_CLEANUP(srFindNearestHints(s->anchors->hintPoints, s->anchors->hintCells,
                                          s->anchors->hintCount, s->raw.places, count, hints));
    }
    SR_TRY_CLEANUP(srCreateEmbedding(s->cage, s->raw.places, s->anchors->hintPoints != NULL ? hints : NULL,
                                     count, &embedding));
    measureCells(s, sizes);
    takeSamples(s, &embedding, sizes, nearest, lengths);

cleanup:
    srDestroyEmbedding(&embedding);
    SR_FREE(hints, count);
    SR_FREE(nearest, columnCount);
    SR_FREE(lengths, columnCount);
    SR_FREE(sizes, s->cage->nodeCount);
    return result;
}

srResult srCreateAnchorRows(const srCage* cage, const srAnchors* anchors, srAnchorRows* outRows) {
    SR_TRY(checkAnchors(anchors));
    srResult result = sr_success;
    srAnchorRows rows = {.nodeCount = cage->nodeCount};
    Sampling s = {.cage = cage, .anchors = anchors, .reach = srFindReach(cage), .rows = &rows};
    double volume = 0.0;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        volume += srCellVolume(cage, cell);
    }
    s.cellSize = cbrt(6.0 * sqrt(2.0) * volume / cage->cellCount);
    rows.isFixed = SR_ALLOC_ZERO(bool, cage->nodeCount);
    rows.fixedValues = SR_ALLOC_ZERO(srAnchorValue, cage->nodeCount);
    if (rows.isFixed == NULL || rows.fixedValues == NULL) {
        result = srFailOutOfMemory("the bones of weights");
        goto cleanup;
    }
    SR_TRY_CLEANUP(fixNodes(&s));
    SR_TRY_CLEANUP(sampleElements(&s));
    SR_TRY_CLEANUP(placeSamples(&s));
    *outRows = rows;

cleanup:
    SR_FREE(s.raw.places, s.raw.room);
    SR_FREE(s.raw.values, s.raw.room);
    SR_FREE(s.raw.measures, s.raw.room);
    if (result != sr_success) {
        srDestroyAnchorRows(&rows);
    }
    return result;
}

void srDestroyAnchorRows(srAnchorRows* rows) {
    SR_FREE(rows->samples, rows->sampleRoom);
    SR_FREE(rows->isFixed, rows->nodeCount);
    SR_FREE(rows->fixedValues, rows->nodeCount);
    *rows = (srAnchorRows){0};
}
