// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cutting edges and warping points, after Labelle and Shewchuk 2007. A cut nearer to a point than a certain
// share of its edge "violates" the point, which then moves onto it. With the shares below they prove dihedral
// angles within 10.7 and 164.8 degrees whatever the level set; with our rule for thin parts random fields
// give 9.8 to 159 (test_stuffing.c).

#include "mesh/warp.h"

#include "core/alloc.h"

#include <math.h>

#define LONG_SHARE 0.24999
#define SHORT_SHARE 0.41189

// Halvings where the field jumps, across holes of the surface: 1/64 of an edge is far below LONG_SHARE.
#define HALVING_COUNT 6

#define POINTS_PER_BLOCK 256
#define POINTS_PER_BATCH 1024

static double violationShare(int direction) {
    return direction < SR_FIRST_SHORT ? LONG_SHARE : SHORT_SHARE;
}

static int countBits(unsigned mask) {
    int count = 0;
    for (; mask != 0; mask &= mask - 1) {
        count++;
    }
    return count;
}

int32_t srWarp_FindCut(const srWarp* warp, int32_t insidePoint, int direction) {
    unsigned before = warp->cutMasks[insidePoint] & ((1u << direction) - 1u);
    return warp->firstCuts[insidePoint] + countBits(before);
}

srVec3 srWarp_Point(const srWarp* warp, int32_t point) {
    srVec3 position = srLattice_Point(warp->lattice, point);
    if (warp->signs[point] != 0) {
        return position;
    }
    return srMulAdd(position, warp->warpShares[point],
                    srLattice_Step(warp->lattice, warp->warpDirections[point]));
}

// The outermost rings of cubes lie outside of the level set by srMakeLattice's margin, so inside points have
// all their neighbours.
static void findSigns(srWarp* warp, const double* phi) {
    for (int32_t point = 0; point < warp->lattice->pointCount; point++) {
        warp->signs[point] = phi[point] < 0.0 ? 1 : -1;
    }
}

static srResult countCuts(srWarp* warp) {
    const srLattice* lattice = warp->lattice;
    int64_t cutCount = 0;
    for (int32_t point = 0; point < lattice->pointCount; point++) {
        if (warp->signs[point] < 0) {
            continue;
        }
        unsigned mask = 0;
        for (int d = 0; d < SR_DIRECTION_COUNT; d++) {
            mask |= (unsigned)(warp->signs[srLattice_Neighbour(lattice, point, d)] < 0) << d;
        }
        warp->cutMasks[point] = (uint16_t)mask;
        warp->firstCuts[point] = (int32_t)cutCount;
        cutCount += countBits(mask);
    }
    if (cutCount > INT32_MAX) {
        return srFail(sr_errorTooLarge, "The cage would need too many nodes.");
    }
    warp->cutCount = (int32_t)cutCount;
    return sr_success;
}

typedef struct Cutting {
    srWarp* warp;
    const srField* field;
    const double* phi;
} Cutting;

// A distance changes no faster than one goes: if phi does, the edge passes a hole of the surface, where the
// sign flips at |w| = 1/2, and only halving finds the place.
static double findCut(const Cutting* cutting, int32_t inside, int direction) {
    const srLattice* lattice = cutting->warp->lattice;
    double from = cutting->phi[inside];
    double to = cutting->phi[srLattice_Neighbour(lattice, inside, direction)];
    if (to - from <= 1.01 * srEdgeLength(direction) * lattice->spacing) {
        return from / (from - to);
    }
    srVec3 start = srLattice_Point(lattice, inside), step = srLattice_Step(lattice, direction);
    double low = 0.0, high = 1.0;
    for (int halving = 0; halving < HALVING_COUNT; halving++) {
        double middle = 0.5 * (low + high);
        bool isInside = srField_Value(cutting->field, srMulAdd(start, middle, step)) < 0.0;
        low = isInside ? middle : low;
        high = isInside ? high : middle;
    }
    return 0.5 * (low + high);
}

static void findCutsOfRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Cutting* cutting = context;
    srWarp* warp = cutting->warp;
    for (int32_t point = begin; point < end; point++) {
        int32_t cut = warp->firstCuts[point];
        for (int d = 0; warp->cutMasks[point] >> d != 0; d++) {
            if ((warp->cutMasks[point] >> d & 1) != 0) {
                warp->cuts[cut++] = findCut(cutting, point, d);
            }
        }
    }
}

// The violating cut nearest to an inside point, or -1.
static int findViolation(const srWarp* warp, int32_t point) {
    int nearest = -1;
    double nearestLength = HUGE_VAL;
    int32_t cut = warp->firstCuts[point];
    for (int d = 0; warp->cutMasks[point] >> d != 0; d++) {
        if ((warp->cutMasks[point] >> d & 1) == 0) {
            continue;
        }
        double share = warp->cuts[cut++];
        if (share < violationShare(d) && share * srEdgeLength(d) < nearestLength) {
            nearestLength = share * srEdgeLength(d);
            nearest = d;
        }
    }
    return nearest;
}

// What becomes of an inside point
enum {
    staysInside,
    isViolated,
    isThin
};

// Whether a neighbour of the point has this fate. Outside points' fate is `isViolated`, which is never asked
// for.
static bool hasNeighbour(const srWarp* warp, const uint8_t* fates, int32_t point, uint8_t fate) {
    for (int d = 0; d < SR_DIRECTION_COUNT; d++) {
        if (fates[srLattice_Neighbour(warp->lattice, point, d)] == fate) {
            return true;
        }
    }
    return false;
}

// Where a part is so thin that all its inside points are violated, warping would flatten it to nothing. Such
// points, and violated points next to them so that the thin part hangs together with the thick one, stay
// where they are; their cuts move away from them instead.
static void chooseFates(const srWarp* warp, uint8_t* fates, uint8_t* nextToThin) {
    int32_t pointCount = warp->lattice->pointCount;
    for (int32_t point = 0; point < pointCount; point++) {
        bool stays = warp->signs[point] > 0 && findViolation(warp, point) < 0;
        fates[point] = stays ? staysInside : isViolated;
    }
    for (int32_t point = 0; point < pointCount; point++) {
        nextToThin[point] = warp->signs[point] > 0 && fates[point] == isViolated &&
                            !hasNeighbour(warp, fates, point, staysInside);
    }
    for (int32_t point = 0; point < pointCount; point++) {
        fates[point] = nextToThin[point] != 0 ? isThin : fates[point];
    }
    for (int32_t point = 0; point < pointCount; point++) {
        nextToThin[point] =
            warp->signs[point] > 0 && fates[point] == isViolated && hasNeighbour(warp, fates, point, isThin);
    }
    for (int32_t point = 0; point < pointCount; point++) {
        fates[point] = nextToThin[point] != 0 ? isThin : fates[point];
    }
}

static void pushCutsAway(srWarp* warp, int32_t point) {
    int32_t cut = warp->firstCuts[point];
    for (int d = 0; warp->cutMasks[point] >> d != 0; d++) {
        if ((warp->cutMasks[point] >> d & 1) != 0) {
            warp->cuts[cut] = fmax(warp->cuts[cut], violationShare(d));
            cut++;
        }
    }
}

static void warpInsidePoints(srWarp* warp, const uint8_t* fates) {
    for (int32_t point = 0; point < warp->lattice->pointCount; point++) {
        if (warp->signs[point] < 0 || fates[point] == staysInside) {
            continue;
        }
        if (fates[point] == isThin) {
            pushCutsAway(warp, point);
            continue;
        }
        int d = findViolation(warp, point);
        warp->warpDirections[point] = (uint8_t)d;
        warp->warpShares[point] = warp->cuts[srWarp_FindCut(warp, point, d)];
    }
    for (int32_t point = 0; point < warp->lattice->pointCount; point++) {
        if (warp->signs[point] > 0 && fates[point] == isViolated) {
            warp->signs[point] = 0;
        }
    }
}

// Offers an outside point the cut of an edge that an inside point owns; the nearest violating one is kept.
static void offerCut(srWarp* warp, int32_t inside, int direction, double shareFromInside) {
    double share = 1.0 - shareFromInside;
    int32_t outside = srLattice_Neighbour(warp->lattice, inside, direction);
    if (share >= violationShare(direction)) {
        return;
    }
    int back = srOpposite(direction);
    double known = warp->warpShares[outside] * srEdgeLength(warp->warpDirections[outside]);
    if (warp->signs[outside] < 0 || share * srEdgeLength(back) < known) {
        warp->signs[outside] = 0;
        warp->warpDirections[outside] = (uint8_t)back;
        warp->warpShares[outside] = share;
    }
}

static void warpOutsidePoints(srWarp* warp) {
    for (int32_t point = 0; point < warp->lattice->pointCount; point++) {
        if (warp->signs[point] <= 0) {
            continue;
        }
        int32_t cut = warp->firstCuts[point];
        for (int d = 0; warp->cutMasks[point] >> d != 0; d++) {
            if ((warp->cutMasks[point] >> d & 1) != 0) {
                offerCut(warp, point, d, warp->cuts[cut++]);
            }
        }
    }
}

static srResult allocatePoints(srWarp* warp) {
    int32_t pointCount = warp->lattice->pointCount;
    warp->signs = SR_ALLOC(int8_t, pointCount);
    warp->warpDirections = SR_ALLOC_ZERO(uint8_t, pointCount);
    warp->warpShares = SR_ALLOC_ZERO(double, pointCount);
    warp->cutMasks = SR_ALLOC_ZERO(uint16_t, pointCount);
    warp->firstCuts = SR_ALLOC_ZERO(int32_t, pointCount);
    if (warp->signs == NULL || warp->warpDirections == NULL || warp->warpShares == NULL ||
        warp->cutMasks == NULL || warp->firstCuts == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    return sr_success;
}

static srResult warpPoints(srWarp* warp) {
    int32_t pointCount = warp->lattice->pointCount;
    uint8_t* fates = SR_ALLOC(uint8_t, pointCount);
    uint8_t* scratch = SR_ALLOC(uint8_t, pointCount);
    srResult result = sr_success;
    if (fates == NULL || scratch == NULL) {
        result = srFailOutOfMemory("the lattice");
    } else {
        chooseFates(warp, fates, scratch);
        warpInsidePoints(warp, fates);
        warpOutsidePoints(warp);
    }
    SR_FREE(fates, pointCount);
    SR_FREE(scratch, pointCount);
    return result;
}

srResult srCreateWarp(const srLattice* lattice, const srField* field, const double* phi,
                      const srProgress* progress, srWarp* outWarp) {
    srResult result = sr_success;
    srWarp warp = {.lattice = lattice};
    Cutting cutting = {&warp, field, phi};
    SR_TRY_CLEANUP(allocatePoints(&warp));
    findSigns(&warp, phi);

    // cut edges between inside and outside
    SR_TRY_CLEANUP(countCuts(&warp));
    if (warp.cutCount > 0) {
        warp.cuts = SR_ALLOC(double, warp.cutCount);
        if (warp.cuts == NULL) {
            result = srFailOutOfMemory("the lattice");
            goto cleanup;
        }
    }
    SR_TRY_CLEANUP(srParallelForWithProgress(findCutsOfRange, lattice->pointCount, POINTS_PER_BLOCK,
                                             POINTS_PER_BATCH, &cutting, progress));

    // move points that cuts come too close to
    SR_TRY_CLEANUP(warpPoints(&warp));
    *outWarp = warp;

cleanup:
    if (result != sr_success) {
        srDestroyWarp(&warp);
    }
    return result;
}

void srDestroyWarp(srWarp* warp) {
    int32_t pointCount = warp->lattice != NULL ? warp->lattice->pointCount : 0;
    SR_FREE(warp->signs, pointCount);
    SR_FREE(warp->warpDirections, pointCount);
    SR_FREE(warp->warpShares, pointCount);
    SR_FREE(warp->cutMasks, pointCount);
    SR_FREE(warp->firstCuts, pointCount);
    SR_FREE(warp->cuts, warp->cutCount);
    *warp = (srWarp){0};
}
