// SPDX-License-Identifier: GPL-3.0-or-later
//
// What building (pbd_rest.c) and stepping (pbd.c) share.

#pragma once

#include "solver/batches.h"
#include "solver/pbd.h"
#include "solver/solver_kernels.h"

/// A node and the bone it was nearest to at rest.
typedef struct srPbdBond {
    int32_t bone;
    float distance;
    float multiplier;
} srPbdBond;

struct srPbd {
    int32_t nodeCount;
    int32_t rowCount;
    int32_t boneCount;
    int32_t mostConstraints; ///< Of any one node; at least 1.
    bool hasHistory;         ///< A step was made since the nodes were placed.
    srBatches edges;
    srBatches cells;
    srDistanceBlock* distances;
    srVolumeBlock* volumes;
    float* edgeFactors;
    float* cellFactors;
    srPbdBond* bonds;
    srVec3f* starts;
    float* rows; ///< x and inverse masses; the others are rows too: x of the steps before, ...
    float* last;
    float* lastLast;
    float* velocities; ///< ... velocities of this step and the one before, ...
    float* lastVelocities;
    float* moves; ///< ... and what Jacobi's constraints want.
};

/// The point of a bone nearest to x; its start when it has no length.
srVec3f srPbd_FindNearest(srVec3f x, srVec3f a, srVec3f b);
