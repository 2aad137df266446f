// SPDX-License-Identifier: GPL-3.0-or-later
//
// One patch: its volume as one constraint. Part of solver_kernels.inl, after cell_kernels.inl.
//
//   C = sum over cells of V (J - J posed),   grad_i C = sum of V (cof F) g_i,
//   u_i -= relaxation w_i C grad_i C / (sum of w_i |grad_i C|^2 + b)

#define SR_PATCH_RELAXATION 0.6f // neighbours share nodes; from 1.3 on they pump energy
#define SR_MEASURES_AGREE 1e-5f  // a posed volume this near to the modelled one is the modelled one

SR_KERNEL void gatherCorners(const float* rows, const srCellBlock* cells, Corners* out) {
    for (int corner = 0; corner < 4; corner++) {
        gatherPlaces(rows, cells->places[corner], out->rows[corner]);
    }
}

// what does not change while the pose does not
static void posePatch(const srPatchSweep* sweep, const srPatch* patch, srPatchPose* pose) {
    Corners p;
    gatherCorners(sweep->poseRows, &patch->cells, &p);
    Mat posed = gradientOf(&p, patch->cells.gradients);
    Mat n = cofactor(&posed);
    srFloatW J = dot(posed.a, n.a), V = srLoadFloatW(patch->V);
    storeColumns(pose->F, &posed);
    srStoreFloatW(pose->J, J);
    srRowFloat sums = srSumLanesFloat(V, V * J, V, V);
    float missing = sweep->side * sums[0] - sums[1];
    bool isFar = missing > SR_MEASURES_AGREE * sums[0] || missing < -SR_MEASURES_AGREE * sums[0];
    pose->wanted = sweep->poseCorrection > 0.0f && isFar ? sweep->poseCorrection * missing : 0.0f;
}

static void posePatches(const srPatchSweep* sweep, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        if (sweep->compliances[i] >= 0.0f) {
            posePatch(sweep, &sweep->patches[i], &sweep->poses[i]);
        }
    }
}

static void solvePatch(float* rows, const srPatch* patch, const srPatchPose* pose, float compliance) {
    Corners u;
    gatherCorners(rows, &patch->cells, &u);
    Mat dF = gradientOf(&u, patch->cells.gradients);
    Mat F = loadColumns(pose->F);
    F = addMat(&F, &dF);
    Mat n = cofactor(&F);
    srFloatW V = srLoadFloatW(patch->V);
    srFloatW change = V * (dot(F.a, n.a) - srLoadFloatW(pose->J));
    float C = srSumLanesFloat(change, V, V, V)[0] - pose->wanted;

    srRowFloat gradients[4 * SR_LANES_PER_BLOCK];
    memset(gradients, 0, (size_t)patch->nodeCount * sizeof(srRowFloat));
    n = (Mat){scaled(V, n.a), scaled(V, n.b), scaled(V, n.c)};
    Vec spread[4];
    spreadOver(&n, patch->cells.gradients, spread);
    for (int corner = 0; corner < 4; corner++) {
        srFloatW lanes[3] = {spread[corner].x, spread[corner].y, spread[corner].z};
        srScatterRowsFloat((float*)gradients, patch->locals[corner], lanes);
    }
    srRowFloat squares = {0};
    for (int32_t i = 0; i < patch->nodeCount; i++) {
        float w = rows[SR_ROW * (int64_t)patch->nodes[i] + 3];
        squares = squares + w * (gradients[i] * gradients[i]);
    }
    float divisor = compliance + ((squares[0] + squares[1]) + squares[2]);
    if (!(divisor > 0.0f)) {
        return;
    }
    float scale = -SR_PATCH_RELAXATION * C / divisor;
    for (int32_t i = 0; i < patch->nodeCount; i++) {
        float* row = rows + SR_ROW * (int64_t)patch->nodes[i];
        srStoreRowFloat(row, srLoadRowFloat(row) + (scale * row[3]) * gradients[i]);
    }
}

static void solvePatches(const srPatchSweep* sweep, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        if (sweep->compliances[i] >= 0.0f) {
            solvePatch(sweep->rows, &sweep->patches[i], &sweep->poses[i], sweep->compliances[i]);
        }
    }
}
