// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a frame of a character costs: skinning, solving, and whatever else lies between the rig's matrices and
// the result. Published were bodies of 700 to 3,620 vertices and a scene of four, 5 iterations, 24 frames a
// second; ours have as many nodes and bones, and the four are four characters, each with a motion of its own,
// solved by itself, one after the other in every frame. Two families: the published one (distances, volumes,
// bonds to bones, after skinning) and our own, with 5 substeps and with as many as artists get of it in the
// tissue that they begin with. Each frame counts with the least of some rounds, and all frames with their
// mean.

#include "thesis_parts.h"

#include "elastic/material.h"
#include "rig/skinning.h"
#include "softrig/softrig.h"
#include "solver/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LIMBS 50
#define FRAMES 48
#define ROUNDS 5
#define MOST_COPIES 4
#define ITERATIONS 5
#define SAG_PUSH 1e-4 // of the body's stiffness, m: about what it moves
#define SAG_FRAMES 48
#define CONVERGED 16 // times the substeps that sweeps ask for
#define NEAREST 4    // bones a node listens to
#define PI 3.14159265358979323846

typedef struct Plan {
    const char* name;
    int32_t nodeCount;
    int32_t boneCount;
    int32_t copies; // characters of this body, all in a frame
    double youngModulus;
    double poissonRatio;
    double published; // ms
    void (*build)(srThesisLimb* limbs);
} Plan;

// a way to play a character
typedef struct Solver {
    const char* name;
    srFamilyMethod method;
    int32_t handleCount;
    int32_t substeps;
    int32_t sweeps;
    bool isAsArtistsGet; // as many of the substeps as are enough for the material
} Solver;

typedef struct Times {
    double skin;
    double solve;
    double other;
} Times;

// a body of the cast, and room to play it
typedef struct Actor {
    const Plan* plan;
    int32_t copy;
    srThesisLimb limbs[MOST_LIMBS];
    srCage cage;
    double spacing;
    srNodeWeights weights;
    srMat34 maps[MOST_LIMBS];
    srVec3* placed[3];
    srVec3f* skinned;
    srVec3f* from;
    srVec3f* jump;
    srVec3f* result;
    srVec3 restEnds[2 * MOST_LIMBS];
    srVec3f ends[2 * MOST_LIMBS];
    srFamily* family;
    srFamilyDials dials;
} Actor;

static void chain(srThesisLimb* limbs, int32_t count, srVec3 a, srVec3 b, double first, double last) {
    for (int32_t k = 0; k < count; ++k) {
        double t = (double)k / count;
        double next = (double)(k + 1) / count;
        srVec3 along = srSub(b, a);
        limbs[k] =
            (srThesisLimb){srMulAdd(a, t, along), srMulAdd(a, next, along), first + t * (last - first)};
    }
}

// a fish: body and tail
static void buildBlub(srThesisLimb* limbs) {
    chain(&limbs[0], 1, (srVec3){0.0, 0.0, 0.0}, (srVec3){0.5, 0.0, 0.0}, 0.3, 0.3);
    chain(&limbs[1], 1, (srVec3){0.7, 0.0, 0.0}, (srVec3){1.2, 0.1, 0.0}, 0.15, 0.15);
}

// a head and two ears
static void buildSuzanne(srThesisLimb* limbs) {
    chain(&limbs[0], 1, (srVec3){0.0, -0.1, 0.0}, (srVec3){0.0, 0.1, 0.0}, 0.4, 0.4);
    chain(&limbs[1], 1, (srVec3){0.35, 0.1, 0.0}, (srVec3){0.65, 0.15, 0.0}, 0.16, 0.16);
    chain(&limbs[2], 1, (srVec3){-0.35, 0.1, 0.0}, (srVec3){-0.65, 0.15, 0.0}, 0.16, 0.16);
}

// spine, neck, head, tail, legs, arms: 50 bones
static void buildRex(srThesisLimb* limbs) {
    chain(&limbs[0], 8, (srVec3){0.0, 1.5, 0.0}, (srVec3){1.2, 1.6, 0.0}, 0.42, 0.34);
    chain(&limbs[8], 5, (srVec3){1.2, 1.6, 0.0}, (srVec3){1.7, 2.2, 0.0}, 0.3, 0.24);
    chain(&limbs[13], 4, (srVec3){1.7, 2.2, 0.0}, (srVec3){2.4, 2.2, 0.0}, 0.28, 0.18);
    chain(&limbs[17], 15, (srVec3){0.0, 1.5, 0.0}, (srVec3){-2.4, 1.2, 0.0}, 0.34, 0.12);
    chain(&limbs[32], 5, (srVec3){0.1, 1.4, 0.3}, (srVec3){0.2, 0.1, 0.4}, 0.26, 0.15);
    chain(&limbs[37], 5, (srVec3){0.1, 1.4, -0.3}, (srVec3){0.2, 0.1, -0.4}, 0.26, 0.15);
    chain(&limbs[42], 4, (srVec3){1.2, 1.4, 0.25}, (srVec3){1.6, 0.9, 0.35}, 0.13, 0.11);
    chain(&limbs[46], 4, (srVec3){1.2, 1.4, -0.25}, (srVec3){1.6, 0.9, -0.35}, 0.13, 0.11);
}

// trunk, head and legs: 6 bones
static void buildSpot(srThesisLimb* limbs) {
    chain(&limbs[0], 1, (srVec3){0.0, 0.6, 0.0}, (srVec3){0.7, 0.6, 0.0}, 0.28, 0.28);
    chain(&limbs[1], 1, (srVec3){0.9, 0.8, 0.0}, (srVec3){1.1, 0.9, 0.0}, 0.22, 0.22);
    for (int k = 0; k < 4; ++k) {
        double x = k / 2 == 0 ? 0.0 : 0.7;
        double z = k % 2 == 0 ? 0.15 : -0.15;
        chain(&limbs[2 + k], 1, (srVec3){x, 0.45, z}, (srVec3){x, 0.08, z}, 0.11, 0.11);
    }
}

static const Plan PLANS[] = {
    {"fish", 700, 2, 1, 7e5, 0.5, 22.4, buildBlub},
    {"head with ears", 1250, 3, 1, 1e8, 0.499, 27.3, buildSuzanne},
    {"long-tailed, on two legs", 3620, 50, 1, 1e7, 0.4, 101.5, buildRex},
    {"scene of four, on four legs", 11700, 6, 4, 4.33e9, 0.35, 180.0, buildSpot},
};

static bool allocate(Actor* actor) {
    size_t count = (size_t)actor->cage.nodeCount;
    srVec3f** arrays[] = {&actor->skinned, &actor->from, &actor->jump, &actor->result};
    bool isComplete = true;
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); ++k) {
        *arrays[k] = calloc(count, sizeof(srVec3f));
        isComplete = isComplete && *arrays[k] != NULL;
    }
    for (int k = 0; k < 3; ++k) {
        actor->placed[k] = calloc(count, sizeof(srVec3));
        isComplete = isComplete && actor->placed[k] != NULL;
    }
    return isComplete;
}

// of each node the nearest bones, by the inverse square of its distance; and that distance
static bool weigh(Actor* actor, float* outDistances) {
    int32_t boneCount = actor->plan->boneCount;
    size_t count = (size_t)actor->cage.nodeCount;
    float* dense = calloc(count * (size_t)boneCount, sizeof(float));
    for (int32_t i = 0; dense != NULL && i < actor->cage.nodeCount; ++i) {
        float* row = dense + (size_t)i * (size_t)boneCount;
        double distances[MOST_LIMBS];
        outDistances[i] = INFINITY;
        for (int32_t b = 0; b < boneCount; ++b) {
            srVec3 axis = srSub(actor->limbs[b].b, actor->limbs[b].a);
            double t = srDot(srSub(actor->cage.nodes[i], actor->limbs[b].a), axis) / srDot(axis, axis);
            t = fmin(fmax(t, 0.0), 1.0);
            distances[b] = srDistance(actor->cage.nodes[i], srMulAdd(actor->limbs[b].a, t, axis));
            outDistances[i] = fminf(outDistances[i], (float)distances[b]);
        }
        for (int32_t k = 0; k < NEAREST && k < boneCount; ++k) {
            int32_t nearest = 0;
            for (int32_t b = 1; b < boneCount; ++b) {
                nearest = distances[b] < distances[nearest] ? b : nearest;
            }
            row[nearest] = (float)(1.0 / (0.0025 + distances[nearest] * distances[nearest]));
            distances[nearest] = INFINITY;
        }
    }
    bool isDone = dense != NULL &&
                  srCreateNodeWeights(dense, actor->cage.nodeCount, boneCount, &actor->weights) == sr_success;
    free(dense);
    return isDone;
}

// One material for all methods; those of constraints get bonds to the bones, flesh is held by them
static bool createFamily(Actor* actor, const float* distances, const Solver* solver) {
    const Plan* plan = actor->plan;
    for (int32_t b = 0; b < plan->boneCount; ++b) {
        actor->restEnds[2 * b] = actor->limbs[b].a;
        actor->restEnds[2 * b + 1] = actor->limbs[b].b;
    }
    float* holds = calloc((size_t)actor->cage.nodeCount, sizeof(float));
    for (int32_t i = 0; holds != NULL && i < actor->cage.nodeCount; ++i) {
        // flesh from the bone outwards
        double away = (double)distances[i] / (2.0 * actor->spacing);
        holds[i] = (float)(away < 0.5 ? 1.0 : 0.5 * exp(-away));
    }
    bool isMatter = srDescribeFamily(solver->method).isMatter;
    srFamilyShape shape = {
        .nodes = actor->cage.nodes,
        .nodeCount = actor->cage.nodeCount,
        .cells = (const int32_t (*)[4])actor->cage.cells,
        .cellCount = actor->cage.cellCount,
        .edges = isMatter ? NULL : (const int32_t (*)[2])actor->cage.edges,
        .edgeCount = isMatter ? 0 : actor->cage.edgeCount,
        .holds = isMatter ? holds : NULL,
        .boneDistances = distances,
        .handleCount = solver->handleCount,
        .boneEnds = actor->restEnds,
        .boneCount = plan->boneCount,
    };
    actor->dials.matter = (srFleshDials){
        .youngModulus = plan->youngModulus,
        .poissonRatio = plan->poissonRatio,
        .density = 1000.0,
        .scale = 1.0,
        .dampingRate = isMatter ? 6.0 : 0.0,
        .viscosity = solver->isAsArtistsGet ? SR_USUAL_VISCOSITY / FRAMES_A_SECOND : 0.0,
        .frameSeconds = 1.0 / FRAMES_A_SECOND,
        .largestOffset = 1.0,
        .substeps = solver->substeps,
        .sweeps = solver->sweeps,
        .poses = 1,
    };
    bool isDone = holds != NULL && srCreateFamily(solver->method, &shape, &actor->family) == sr_success &&
                  srFamily_Tune(actor->family, &actor->dials) == sr_success;
    free(holds);
    return isDone;
}

static void destroyActor(Actor* actor) {
    srDestroyFamily(actor->family);
    srDestroyNodeWeights(&actor->weights);
    srDestroyCage(&actor->cage);
    void* blocks[] = {actor->skinned,   actor->from,      actor->jump,     actor->result,
                      actor->placed[0], actor->placed[1], actor->placed[2]};
    for (size_t k = 0; k < sizeof(blocks) / sizeof(blocks[0]); ++k) {
        free(blocks[k]);
    }
    *actor = (Actor){0};
}

static bool createActor(const Plan* plan, int32_t copy, const Solver* solver, Actor* actor) {
    *actor = (Actor){.plan = plan, .copy = copy};
    plan->build(actor->limbs);
    if (!srThesisCreateCage(actor->limbs, plan->boneCount, -1e9, plan->nodeCount / plan->copies, &actor->cage,
                            &actor->spacing) ||
        !allocate(actor)) {
        return false;
    }
    float* distances = calloc((size_t)actor->cage.nodeCount, sizeof(float));
    bool isDone = distances != NULL && weigh(actor, distances) && createFamily(actor, distances, solver);
    free(distances);
    return isDone;
}

// The whole body to and fro, and each bone turning a little about its start; of several in a scene each a
// little later
static void moveBones(Actor* actor, int32_t frame) {
    double phase = 2.0 * PI * 1.5 * frame / FRAMES_A_SECOND - 0.7 * actor->copy;
    for (int32_t b = 0; b < actor->plan->boneCount; ++b) {
        double angle = 0.15 * sin(phase - 0.3 * b);
        double c = cos(angle), s = sin(angle);
        srVec3 at = actor->limbs[b].a;
        actor->maps[b] = (srMat34){{{c, -s, 0.0, at.x - c * at.x + s * at.y + 0.1 * sin(phase)},
                                    {s, c, 0.0, at.y - s * at.x - c * at.y},
                                    {0.0, 0.0, 1.0, 0.0}}};
    }
}

static void skin(Actor* actor) {
    srVec3* oldest = actor->placed[2];
    actor->placed[2] = actor->placed[1];
    actor->placed[1] = actor->placed[0];
    actor->placed[0] = oldest;
    srSkinNodes(&actor->weights, actor->maps, actor->cage.nodes, actor->placed[0]);
}

static Times play(Actor* actor) {
    Times times = {0};
    double start = srThesisSeconds();
    skin(actor);
    times.skin = srThesisSeconds() - start;
    for (int32_t i = 0; i < actor->cage.nodeCount; ++i) {
        srVec3 now = srSub(actor->placed[0][i], actor->placed[1][i]);
        srVec3 before = srSub(actor->placed[1][i], actor->placed[2][i]);
        actor->from[i] = srToFloat(actor->placed[1][i]);
        actor->skinned[i] = srToFloat(actor->placed[0][i]);
        actor->jump[i] = srToFloat(srScale(FRAMES_A_SECOND, srSub(now, before)));
    }
    for (int32_t k = 0; k < 2 * actor->plan->boneCount; ++k) {
        actor->ends[k] = srToFloat(srMulPoint34(&actor->maps[k / 2], actor->restEnds[k]));
    }
    srPrimaryMotion primary = {actor->from, actor->skinned, actor->jump, NULL};
    const srFamilyMotion motion = {&primary, actor->ends};
    double middle = srThesisSeconds();
    srFamily_StepFrame(actor->family, &motion, NULL);
    times.solve = srThesisSeconds() - middle;
    srFamily_Read(actor->family, actor->skinned, actor->result);
    times.other = srThesisSeconds() - start - times.skin - times.solve;
    return times;
}

static void reset(Actor* actor) {
    moveBones(actor, 0);
    for (int k = 0; k < 3; ++k) {
        skin(actor);
    }
    for (int32_t i = 0; i < actor->cage.nodeCount; ++i) {
        actor->skinned[i] = srToFloat(actor->placed[0][i]);
    }
    srFamily_Place(actor->family, actor->skinned, actor->skinned);
}

static void addAway(const Actor* actor, double* largest) {
    for (int32_t i = 0; i < actor->cage.nodeCount; ++i) {
        double away = srDistance(srToDouble(actor->result[i]), actor->placed[0][i]);
        *largest = fmax(*largest, away);
    }
}

// milliseconds a frame of all actors; the largest distance from the pose, to see that something moved
static Times playAll(Actor* actors, double* outLargest) {
    int32_t count = actors->plan->copies;
    Times least[FRAMES];
    *outLargest = 0.0;
    for (int round = 0; round < ROUNDS; ++round) {
        for (int32_t k = 0; k < count; ++k) {
            reset(&actors[k]);
        }
        for (int32_t frame = 0; frame < FRAMES; ++frame) {
            Times times = {0};
            for (int32_t k = 0; k < count; ++k) {
                moveBones(&actors[k], frame + 1);
                Times own = play(&actors[k]);
                times.skin += own.skin;
                times.solve += own.solve;
                times.other += own.other;
                addAway(&actors[k], outLargest);
            }
            double sum = times.skin + times.solve + times.other;
            double before = least[frame].skin + least[frame].solve + least[frame].other;
            least[frame] = round == 0 || sum < before ? times : least[frame];
        }
    }
    Times mean = {0};
    double scale = 1e3 / FRAMES;
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        mean.skin += scale * least[frame].skin;
        mean.solve += scale * least[frame].solve;
        mean.other += scale * least[frame].other;
    }
    return mean;
}

// How far a push moves the body in the mean, once it has come to rest. The push goes with the stiffness, so
// that flesh of any kind moves by a small part of the body and not by less than what counts as rest.
static double findSag(Actor* actor, const srFleshDials* given, int32_t substeps, double dampingRate) {
    srFamilyDials dials = {.matter = *given};
    dials.matter.substeps = substeps;
    dials.matter.dampingRate = dampingRate;
    int32_t count = actor->cage.nodeCount;
    srVec3f* loads = calloc((size_t)count, sizeof(srVec3f));
    if (loads == NULL || srFamily_Tune(actor->family, &dials) != sr_success) {
        free(loads);
        return (double)NAN;
    }
    reset(actor);
    for (int32_t i = 0; i < count; ++i) {
        actor->from[i] = actor->skinned[i];
        actor->jump[i] = (srVec3f){0.0f, 0.0f, 0.0f};
        loads[i].y = (float)(-SAG_PUSH * given->youngModulus / given->density);
    }
    srPrimaryMotion primary = {actor->from, actor->skinned, actor->jump, loads};
    const srFamilyMotion motion = {&primary, actor->ends};
    for (int32_t frame = 0; frame < SAG_FRAMES; ++frame) {
        srFamily_StepFrame(actor->family, &motion, NULL);
    }
    srFamily_Read(actor->family, actor->skinned, actor->result);
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        sum += (double)(actor->skinned[i].y - actor->result[i].y);
    }
    free(loads);
    return sum;
}

// Hz of the slowest swing: of long substeps without damping, as it is found best
static double findHertz(Actor* actor, const srFleshDials* given) {
    srFamilyDials dials = {.matter = *given};
    dials.matter.dampingRate = 0.0;
    dials.matter.frameSeconds = 1.0;
    dials.matter.substeps = 1;
    return srFamily_Tune(actor->family, &dials) == sr_success ? srFamily_FindFrequency(actor->family)
                                                              : (double)NAN;
}

// The first frequency goes with the root of stiffness, and what a push does tells that too where a body
// swings faster than 24 frames a second can show, as these do in the published materials. Converged are far
// more substeps than sweeps alone would need, damped so that they come to rest. In %
static double findFrequencyError(Actor* actor, const srFleshDials* dials, double hertz) {
    double own = findSag(actor, dials, dials->substeps, dials->dampingRate);
    int32_t enough = srFamily_ChooseSubsteps(actor->family);
    double converged = findSag(actor, dials, CONVERGED * enough, 4.0 * PI * hertz);
    // what has not come to rest by then may be on the other side
    return own > 0.0 ? 100.0 * (sqrt(converged / own) - 1.0) : (double)INFINITY;
}

// flesh as the add-on has it unless told otherwise: what it is made of follows from 2 Hz and the size
static srFleshDials makeTissue(const Actor* actor) {
    srShotParams params = srDefaultShotParams();
    srVec3 low = actor->cage.nodes[0];
    srVec3 high = low;
    for (int32_t i = 1; i < actor->cage.nodeCount; ++i) {
        low = srMin(low, actor->cage.nodes[i]);
        high = srMax(high, actor->cage.nodes[i]);
    }
    srFleshDials dials = actor->dials.matter;
    dials.frequency = (double)params.frequency;
    dials.poissonRatio = (double)params.poissonRatio;
    dials.youngModulus = srYoungModulusForSize(dials.frequency, dials.density, srDistance(low, high));
    return dials;
}

// of those that are asked for unless told otherwise
static int32_t chooseSubsteps(Actor* actor, const srFleshDials* dials) {
    double hertz = findHertz(actor, dials);
    double elastic = sqrt(fmax(hertz * hertz - dials->frequency * dials->frequency, 0.0));
    return srFindSubstepsWithHandles(srDefaultShotParams().substeps, elastic, dials->frameSeconds);
}

// The substeps that the default tissue gets, for all actors
static bool takeSubsteps(Actor* actors) {
    bool isDone = true;
    for (int32_t k = 0; k < actors->plan->copies; ++k) {
        srFleshDials tissue = makeTissue(&actors[k]);
        actors[k].dials.matter.substeps = chooseSubsteps(&actors[k], &tissue);
        isDone = srFamily_Tune(actors[k].family, &actors[k].dials) == sr_success && isDone;
    }
    return isDone;
}

static void addFrequencies(srBenchReport* report, const char* caseName, const Solver* solver, Actor* actor) {
    srFleshDials materials[2] = {actor->dials.matter, makeTissue(actor)};
    static const struct {
        const char* what;
        const char* goal;
    } rows[] = {{"published material", NULL}, {"default tissue", "<= 5"}};
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); ++k) {
        char metric[96];
        srFleshDials* dials = &materials[k];
        double hertz = findHertz(actor, dials);
        dials->substeps = solver->isAsArtistsGet ? chooseSubsteps(actor, dials) : solver->substeps;
        double error = fabs(findFrequencyError(actor, dials, hertz));
        snprintf(metric, sizeof(metric), "%s: %s, first frequency", solver->name, rows[k].what);
        srBench_Add(report, caseName, metric, hertz, "Hz", NULL);
        snprintf(metric, sizeof(metric), "%s: %s, substeps", solver->name, rows[k].what);
        srBench_Add(report, caseName, metric, dials->substeps, "", NULL);
        snprintf(metric, sizeof(metric), "%s: %s, it is off by", solver->name, rows[k].what);
        srBench_Add(report, caseName, metric, error, "%", rows[k].goal);
    }
}

static void addTimes(srBenchReport* report, const Plan* plan, const char* caseName, const char* solver,
                     const Times* times, double largest) {
    const struct {
        const char* what;
        double value;
        const char* unit;
        const char* goal;
    } rows[] = {
        {"skinning", times->skin, "ms", NULL},
        {"solve", times->solve, "ms", NULL},
        {"other", times->other, "ms", NULL},
        {"frame", times->skin + times->solve + times->other, "ms", NULL},
        {"published / ours", plan->published / (times->skin + times->solve + times->other), "", ">= 50"},
        {"farthest from its pose", largest, "m", NULL},
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); ++k) {
        char metric[96];
        snprintf(metric, sizeof(metric), "%s: %s", solver, rows[k].what);
        srBench_Add(report, caseName, metric, rows[k].value, rows[k].unit, rows[k].goal);
    }
}

static void benchCharacter(srBenchReport* report, const Plan* plan) {
    const Solver solvers[] = {
        {"as published", sr_familyComplementary, 0, 1, ITERATIONS, false},
        {"single step, as printed", sr_familySingleStep, 0, 1, ITERATIONS, false},
        {"skinned, then original", sr_familySkinned, 0, 1, ITERATIONS, false},
        {"flesh, sweeps alone", sr_familyFlesh, 0, ITERATIONS, 1, false},
        {"flesh, coarse correction", sr_familyFlesh, SR_USUAL_HANDLES, ITERATIONS, 1, false},
        {"flesh as artists get it", sr_familyFlesh, SR_USUAL_HANDLES, ITERATIONS, 1, true},
    };
    for (size_t k = 0; k < sizeof(solvers) / sizeof(solvers[0]); ++k) {
        Actor actors[MOST_COPIES] = {{0}};
        Actor* actor = actors;
        bool isComplete = true;
        for (int32_t copy = 0; copy < plan->copies; ++copy) {
            isComplete = createActor(plan, copy, &solvers[k], &actors[copy]) && isComplete;
        }
        if (isComplete && solvers[k].isAsArtistsGet) {
            isComplete = takeSubsteps(actors);
        }
        if (isComplete) {
            char caseName[96];
            char metric[96];
            snprintf(caseName, sizeof(caseName), "%s: %d nodes, %d cells, %d bones", plan->name,
                     plan->copies * actor->cage.nodeCount, plan->copies * actor->cage.cellCount,
                     plan->copies * plan->boneCount);
            if (k == 0) {
                srBench_Add(report, caseName, "frame, published", plan->published, "ms", NULL);
            }
            snprintf(metric, sizeof(metric), "%s: substeps", solvers[k].name);
            srBench_Add(report, caseName, metric, actor->dials.matter.substeps, "", NULL);
            double largest;
            Times times = playAll(actors, &largest);
            addTimes(report, plan, caseName, solvers[k].name, &times, largest);
            if (solvers[k].handleCount > 0) {
                addFrequencies(report, caseName, &solvers[k], actor);
            }
        }
        for (int32_t copy = 0; copy < plan->copies; ++copy) {
            destroyActor(&actors[copy]);
        }
    }
}

void srThesisBenchCharacters(srBenchReport* report) {
    for (size_t k = 0; k < sizeof(PLANS) / sizeof(PLANS[0]); ++k) {
        benchCharacter(report, &PLANS[k]);
    }
}
