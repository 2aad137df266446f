// SPDX-License-Identifier: GPL-3.0-or-later
//
// Products with what a rig can do (rigrows.h), a bone or a node after the other. Part of a kernel text.

static void multiplyBones(const srRigRows* rows, const double* x, double* y, int32_t begin, int32_t end) {
    for (int32_t k = begin; k < end; k++) {
        srRowDouble sums[4] = {{0}};
        for (int32_t e = rows->starts[k]; e < rows->starts[k + 1]; e++) {
            srRowDouble u = srLoadRowDouble(x + SR_ROW * (size_t)rows->nodes[e]);
            const double* v = rows->values[e];
            sums[0] += v[0] * u;
            sums[1] += v[1] * u;
            sums[2] += v[2] * u;
            sums[3] += v[3] * u;
        }
        for (int r = 0; r < 4; r++) {
            if (rows->places[k][r] != SR_NULL_INDEX) {
                srStoreRowDouble(y + SR_ROW * (size_t)rows->places[k][r], sums[r]);
            }
        }
    }
}

// rows of x are `width` numbers apart
static void multiplyBonesFloat(const srRigRows* rows, const float* x, int32_t width, double* y, int32_t begin,
                               int32_t end) {
    for (int32_t k = begin; k < end; k++) {
        srRowFloat sums[3] = {{0}};
        for (int32_t e = rows->starts[k]; e < rows->starts[k + 1]; e++) {
            const float* u = x + (size_t)width * (size_t)rows->nodes[e];
            srRowFloat v = srLoadRowFloat(rows->valuesF[e]);
            sums[0] += u[0] * v;
            sums[1] += u[1] * v;
            sums[2] += u[2] * v;
        }
        for (int r = 0; r < 4; r++) {
            if (rows->places[k][r] != SR_NULL_INDEX) {
                srRowDouble sum = {(double)sums[0][r], (double)sums[1][r], (double)sums[2][r], 0.0};
                srStoreRowDouble(y + SR_ROW * (size_t)rows->places[k][r], sum);
            }
        }
    }
}

// x -= C' y
static void subtractBones(const srRigRows* rows, const double* y, double* x, int32_t begin, int32_t end) {
    static const double none[SR_ROW] = {0.0}; // of a candidate that is no row
    for (int32_t i = begin; i < end; i++) {
        srRowDouble sums[4] = {{0}};
        for (int32_t e = rows->nodeStarts[i]; e < rows->nodeStarts[i + 1]; e++) {
            const double* v = rows->values[rows->nodeEntries[e]];
            const int32_t* places = rows->places[rows->nodeBones[e]];
            for (int r = 0; r < 4; r++) {
                bool isRow = places[r] != SR_NULL_INDEX;
                sums[r] += v[r] * srLoadRowDouble(isRow ? y + SR_ROW * (size_t)places[r] : none);
            }
        }
        srRowDouble sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        srStoreRowDouble(x + SR_ROW * (size_t)i, srLoadRowDouble(x + SR_ROW * (size_t)i) - sum);
    }
}
