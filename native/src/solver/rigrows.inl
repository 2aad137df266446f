// SPDX-License-Identifier: GPL-3.0-or-later
//
// Products with what a rig can do (rigrows.h), a bone or a node after the other. Part of a kernel text.

// Sums of a bone go on in several chains, as an addition takes longer than it takes to begin another.

static void multiplyBones(const srRigRows* rows, const double* x, double* y, int32_t begin, int32_t end) {
    for (int32_t k = begin; k < end; k++) {
        srRowDouble sums[2][4] = {{{0}}};
        int32_t e = rows->starts[k];
        for (; e + 1 < rows->starts[k + 1]; e += 2) {
            for (int chain = 0; chain < 2; chain++) {
                srRowDouble u = srLoadRowDouble(x + SR_ROW * (size_t)rows->nodes[e + chain]);
                const double* v = rows->values[e + chain];
                for (int r = 0; r < 4; r++) {
                    sums[chain][r] += v[r] * u;
                }
            }
        }
        for (int r = 0; r < 4; r++) {
            srRowDouble sum = sums[0][r] + sums[1][r];
            if (e < rows->starts[k + 1]) {
                sum += rows->values[e][r] * srLoadRowDouble(x + SR_ROW * (size_t)rows->nodes[e]);
            }
            if (rows->places[k][r] != SR_NULL_INDEX) {
                srStoreRowDouble(y + SR_ROW * (size_t)rows->places[k][r], sum);
            }
        }
    }
}

// rows of x are `width` numbers apart
static void multiplyBonesFloat(const srRigRows* rows, const float* x, int32_t width, double* y, int32_t begin,
                               int32_t end) {
    for (int32_t k = begin; k < end; k++) {
        srRowFloat sums[4][3] = {{{0}}};
        int32_t e = rows->starts[k];
        for (; e + 3 < rows->starts[k + 1]; e += 4) {
            for (int chain = 0; chain < 4; chain++) {
                const float* u = x + (size_t)width * (size_t)rows->nodes[e + chain];
                srRowFloat v = srLoadRowFloat(rows->valuesF[e + chain]);
                for (int c = 0; c < 3; c++) {
                    sums[chain][c] += u[c] * v;
                }
            }
        }
        for (; e < rows->starts[k + 1]; e++) {
            const float* u = x + (size_t)width * (size_t)rows->nodes[e];
            srRowFloat v = srLoadRowFloat(rows->valuesF[e]);
            for (int c = 0; c < 3; c++) {
                sums[0][c] += u[c] * v;
            }
        }
        for (int c = 0; c < 3; c++) {
            sums[0][c] = (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
        }
        for (int r = 0; r < 4; r++) {
            if (rows->places[k][r] != SR_NULL_INDEX) {
                srRowDouble sum = {(double)sums[0][0][r], (double)sums[0][1][r], (double)sums[0][2][r], 0.0};
                srStoreRowDouble(y + SR_ROW * (size_t)rows->places[k][r], sum);
            }
        }
    }
}

// x -= C' y, y a row for each candidate; pieces of nodes, a bone after the other
static void subtractBones(const srRigRows* rows, const double* y, double* x, int32_t begin, int32_t end) {
    for (int32_t piece = begin; piece < end; piece++) {
        const int32_t* starts = rows->pieceStarts + (size_t)piece * (size_t)rows->boneCount;
        const int32_t* ends = starts + rows->boneCount;
        for (int32_t k = 0; k < rows->boneCount; k++) {
            srRowDouble of[4];
            for (int r = 0; r < 4; r++) {
                of[r] = srLoadRowDouble(y + SR_ROW * (4 * (size_t)k + (size_t)r));
            }
            for (int32_t e = starts[k]; e < ends[k]; e++) {
                const double* v = rows->values[e];
                double* at = x + SR_ROW * (size_t)rows->nodes[e];
                srRowDouble sum = (v[0] * of[0] + v[1] * of[1]) + (v[2] * of[2] + v[3] * of[3]);
                srStoreRowDouble(at, srLoadRowDouble(at) - sum);
            }
        }
    }
}
