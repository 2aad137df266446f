// SPDX-License-Identifier: GPL-3.0-or-later
//
// Choosing tetrahedra, gathering their samples (shared ones once), asking the skin, and growing parts.
//
// Two neighbouring samples are of one part when both are inside and the balls around them that hold no skin
// meet, or when the way from one to the other does not leave the flesh. However narrow the gap between two
// parts, even none, the way leaves the one before it enters the other. A sample just outside stands for the
// flesh at its foot.

#include "mesh/flesh.h"

#include "mesh/faces.h"
#include "mesh/skin_links.h"
#include "mesh/sort.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Skin within this many sizes of a corner can pass the tetrahedron; it faces itself when two directions out
// differ by more than the cosine.
#define NEAR_SIZES 1.0
#define FACING_COSINE 0.3

// Shares of the samples' spacing. Samples outside count as far as the cage's skin may lie outside of thin
// flesh (0.4 cubes). Flesh that overlaps by twice the depth is one: a quarter of a cube.
#define FRINGE_SHARE 1.65
#define DEEP_SHARE 0.5

// Balls that only touch do so at a contact: one must reach well into the other.
#define BALL_SLACK 1.01

// A ball that surely holds no skin, in distances to it
#define KNOWN_SHARE (1.0 - 1e-9)

// How far below the skin the flesh of an outside sample is looked for, how far off the edges of triangles,
// how much of the way there goes down, and how far apart two such places may be.
#define ANCHOR_SHARE 1e-3
#define OFF_EDGE_SHARE 1e-4
#define LEAST_HEIGHT 0.1
#define ON_SKIN_SHARE 2e-3
#define ANCHOR_SPACINGS 2.0

// How far out of a torn tetrahedron the skin may go on, in shares of the samples' spacing: as far as feet of
// samples are.
#define SKIN_SHARE FRINGE_SHARE

// Rounds of looking beside tetrahedra of several parts
#define BATCH_COUNT 4

#define SUB_EDGE_COUNT 120
#define POINTS_PER_BLOCK 128
#define POINTS_PER_BATCH 512
#define TETS_PER_BLOCK 64
#define TETS_PER_BATCH 1024

// 20 bits and a sign for each coordinate of a sample
#define COORDINATE_LIMIT ((int64_t)1 << 20)

static const int sampleSteps[SR_SAMPLE_COUNT][3] = {
    {0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 4}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}, {0, 1, 3},
    {0, 2, 0}, {0, 2, 1}, {0, 2, 2}, {0, 3, 0}, {0, 3, 1}, {0, 4, 0}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2},
    {1, 0, 3}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {1, 2, 0}, {1, 2, 1}, {1, 3, 0}, {2, 0, 0}, {2, 0, 1},
    {2, 0, 2}, {2, 1, 0}, {2, 1, 1}, {2, 2, 0}, {3, 0, 0}, {3, 0, 1}, {3, 1, 0}, {4, 0, 0}};

// Samples before the first with i steps from corner 0, and with j from corner 1 among them
int srFindSample(const int steps[3]) {
    static const int before0[5] = {0, 15, 25, 31, 34};
    int rest = SR_SAMPLE_STEPS - steps[0], place = before0[steps[0]];
    for (int j = 0; j < steps[1]; j++) {
        place += rest - j + 1;
    }
    return place + steps[2];
}

void srGetSampleSteps(int sample, int outSteps[4]) {
    outSteps[3] = SR_SAMPLE_STEPS;
    for (int c = 0; c < 3; c++) {
        outSteps[c] = sampleSteps[sample][c];
        outSteps[3] -= outSteps[c];
    }
}

double srFleshSample_Distance(const srFleshSample* sample, srVec3 point, double radius) {
    srVec3 way = srSub(point, sample->foot);
    double height = srDot(sample->out, way);
    double beside = srLength(srMulAdd(way, -height, sample->out));
    double beyond = fmax(beside - radius, 0.0);
    return sqrt(height * height + beyond * beyond);
}

typedef struct Sampling {
    const srScaffold* scaffold;
    const srFleshSource* source;
    srSkinLinks links; // where something is torn
    srFlesh* flesh;
    srFleshSample* corners; // of the scaffold's points, for choosing
    int32_t* chosen;        // sampled tetrahedra
    atomic_schar* overDeep; // of samples, whether they are over a deep overlap; below zero: not asked yet

    // the batch that is being sampled
    int32_t firstPlace;  // of its tetrahedra
    int32_t firstSample; // of its samples
    srKeyed* keys;       // of samples: where, and which of which tetrahedron
    int32_t* firstItems; // of each sample, ascending: neighbours in space follow each other
    int subEdges[SUB_EDGE_COUNT][2];
} Sampling;

static double spacingOf(const srScaffold* scaffold, int32_t tet) {
    const int32_t* p = scaffold->tets[tet];
    return 0.25 * fmax(srDistance(scaffold->points[p[0]], scaffold->points[p[1]]),
                       srDistance(scaffold->points[p[2]], scaffold->points[p[3]]));
}

// The triangle's own direction out, for points on it.
static srVec3 normalOf(const srFleshSource* source, int32_t triangle) {
    const int32_t* c = source->contacts->skin.triangles[triangle];
    const srVec3* p = source->contacts->skin.points;
    srVec3 n = srCross(srSub(p[c[1]], p[c[0]]), srSub(p[c[2]], p[c[0]]));
    double length = srLength(n);
    return length > 0.0 ? srScale(1.0 / length, n) : (srVec3){0.0, 0.0, 1.0};
}

// On the surface of what a sheet's thickness makes of it, when that is nearer than the skin and outside of
// it.
static void putOnSheet(double length, srVec3 foot, double halfThickness, srFleshSample* sample) {
    double distance = length - halfThickness;
    if (distance < sample->distance) {
        srVec3 away = srSub(sample->point, foot);
        sample->isSheet = true;
        sample->distance = fabs(distance);
        sample->out = length > 0.0 ? srScale(1.0 / length, away) : (srVec3){0.0, 0.0, 1.0};
        sample->foot = srMulAdd(foot, halfThickness, sample->out);
    }
}

static void putOnSkin(const srFleshSource* source, bool isInside, double size, int32_t triangle,
                      srFleshSample* sample) {
    srVec3 away = srSub(sample->point, sample->foot);
    double length = srLength(away);
    bool hasDirection = length > 1e-6 * size;
    sample->out = hasDirection ? srScale((isInside ? -1.0 : 1.0) / length, away) : normalOf(source, triangle);
}

static void findFoot(const srFleshSource* source, bool isInside, double size, int32_t* triangle,
                     srFleshSample* sample) {
    const srBvh *tree = source->contacts->tree, *sheets = source->field->sheets;
    sample->distance = HUGE_VAL;
    if (tree != NULL) {
        sample->distance = srBvh_DistanceGuessed(tree, sample->point, triangle, &sample->foot);
        putOnSkin(source, isInside, size, *triangle, sample);
    }
    if (sheets != NULL && (!isInside || tree == NULL || srBvh_WindingNumber(tree, sample->point) < 0.5)) {
        srVec3 foot;
        double length = srBvh_Distance(sheets, sample->point, &foot);
        putOnSheet(length, foot, source->field->halfThickness, sample);
    }
}

static void lookAtCorners(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Sampling* s = context;
    int32_t triangle = SR_NULL_INDEX;
    for (int32_t p = begin; p < end; p++) {
        srFleshSample* corner = &s->corners[p];
        double phi = s->scaffold->phi[p], size = s->scaffold->sizes[p];
        *corner = (srFleshSample){.point = s->scaffold->points[p]};
        if (fabs(phi) < NEAR_SIZES * size) {
            findFoot(s->source, phi < 0.0, size, &triangle, corner);
            corner->kind = sr_sampleInside;
        }
    }
}

static bool facesItself(const Sampling* s, int32_t tet) {
    const int32_t* p = s->scaffold->tets[tet];
    for (int a = 0; a < 3; a++) {
        for (int b = a + 1; b < 4; b++) {
            const srFleshSample *x = &s->corners[p[a]], *y = &s->corners[p[b]];
            if (x->kind != sr_sampleNone && y->kind != sr_sampleNone &&
                srDot(x->out, y->out) < FACING_COSINE) {
                return true;
            }
        }
    }
    return false;
}

static srResult chooseTets(Sampling* s, srArena* arena, const srProgress* progress) {
    const srScaffold* scaffold = s->scaffold;
    srFlesh* flesh = s->flesh;
    s->corners = SR_PUSH(arena, srFleshSample, scaffold->pointCount, "feet");
    s->chosen = SR_PUSH(arena, int32_t, scaffold->tetCount, "sampled tets");
    flesh->places = SR_PUSH(arena, int32_t, scaffold->tetCount, "sampled tets");
    if (s->corners == NULL || s->chosen == NULL || flesh->places == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    SR_TRY(srParallelForWithProgress(lookAtCorners, scaffold->pointCount, POINTS_PER_BLOCK,
                                     4 * POINTS_PER_BATCH, s, progress));
    memset(flesh->places, 0xff, (size_t)scaffold->tetCount * sizeof(int32_t));
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        if (facesItself(s, t)) {
            flesh->places[t] = flesh->tetCount;
            s->chosen[flesh->tetCount++] = t;
        }
    }
    return flesh->tetCount > INT32_MAX / (4 * SR_SAMPLE_COUNT)
               ? srFail(sr_errorTooLarge, "The cage would need too many nodes.")
               : sr_success;
}

// Beside a tetrahedron of several parts others may have several too although no skin faces skin in them: over
// the backs of two fingers that lie in one plane.
static srResult chooseBeside(Sampling* s, srArena* arena) {
    const srScaffold* scaffold = s->scaffold;
    srFlesh* flesh = s->flesh;
    uint8_t* isTouched = SR_PUSH(arena, uint8_t, scaffold->pointCount, "touched points");
    if (isTouched == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    memset(isTouched, 0, (size_t)scaffold->pointCount);
    for (int32_t place = 0; place < flesh->tetCount; place++) {
        for (int c = 0; c < 4 && flesh->labelCounts[place] > 1; c++) {
            isTouched[scaffold->tets[s->chosen[place]][c]] = 1;
        }
    }
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* p = scaffold->tets[t];
        bool isTaken = isTouched[p[0]] || isTouched[p[1]] || isTouched[p[2]] || isTouched[p[3]];
        if (isTaken && flesh->places[t] == SR_NULL_INDEX) {
            flesh->places[t] = flesh->tetCount;
            s->chosen[flesh->tetCount++] = t;
        }
    }
    return sr_success;
}

// Sums of whole multiples of coordinates: equal places have equal keys.
static uint64_t keyOf(const srScaffold* scaffold, const int32_t tet[4], int sample) {
    int steps[4];
    uint64_t key = 0;
    srGetSampleSteps(sample, steps);
    for (int axis = 0; axis < 3; axis++) {
        int64_t sum = COORDINATE_LIMIT;
        for (int c = 0; c < 4; c++) {
            sum += (int64_t)steps[c] * scaffold->coords[tet[c]][axis];
        }
        key = key << 21 | ((uint64_t)sum & (2 * COORDINATE_LIMIT - 1));
    }
    return key;
}

// A longer array with the same beginning.
static void* growArray(srArena* arena, const void* old, int32_t oldCount, int32_t count, size_t size) {
    void* grown = srArena_Push(arena, (size_t)count, size, "samples");
    if (grown != NULL && oldCount > 0) {
        memcpy(grown, old, (size_t)oldCount * size);
    }
    return grown;
}

static srResult growTets(Sampling* s, srArena* arena) {
    srFlesh* flesh = s->flesh;
    int32_t old = s->firstPlace, count = flesh->tetCount;
    flesh->tetSamples = growArray(arena, flesh->tetSamples, old, count, sizeof(flesh->tetSamples[0]));
    flesh->labels = growArray(arena, flesh->labels, old, count, sizeof(flesh->labels[0]));
    flesh->labelCounts = growArray(arena, flesh->labelCounts, old, count, sizeof(flesh->labelCounts[0]));
    return flesh->tetSamples != NULL && flesh->labels != NULL && flesh->labelCounts != NULL
               ? sr_success
               : srFailOutOfMemory("the parts of the flesh");
}

// Samples are numbered by their keys, and known by the first tetrahedron that has them (sorting keeps the
// order of equal keys).
static void listSamples(Sampling* s, int32_t count) {
    srFlesh* flesh = s->flesh;
    memset(s->firstItems, 0, (size_t)count * sizeof(int32_t));
    for (int32_t i = 0; i < count; i++) {
        int32_t item = s->keys[i].value;
        bool isFirst = i == 0 || s->keys[i].key != s->keys[i - 1].key;
        flesh->sampleCount += isFirst;
        s->firstItems[item] = isFirst;
        flesh->tetSamples[s->firstPlace + item / SR_SAMPLE_COUNT][item % SR_SAMPLE_COUNT] =
            flesh->sampleCount - 1;
    }
    int32_t listed = 0;
    for (int32_t item = 0; item < count; item++) {
        if (s->firstItems[item] != 0) {
            s->firstItems[listed++] = item;
        }
    }
}

static srResult gatherSamples(Sampling* s, srArena* arena, const srProgress* progress) {
    srFlesh* flesh = s->flesh;
    int32_t count = SR_SAMPLE_COUNT * (flesh->tetCount - s->firstPlace);
    s->keys = SR_PUSH(arena, srKeyed, count, "sample keys");
    s->firstItems = SR_PUSH(arena, int32_t, count, "samples");
    srKeyed* scratch = SR_PUSH(arena, srKeyed, count, "sample keys");
    if (s->keys == NULL || s->firstItems == NULL || scratch == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    SR_TRY(growTets(s, arena));
    SR_TRY(srReportProgress(progress, 0.0));
    for (int32_t i = 0; i < count; i++) {
        const int32_t* tet = s->scaffold->tets[s->chosen[s->firstPlace + i / SR_SAMPLE_COUNT]];
        s->keys[i] = (srKeyed){keyOf(s->scaffold, tet, i % SR_SAMPLE_COUNT), i};
    }
    SR_TRY(srReportProgress(progress, 0.3));
    srSortKeyed(s->keys, scratch, count);
    SR_TRY(srReportProgress(progress, 0.6));
    s->firstSample = flesh->sampleCount;
    listSamples(s, count);
    flesh->samples =
        growArray(arena, flesh->samples, s->firstSample, flesh->sampleCount, sizeof(srFleshSample));
    s->overDeep = growArray(arena, s->overDeep, s->firstSample, flesh->sampleCount, sizeof(s->overDeep[0]));
    if (flesh->samples == NULL || s->overDeep == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    for (int32_t i = s->firstSample; i < flesh->sampleCount; i++) {
        atomic_init(&s->overDeep[i], -1);
    }
    return sr_success;
}

// From a place on a triangle towards its middle: `most`, but at most half of the way.
static srVec3 leaveEdges(const srFleshSource* source, int32_t triangle, double most, srVec3 place) {
    const int32_t* c = source->contacts->skin.triangles[triangle];
    const srVec3* p = source->contacts->skin.points;
    srVec3 middle = srScale(1.0 / 3.0, srAdd(p[c[0]], srAdd(p[c[1]], p[c[2]])));
    srVec3 way = srSub(middle, place);
    double length = srLength(way);
    return srMulAdd(place, length > 2.0 * most ? most / length : 0.5, way);
}

// Whether the skin winds twice around a place. Nearer to the sample than the skin it does as often as there.
static bool isDoubleAt(const srFleshSource* source, const srFleshSample* sample, srVec3 place) {
    bool isKnown =
        source->field->isWatertight && srDistance(place, sample->point) < KNOWN_SHARE * sample->distance;
    return isKnown ? sample->isDouble : srBvh_WindingNumber(source->field->bvh, place) > 1.5;
}

// Whether the flesh overlaps below a sample's foot, so deep that it is one. Between two skins the nearer one
// may face the other way than the flesh; at an edge a way straight down may run along the other side.
static bool isOverDeep(const srFleshSource* source, const srFleshSample* sample, double spacing) {
    if (source->field->bvh == NULL || sample->isSheet) {
        return false;
    }
    double depth = 2.0 * DEEP_SHARE * spacing;
    srVec3 place = leaveEdges(source, sample->triangle, depth, sample->foot);
    return isDoubleAt(source, sample, srMulAdd(place, -depth, sample->out)) ||
           isDoubleAt(source, sample, srMulAdd(place, depth, sample->out));
}

// Where the surface winds twice the flesh overlaps itself: such samples join what they touch if they are
// deep, and are of no part if not, so that parts which only cross a little stay apart. Near the skin of what
// overlaps a lot, as a skin does that is there twice, they are deep as well: the overlap goes on below.
static srSampleKind kindOf(const srFleshSource* source, const srFleshSample* sample, const srFieldLook* look,
                           double spacing) {
    if (sample->distance < ON_SKIN_SHARE * spacing) {
        return sr_sampleFringe; // of the flesh whose triangle was found, even where two skins lie on each
                                // other
    }
    if (!look->isInside) {
        return sample->distance < FRINGE_SHARE * spacing ? sr_sampleFringe : sr_sampleNone;
    }
    if (sample->isSheet || look->winding < 1.5) {
        return sr_sampleInside;
    }
    if (sample->distance > DEEP_SHARE * spacing) {
        return sr_sampleDeep;
    }
    return isOverDeep(source, sample, spacing) ? sr_sampleDeep : sr_sampleNone;
}

// Where the flesh is that a sample stands for: its own place, or, of one outside, just below its foot. A foot
// on an edge needs care. The way out of the flesh may lead along the triangle's plane, or at the rim of an
// open skin through it from behind: what is below is then under the triangle too. And what is below one side
// of a block's edge lies on its other side, if not a hair off the edge: there a way would leave, or at a
// contact would be within both parts.
static srVec3 anchorOf(const srFleshSource* source, const srFleshSample* sample, int32_t triangle,
                       double spacing) {
    if (sample->kind != sr_sampleFringe) {
        return sample->point;
    }
    if (sample->isSheet) {
        return srMulAdd(sample->foot, -ANCHOR_SHARE * spacing, sample->out);
    }
    srVec3 up = sample->out, normal = normalOf(source, triangle);
    double height = srDot(up, normal);
    if (height < LEAST_HEIGHT) {
        srVec3 beside = srMulAdd(up, -height, normal);
        double length = srLength(beside);
        up = length > LEAST_HEIGHT ? srScale(sqrt(0.5), srMulAdd(normal, 1.0 / length, beside)) : normal;
    }
    srVec3 place = leaveEdges(source, triangle, OFF_EDGE_SHARE * spacing, sample->foot);
    return srMulAdd(place, -ANCHOR_SHARE * spacing, up);
}

// What a sample outside stands for is below its foot, within that piece. One inside may have the nearest skin
// behind it: that of another piece, which ends within the flesh.
static int32_t pieceOf(const srFleshSource* source, const srFleshSample* sample) {
    if (sample->isSheet || sample->triangle < 0 || sample->triangle >= source->contacts->shellCount) {
        return SR_NULL_INDEX;
    }
    bool isBelow = sample->kind == sr_sampleFringe ||
                   srDot(sample->out, normalOf(source, sample->triangle)) > LEAST_HEIGHT;
    return isBelow ? source->contacts->shellPieces[sample->triangle] : SR_NULL_INDEX;
}

static void takeSample(const srFleshSource* source, double spacing, srFieldMemory* memory,
                       srFleshSample* sample) {
    srFieldLook look = srField_Look(source->field, sample->point, memory);
    sample->distance = look.distance;
    sample->foot = look.nearest;
    if (source->field->bvh != NULL) {
        putOnSkin(source, look.isInside, spacing, look.triangle, sample);
    }
    if (source->field->sheets != NULL && (!look.isInside || look.winding < 0.5)) {
        putOnSheet(look.sheetDistance, look.sheetNearest, source->field->halfThickness, sample);
    }
    sample->spacing = spacing;
    sample->triangle = look.triangle;
    sample->isDouble = look.winding > 1.5;
    sample->kind = kindOf(source, sample, &look, spacing);
    sample->anchor = anchorOf(source, sample, look.triangle, spacing);
    sample->piece = pieceOf(source, sample);
}

// The field's triangles are those of the contacts: one look tells all.
static void takeSamples(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Sampling* s = context;
    const srScaffold* scaffold = s->scaffold;
    srFieldMemory memory = {0};
    for (int32_t i = begin; i < end; i++) {
        int32_t item = s->firstItems[i], place = s->firstPlace + item / SR_SAMPLE_COUNT;
        int32_t tet = s->chosen[place];
        int steps[4];
        srGetSampleSteps(item % SR_SAMPLE_COUNT, steps);
        srVec3 point = {0.0, 0.0, 0.0};
        for (int c = 0; c < 4; c++) {
            point = srMulAdd(point, 0.25 * steps[c], scaffold->points[scaffold->tets[tet][c]]);
        }
        srFleshSample* sample = &s->flesh->samples[s->flesh->tetSamples[place][item % SR_SAMPLE_COUNT]];
        *sample = (srFleshSample){.point = point};
        takeSample(s->source, spacingOf(scaffold, tet), &memory, sample);
    }
}

// Each sample has many neighbours, in several tetrahedra. Whoever asks first looks, and all would see the
// same.
static bool isKnownOverDeep(const Sampling* s, int32_t sample) {
    int known = atomic_load_explicit(&s->overDeep[sample], memory_order_relaxed);
    if (known < 0) {
        const srFleshSample* asked = &s->flesh->samples[sample];
        known = isOverDeep(s->source, asked, asked->spacing);
        atomic_store_explicit(&s->overDeep[sample], (signed char)known, memory_order_relaxed);
    }
    return known != 0;
}

static bool hangTogether(const Sampling* s, int32_t i, int32_t j) {
    const srFleshSample *a = &s->flesh->samples[i], *b = &s->flesh->samples[j];
    if (a->kind == sr_sampleNone || b->kind == sr_sampleNone) {
        return false;
    }
    double length = srDistance(a->point, b->point), apart = srDistance(a->anchor, b->anchor);
    if (a->kind != sr_sampleFringe && b->kind != sr_sampleFringe &&
        (a->kind == sr_sampleDeep || b->kind == sr_sampleDeep ||
         a->distance + b->distance > BALL_SLACK * length)) {
        return true;
    }
    if (apart > ANCHOR_SPACINGS * length || a->isSheet || b->isSheet) {
        return apart <= ANCHOR_SPACINGS * length;
    }
    // both ways: where flesh overlaps one of them may only enter. What leaves at an end that is in a deep
    // overlap leaves one of the two, which are one there
    srWayEnd here = {a->anchor, a->foot, a->out, a->piece}, there = {b->anchor, b->foot, b->out, b->piece};
    bool leavesThere, leavesBack;
    srWalls_LeavesBothWays(&s->flesh->walls, &here, &there, &leavesThere, &leavesBack);
    return (!leavesThere || isKnownOverDeep(s, i)) && (!leavesBack || isKnownOverDeep(s, j));
}

static void fillSubEdges(Sampling* s) {
    int count = 0;
    for (int a = 0; a < SR_SAMPLE_COUNT; a++) {
        for (int b = a + 1; b < SR_SAMPLE_COUNT; b++) {
            int p[4], q[4], sum = 0;
            srGetSampleSteps(a, p);
            srGetSampleSteps(b, q);
            for (int c = 0; c < 4; c++) {
                sum += p[c] > q[c] ? p[c] - q[c] : q[c] - p[c];
            }
            if (sum == 2) {
                s->subEdges[count][0] = a;
                s->subEdges[count++][1] = b;
            }
        }
    }
}

// Numbers the trees that hold flesh. Lone fringe samples are not a part.
static uint8_t numberParts(const Sampling* s, const int32_t* samples, int32_t* roots, int8_t* labels) {
    int weights[SR_SAMPLE_COUNT] = {0};
    int8_t numbers[SR_SAMPLE_COUNT];
    for (int i = 0; i < SR_SAMPLE_COUNT; i++) {
        srSampleKind kind = s->flesh->samples[samples[i]].kind;
        weights[srFindRoot(roots, i)] += kind == sr_sampleFringe ? 1 : kind != sr_sampleNone ? 3 : 0;
    }
    int count = 0;
    for (int i = 0; i < SR_SAMPLE_COUNT; i++) {
        int32_t root = srFindRoot(roots, i);
        if (root == i) {
            numbers[i] = (int8_t)(weights[i] < 3 ? -1 : count < SR_MAX_LABELS ? count++ : SR_MAX_LABELS - 1);
        }
        labels[i] = numbers[root];
    }
    return (uint8_t)count;
}

static bool isTorn(const Sampling* s, int32_t tet) {
    const int32_t* p = s->scaffold->tets[tet];
    const uint8_t* torn = s->source->torn;
    return torn != NULL && (torn[p[0]] || torn[p[1]] || torn[p[2]] || torn[p[3]]);
}

// Samples that know the flesh at their foot: below it, or seeing it from below.
static bool knowsFoot(const srFleshSource* source, const srFleshSample* sample) {
    bool isBelow = sample->kind == sr_sampleFringe ||
                   (sample->kind == sr_sampleInside && sample->triangle >= 0 &&
                    srDot(sample->out, normalOf(source, sample->triangle)) > LEAST_HEIGHT);
    return isBelow && !sample->isSheet;
}

static void joinBySkin(const Sampling* s, int32_t tet, const int32_t* samples, int32_t* roots) {
    const int32_t* p = s->scaffold->tets[tet];
    int32_t triangles[SR_SAMPLE_COUNT];
    srVec3 corners[4];
    for (int c = 0; c < 4; c++) {
        corners[c] = s->scaffold->points[p[c]];
    }
    for (int i = 0; i < SR_SAMPLE_COUNT; i++) {
        const srFleshSample* sample = &s->flesh->samples[samples[i]];
        triangles[i] = knowsFoot(s->source, sample) ? sample->triangle : SR_NULL_INDEX;
    }
    srSkinLinks_Join(&s->links, corners, SKIN_SHARE * spacingOf(s->scaffold, tet), triangles, SR_SAMPLE_COUNT,
                     roots);
}

static void growParts(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Sampling* s = context;
    for (int32_t place = s->firstPlace + begin; place < s->firstPlace + end; place++) {
        const int32_t* samples = s->flesh->tetSamples[place];
        int32_t roots[SR_SAMPLE_COUNT];
        srClearRoots(roots, SR_SAMPLE_COUNT);
        for (int e = 0; e < SUB_EDGE_COUNT; e++) {
            int a = s->subEdges[e][0], b = s->subEdges[e][1];
            if (srFindRoot(roots, a) != srFindRoot(roots, b) && hangTogether(s, samples[a], samples[b])) {
                srJoinRoots(roots, a, b);
            }
        }
        if (isTorn(s, s->chosen[place])) {
            joinBySkin(s, s->chosen[place], samples, roots);
        }
        s->flesh->labelCounts[place] = numberParts(s, samples, roots, s->flesh->labels[place]);
    }
}

static srResult sampleBatch(Sampling* s, srArena* arena, const srProgress* progress) {
    srFlesh* flesh = s->flesh;
    srProgress gathering = srPartOfProgress(progress, 0.0, 0.05);
    srProgress sampling = srPartOfProgress(progress, 0.05, 0.7),
               growing = srPartOfProgress(progress, 0.7, 1.0);
    SR_TRY(gatherSamples(s, arena, &gathering));
    SR_TRY(srParallelForWithProgress(takeSamples, flesh->sampleCount - s->firstSample, POINTS_PER_BLOCK,
                                     POINTS_PER_BATCH, s, &sampling));
    SR_TRY(srParallelForWithProgress(growParts, flesh->tetCount - s->firstPlace, TETS_PER_BLOCK,
                                     TETS_PER_BATCH, s, &growing));
    s->firstPlace = flesh->tetCount;
    return sr_success;
}

srResult srCreateFlesh(const srScaffold* scaffold, const srFleshSource* source, srArena* arena,
                       const srProgress* progress, srFlesh* outFlesh) {
    srFlesh flesh = {0};
    Sampling s = {.scaffold = scaffold, .source = source, .flesh = &flesh};
    srProgress choosing = srPartOfProgress(progress, 0.0, 0.2);
    srProgress binning = srPartOfProgress(progress, 0.2, 0.28),
               linking = srPartOfProgress(progress, 0.28, 0.3);
    fillSubEdges(&s);
    SR_TRY(chooseTets(&s, arena, &choosing));
    if (flesh.tetCount > 0) {
        SR_TRY(srCreateWalls(&source->contacts->skin, spacingOf(scaffold, s.chosen[0]), arena, &binning,
                             &flesh.walls));
        flesh.walls.pieces = source->contacts->shellPieces;
        flesh.walls.piecedCount = source->contacts->shellCount;
        if (source->torn != NULL) {
            SR_TRY(srCreateSkinLinks(&source->contacts->skin, arena, &linking, &s.links));
        }
    }
    for (int batch = 0; batch < BATCH_COUNT && flesh.tetCount > s.firstPlace; batch++) {
        double begin = 0.3 + 0.7 * batch / BATCH_COUNT;
        srProgress sampling = srPartOfProgress(progress, begin, begin + 0.7 / BATCH_COUNT);
        SR_TRY(sampleBatch(&s, arena, &sampling));
        if (batch < BATCH_COUNT - 1) {
            SR_TRY(chooseBeside(&s, arena));
        }
    }
    *outFlesh = flesh;
    return sr_success;
}
