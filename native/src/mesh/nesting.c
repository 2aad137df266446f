// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pieces by union and find over points; what lies within what, from the largest patch down.

#include "mesh/nesting.h"

#include "core/alloc.h"
#include "mesh/bvh.h"
#include "mesh/sort.h"

#include <math.h>
#include <string.h>

// Places of a patch by which it is told what it lies within: most of them do.
#define CORNER_COUNT 7

// pieces

static int32_t findRoot(int32_t* parents, int32_t i) {
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

// The lower root stays one, so that pieces are numbered by their first patch.
static void join(int32_t* parents, int32_t a, int32_t b) {
    int32_t one = findRoot(parents, a), two = findRoot(parents, b);
    if (one < two) {
        parents[two] = one;
    } else {
        parents[one] = two;
    }
}

static void joinAtPoints(const srPatches* patches, int32_t* parents, int32_t* patchAt) {
    for (int32_t v = 0; v < patches->pointCapacity; v++) {
        patchAt[v] = SR_NULL_INDEX;
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        parents[p] = p;
        for (int32_t t = patch->firstTriangle; t < patch->firstTriangle + patch->triangleCount; t++) {
            for (int c = 0; c < 3; c++) {
                int32_t* at = &patchAt[patches->triangles[t][c]];
                if (*at == SR_NULL_INDEX) {
                    *at = p;
                } else if (*at != p) {
                    join(parents, *at, p);
                }
            }
        }
    }
}

srResult srJoinPieces(srPatches* patches) {
    int32_t* parents = SR_ALLOC(int32_t, patches->patchCount);
    int32_t* patchAt = SR_ALLOC(int32_t, patches->pointCapacity);
    srResult result = sr_success;
    if (parents == NULL || patchAt == NULL) {
        result = srFailOutOfMemory("the pieces of the surface");
        goto cleanup;
    }
    joinAtPoints(patches, parents, patchAt);
    patches->pieceCount = 0;
    for (int32_t p = 0; p < patches->patchCount; p++) {
        int32_t root = findRoot(parents, p);
        patches->patches[p].piece = root == p ? patches->pieceCount++ : patches->patches[root].piece;
    }

cleanup:
    SR_FREE(parents, patches->patchCount);
    SR_FREE(patchAt, patches->pointCapacity);
    return result;
}

// nesting

typedef struct Bounds {
    srVec3 lower, upper;
} Bounds;

static Bounds boundsOf(const srPatches* patches, const srPatch* patch) {
    srVec3 first = patches->points[patches->triangles[patch->firstTriangle][0]];
    Bounds bounds = {first, first};
    for (int32_t t = patch->firstTriangle; t < patch->firstTriangle + patch->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            srVec3 p = patches->points[patches->triangles[t][c]];
            bounds = (Bounds){srMin(bounds.lower, p), srMax(bounds.upper, p)};
        }
    }
    return bounds;
}

static bool contains(const Bounds* bounds, srVec3 p) {
    return p.x >= bounds->lower.x && p.y >= bounds->lower.y && p.z >= bounds->lower.z &&
           p.x <= bounds->upper.x && p.y <= bounds->upper.y && p.z <= bounds->upper.z;
}

// The k-th of a few places on a patch
static srVec3 cornerOf(const srPatches* patches, const srPatch* patch, int k) {
    int64_t triangle = (int64_t)k * patch->triangleCount / CORNER_COUNT;
    return patches->points[patches->triangles[patch->firstTriangle + (int32_t)triangle][0]];
}

// A surface of one patch that borrows its triangles.
static srResult createTreeOf(const srPatches* patches, const srPatch* patch, const srProgress* progress,
                             srBvh** outBvh) {
    srSurface surface = {.points = patches->points,
                         .pointCount = patches->pointCount,
                         .triangleCount = patch->triangleCount + patch->capCount};
    size_t count = (size_t)surface.triangleCount;
    surface.triangles = srAlloc(count, sizeof(surface.triangles[0]));
    if (surface.triangles == NULL) {
        return srFailOutOfMemory("the pieces of the surface");
    }
    memcpy(surface.triangles, patches->triangles[patch->firstTriangle],
           (size_t)patch->triangleCount * sizeof(surface.triangles[0]));
    if (patch->capCount > 0) {
        memcpy(surface.triangles[patch->triangleCount], patches->caps[patch->firstCap],
               (size_t)patch->capCount * sizeof(surface.triangles[0]));
    }
    srResult result = srCreateBvhWithProgress(&surface, progress, outBvh);
    srFree(surface.triangles, count, sizeof(surface.triangles[0]));
    return result;
}

typedef struct Nesting {
    srPatches* patches;
    bool fillsCavities;
    int32_t* nested; // nested patches that have found nobody around them yet
    int32_t nestedCount;
    srKeyed* outer; // the patches that may be around them, largest volume first; those that poke as well
    srKeyed* scratch;
    int32_t outerCount;
    int32_t turnedCount;
} Nesting;

static void settle(Nesting* nesting, int32_t index, const srPatch* around) {
    srPatch* patch = &nesting->patches->patches[index];
    bool isHollow = patch->isTurned != around->isTurned && !nesting->fillsCavities;
    if (patch->isPoking && !isHollow) {
        return;
    }
    patch->piece = around->piece;
    patch->role = isHollow ? sr_roleCavity : sr_roleSwallowed;
    if (isHollow) {
        srTurnPatch(nesting->patches, index);
        nesting->turnedCount++;
    }
}

// How many of the corners lie within the box, or, with a tree, within the surface.
static int countWithin(const srPatches* patches, const srPatch* patch, const Bounds* bounds,
                       const srBvh* bvh) {
    int count = 0;
    for (int k = 0; k < CORNER_COUNT; k++) {
        srVec3 corner = cornerOf(patches, patch, k);
        count += contains(bounds, corner) && (bvh == NULL || srBvh_WindingNumber(bvh, corner) > 0.5);
    }
    return count;
}

// Settles those that lie within the patch; the others stay in the list.
static srResult settleWithin(Nesting* nesting, const srPatch* around, const srProgress* progress) {
    const srPatches* patches = nesting->patches;
    Bounds bounds = boundsOf(patches, around);
    srBvh* bvh = NULL;
    int32_t kept = 0;
    for (int32_t i = 0; i < nesting->nestedCount; i++) {
        int32_t index = nesting->nested[i];
        const srPatch* patch = &patches->patches[index];
        bool isWithin = patch != around && 2 * countWithin(patches, patch, &bounds, NULL) > CORNER_COUNT;
        if (isWithin && bvh == NULL) {
            SR_TRY(createTreeOf(patches, around, progress, &bvh));
        }
        if (isWithin && 2 * countWithin(patches, patch, &bounds, bvh) > CORNER_COUNT) {
            settle(nesting, index, around);
        } else {
            nesting->nested[kept++] = index;
        }
    }
    nesting->nestedCount = kept;
    srDestroyBvh(bvh);
    return sr_success;
}

// Bits of a positive number sort as the number does.
static uint64_t keyOfVolume(double volume) {
    uint64_t bits;
    memcpy(&bits, &volume, sizeof(bits));
    return ~bits;
}

static void listPatches(Nesting* nesting) {
    for (int32_t p = 0; p < nesting->patches->patchCount; p++) {
        const srPatch* patch = &nesting->patches->patches[p];
        if (patch->isNested) {
            nesting->nested[nesting->nestedCount++] = p;
        }
        if ((!patch->isNested || patch->isPoking) && patch->role == sr_roleShell && !patch->isWeak &&
            patch->volume > 0.0) {
            nesting->outer[nesting->outerCount++] = (srKeyed){keyOfVolume(patch->volume), p};
        }
    }
    srSortKeyed(nesting->outer, nesting->scratch, nesting->outerCount);
}

srResult srSettleNested(srPatches* patches, bool fillsCavities, const srProgress* progress,
                        int32_t* outTurnedCount) {
    srResult result = sr_success;
    Nesting nesting = {.patches = patches, .fillsCavities = fillsCavities};
    nesting.nested = SR_ALLOC(int32_t, patches->patchCount);
    nesting.outer = SR_ALLOC(srKeyed, patches->patchCount);
    nesting.scratch = SR_ALLOC(srKeyed, patches->patchCount);
    if (nesting.nested == NULL || nesting.outer == NULL || nesting.scratch == NULL) {
        result = srFailOutOfMemory("the pieces of the surface");
        goto cleanup;
    }
    listPatches(&nesting);
    for (int32_t i = 0; i < nesting.outerCount && nesting.nestedCount > 0; i++) {
        double share = 1.0 / nesting.outerCount;
        srProgress part = srPartOfProgress(progress, i * share, (i + 1) * share);
        SR_TRY_CLEANUP(srReportProgress(&part, 0.0));
        const srPatch* around = &patches->patches[nesting.outer[i].value];
        if (around->role == sr_roleShell) {
            SR_TRY_CLEANUP(settleWithin(&nesting, around, &part));
        }
    }
    // flesh of several patches together, or of weak ones, is around these
    for (int32_t i = 0; i < nesting.nestedCount; i++) {
        srPatch* patch = &patches->patches[nesting.nested[i]];
        patch->role = patch->isPoking ? patch->role : sr_roleSwallowed;
    }
    *outTurnedCount = nesting.turnedCount;

cleanup:
    SR_FREE(nesting.nested, patches->patchCount);
    SR_FREE(nesting.outer, patches->patchCount);
    SR_FREE(nesting.scratch, patches->patchCount);
    return result;
}
