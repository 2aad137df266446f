// SPDX-License-Identifier: GPL-3.0-or-later
//
// Energy, gradient and posed stretch of the cells, in double. Part of a kernel text: include it after
// cell_blocks.inl.

// whole blocks
#define SR_CELLS_TOGETHER (SR_ROTATIONS_TOGETHER > SR_WIDES ? SR_ROTATIONS_TOGETHER : SR_WIDES)

SR_KERNEL void rotateSome(const Mat* G, const int count, Mat* Q) {
    const int some = count < SR_ROTATIONS_TOGETHER ? count : SR_ROTATIONS_TOGETHER;
    for (int i = 0; i < count; i += some) {
        nearestRotations(G + i, some, Q + i);
    }
}

// doubles as floats
SR_KERNEL void storeNarrow(float* out, SR_V x) {
#if SR_LANES == 8
    srStoreFloatW(out, __builtin_convertvector(x, srFloatW));
#else
    srStoreRowFloat(out, __builtin_convertvector(x, srRowFloat));
#endif
}

// Four sums on every path: half a block after the other.
SR_KERNEL void addLanes(srRowDouble* sums, SR_V x) {
#if SR_LANES == 8
    *sums += SR_LOWER_ROW(x);
    *sums += SR_UPPER_ROW(x);
#else
    *sums += (srRowDouble)x;
#endif
}

SR_KERNEL double sumFour(srRowDouble sums) {
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
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

SR_KERNEL void storeMatNarrow(srMat3Blockf* out, int32_t lane, const Mat* A) {
    const Vec columns[3] = {A->a, A->b, A->c};
    for (int j = 0; j < 3; j++) {
        storeNarrow(&out->m[0][j][lane], columns[j].x);
        storeNarrow(&out->m[1][j][lane], columns[j].y);
        storeNarrow(&out->m[2][j][lane], columns[j].z);
    }
}

SR_KERNEL void storeTurnNarrow(srTurnBlockf* out, int32_t lane, const Turn* A) {
    const SR_V entries[6] = {A->xx, A->yy, A->zz, A->xy, A->yz, A->zx};
    for (int k = 0; k < 6; k++) {
        storeNarrow(&out->t[k][lane], entries[k]);
    }
}

// How Q turns where the closed form does not say it
static SR_COLD void repairTurns(const Mat* Q, const Mat* G, SR_MASK isGood, srTurnBlockf* out, int32_t lane) {
    srTurnBlockf inverse = {0};
    Turn S = stretchOf(Q, G);
    storeTurnNarrow(&inverse, 0, &S);
    invertStretchesFloatW(&inverse, 0);
    int32_t good = SR_NAME(srBitsOfMask)(isGood);
    for (int i = 0; i < SR_LANES; i++) {
        for (int k = 0; k < 6 && (good >> i & 1) == 0; k++) {
            out->t[k][lane + i] = inverse.t[k][i];
        }
    }
}

// Rotations of `count` wides from `v` on, and how they turn
SR_KERNEL void rotateAndStore(const srCellTurns* turns, int32_t v, const Mat* G, const int count, Mat* Q) {
    const int some = count < SR_ROTATIONS_TOGETHER ? count : SR_ROTATIONS_TOGETHER;
    for (int i = 0; i < count; i += some) {
        Turn T[SR_ROTATIONS_TOGETHER];
        SR_MASK isGood[SR_ROTATIONS_TOGETHER];
        nearestQuickTurns(G + i, some, Q + i, T, isGood);
        for (int k = 0; k < some; k++) {
            int32_t block = SR_BLOCK(v + i + k), lane = SR_LANE(v + i + k);
            storeMatNarrow(&turns->rotations[block], lane, &Q[i + k]);
            storeTurnNarrow(&turns->turns[block], lane, &T[k]);
            if (!isEverywhere(isGood[k])) {
                repairTurns(&Q[i + k], &G[i + k], isGood[k], &turns->turns[block], lane);
            }
        }
    }
}

// the volume of a block, which begins at `v`; pairs of lanes first
SR_KERNEL double sumVolumes(const srCellTask* task, int32_t v, const Mat* F) {
    srRowDouble sums = {0};
    for (int i = 0; i < SR_WIDES; i++) {
        Mat C = cofactors(&F[i]);
        addLanes(&sums, LoadW(&task->shapes->volumes[SR_BLOCK(v + i)].x[SR_LANE(v + i)]) * dot(F[i].a, C.a));
    }
    return sumFour(sums);
}

// p of a block; adds its energy twice
SR_KERNEL double findPressure(const srCellTask* task, int32_t v, const Mat* F, srRowDouble* energy) {
    int32_t block = SR_BLOCK(v);
    double excess = sumVolumes(task, v, F) - task->stretches->targets[block];
    double p = task->shapes->patchStiffnesses[block] * excess;
    const srRowDouble once = {p * excess, 0.0, 0.0, 0.0};
    *energy += once;
    task->turns->pressures[block] = (float)p;
    return p;
}

// P += p V cof F
SR_KERNEL void addPressure(const srCellTask* task, int32_t v, double p, const Mat* F, Mat* P) {
    Mat C = cofactors(F);
    const SR_V one = (SR_V){0} + 1.0;
    *P = combine(one, P, p * LoadW(&task->shapes->volumes[SR_BLOCK(v)].x[SR_LANE(v)]), &C);
}

SR_KERNEL void fetchGradient(const srCellTask* task, int32_t block, const bool isPosed) {
    fetchLines(&task->layout->corners[block], sizeof(srCellCorners));
    fetchLines(&task->shapes->inverses[block], sizeof(srMat3Block));
    fetchLines(&task->turns->rotations[block], sizeof(srMat3Blockf));
    fetchLines(&task->turns->turns[block], sizeof(srTurnBlockf));
    if (isPosed) {
        fetchLines(&task->stretches->stretches[block], sizeof(srTurnBlock));
    }
}

// The energy of pressure has a sum of its own: so neither depends on how many cells go together, which the
// processor decides.
SR_KERNEL void evaluateSome(const srCellTask* task, int32_t v, const int count, const bool isPosed,
                            const bool isPressed, srRowDouble* energy, srRowDouble* pressed) {
    Mat F[SR_CELLS_TOGETHER], posed[SR_CELLS_TOGETHER], Q[SR_CELLS_TOGETHER];
    double p[SR_CELLS_TOGETHER];
    const Mat* G = isPosed ? posed : F;
    for (int i = 0; i < count; i++) {
        int32_t block = SR_BLOCK(v + i), lane = SR_LANE(v + i);
        fetchGradient(task, block + count / SR_WIDES, isPosed);
        Mat D = edgesOf(task->points, &task->layout->corners[block], lane);
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        F[i] = mulMats(&D, &B);
        if (isPosed) {
            Turn S = loadSymmetric(&task->stretches->stretches[block], lane);
            posed[i] = mulSymmetric(&F[i], &S);
        }
    }
    for (int i = 0; isPressed && i < count; i += SR_WIDES) {
        p[i / SR_WIDES] = findPressure(task, v + i, &F[i], pressed);
    }
    rotateAndStore(task->turns, v, G, count, Q);
    for (int i = 0; i < count; i++) {
        int32_t block = SR_BLOCK(v + i), lane = SR_LANE(v + i);
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
        addLanes(energy, w * (dot(off.a, off.a) + dot(off.b, off.b) + dot(off.c, off.c)));
        Mat P = {scaled(w, off.a), scaled(w, off.b), scaled(w, off.c)};
        if (isPressed) {
            addPressure(task, v + i, p[i / SR_WIDES], &F[i], &P);
            storeMatNarrow(&task->turns->gradients[block], lane, &F[i]);
        }
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        addForces(task->forces, &task->layout->corners[block], lane, &P, &B);
    }
}

SR_KERNEL srRowDouble evaluateRange(const srCellTask* task, int32_t begin, int32_t end, const bool isPosed,
                                    const bool isPressed) {
    srRowDouble energy = {0}, pressed = {0};
    int32_t v = SR_WIDES * begin, last = SR_WIDES * end;
    for (; v <= last - SR_CELLS_TOGETHER; v += SR_CELLS_TOGETHER) {
        evaluateSome(task, v, SR_CELLS_TOGETHER, isPosed, isPressed, &energy, &pressed);
    }
    for (; v < last; v += SR_WIDES) {
        evaluateSome(task, v, SR_WIDES, isPosed, isPressed, &energy, &pressed);
    }
    return energy + pressed;
}

// A block of another material: its energy is added twice.
SR_KERNEL void evaluateMaterial(const srCellTask* task, int32_t block, const int model, const bool isPressed,
                                srRowDouble* energy) {
    const int32_t first = SR_WIDES * block;
    Mat F[SR_WIDES], R;
    double p = 0.0;
    for (int i = 0; i < SR_WIDES; i++) {
        Mat D = edgesOf(task->points, &task->layout->corners[block], SR_LANE(first + i));
        Mat B = loadCellMat(&task->shapes->inverses[block], SR_LANE(first + i));
        F[i] = mulMats(&D, &B);
    }
    if (isPressed) {
        p = findPressure(task, first, F, energy);
    }
    for (int i = 0; i < SR_WIDES; i++) {
        int32_t v = first + i, lane = SR_LANE(v);
        SR_V mu = 0.5 * LoadW(&task->shapes->weights[block].x[lane]);
        SR_V lambda = LoadW(&task->shapes->bulkWeights[block].x[lane]), psi;
        SR_V swell = (SR_V){0} + task->stretches->swell;
        Mat P;
        if (model == sr_elasticCorotated) {
            rotateAndStore(task->turns, v, &F[i], 1, &R);
            psi = corotated(&F[i], &R, mu, lambda, swell, &P);
        } else {
            psi = model == sr_elasticNeoHookean ? neoHookean(&F[i], mu, lambda, swell, &P)
                                                : stVenantKirchhoff(&F[i], mu, lambda, swell, &P);
            storeMatNarrow(&task->turns->rotations[block], lane, &F[i]);
        }
        addLanes(energy, psi + psi);
        if (isPressed) {
            addPressure(task, v, p, &F[i], &P);
        }
        if (isPressed && model == sr_elasticCorotated) {
            storeMatNarrow(&task->turns->gradients[block], lane, &F[i]);
        }
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        addForces(task->forces, &task->layout->corners[block], lane, &P, &B);
    }
}

SR_KERNEL srRowDouble evaluateMaterials(const srCellTask* task, int32_t begin, int32_t end,
                                        const bool isPressed) {
    srRowDouble energy = {0};
    for (int32_t block = begin; block < end; block++) {
        switch (task->shapes->model) {
        case sr_elasticNeoHookean:
            evaluateMaterial(task, block, sr_elasticNeoHookean, isPressed, &energy);
            break;
        case sr_elasticStVenantKirchhoff:
            evaluateMaterial(task, block, sr_elasticStVenantKirchhoff, isPressed, &energy);
            break;
        default:
            evaluateMaterial(task, block, sr_elasticCorotated, isPressed, &energy);
        }
    }
    return energy;
}

static double evaluateCells(const srCellTask* task, int32_t begin, int32_t end) {
    bool isPosed = task->stretches->stretches != NULL, isPressed = task->shapes->keepsVolumes;
    srRowDouble energy;
    if (task->shapes->model != sr_elasticArap) {
        energy = isPressed ? evaluateMaterials(task, begin, end, true)
                           : evaluateMaterials(task, begin, end, false);
    } else if (isPressed) {
        energy = isPosed ? evaluateRange(task, begin, end, true, true)
                         : evaluateRange(task, begin, end, false, true);
    } else {
        energy = isPosed ? evaluateRange(task, begin, end, true, false)
                         : evaluateRange(task, begin, end, false, false);
    }
    return 0.5 * sumFour(energy);
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
    SR_V pulls[4][3];
    for (int c = 0; c < 4; c++) {
        pulls[c][0] = m * (g.x - turned.x), pulls[c][1] = m * (g.y - turned.y);
        pulls[c][2] = m * (g.z - turned.z);
    }
    scatterCorners(task->forces, &task->layout->corners[block], lane, pulls);
}

// between the posed volume and the modelled one; of the posed shape exactly it at c = 0
SR_KERNEL void storeTarget(const srCellTask* task, int32_t v, const Mat* F) {
    const srCellPosing* posing = task->posing;
    double posed = sumVolumes(task, v, F), rest = task->shapes->patchVolumes[SR_BLOCK(v)];
    double target = posed + posing->poseCorrection * (rest - posed);
    task->stretches->targets[SR_BLOCK(v)] = (1.0 + posing->pressure) * target;
}

SR_KERNEL void poseSome(const srCellTask* task, int32_t v, const int count) {
    Mat F[SR_CELLS_TOGETHER], R[SR_CELLS_TOGETHER];
    for (int i = 0; i < count; i++) {
        int32_t block = SR_BLOCK(v + i), lane = SR_LANE(v + i);
        Mat D = edgesOf(task->points, &task->layout->corners[block], lane);
        Mat B = loadCellMat(&task->shapes->inverses[block], lane);
        F[i] = mulMats(&D, &B);
    }
    for (int i = 0; task->stretches->targets != NULL && i < count; i += SR_WIDES) {
        storeTarget(task, v + i, &F[i]);
    }
    if (task->stretches->stretches == NULL && task->forces == NULL) {
        return;
    }
    rotateSome(F, count, R);
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
    for (; v < last; v += SR_WIDES) {
        poseSome(task, v, SR_WIDES);
    }
}
