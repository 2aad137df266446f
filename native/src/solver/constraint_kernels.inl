// SPDX-License-Identifier: GPL-3.0-or-later
//
// Eight distances or volumes at a time. Part of solver_kernels.inl, after cell_kernels.inl.
//
//   dlambda = k (-C - alpha lambda) / (sum of w_a |grad_a C|^2 + alpha),    x_a += w_a grad_a C dlambda
//
// alpha is compliance / h^2, k the stiffness factor of the original method (1 in all others). A volume's C is
// 6 (V - V0): its gradients are cross products of edges, its alpha is 36 times that of V.

// k dlambda; where the constraint pushes one way only, lambda stays on its side of zero
SR_KERNEL srFloatW findMultiplier(const srConstraintSweep* sweep, srFloatW C, srFloatW weighted,
                                  srFloatW alpha, float* multipliers) {
    const srFloatW zero = {0};
    srFloatW lambda = srLoadFloatW(multipliers);
    srFloatW divisor = weighted + alpha;
    srFloatW change = sweep->stiffness * (zero - C - alpha * lambda) / divisor;
    change = srSelect((weighted > zero) & (divisor > zero), change, zero);
    srFloatW sum = lambda + change;
    if (sweep->side != 0) {
        srFloatW held = sweep->side > 0 ? srMinW(sum, zero) : srMaxW(sum, zero);
        change = held - lambda;
        sum = held;
    }
    srStoreFloatW(multipliers, sum);
    return change;
}

SR_KERNEL void moveCorner(const srConstraintSweep* sweep, const int32_t* places, srFloatW row[4],
                          srFloatW scale, Vec gradient) {
    srFloatW s = scale * row[3];
    if (sweep->moves != NULL) {
        srFloatW move[3] = {s * gradient.x, s * gradient.y, s * gradient.z};
        addToPlaces(sweep->moves, places, move);
        return;
    }
    row[0] = row[0] + s * gradient.x;
    row[1] = row[1] + s * gradient.y;
    row[2] = row[2] + s * gradient.z;
    storePlaces(sweep->rows, places, row);
}

// d / |d| with one division for both its uses: the multiplier's change, and that over the length
SR_KERNEL void solveDistanceBlock(const srConstraintSweep* sweep, srDistanceBlock* block) {
    srFloatW a[4], b[4];
    gatherPlaces(sweep->rows, block->places[0], a);
    gatherPlaces(sweep->rows, block->places[1], b);
    Vec d = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    const srFloatW zero = {0};
    srFloatW length = srSqrt(dot(d, d));
    srFloatW weighted = a[3] + b[3];
    srFloatW alpha = srLoadFloatW(block->compliances);
    srFloatW lambda = srLoadFloatW(block->multipliers);
    srFloatW wanted = sweep->stiffness * (srLoadFloatW(block->lengths) - length - alpha * lambda);
    srFloatW divisor = (weighted + alpha) * length;
    srFloatW scale = srSelect((divisor > zero) & (weighted > zero), wanted / divisor, zero);
    srFloatW sum = lambda + scale * length;
    if (sweep->side != 0) {
        sum = sweep->side > 0 ? srMinW(sum, zero) : srMaxW(sum, zero);
        scale = srSelect(length > zero, (sum - lambda) / length, zero);
    }
    srStoreFloatW(block->multipliers, sum);
    moveCorner(sweep, block->places[0], a, scale, d);
    moveCorner(sweep, block->places[1], b, zero - scale, d);
}

SR_KERNEL void solveVolumeBlock(const srConstraintSweep* sweep, srVolumeBlock* block) {
    Corners x;
    for (int corner = 0; corner < 4; corner++) {
        gatherPlaces(sweep->rows, block->places[corner], x.rows[corner]);
    }
    Vec e[3];
    for (int k = 0; k < 3; k++) {
        e[k] = (Vec){x.rows[k + 1][0] - x.rows[0][0], x.rows[k + 1][1] - x.rows[0][1],
                     x.rows[k + 1][2] - x.rows[0][2]};
    }
    const srFloatW zero = {0};
    Vec g[4];
    g[1] = cross(e[1], e[2]);
    g[2] = cross(e[2], e[0]);
    g[3] = cross(e[0], e[1]);
    Vec sum = addVec(addVec(g[1], g[2]), g[3]);
    g[0] = (Vec){zero - sum.x, zero - sum.y, zero - sum.z};
    srFloatW C = dot(e[0], g[1]) - srLoadFloatW(block->sixVolumes);
    srFloatW weighted = x.rows[0][3] * dot(g[0], g[0]) + x.rows[1][3] * dot(g[1], g[1]) +
                        x.rows[2][3] * dot(g[2], g[2]) + x.rows[3][3] * dot(g[3], g[3]);
    srFloatW change =
        findMultiplier(sweep, C, weighted, srLoadFloatW(block->compliances), block->multipliers);
    for (int corner = 0; corner < 4; corner++) {
        moveCorner(sweep, block->places[corner], x.rows[corner], change, g[corner]);
    }
}

static void solveDistances(const srConstraintSweep* sweep, srDistanceBlock* blocks, int32_t begin,
                           int32_t end) {
    if (sweep->moves == NULL && sweep->side == 0) {
        srConstraintSweep plain = {.rows = sweep->rows, .stiffness = sweep->stiffness};
        for (int32_t block = begin; block < end; block++) {
            solveDistanceBlock(&plain, &blocks[block]);
        }
        return;
    }
    for (int32_t block = begin; block < end; block++) {
        solveDistanceBlock(sweep, &blocks[block]);
    }
}

static void solveVolumes(const srConstraintSweep* sweep, srVolumeBlock* blocks, int32_t begin, int32_t end) {
    if (sweep->moves == NULL && sweep->side == 0) {
        srConstraintSweep plain = {.rows = sweep->rows, .stiffness = sweep->stiffness};
        for (int32_t block = begin; block < end; block++) {
            solveVolumeBlock(&plain, &blocks[block]);
        }
        return;
    }
    for (int32_t block = begin; block < end; block++) {
        solveVolumeBlock(sweep, &blocks[block]);
    }
}
