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

// Corners 0 and 1 are neighbouring centres of cubes, 2 and 3 neighbouring corners of the face between them:
// edges 01 and 23 are long, the others short.
typedef struct Walk {
    const srLattice* lattice;
    const double* phi;
    double reach;
    int32_t* pointOf; // lattice point -> scaffold point
    srScaffold* out;  // tets null: only count
} Walk;

static void takeTet(Walk* walk, const int32_t points[4]) {
    srScaffold* out = walk->out;
    bool isNear = false;
    for (int c = 0; c < 4; c++) {
        isNear = isNear || walk->phi[points[c]] < walk->reach;
    }
    if (!isNear) {
        return;
    }
    for (int c = 0; c < 4; c++) {
        if (walk->pointOf[points[c]] == SR_NULL_INDEX) {
            walk->pointOf[points[c]] = out->pointCount++;
        }
        if (out->tets != NULL) {
            out->tets[out->tetCount][c] = walk->pointOf[points[c]];
        }
    }
    out->tetCount++;
}

// The four tetrahedra around the long edge from a cube's centre along an axis.
static void takeTetsOfEdge(Walk* walk, int32_t centre, int axis) {
    static const int ring[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int32_t next = srLattice_Neighbour(walk->lattice, centre, 2 * axis);
    int32_t corners[4];
    for (int turn = 0; turn < 4; turn++) {
        int offset[3];
        offset[axis] = 1;
        offset[(axis + 1) % 3] = ring[turn][0];
        offset[(axis + 2) % 3] = ring[turn][1];
        corners[turn] = srLattice_Neighbour(walk->lattice, centre, srFindDirection(offset));
    }
    for (int turn = 0; turn < 4; turn++) {
        takeTet(walk, (int32_t[4]){centre, next, corners[turn], corners[(turn + 1) % 4]});
    }
}

// The outermost cubes hold no point within reach, so the last layer and the ends of rows can be left out.
static srResult takeAllTets(Walk* walk, const srProgress* progress) {
    const srLattice* lattice = walk->lattice;
    walk->out->pointCount = 0;
    walk->out->tetCount = 0;
    memset(walk->pointOf, 0xff, (size_t)lattice->pointCount * sizeof(int32_t));
    for (int32_t k = 0; k < lattice->nz - 1; k++) {
        SR_TRY(srReportProgress(progress, (double)k / lattice->nz));
        for (int32_t j = 0; j < lattice->ny - 1; j++) {
            for (int32_t i = 0; i < lattice->nx - 1; i++) {
                int32_t centre = 2 * ((k * lattice->ny + j) * lattice->nx + i) + 1;
                for (int axis = 0; axis < 3; axis++) {
                    takeTetsOfEdge(walk, centre, axis);
                }
            }
        }
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
    const srLattice* lattice = walk->lattice;
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
        out->bases[point] = point;
        out->isSplit[point] = 0;
    }
    for (int32_t t = 0; t < out->tetCount; t++) {
        out->tetBases[t] = t;
    }
}

srResult srCreateScaffold(const srLattice* lattice, const double* phi, double reach, srArena* arena,
                          const srProgress* progress, srScaffold* outScaffold) {
    srScaffold scaffold = {0};
    Walk walk = {lattice, phi, reach, SR_PUSH(arena, int32_t, lattice->pointCount, "places"), &scaffold};
    if (walk.pointOf == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    srProgress counting = srPartOfProgress(progress, 0.0, 0.4),
               filling = srPartOfProgress(progress, 0.4, 1.0);
    SR_TRY(takeAllTets(&walk, &counting));
    SR_TRY(srAllocateScaffold(arena, scaffold.pointCount, scaffold.tetCount, &scaffold));
    SR_TRY(takeAllTets(&walk, &filling));
    fillPoints(&walk);
    srScaffold_MeasureSizes(&scaffold);
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
