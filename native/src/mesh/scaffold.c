// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a sampled lattice to the few tetrahedra that matter, and the offset by local thickness.

#include "mesh/scaffold.h"

#include "mesh/faces.h"

#include <math.h>
#include <string.h>

// Points that make a piece; fewer are a crumb of the lattice.
#define LEAST_PIECE 4

// A corner stands for the space around it, as wide as this many sizes from full to empty.
#define CORNER_REACH 0.8

typedef struct Walk {
    const srGrading* grading;
    const double* phi;
    double reachShare; // of a tetrahedron's longest edge
    int32_t* pointOf;  // lattice point -> scaffold point
    srScaffold* out;
    bool isFilling; // else only count
} Walk;

// Cubes of a level, in half cubes of the smallest size.
typedef struct Level {
    int32_t index;
    int32_t step; // half a cube
    double edge;  // of a cube, in the surface's unit
} Level;

// Sizes of points know all tetrahedra around them, those out of reach too.
static void takeTet(Walk* walk, const int32_t* a, const int32_t* b, const int32_t* c, const int32_t* d,
                    double size) {
    srScaffold* out = walk->out;
    const int32_t points[4] = {srGrading_PointAt(walk->grading, a), srGrading_PointAt(walk->grading, b),
                               srGrading_PointAt(walk->grading, c), srGrading_PointAt(walk->grading, d)};
    bool isNear = false;
    for (int i = 0; i < 4; i++) {
        isNear = isNear || walk->phi[points[i]] < walk->reachShare * size;
        int32_t point = walk->pointOf[points[i]];
        if (walk->isFilling && point != SR_NULL_INDEX) {
            out->sizes[point] = fmin(out->sizes[point], size);
        }
    }
    if (!isNear) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        if (walk->isFilling) {
            out->tets[out->tetCount][i] = walk->pointOf[points[i]];
        } else if (walk->pointOf[points[i]] == SR_NULL_INDEX) {
            walk->pointOf[points[i]] = out->pointCount++;
        }
    }
    out->tetCount++;
}

static void findMiddle(const int32_t a[3], const int32_t b[3], int32_t out[3]) {
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = (a[axis] + b[axis]) / 2;
    }
}

// Whether the smaller cube between a centre and a corner has a centre of its own.
static bool hasChild(const Walk* walk, const Level* level, const int32_t centre[3], const int32_t corner[3]) {
    int32_t cube[3];
    for (int axis = 0; axis < 3; axis++) {
        cube[axis] = (centre[axis] < corner[axis] ? centre[axis] : corner[axis]) / level->step;
    }
    return srGrading_HasCentre(walk->grading, level->index + 1, cube);
}

// An edge between corners is halved when a smaller cube with a centre lies at it.
static bool isHalved(const Walk* walk, const Level* level, const int32_t p[3], const int32_t q[3]) {
    int along = p[0] != q[0] ? 0 : p[1] != q[1] ? 1 : 2;
    for (int side = 0; side < 4; side++) {
        int32_t centre[3];
        findMiddle(p, q, centre);
        centre[(along + 1) % 3] += (side & 1) != 0 ? level->step : -level->step;
        centre[(along + 2) % 3] += (side & 2) != 0 ? level->step : -level->step;
        if (hasChild(walk, level, centre, p) || hasChild(walk, level, centre, q)) {
            return true;
        }
    }
    return false;
}

// What is left of a tetrahedron between two centres and two corners whose long edges are both halved: the
// quarters that do not belong to smaller cubes with centres.
static void takeQuarters(Walk* walk, const Level* level, const int32_t* const centres[2],
                         const int32_t* const corners[2]) {
    int32_t m[3], n[3];
    findMiddle(centres[0], centres[1], m);
    findMiddle(corners[0], corners[1], n);
    for (int quarter = 0; quarter < 4; quarter++) {
        const int32_t *a = centres[quarter & 1], *b = corners[quarter >> 1];
        if (!hasChild(walk, level, a, b)) {
            takeTet(walk, a, b, m, n, 0.5 * sqrt(3.0) * level->edge);
        }
    }
}

// The four tetrahedra around the long edge between two centres. Corners 0 and 1 are centres of cubes, 2 and 3
// neighbouring corners of the face between them: edges 01 and 23 are long, the others short.
static void takeAroundEdge(Walk* walk, const Level* level, const int32_t c[3], const int32_t d[3],
                           int32_t ring[4][3]) {
    bool isLast = level->index + 1 == walk->grading->levelCount, isSplit = false;
    int32_t m[3];
    findMiddle(c, d, m);
    for (int turn = 0; turn < 4 && !isLast; turn++) {
        isSplit = isSplit || hasChild(walk, level, c, ring[turn]) || hasChild(walk, level, d, ring[turn]);
    }
    for (int turn = 0; turn < 4; turn++) {
        const int32_t *p = ring[turn], *q = ring[(turn + 1) % 4];
        bool isRimSplit = !isLast && isHalved(walk, level, p, q);
        if (isSplit && isRimSplit) {
            takeQuarters(walk, level, (const int32_t* const[2]){c, d}, (const int32_t* const[2]){p, q});
        } else if (isSplit) {
            takeTet(walk, c, m, p, q, level->edge);
            takeTet(walk, m, d, p, q, level->edge);
        } else if (isRimSplit) {
            int32_t n[3];
            findMiddle(p, q, n);
            takeTet(walk, c, d, p, n, level->edge);
            takeTet(walk, c, d, n, q, level->edge);
        } else {
            takeTet(walk, c, d, p, q, level->edge);
        }
    }
}

// The two tetrahedra between a centre and a face behind which larger ones go on. Their diagonal is the one
// that these have: from the corner or the centre one level up that is on the face.
static void takePyramid(Walk* walk, const Level* level, const int32_t centre[3], int32_t ring[4][3],
                        int axis) {
    int32_t edge = 2 * level->step, parity = ring[0][axis] / edge & 1;
    int from = 0;
    while ((ring[from][(axis + 1) % 3] / edge & 1) != parity ||
           (ring[from][(axis + 2) % 3] / edge & 1) != parity) {
        from++;
    }
    const int32_t *a = ring[from], *b = ring[(from + 2) % 4];
    takeTet(walk, centre, ring[(from + 1) % 4], a, b, sqrt(2.0) * level->edge);
    takeTet(walk, centre, ring[(from + 3) % 4], a, b, sqrt(2.0) * level->edge);
}

// Between a cube and the next one along an axis.
static void takeFace(Walk* walk, const Level* level, const int32_t cube[3], int axis) {
    static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int32_t next[3] = {cube[0], cube[1], cube[2]}, c[3], d[3], ring[4][3];
    next[axis]++;
    bool isCentred = srGrading_HasCentre(walk->grading, level->index, cube);
    bool isNextCentred = srGrading_HasCentre(walk->grading, level->index, next);
    if (!isCentred && !isNextCentred) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        c[i] = 2 * level->step * cube[i] + level->step;
        d[i] = 2 * level->step * next[i] + level->step;
    }
    for (int turn = 0; turn < 4; turn++) {
        ring[turn][axis] = 2 * level->step * next[axis];
        ring[turn][(axis + 1) % 3] = 2 * level->step * (cube[(axis + 1) % 3] + around[turn][0]);
        ring[turn][(axis + 2) % 3] = 2 * level->step * (cube[(axis + 2) % 3] + around[turn][1]);
    }
    if (isCentred && isNextCentred) {
        takeAroundEdge(walk, level, c, d, ring);
    } else {
        takePyramid(walk, level, isCentred ? c : d, ring, axis);
    }
}

// The outermost cubes hold no point within reach, so the last layer and the ends of rows can be left out.
static srResult takeLevel(Walk* walk, int32_t index, const srProgress* progress) {
    const srGrading* grading = walk->grading;
    const int32_t* counts = grading->counts[index];
    int32_t step = srGrading_GetStep(grading, index), cube[3];
    Level level = {index, step, step * grading->lattice.spacing};
    for (cube[2] = 0; cube[2] < counts[2] - 1; cube[2]++) {
        SR_TRY(srReportProgress(progress, (double)cube[2] / counts[2]));
        for (cube[1] = 0; cube[1] < counts[1] - 1; cube[1]++) {
            for (cube[0] = 0; cube[0] < counts[0] - 1; cube[0]++) {
                for (int axis = 0; axis < 3; axis++) {
                    takeFace(walk, &level, cube, axis);
                }
            }
        }
    }
    return sr_success;
}

static srResult takeAllTets(Walk* walk, const srProgress* progress) {
    int32_t levelCount = walk->grading->levelCount;
    walk->out->tetCount = 0;
    for (int32_t level = 0; level < levelCount; level++) {
        srProgress part = srPartOfProgress(progress, (double)level / levelCount, (level + 1.0) / levelCount);
        SR_TRY(takeLevel(walk, level, &part));
    }
    return sr_success;
}

srResult srAllocateScaffold(srArena* arena, int32_t pointCount, int32_t tetCount, srScaffold* outScaffold) {
    srScaffold scaffold = {.pointCount = pointCount, .tetCount = tetCount};
    scaffold.points = SR_PUSH(arena, srVec3, pointCount, "points");
    scaffold.coords = srArena_Push(arena, (size_t)pointCount, sizeof(scaffold.coords[0]), "coordinates");
    scaffold.phi = SR_PUSH(arena, double, pointCount, "distances");
    scaffold.sizes = SR_PUSH(arena, double, pointCount, "sizes");
    scaffold.bases = SR_PUSH(arena, int32_t, pointCount, "bases of points");
    scaffold.isSplit = SR_PUSH(arena, uint8_t, pointCount, "split points");
    scaffold.tets = srArena_Push(arena, (size_t)tetCount, sizeof(scaffold.tets[0]), "tets");
    scaffold.tetBases = SR_PUSH(arena, int32_t, tetCount, "bases of tets");
    if (scaffold.points == NULL || scaffold.coords == NULL || scaffold.phi == NULL ||
        scaffold.sizes == NULL || scaffold.bases == NULL || scaffold.isSplit == NULL ||
        scaffold.tets == NULL || scaffold.tetBases == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    *outScaffold = scaffold;
    return sr_success;
}

// In half cubes from the lattice's middle.
static void fillPoints(const Walk* walk) {
    const srLattice* lattice = &walk->grading->lattice;
    srScaffold* out = walk->out;
    double unit = 0.5 * lattice->spacing;
    srVec3 middle = srMulAdd(lattice->origin, unit, (srVec3){lattice->nx, lattice->ny, lattice->nz});
    for (int32_t p = 0; p < lattice->pointCount; p++) {
        int32_t point = walk->pointOf[p], cube = p / 2;
        if (point == SR_NULL_INDEX) {
            continue;
        }
        out->coords[point][0] = 2 * (cube % lattice->nx) + (p & 1) - lattice->nx;
        out->coords[point][1] = 2 * (cube / lattice->nx % lattice->ny) + (p & 1) - lattice->ny;
        out->coords[point][2] = 2 * (cube / (lattice->nx * lattice->ny)) + (p & 1) - lattice->nz;
        const int32_t* c = out->coords[point];
        out->points[point] = srMulAdd(middle, unit, (srVec3){c[0], c[1], c[2]});
        out->phi[point] = walk->phi[p];
        out->sizes[point] = HUGE_VAL;
        out->bases[point] = point;
        out->isSplit[point] = 0;
    }
    for (int32_t t = 0; t < out->tetCount; t++) {
        out->tetBases[t] = t;
    }
}

srResult srCreateScaffold(const srLattice* lattice, const double* phi, double reach, srArena* arena,
                          const srProgress* progress, srScaffold* outScaffold) {
    const srGrading alike = srGradeAlike(lattice);
    return srCreateGradedScaffold(&alike, phi, reach / lattice->spacing, arena, progress, outScaffold);
}

srResult srCreateGradedScaffold(const srGrading* grading, const double* phi, double reachShare,
                                srArena* arena, const srProgress* progress, srScaffold* outScaffold) {
    srScaffold scaffold = {0};
    size_t latticeCount = (size_t)grading->lattice.pointCount;
    Walk walk = {grading, phi, reachShare, SR_PUSH(arena, int32_t, latticeCount, "places"), &scaffold, false};
    if (walk.pointOf == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    memset(walk.pointOf, 0xff, latticeCount * sizeof(int32_t));
    srProgress counting = srPartOfProgress(progress, 0.0, 0.4),
               filling = srPartOfProgress(progress, 0.4, 1.0);
    SR_TRY(takeAllTets(&walk, &counting));
    SR_TRY(srAllocateScaffold(arena, scaffold.pointCount, scaffold.tetCount, &scaffold));
    fillPoints(&walk);
    walk.isFilling = true;
    SR_TRY(takeAllTets(&walk, &filling));
    *outScaffold = scaffold;
    return sr_success;
}

void srScaffold_MeasureSizes(srScaffold* scaffold) {
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        scaffold->sizes[point] = HUGE_VAL;
    }
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* tet = scaffold->tets[t];
        double longest2 = 0.0;
        for (int e = 0; e < 6; e++) {
            static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
            srVec3 edge = srSub(scaffold->points[tet[ends[e][0]]], scaffold->points[tet[ends[e][1]]]);
            longest2 = fmax(longest2, srDot(edge, edge));
        }
        double size = sqrt(longest2);
        for (int c = 0; c < 4; c++) {
            scaffold->sizes[tet[c]] = fmin(scaffold->sizes[tet[c]], size);
        }
    }
}

static void copyBehind(const srScaffold* from, srScaffold* to) {
    int32_t firstPoint = to->pointCount, firstTet = to->tetCount;
    for (int32_t p = 0; p < from->pointCount; p++) {
        int32_t point = to->pointCount++;
        to->points[point] = from->points[p];
        memcpy(to->coords[point], from->coords[p], sizeof(to->coords[0]));
        to->phi[point] = from->phi[p];
        to->sizes[point] = from->sizes[p];
        to->bases[point] = firstPoint + from->bases[p];
        to->isSplit[point] = from->isSplit[p];
    }
    for (int32_t t = 0; t < from->tetCount; t++) {
        int32_t tet = to->tetCount++;
        to->tetBases[tet] = firstTet + from->tetBases[t];
        for (int c = 0; c < 4; c++) {
            to->tets[tet][c] = firstPoint + from->tets[t][c];
        }
    }
}

srResult srJoinScaffolds(const srScaffold* scaffolds, int32_t count, srArena* arena,
                         srScaffold* outScaffold) {
    int64_t pointCount = 0, tetCount = 0;
    for (int32_t i = 0; i < count; i++) {
        pointCount += scaffolds[i].pointCount;
        tetCount += scaffolds[i].tetCount;
    }
    if (pointCount > INT32_MAX / 4 || tetCount > INT32_MAX / 4) {
        return srFail(sr_errorTooLarge, "The cage would need too many nodes.");
    }
    srScaffold joined;
    SR_TRY(srAllocateScaffold(arena, (int32_t)pointCount, (int32_t)tetCount, &joined));
    joined.pointCount = joined.tetCount = 0;
    for (int32_t i = 0; i < count; i++) {
        copyBehind(&scaffolds[i], &joined);
    }
    *outScaffold = joined;
    return sr_success;
}

// How deep the flesh at a point is, as far as its neighbours know: the least phi of itself and of them. A
// part half as thick as the widest gap between the lattice's planes of points needs no offset to hold some; a
// thinner one needs what it lacks.
void srScaffold_OffsetLevel(const srScaffold* scaffold, double leastShare, double mostShare, double* scratch,
                            double* outLevel) {
    double* least = scratch;
    memcpy(least, scaffold->phi, (size_t)scaffold->pointCount * sizeof(double));
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* tet = scaffold->tets[t];
        double here = HUGE_VAL;
        for (int c = 0; c < 4; c++) {
            here = fmin(here, scaffold->phi[tet[c]]);
        }
        for (int c = 0; c < 4; c++) {
            least[tet[c]] = fmin(least[tet[c]], here);
        }
    }
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        double size = scaffold->sizes[point];
        double offset = fmin(fmax(mostShare * size + least[point], leastShare * size), mostShare * size);
        outLevel[point] = scaffold->phi[point] - offset;
    }
}

double srScaffold_EstimateVolume(const srScaffold* scaffold, const double* level) {
    double volume = 0.0;
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* tet = scaffold->tets[t];
        const srVec3* p = scaffold->points;
        srVec3 a = srSub(p[tet[1]], p[tet[0]]), b = srSub(p[tet[2]], p[tet[0]]),
               c = srSub(p[tet[3]], p[tet[0]]);
        double share = 0.0;
        for (int corner = 0; corner < 4; corner++) {
            double depth = 0.5 - level[tet[corner]] / (CORNER_REACH * scaffold->sizes[tet[corner]]);
            share += 0.25 * fmin(fmax(depth, 0.0), 1.0);
        }
        volume += share * fabs(srDot(a, srCross(b, c))) / 6.0;
    }
    return volume;
}

int32_t srScaffold_CountPieces(const srScaffold* scaffold, const double* level, double* scratch,
                               int32_t* roots) {
    srClearRoots(roots, scaffold->pointCount);
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* tet = scaffold->tets[t];
        int32_t first = SR_NULL_INDEX;
        for (int c = 0; c < 4; c++) {
            if (level[tet[c]] < 0.0) {
                first = first == SR_NULL_INDEX ? tet[c] : first;
                srJoinRoots(roots, first, tet[c]);
            }
        }
    }

    int32_t count = 0;
    memset(scratch, 0, (size_t)scaffold->pointCount * sizeof(double));
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        double* size = &scratch[srFindRoot(roots, point)];
        *size += level[point] < 0.0;
        count += level[point] < 0.0 && *size == LEAST_PIECE;
    }
    return count;
}
