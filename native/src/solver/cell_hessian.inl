// SPDX-License-Identifier: GPL-3.0-or-later
//
// Products with the Hessian of the cells' energy, in float. Part of a kernel text: include it after
// cell_blocks.inl.

SR_KERNEL void multiplyCell(const srCellTask* task, int32_t v, const bool isPosed) {
    int32_t block = SR_BLOCK(v), lane = SR_LANE(v);
    const srCellCorners* corners = &task->layout->corners[block];
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
    addForces(task->products, corners, lane, &dP, &B);
}

static void multiplyCells(const srCellTask* task, int32_t begin, int32_t end) {
    if (task->stretches->stretchesF != NULL) {
        for (int32_t v = SR_WIDES * begin; v < SR_WIDES * end; v++) {
            multiplyCell(task, v, true);
        }
    } else {
        for (int32_t v = SR_WIDES * begin; v < SR_WIDES * end; v++) {
            multiplyCell(task, v, false);
        }
    }
}
