// SPDX-License-Identifier: GPL-3.0-or-later
//
// The five rules of roles.h, in their order.

#include "mesh/roles.h"

#include "core/alloc.h"
#include "mesh/nesting.h"
#include "mesh/thinness.h"
#include "mesh/winding.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// Places on a patch where windings are asked for, and how far off it in square roots of the triangle's area
#define SAMPLE_COUNT 8
#define SAMPLE_HEIGHT 1e-3

// Places when it seems that the patch lies within others, and the share of them that may look out of a
// hollow: one that was shaken pokes through the skin around it
#define CLOSER_COUNT 2048
#define POKING_SHARE (1.0 / 16.0)

// A weak patch with at most so many triangles may be turned on its own.
#define SMALL_PATCH 64

// How much less the surroundings wind behind a patch than before it, for it to be turned
#define TURNING_SLOPE 0.25

// Nearer to a half than to a whole number, with some favour for sheets, which are the common case
#define SHELL_WINDING 0.15

// What rounding of float coordinates may do to a thickness, in largest coordinates
#define ROUNDING 0x1p-21

// How much more it winds behind a patch than before it, at least, if no other touches it there
#define CONTACT_WINDING 0.5

// Patches of a block and between two looks at the progress
#define BLOCK_SIZE 16
#define BATCH_SIZE 256

typedef struct Assigning {
    srPatches* patches;
    const srRoleSettings* settings;
    const srBvh* bvh;
    double rounding;
    uint8_t* isAsked; // by patch: shall be turned
} Assigning;

bool srBoundsFlesh(const srPatch* patch) {
    return patch->role == sr_roleShell || patch->role == sr_roleCavity;
}

bool srIsThickened(const srPatch* patch) {
    return patch->role == sr_roleSheet || patch->isThin;
}

srResult srCollectTriangles(const srPatches* patches, srPatchFcn* isWanted, srSurface* outSurface,
                            int32_t** outPatches) {
    srSurface surface = {.points = patches->points, .pointCount = patches->pointCount, .size = patches->size};
    int32_t count = 0;
    if (outPatches != NULL) {
        *outPatches = NULL;
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        count += isWanted(patch) ? patch->triangleCount + patch->capCount : 0;
    }
    if (count == 0) {
        *outSurface = surface;
        return sr_success;
    }
    surface.triangles = srAlloc((size_t)count, sizeof(surface.triangles[0]));
    int32_t* patchOf = outPatches != NULL ? SR_ALLOC(int32_t, count) : NULL;
    if (surface.triangles == NULL || (outPatches != NULL && patchOf == NULL)) {
        srFree(surface.triangles, (size_t)count, sizeof(surface.triangles[0]));
        SR_FREE(patchOf, count);
        return srFailOutOfMemory("the repaired surface");
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        if (!isWanted(patch)) {
            continue;
        }
        int32_t first = surface.triangleCount;
        memcpy(surface.triangles[first], patches->triangles[patch->firstTriangle],
               (size_t)patch->triangleCount * sizeof(surface.triangles[0]));
        surface.triangleCount += patch->triangleCount;
        if (patch->capCount > 0) {
            memcpy(surface.triangles[surface.triangleCount], patches->caps[patch->firstCap],
                   (size_t)patch->capCount * sizeof(surface.triangles[0]));
            surface.triangleCount += patch->capCount;
        }
        for (int32_t t = first; patchOf != NULL && t < surface.triangleCount; t++) {
            patchOf[t] = p;
        }
    }
    *outSurface = surface;
    if (outPatches != NULL) {
        *outPatches = patchOf;
    }
    return sr_success;
}

static srResult createTree(const srPatches* patches, const srProgress* progress, srBvh** outBvh) {
    srSurface shells;
    SR_TRY(srCollectTriangles(patches, srBoundsFlesh, &shells, NULL));
    *outBvh = NULL;
    srResult result =
        shells.triangleCount > 0 ? srCreateBvhWithProgress(&shells, progress, outBvh) : sr_success;
    srFree(shells.triangles, (size_t)shells.triangleCount, sizeof(shells.triangles[0]));
    return result;
}

// places on a patch

typedef struct Spot {
    srVec3 place;
    srVec3 normal;
    double area;
} Spot;

static int32_t countSpots(const srPatch* patch) {
    return patch->triangleCount < SAMPLE_COUNT ? patch->triangleCount : SAMPLE_COUNT;
}

static Spot spotOf(const srPatches* patches, int32_t triangle) {
    const int32_t* corners = patches->triangles[triangle];
    srVec3 a = patches->points[corners[0]], b = patches->points[corners[1]], c = patches->points[corners[2]];
    srVec3 n = srCross(srSub(b, a), srSub(c, a));
    double length = srLength(n);
    srVec3 normal = length > 0.0 ? srScale(1.0 / length, n) : n;
    return (Spot){srScale(1.0 / 3.0, srAdd(a, srAdd(b, c))), normal, 0.5 * length};
}

static Spot spotAt(const srPatches* patches, const srPatch* patch, int32_t index, int32_t count) {
    int64_t triangle = ((int64_t)2 * index + 1) * patch->triangleCount / (2 * count);
    return spotOf(patches, patch->firstTriangle + (int32_t)triangle);
}

// rule 1: what encloses something by itself

static srVec3 justBefore(const Spot* spot) {
    return srMulAdd(spot->place, SAMPLE_HEIGHT * sqrt(spot->area), spot->normal);
}

// The patch's own winding number at a place on it, the mean of both sides, but for whole numbers: with a cone
// over all that is open the patch is closed and the mean is 1/2, and the cone's part is known.
static double ownWinding(const srPatches* patches, const srPatch* patch, const Spot* spot) {
    srVec3 place = justBefore(spot);
    double cone = 0.0;
    for (int32_t e = patch->firstBorder; e < patch->firstBorder + patch->borderCount; e++) {
        const srBorderEdge* edge = &patches->borders[e];
        if (!edge->isClosed) {
            cone += srHalfSolidAngle(place, patches->points[edge->to], patches->points[edge->from],
                                     patch->center);
        }
    }
    double own = 0.5 - cone / (2.0 * PI);
    return own - floor(own + 0.5);
}

static double meanOwnWinding(const srPatches* patches, const srPatch* patch) {
    double sum = 0.0, area = 0.0;
    int32_t count = countSpots(patch);
    for (int32_t i = 0; i < count; i++) {
        Spot spot = spotAt(patches, patch, i, count);
        sum += spot.area * fabs(ownWinding(patches, patch, &spot));
        area += spot.area;
    }
    return area > 0.0 ? sum / area : 0.0;
}

static void judgeAlone(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Assigning* assigning = context;
    for (int32_t p = begin; p < end; p++) {
        srPatch* patch = &assigning->patches->patches[p];
        bool isFlat = 2.0 * fabs(patch->volume) <= assigning->rounding * patch->area;
        patch->isWeak = patch->openCount > 0 && meanOwnWinding(assigning->patches, patch) < SR_WEAK_WINDING;
        patch->role = patch->openCount == 0 && isFlat ? sr_roleSheet : sr_roleShell;
        assigning->isAsked[p] = !patch->isWeak && patch->volume < 0.0;
    }
}

static int32_t turnAsked(const Assigning* assigning) {
    int32_t count = 0;
    for (int32_t p = 0; p < assigning->patches->patchCount; p++) {
        if (assigning->isAsked[p]) {
            srTurnPatch(assigning->patches, p);
            count++;
        }
    }
    return count;
}

// rule 2: weak patches

// Of all weak patches together, from the centre of their area.
static double weakVolume(const srPatches* patches) {
    srVec3 weighted = {0};
    double area = 0.0, volume = 0.0;
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        weighted = patch->isWeak ? srMulAdd(weighted, patch->area, patch->center) : weighted;
        area += patch->isWeak ? patch->area : 0.0;
    }
    srVec3 middle = area > 0.0 ? srScale(1.0 / area, weighted) : weighted;
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        for (int32_t t = 0; patch->isWeak && t < patch->triangleCount; t++) {
            Spot spot = spotOf(patches, patch->firstTriangle + t);
            volume += spot.area * srDot(srSub(spot.place, middle), spot.normal) / 3.0;
        }
    }
    return volume;
}

static void turnWeakTogether(const Assigning* assigning) {
    if (weakVolume(assigning->patches) < 0.0) {
        for (int32_t p = 0; p < assigning->patches->patchCount; p++) {
            assigning->isAsked[p] = assigning->patches->patches[p].isWeak;
        }
        turnAsked(assigning);
    }
}

static double sumOwnTriangles(const srPatches* patches, const srPatch* patch, srVec3 query) {
    double sum = 0.0;
    for (int32_t t = patch->firstTriangle; t < patch->firstTriangle + patch->triangleCount; t++) {
        const int32_t* c = patches->triangles[t];
        sum += srHalfSolidAngle(query, patches->points[c[0]], patches->points[c[1]], patches->points[c[2]]);
    }
    return sum / (2.0 * PI);
}

static void judgeFacing(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Assigning* assigning = context;
    const srPatches* patches = assigning->patches;
    for (int32_t p = begin; p < end; p++) {
        const srPatch* patch = &patches->patches[p];
        assigning->isAsked[p] = 0;
        if (!patch->isWeak || patch->triangleCount > SMALL_PATCH) {
            continue;
        }
        Spot spot = spotAt(patches, patch, 0, 1);
        double height = sqrt(patch->area / PI);
        srVec3 above = srMulAdd(spot.place, height, spot.normal);
        srVec3 below = srMulAdd(spot.place, -height, spot.normal);
        double slope = srBvh_WindingNumber(assigning->bvh, below) - sumOwnTriangles(patches, patch, below) -
                       srBvh_WindingNumber(assigning->bvh, above) + sumOwnTriangles(patches, patch, above);
        assigning->isAsked[p] = slope < -TURNING_SLOPE;
    }
}

// rule 3 and the first half of 4: what lies on both sides

// The winding number just before a spot; behind it there is one more, if nothing else is there.
static double windingBefore(const Assigning* assigning, const Spot* spot) {
    return srBvh_WindingNumber(assigning->bvh, justBefore(spot));
}

static double windingBehind(const Assigning* assigning, const Spot* spot, double depth) {
    return srBvh_WindingNumber(assigning->bvh, srMulAdd(spot->place, -depth, spot->normal));
}

// Two sheets at the same place are a shell to each other, but one without anything behind it.
static void judgeWeak(const Assigning* assigning, srPatch* patch) {
    int32_t shellCount = 0, outsideCount = 0, thinCount = 0, count = countSpots(patch);
    for (int32_t i = 0; i < count; i++) {
        Spot spot = spotAt(assigning->patches, patch, i, count);
        double mean = windingBefore(assigning, &spot) + 0.5;
        bool isShell = mean >= SHELL_WINDING && mean <= 1.0 - SHELL_WINDING;
        bool isHollow =
            isShell && windingBehind(assigning, &spot, SAMPLE_HEIGHT * sqrt(spot.area)) < SHELL_WINDING;
        shellCount += isShell && !isHollow;
        outsideCount += isHollow || mean < SHELL_WINDING;
        thinCount += isShell && windingBehind(assigning, &spot, assigning->settings->thickness) < 0.5;
    }
    bool isShell = 2 * shellCount > count;
    patch->role = isShell ? sr_roleShell : outsideCount > 0 ? sr_roleSheet : sr_roleSwallowed;
    patch->isThin = isShell && 2 * thinCount > count;
}

// How many of so many places on the patch are not within others, at most one more than `most`. Where others
// only touch it, they are before it and not behind.
static int32_t countOutside(const Assigning* assigning, const srPatch* patch, int32_t count, int32_t most) {
    double within =
        patch->openCount > 0 ? 0.4 : 0.75; // an open patch's own rim lets it see less flesh around
    int32_t outsideCount = 0;
    for (int32_t i = 0; i < count && outsideCount <= most; i++) {
        Spot spot = spotAt(assigning->patches, patch, i, count);
        double before = windingBefore(assigning, &spot);
        outsideCount += before < within || windingBehind(assigning, &spot, SAMPLE_HEIGHT * sqrt(spot.area)) <
                                               before + CONTACT_WINDING;
    }
    return outsideCount;
}

// A few places first; then whether it looks out with a corner.
static void judgeStrong(const Assigning* assigning, srPatch* patch) {
    int32_t closerCount = patch->triangleCount < CLOSER_COUNT ? patch->triangleCount : CLOSER_COUNT;
    int32_t mostOutside = (int32_t)(POKING_SHARE * closerCount), outsideCount = mostOutside + 1;
    if (countOutside(assigning, patch, countSpots(patch), 1) <= 1) {
        outsideCount = countOutside(assigning, patch, closerCount, mostOutside);
    }
    patch->isNested = outsideCount <= mostOutside;
    patch->isPoking = patch->isNested && outsideCount > 0;
}

static void judgeAmongOthers(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Assigning* assigning = context;
    for (int32_t p = begin; p < end; p++) {
        srPatch* patch = &assigning->patches->patches[p];
        if (patch->role != sr_roleShell) {
            continue;
        }
        // roles are read by nobody else meanwhile
        if (patch->isWeak) {
            judgeWeak(assigning, patch);
        } else {
            judgeStrong(assigning, patch);
        }
    }
}

// What no flesh is around after all, as it lies in a hollow. The tree is without it.
static void judgeSwallowed(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Assigning* assigning = context;
    for (int32_t p = begin; p < end; p++) {
        srPatch* patch = &assigning->patches->patches[p];
        if (!patch->isWeak || patch->role != sr_roleSwallowed) {
            continue;
        }
        int32_t outsideCount = 0, count = countSpots(patch);
        for (int32_t i = 0; i < count; i++) {
            Spot spot = spotAt(assigning->patches, patch, i, count);
            outsideCount += windingBefore(assigning, &spot) < SHELL_WINDING;
        }
        patch->role = outsideCount > 0 ? sr_roleSheet : sr_roleSwallowed;
    }
}

static void judgeThinness(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Assigning* assigning = context;
    for (int32_t p = begin; p < end; p++) {
        srPatch* patch = &assigning->patches->patches[p];
        if (patch->role == sr_roleShell && patch->openCount == 0) {
            patch->isThin = 2.0 * patch->volume < assigning->settings->thickness * patch->area &&
                            srIsLeaf(assigning->patches, patch);
        }
    }
}

static double largestCoordinate(const srPatches* patches) {
    double largest = 0.0;
    for (int32_t t = 0; t < patches->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            srVec3 p = patches->points[patches->triangles[t][c]];
            largest = fmax(largest, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
        }
    }
    return largest;
}

static srResult rebuild(Assigning* assigning, const srProgress* progress, srBvh** bvh) {
    srDestroyBvh(*bvh);
    *bvh = NULL;
    SR_TRY(createTree(assigning->patches, progress, bvh));
    assigning->bvh = *bvh;
    return sr_success;
}

static int32_t countBounding(const srPatches* patches) {
    int32_t count = 0;
    for (int32_t p = 0; p < patches->patchCount; p++) {
        count += srBoundsFlesh(&patches->patches[p]);
    }
    return count;
}

static srResult judgeTogether(Assigning* assigning, const srProgress* progress, srBvh** bvh) {
    srPatches* patches = assigning->patches;
    srProgress facing = srPartOfProgress(progress, 0.0, 0.2), again = srPartOfProgress(progress, 0.2, 0.4);
    srProgress judging = srPartOfProgress(progress, 0.4, 0.7), nesting = srPartOfProgress(progress, 0.7, 0.8);
    srProgress rebuilding = srPartOfProgress(progress, 0.8, 0.95),
               last = srPartOfProgress(progress, 0.95, 1.0);
    SR_TRY(srParallelForWithProgress(judgeFacing, patches->patchCount, BLOCK_SIZE, BATCH_SIZE, assigning,
                                     &facing));
    if (turnAsked(assigning) > 0) {
        SR_TRY(rebuild(assigning, &again, bvh));
    }
    int32_t before = countBounding(patches), turnedCount = 0;
    SR_TRY(srParallelForWithProgress(judgeAmongOthers, patches->patchCount, BLOCK_SIZE, BATCH_SIZE, assigning,
                                     &judging));
    SR_TRY(srSettleNested(patches, assigning->settings->fillsCavities, &nesting, &turnedCount));
    if (turnedCount > 0 || countBounding(patches) != before) {
        SR_TRY(rebuild(assigning, &rebuilding, bvh));
    }
    return turnedCount == 0 ? sr_success
                            : srParallelForWithProgress(judgeSwallowed, patches->patchCount, BLOCK_SIZE,
                                                        BATCH_SIZE, assigning, &last);
}

srResult srAssignRoles(srPatches* patches, const srRoleSettings* settings, const srProgress* progress,
                       srBvh** outBvh) {
    srResult result = sr_success;
    srBvh* bvh = NULL;
    Assigning assigning = {.patches = patches, .settings = settings};
    srProgress alone = srPartOfProgress(progress, 0.0, 0.1);
    srProgress building = srPartOfProgress(progress, 0.1, 0.5);
    srProgress together = srPartOfProgress(progress, 0.5, 0.95);
    srProgress thinning = srPartOfProgress(progress, 0.95, 1.0);
    assigning.rounding = ROUNDING * largestCoordinate(patches);
    assigning.isAsked = SR_ALLOC_ZERO(uint8_t, patches->patchCount);
    if (assigning.isAsked == NULL) {
        return srFailOutOfMemory("the patches of the surface");
    }
    SR_TRY_CLEANUP(srParallelForWithProgress(judgeAlone, patches->patchCount, BLOCK_SIZE, BATCH_SIZE,
                                             &assigning, &alone));
    turnAsked(&assigning);
    turnWeakTogether(&assigning);
    SR_TRY_CLEANUP(srJoinPieces(patches));
    SR_TRY_CLEANUP(rebuild(&assigning, &building, &bvh));
    if (bvh != NULL && (patches->patchCount > 1 || patches->patches[0].isWeak)) {
        SR_TRY_CLEANUP(judgeTogether(&assigning, &together, &bvh));
    }
    SR_TRY_CLEANUP(srNumberPieces(patches));
    SR_TRY_CLEANUP(
        srParallelForWithProgress(judgeThinness, patches->patchCount, 1, BATCH_SIZE, &assigning, &thinning));
    *outBvh = bvh;

cleanup:
    SR_FREE(assigning.isAsked, patches->patchCount);
    if (result != sr_success) {
        srDestroyBvh(bvh);
    }
    return result;
}
