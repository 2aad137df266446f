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

static void joinOfParts(const srPatches* patches, int32_t* parents, int32_t* patchAt) {
    for (int32_t v = 0; v < patches->pointCapacity; v++) {
        patchAt[v] = SR_NULL_INDEX;
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        int32_t* first = &patchAt[patches->patches[p].part];
        parents[p] = p;
        *first = *first == SR_NULL_INDEX ? p : *first;
        join(parents, *first, p);
    }
}

static void findOpen(const srPatches* patches, int32_t* openAt) {
    for (int32_t v = 0; v < patches->pointCapacity; v++) {
        openAt[v] = SR_NULL_INDEX;
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        for (int32_t corner = 0; corner < 3 * patch->triangleCount && patch->openCount > 0; corner++) {
            openAt[patches->triangles[patch->firstTriangle + corner / 3][corner % 3]] = p;
        }
    }
}

static void joinAtOpen(const srPatches* patches, const int32_t* openAt, int32_t* parents) {
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        for (int32_t corner = 0; corner < 3 * patch->triangleCount; corner++) {
            int32_t at = patches->triangles[patch->firstTriangle + corner / 3][corner % 3];
            if (openAt[at] != SR_NULL_INDEX) {
                join(parents, openAt[at], p);
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
    joinOfParts(patches, parents, patchAt);
    findOpen(patches, patchAt);
    joinAtOpen(patches, patchAt, parents);
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

srResult srNumberPieces(srPatches* patches) {
    int32_t count = 0, before = patches->pieceCount;
    int32_t* numbers = SR_ALLOC(int32_t, before);
    if (numbers == NULL) {
        return srFailOutOfMemory("the pieces of the surface");
    }
    memset(numbers, 0xff, (size_t)before * sizeof(int32_t)); // null
    for (int32_t p = 0; p < patches->patchCount; p++) {
        int32_t* number = &numbers[patches->patches[p].piece];
        if (patches->patches[p].role != sr_roleSwallowed && *number == SR_NULL_INDEX) {
            *number = count++;
        }
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        patches->patches[p].piece = numbers[patches->patches[p].piece];
    }
    patches->pieceCount = count;
    SR_FREE(numbers, before);
    return sr_success;
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
    int32_t* nested; // nested patches that are not settled yet
    int32_t nestedCount;
    int32_t* around; // by patch: the smallest known one that bounds flesh or a hollow around it, or null
    srKeyed* strong; // the patches that may be around others, largest volume first
    srKeyed* scratch;
    int32_t strongCount;
    int32_t turnedCount;
} Nesting;

// As it was modelled; what is a hollow has been turned since.
static bool facesInward(const srPatch* patch) {
    return patch->isTurned != (patch->role == sr_roleCavity);
}

// Flesh within flesh is flesh, and a hollow within a hollow is a hollow: neither bounds anything, if it does
// not reach out of there.
static void settle(Nesting* nesting, int32_t index) {
    srPatch* patch = &nesting->patches->patches[index];
    const srPatch* around = &nesting->patches->patches[nesting->around[index]];
    bool isAlike = facesInward(patch) == facesInward(around);
    bool isInHollow = around->role == sr_roleCavity;
    bool isHollow = isInHollow ? isAlike && patch->isPoking : !isAlike && !nesting->fillsCavities;
    bool isShell = isInHollow ? !isAlike : patch->isPoking && !isHollow;
    patch->isNested = false;
    if (isShell) {
        return;
    }
    patch->piece = around->piece;
    patch->role = isHollow ? sr_roleCavity : sr_roleSwallowed;
    if (isHollow) {
        srTurnPatch(nesting->patches, index);
        nesting->turnedCount++;
    }
}

// A hollow, or flesh within one: what is in these has others around it, too.
static bool isWithinOthers(const Nesting* nesting, int32_t index) {
    const srPatch* patches = nesting->patches->patches;
    int32_t around = nesting->around[index];
    return around != SR_NULL_INDEX &&
           (patches[index].role == sr_roleCavity || patches[around].role == sr_roleCavity);
}

// How many of the corners lie within the box, or, with a tree, within the surface.
static int countWithin(const srPatches* patches, const srPatch* patch, const Bounds* bounds,
                       const srBvh* bvh) {
    int count = 0;
    for (int k = 0; k < CORNER_COUNT; k++) {
        srVec3 corner = cornerOf(patches, patch, k);
        count += contains(bounds, corner) && (bvh == NULL || fabs(srBvh_WindingNumber(bvh, corner)) > 0.5);
    }
    return count;
}

// Asks for one nested patch; the tree is made when it is needed.
static srResult askWhetherWithin(Nesting* nesting, int32_t index, int32_t outer, const Bounds* bounds,
                                 const srProgress* progress, srBvh** bvh) {
    const srPatches* patches = nesting->patches;
    const srPatch* around = &patches->patches[outer];
    srPatch* patch = &patches->patches[index];
    bool isHollow = around->role == sr_roleCavity;
    int within = countWithin(patches, patch, bounds, NULL);
    if (within == 0 || (!isHollow && 2 * within <= CORNER_COUNT)) {
        return sr_success;
    }
    if (*bvh == NULL) {
        SR_TRY(createTreeOf(patches, around, progress, bvh));
    }
    within = countWithin(patches, patch, bounds, *bvh);
    nesting->around[index] = 2 * within > CORNER_COUNT ? outer : nesting->around[index];
    // from the hollow into the wall, or the other way
    patch->isPoking = patch->isPoking || (isHollow && within > 0 && within < CORNER_COUNT);
    return sr_success;
}

// Who is within this one. The first to be around a patch is the largest shell; then come hollows, and flesh
// within these. Leaves those that are settled out of the list.
static srResult surround(Nesting* nesting, int32_t outer, const srProgress* progress) {
    const srPatch* patches = nesting->patches->patches;
    bool isSecond = isWithinOthers(nesting, outer);
    Bounds bounds = boundsOf(nesting->patches, &patches[outer]);
    srBvh* bvh = NULL;
    srResult result = sr_success;
    int32_t kept = 0;
    for (int32_t i = 0; i < nesting->nestedCount && result == sr_success; i++) {
        int32_t index = nesting->nested[i];
        bool isFound = nesting->around[index] != SR_NULL_INDEX;
        if (patches[index].isNested && isFound == isSecond && index != outer) {
            result = askWhetherWithin(nesting, index, outer, &bounds, progress, &bvh);
        }
        nesting->nested[kept] = index;
        kept += patches[index].isNested;
    }
    nesting->nestedCount = kept;
    srDestroyBvh(bvh);
    return result;
}

// Flesh of several patches together, or of weak ones, is around those that found nobody.
static void settleRest(Nesting* nesting) {
    for (int32_t i = 0; i < nesting->nestedCount; i++) {
        int32_t index = nesting->nested[i];
        srPatch* patch = &nesting->patches->patches[index];
        if (patch->isNested && nesting->around[index] != SR_NULL_INDEX) {
            settle(nesting, index);
        } else if (patch->isNested && !patch->isPoking) {
            patch->role = sr_roleSwallowed;
        }
    }
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
        nesting->around[p] = SR_NULL_INDEX;
        if (patch->isNested) {
            nesting->nested[nesting->nestedCount++] = p;
        }
        if (patch->role == sr_roleShell && !patch->isWeak && patch->volume > 0.0) {
            nesting->strong[nesting->strongCount++] = (srKeyed){keyOfVolume(patch->volume), p};
        }
    }
    srSortKeyed(nesting->strong, nesting->scratch, nesting->strongCount);
}

static bool isAround(const srPatch* patch) {
    return patch->role == sr_roleCavity ||
           (patch->role == sr_roleShell && (!patch->isNested || patch->isPoking));
}

srResult srSettleNested(srPatches* patches, bool fillsCavities, const srProgress* progress,
                        int32_t* outTurnedCount) {
    srResult result = sr_success;
    Nesting nesting = {.patches = patches, .fillsCavities = fillsCavities};
    nesting.nested = SR_ALLOC(int32_t, patches->patchCount);
    nesting.around = SR_ALLOC(int32_t, patches->patchCount);
    nesting.strong = SR_ALLOC(srKeyed, patches->patchCount);
    nesting.scratch = SR_ALLOC(srKeyed, patches->patchCount);
    if (nesting.nested == NULL || nesting.around == NULL || nesting.strong == NULL ||
        nesting.scratch == NULL) {
        result = srFailOutOfMemory("the pieces of the surface");
        goto cleanup;
    }
    listPatches(&nesting);
    for (int32_t i = 0; i < nesting.strongCount && nesting.nestedCount > 0; i++) {
        double share = 1.0 / nesting.strongCount;
        srProgress part = srPartOfProgress(progress, i * share, (i + 1) * share);
        int32_t index = nesting.strong[i].value;
        SR_TRY_CLEANUP(srReportProgress(&part, 0.0));
        if (patches->patches[index].isNested && nesting.around[index] != SR_NULL_INDEX) {
            settle(&nesting, index); // all that may be around it are larger, and have been asked
        }
        if (isAround(&patches->patches[index])) {
            SR_TRY_CLEANUP(surround(&nesting, index, &part));
        }
    }
    settleRest(&nesting);
    *outTurnedCount = nesting.turnedCount;

cleanup:
    SR_FREE(nesting.nested, patches->patchCount);
    SR_FREE(nesting.around, patches->patchCount);
    SR_FREE(nesting.strong, patches->patchCount);
    SR_FREE(nesting.scratch, patches->patchCount);
    return result;
}
