// SPDX-License-Identifier: GPL-3.0-or-later
//
// From one substep to the next, a node a row. Part of solver_kernels.inl. What the formulas are is said in
// flesh.c; the fourth number of starts and velocities is always zero.

// what a second-order step starts from: (4 now - earlier) / 3
static srRowFloat extrapolateRow(srRowFloat now, srRowFloat earlier) {
    return now + (1.0f / 3.0f) * (now - earlier);
}

static void finishNodesBySecondOrder(const srAdvance* advance, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat u = srLoadRowFloat(advance->starts + at), w = srLoadRowFloat(advance->velocities + at);
        srRowFloat base = extrapolateRow(u, srLoadRowFloat(advance->earlierStarts + at));
        srRowFloat row = srLoadRowFloat(advance->rows + at);
        row[3] = 0.0f;
        srStoreRowFloat(advance->earlierStarts + at, u);
        srStoreRowFloat(advance->earlierVelocities + at, w);
        srStoreRowFloat(advance->starts + at, row);
        srStoreRowFloat(advance->velocities + at, advance->perSecond * (row - base));
    }
}

static void predictRow(const srAdvance* advance, int32_t i, srRowFloat u, srRowFloat w) {
    int64_t at = SR_ROW * (int64_t)i;
    srRowFloat row = u + (advance->carries[i] * (advance->ahead * w) - advance->pulls[i] * u);
    row[3] = advance->weights[i];
    srStoreRowFloat(advance->rows + at, row);
    if (advance->predicted != NULL) {
        srStoreRowFloat(advance->predicted + at, row);
    }
}

static void predictNodesBySecondOrder(const srAdvance* advance, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat u = srLoadRowFloat(advance->starts + at), w = srLoadRowFloat(advance->velocities + at);
        predictRow(advance, i, extrapolateRow(u, srLoadRowFloat(advance->earlierStarts + at)),
                   extrapolateRow(w, srLoadRowFloat(advance->earlierVelocities + at)));
    }
}

static void finishNodes(const srAdvance* advance, int32_t begin, int32_t end) {
    if (advance->hasPast) {
        finishNodesBySecondOrder(advance, begin, end);
        return;
    }
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat u = srLoadRowFloat(advance->starts + at), w = srLoadRowFloat(advance->velocities + at);
        srRowFloat moved = srLoadRowFloat(advance->rows + at) - u;
        moved[3] = 0.0f;
        if (advance->earlierStarts != NULL) {
            srStoreRowFloat(advance->earlierStarts + at, u);
            srStoreRowFloat(advance->earlierVelocities + at, w);
        }
        srStoreRowFloat(advance->starts + at, u + advance->beyond * moved);
        srStoreRowFloat(advance->velocities + at, w + advance->beyond * (advance->perSecond * moved - w));
    }
}

static void predictNodes(const srAdvance* advance, int32_t begin, int32_t end) {
    if (advance->hasPast) {
        predictNodesBySecondOrder(advance, begin, end);
        return;
    }
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        predictRow(advance, i, srLoadRowFloat(advance->starts + at),
                   srLoadRowFloat(advance->velocities + at));
    }
}
