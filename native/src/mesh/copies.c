// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every part of the flesh in a tetrahedron gets a copy of it. Copies of neighbours are glued at their common
// face where the samples on it say that their flesh goes through. A face has two sides, so each copy is glued
// to at most one on the other side: where flesh that was apart comes together, at the root of two fingers,
// one of the two goes on and the other ends; it is held by the faces beside. Which one goes on is decided
// alike along the whole root. Where that would tear a part off, the copies are made one.
//
// Corners that glued faces bring together are one point. A point that is within its own flesh keeps its
// distance; a virtual one, which lies in the flesh of others or in the gap, gets the distance to the skin of
// its own part.

#include "mesh/copies.h"

#include "mesh/faces.h"

#include <math.h>
#include <string.h>

// Most bonds that a face may have: any part on one side with any on the other
#define MAX_BONDS (SR_MAX_LABELS * SR_MAX_LABELS)

// Radius of the disk of skin around a foot, and how far from the skin a sample knows it, in spacings of
// samples
#define DISK_SPACINGS 0.5
#define REACH_SPACINGS 1.5

// Rounds of gluing; what is not sound then becomes one wherever it has to.
#define ROUND_COUNT 40

// As far outside as the cage's skin may lie, in sizes of points
#define OUTSIDE_SIZES 0.42

// Of two parts that compete for a face the one farther along this direction goes on. It is as good as any, as
// long as it is the same all along a root, where the choice must not change from one tetrahedron to the next;
// and it lies askew, so that planes of symmetry do not leave it undecided. Tried instead: the larger sheet of
// copies; at contacts between planes of the lattice sheets fall into rings of four, and the copies along a
// whole finger were lost.
static const srVec3 decidingDirection = {0.788, 0.511, 0.343};

typedef struct Bond {
    int32_t a, b; // parts
    int32_t votes;
    int32_t face; // of a's tetrahedron
} Bond;

typedef struct Splitting {
    const srScaffold* scaffold;
    const srFlesh* flesh;
    srArena* arena;
    srCopies* out;
    int32_t* opposite;   // faces
    int32_t* corners;    // union-find: corner c of part p is 4 p + c
    double* sides;       // of parts, to decide between rivals
    int32_t* bodies;     // union-find of parts that are glued
    int32_t* same;       // union-find of parts that were made one
    uint8_t* isReal;     // bodies that hold a point of the scaffold in their flesh
    uint8_t* isDropped;  // parts that are left out
    int32_t* bondOfFace; // for each face of each part, 4 p + f: the part on the other side, or SR_NULL_INDEX
    uint8_t* isTouched;  // points of split tetrahedra
    Bond* torn;          // bonds that were not glued
    int32_t tornCount;
    int32_t partCount;
} Splitting;

static int partCountOf(const Splitting* s, int32_t tet) {
    return s->out->partStarts[tet + 1] - s->out->partStarts[tet];
}

static srResult countParts(Splitting* s) {
    const srScaffold* scaffold = s->scaffold;
    int32_t* starts = SR_PUSH(s->arena, int32_t, scaffold->tetCount + 1, "parts of tets");
    s->isTouched = SR_PUSH(s->arena, uint8_t, scaffold->pointCount, "touched points");
    if (starts == NULL || s->isTouched == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    memset(s->isTouched, 0, (size_t)scaffold->pointCount);
    int64_t count = 0;
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        int32_t place = s->flesh->places[t];
        int parts =
            place != SR_NULL_INDEX && s->flesh->labelCounts[place] > 1 ? s->flesh->labelCounts[place] : 1;
        starts[t] = (int32_t)count;
        count += parts;
        for (int c = 0; c < 4 && parts > 1; c++) {
            s->isTouched[scaffold->tets[t][c]] = 1;
        }
    }
    if (count > INT32_MAX / 16) {
        return srFail(sr_errorTooLarge, "The cage would need too many nodes.");
    }
    starts[scaffold->tetCount] = (int32_t)count;
    s->out->partStarts = starts;
    s->partCount = (int32_t)count;
    return sr_success;
}

static srResult allocateParts(Splitting* s) {
    int32_t count = s->partCount;
    s->opposite = SR_PUSH(s->arena, int32_t, 4 * s->scaffold->tetCount, "faces");
    s->corners = SR_PUSH(s->arena, int32_t, 4 * count, "corners");
    s->sides = SR_PUSH(s->arena, double, count, "sides");
    s->bodies = SR_PUSH(s->arena, int32_t, count, "bodies");
    s->same = SR_PUSH(s->arena, int32_t, count, "parts");
    s->bondOfFace = SR_PUSH(s->arena, int32_t, 4 * count, "bonds");
    s->isReal = SR_PUSH(s->arena, uint8_t, count, "bodies");
    s->isDropped = SR_PUSH(s->arena, uint8_t, count, "bodies");
    s->torn = SR_PUSH(s->arena, Bond, 4 * count, "torn bonds");
    s->out->aliases = SR_PUSH(s->arena, int32_t, count, "copies");
    s->out->starts = SR_PUSH(s->arena, int32_t, s->scaffold->tetCount + 1, "copies");
    if (s->opposite == NULL || s->corners == NULL || s->sides == NULL || s->bodies == NULL ||
        s->same == NULL || s->isReal == NULL || s->isDropped == NULL || s->bondOfFace == NULL ||
        s->torn == NULL || s->out->aliases == NULL || s->out->starts == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    srClearRoots(s->same, count);
    memset(s->isDropped, 0, (size_t)count);
    return sr_success;
}

// The part that a sample of a face is of, counted from the tetrahedron's first; -1 for none: a face without
// any is not glued, because the cage's skin never reaches it. A tetrahedron that was not sampled is all one.
static int labelOnFace(const Splitting* s, int32_t tet, const int32_t ranked[3], const int steps[3]) {
    const srScaffold* scaffold = s->scaffold;
    int32_t place = s->flesh->places[tet];
    if (place == SR_NULL_INDEX) {
        for (int c = 0; c < 3; c++) {
            if (scaffold->phi[ranked[c]] < OUTSIDE_SIZES * scaffold->sizes[ranked[c]]) {
                return 0;
            }
        }
        return -1;
    }
    int sample[4] = {0, 0, 0, 0};
    for (int c = 0; c < 3; c++) {
        sample[srCornerOf(scaffold->tets[tet], ranked[c])] = steps[c];
    }
    int label = s->flesh->labels[place][srFindSample(sample)];
    return label > 0 && partCountOf(s, tet) == 1 ? 0 : label;
}

// Parts that were made one speak as the first of them.
static int rootLabel(const Splitting* s, int32_t tet, int label) {
    return srFindRoot(s->same, s->out->partStarts[tet] + label) - s->out->partStarts[tet];
}

// Whose flesh goes through a face, by its fifteen samples.
static int countVotes(const Splitting* s, int32_t face, int32_t other, Bond bonds[MAX_BONDS]) {
    int32_t a = face / 4, b = other / 4, ranked[3];
    int votes[SR_MAX_LABELS][SR_MAX_LABELS] = {{0}};
    for (int c = 0; c < 3; c++) {
        ranked[c] = s->scaffold->tets[a][srFaceCorners[face % 4][c]];
    }
    for (int i = 0; i <= SR_SAMPLE_STEPS; i++) {
        for (int j = 0; j <= SR_SAMPLE_STEPS - i; j++) {
            const int steps[3] = {i, j, SR_SAMPLE_STEPS - i - j};
            int labelA = labelOnFace(s, a, ranked, steps), labelB = labelOnFace(s, b, ranked, steps);
            if (labelA >= 0 && labelB >= 0) {
                votes[rootLabel(s, a, labelA)][rootLabel(s, b, labelB)]++;
            }
        }
    }
    int count = 0;
    for (int i = 0; i < partCountOf(s, a); i++) {
        for (int j = 0; j < partCountOf(s, b); j++) {
            if (votes[i][j] > 0) {
                bonds[count++] =
                    (Bond){s->out->partStarts[a] + i, s->out->partStarts[b] + j, votes[i][j], face};
            }
        }
    }
    return count;
}

static bool isRival(const Bond* x, const Bond* y) {
    return x != y && (x->a == y->a || x->b == y->b);
}

static void glue(Splitting* s, int32_t face, int32_t a, int32_t b) {
    int32_t other = s->opposite[face];
    const int32_t *tetA = s->scaffold->tets[face / 4], *tetB = s->scaffold->tets[other / 4];
    for (int c = 0; c < 3; c++) {
        int corner = srFaceCorners[face % 4][c];
        srJoinRoots(s->corners, 4 * a + corner, 4 * b + srCornerOf(tetB, tetA[corner]));
    }
    srJoinRoots(s->bodies, a, b);
    s->bondOfFace[4 * a + face % 4] = b;
    s->bondOfFace[4 * b + other % 4] = a;
}

// How far a part lies along the direction that decides.
static double sideOf(const Splitting* s, int32_t tet, int32_t part) {
    int32_t place = s->flesh->places[tet];
    double sum = 0.0;
    int count = 0;
    for (int i = 0; place != SR_NULL_INDEX && i < SR_SAMPLE_COUNT; i++) {
        int label = s->flesh->labels[place][i];
        if (label >= 0 && (partCountOf(s, tet) == 1 || s->out->partStarts[tet] + label == part)) {
            sum += srDot(s->flesh->samples[s->flesh->tetSamples[place][i]].point, decidingDirection);
            count++;
        }
    }
    return count > 0 ? sum / count : 0.0;
}

static void findSides(Splitting* s) {
    for (int32_t t = 0; t < s->scaffold->tetCount; t++) {
        for (int32_t p = s->out->partStarts[t]; p < s->out->partStarts[t + 1]; p++) {
            s->sides[p] = sideOf(s, t, p);
        }
    }
}

// Of two bonds the one to glue first: of parts farther on that side, then the one with more flesh.
static bool comesFirst(const Splitting* s, const Bond* x, const Bond* y) {
    double sideX = s->sides[x->a] + s->sides[x->b], sideY = s->sides[y->a] + s->sides[y->b];
    return sideX != sideY ? sideX > sideY : x->votes > y->votes;
}

static void glueFace(Splitting* s, int32_t face) {
    int32_t other = s->opposite[face];
    Bond bonds[MAX_BONDS];
    int count = countVotes(s, face, other, bonds);
    for (int i = 0; i < count; i++) {
        int best = i;
        for (int j = i + 1; j < count; j++) {
            best = comesFirst(s, &bonds[j], &bonds[best]) ? j : best;
        }
        Bond bond = bonds[best];
        bonds[best] = bonds[i];
        bonds[i] = bond;
        bool isTaken = false;
        for (int j = 0; j < i; j++) {
            isTaken = isTaken || (bonds[j].votes > 0 && isRival(&bonds[j], &bond));
        }
        if (isTaken && s->tornCount < 4 * s->partCount) {
            s->torn[s->tornCount++] = bond;
            bonds[i].votes = 0;
        } else if (!isTaken) {
            glue(s, face, bond.a, bond.b);
        }
    }
}

static void glueAll(Splitting* s) {
    srClearRoots(s->corners, 4 * s->partCount);
    srClearRoots(s->bodies, s->partCount);
    memset(s->bondOfFace, 0xff, 4 * sizeof(int32_t) * (size_t)s->partCount);
    s->tornCount = 0;
    for (int32_t face = 0; face < 4 * s->scaffold->tetCount; face++) {
        if (s->opposite[face] > face) {
            glueFace(s, face);
        }
    }
}

static int countCommon(Splitting* s, int32_t p, int32_t q) {
    int count = 0;
    for (int c = 0; c < 4; c++) {
        count += srFindRoot(s->corners, 4 * p + c) == srFindRoot(s->corners, 4 * q + c);
    }
    return count;
}

// Copies of one tetrahedron that share a whole face would make a face of three tetrahedra: they become one.
// `atOnce`: their corners too, until there are none.
static bool uniteTwins(Splitting* s, bool atOnce) {
    bool changes = false;
    for (int32_t t = 0; t < s->scaffold->tetCount; t++) {
        for (int32_t p = s->out->partStarts[t]; p < s->out->partStarts[t + 1]; p++) {
            for (int32_t q = p + 1; q < s->out->partStarts[t + 1]; q++) {
                if (srFindRoot(s->same, p) == srFindRoot(s->same, q) || countCommon(s, p, q) < 3) {
                    continue;
                }
                srJoinRoots(s->same, p, q);
                changes = true;
                for (int c = 0; c < 4 && atOnce; c++) {
                    srJoinRoots(s->corners, 4 * p + c, 4 * q + c);
                }
            }
        }
    }
    return changes;
}

// Whether the corner's own flesh is this part's; a tetrahedron that was not sampled has but one.
static bool isOwn(const Splitting* s, int32_t tet, int32_t part, int corner) {
    int32_t place = s->flesh->places[tet];
    if (place == SR_NULL_INDEX) {
        return true;
    }
    int steps[4] = {0, 0, 0, 0};
    steps[corner] = SR_SAMPLE_STEPS;
    int label = s->flesh->labels[place][srFindSample(steps)];
    label = label > 0 && partCountOf(s, tet) == 1 ? 0 : label;
    return label >= 0 && rootLabel(s, tet, label) == rootLabel(s, tet, part - s->out->partStarts[tet]);
}

static void findRealBodies(Splitting* s) {
    memset(s->isReal, 0, (size_t)s->partCount);
    for (int32_t t = 0; t < s->scaffold->tetCount; t++) {
        for (int32_t corner = 4 * s->out->partStarts[t]; corner < 4 * s->out->partStarts[t + 1]; corner++) {
            bool isInside = s->scaffold->phi[s->scaffold->tets[t][corner % 4]] < 0.0;
            if (isInside && isOwn(s, t, corner / 4, corner % 4)) {
                s->isReal[srFindRoot(s->bodies, corner / 4)] = 1;
            }
        }
    }
}

// Where a torn bond was all that held a body, the copy that lost it becomes one with the copy that got it;
// unless one of the two bodies holds no point: then it is a splinter.
static bool mendTorn(Splitting* s) {
    bool changes = false;
    findRealBodies(s);
    for (int32_t i = 0; i < s->tornCount; i++) {
        const Bond* bond = &s->torn[i];
        int32_t bodyA = srFindRoot(s->bodies, bond->a), bodyB = srFindRoot(s->bodies, bond->b);
        if (bodyA == bodyB || !s->isReal[bodyA] || !s->isReal[bodyB]) {
            continue;
        }
        int32_t winnerA = s->bondOfFace[4 * bond->b + s->opposite[bond->face] % 4];
        int32_t winnerB = s->bondOfFace[4 * bond->a + bond->face % 4];
        if (winnerA != SR_NULL_INDEX) {
            srJoinRoots(s->same, bond->a, winnerA);
        } else {
            srJoinRoots(s->same, bond->b, winnerB);
        }
        srJoinRoots(s->bodies, bond->a, bond->b);
        s->isReal[srFindRoot(s->bodies, bond->a)] = 1;
        changes = true;
    }
    return changes;
}

// Splinters of torn bonds are left out.
static void dropSplinters(Splitting* s) {
    findRealBodies(s);
    memset(s->isDropped, 0, (size_t)s->partCount);
    for (int32_t i = 0; i < s->tornCount; i++) {
        int32_t ends[2] = {srFindRoot(s->bodies, s->torn[i].a), srFindRoot(s->bodies, s->torn[i].b)};
        for (int e = 0; e < 2 && ends[0] != ends[1]; e++) {
            s->isDropped[ends[e]] = !s->isReal[ends[e]];
        }
    }
    for (int32_t part = 0; part < s->partCount; part++) {
        s->isDropped[part] = s->isDropped[srFindRoot(s->bodies, part)];
    }
}

static srResult glueUntilSound(Splitting* s, const srProgress* progress) {
    bool changes = true;
    for (int round = 0; round < ROUND_COUNT && changes; round++) {
        SR_TRY(srReportProgress(progress, (double)round / ROUND_COUNT));
        glueAll(s);
        changes = uniteTwins(s, false) || mendTorn(s);
    }
    while (changes) {
        changes = uniteTwins(s, true);
    }
    dropSplinters(s);
    return sr_success;
}

// Parts that were made one share all corners.
static void joinSame(Splitting* s) {
    for (int32_t p = 0; p < s->partCount; p++) {
        int32_t root = srFindRoot(s->same, p);
        for (int c = 0; c < 4 && root != p; c++) {
            srJoinRoots(s->corners, 4 * p + c, 4 * root + c);
        }
    }
}

// A copy for each tree of `same`.
static void numberCopies(Splitting* s) {
    joinSame(s);
    srCopies* out = s->out;
    int32_t count = 0;
    for (int32_t t = 0; t < s->scaffold->tetCount; t++) {
        out->starts[t] = count;
        for (int32_t p = out->partStarts[t]; p < out->partStarts[t + 1]; p++) {
            int32_t root = srFindRoot(s->same, p);
            bool isFirst = root == p && !s->isDropped[p];
            out->aliases[p] = isFirst ? count++ : root == p ? SR_NULL_INDEX : out->aliases[root];
        }
        out->splitCount += count - out->starts[t] > 1;
        out->copyCount += count - out->starts[t] > 1 ? count - out->starts[t] - 1 : 0;
    }
    out->starts[s->scaffold->tetCount] = count;
}

// Points of the new scaffold: untouched ones keep their number, touched ones get one for each tree of
// corners.
static srResult numberPoints(Splitting* s, int32_t** outPointOf, int32_t* outPointCount) {
    const srScaffold* scaffold = s->scaffold;
    int32_t* pointOf = SR_PUSH(s->arena, int32_t, 4 * s->partCount, "points of corners");
    int32_t* next = SR_PUSH(s->arena, int32_t, scaffold->pointCount, "first copies");
    if (pointOf == NULL || next == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    int32_t count = scaffold->pointCount;
    memset(next, 0, (size_t)scaffold->pointCount * sizeof(int32_t));
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        for (int32_t corner = 4 * s->out->partStarts[t]; corner < 4 * s->out->partStarts[t + 1]; corner++) {
            int32_t base = scaffold->tets[t][corner % 4];
            int32_t root = s->isTouched[base] ? srFindRoot(s->corners, corner) : corner;
            if (!s->isTouched[base]) {
                pointOf[corner] = base;
            } else if (root != corner) {
                pointOf[corner] = pointOf[root];
            } else {
                pointOf[corner] = next[base]++ == 0 ? base : count++;
            }
        }
    }
    *outPointOf = pointOf;
    *outPointCount = count;
    return sr_success;
}

static void fillTets(Splitting* s, const int32_t* pointOf, srScaffold* out) {
    const srScaffold* scaffold = s->scaffold;
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        for (int32_t p = s->out->partStarts[t]; p < s->out->partStarts[t + 1]; p++) {
            int32_t copy = s->out->aliases[p];
            for (int c = 0; c < 4; c++) {
                int32_t point = pointOf[4 * p + c], base = scaffold->tets[t][c];
                out->bases[point] = base;
                out->points[point] = scaffold->points[base];
                out->sizes[point] = scaffold->sizes[base];
                memcpy(out->coords[point], scaffold->coords[base], sizeof(out->coords[0]));
                if (copy != SR_NULL_INDEX) {
                    out->tetBases[copy] = t;
                    out->tets[copy][c] = point;
                }
            }
        }
    }
    memset(out->isSplit, 0, (size_t)out->pointCount);
    for (int32_t point = scaffold->pointCount; point < out->pointCount; point++) {
        out->isSplit[point] = out->isSplit[out->bases[point]] = 1;
    }
}

// The least distance from a corner to the skin of a part.
static double distanceToPart(const Splitting* s, int32_t tet, int32_t part, srVec3 point) {
    int32_t place = s->flesh->places[tet];
    double least = HUGE_VAL;
    if (place == SR_NULL_INDEX) {
        return least;
    }
    const int32_t* p = s->scaffold->tets[tet];
    double spacing = 0.25 * srDistance(s->scaffold->points[p[0]], s->scaffold->points[p[1]]);
    bool isOnly = partCountOf(s, tet) == 1;
    int own = rootLabel(s, tet, part - s->out->partStarts[tet]);
    for (int i = 0; i < SR_SAMPLE_COUNT; i++) {
        const srFleshSample* sample = &s->flesh->samples[s->flesh->tetSamples[place][i]];
        int label = s->flesh->labels[place][i];
        bool isOfPart = label >= 0 && (isOnly || rootLabel(s, tet, label) == own);
        if (isOfPart && sample->kind != sr_sampleNone && sample->distance < REACH_SPACINGS * spacing) {
            least = fmin(least, srFleshSample_Distance(sample, point, DISK_SPACINGS * spacing));
        }
    }
    return least;
}

// phi of the copies: of a point that is inside its own flesh as it was; of others not below the distance to
// their own skin.
static srResult fillDistances(Splitting* s, const int32_t* pointOf, srScaffold* out) {
    const srScaffold* scaffold = s->scaffold;
    uint8_t* isReal = SR_PUSH(s->arena, uint8_t, out->pointCount, "real points");
    if (isReal == NULL) {
        return srFailOutOfMemory("the parts of the flesh");
    }
    memset(isReal, 0, (size_t)out->pointCount);
    for (int32_t point = 0; point < out->pointCount; point++) {
        out->phi[point] = out->isSplit[point] ? HUGE_VAL : scaffold->phi[out->bases[point]];
    }
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        for (int32_t p = s->out->partStarts[t]; p < s->out->partStarts[t + 1]; p++) {
            for (int c = 0; c < 4; c++) {
                int32_t point = pointOf[4 * p + c];
                if (out->isSplit[point]) {
                    isReal[point] = isReal[point] || isOwn(s, t, p, c);
                    out->phi[point] = fmin(out->phi[point], distanceToPart(s, t, p, out->points[point]));
                }
            }
        }
    }
    for (int32_t point = 0; point < out->pointCount; point++) {
        double known = scaffold->phi[out->bases[point]];
        if (!out->isSplit[point]) {
            continue;
        }
        if (isReal[point] && known < 0.0) {
            out->phi[point] = known;
        } else {
            out->phi[point] = fmax(known, fmin(out->phi[point], out->sizes[point]));
        }
    }
    return sr_success;
}

srResult srSplitScaffold(const srScaffold* scaffold, const srFlesh* flesh, srArena* arena,
                         const srProgress* progress, srCopies* outCopies) {
    srCopies copies = {.scaffold = *scaffold};
    Splitting s = {.scaffold = scaffold, .flesh = flesh, .arena = arena, .out = &copies};
    SR_TRY(srReportProgress(progress, 0.0));
    SR_TRY(countParts(&s));
    SR_TRY(allocateParts(&s));
    if (s.partCount > scaffold->tetCount) {
        SR_TRY(srPairFaces((const int32_t (*)[4])scaffold->tets, scaffold->tetCount, scaffold->pointCount,
                           arena, s.opposite));
        findSides(&s);
        srProgress gluing = srPartOfProgress(progress, 0.1, 0.9);
        SR_TRY(glueUntilSound(&s, &gluing));
    }
    numberCopies(&s);
    if (copies.copyCount > 0 || copies.starts[scaffold->tetCount] < scaffold->tetCount) {
        int32_t* pointOf = NULL;
        int32_t pointCount = 0;
        SR_TRY(numberPoints(&s, &pointOf, &pointCount));
        SR_TRY(srAllocateScaffold(arena, pointCount, copies.starts[scaffold->tetCount], &copies.scaffold));
        fillTets(&s, pointOf, &copies.scaffold);
        SR_TRY(fillDistances(&s, pointOf, &copies.scaffold));
    }
    SR_TRY(srReportProgress(progress, 1.0));
    *outCopies = copies;
    return sr_success;
}
