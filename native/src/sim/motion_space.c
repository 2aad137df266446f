// SPDX-License-Identifier: GPL-3.0-or-later
//
// Row after row into a span. Coordinates of the world are three vectors a row whose span turns do not change,
// and affine motions are spanned beforehand: so it does not matter where the object goes, only how it
// deforms.

#include "sim/motion_space.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "sim/primary.h"

#define LEFT_PART 0.01      // of the deformation
#define LEAST_DEFORMED 1e-5 // of the size: what rounding makes of none
#define MOST_DEFORMED 1.0   // likewise: a broken row does not drown the others

static void spanAffine(srMotionSpace* space, const srCharacter* character) {
    srSpan_Clear(&space->span);
    srSpan_FixAffine(&space->span, character->cage.nodes);
}

static void finish(srMotionSpace* space) {
    srSpan* span = &space->span;
    srSpan_Finish(span, LEFT_PART);
    space->hash =
        srHashBlock(span->vectors, (size_t)span->vectorCount * (size_t)span->nodeCount * sizeof(double));
}

static srResult createParts(srMotionSpace* space, const srCharacter* character) {
    const srCage* cage = &character->cage;
    double* volumes = SR_ALLOC(double, cage->nodeCount);
    space->places = SR_ALLOC(srVec3, cage->nodeCount);
    space->mapCount = character->rig.boneCount + 1;
    space->maps = SR_ALLOC(srMat34, space->mapCount);
    srResult result = sr_success;
    if (volumes == NULL || space->places == NULL || space->maps == NULL) {
        result = srFailOutOfMemory("the space of a motion");
    }
    if (result == sr_success) {
        srCage_LumpVolumes(cage, volumes);
        result = srCreateSpan(volumes, cage->nodeCount, &space->span);
    }
    SR_FREE(volumes, cage->nodeCount);
    SR_TRY(result);
    spanAffine(space, character);
    finish(space);
    return sr_success;
}

srResult srCreateMotionSpace(const srCharacter* character, srMotionSpace* outSpace) {
    *outSpace = (srMotionSpace){0};
    outSpace->nodeCount = character->cage.nodeCount;
    srResult result = createParts(outSpace, character);
    if (result != sr_success) {
        srDestroyMotionSpace(outSpace);
    }
    return result;
}

void srDestroyMotionSpace(srMotionSpace* space) {
    SR_FREE(space->places, space->nodeCount);
    SR_FREE(space->maps, space->mapCount);
    srDestroySpan(&space->span);
    *space = (srMotionSpace){0};
}

void srMotionSpace_Forget(srMotionSpace* space) {
    space->isFitted = false;
}

// where the animation puts the nodes at a row, seen from one of them
static void addRow(srMotionSpace* space, const srCharacter* character, const srTape* tape, int32_t row,
                   double length) {
    srPlacePrimary(character, tape, row, space->maps, space->places);
    srMat34 object = srRig_ReadObject(srTape_GetRow(tape, row));
    length *= (double)character->report.size * srCubeRoot(fabs(srDeterminant34(&object)));
    srVec3 origin = space->places[0];
    for (int32_t i = 0; i < space->nodeCount; ++i) {
        space->places[i] = srSub(space->places[i], origin);
    }
    srSpan_AddPlaces(&space->span, space->places, LEAST_DEFORMED * length, MOST_DEFORMED * length);
}

bool srMotionSpace_Fit(srMotionSpace* space, const srCharacter* character, const srTape* tape,
                       bool (*isWanted)(void* context), void* context) {
    if (space->isFitted) {
        return true;
    }
    double mass = 0.0;
    for (int32_t i = 0; i < space->nodeCount; ++i) {
        mass += space->span.roots[i] * space->span.roots[i];
    }
    spanAffine(space, character);
    for (int32_t row = 0; row < tape->recordedCount; ++row) {
        if (!isWanted(context)) {
            spanAffine(space, character);
            finish(space);
            return false;
        }
        addRow(space, character, tape, row, sqrt(mass));
    }
    finish(space);
    space->isFitted = true;
    return true;
}
