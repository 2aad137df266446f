// SPDX-License-Identifier: GPL-3.0-or-later
//
// From one set of dials to either solver's. Constraints are as stiff as a material about so: springs k of
// lengths L that point every way in a volume V have Lame's constants mu = lambda = k sum L^2 / (15 V), as
// Cauchy found; volumes add what lambda lacks.

#include "solver/family.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

#define FAR_BONE 1e18f
#define HARD_HOLD 0.999f // as in flesh_tuning.c
#define SOFTEST 1e20     // a float over the square of any substep

struct srFamily {
    srFamilyMethod method;
    int32_t nodeCount;
    srFleshRest rest; // flesh
    srFleshTuning tuning;
    srFleshState state; // with the scratch of all states
    srPbd* pbd;         // constraints
    srPbdDials dials;
    double edgeSquares; // sum of L^2
    double volume;      // sum of V
    int32_t cellCount;
    float* volumes; // of nodes, where their masses come from the density
    srVec3f* loads; // of flesh, where gravity pulls
    srVec3f gravity;
};

static const srFamilyTraits TRAITS[SR_FAMILY_METHODS] = {
    [sr_familyFlesh] = {.name = "flesh", .isMatter = true, .isSoft = true},
    [sr_familyCompliant] = {.name = "compliant", .isSoft = true, .published = sr_pbdCompliant},
    [sr_familyCompliantJacobi] = {.name = "compliant, Jacobi",
                                  .isSoft = true,
                                  .published = sr_pbdCompliantJacobi},
    [sr_familyOriginal] = {.name = "original", .published = sr_pbdOriginal},
    [sr_familySubsteps] = {.name = "substeps", .published = sr_pbdSubsteps},
    [sr_familyBdf2] = {.name = "BDF2", .published = sr_pbdBdf2},
    [sr_familyMidpoint] = {.name = "midpoint", .isSoft = true, .published = sr_pbdMidpoint},
    [sr_familyComplementary] = {.name = "complementary",
                                .isSoft = true,
                                .wantsBones = true,
                                .published = sr_pbdCompliant},
    [sr_familySingleStep] = {.name = "complementary, single step",
                             .isSoft = true,
                             .wantsBones = true,
                             .beginsAtPose = true,
                             .published = sr_pbdCompliant},
    [sr_familySkinned] = {.name = "skinned", .beginsAtPose = true, .published = sr_pbdOriginal},
};

srFamilyTraits srDescribeFamily(srFamilyMethod method) {
    return TRAITS[method];
}

static double findVolume(const srFamilyShape* shape, int32_t cell) {
    const int32_t* n = shape->cells[cell];
    srVec3 a = shape->nodes[n[0]];
    srVec3 b = srSub(shape->nodes[n[1]], a), c = srSub(shape->nodes[n[2]], a);
    return fmax(srDot(b, srCross(c, srSub(shape->nodes[n[3]], a))) / 6.0, 0.0);
}

// sums over edges and cells, and a quarter of each cell's volume to each corner
static srResult measureShape(const srFamilyShape* shape, srFamily* family) {
    family->volumes = shape->masses == NULL ? SR_ALLOC_ZERO(float, shape->nodeCount) : NULL;
    if (shape->masses == NULL && family->volumes == NULL && shape->nodeCount > 0) {
        return srFailOutOfMemory("the simulation");
    }
    for (int32_t j = 0; j < shape->edgeCount; ++j) {
        srVec3 edge = srSub(shape->nodes[shape->edges[j][0]], shape->nodes[shape->edges[j][1]]);
        family->edgeSquares += srDot(edge, edge);
    }
    family->cellCount = shape->cellCount;
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        double volume = findVolume(shape, cell);
        family->volume += volume;
        for (int c = 0; family->volumes != NULL && c < 4; ++c) {
            int32_t node = shape->cells[cell][c];
            bool isHeld = shape->holds != NULL && shape->holds[node] >= HARD_HOLD;
            family->volumes[node] += isHeld ? 0.0f : (float)(0.25 * volume);
        }
    }
    return sr_success;
}

static srResult createConstraints(const srFamilyShape* shape, srFamily* family) {
    srPbdShape published = {
        .nodes = shape->nodes,
        .nodeCount = shape->nodeCount,
        .edges = shape->edges,
        .edgeCount = shape->edgeCount,
        .cells = shape->cells,
        .cellCount = shape->cellCount,
        .masses = shape->masses,
        .edgeCompliances = shape->edgeFactors,
        .cellCompliances = shape->cellFactors,
        .boneEnds = shape->boneEnds,
        .boneCount = shape->boneCount,
    };
    SR_TRY(srCreatePbd(&published, &family->pbd));
    return measureShape(shape, family);
}

// what a node has where the shape says nothing
static srResult fillOut(const float* given, float otherwise, int32_t count, float** outOwn) {
    *outOwn = NULL;
    if (given != NULL || count == 0) {
        return sr_success;
    }
    *outOwn = SR_ALLOC(float, count);
    for (int32_t i = 0; *outOwn != NULL && i < count; ++i) {
        (*outOwn)[i] = otherwise;
    }
    return *outOwn != NULL ? sr_success : srFailOutOfMemory("the flesh");
}

static srResult makeState(srFamily* family) {
    srFleshState* state = &family->state;
    state->offsets = SR_ALLOC_ZERO(srVec3f, family->nodeCount);
    state->velocities = SR_ALLOC_ZERO(srVec3f, family->nodeCount);
    state->earlierOffsets = SR_ALLOC_ZERO(srVec3f, family->nodeCount);
    state->earlierVelocities = SR_ALLOC_ZERO(srVec3f, family->nodeCount);
    bool isComplete = state->offsets != NULL && state->velocities != NULL && state->earlierOffsets != NULL &&
                      state->earlierVelocities != NULL;
    return isComplete || family->nodeCount == 0 ? sr_success : srFailOutOfMemory("the simulation");
}

static srResult createMatter(const srFamilyShape* shape, srFamily* family) {
    srFleshShape flesh = {
        .nodes = shape->nodes,
        .nodeCount = shape->nodeCount,
        .cells = shape->cells,
        .cellCount = shape->cellCount,
        .fibres = shape->fibres,
        .ties = shape->edges,
        .tieCount = shape->edgeCount,
        .handleCount = shape->handleCount,
    };
    float* holds;
    float* distances = NULL;
    srResult result = fillOut(shape->holds, 0.0f, shape->nodeCount, &holds);
    if (result == sr_success) {
        result = fillOut(shape->boneDistances, FAR_BONE, shape->nodeCount, &distances);
    }
    if (result == sr_success) {
        flesh.holds = shape->holds != NULL ? shape->holds : holds;
        flesh.boneDistances = shape->boneDistances != NULL ? shape->boneDistances : distances;
        result = srCreateFleshRest(&flesh, &family->rest);
    }
    SR_FREE(holds, holds != NULL ? shape->nodeCount : 0);
    SR_FREE(distances, distances != NULL ? shape->nodeCount : 0);
    SR_TRY(result);
    SR_TRY(srCreateFleshTuning(&family->rest, &family->tuning));
    return makeState(family);
}

srResult srCreateFamily(srFamilyMethod method, const srFamilyShape* shape, srFamily** outFamily) {
    *outFamily = NULL;
    srFamily* family = SR_ALLOC_ZERO(srFamily, 1);
    if (family == NULL) {
        return srFailOutOfMemory("the simulation");
    }
    family->method = method;
    family->nodeCount = shape->nodeCount;
    srResult result =
        TRAITS[method].isMatter ? createMatter(shape, family) : createConstraints(shape, family);
    if (result != sr_success) {
        srDestroyFamily(family);
        return result;
    }
    *outFamily = family;
    return sr_success;
}

void srDestroyFamily(srFamily* family) {
    if (family == NULL) {
        return;
    }
    SR_FREE(family->state.offsets, family->nodeCount);
    SR_FREE(family->state.velocities, family->nodeCount);
    SR_FREE(family->state.earlierOffsets, family->nodeCount);
    SR_FREE(family->state.earlierVelocities, family->nodeCount);
    srDestroyFleshScratch(family->state.scratch);
    if (family->rest.nodeCount > 0) {
        srDestroyFleshTuning(&family->rest, &family->tuning);
    }
    srDestroyFleshRest(&family->rest);
    srDestroyPbd(family->pbd);
    SR_FREE(family->volumes, family->volumes != NULL ? family->nodeCount : 0);
    SR_FREE(family->loads, family->loads != NULL ? family->nodeCount : 0);
    SR_FREE(family, 1);
}

static double softnessOf(double stiffness) {
    return stiffness > 1.0 / SOFTEST ? 1.0 / stiffness : SOFTEST;
}

static void takeMaterial(const srFamily* family, const srFleshDials* matter, srPbdDials* dials) {
    double young = matter->youngModulus, nu = matter->poissonRatio;
    double mu = young / (2.0 * (1.0 + nu));
    double lambda = mu * 2.0 * nu / fmax(1.0 - 2.0 * nu, 1e-9);
    double cell = family->cellCount > 0 ? family->volume / family->cellCount : 0.0;
    dials->edgeCompliance = softnessOf(15.0 * mu * family->volume / family->edgeSquares);
    dials->volumeCompliance = cell * softnessOf(lambda - mu);
    dials->boneCompliance = dials->edgeCompliance;
    dials->stiffness = 1.0;
}

static void tuneConstraints(srFamily* family, const srFamilyDials* given) {
    const srFleshDials* matter = &given->matter;
    const srFamilyTraits* traits = &TRAITS[family->method];
    srPbdDials dials = {0};
    if (given->published != NULL) {
        dials = *given->published;
    } else {
        takeMaterial(family, matter, &dials);
    }
    dials.method = traits->published;
    dials.boneCompliance = traits->wantsBones ? fmax(dials.boneCompliance, 0.0) : -1.0;
    dials.forgetsEachFrame = traits->beginsAtPose;
    dials.gravity = given->gravity;
    dials.dampingRate = matter->dampingRate;
    dials.iterations = matter->sweeps > 1 ? matter->sweeps : 1;
    dials.substeps = matter->substeps > 1 ? matter->substeps : 1;
    dials.frameSeconds = matter->frameSeconds;
    dials.hasFloor = matter->floorNormal.y > 0.0;
    dials.floorHeight = matter->floorHeight;
    dials.friction = matter->friction;
    family->dials = dials;
    for (int32_t i = 0; family->volumes != NULL && i < family->nodeCount; ++i) {
        srPbd_SetMass(family->pbd, i, (float)(matter->density * (double)family->volumes[i]));
    }
}

static bool isPulled(const srFamily* family) {
    return family->gravity.x != 0.0f || family->gravity.y != 0.0f || family->gravity.z != 0.0f;
}

srResult srFamily_Tune(srFamily* family, const srFamilyDials* dials) {
    if (family->pbd != NULL) {
        tuneConstraints(family, dials);
        return sr_success;
    }
    family->gravity = dials->gravity;
    if (isPulled(family) && family->loads == NULL) {
        family->loads = SR_ALLOC(srVec3f, family->nodeCount);
        if (family->loads == NULL && family->nodeCount > 0) {
            return srFailOutOfMemory("the simulation");
        }
    }
    srDestroyFleshScratch(family->state.scratch);
    family->state.scratch = NULL;
    SR_TRY(srFleshTuning_Set(&family->tuning, &family->rest, &dials->matter));
    return srCreateFleshScratch(&family->rest, &dials->matter, &family->state.scratch);
}

double srFamily_FindFrequency(const srFamily* family) {
    return family->pbd == NULL ? srFleshTuning_FindFrequency(&family->tuning, &family->rest) : 0.0;
}

double srFamily_FindContrast(const srFamily* family, const float* stiffnessMap, const float* densityMap) {
    return family->pbd == NULL ? srFleshRest_FindContrast(&family->rest, stiffnessMap, densityMap) : 1.0;
}

int32_t srFamily_ChooseSubsteps(const srFamily* family) {
    return family->pbd == NULL ? srFleshTuning_ChooseSubsteps(&family->tuning, &family->rest) : 1;
}

static const srVec3f* findLoads(srFamily* family, const srVec3f* pushes) {
    if (!isPulled(family)) {
        return pushes;
    }
    for (int32_t i = 0; i < family->nodeCount; ++i) {
        family->loads[i] = pushes != NULL ? srAddF(pushes[i], family->gravity) : family->gravity;
    }
    return family->loads;
}

int32_t srFamily_StepFrame(srFamily* family, const srFamilyMotion* motion, srFleshState* state) {
    const srPrimaryMotion* primary = motion->primary;
    if (family->pbd != NULL) {
        return srPbd_StepFrame(family->pbd, &family->dials, motion->boneEnds,
                               primary != NULL ? primary->to : NULL);
    }
    srFleshState* moving = state != NULL ? state : &family->state;
    moving->scratch = family->state.scratch;
    return srFlesh_StepFrame(&family->rest, &family->tuning, primary,
                             findLoads(family, primary->acceleration), moving);
}

void srFamily_Place(srFamily* family, const srVec3f* positions, const srVec3f* pose) {
    if (family->pbd != NULL) {
        srPbd_Place(family->pbd, positions);
        return;
    }
    size_t bytes = (size_t)family->nodeCount * sizeof(srVec3f);
    for (int32_t i = 0; i < family->nodeCount; ++i) {
        family->state.offsets[i] = srSubF(positions[i], pose[i]);
    }
    memset(family->state.velocities, 0, bytes);
    family->state.pastSeconds = 0.0;
}

void srFamily_Read(const srFamily* family, const srVec3f* pose, srVec3f* outPositions) {
    if (family->pbd != NULL) {
        srPbd_Read(family->pbd, outPositions);
        return;
    }
    for (int32_t i = 0; i < family->nodeCount; ++i) {
        outPositions[i] = srAddF(pose[i], family->state.offsets[i]);
    }
}
