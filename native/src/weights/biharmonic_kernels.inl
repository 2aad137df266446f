// SPDX-License-Identifier: GPL-3.0-or-later
//
// One text for float and for double (biharmonic_paths.inl). Lanes are columns; what is summed over them is
// summed in one order, whatever the path. Solves are those of math/panel_kernels.inl with many columns at
// once: there the panels of a large factor are read from memory again for every three columns, here once
// for 24.

// the order of sums over lanes, of any number of them
SR_KERNEL SR_T SR_NAME(sumLanes)(SR_V v) {
    SR_T lanes[SR_LANES];
    SR_STORE(lanes, v);
    for (int half = SR_LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            lanes[i] += lanes[i + half];
        }
    }
    return lanes[0];
}

// ---- solves ----

typedef struct SR_NAME(Group) {
    int32_t firstColumn;
    int32_t columns;
    int32_t slabs; // of SR_LANES rows
    const int32_t* rows;
    const SR_T* panel;
} SR_NAME(Group);

SR_KERNEL SR_NAME(Group) SR_NAME(groupOf)(const srFactor* f, int32_t g) {
    return (SR_NAME(Group)){
        .firstColumn = f->columnStarts[g],
        .columns = f->columnStarts[g + 1] - f->columnStarts[g],
        .slabs = (f->slabStarts[g + 1] - f->slabStarts[g]) * (SR_SLAB_ROWS / SR_LANES),
        .rows = f->rows + SR_SLAB_ROWS * (int64_t)f->slabStarts[g],
        .panel = f->SR_PANELS + f->SR_STARTS[g],
    };
}

SR_KERNEL int32_t SR_NAME(widthOf)(const SR_NAME(Group) * group, int32_t slab) {
    int32_t width = SR_LANES * (slab + 1);
    return width < group->columns ? width : group->columns;
}

// Products of `rows` (a constant) rows of a slab with b, for `count` (a constant) vectors of columns, added
// to their rows of x. Eight sums at a time: fewer wait for each other, twelve do not fit into the registers.
SR_KERNEL void SR_NAME(multiplyRows)(const int rows, const int count, const SR_T* panel, int32_t width,
                                     const SR_T* b, int32_t bStride, const int32_t* places, int32_t stride,
                                     SR_T* x) {
    SR_V sums[8][2] = {{{0}}};
    for (int32_t j = 0; j < width; j++) {
        const SR_T* p = panel + SR_LANES * (int64_t)j;
        const SR_T* y = b + bStride * (int64_t)j;
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < count; v++) {
                sums[r][v] += SR_SPLAT(p[r]) * SR_LOAD(y + SR_LANES * v);
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        SR_T* row = x + stride * (int64_t)places[r];
        for (int v = 0; v < count; v++) {
            SR_STORE(row + SR_LANES * v, SR_LOAD(row + SR_LANES * v) + sums[r][v]);
        }
    }
}

// [b; r] = [0; r] + X b, for `count` (a constant) vectors of columns: pairs of them, then the odd one
SR_KERNEL void SR_NAME(forward)(const int count, const SR_NAME(Group) * group, int32_t stride, SR_T* x,
                                SR_T* b) {
    SR_T* own = x + stride * (int64_t)group->firstColumn;
    for (int32_t j = 0; j < group->columns; j++) {
        for (int v = 0; v < count; v++) {
            SR_STORE(b + SR_LANES * (count * j + v), SR_LOAD(own + stride * (int64_t)j + SR_LANES * v));
            SR_STORE(own + stride * (int64_t)j + SR_LANES * v, (SR_V){0});
        }
    }
    const SR_T* panel = group->panel;
    for (int32_t slab = 0; slab < group->slabs; slab++) {
        int32_t width = SR_NAME(widthOf)(group, slab);
        const int32_t* rows = group->rows + SR_LANES * slab;
        for (int half = 0; count >= 2 && half < SR_LANES; half += 4) {
            SR_NAME(multiplyRows)(4, 2, panel + half, width, b, SR_LANES * count, rows + half, stride, x);
        }
        if (count % 2 == 1) {
            int lane = SR_LANES * (count - 1);
            SR_NAME(multiplyRows)(SR_LANES, 1, panel, width, b + lane, SR_LANES * count, rows, stride,
                                  x + lane);
        }
        panel += SR_LANES * (int64_t)width;
    }
}

// Products of `columns` (a constant) columns of a panel, which begin in slab `slab` at `panel`, with rows,
// for `count` (a constant) vectors. One order of sums, however many there are: how columns are handed to
// workers must not change a bit.
SR_KERNEL void SR_NAME(dotColumns)(const int columns, const int count, const SR_NAME(Group) * group,
                                   int32_t slab, const SR_T* panel, const SR_T* rows, int32_t rowStride,
                                   int32_t stride, SR_T* out) {
    SR_V sums[8][2] = {{{0}}};
    for (; slab < group->slabs; slab++) {
        const SR_T* row = rows + rowStride * (int64_t)SR_LANES * slab;
        for (int r = 0; r < SR_LANES; r++) {
            for (int c = 0; c < columns; c++) {
                for (int v = 0; v < count; v++) {
                    sums[c][v] +=
                        SR_SPLAT(panel[SR_LANES * c + r]) * SR_LOAD(row + rowStride * r + SR_LANES * v);
                }
            }
        }
        panel += SR_LANES * (int64_t)SR_NAME(widthOf)(group, slab);
    }
    for (int c = 0; c < columns; c++) {
        for (int v = 0; v < count; v++) {
            SR_STORE(out + stride * (int64_t)c + SR_LANES * v, sums[c][v]);
        }
    }
}

// b = X' rows for `count` (1 or 2) vectors: eight sums at a time
SR_KERNEL void SR_NAME(dotAll)(const int count, const SR_NAME(Group) * group, const SR_T* rows,
                               int32_t rowStride, int32_t stride, SR_T* out) {
    const SR_T* panel = group->panel;
    int32_t slab = 0, j = 0;
    while (j < group->columns) {
        if (j == SR_LANES * (slab + 1)) {
            panel += SR_LANES * (int64_t)SR_NAME(widthOf)(group, slab);
            slab++;
        }
        const SR_T* first = panel + SR_LANES * (int64_t)j;
        SR_T* own = out + stride * (int64_t)j;
        int32_t left = group->columns - j;
        if (count == 1 && SR_LANES == 8 && left >= 8 && j % 8 == 0) {
            SR_NAME(dotColumns)(8, count, group, slab, first, rows, rowStride, stride, own);
            j += 8;
            continue;
        }
        switch (left) {
        case 1:
            SR_NAME(dotColumns)(1, count, group, slab, first, rows, rowStride, stride, own);
            break;
        case 2:
            SR_NAME(dotColumns)(2, count, group, slab, first, rows, rowStride, stride, own);
            break;
        case 3:
            SR_NAME(dotColumns)(3, count, group, slab, first, rows, rowStride, stride, own);
            break;
        default:
            SR_NAME(dotColumns)(4, count, group, slab, first, rows, rowStride, stride, own);
            break;
        }
        j += 4;
    }
}

// b = X' [b; r]
SR_KERNEL void SR_NAME(backward)(const int count, const SR_NAME(Group) * group, int32_t stride, SR_T* x,
                                 SR_T* rows) {
    for (int32_t r = 0; r < SR_LANES * group->slabs; r++) {
        for (int v = 0; v < count; v++) {
            SR_STORE(rows + SR_LANES * (count * (int64_t)r + v),
                     SR_LOAD(x + stride * (int64_t)group->rows[r] + SR_LANES * v));
        }
    }
    SR_T* own = x + stride * (int64_t)group->firstColumn;
    if (count >= 2) {
        SR_NAME(dotAll)(2, group, rows, SR_LANES * count, stride, own);
    }
    if (count % 2 == 1) {
        int lane = SR_LANES * (count - 1);
        SR_NAME(dotAll)(1, group, rows + lane, SR_LANES * count, stride, own + lane);
    }
}

SR_KERNEL void SR_NAME(sweepLanes)(const int count, const srFactor* f, int32_t stride, SR_T* x,
                                   SR_T* scratch) {
    for (int32_t g = 0; g < f->groupCount; g++) {
        SR_NAME(Group) group = SR_NAME(groupOf)(f, g);
        SR_NAME(forward)(count, &group, stride, x, scratch);
    }
    for (int32_t g = f->groupCount - 1; g >= 0; g--) {
        SR_NAME(Group) group = SR_NAME(groupOf)(f, g);
        SR_NAME(backward)(count, &group, stride, x, scratch);
    }
}

static void SR_NAME(sweep)(const srFactor* f, int32_t width, int32_t firstLane, int32_t endLane, void* x,
                           void* scratch) {
    SR_T* numbers = x;
    // the row where padding points
    memset(numbers + width * (int64_t)f->size + firstLane, 0, (size_t)(endLane - firstLane) * sizeof(SR_T));
    int32_t lane = firstLane;
    for (; lane + 3 * SR_LANES <= endLane; lane += 3 * SR_LANES) {
        SR_NAME(sweepLanes)(3, f, width, numbers + lane, scratch);
    }
    if (lane + 2 * SR_LANES <= endLane) {
        SR_NAME(sweepLanes)(2, f, width, numbers + lane, scratch);
        lane += 2 * SR_LANES;
    }
    if (lane < endLane) {
        SR_NAME(sweepLanes)(1, f, width, numbers + lane, scratch);
    }
}

// ---- rows ----

// The last vector of a row that has columns: what is to be added so that lanes beyond them are never above.
SR_KERNEL SR_V SR_NAME(padding)(int32_t columnCount) {
    SR_T lanes[SR_LANES];
    for (int i = 0; i < SR_LANES; i++) {
        lanes[i] = (columnCount - 1) % SR_LANES < i ? (SR_T)-1e30 : 0;
    }
    return SR_LOAD(lanes);
}

// The nearest point of the simplex (Michelot 1986): numbers at or below the threshold leave, until none does.
SR_KERNEL void SR_NAME(projectRow)(const SR_T* s, int32_t width, int32_t columnCount, SR_V padding, SR_T* z) {
    SR_T sum = 0;
    for (int32_t j = 0; j < columnCount; j++) {
        sum += s[j];
    }
    int32_t last = (columnCount - 1) / SR_LANES * SR_LANES, count = columnCount, before = columnCount + 1;
    SR_T threshold = (sum - 1) / (SR_T)columnCount;
    while (count < before) {
        SR_V sums = {0}, ones = {0};
        for (int32_t j = 0; j <= last; j += SR_LANES) {
            SR_V v = SR_LOAD(s + j);
            v = j == last ? v + padding : v;
            SR_MASK above = v > SR_SPLAT(threshold);
            sums += (SR_V)((SR_MASK)v & above);
            ones += (SR_V)((SR_MASK)SR_SPLAT(1) & above);
        }
        before = count;
        int32_t now = (int32_t)SR_NAME(sumLanes)(ones);
        // rounding may leave none of many equal numbers above, or let one come back: then it is good enough
        count = now > 0 && now < before ? now : before;
        threshold = now > 0 ? (SR_NAME(sumLanes)(sums) - 1) / (SR_T)now : threshold;
    }
    for (int32_t j = 0; j < width; j += SR_LANES) {
        SR_V v = (j <= last ? SR_LOAD(s + j) : (SR_V){0}) - SR_SPLAT(threshold);
        v = j == last ? v + padding : v;
        SR_STORE(z + j, j <= last ? (SR_V)((SR_MASK)v & (SR_MASK)(v > (SR_V){0})) : (SR_V){0});
    }
}

static void SR_NAME(reflect)(const srBiharmonicArrays* a, int32_t begin, int32_t end) {
    SR_V padding = SR_NAME(padding)(a->columnCount);
    for (int32_t k = begin; k < end; k++) {
        int64_t at = a->width * (int64_t)k;
        const SR_T* s = (const SR_T*)a->s + at;
        const SR_T* b = (const SR_T*)a->loads + at;
        SR_T *z = (SR_T*)a->z + at, *x = (SR_T*)a->x + at;
        SR_NAME(projectRow)(s, a->width, a->columnCount, padding, z);
        SR_V metric = SR_SPLAT(((const SR_T*)a->metric)[k]), scale = SR_SPLAT((SR_T)a->factor->scales[k]);
        for (int32_t j = 0; j < a->width; j += SR_LANES) {
            SR_V once = SR_LOAD(z + j);
            SR_STORE(x + j, scale * (metric * (once + once - SR_LOAD(s + j)) + SR_LOAD(b + j)));
        }
        // lanes beyond the columns hold thresholds' shadows
        for (int32_t j = a->columnCount; j < a->width; j++) {
            x[j] = 0;
        }
    }
}

static void SR_NAME(advance)(const srBiharmonicArrays* a, int32_t begin, int32_t end, double* outSums) {
    SR_V sums[SR_BIHARMONIC_SUMS] = {{0}};
    int32_t count = a->historyCount, newest = a->newest;
    for (int32_t k = begin; k < end; k++) {
        SR_V metric = SR_SPLAT(((const SR_T*)a->metric)[k]), scale = SR_SPLAT((SR_T)a->factor->scales[k]);
        for (int32_t j = 0; j < a->width; j += SR_LANES) {
            int64_t at = a->width * (int64_t)k + j;
            SR_V s = SR_LOAD((const SR_T*)a->s + at), z = SR_LOAD((const SR_T*)a->z + at);
            SR_V x = scale * SR_LOAD((const SR_T*)a->x + at), r = x - z, g = s + r;
            SR_STORE((SR_T*)a->x + at, x);
            SR_V weighed = metric * r;
            sums[0] += weighed * r;
            sums[1] += metric * z * z;
            sums[2] += metric * (s - z) * (s - z);
            if (newest >= 0) {
                SR_V dr = r - SR_LOAD((const SR_T*)a->residual + at);
                SR_V dg = g - SR_LOAD((const SR_T*)a->target + at), weighedStep = metric * dr;
                SR_STORE((SR_T*)a->residualSteps[newest] + at, dr);
                SR_STORE((SR_T*)a->targetSteps[newest] + at, dg);
                for (int32_t q = 0; q < count; q++) {
                    SR_V step = SR_LOAD((const SR_T*)a->residualSteps[q] + at);
                    sums[3 + q] += step * weighed;
                    sums[3 + SR_BIHARMONIC_MEMORY + q] += step * weighedStep;
                }
            }
            SR_STORE((SR_T*)a->residual + at, r);
            SR_STORE((SR_T*)a->target + at, g);
        }
    }
    for (int32_t q = 0; q < SR_BIHARMONIC_SUMS; q++) {
        outSums[q] = (double)SR_NAME(sumLanes)(sums[q]);
    }
}

static void SR_NAME(mix)(const srBiharmonicArrays* a, const double* shares, int32_t begin, int32_t end) {
    int64_t first = a->width * (int64_t)begin, last = a->width * (int64_t)end;
    for (int64_t at = first; at < last; at += SR_LANES) {
        SR_V s = SR_LOAD((const SR_T*)a->target + at);
        for (int32_t q = 0; q < a->historyCount; q++) {
            s -= SR_SPLAT((SR_T)shares[q]) * SR_LOAD((const SR_T*)a->targetSteps[q] + at);
        }
        SR_STORE((SR_T*)a->s + at, s);
    }
}
