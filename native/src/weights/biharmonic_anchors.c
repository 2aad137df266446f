// SPDX-License-Identifier: GPL-3.0-or-later
//
// Samples every quarter of a cell. Bone by bone the pull is alpha times the integral over it of |B w - e|^2,
// alpha = STRENGTH / l^2 with l the size of cells there: tried on cages with and without nodes on the bones,
// 30 to 100 are equally good.
//
// A bone outside of the cage holds no line in it but a patch of it, the wider the farther away it is. It
// pulls as one within cells as large as that patch, w wide, and at least as long, and on all of the patch.
// Pulled as hard as by a bone that lies there, or there alone, the place that it is nearest to would be a
// spike. One of which but a little is inside would make the same spike: how far the rest is away counts by
// the square of its share.

#include "weights/biharmonic_anchors.h"

#include "core/alloc.h"
#include "mesh/cellgrid.h"
#include "mesh/embedding.h"
#include "mesh/hints.h"
#include "mesh/nearest.h"
#include "weights/anchor_patches.h"

#include <math.h>

#define STRENGTH 60.0
#define SAMPLES_A_CELL 4.0
#define MOST_SAMPLES 2000 // of a segment
#define MOST_ROWS 48      // of a triangle
#define ON_ANCHOR 1e-6    // of the cage's size: a node is on it
#define AGREE 1e-3        // values of two elements at a node
#define INSIDE (-1e-6)    // least weight of a sample within its cell
#define PATCH 5.5         // how wide a bone holds outside, of its distance
#define WIDEST 0.33       // of the cage's size
#define STEP 0.125        // from patch to patch, of their width

// samples before they have a cell
typedef struct Raw {
    srVec3* places;
    srAnchorValue* values;
    double* measures; // lengths
    int32_t count, room;
} Raw;

// What one column has of the cage.
typedef struct Standing {
    double inside, all; // of its samples, how long they are
    double away;        // how far outside they are, times that
    double nearest;     // of them
    double length;      // of those that count
    bool isGiven;       // by nodes on it, or inside by more than a bone
} Standing;

// What samples of one bone pull on patches, since the last one.
typedef struct Run {
    double strength, length;
} Run;

typedef struct Sampling {
    const srCage* cage;
    const srAnchors* anchors;
    double cellSize; // edge of a regular cell of mean volume
    srReach reach;
    Raw raw;
    const srEmbedding* embedding; // of raw samples
    double* distances;            // how far outside they are; zero inside
    double* sizes;                // of cells around nodes
    Standing* standings;          // of columns
    srAnchorPatches patches;
    Run run;
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

static srAnchorSample* addRow(Sampling* s) {
    srAnchorRows* rows = s->rows;
    if (rows->sampleCount == rows->sampleRoom) {
        int32_t room = 2 * rows->sampleRoom + 256;
        srAnchorSample* samples =
            rows->sampleRoom < INT32_MAX / 4
                ? srRealloc(rows->samples, (size_t)rows->sampleRoom, (size_t)room, sizeof(srAnchorSample))
                : NULL;
        if (samples == NULL) {
            return NULL;
        }
        rows->samples = samples;
        rows->sampleRoom = room;
    }
    return &rows->samples[rows->sampleCount++];
}

// what size cells have there
static double sizeAt(const Sampling* s, int32_t k) {
    double size = 0.0;
    for (int c = 0; c < 4; c++) {
        size += 0.25 * s->sizes[s->embedding->nodes[k][c]];
    }
    return size;
}

static srResult takeSample(Sampling* s, int32_t k, double strength) {
    srAnchorSample* out = addRow(s);
    if (out == NULL) {
        return srFailOutOfMemory("the bones of weights");
    }
    double sum = 0.0;
    for (int c = 0; c < 4; c++) {
        out->nodes[c] = s->embedding->nodes[k][c];
        out->weights[c] = fmax((double)s->embedding->weights[k][c], 0.0);
        sum += out->weights[c];
    }
    for (int c = 0; c < 4; c++) {
        out->weights[c] /= sum;
    }
    out->value = s->raw.values[k];
    out->strength = strength;
    return sr_success;
}

static bool isInside(const srEmbedding* embedding, int32_t k) {
    double least = 0.0;
    for (int c = 0; c < 4; c++) {
        least = fmin(least, (double)embedding->weights[k][c]);
    }
    return least >= INSIDE;
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

// the place in its cell that a sample counts at
static srVec3 footOf(const Sampling* s, int32_t k) {
    srVec3 x = {0.0, 0.0, 0.0};
    double sum = 0.0;
    for (int c = 0; c < 4; c++) {
        sum += fmax((double)s->embedding->weights[k][c], 0.0);
    }
    for (int c = 0; c < 4; c++) {
        double share = fmax((double)s->embedding->weights[k][c], 0.0) / sum;
        x = srAdd(x, srScale(share, s->cage->nodes[s->embedding->nodes[k][c]]));
    }
    return x;
}

// what a sample that is not inside speaks for
static int32_t columnOf(const srAnchorValue* value) {
    return value->columns[value->values[1] > value->values[0] ? 1 : 0];
}

static bool isOfBone(const srAnchorValue* value) {
    return value->columns[0] == value->columns[1] && value->columns[1] == value->columns[2];
}

static void give(Sampling* s, const srAnchorValue* value) {
    for (int c = 0; c < 3; c++) {
        s->standings[value->columns[c]].isGiven = true;
    }
}

// ---- which count, and how ----

// Of a column without anything inside the samples that are about as near as the nearest: where the bone
// passes by.
static bool doesCount(const Sampling* s, int32_t k) {
    const Standing* standing = &s->standings[columnOf(&s->raw.values[k])];
    if (s->embedding->cells[k] == SR_NULL_INDEX || s->distances[k] == 0.0) {
        return s->embedding->cells[k] != SR_NULL_INDEX;
    }
    return !standing->isGiven && standing->inside == 0.0 &&
           s->distances[k] <= 2.0 * standing->nearest + s->cellSize;
}

// How far away the bone of a sample counts as being: as far as what is outside of it is in the mean, by the
// square of its share, or as the sample itself.
static double awayOf(const Sampling* s, int32_t k) {
    const Standing* standing = &s->standings[columnOf(&s->raw.values[k])];
    double share = standing->isGiven ? 0.0 : 1.0 - standing->inside / standing->all;
    return fmax(s->distances[k], share * share * standing->away / standing->all);
}

static void look(Sampling* s, srEmbedding* embedding) {
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        if (s->rows->isFixed[i]) {
            give(s, &s->rows->fixedValues[i]);
        }
    }
    for (int32_t k = 0; k < s->raw.count; k++) {
        Standing* standing = &s->standings[columnOf(&s->raw.values[k])];
        if (embedding->cells[k] == SR_NULL_INDEX) {
            continue;
        }
        standing->all += s->raw.measures[k];
        if (isInside(embedding, k)) {
            standing->inside += s->raw.measures[k];
            if (!isOfBone(&s->raw.values[k])) {
                give(s, &s->raw.values[k]);
            }
            continue;
        }
        pullIn(s, embedding, k);
        srVec3 d = srSub(footOf(s, k), srCutToReach(s->reach, s->raw.places[k]));
        s->distances[k] = fmax(sqrt(srDot(d, d)), ON_ANCHOR * s->reach.size);
        standing->away += s->raw.measures[k] * s->distances[k];
        standing->nearest =
            standing->nearest > 0.0 ? fmin(standing->nearest, s->distances[k]) : s->distances[k];
    }
    for (int32_t k = 0; k < s->raw.count; k++) {
        if (doesCount(s, k)) {
            s->standings[columnOf(&s->raw.values[k])].length += s->raw.measures[k];
        }
    }
    for (int32_t j = 0; j < s->anchors->columnCount; j++) {
        const Standing* standing = &s->standings[j];
        s->rows->outsideCount += !standing->isGiven && standing->inside == 0.0 && standing->all > 0.0;
    }
}

// ---- patches ----

// All that was gathered for a bone, node by node.
static srResult takePatches(Sampling* s, const srAnchorValue* value) {
    double* pulls = s->patches.pulls;
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        if (pulls[i] > 0.0) {
            srAnchorSample* out = addRow(s);
            if (out == NULL) {
                return srFailOutOfMemory("the bones of weights");
            }
            *out = (srAnchorSample){
                .nodes = {i, i, i, i}, .weights = {1.0}, .strength = pulls[i], .value = *value};
            pulls[i] = 0.0;
        }
    }
    return sr_success;
}

// How wide a bone holds that is so far away.
static double widthAt(const Sampling* s, int32_t k, double away) {
    double size = sizeAt(s, k);
    return fmin(size + PATCH * away, fmax(size, WIDEST * s->reach.size));
}

// Pulls on the patch around the last sample with all that the run has gathered.
static void endRun(Sampling* s, int32_t k) {
    double width = widthAt(s, k, awayOf(s, k)), strength = s->run.strength;
    s->run = (Run){0};
    if (strength > 0.0 &&
        !srAnchorPatches_Pull(&s->patches, s->embedding->nodes[k], footOf(s, k), width, strength)) {
        s->rows->samples[s->rows->sampleCount - 1].strength += strength;
    }
}

// A sample whose bone is so far away: its patch, of which the place itself has the share of a cell. Faces and
// edges of control cages have samples all over, no spike and no patch.
static srResult takeSoftly(Sampling* s, int32_t k, double away) {
    const srAnchorValue* value = &s->raw.values[k];
    double width = widthAt(s, k, away), own = isOfBone(value) ? sizeAt(s, k) / width : 1.0;
    double strength = STRENGTH * s->raw.measures[k] / (width * width) *
                      fmax(1.0, width / s->standings[columnOf(value)].length);
    SR_TRY(takeSample(s, k, strength * own));
    s->run.strength += strength * (1.0 - own);
    s->run.length += own < 1.0 ? s->raw.measures[k] : 0.0;
    return sr_success;
}

// Ends a run, and hands over what was gathered for its bone.
static srResult endPatches(Sampling* s, int32_t last) {
    endRun(s, last);
    return takePatches(s, &s->raw.values[last]);
}

// Whether both are samples of one bone.
static bool areOfOneBone(const srAnchorValue* a, const srAnchorValue* b) {
    return isOfBone(a) && isOfBone(b) && a->columns[0] == b->columns[0];
}

static srResult takeSamples(Sampling* s) {
    const srAnchorValue* values = s->raw.values;
    int32_t last = SR_NULL_INDEX; // that pulls on a patch
    for (int32_t k = 0; k < s->raw.count; k++) {
        if (!doesCount(s, k)) {
            continue;
        }
        if (last != SR_NULL_INDEX && !areOfOneBone(&values[last], &values[k])) {
            SR_TRY(endPatches(s, last));
            last = SR_NULL_INDEX;
        }
        double away = awayOf(s, k), size = sizeAt(s, k);
        if (away == 0.0) {
            SR_TRY(takeSample(s, k, STRENGTH * s->raw.measures[k] / (size * size)));
            continue;
        }
        SR_TRY(takeSoftly(s, k, away));
        last = isOfBone(&values[k]) ? k : last;
        if (s->run.length >= STEP * widthAt(s, k, away)) {
            endRun(s, k);
        }
    }
    return last != SR_NULL_INDEX ? endPatches(s, last) : sr_success;
}

// the size of cells around each node: the edge of regular ones that would weigh as much
static void measureCells(Sampling* s) {
    double share = 6.0 * sqrt(2.0) * s->cage->nodeCount / s->cage->cellCount;
    for (int32_t cell = 0; cell < s->cage->cellCount; cell++) {
        for (int c = 0; c < 4; c++) {
            s->sizes[s->cage->cells[cell][c]] += 0.25 * srCellVolume(s->cage, cell);
        }
    }
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        s->sizes[i] = cbrt(share * s->sizes[i]);
    }
}

static srResult placeSamples(Sampling* s) {
    int32_t count = s->raw.count, columnCount = s->anchors->columnCount;
    srResult result = sr_success;
    srEmbedding embedding = {0};
    int32_t* hints = SR_ALLOC(int32_t, count);
    s->distances = SR_ALLOC_ZERO(double, count);
    s->sizes = SR_ALLOC_ZERO(double, s->cage->nodeCount);
    s->standings = SR_ALLOC_ZERO(Standing, columnCount);
    s->rows->sampleRoom = count;
    s->rows->samples = SR_ALLOC(srAnchorSample, count);
    if (hints == NULL || s->distances == NULL || s->sizes == NULL || s->standings == NULL ||
        s->rows->samples == NULL) {
        result = srFailOutOfMemory("the bones of weights");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateAnchorPatches(s->cage, &s->patches));
    if (s->anchors->hintPoints != NULL) {
        SR_TRY_CLEANUP(srFindNearestHints(s->anchors->hintPoints, s->anchors->hintCells,
                                          s->anchors->hintCount, s->raw.places, count, hints));
    }
    SR_TRY_CLEANUP(srCreateEmbedding(s->cage, s->raw.places, s->anchors->hintPoints != NULL ? hints : NULL,
                                     count, &embedding));
    s->embedding = &embedding;
    measureCells(s);
    look(s, &embedding);
    SR_TRY_CLEANUP(takeSamples(s));

cleanup:
    srDestroyEmbedding(&embedding);
    srDestroyAnchorPatches(&s->patches);
    SR_FREE(hints, count);
    SR_FREE(s->distances, count);
    SR_FREE(s->sizes, s->cage->nodeCount);
    SR_FREE(s->standings, columnCount);
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
