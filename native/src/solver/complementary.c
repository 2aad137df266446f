// SPDX-License-Identifier: GPL-3.0-or-later
//
// One frame of the complementary solver: time. What a substep minimises is solved in complementary_newton.c.
//
// The rig moves in straight lines between frames. A new line is a new frame of reference: with v the rig's
// velocity and j = v_new - v_old, what was known of u against the old line is, against the new one,
//   w <- w - j for all w that are remembered,   u_(n-1) <- u_(n-1) + h j,
// exactly so for a formula that is linear in its past. Within a frame the rig has no acceleration.

#include "solver/complementary.h"

#include "core/parallel.h"
#include "math/small.h"
#include "solver/complementary_inner.h"

#include <math.h>
#include <string.h>

#define LARGEST_NUMBER 1e30 // what the rig may ask for; beyond it nothing is solved
#define LARGEST_PRESSURE 1e3
#define LARGEST_TURN 1e9      // of a.a (see findTurnPart)
#define SMALLEST_OFFSET 1e-12 // of the character's size: rest
#define STILL_CHANGE 1e-7     // of the size, a substep: flesh that lies still
#define STUCK_OFFSET 1e-3     // of the size
#define SMALL_OFFSET 1e-8     // likewise: perhaps rest

typedef struct Step {
    const srComplementaryMotion* motion;
    srComplementaryState* state;
    srComplementaryProblem problem;
    double* guess;
    double h;        // of a substep
    double fraction; // of the frame, at the end of the substep
    bool isFirst;
} Step;

// Hands out parts of the scratch; with a null base it counts only.
typedef struct Carving {
    char* base;
    size_t used;
} Carving;

static void* carve(Carving* carving, size_t count, size_t elementSize) {
    void* block = carving->base == NULL ? NULL : carving->base + carving->used;
    carving->used += (count * elementSize + 63) / 64 * 64;
    return block;
}

static void carveProblem(Carving* carving, const srComplementaryRest* rest,
                         const srComplementaryTuning* tuning, Step* step) {
    srComplementaryProblem* problem = &step->problem;
    size_t rows = SR_POINT * (size_t)rest->nodeCount, blocks = (size_t)rest->layout.blockCount;
    double** doubles[] = {&problem->primary,
                          &problem->loads,
                          &problem->pulls,
                          &problem->points,
                          &problem->step,
                          &problem->places[0].offsets,
                          &problem->places[0].gradient,
                          &problem->places[1].offsets,
                          &problem->places[1].gradient,
                          &step->guess};
    for (size_t a = 0; a < sizeof(doubles) / sizeof(doubles[0]); ++a) {
        *doubles[a] = carve(carving, rows, sizeof(double));
    }
    float** floats[] = {&problem->direction, &problem->residuals, &problem->search, &problem->products};
    for (size_t a = 0; a < sizeof(floats) / sizeof(floats[0]); ++a) {
        *floats[a] = carve(carving, rows, sizeof(float));
    }
    const srCellShapes* shapes = &tuning->shapes;
    bool hasGradients =
        shapes->keepsVolumes && (shapes->model == sr_elasticArap || shapes->model == sr_elasticCorotated);
    for (int p = 0; p < 2; ++p) {
        problem->places[p].turns.rotations = carve(carving, blocks, sizeof(srMat3Blockf));
        problem->places[p].turns.turns = carve(carving, blocks, sizeof(srTurnBlockf));
        problem->places[p].turns.gradients =
            hasGradients ? carve(carving, blocks, sizeof(srMat3Blockf)) : NULL;
        problem->places[p].turns.pressures =
            shapes->keepsVolumes ? carve(carving, blocks, sizeof(float)) : NULL;
    }
    problem->stretches.targets = shapes->keepsVolumes ? carve(carving, blocks, sizeof(double)) : NULL;
    bool isPosed = tuning->dials.poseCorrection < 1.0;
    problem->stretches.stretches = isPosed ? carve(carving, blocks, sizeof(srTurnBlock)) : NULL;
    problem->stretches.stretchesF = isPosed ? carve(carving, blocks, sizeof(srTurnBlockf)) : NULL;
    size_t sums = 3 * (size_t)srCountNodeBlocks(rest->nodeCount), chunks = (size_t)rest->layout.chunkCount;
    problem->partials = carve(carving, sums > chunks ? sums : chunks, sizeof(double));
    problem->packed = carve(carving, 3 * (size_t)rest->rows.rowCount + 1, sizeof(float));
    problem->solution = carve(carving, 3 * (size_t)rest->nodeCount + 1, sizeof(float));
    problem->rowScratch =
        carve(carving, SR_POINT * (size_t)srRigRows_GetScratchRowCount(&rest->rows), sizeof(double));
    problem->solveScratch = carve(carving, srFactor_GetScratchSize(&tuning->factor), 1);
}

size_t srComplementary_GetScratchSize(const srComplementaryRest* rest, const srComplementaryTuning* tuning) {
    Carving carving = {0};
    Step step = {0};
    carveProblem(&carving, rest, tuning, &step);
    return carving.used;
}

static bool isNumber(srVec3 x) {
    return fabs(x.x) <= LARGEST_NUMBER && fabs(x.y) <= LARGEST_NUMBER && fabs(x.z) <= LARGEST_NUMBER;
}

static bool isSane(const srComplementaryMotion* motion, int32_t nodeCount) {
    bool isGood = motion->pressure > -1.0 && motion->pressure <= LARGEST_PRESSURE;
    for (int32_t i = 0; i < nodeCount; ++i) {
        isGood = isGood && isNumber(motion->from[i]) && isNumber(motion->to[i]) &&
                 isNumber(motion->velocityJump[i]) && (motion->forces == NULL || isNumber(motion->forces[i]));
    }
    return isGood;
}

static void clear(const srComplementaryState* state, int32_t nodeCount) {
    srVec3* arrays[] = {state->offsets,           state->velocities,        state->earlierOffsets[0],
                        state->earlierOffsets[1], state->earlierVelocities, state->accelerations};
    for (size_t a = 0; a < sizeof(arrays) / sizeof(arrays[0]); ++a) {
        if (arrays[a] != NULL) {
            memset(arrays[a], 0, sizeof(srVec3) * (size_t)nodeCount);
        }
    }
}

// what was remembered of fixed nodes, and what a jump of the rig's velocity made of it
static void clearFixed(const srComplementaryRest* rest, const srComplementaryState* state) {
    srVec3* arrays[] = {state->offsets,           state->velocities,        state->earlierOffsets[0],
                        state->earlierOffsets[1], state->earlierVelocities, state->accelerations};
    for (int32_t k = 0; k < rest->fixedCount; ++k) {
        for (size_t a = 0; a < sizeof(arrays) / sizeof(arrays[0]); ++a) {
            if (arrays[a] != NULL) {
                arrays[a][rest->fixedNodes[k]] = (srVec3){0.0, 0.0, 0.0};
            }
        }
    }
}

static void setRow(double* rows, size_t i, srVec3 x) {
    double* row = rows + SR_POINT * i;
    row[0] = x.x, row[1] = x.y, row[2] = x.z, row[3] = 0.0;
}

// The n-th part of a turn about the same axis: with a = tan(angle / 2) axis a turn is
//   v + 2 / (1 + a.a) (a x v + a x (a x v)),
// and a / n is that of an n-th part but for the third power of the angle. Half a turn has no such a; there
// the turn is left out, as damping is no matter of such frames.
static srVec3 findTurnPart(const srMat3* R, double parts) {
    double least = 1e-3, w = 1.0 + R->m[0][0] + R->m[1][1] + R->m[2][2];
    if (!(w > least)) {
        return (srVec3){0.0, 0.0, 0.0};
    }
    srVec3 a = {R->m[2][1] - R->m[1][2], R->m[0][2] - R->m[2][0], R->m[1][0] - R->m[0][1]};
    a = srScale(1.0 / (w * parts), a);
    return srDot(a, a) <= LARGEST_TURN ? a : (srVec3){0.0, 0.0, 0.0};
}

static srVec3 turnAbout(srVec3 a, srVec3 v) {
    srVec3 once = srCross(a, v);
    return srMulAdd(v, 2.0 / (1.0 + srDot(a, a)), srAdd(once, srCross(a, once)));
}

// What a point would be, of the last two, if it turned with the rig and did nothing else.
static srVec3 carryPoints(const Step* step, size_t i, srVec3 u, srVec3 earlier) {
    const srComplementaryDials* dials = &step->problem.tuning->dials;
    if (step->motion->turns != NULL) {
        srVec3 a = findTurnPart(&step->motion->turns[i], dials->substeps);
        u = turnAbout(a, u);
        earlier = turnAbout(a, turnAbout(a, earlier));
    }
    return dials->integrator == sr_integratorBackwardEuler
               ? u
               : srScale(1.0 / 3.0, srSub(srScale(4.0, u), earlier));
}

// Damping pulls to it. Of the points of the past as they were, because u does not jump where the rig's
// velocity does.
static srVec3 findCarried(const Step* step, size_t i) {
    return carryPoints(step, i, step->state->offsets[i], step->state->earlierOffsets[0][i]);
}

// u = base + h velocity holds without forces
typedef struct Base {
    srVec3 offset;
    srVec3 velocity;
} Base;

// (1 + t) y1 - t/2 y0, over what y2 has
static srVec3 combineLate(double lateness, srVec3 y1, srVec3 y0) {
    double whole = 1.0 + 0.5 * lateness;
    return srSub(srScale((1.0 + lateness) / whole, y1), srScale(0.5 * lateness / whole, y0));
}

// What damping makes of a way, over the mass
static double findDrag(const Step* step, size_t i) {
    double mass = step->problem.tuning->masses[i];
    return mass > 0.0 ? step->problem.tuning->drags[i] / mass : 0.0;
}

// a formula that is less late (settle.h)
static Base findLateBase(const Step* step, size_t i, srVec3 jump) {
    const srComplementaryState* state = step->state;
    double lateness = step->problem.tuning->lateness;
    double early = step->h * (1.0 - lateness) / (2.0 + lateness);
    srVec3 w = srSub(state->velocities[i], jump), earlierW = srSub(state->earlierVelocities[i], jump);
    srVec3 earlier = srMulAdd(state->earlierOffsets[0][i], step->h, jump);
    srVec3 carried = carryPoints(step, i, state->earlierOffsets[0][i], state->earlierOffsets[1][i]);
    srVec3 damped = srSub(state->offsets[i], carried);
    srVec3 acceleration = srMulAdd(state->accelerations[i], -findDrag(step, i), damped);
    return (Base){srMulAdd(combineLate(lateness, state->offsets[i], earlier), early, w),
                  srMulAdd(combineLate(lateness, w, earlierW), early, acceleration)};
}

static Base findBase(const Step* step, size_t i) {
    const srComplementaryState* state = step->state;
    srVec3 jump = step->isFirst ? step->motion->velocityJump[i] : (srVec3){0.0, 0.0, 0.0};
    srVec3 u = state->offsets[i];
    srVec3 w = srSub(state->velocities[i], jump);
    if (step->problem.tuning->dials.integrator == sr_integratorBackwardEuler) {
        return (Base){u, w};
    }
    if (step->problem.tuning->lateness < 1.0) {
        return findLateBase(step, i, jump);
    }
    srVec3 earlier = srMulAdd(state->earlierOffsets[0][i], step->h, jump);
    srVec3 earlierW = srSub(state->earlierVelocities[i], jump);
    return (Base){srScale(1.0 / 3.0, srSub(srScale(4.0, u), earlier)),
                  srScale(1.0 / 3.0, srSub(srScale(4.0, w), earlierW))};
}

// of two finite numbers; fmax is a call
static double findLarger(double a, double b) {
    return a > b ? a : b;
}

// primary, loads, the last offsets, a guess of the new ones
static void prepareRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Step* step = context;
    const srComplementaryTuning* tuning = step->problem.tuning;
    const srComplementaryState* state = step->state;
    double h = tuning->h, farthest = 0.0;
    for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
        srVec3 from = step->motion->from[i];
        srVec3 p = srMulAdd(from, step->fraction, srSub(step->motion->to[i], from));
        setRow(step->problem.primary, i, p);
        farthest = findLarger(farthest, findLarger(fabs(p.x), findLarger(fabs(p.y), fabs(p.z))));
        Base base = findBase(step, i);
        double m = tuning->masses[i];
        srVec3 load = srScale(m / (h * h), srMulAdd(base.offset, h, base.velocity));
        load = srMulAdd(load, tuning->drags[i], findCarried(step, i));
        setRow(step->problem.loads, i, load);
        setRow(step->problem.pulls, i,
               step->motion->forces == NULL ? (srVec3){0.0, 0.0, 0.0} : step->motion->forces[i]);
        srVec3 u = state->offsets[i];
        setRow(step->problem.places[0].offsets, i, u);
        srVec3 change = srSub(u, state->earlierOffsets[0][i]);
        srVec3 guess = srMulAdd(srMulAdd(u, 2.0, change), -1.0,
                                srSub(state->earlierOffsets[0][i], state->earlierOffsets[1][i]));
        setRow(step->guess, i, guess);
    }
    step->problem.partials[(size_t)begin / SR_NODES_PER_BLOCK] = farthest;
}

static void addPullsRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    for (size_t k = SR_POINT * (size_t)begin; k < SR_POINT * (size_t)end; ++k) {
        step->problem.loads[k] += step->problem.pulls[k];
    }
}

static void finishRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Step* step = context;
    srComplementaryState* state = step->state;
    double perSecond = 1.0 / step->problem.tuning->h;
    for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
        const double* row = step->problem.places[0].offsets + SR_POINT * i;
        Base base = findBase(step, i);
        srVec3 u = {row[0], row[1], row[2]}, carried = findCarried(step, i);
        srVec3 jump = step->isFirst ? step->motion->velocityJump[i] : (srVec3){0.0, 0.0, 0.0};
        state->earlierVelocities[i] = srSub(state->velocities[i], jump);
        state->velocities[i] = srScale(perSecond, srSub(u, base.offset));
        if (state->accelerations != NULL) {
            srVec3 acceleration = srScale(perSecond, srSub(state->velocities[i], base.velocity));
            state->accelerations[i] = srMulAdd(acceleration, findDrag(step, i), srSub(u, carried));
        }
        state->earlierOffsets[1][i] = state->earlierOffsets[0][i];
        state->earlierOffsets[0][i] = state->offsets[i];
        state->offsets[i] = u;
    }
}

// the worst row of C u, in parts of the row's length and that of u
static double findOrthogonality(srComplementaryProblem* problem) {
    const srRigRows* rows = &problem->rest->rows;
    if (rows->rowCount == 0) {
        return 0.0;
    }
    const double* u = problem->places[0].offsets;
    double length = 0.0, worst = 0.0;
    for (size_t k = 0; k < SR_POINT * (size_t)rows->nodeCount; ++k) {
        length += u[k] * u[k];
    }
    srRigRows_Multiply(rows, u, problem->rowScratch);
    for (int32_t r = 0; r < rows->rowCount; ++r) {
        const double* y = problem->rowScratch + SR_POINT * (size_t)r;
        double size = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]) / rows->lengths[r];
        worst = size > worst ? size : worst;
    }
    return length > 0.0 ? worst / sqrt(length) : 0.0;
}

// What is left of a motion when its forces are lost in rounding is rest, if at rest they are lost as well.
static bool isCalm(srComplementaryProblem* problem) {
    const srComplementaryRest* rest = problem->rest;
    const double* u = problem->places[0].offsets;
    double largest = 0.0;
    for (size_t k = 0; k < SR_POINT * (size_t)rest->nodeCount; ++k) {
        double size = fabs(u[k]);
        largest = size > largest ? size : largest;
    }
    if (largest == 0.0 || largest > SMALL_OFFSET * rest->size * problem->tuning->dials.scale) {
        return false;
    }
    memcpy(problem->loads, problem->pulls, sizeof(double) * SR_POINT * (size_t)rest->nodeCount);
    srComplementaryPlace* still = &problem->places[1];
    memset(still->offsets, 0, sizeof(double) * SR_POINT * (size_t)rest->nodeCount);
    srComplementary_Evaluate(problem, still);
    return srComplementary_IsNegligible(problem, still->residual);
}

// Whether nothing has moved for two substeps, neither flesh nor rig: a turning point is no stop.
static bool isStill(const Step* step) {
    const srComplementaryProblem* problem = &step->problem;
    const srComplementaryState* state = step->state;
    double least = STILL_CHANGE * problem->rest->size * problem->tuning->dials.scale, farthest = 0.0;
    for (int32_t i = 0; i < problem->rest->nodeCount; ++i) {
        const double* row = problem->places[0].offsets + SR_POINT * (size_t)i;
        srVec3 now = {row[0], row[1], row[2]};
        const double changes[5] = {srDistance(now, state->offsets[i]),
                                   srDistance(state->offsets[i], state->earlierOffsets[0][i]),
                                   srDistance(state->earlierOffsets[0][i], state->earlierOffsets[1][i]),
                                   srDistance(step->motion->to[i], step->motion->from[i]),
                                   step->h * srLength(step->motion->velocityJump[i])};
        for (int k = 0; k < 5; ++k) {
            if (!(changes[k] <= least)) {
                return false;
            }
        }
        farthest = fmax(farthest, srLength(now));
    }
    return farthest > STUCK_OFFSET * problem->rest->size * problem->tuning->dials.scale;
}

// of the place, without what inertia and damping make of the way to it
static double findStaticEnergy(const srComplementaryProblem* problem, const srComplementaryPlace* place) {
    const srComplementaryTuning* tuning = problem->tuning;
    double energy = place->energy, h = tuning->h;
    for (size_t i = 0; i < (size_t)problem->rest->nodeCount; ++i) {
        double held = tuning->masses[i] / (h * h) + tuning->drags[i];
        for (size_t k = SR_POINT * i; k < SR_POINT * (i + 1); ++k) {
            double u = place->offsets[k];
            energy -= (0.5 * held * u - (problem->loads[k] - problem->pulls[k])) * u;
        }
    }
    return energy;
}

// Materials that tell inside from outside by what a cell does not like, neo-Hookean and St. Venant-Kirchhoff,
// may come to rest turned inside out after a jump of the rig. Flesh that lies still where it has more energy
// than it would have at its pose is there.
static bool isStuck(Step* step) {
    srComplementaryProblem* problem = &step->problem;
    srElasticModel model = problem->tuning->dials.model;
    bool mayBe = model == sr_elasticNeoHookean || model == sr_elasticStVenantKirchhoff;
    if (!mayBe || !isStill(step)) {
        return false;
    }
    double energy = findStaticEnergy(problem, &problem->places[0]);
    srComplementaryPlace* posed = &problem->places[1];
    memset(posed->offsets, 0, sizeof(double) * SR_POINT * (size_t)problem->rest->nodeCount);
    srComplementary_Evaluate(problem, posed);
    return posed->energy < energy;
}

// rounding of forces goes with coordinates, of which partials are the largest
static double findForceScale(const srComplementaryProblem* problem) {
    double extent = problem->rest->size * problem->tuning->dials.scale;
    for (int32_t block = 0; block < srCountNodeBlocks(problem->rest->nodeCount); ++block) {
        extent = fmax(extent, problem->partials[block]);
    }
    return problem->tuning->diagonalLength * extent;
}

static void solveSubstep(Step* step) {
    srComplementaryProblem* problem = &step->problem;
    const srComplementaryRest* rest = problem->rest;
    const srComplementaryDials* dials = &problem->tuning->dials;
    srParallelFor(prepareRange, rest->nodeCount, SR_NODES_PER_BLOCK, step);
    problem->forceScale = findForceScale(problem);
    srVec3 pull = dials->gravity, restPull = dials->restGravity;
    bool hasGravity = srDot(pull, pull) > 0.0 || srDot(restPull, restPull) > 0.0;
    if (hasGravity || problem->stretches.stretches != NULL || problem->stretches.targets != NULL) {
        srCellPosing posing = {dials->poseCorrection, step->motion->pressure, pull, restPull};
        srCells_Pose(&rest->layout, &problem->tuning->shapes, &posing, problem->primary, &problem->stretches,
                     hasGravity ? problem->pulls : NULL);
    }
    srParallelFor(addPullsRange, rest->nodeCount, SR_NODES_PER_BLOCK, step);
    // the guess need not be: Newton's steps are projected
    srRigRows_Project(&rest->rows, problem->places[0].offsets, problem->rowScratch);
    srComplementary_Evaluate(problem, &problem->places[0]);
    int32_t newtonCount = problem->stats->newtonCount;
    double residual = srComplementary_Minimize(problem, step->guess);
    if (problem->stats->newtonCount == newtonCount && residual == 0.0 && isCalm(problem)) {
        clear(step->state, rest->nodeCount);
        return;
    }
    if (isStuck(step)) {
        clear(step->state, rest->nodeCount);
        return;
    }
    srRigRows_Project(&rest->rows, problem->places[0].offsets, problem->rowScratch);
    problem->stats->residual = residual > problem->stats->residual ? residual : problem->stats->residual;
    problem->stats->missedCount += !(residual <= dials->tolerance);
    problem->stats->orthogonality = findOrthogonality(problem);
    srParallelFor(finishRange, rest->nodeCount, SR_NODES_PER_BLOCK, step);
    clearFixed(rest, step->state);
}

typedef struct Extremes {
    double longest, fastest; // squared
    double check;            // a NaN where something is not finite
} Extremes;

static void findExtremes(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    Extremes e = {0.0, 0.0, 0.0};
    for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
        srVec3 u = step->state->offsets[i], w = step->state->velocities[i];
        double length = srDot(u, u), speed = srDot(w, w);
        e.longest = length > e.longest ? length : e.longest;
        e.fastest = speed > e.fastest ? speed : e.fastest;
        e.check += 0.0 * length + 0.0 * speed;
    }
    memcpy(step->problem.partials + 3 * ((size_t)begin / SR_NODES_PER_BLOCK), &e, sizeof e);
}

// Offsets that are too long shrink all together, which keeps C u = 0; their motion ends. What is at rest but
// for rounding is at rest.
static void limitOffsets(Step* step) {
    const srComplementaryTuning* tuning = step->problem.tuning;
    const srComplementaryRest* rest = step->problem.rest;
    srComplementaryState* state = step->state;
    double longest = 0.0, fastest = 0.0, check = 0.0;
    srParallelFor(findExtremes, rest->nodeCount, SR_NODES_PER_BLOCK, step);
    for (int32_t block = 0; block < srCountNodeBlocks(rest->nodeCount); ++block) {
        Extremes e;
        memcpy(&e, step->problem.partials + 3 * block, sizeof e);
        longest = fmax(longest, sqrt(e.longest));
        fastest = fmax(fastest, sqrt(e.fastest));
        check += e.check;
    }
    double rest0 = SMALLEST_OFFSET * rest->size * tuning->dials.scale;
    bool isStill = longest <= rest0 && fastest * step->h <= rest0;
    if (check != 0.0 || isStill) {
        step->problem.stats->isLimited = step->problem.stats->isLimited || !isStill;
        clear(state, rest->nodeCount);
    } else if (longest > tuning->dials.largestOffset) {
        double factor = tuning->dials.largestOffset / longest;
        srVec3* offsets = state->offsets;
        for (int32_t i = 0; i < rest->nodeCount; ++i) {
            srVec3 u = srScale(factor, offsets[i]);
            offsets[i] = u;
            state->earlierOffsets[0][i] = u;
            state->earlierOffsets[1][i] = u;
        }
        memset(state->velocities, 0, sizeof(srVec3) * (size_t)rest->nodeCount);
        memset(state->earlierVelocities, 0, sizeof(srVec3) * (size_t)rest->nodeCount);
        if (state->accelerations != NULL) {
            memset(state->accelerations, 0, sizeof(srVec3) * (size_t)rest->nodeCount);
        }
        step->problem.stats->isLimited = true;
    }
}

void srComplementary_StepFrame(const srComplementaryRest* rest, const srComplementaryTuning* tuning,
                               const srComplementaryMotion* motion, srComplementaryState* state,
                               srComplementaryStats* outStats) {
    *outStats = (srComplementaryStats){0};
    if (!isSane(motion, rest->nodeCount)) {
        clear(state, rest->nodeCount);
        outStats->isSkipped = true;
        return;
    }
    Step step = {
        .motion = motion,
        .state = state,
        .h = tuning->dials.frameSeconds / tuning->dials.substeps,
        .problem = {.rest = rest, .tuning = tuning, .stats = outStats},
    };
    Carving carving = {.base = state->scratch};
    carveProblem(&carving, rest, tuning, &step);
    step.problem.stretches.swell = srFindSwell(tuning->dials.model, motion->pressure);
    clearFixed(rest, state);
    for (int32_t substep = 1; substep <= tuning->dials.substeps; ++substep) {
        step.fraction = (double)substep / (double)tuning->dials.substeps;
        step.isFirst = substep == 1;
        solveSubstep(&step);
        limitOffsets(&step);
    }
}
