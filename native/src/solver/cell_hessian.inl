// SPDX-License-Identifier: GPL-3.0-or-later
//
// Products with the Hessian of the cells' energy, in float. Part of a kernel text: include it after
// cell_blocks.inl.

// dP += K (sum of V cof F : dF) V cof F + p V d(cof F)
SR_KERNEL void addPressureChange(const srCellTask* task, int32_t block, const Mat* F, const Mat* dF,
                                 Mat* dP) {
    SR_V V = LoadW(task->shapes->volumesF[block].x);
    const SR_V one = (SR_V){0} + (SR_T)1;
    Mat C = cofactors(F), dC = cofactorChange(F, dF);
    C = (Mat){scaled(V, C.a), scaled(V, C.b), scaled(V, C.c)};
    SR_V change = dotMats(&C, dF);
    float grown = srSumLanesFloat(change, change, change, change)[0];
    Mat turned = combine((float)task->shapes->patchStiffnesses[block] * grown * one, &C,
                         task->turns->pressures[block] * V, &dC);
    *dP = combine(one, dP, one, &turned);
}

#define SR_BLOCKS_AHEAD 3

SR_KERNEL void fetchProduct(const srCellTask* task, int32_t block, const bool isPosed) {
    fetchLines(&task->layout->corners[block], sizeof(srCellCorners));
    fetchLines(&task->shapes->inversesF[block], sizeof(srMat3Blockf));
    fetchLines(&task->turns->rotations[block], sizeof(srMat3Blockf));
    fetchLines(&task->turns->turns[block], sizeof(srTurnBlockf));
    if (isPosed) {
        fetchLines(&task->stretches->stretchesF[block], sizeof(srTurnBlockf));
    }
}

SR_KERNEL void multiplyCell(const srCellTask* task, int32_t v, const bool isPosed, const bool isPressed) {
    int32_t block = SR_BLOCK(v), lane = SR_LANE(v);
    const srCellCorners* corners = &task->layout->corners[block];
    fetchProduct(task, block + SR_BLOCKS_AHEAD, isPosed);
    Mat D = edgesOf(task->directions, corners, lane);
    Mat B = loadCellMat(&task->shapes->inversesF[block], lane);
    Mat dF = mulMats(&D, &B);
    Mat Q = loadCellMat(&task->turns->rotations[block], lane);
    Turn T = loadSymmetric(&task->turns->turns[block], lane);
    Mat dQ;
    if (isPosed) {
        Turn S = loadSymmetric(&task->stretches->stretchesF[block], lane);
        Mat dG = mulSymmetric(&dF, &S);
        dQ = turnNearest(&Q, &T, &dG);
        dQ = mulSymmetric(&dQ, &S);
    } else {
        dQ = turnNearest(&Q, &T, &dF);
    }
    Mat dP = weighedDifference(LoadW(&task->shapes->weightsF[block].x[lane]), &dF, &dQ);
    if (isPressed) {
        Mat F = loadCellMat(&task->turns->gradients[block], lane);
        addPressureChange(task, block, &F, &dF, &dP);
    }
    addForces(task->products, corners, lane, &dP, &B);
}

// tr(R' F) - 3 of the corotated material, from how R turns: with g_k the eigenvalues of the inverse of T,
// which are sums of two stretches, tr(T^-1) = 2 tr(R' F).
SR_KERNEL SR_V traceOfTurn(const Turn* T) {
    SR_V a = T->yy * T->zz - T->yz * T->yz, b = T->zz * T->xx - T->zx * T->zx,
         c = T->xx * T->yy - T->xy * T->xy;
    SR_V determinant =
        T->xx * a + T->xy * (T->yz * T->zx - T->xy * T->zz) + T->zx * (T->xy * T->yz - T->zx * T->yy);
    return (SR_T)0.5 * (a + b + c) / determinant - (SR_T)3;
}

// the same of a cell of another material
SR_KERNEL void multiplyMaterial(const srCellTask* task, int32_t v, const int model, const bool isPressed) {
    int32_t block = SR_BLOCK(v), lane = SR_LANE(v);
    const srCellCorners* corners = &task->layout->corners[block];
    Mat D = edgesOf(task->directions, corners, lane);
    Mat B = loadCellMat(&task->shapes->inversesF[block], lane);
    Mat dF = mulMats(&D, &B);
    Mat F = loadCellMat(&task->turns->rotations[block], lane), dP;
    SR_V mu = (SR_T)0.5 * LoadW(&task->shapes->weightsF[block].x[lane]);
    SR_V lambda = LoadW(&task->shapes->bulkWeightsF[block].x[lane]);
    SR_V swell = (SR_V){0} + (SR_T)task->stretches->swell;
    if (model == sr_elasticNeoHookean) {
        dP = neoHookeanChange(&F, mu, lambda, swell, &dF);
    } else if (model == sr_elasticStVenantKirchhoff) {
        dP = stVenantKirchhoffChange(&F, mu, lambda, swell, &dF);
    } else {
        Turn T = loadSymmetric(&task->turns->turns[block], lane);
        Mat dR = turnNearest(&F, &T, &dF);
        dP = corotatedChange(&F, traceOfTurn(&T) - swell, mu, lambda, &dF, &dR);
    }
    if (isPressed) {
        F = model == sr_elasticCorotated ? loadCellMat(&task->turns->gradients[block], lane) : F;
        addPressureChange(task, block, &F, &dF, &dP);
    }
    addForces(task->products, corners, lane, &dP, &B);
}

// How rotations turn, from the symmetric S = Q' G that stands where the answer goes: the inverse of tr(S) I -
// S by its cofactors. Where that is near singular (its determinant over tr^3 is at most 8/27) it is kept away
// from it, where S is zero so is the answer.
SR_KERNEL void SR_NAME(invertStretches)(srTurnBlockf* block, int32_t lane) {
    Turn S = loadSymmetric(block, lane);
    const SR_V zero = {0};
    SR_V trace = S.xx + S.yy + S.zz;
    SR_V xx = S.yy + S.zz, yy = S.zz + S.xx, zz = S.xx + S.yy, xy = -S.xy, yz = -S.yz, zx = -S.zx;
    SR_V determinant = xx * (yy * zz - yz * yz) + xy * (zx * yz - xy * zz) + zx * (xy * yz - zx * yy);
    SR_MASK isGood = determinant > SR_LEAST_GAP * trace * trace * trace;
    SR_V lift = srSelect(isGood, zero, (SR_T)SR_LEAST_TURN * trace);
    xx += lift, yy += lift, zz += lift;
    Turn T = {yy * zz - yz * yz, zz * xx - zx * zx, xx * yy - xy * xy,
              yz * zx - xy * zz, zx * xy - yz * xx, xy * yz - zx * yy};
    determinant = xx * T.xx + xy * T.xy + zx * T.zx;
    SR_V inverse = srSelect(determinant > zero, (SR_T)1 / determinant, zero);
    const SR_V entries[6] = {T.xx, T.yy, T.zz, T.xy, T.yz, T.zx};
    for (int k = 0; k < 6; k++) {
        srStoreFloatW(&block->t[k][lane], cutLength(inverse * entries[k]));
    }
}

SR_KERNEL void multiplyMaterials(const srCellTask* task, int32_t begin, int32_t end, const bool isPressed) {
    for (int32_t v = SR_WIDES * begin; v < SR_WIDES * end; v++) {
        switch (task->shapes->model) {
        case sr_elasticNeoHookean:
            multiplyMaterial(task, v, sr_elasticNeoHookean, isPressed);
            break;
        case sr_elasticStVenantKirchhoff:
            multiplyMaterial(task, v, sr_elasticStVenantKirchhoff, isPressed);
            break;
        default:
            multiplyMaterial(task, v, sr_elasticCorotated, isPressed);
        }
    }
}

SR_KERNEL void multiplyRange(const srCellTask* task, int32_t begin, int32_t end, const bool isPosed,
                             const bool isPressed) {
    for (int32_t v = SR_WIDES * begin; v < SR_WIDES * end; v++) {
        multiplyCell(task, v, isPosed, isPressed);
    }
}

static void multiplyCells(const srCellTask* task, int32_t begin, int32_t end) {
    bool isPosed = task->stretches->stretchesF != NULL, isPressed = task->shapes->keepsVolumes;
    if (task->shapes->model != sr_elasticArap && isPressed) {
        multiplyMaterials(task, begin, end, true);
    } else if (task->shapes->model != sr_elasticArap) {
        multiplyMaterials(task, begin, end, false);
    } else if (isPressed) {
        if (isPosed) {
            multiplyRange(task, begin, end, true, true);
        } else {
            multiplyRange(task, begin, end, false, true);
        }
    } else if (isPosed) {
        multiplyRange(task, begin, end, true, false);
    } else {
        multiplyRange(task, begin, end, false, false);
    }
}
