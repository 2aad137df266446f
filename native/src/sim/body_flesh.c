// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fast solver, one block a cell (solver/flesh.h), as a body. Its state: offsets, then velocities; where
// it steps by BDF2, those of a substep earlier and how much earlier that was. Painted holds are part of what
// it prepares, so that it prepares anew when they change.

#include "core/alloc.h"
#include "core/hash.h"
#include "rig/turns.h"
#include "sim/body.h"
#include "sim/dials.h"
#include "sim/swing.h"
#include "solver/complementary.h"
#include "solver/family.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define DENSITY 1000.0

// Measured with every tissue of the add-on on two characters, a bar and a tail: what may not move as the rig
// could is stiffer by this; what is held is pulled to its pose so many times as hard, beside its bonds.
#define STIFFER 1.25
#define HELD_PULL 60.0f

// Of what substeps damp the slowest swing too much: what one sweep leaves unsolved feeds it, too.
#define TAKEN_OFF 0.6

// So many may be taken where steps damp too much, however few are asked for.
#define SUBSTEPS_FOR_DAMPING 10

// Of what a painted cell resists, in units of its mass: painted tails tremble from twice as much on; where
// swings last or are kept, less keeps them alive.
#define MOST_UNSOLVED 10.0
#define MOST_UNSOLVED_OF_LASTING 0.7

// Times as stiff along as across: beyond, soft tails that a stop throws far turn inside out.
#define MOST_FIBRES 30.0f

#define KEEPING_SWEEPS 12 // with which 10,000 steps lose nothing of a swing's energy

#define FREQUENCY_WITHOUT_HANDLES 1.4 // pull and elasticity together: they are made to be alike

typedef struct FleshBody {
    const srCharacter* character;
    srFamily* family; // null until tuned
    int32_t nodeCount;
    int32_t cellCount;
    bool remembers;   // a substep earlier
    int32_t substeps; // as tuned
    float* holds;     // that the rest was made with
    float* wanted;    // those of now
    float* stiffness; // factors a cell
    float* density;   // likewise
    float* pulls;     // factors a node
    double frequency; // Hz of the slowest swing at 1 Hz of the dial; 0 while not known
    uint64_t frequencyHash;
    bool hasHandles;      // as of then
    srVec3* fibres;       // a cell
    float fibreStiffness; // that the rest was made with; likewise:
    bool isTied;
    srVec3f* from;
    srVec3f* to;
    srVec3f* velocityJump;
} FleshBody;

static void destroyFlesh(void* self) {
    FleshBody* body = self;
    if (body == NULL) {
        return;
    }
    srDestroyFamily(body->family);
    SR_FREE(body->holds, body->nodeCount);
    SR_FREE(body->wanted, body->nodeCount);
    SR_FREE(body->stiffness, body->cellCount);
    SR_FREE(body->density, body->cellCount);
    SR_FREE(body->pulls, body->nodeCount);
    SR_FREE(body->fibres, body->cellCount);
    SR_FREE(body->from, body->nodeCount);
    SR_FREE(body->to, body->nodeCount);
    SR_FREE(body->velocityJump, body->nodeCount);
    SR_FREE(body, 1);
}

// where the bone that has most of a node runs
static srVec3 findAxis(const srCharacter* character, int32_t node) {
    const srNodeWeights* weights = &character->weights;
    int32_t best = weights->starts[node];
    for (int32_t k = best + 1; k < weights->starts[node + 1]; ++k) {
        best = weights->weights[k] > weights->weights[best] ? k : best;
    }
    int32_t bone = weights->bones[best];
    return bone < character->rig.boneCount ? character->boneAxes[bone] : (srVec3){0.0, 0.0, 0.0};
}

// Of each cell the mean of its nodes', as lines: they have no front. As long as they are stiff.
static void findFibres(FleshBody* body, double stiffness) {
    const srCharacter* character = body->character;
    for (int32_t cell = 0; cell < body->cellCount; ++cell) {
        srVec3 sum = {0.0, 0.0, 0.0};
        for (int c = 0; character->boneAxes != NULL && c < 4; ++c) {
            srVec3 axis = findAxis(character, character->cage.cells[cell][c]);
            sum = srMulAdd(sum, srDot(sum, axis) < 0.0 ? -1.0 : 1.0, axis);
        }
        double length = srLength(sum);
        body->fibres[cell] = length > 0.0 ? srScale(stiffness / length, sum) : sum;
    }
}

// not given is none: 1
static float fibreStiffnessOf(const srShotParams* params) {
    return params->fibreStiffness > 0.0f ? fminf(params->fibreStiffness, MOST_FIBRES) : 1.0f;
}

static srResult createRest(FleshBody* body, const srShotParams* params) {
    const srCage* cage = &body->character->cage;
    srDestroyFamily(body->family);
    body->family = NULL;
    body->fibreStiffness = fibreStiffnessOf(params);
    body->isTied = params->stretchLimit > 0.0f;
    bool hasFibres = body->fibreStiffness != 1.0f;
    if (hasFibres) {
        findFibres(body, (double)body->fibreStiffness);
    }
    memcpy(body->holds, body->wanted, (size_t)body->nodeCount * sizeof(float));
    srFamilyShape shape = {
        .nodes = cage->nodes,
        .nodeCount = cage->nodeCount,
        .cells = (const int32_t (*)[4])cage->cells,
        .cellCount = cage->cellCount,
        .holds = body->holds,
        .boneDistances = body->character->body.boneDistances,
        .fibres = hasFibres ? body->fibres : NULL,
        .handleCount = SR_USUAL_HANDLES,
        .edges = body->isTied ? (const int32_t (*)[2])cage->edges : NULL,
        .edgeCount = body->isTied ? cage->edgeCount : 0,
    };
    return srCreateFamily(sr_familyFlesh, &shape, &body->family);
}

static void findHolds(FleshBody* body) {
    srXpbdMaps maps = srCharacter_GetMaps(body->character);
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        body->wanted[i] = srFindHold(&body->character->body, &maps, i);
    }
}

static srResult allocateParts(FleshBody* body) {
    body->holds = SR_ALLOC(float, body->nodeCount);
    body->wanted = SR_ALLOC(float, body->nodeCount);
    body->stiffness = SR_ALLOC(float, body->cellCount);
    body->density = SR_ALLOC(float, body->cellCount);
    body->pulls = SR_ALLOC(float, body->nodeCount);
    body->fibres = SR_ALLOC(srVec3, body->cellCount);
    body->from = SR_ALLOC(srVec3f, body->nodeCount);
    body->to = SR_ALLOC(srVec3f, body->nodeCount);
    body->velocityJump = SR_ALLOC(srVec3f, body->nodeCount);
    if (body->holds == NULL || body->wanted == NULL || body->stiffness == NULL || body->density == NULL ||
        body->pulls == NULL || body->fibres == NULL || body->from == NULL || body->to == NULL ||
        body->velocityJump == NULL) {
        return srFailOutOfMemory("the solver");
    }
    findHolds(body);
    const srShotParams plain = {.fibreStiffness = 1.0f};
    return createRest(body, &plain);
}

static srResult createFlesh(const srCharacter* character, const srShotParams* params, void** outSelf) {
    FleshBody* body = SR_ALLOC_ZERO(FleshBody, 1);
    *outSelf = body;
    if (body == NULL) {
        return srFailOutOfMemory("the solver");
    }
    body->character = character;
    body->nodeCount = character->cage.nodeCount;
    body->cellCount = character->cage.cellCount;
    body->remembers = params->swings == sr_swingsLast;
    srResult result = allocateParts(body);
    if (result != sr_success) {
        destroyFlesh(body);
        *outSelf = NULL;
    }
    return result;
}

static size_t arrayBytes(const FleshBody* body) {
    return ((size_t)body->nodeCount * sizeof(srVec3f) + 63) / 64 * 64;
}

static size_t getFleshStateSize(const void* self) {
    const FleshBody* body = self;
    return body->remembers ? 4 * arrayBytes(body) + 64 : 2 * arrayBytes(body);
}

// offsets, velocities, offsets earlier, velocities earlier
static srVec3f* partOf(const FleshBody* body, void* state, size_t part) {
    return (srVec3f*)((char*)state + part * arrayBytes(body));
}

static double* pastOf(const FleshBody* body, void* state) {
    return (double*)((char*)state + 4 * arrayBytes(body));
}

// The hold map as a pull too, what is painted of it, and stiffness, as the complementary solver has them
static void findPulls(FleshBody* body, const srXpbdMaps* maps) {
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        float hold = body->holds[i];
        float pull = fmaxf(1.0f + HELD_PULL * hold * hold, (float)srFindPaintedPull(maps, i));
        body->pulls[i] = pull * (maps->stiffness != NULL ? maps->stiffness[i] : 1.0f);
    }
}

static srFleshDials makeDials(FleshBody* body, const srBodySettings* settings) {
    srXpbdMaps maps = srCharacter_GetMaps(body->character);
    srMaterial material = srFindMaterial(settings);
    findPulls(body, &maps);
    // the complementary solver's cells resist a pull as if they were of E / (1 + nu); where the modulus is
    // ours to choose, these do too
    double nu = (double)settings->params.poissonRatio;
    bool keeps = settings->params.swings == sr_swingsKeep;
    double softer = settings->params.youngModulus > 0.0f ? 1.0 : 1.0 / (1.0 + nu);
    return (srFleshDials){
        .youngModulus = softer * material.youngModulus,
        .poissonRatio = nu,
        .density = material.density,
        .stiffnessMap = srSpreadOverCells(body->character, maps.stiffness, body->stiffness),
        .densityMap = srSpreadOverCells(body->character, maps.mass, body->density),
        .pullMap = body->pulls,
        .scale = settings->scale,
        .isMirrored = settings->isMirrored,
        .frequency = (double)settings->params.frequency,
        .poseCorrection = (double)settings->params.poseCorrection,
        .frameSeconds = 1.0 / settings->frameRate,
        .largestOffset = settings->size,
        .mostLength = (double)settings->params.stretchLimit,
        .viscosity = keeps ? 0.0 : SR_USUAL_VISCOSITY / settings->frameRate,
        .substeps = settings->params.substeps,
        .sweeps = keeps ? KEEPING_SWEEPS : 1,
        .integrator = body->remembers ? sr_fleshBdf2 : sr_fleshTheta,
        .poses = 1,
    };
}

// What the slowest swing depends on, in units in which the pull is one of 1 Hz
static uint64_t hashMaterial(const FleshBody* body, const srFleshDials* dials) {
    const double numbers[] = {dials->youngModulus, dials->poissonRatio, (double)body->fibreStiffness};
    uint64_t hash = srHashBytes(SR_HASH_SEED, numbers, sizeof(numbers));
    hash = srHashBytes(hash, body->pulls, (size_t)body->nodeCount * sizeof(float));
    const float* maps[2] = {dials->stiffnessMap, dials->densityMap};
    for (int k = 0; k < 2; ++k) {
        int32_t marker = maps[k] != NULL ? k + 1 : 0;
        hash = srHashBytes(hash, &marker, sizeof(marker));
        if (maps[k] != NULL) {
            hash = srHashBytes(hash, maps[k], (size_t)body->cellCount * sizeof(float));
        }
    }
    return hash;
}

// Hz of the slowest swing. Asked for again and again where the frequency is keyed; kept, because it goes with
// the dial unless a stiffness is given. Must not depend on what was asked before: so of the dial at 1 Hz.
static srResult findFrequency(FleshBody* body, const srBodySettings* settings, double* outFrequency) {
    double dial = (double)settings->params.frequency;
    srFleshDials dials = makeDials(body, settings);
    double scaled = dials.youngModulus / (dials.density * settings->scale * settings->scale);
    if (settings->params.youngModulus > 0.0f) {
        dials.youngModulus = DENSITY * scaled / (dial * dial);
    } else {
        dials.youngModulus = srYoungModulusForSize(1.0, DENSITY, (double)body->character->report.size) /
                             (1.0 + dials.poissonRatio);
    }
    dials.density = DENSITY;
    dials.scale = 1.0;
    dials.frequency = 1.0;
    dials.frameSeconds = 1.0;
    dials.substeps = 1;
    dials.sweeps = 1;
    dials.integrator = sr_fleshTheta;
    uint64_t hash = hashMaterial(body, &dials);
    if (body->frequency <= 0.0 || body->frequencyHash != hash) {
        const srFamilyDials swinging = {.matter = dials};
        SR_TRY(srFamily_Tune(body->family, &swinging));
        double found = srFamily_FindFrequency(body->family);
        body->hasHandles = found > 0.0;
        body->frequency = body->hasHandles ? found : FREQUENCY_WITHOUT_HANDLES;
        body->frequencyHash = hash;
    }
    *outFrequency = STIFFER * dial * body->frequency;
    return sr_success;
}

// What must be tuned for the substeps to show a swing. Of what they damp it too much by themselves, a part is
// taken off: what one sweep leaves unsolved feeds a quick swing, too.
static srSwing findNeeded(srSwing shown, const srFleshDials* dials) {
    if (dials->integrator == sr_fleshBdf2) {
        return srFindShownByBdf2(shown, dials->frameSeconds, dials->substeps);
    }
    double theta = srFleshDials_FindTheta(dials);
    srSwing needed = srFindShownByTheta(shown, dials->frameSeconds, dials->substeps, theta);
    needed.rate *= needed.rate > 0.0 ? 1.0 : TAKEN_OFF;
    return needed;
}

// The fewest that are enough, and that do not by themselves damp the swing more than it shall be. What the
// pull to the pose has of a swing needs no substeps: nodes answer it alone.
static int32_t chooseSubsteps(const FleshBody* body, double frequency, srSwing shown,
                              const srFleshDials* dials) {
    srFleshDials tried = *dials;
    if (body->hasHandles && dials->sweeps == 1) {
        double elastic = sqrt(fmax(frequency * frequency - dials->frequency * dials->frequency, 0.0));
        if (dials->stiffnessMap != NULL || dials->densityMap != NULL) {
            elastic *= srFamily_FindContrast(body->family, dials->stiffnessMap, dials->densityMap);
        }
        tried.substeps = srFindSubstepsWithHandles(dials->substeps, elastic, dials->frameSeconds);
    }
    while (tried.substeps < dials->substeps || tried.substeps < SUBSTEPS_FOR_DAMPING) {
        if (findNeeded(shown, &tried).rate > 0.0) {
            break;
        }
        ++tried.substeps;
    }
    return tried.substeps;
}

static double riseBetween(double low, double high, double x) {
    return fmin(fmax((x - low) / (high - low), 0.0), 1.0);
}

// 0 for a swing as a tissue has it, to 1 for one that is much quicker, than the dial says or than frames can
// show. That one shall only be calm: what a sweep leaves unsolved feeds it.
static double findStiff(double frequency, const srBodySettings* settings) {
    double quicker = riseBetween(2.5, 4.0, frequency / (double)settings->params.frequency);
    double hidden = riseBetween(SR_MOST_SWINGS_SHOWN, 0.75, frequency / settings->frameRate);
    return fmax(quicker, hidden);
}

// What the complementary solver shows of a swing, or its plain formula of a stiff one; with no fewer steps
// than usual, as fewer are asked of this solver to save time and not to be slower swings
static srSwing findShown(srSwing meant, double stiff, const srBodySettings* settings) {
    int32_t fewest = srDefaultComplementaryDials().substeps;
    int32_t asked = srFindLongSubsteps(settings->params.substeps);
    double substep = 1.0 / settings->frameRate / (asked > fewest ? asked : fewest);
    meant.rate = srFindStopDampingRate(settings, meant.omega / (2.0 * PI));
    srSettling settling = srFindSettling(sr_integratorBdf2, meant.omega, meant.rate, substep);
    srSwing shown = srReadSwing(srFindLateRoot(settling, meant.omega, substep), substep);
    srSwing calm = srShowByBdf2(meant, substep);
    shown.omega += stiff * (calm.omega - shown.omega);
    shown.rate += stiff * (calm.rate - shown.rate);
    return shown;
}

// One setting shall swing alike in all solvers. The complementary one takes few steps a frame, which makes
// quick swings slower: what it shows of the slowest swing, is what the flesh is tuned to show. Where swings
// shall last, they are damped as is asked for.
static void align(const FleshBody* body, double frequency, const srBodySettings* settings,
                  srFleshDials* dials) {
    srSwing meant = {2.0 * PI * frequency, srFindDampingRate(settings)};
    srSwing shown = findShown(meant, findStiff(frequency, settings), settings);
    bool isFading = dials->integrator == sr_fleshTheta && dials->sweeps == 1;
    shown.rate = isFading ? shown.rate : meant.rate;
    dials->substeps = chooseSubsteps(body, frequency, shown, dials);
    srSwing needed = findNeeded(shown, dials);
    double faster = needed.omega / meant.omega;
    dials->youngModulus *= faster * faster;
    dials->frequency *= faster;
    dials->dampingRate = needed.rate;
}

static srResult tuneFlesh(void* self, const srBodySettings* settings) {
    FleshBody* body = self;
    findHolds(body);
    const srShotParams* params = &settings->params;
    if (body->family == NULL || body->fibreStiffness != fibreStiffnessOf(params) ||
        body->isTied != (params->stretchLimit > 0.0f) ||
        memcmp(body->holds, body->wanted, (size_t)body->nodeCount * sizeof(float)) != 0) {
        SR_TRY(createRest(body, params));
    }
    double frequency;
    SR_TRY(findFrequency(body, settings, &frequency));
    srFleshDials dials = makeDials(body, settings);
    dials.dampingMap = srCharacter_GetMaps(body->character).damping;
    bool isFading = params->swings == sr_swingsFade;
    dials.mostUnsolved = isFading ? MOST_UNSOLVED : MOST_UNSOLVED_OF_LASTING;
    align(body, frequency, settings, &dials);
    body->substeps = dials.substeps;
    const srFamilyDials tuned = {.matter = dials};
    return srFamily_Tune(body->family, &tuned);
}

static void stepFlesh(void* self, const srNodeMotion* motion, void* state, srFrameStats* stats) {
    FleshBody* body = self;
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        body->from[i] = srToFloat(motion->from[i]);
        body->to[i] = srToFloat(motion->to[i]);
        body->velocityJump[i] = srToFloat(motion->velocityJump[i]);
    }
    srPrimaryMotion primary = {body->from, body->to, body->velocityJump, motion->acceleration};
    const srFamilyMotion leading = {.primary = &primary};
    srFleshState moving = {.offsets = state, .velocities = partOf(body, state, 1)};
    if (body->remembers) {
        moving.earlierOffsets = partOf(body, state, 2);
        moving.earlierVelocities = partOf(body, state, 3);
        moving.pastSeconds = *pastOf(body, state);
    }
    stats->limitedNodeCount = srFamily_StepFrame(body->family, &leading, &moving);
    if (body->remembers) {
        *pastOf(body, state) = moving.pastSeconds;
    }
    stats->iterationCount = body->substeps;
}

static void readFleshOffsets(const void* self, const void* state, srVec3f* outOffsets) {
    const FleshBody* body = self;
    memcpy(outOffsets, state, (size_t)body->nodeCount * sizeof(srVec3f));
}

static void turnFlesh(const void* self, const srMat3* turns, void* state) {
    const FleshBody* body = self;
    for (size_t part = 0; part < (body->remembers ? 4 : 2); ++part) {
        srVec3f* vectors = partOf(body, state, part);
        for (int32_t i = 0; i < body->nodeCount; ++i) {
            vectors[i] = srToFloat(srTurnVector(&turns[i], srToDouble(vectors[i])));
        }
    }
}

const srBodyKind srFleshBody = {
    .create = createFlesh,
    .destroy = destroyFlesh,
    .getStateSize = getFleshStateSize,
    .tune = tuneFlesh,
    .step = stepFlesh,
    .readOffsets = readFleshOffsets,
    .turn = turnFlesh,
};
