// SPDX-License-Identifier: GPL-3.0-or-later
//
// From one substep to the next, a node a row. Part of solver_kernels.inl. What the formulas are is said in
// flesh.c; the fourth number of starts and velocities is always zero.

static void finishNodes(const srAdvance* advance, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat u = srLoadRowFloat(advance->starts + at), w = srLoadRowFloat(advance->velocities + at);
        srRowFloat moved = srLoadRowFloat(advance->rows + at) - u;
        moved[3] = 0.0f;
        srStoreRowFloat(advance->starts + at, u + advance->beyond * moved);
        srStoreRowFloat(advance->velocities + at, w + advance->beyond * (advance->perSecond * moved - w));
    }
}

static void predictNodes(const srAdvance* advance, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat u = srLoadRowFloat(advance->starts + at), w = srLoadRowFloat(advance->velocities + at);
        srRowFloat row = u + (advance->carries[i] * (advance->ahead * w) - advance->pulls[i] * u);
        row[3] = advance->weights[i];
        srStoreRowFloat(advance->rows + at, row);
        if (advance->predicted != NULL) {
            srStoreRowFloat(advance->predicted + at, row);
        }
    }
}
