// SPDX-License-Identifier: GPL-3.0-or-later
//
// One frame of the position-based solver. Building its constants is in xpbd_rest.c.
//
// Per substep (Macklin, Storey, Lu, Terdiman, Chentanez, Jeschke, Müller 2019, "Small steps in physics
// simulation"):
//   w <- (w - jump of the rig's velocity, once a frame, + h a) * what damping leaves
//   u <- u + h w
//   per constraint, once:
//     dlambda = -C / (sum_a |grad_a C|^2 / m_a + alpha / h^2)
//     u_a <- u_a + dlambda grad_a C / m_a
//   w <- (u - u before) / h
// Multipliers start from zero in every substep, so their own term in the numerator is zero.

#include "solver/xpbd.h"

#include "core/parallel.h"

#define NODES_PER_BLOCK 1024
#define LEADING_RATE 24.0f    // 1/s: how fast what is inside out goes back to its pose
#define MEASURES_AGREE 1e-5f  // a posed length or volume this near to the modelled one is the modelled one
#define SMALLEST_OFFSET 1e-7f // of the largest: below what a float of the character's size can tell from rest

typedef struct Step {
    const srXpbdRest* rest;
    const srXpbdTuning* tuning;
    const srPrimaryMotion* motion;
    srXpbdState* state;
    float h;
    float fraction; // of the frame, at the end of the substep
    float poseCorrection;
    float lengthScale; // from rest units to the world's
    float volumeScale; // likewise, of six volumes; negative in a mirror
    bool isFirst;
    int32_t parity; // which half of the chunks is being solved
} Step;

static void predictRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const srPrimaryMotion* motion = step->motion;
    const srXpbdState* state = step->state;
    for (int32_t i = begin; i < end; ++i) {
        state->primary[i] =
            srMulAddF(motion->from[i], step->fraction, srSubF(motion->to[i], motion->from[i]));
        srVec3f w = state->velocities[i];
        if (step->isFirst) {
            w = srSubF(w, motion->velocityJump[i]);
        }
        if (motion->acceleration != NULL) {
            w = srMulAddF(w, step->h, motion->acceleration[i]);
        }
        state->previous[i] = state->offsets[i];
        if (step->tuning->inverseMasses[i] > 0.0f) {
            state->offsets[i] = srMulAddF(state->offsets[i], step->h * step->tuning->velocitiesLeft[i], w);
        } else {
            state->offsets[i] = (srVec3f){0.0f, 0.0f, 0.0f};
        }
    }
}

static void finishRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const srXpbdState* state = step->state;
    float perSecond = 1.0f / step->h;
    for (int32_t i = begin; i < end; ++i) {
        srVec3f u = srScaleF(step->tuning->bondFactors[i], state->offsets[i]);
        state->velocities[i] = srScaleF(perSecond, srSubF(u, state->previous[i]));
        state->offsets[i] = u;
    }
}

// what a posed measure (length or volume) is pulled to: itself, or with pose correction towards the modelled
// one
static float targetMeasure(float posed, float modelled, float poseCorrection) {
    float difference = modelled - posed;
    float tolerance = MEASURES_AGREE * fabsf(modelled);
    bool agrees = difference <= tolerance && difference >= -tolerance;
    return poseCorrection == 0.0f || agrees ? posed : posed + poseCorrection * difference;
}

static void solveEdge(const Step* step, int32_t j) {
    srVec3f* u = step->state->offsets;
    const srVec3f* p = step->state->primary;
    const int32_t* ends = step->rest->edges[j];
    float massA = step->tuning->inverseMasses[ends[0]];
    float massB = step->tuning->inverseMasses[ends[1]];

    // C = |p_a + u_a - p_b - u_b| - length; at u = 0 both lengths are the same bits
    srVec3f posed = srSubF(p[ends[0]], p[ends[1]]);
    srVec3f edge = srAddF(posed, srSubF(u[ends[0]], u[ends[1]]));
    float length = srLengthF(edge);
    float modelled = step->rest->edgeLengths[j] * step->lengthScale;
    float target = targetMeasure(srLengthF(posed), modelled, step->poseCorrection);
    float denominator = (massA + massB + step->tuning->edgeCompliances[j]) * length;
    if (!(massA + massB > 0.0f) || !(denominator > 0.0f)) {
        return;
    }
    float scaled = (target - length) / denominator;
    u[ends[0]] = srMulAddF(u[ends[0]], massA * scaled, edge);
    u[ends[1]] = srMulAddF(u[ends[1]], -massB * scaled, edge);
}

static bool areOpposite(float a, float b) {
    return (a < 0.0f && b > 0.0f) || (a > 0.0f && b < 0.0f);
}

// A cell that is inside out may be held so for ever by lengths that are right in a mirror too. On the way to
// its pose it turns round again.
static void leadBack(const Step* step, const int32_t* corners) {
    float left = 1.0f / (1.0f + LEADING_RATE * step->h);
    for (int c = 0; c < 4; ++c) {
        step->state->offsets[corners[c]] = srScaleF(left, step->state->offsets[corners[c]]);
    }
}

static void solveCell(const Step* step, int32_t j) {
    srVec3f* u = step->state->offsets;
    const srVec3f* p = step->state->primary;
    const int32_t* corners = step->rest->cells[j];
    const float* inverseMasses = step->tuning->inverseMasses;

    // three posed edges, and the same three with the offsets
    srVec3f posed[3];
    srVec3f edges[3];
    for (int c = 0; c < 3; ++c) {
        posed[c] = srSubF(p[corners[c + 1]], p[corners[0]]);
        edges[c] = srAddF(posed[c], srSubF(u[corners[c + 1]], u[corners[0]]));
    }

    // C = 6 (V - target); its gradients are the cross products of the edges
    srVec3f gradients[4];
    gradients[1] = srCrossF(edges[1], edges[2]);
    gradients[2] = srCrossF(edges[2], edges[0]);
    gradients[3] = srCrossF(edges[0], edges[1]);
    gradients[0] = srScaleF(-1.0f, srAddF(srAddF(gradients[1], gradients[2]), gradients[3]));
    float modelled = step->rest->cellVolumes[j] * step->volumeScale;
    float posedVolume = srDotF(posed[0], srCrossF(posed[1], posed[2]));
    float target = targetMeasure(posedVolume, modelled, step->poseCorrection);
    float volume = srDotF(edges[0], gradients[1]);
    float C = volume - target;

    float weighted = 0.0f;
    for (int c = 0; c < 4; ++c) {
        weighted += inverseMasses[corners[c]] * srDotF(gradients[c], gradients[c]);
    }
    float denominator = weighted + step->tuning->cellCompliances[j];
    if (!(weighted > 0.0f) || !(denominator > 0.0f)) {
        return;
    }
    float deltaLambda = -C / denominator;
    for (int c = 0; c < 4; ++c) {
        u[corners[c]] = srMulAddF(u[corners[c]], inverseMasses[corners[c]] * deltaLambda, gradients[c]);
    }
    if (areOpposite(volume, posedVolume) && areOpposite(volume, target)) {
        leadBack(step, corners);
    }
}

static void solveEdgeChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const srChunks* chunks = &step->rest->edgeChunks;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        for (int32_t j = chunks->starts[chunk]; j < chunks->starts[chunk + 1]; ++j) {
            solveEdge(step, j);
        }
    }
}

static void solveCellChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const srChunks* chunks = &step->rest->cellChunks;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        for (int32_t j = chunks->starts[chunk]; j < chunks->starts[chunk + 1]; ++j) {
            solveCell(step, j);
        }
    }
}

// even chunks share no node with one another, nor do odd ones (chunks.h)
static void sweep(Step* step, const srChunks* chunks, srRangeFcn* body) {
    for (step->parity = 0; step->parity < 2; ++step->parity) {
        srForChunks(body, chunks->starts, chunks->chunkCount, step->parity, step);
    }
}

static bool isWithin(srVec3f a, float limit) {
    return srDotF(a, a) <= limit * limit;
}

// holds a node within the limit, lets what is too small to see come to rest exactly, and takes NaN out
static int32_t limitOffsets(const Step* step) {
    const srVec3f zero = {0.0f, 0.0f, 0.0f};
    float largest = (float)step->tuning->dials.largestOffset;
    float smallest = SMALLEST_OFFSET * largest;
    float smallestVelocity = smallest / step->h; // rounding alone moves a node so far in a substep
    int32_t limitedCount = 0;
    for (int32_t i = 0; i < step->rest->nodeCount; ++i) {
        srVec3f* u = &step->state->offsets[i];
        srVec3f* w = &step->state->velocities[i];
        if (isWithin(*u, largest) && isWithin(*w, 1e18f)) {
            if (isWithin(*u, smallest) && isWithin(*w, smallestVelocity)) {
                *u = zero;
                *w = zero;
            }
            continue;
        }
        float length = srLengthF(*u);
        bool isFinite = length - length == 0.0f;
        *u = isFinite && length > largest ? srScaleF(largest / length, *u) : isFinite ? *u : zero;
        *w = zero;
        ++limitedCount;
    }
    return limitedCount;
}

int32_t srXpbd_StepFrame(const srXpbdRest* rest, const srXpbdTuning* tuning, const srPrimaryMotion* motion,
                         srXpbdState* state) {
    const srXpbdDials* dials = &tuning->dials;
    double h = dials->frameSeconds / dials->substeps;
    double volumeScale = 6.0 * dials->scale * dials->scale * dials->scale;
    Step step = {
        .rest = rest,
        .tuning = tuning,
        .motion = motion,
        .state = state,
        .h = (float)h,
        .poseCorrection = (float)dials->poseCorrection,
        .lengthScale = (float)dials->scale,
        .volumeScale = (float)(dials->isMirrored ? -volumeScale : volumeScale),
    };
    for (int32_t substep = 1; substep <= dials->substeps; ++substep) {
        step.fraction = (float)substep / (float)dials->substeps;
        step.isFirst = substep == 1;
        srParallelFor(predictRange, rest->nodeCount, NODES_PER_BLOCK, &step);
        sweep(&step, &rest->edgeChunks, solveEdgeChunks);
        sweep(&step, &rest->cellChunks, solveCellChunks);
        srParallelFor(finishRange, rest->nodeCount, NODES_PER_BLOCK, &step);
    }
    return limitOffsets(&step);
}
