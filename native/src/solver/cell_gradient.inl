// SPDX-License-Identifier: GPL-3.0-or-later
//
// Energy, gradient and posed stretch of the cells, in double. Part of a kernel text: include it after
// cell_blocks.inl.

#define SR_CELLS_TOGETHER SR_ROTATIONS_TOGETHER

// four doubles as floats
SR_KERNEL void storeNarrow(float* out, SR_V x) {
    srRowFloat narrow = __builtin_convertvector(x, srRowFloat);
    srStoreRowFloat(out, narrow);
}

// S = Q' G, symmetric
SR_KERNEL Turn stretchOf(const Mat* Q, const Mat* G) {
    return (Turn){dot(Q->a, G->a),
                  dot(Q->b, G->b),
                  dot(Q->c, G->c),
                  0.5 * (dot(Q->a, G->b) + dot(Q->b, G->a)),
                  0.5 * (dot(Q->b, G->c) + dot(Q->c, G->b)),
                  0.5 * (dot(Q->c, G->a) + dot(Q->a, G->c))};
}

// Q, and S where its inverse will stand
SR_KERNEL void storeTurns(const srCellTurns* turns, int32_t v, const Mat* Q, const Mat* G) {
    int32_t lane = SR_LANE(v);
    srMat3Blockf* R = &turns->rotations[SR_BLOCK(v)];
    const Vec columns[3] = {Q->a, Q->b, Q->c};
    for (int j = 0; j < 3; j++) {
        storeNarrow(&R->m[0][j][lane], columns[j].x);
        storeNarrow(&R->m[1][j][lane], columns[j].y);
        storeNarrow(&R->m[2][j][lane], columns[j].z);
    }
    Turn S = stretchOf(Q, G);
    srTurnBlockf* t = &turns->turns[SR_BLOCK(v)];
    const SR_V entries[6] = {S.xx, S.yy, S.zz, S.xy, S.yz, S.zx};
    for (int k = 0; k < 6; k++) {
        storeNarrow(&t->t[k][lane], entries[k]);
    }
}

SR_KERNEL void evaluateSome(const srCellTask* task, int32_t v, const int count, const bool isPosed,
                            SR_V* energy) {
    Mat F[SR_CELLS_TOGETHER], posed[SR_CELLS_TOGETHER], Q[SR_CELLS_TOGETHER];
    const Mat* G = isPosed ? posed : F;
    for (int i = 0; i < count; i++) {
        int32_t block = SR_BLOCK(v + i), lane = SR_LANE(v + i);
        Mat D = edgesOf(task->points, &task->layout->corners[block], lane);
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        F[i] = mulMats(&D, &B);
        if (isPosed) {
            Turn S = loadSymmetric(&task->stretches->stretches[block], lane);
            posed[i] = mulSymmetric(&F[i], &S);
        }
    }
    nearestRotations(G, count, Q);
    for (int i = 0; i < count; i++) {
        int32_t block = SR_BLOCK(v + i), lane = SR_LANE(v + i);
        storeTurns(task->turns, v + i, &Q[i], &G[i]);
        const SR_V one = (SR_V){0} + 1.0;
        Mat off;
        if (isPosed) {
            Turn S = loadSymmetric(&task->stretches->stretches[block], lane);
            Mat target = mulSymmetric(&Q[i], &S);
            off = weighedDifference(one, &F[i], &target);
        } else {
            off = weighedDifference(one, &F[i], &Q[i]);
        }
        SR_V w = LoadW(&task->shapes->weights[block].x[lane]);
        *energy += w * (dot(off.a, off.a) + dot(off.b, off.b) + dot(off.c, off.c));
        Mat P = {scaled(w, off.a), scaled(w, off.b), scaled(w, off.c)};
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        addForces(task->forces, &task->layout->corners[block], lane, &P, &B);
    }
}

SR_KERNEL SR_V evaluateRange(const srCellTask* task, int32_t begin, int32_t end, const bool isPosed) {
    SR_V energy = {0};
    int32_t v = SR_WIDES * begin, last = SR_WIDES * end;
    for (; v <= last - SR_CELLS_TOGETHER; v += SR_CELLS_TOGETHER) {
        evaluateSome(task, v, SR_CELLS_TOGETHER, isPosed, &energy);
    }
    for (; v < last; v++) {
        evaluateSome(task, v, 1, isPosed, &energy);
    }
    for (int32_t block = begin; block < end; block++) {
        invertStretchesFloatW(&task->turns->turns[block], 0);
    }
    return energy;
}

// Of another material: its energy is added twice.
SR_KERNEL void evaluateMaterial(const srCellTask* task, int32_t v, const int model, SR_V* energy) {
    int32_t block = SR_BLOCK(v), lane = SR_LANE(v);
    Mat D = edgesOf(task->points, &task->layout->corners[block], lane);
    Mat B = loadCellMat(&task->shapes->inverses[block], lane);
    Mat F = mulMats(&D, &B), R, P;
    SR_V mu = 0.5 * LoadW(&task->shapes->weights[block].x[lane]);
    SR_V lambda = LoadW(&task->shapes->bulkWeights[block].x[lane]), psi;
    if (model == sr_elasticCorotated) {
        nearestRotations(&F, 1, &R);
        psi = corotated(&F, &R, mu, lambda, &P);
        storeTurns(task->turns, v, &R, &F);
    } else {
        psi = model == sr_elasticNeoHookean ? neoHookean(&F, mu, lambda, &P)
                                            : stVenantKirchhoff(&F, mu, lambda, &P);
        storeTurns(task->turns, v, &F, &F);
    }
    *energy += psi + psi;
    addForces(task->forces, &task->layout->corners[block], lane, &P, &B);
}

SR_KERNEL SR_V evaluateMaterials(const srCellTask* task, int32_t begin, int32_t end) {
    SR_V energy = {0};
    for (int32_t v = SR_WIDES * begin; v < SR_WIDES * end; v++) {
        switch (task->shapes->model) {
        case sr_elasticNeoHookean:
            evaluateMaterial(task, v, sr_elasticNeoHookean, &energy);
            break;
        case sr_elasticStVenantKirchhoff:
            evaluateMaterial(task, v, sr_elasticStVenantKirchhoff, &energy);
            break;
        default:
            evaluateMaterial(task, v, sr_elasticCorotated, &energy);
        }
    }
    for (int32_t block = begin; task->shapes->model == sr_elasticCorotated && block < end; block++) {
        invertStretchesFloatW(&task->turns->turns[block], 0);
    }
    return energy;
}

static double evaluateCells(const srCellTask* task, int32_t begin, int32_t end) {
    if (task->shapes->model != sr_elasticArap) {
        SR_V sum = evaluateMaterials(task, begin, end);
        return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
    bool isPosed = task->stretches->stretches != NULL;
    SR_V energy = isPosed ? evaluateRange(task, begin, end, true) : evaluateRange(task, begin, end, false);
    return 0.5 * ((energy[0] + energy[1]) + (energy[2] + energy[3]));
}

// S = (1 - c) S_p + c I
SR_KERNEL void storeStretch(const srCellTask* task, int32_t v, const Mat* F, const Mat* R) {
    int32_t lane = SR_LANE(v);
    SR_V c = (SR_V){0} + task->posing->poseCorrection;
    SR_V left = 1.0 - c;
    Turn S = stretchOf(R, F);
    const SR_V entries[6] = {left * S.xx + c, left * S.yy + c, left * S.zz + c,
                             left * S.xy,     left * S.yz,     left * S.zx};
    for (int k = 0; k < 6; k++) {
        srStoreDoubleW(&task->stretches->stretches[SR_BLOCK(v)].t[k][lane], entries[k]);
        storeNarrow(&task->stretches->stretchesF[SR_BLOCK(v)].t[k][lane], cutLength(entries[k]));
    }
}

// m (gravity - R restGravity) on each corner
SR_KERNEL void addGravity(const srCellTask* task, int32_t v, const Mat* R) {
    int32_t block = SR_BLOCK(v), lane = SR_LANE(v);
    SR_V m = LoadW(&task->shapes->masses[block].x[lane]);
    srVec3 g = task->posing->gravity, rest = task->posing->restGravity;
    const SR_V zero = {0};
    Vec turned = mulMat(R, (Vec){zero + rest.x, zero + rest.y, zero + rest.z});
    const SR_V pull[3] = {m * (g.x - turned.x), m * (g.y - turned.y), m * (g.z - turned.z)};
    for (int c = 0; c < 4; c++) {
        ScatterRows(task->forces, &task->layout->corners[block].nodes[c][lane], pull);
    }
}

SR_KERNEL void poseSome(const srCellTask* task, int32_t v, const int count) {
    Mat F[SR_CELLS_TOGETHER], R[SR_CELLS_TOGETHER];
    for (int i = 0; i < count; i++) {
        int32_t block = SR_BLOCK(v + i), lane = SR_LANE(v + i);
        Mat D = edgesOf(task->points, &task->layout->corners[block], lane);
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        F[i] = mulMats(&D, &B);
    }
    nearestRotations(F, count, R);
    for (int i = 0; i < count; i++) {
        if (task->stretches->stretches != NULL) {
            storeStretch(task, v + i, &F[i], &R[i]);
        }
        if (task->forces != NULL) {
            addGravity(task, v + i, &R[i]);
        }
    }
}

static void poseCells(const srCellTask* task, int32_t begin, int32_t end) {
    int32_t v = SR_WIDES * begin, last = SR_WIDES * end;
    for (; v <= last - SR_CELLS_TOGETHER; v += SR_CELLS_TOGETHER) {
        poseSome(task, v, SR_CELLS_TOGETHER);
    }
    for (; v < last; v++) {
        poseSome(task, v, 1);
    }
}
