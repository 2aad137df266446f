// SPDX-License-Identifier: GPL-3.0-or-later
//
// How fast flesh swings after a stop, before anything is played. A push that moves all of it alike, held for
// ever, bends it about as the swing does which it begins with; of that shape u, with K u = f,
//   omega^2 = u'K u / u'M u = u'f / u'M u   (Rayleigh), wrong only by the square of what the shape is.
// Sums over the three axes weigh each push by how far it moves the flesh.

#include "core/alloc.h"
#include "solver/complementary.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define LONG_FRAME 1e3  // swings, with the quickest of which no inertia is left
#define SMALL_PUSH 1e-3 // of the size, and less: where forces are linear
#define TOLERANCE 1e-2

// Scratch of the measuring.
typedef struct Push {
    srVec3* arrays[8]; // of the state; what never jumps; forces
    void* scratch;
    size_t scratchSize;
} Push;

static srResult allocatePush(const srComplementaryRest* rest, const srComplementaryTuning* tuning,
                             Push* push) {
    bool isWhole = true;
    for (int k = 0; k < 8; ++k) {
        push->arrays[k] = SR_ALLOC_ZERO(srVec3, rest->nodeCount);
        isWhole = isWhole && push->arrays[k] != NULL;
    }
    push->scratchSize = srComplementary_GetScratchSize(rest, tuning);
    push->scratch = srAlloc(push->scratchSize, 1);
    return isWhole && push->scratch != NULL ? sr_success : srFailOutOfMemory("the solver");
}

static void freePush(const srComplementaryRest* rest, Push* push) {
    for (int k = 0; k < 8; ++k) {
        SR_FREE(push->arrays[k], rest->nodeCount);
    }
    srFree(push->scratch, push->scratchSize, 1);
}

typedef struct Sums {
    double work, pulled, square;
} Sums;

// adds what becomes of flesh that is pushed by the force of all its mass along an axis
static void pushAlong(const srComplementaryRest* rest, const srComplementaryTuning* tuning,
                      const srVec3* nodes, const Push* push, int axis, Sums* sums) {
    double omega = 2.0 * PI * tuning->dials.frequency;
    double pace = omega * omega * SMALL_PUSH * rest->size * tuning->dials.scale;
    srVec3* forces = push->arrays[7];
    for (int k = 0; k < 7; ++k) {
        memset(push->arrays[k], 0, sizeof(srVec3) * (size_t)rest->nodeCount);
    }
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        double force = tuning->masses[i] * pace;
        forces[i] = (srVec3){axis == 0 ? force : 0.0, axis == 1 ? force : 0.0, axis == 2 ? force : 0.0};
    }
    srVec3* const* a = push->arrays;
    srComplementaryState state = {a[0], a[1], {a[2], a[3]}, a[4], push->scratch, a[5]};
    srComplementaryMotion motion = {.from = nodes, .to = nodes, .velocityJump = a[6], .forces = forces};
    srComplementaryStats stats;
    srComplementary_StepFrame(rest, tuning, &motion, &state, &stats);
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        double m = tuning->masses[i], own = srDot(a[0][i], a[0][i]);
        sums->work += srDot(forces[i], a[0][i]);
        sums->square += m * own;
        // what is left of the diagonal without inertia is the pull
        sums->pulled += (tuning->diagonal[i] - m / (tuning->h * tuning->h)) * own;
    }
}

srResult srFindComplementarySwing(const srComplementaryRest* rest, const srVec3* nodes,
                                  const srComplementaryDials* dials, srComplementaryTuning* tuning,
                                  srComplementarySwing* outSwing) {
    srComplementaryDials still = *dials;
    still.integrator = sr_integratorBackwardEuler;
    still.substeps = 1;
    still.frameSeconds = LONG_FRAME / dials->frequency;
    still.dampingRate = still.swingFrequency = 0.0;
    still.tolerance = TOLERANCE;
    SR_TRY(srComplementaryTuning_Set(tuning, rest, &still));
    Push push = {0};
    srResult result = allocatePush(rest, tuning, &push);
    Sums sums = {0.0, 0.0, 0.0};
    for (int axis = 0; axis < 3 && result == sr_success; ++axis) {
        pushAlong(rest, tuning, nodes, &push, axis, &sums);
    }
    double omega = 2.0 * PI * dials->frequency, unit = omega * omega * sums.square;
    *outSwing = (srComplementarySwing){0.0, 0.0};
    if (result == sr_success && unit > 0.0) {
        *outSwing = (srComplementarySwing){sums.pulled / unit, fmax(sums.work - sums.pulled, 0.0) / unit};
    }
    freePush(rest, &push);
    return result;
}
