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

static void solvePatch(const srPatchSweep* sweep, const srPatch* patch, float compliance) {
    Corners p, u;
    gatherCorners(sweep->poseRows, &patch->cells, &p);
    gatherCorners(sweep->rows, &patch->cells, &u);
    Mat posed = gradientOf(&p, patch->cells.gradients);
    Mat dF = gradientOf(&u, patch->cells.gradients);
    Mat F = addMat(&posed, &dF);
    Mat n = cofactor(&F), posedN = cofactor(&posed);
    srFloatW V = srLoadFloatW(patch->V);
    srFloatW posedVolume = V * dot(posed.a, posedN.a);
    srFloatW change = V * (dot(F.a, n.a) - dot(posed.a, posedN.a));
    srRowFloat sums = srSumLanesFloat(change, posedVolume, V, V);
    float C = sums[0];
    float missing = sweep->side * sums[2] - sums[1];
    if (sweep->poseCorrection > 0.0f &&
        (missing > SR_MEASURES_AGREE * sums[2] || missing < -SR_MEASURES_AGREE * sums[2])) {
        C -= sweep->poseCorrection * missing;
    }

    float gradients[4 * SR_LANES_PER_BLOCK][SR_ROW];
    memset(gradients, 0, sizeof(gradients));
    n = (Mat){scaled(V, n.a), scaled(V, n.b), scaled(V, n.c)};
    Vec spread[4];
    spreadOver(&n, patch->cells.gradients, spread);
    for (int corner = 0; corner < 4; corner++) {
        srFloatW lanes[3] = {spread[corner].x, spread[corner].y, spread[corner].z};
        srScatterRowsFloat(gradients[0], patch->locals[corner], lanes);
    }
    float divisor = compliance;
    for (int32_t i = 0; i < patch->nodeCount; i++) {
        float w = sweep->rows[SR_ROW * (int64_t)patch->nodes[i] + 3];
        const float* g = gradients[i];
        divisor += w * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    if (!(divisor > 0.0f)) {
        return;
    }
    float scale = -SR_PATCH_RELAXATION * C / divisor;
    for (int32_t i = 0; i < patch->nodeCount; i++) {
        float* row = sweep->rows + SR_ROW * (int64_t)patch->nodes[i];
        srRowFloat move = (scale * row[3]) * srLoadRowFloat(gradients[i]);
        srStoreRowFloat(row, srLoadRowFloat(row) + move);
    }
}

static void solvePatches(const srPatchSweep* sweep, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        if (sweep->compliances[i] >= 0.0f) {
            solvePatch(sweep, &sweep->patches[i], sweep->compliances[i]);
        }
    }
}
