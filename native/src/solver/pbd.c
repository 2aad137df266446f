// SPDX-License-Identifier: GPL-3.0-or-later
//
// The published family, on the wide kernels of constraint_kernels.inl. Building it is in pbd_rest.c.
//
//   compliant:  y = 2 x_t - x_t-1 + h^2 g        (implicit Euler)
//   BDF2:       y = (4 x_t - x_t-1) / 3 + (8 h v_t - 2 h v_t-1) / 9 + 4 h^2 g / 9,
//               v_t+1 = (3 x_t+1 - 4 x_t + x_t-1) / (2 h); the first step, without x_t-1, is implicit Euler's
//   midpoint:   compliant with h / 2 from x_t to x_m, then x_t+1 = 2 x_m - x_t and likewise for v
//
// Jacobi: a node under n constraints gets the sum of n corrections, of which only a share below 2 / n is sure
// not to diverge. The share is 1 / n for the largest n, of the multipliers too, so that what it converges to
// is what Gauss-Seidel does.

#include "solver/pbd.h"

#include "solver/pbd_parts.h"

#include <math.h>
#include <string.h>

static bool isCompliant(const srPbdDials* dials) {
    return dials->method == sr_pbdCompliant || dials->method == sr_pbdCompliantJacobi ||
           dials->method == sr_pbdMidpoint;
}

// alpha / h^2 of all constraints, and multipliers zero
static void beginStep(srPbd* pbd, const srPbdDials* dials, double h) {
    bool isSoft = isCompliant(dials);
    float edge = isSoft ? (float)(dials->edgeCompliance / (h * h)) : 0.0f;
    float cell = isSoft ? (float)(36.0 * dials->volumeCompliance / (h * h)) : 0.0f;
    for (int32_t k = 0; k < SR_LANES_PER_BLOCK * pbd->edges.batchCount; ++k) {
        int32_t j = pbd->edges.members[k / SR_LANES_PER_BLOCK][k % SR_LANES_PER_BLOCK];
        srDistanceBlock* block = &pbd->distances[k / SR_LANES_PER_BLOCK];
        block->multipliers[k % SR_LANES_PER_BLOCK] = 0.0f;
        block->compliances[k % SR_LANES_PER_BLOCK] = j == SR_NULL_INDEX ? 0.0f : edge * pbd->edgeFactors[j];
    }
    for (int32_t k = 0; k < SR_LANES_PER_BLOCK * pbd->cells.batchCount; ++k) {
        int32_t j = pbd->cells.members[k / SR_LANES_PER_BLOCK][k % SR_LANES_PER_BLOCK];
        srVolumeBlock* block = &pbd->volumes[k / SR_LANES_PER_BLOCK];
        block->multipliers[k % SR_LANES_PER_BLOCK] = 0.0f;
        block->compliances[k % SR_LANES_PER_BLOCK] = j == SR_NULL_INDEX ? 0.0f : cell * pbd->cellFactors[j];
    }
    for (int32_t i = 0; i < pbd->nodeCount; ++i) {
        pbd->bonds[i].multiplier = 0.0f;
    }
}

// the unconstrained motion; what has no mass stays
static void predict(srPbd* pbd, const srPbdDials* dials, float h) {
    bool isSecondOrder = dials->method == sr_pbdBdf2 && pbd->hasHistory;
    const float g[3] = {dials->gravity.x, dials->gravity.y, dials->gravity.z};
    for (int32_t k = 0; k < 3 * pbd->nodeCount; ++k) {
        size_t at = 4 * (size_t)(k / 3) + (size_t)(k % 3);
        float now = pbd->rows[at];
        float before = pbd->last[at];
        float w = pbd->rows[4 * (size_t)(k / 3) + 3];
        float y = now;
        if (w > 0.0f && isSecondOrder) {
            y = (4.0f * now - before) / 3.0f +
                h * (8.0f * pbd->velocities[at] - 2.0f * pbd->lastVelocities[at]) / 9.0f +
                4.0f / 9.0f * h * h * g[k % 3];
        } else if (w > 0.0f) {
            y = now + h * pbd->velocities[at] + h * h * g[k % 3];
        }
        pbd->lastLast[at] = before;
        pbd->last[at] = now;
        pbd->rows[at] = y;
    }
}

// what a step of damping leaves of a velocity: exp(-rate h) but for the third power of rate h
static double keptVelocity(const srPbdDials* dials, double h) {
    double half = 0.5 * dials->dampingRate * h;
    return half > 0.0 ? (half < 1.0 ? (1.0 - half) / (1.0 + half) : 0.0) : 1.0;
}

// BDF2 takes 4/3 of a velocity and -1/3 of the one before. With both scaled by k it leaves z of it, where
// z^2 = k (4 z - 1) / 3; k is least, 3/4, for a half, and what is below that leaves as much less of k.
static double scaleOfBdf2(double kept) {
    return kept > 0.5 ? 3.0 * kept * kept / (4.0 * kept - 1.0) : 1.5 * kept;
}

static void finish(srPbd* pbd, const srPbdDials* dials, float h) {
    bool isSecondOrder = dials->method == sr_pbdBdf2 && pbd->hasHistory;
    bool isMiddle = dials->method == sr_pbdMidpoint;
    double left = keptVelocity(dials, isMiddle ? 2.0 * (double)h : (double)h);
    float kept = (float)(isSecondOrder ? scaleOfBdf2(left) : left);
    for (int32_t k = 0; k < 3 * pbd->nodeCount; ++k) {
        size_t at = 4 * (size_t)(k / 3) + (size_t)(k % 3);
        float last = pbd->velocities[at];
        float now = isSecondOrder
                        ? (3.0f * pbd->rows[at] - 4.0f * pbd->last[at] + pbd->lastLast[at]) / (2.0f * h)
                        : (pbd->rows[at] - pbd->last[at]) / h;
        if (isMiddle) {
            pbd->rows[at] = 2.0f * pbd->rows[at] - pbd->last[at];
            now = 2.0f * now - last;
        }
        pbd->lastVelocities[at] = last;
        pbd->velocities[at] = kept * now;
    }
}

static srVec3f readRow(const float* rows, int32_t i) {
    const float* row = rows + 4 * (size_t)i;
    return (srVec3f){row[0], row[1], row[2]};
}

// keeps each node's distance from the nearest point of its bone
static void solveBonds(srPbd* pbd, const srPbdDials* dials, const srVec3f* boneEnds, float alpha,
                       float stiffness) {
    if (boneEnds == NULL || dials->boneCompliance < 0.0 || pbd->boneCount == 0) {
        return;
    }
    for (int32_t i = 0; i < pbd->nodeCount; ++i) {
        float* row = pbd->rows + 4 * (size_t)i;
        srPbdBond* bond = &pbd->bonds[i];
        srVec3f x = readRow(pbd->rows, i);
        srVec3f d = srSubF(x, srPbd_FindNearest(x, boneEnds[2 * bond->bone], boneEnds[2 * bond->bone + 1]));
        float length = srLengthF(d);
        float divisor = (row[3] + alpha) * length;
        if (!(row[3] > 0.0f) || !(divisor > 0.0f)) {
            continue;
        }
        float scale = stiffness * (bond->distance - length - alpha * bond->multiplier) / divisor;
        bond->multiplier += scale * length;
        x = srMulAddF(x, row[3] * scale, d);
        memcpy(row, &x, sizeof(x));
    }
}

// out of the floor, and with friction of at most the depth times its coefficient
static void solveFloor(srPbd* pbd, const srPbdDials* dials) {
    float height = (float)dials->floorHeight;
    for (int32_t i = 0; dials->hasFloor && i < pbd->nodeCount; ++i) {
        float* row = pbd->rows + 4 * (size_t)i;
        const float* start = pbd->last + 4 * (size_t)i;
        float depth = height - row[1];
        if (!(depth > 0.0f) || !(row[3] > 0.0f)) {
            continue;
        }
        row[1] = height;
        float dx = row[0] - start[0];
        float dz = row[2] - start[2];
        float slid = sqrtf(dx * dx + dz * dz);
        float held = (float)dials->friction * depth;
        float share = slid > held ? held / slid : 1.0f;
        row[0] -= slid > 0.0f ? share * dx : 0.0f;
        row[2] -= slid > 0.0f ? share * dz : 0.0f;
    }
}

static void iterate(srPbd* pbd, const srPbdDials* dials, const srVec3f* boneEnds, float h) {
    const srSolverKernels* kernels = srGetSolverKernels();
    bool isJacobi = dials->method == sr_pbdCompliantJacobi;
    float stiffness = isJacobi             ? 1.0f / (float)pbd->mostConstraints
                      : isCompliant(dials) ? 1.0f
                                           : (float)dials->stiffness;
    srConstraintSweep sweep = {
        .rows = pbd->rows,
        .moves = isJacobi ? pbd->moves : NULL,
        .stiffness = stiffness,
        .side = dials->edgeSide == sr_pbdPullsOnly    ? 1
                : dials->edgeSide == sr_pbdPushesOnly ? -1
                                                      : 0,
    };
    size_t rowBytes = 4 * (size_t)pbd->rowCount * sizeof(float);
    if (isJacobi) {
        memset(pbd->moves, 0, rowBytes);
    }
    kernels->solveDistances(&sweep, pbd->distances, 0, pbd->edges.batchCount);
    sweep.side = 0;
    kernels->solveVolumes(&sweep, pbd->volumes, 0, pbd->cells.batchCount);
    for (int32_t k = 0; isJacobi && k < 4 * pbd->nodeCount; ++k) {
        pbd->rows[k] += pbd->moves[k];
    }
    float alpha = isCompliant(dials) ? (float)(dials->boneCompliance / ((double)h * (double)h)) : 0.0f;
    solveBonds(pbd, dials, boneEnds, alpha, isJacobi ? 1.0f : stiffness);
    solveFloor(pbd, dials);
}

// where skinning puts what has no mass, and all when each frame forgets the last
static void followSkinning(srPbd* pbd, const srPbdDials* dials, const srVec3f* skinned) {
    for (int32_t i = 0; skinned != NULL && i < pbd->nodeCount; ++i) {
        float* row = pbd->rows + 4 * (size_t)i;
        bool isPlaced = !(row[3] > 0.0f);
        if (!isPlaced && !dials->forgetsEachFrame) {
            continue;
        }
        // y = 2 x_t - x_t-1, with x_t the skinned pose and x_t-1 the last result
        srVec3f moved = srSubF(skinned[i], readRow(pbd->rows, i));
        srVec3f velocity = srScaleF((float)(dials->substeps / dials->frameSeconds), moved);
        memcpy(row, &skinned[i], sizeof(skinned[i]));
        if (!isPlaced) {
            memcpy(pbd->velocities + 4 * (size_t)i, &velocity, sizeof(velocity));
        }
    }
}

static int32_t replaceBroken(srPbd* pbd) {
    int32_t count = 0;
    for (int32_t i = 0; i < pbd->nodeCount; ++i) {
        float* row = pbd->rows + 4 * (size_t)i;
        float* v = pbd->velocities + 4 * (size_t)i;
        float sum = row[0] + row[1] + row[2] + v[0] + v[1] + v[2];
        if (sum - sum == 0.0f) {
            continue;
        }
        srVec3f start = pbd->starts[i];
        memcpy(row, &start, sizeof(start));
        memcpy(pbd->last + 4 * (size_t)i, &start, sizeof(start));
        memset(v, 0, 3 * sizeof(float));
        memset(pbd->lastVelocities + 4 * (size_t)i, 0, 3 * sizeof(float));
        ++count;
    }
    return count;
}

int32_t srPbd_StepFrame(srPbd* pbd, const srPbdDials* dials, const srVec3f* boneEnds,
                        const srVec3f* skinned) {
    double h = dials->frameSeconds / dials->substeps;
    followSkinning(pbd, dials, skinned);
    for (int32_t substep = 0; substep < dials->substeps; ++substep) {
        double solved = dials->method == sr_pbdMidpoint ? 0.5 * h : h;
        beginStep(pbd, dials, solved);
        predict(pbd, dials, (float)solved);
        for (int32_t i = 0; i < dials->iterations; ++i) {
            iterate(pbd, dials, boneEnds, (float)solved);
        }
        finish(pbd, dials, (float)solved);
        pbd->hasHistory = true;
    }
    return replaceBroken(pbd);
}

void srPbd_Place(srPbd* pbd, const srVec3f* positions) {
    size_t bytes = 4 * (size_t)pbd->rowCount * sizeof(float);
    for (int32_t i = 0; i < pbd->nodeCount; ++i) {
        memcpy(pbd->rows + 4 * (size_t)i, &positions[i], sizeof(positions[i]));
    }
    memcpy(pbd->last, pbd->rows, bytes);
    memcpy(pbd->lastLast, pbd->rows, bytes);
    memset(pbd->velocities, 0, bytes);
    memset(pbd->lastVelocities, 0, bytes);
    pbd->hasHistory = false;
}

void srPbd_Read(const srPbd* pbd, srVec3f* outPositions) {
    for (int32_t i = 0; i < pbd->nodeCount; ++i) {
        outPositions[i] = readRow(pbd->rows, i);
    }
}
