// SPDX-License-Identifier: GPL-3.0-or-later
//
// Products with panels, three columns at once: both sweeps of a solve over a factor's groups (factor.h), and
// thin matrices (thin.h). One text, for float and for double, and for floats whose panels are narrow: include
// it with SR_T (float or double), SR_V (its wide type), SR_LANES, SR_NAME (a suffix for all names), SR_OF
// (that of the type in simd.h), SR_NARROW (0 or 1), and SR_STARTS, SR_PANELS and SR_SLABS (fields; no slabs
// where panels are narrow) defined.
//
// With SR_SIMD_TWICE narrow panels are multiplied sixteen floats at a time, two slabs or two pairs of columns
// side by side: each sum has the same terms in the same order as without.
//
// Of a sweep, with X = [inverse of L11; -L21 * inverse of L11] of a group, b its rows of the right-hand side
// and r the rows below:
//   forward:  [b; r] = [0; r] + X b        backward:  b = X' [b; r]
// Forward, lanes are rows of the panel and nothing is summed over them; backward they are summed once a
// column. A panel's slabs are too short for the processor to guess that the next ones follow, so they are
// asked for ahead: 5 % of a solve whose panels are in the second cache or beyond it.

#define LoadW SR_OF(srLoad, W)
#define StoreW SR_OF(srStore, W)
#define SplatW SR_OF(srSplat, W)
#define Row SR_OF(srRow, )
#define LoadRow SR_OF(srLoadRow, )
#define StoreRow SR_OF(srStoreRow, )
#define GatherRows SR_OF(srGatherRows, )
#define ScatterRows SR_OF(srScatterRows, )
#define SumRows SR_OF(srSumRows, )
#define Group SR_NAME(Group, )
#define groupOf SR_NAME(groupOf, )
#define widthAt SR_NAME(widthAt, )
#define slabSize SR_NAME(slabSize, )
#define columnAt SR_NAME(columnAt, )
#define multiplySixSlabs SR_NAME(multiplySixSlabs, )
#define addEightColumns SR_NAME(addEightColumns, )
#define multiplyEightColumns SR_NAME(multiplyEightColumns, )
#define addSlabs SR_NAME(addSlabs, )
#define multiplySlabs SR_NAME(multiplySlabs, )
#define multiplySlab SR_NAME(multiplySlab, )
#define forwardGroup SR_NAME(forwardGroup, )
#define addColumns SR_NAME(addColumns, )
#define multiplyColumns SR_NAME(multiplyColumns, )
#define backwardGroup SR_NAME(backwardGroup, )
#define addLanes SR_NAME(addLanes, )
#define loadPoints SR_NAME(loadPoints, )
#define addTransposed SR_NAME(addTransposed, )

// Narrow panels have two columns in a word.
#undef SR_ENTRY
#undef SR_WORDS
#if SR_NARROW
#define SR_ENTRY uint32_t
#define SR_WORDS(count) ((count) / 2)
#else
#define SR_ENTRY SR_T
#define SR_WORDS(count) (count)
#endif

// One group, its slabs of SR_LANES rows.
typedef struct Group {
    int32_t firstColumn;
    int32_t columns;
    int32_t slabs;
    const int32_t* rows;
    const SR_ENTRY* panel;
} Group;

SR_KERNEL Group groupOf(const srFactor* f, const int32_t* rows, int32_t g) {
    return (Group){
        .firstColumn = f->columnStarts[g],
        .columns = f->columnStarts[g + 1] - f->columnStarts[g],
        .slabs = (f->slabStarts[g + 1] - f->slabStarts[g]) * (SR_SLAB_ROWS / SR_LANES),
        .rows = rows + SR_SLAB_ROWS * (int64_t)f->slabStarts[g],
        .panel = f->SR_PANELS + f->SR_STARTS[g],
    };
}

SR_KERNEL int32_t widthAt(const Group* group, int32_t slab) {
    int32_t width = SR_LANES * (slab + 1);
    return width < group->columns ? width : group->columns;
}

// of a slab of that many columns, in words
SR_KERNEL int64_t slabSize(int32_t width) {
    return SR_WORDS(SR_LANES * (int64_t)(SR_NARROW ? width + width % 2 : width));
}

// Column j of a slab, j even, or the next one.
SR_KERNEL SR_V columnAt(const SR_ENTRY* slab, int32_t j, const bool isNext) {
#if SR_NARROW
    return isNext ? srUpperHalvesFloatW(slab + SR_WORDS(SR_LANES * j))
                  : srLowerHalvesFloatW(slab + SR_WORDS(SR_LANES * j));
#else
    return LoadW(slab + SR_LANES * (j + isNext));
#endif
}

// Adds the products of `count` (a constant) slabs of equal width with b, whose rows are `bStride` (a
// constant) apart.
SR_KERNEL void addSlabs(const int count, const SR_ENTRY* panel, int32_t width, const int bStride,
                        const SR_T* b, SR_V sums[3][3]) {
    int64_t stride = slabSize(width);
    for (int32_t j = 0; j < width; j += 2) {
        for (int c = 0; c < 2 && j + c < width; c++) {
            const SR_T* at = b + bStride * (j + c);
            SR_V x = SplatW(at[0]), y = SplatW(at[1]), z = SplatW(at[2]);
            for (int s = 0; s < count; s++) {
                SR_V p = columnAt(panel + s * stride, j, c == 1);
                // of the slabs that follow
                __builtin_prefetch(panel + (count + s) * stride + SR_WORDS(SR_LANES * (j + c)));
                sums[s][0] += p * x;
                sums[s][1] += p * y;
                sums[s][2] += p * z;
            }
        }
    }
}

// Products of `count` (a constant) slabs of equal width with b, added to their rows of w.
SR_KERNEL void multiplySlabs(const int count, const SR_ENTRY* panel, int32_t width, const SR_T* b,
                             const int32_t* rows, SR_T* w) {
    SR_V sums[3][3] = {{{0}}};
    addSlabs(count, panel, width, SR_ROW, b, sums);
    for (int s = 0; s < count; s++) {
        ScatterRows(w, rows + SR_LANES * s, sums[s]);
    }
}

// The same of one slab: even and odd columns apart, or each sum would wait for the one before.
SR_KERNEL void multiplySlab(const SR_ENTRY* panel, int32_t width, const SR_T* b, const int32_t* rows,
                            SR_T* w) {
    SR_V sums[2][3] = {{{0}}};
    int32_t j = 0;
    for (; j + 2 <= width; j += 2) {
        for (int s = 0; s < 2; s++) {
            SR_V p = columnAt(panel, j, s == 1);
            sums[s][0] += p * SplatW(b[SR_ROW * (j + s)]);
            sums[s][1] += p * SplatW(b[SR_ROW * (j + s) + 1]);
            sums[s][2] += p * SplatW(b[SR_ROW * (j + s) + 2]);
        }
    }
    if (j < width) {
        SR_V p = columnAt(panel, j, false);
        sums[0][0] += p * SplatW(b[SR_ROW * j]);
        sums[0][1] += p * SplatW(b[SR_ROW * j + 1]);
        sums[0][2] += p * SplatW(b[SR_ROW * j + 2]);
    }
    for (int c = 0; c < 3; c++) {
        sums[0][c] += sums[1][c];
    }
    ScatterRows(w, rows, sums[0]);
}

#if SR_NARROW && defined(SR_SIMD_TWICE)

// Six slabs of equal width, as multiplySlabs does two times three.
SR_KERNEL void multiplySixSlabs(const SR_ENTRY* panel, int32_t width, const SR_T* b, const int32_t* rows,
                                SR_T* w) {
    srFloatTwice sums[3][3] = {{{0}}};
    int64_t stride = slabSize(width);
    for (int32_t j = 0; j < width; j += 2) {
        srWordTwice words[3];
        for (int s = 0; s < 3; s++) {
            const SR_ENTRY* at = panel + 2 * s * stride + SR_WORDS(SR_LANES * j);
            words[s] = srJoinWords(at, at + stride);
            __builtin_prefetch(at + 6 * stride);
            __builtin_prefetch(at + 7 * stride);
        }
        for (int c = 0; c < 2 && j + c < width; c++) {
            const SR_T* at = b + SR_ROW * (j + c);
            for (int s = 0; s < 3; s++) {
                srFloatTwice p = c == 0 ? srLowerHalvesTwice(words[s]) : srUpperHalvesTwice(words[s]);
                sums[s][0] += p * at[0];
                sums[s][1] += p * at[1];
                sums[s][2] += p * at[2];
            }
        }
    }
    for (int s = 0; s < 3; s++) {
        SR_V lower[3], upper[3];
        for (int c = 0; c < 3; c++) {
            lower[c] = SR_LOWER_OF_TWICE(sums[s][c]);
            upper[c] = SR_UPPER_OF_TWICE(sums[s][c]);
        }
        ScatterRows(w, rows + SR_LANES * (2 * s), lower);
        ScatterRows(w, rows + SR_LANES * (2 * s + 1), upper);
    }
}

#endif

static void forwardGroup(const Group* group, SR_T* w, SR_T* b) {
    // the group's own rows are taken out, and come back multiplied
    SR_T* own = w + SR_ROW * (int64_t)group->firstColumn;
    for (int32_t j = 0; j < group->columns; j++) {
        StoreRow(b + SR_ROW * j, LoadRow(own + SR_ROW * j));
        StoreRow(own + SR_ROW * j, (Row){0});
    }

    // slabs that end in the triangle
    const SR_ENTRY* panel = group->panel;
    int32_t slab = 0;
    for (; slab < group->slabs && SR_LANES * (slab + 1) < group->columns; slab++) {
        int32_t width = widthAt(group, slab);
        multiplySlab(panel, width, b, group->rows + SR_LANES * slab, w);
        panel += slabSize(width);
    }

    // slabs of full width; four at once need more registers than there are and were 2 % slower
    int64_t size = slabSize(group->columns);
#if SR_NARROW && defined(SR_SIMD_TWICE)
    for (; slab + 6 <= group->slabs; slab += 6) {
        multiplySixSlabs(panel, group->columns, b, group->rows + SR_LANES * slab, w);
        panel += 6 * size;
    }
#endif
    for (; slab + 3 <= group->slabs; slab += 3) {
        multiplySlabs(3, panel, group->columns, b, group->rows + SR_LANES * slab, w);
        panel += 3 * size;
    }
    if (slab + 2 == group->slabs) {
        multiplySlabs(2, panel, group->columns, b, group->rows + SR_LANES * slab, w);
    } else if (slab < group->slabs) {
        multiplySlab(panel, group->columns, b, group->rows + SR_LANES * slab, w);
    }
}

// Adds the products of `count` (a constant) columns of one slab with v.
SR_KERNEL void addColumns(const int count, const SR_ENTRY* panel, const SR_T* v, SR_V sums[4][3]) {
    SR_V x = LoadW(v), y = LoadW(v + SR_LANES), z = LoadW(v + 2 * SR_LANES);
    for (int c = 0; c < count; c++) {
        SR_V p = columnAt(panel, c - c % 2, c % 2 == 1);
        if (c % 2 == 0) {
            __builtin_prefetch(panel + SR_WORDS(SR_LANES * (c + 4))); // two columns are a line of the cache
        }
        sums[c][0] += p * x;
        sums[c][1] += p * y;
        sums[c][2] += p * z;
    }
}

// Products of `count` (a constant) columns with v, from the slab on where they begin; `panel` is that slab's
// first column of them.
SR_KERNEL void multiplyColumns(const int count, const Group* group, int32_t slab, const SR_ENTRY* panel,
                               const SR_T* v, SR_T* out) {
    SR_V sums[4][3] = {{{0}}};
    v += 3 * SR_LANES * (int64_t)slab;
    for (; slab < group->slabs && SR_LANES * (slab + 1) < group->columns; slab++) {
        addColumns(count, panel, v, sums);
        panel += slabSize(SR_LANES * (slab + 1));
        v += 3 * SR_LANES;
    }
    int64_t stride = slabSize(group->columns);
    for (; slab < group->slabs; slab++) {
        addColumns(count, panel, v, sums);
        panel += stride;
        v += 3 * SR_LANES;
    }
    Row rows[4];
    SumRows((const SR_V(*)[3])sums, rows);
    for (int c = 0; c < count; c++) {
        StoreRow(out + SR_ROW * c, rows[c]);
    }
}

#if SR_NARROW && defined(SR_SIMD_TWICE)

// Columns 0 and 2, 1 and 3, 4 and 6, 5 and 7 of eight, each two side by side.
SR_KERNEL void addEightColumns(const SR_ENTRY* panel, const SR_T* v, srFloatTwice sums[4][3]) {
    srFloatTwice xyz[3];
    for (int c = 0; c < 3; c++) {
        SR_V lanes = LoadW(v + SR_LANES * c);
        xyz[c] = srJoinFloats(lanes, lanes);
    }
    for (int q = 0; q < 2; q++) {
        const SR_ENTRY* at = panel + SR_WORDS(SR_LANES * 4 * q);
        srWordTwice words = srLoadWordTwice(at);
        __builtin_prefetch(at + SR_WORDS(SR_LANES * 8)); // of the next eight
        srFloatTwice even = srLowerHalvesTwice(words), odd = srUpperHalvesTwice(words);
        for (int c = 0; c < 3; c++) {
            sums[2 * q][c] += even * xyz[c];
            sums[2 * q + 1][c] += odd * xyz[c];
        }
    }
}

// Eight columns, as multiplyColumns does two times four.
SR_KERNEL void multiplyEightColumns(const Group* group, int32_t slab, const SR_ENTRY* panel, const SR_T* v,
                                    SR_T* out) {
    srFloatTwice sums[4][3] = {{{0}}};
    v += 3 * SR_LANES * (int64_t)slab;
    for (; slab < group->slabs && SR_LANES * (slab + 1) < group->columns; slab++) {
        addEightColumns(panel, v, sums);
        panel += slabSize(SR_LANES * (slab + 1));
        v += 3 * SR_LANES;
    }
    int64_t stride = slabSize(group->columns);
    for (; slab < group->slabs; slab++) {
        addEightColumns(panel, v, sums);
        panel += stride;
        v += 3 * SR_LANES;
    }
    for (int q = 0; q < 2; q++) {
        SR_V columns[4][3];
        Row rows[4];
        for (int c = 0; c < 3; c++) {
            columns[0][c] = SR_LOWER_OF_TWICE(sums[2 * q][c]);
            columns[1][c] = SR_LOWER_OF_TWICE(sums[2 * q + 1][c]);
            columns[2][c] = SR_UPPER_OF_TWICE(sums[2 * q][c]);
            columns[3][c] = SR_UPPER_OF_TWICE(sums[2 * q + 1][c]);
        }
        SumRows((const SR_V(*)[3])columns, rows);
        for (int c = 0; c < 4; c++) {
            StoreRow(out + SR_ROW * (4 * q + c), rows[c]);
        }
    }
}

#endif

static void backwardGroup(const Group* group, SR_T* w, SR_T* v) {
    for (int32_t slab = 0; slab < group->slabs; slab++) {
        SR_V xyz[3];
        GatherRows(w, group->rows + SR_LANES * slab, xyz);
        for (int c = 0; c < 3; c++) {
            StoreW(v + SR_LANES * (3 * slab + c), xyz[c]);
        }
    }
    const SR_ENTRY* panel = group->panel;
    SR_T* own = w + SR_ROW * (int64_t)group->firstColumn;
    int32_t slab = 0, j = 0;
#if SR_NARROW && defined(SR_SIMD_TWICE)
    for (; j + 8 <= group->columns; j += 8) {
        if (j == SR_LANES * (slab + 1)) {
            panel += slabSize(widthAt(group, slab));
            slab++;
        }
        multiplyEightColumns(group, slab, panel + SR_WORDS(SR_LANES * j), v, own + SR_ROW * j);
    }
#endif
    for (; j + 4 <= group->columns; j += 4) {
        if (j == SR_LANES * (slab + 1)) {
            panel += slabSize(widthAt(group, slab));
            slab++;
        }
        multiplyColumns(4, group, slab, panel + SR_WORDS(SR_LANES * j), v, own + SR_ROW * j);
    }
    if (j < group->columns && j == SR_LANES * (slab + 1)) {
        panel += slabSize(widthAt(group, slab));
        slab++;
    }
    const SR_ENTRY* rest = panel + SR_WORDS(SR_LANES * j);
    switch (group->columns - j) {
    case 3:
        multiplyColumns(3, group, slab, rest, v, own + SR_ROW * j);
        break;
    case 2:
        multiplyColumns(2, group, slab, rest, v, own + SR_ROW * j);
        break;
    case 1:
        multiplyColumns(1, group, slab, rest, v, own + SR_ROW * j);
        break;
    default:
        break;
    }
}

// Groups in the order of `groups` (of their numbers where that is null); `rows` stands for the factor's.
static void SR_NAME(forward, )(const srFactor* f, const int32_t* rows, const int32_t* groups, int32_t count,
                               SR_T* w, SR_T* scratch) {
    for (int32_t i = 0; i < count; i++) {
        Group group = groupOf(f, rows, groups != NULL ? groups[i] : i);
        forwardGroup(&group, w, scratch);
    }
}

// Likewise, from the last group to the first, with the factor's own rows.
static void SR_NAME(backward, )(const srFactor* f, const int32_t* groups, int32_t count, SR_T* w,
                                SR_T* scratch) {
    for (int32_t i = count - 1; i >= 0; i--) {
        Group group = groupOf(f, f->rows, groups != NULL ? groups[i] : i);
        backwardGroup(&group, w, scratch);
    }
}

#if !SR_NARROW

// Adds lanes to rows of three numbers.
SR_KERNEL void addLanes(const SR_V sums[3], int32_t count, SR_T* y) {
    SR_T lanes[3][SR_LANES];
    for (int c = 0; c < 3; c++) {
        StoreW(lanes[c], sums[c]);
    }
    for (int32_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) {
            y[3 * i + c] += lanes[c][i];
        }
    }
}

// y += T x
static void SR_NAME(mulAddThin, )(const srThin* T, const SR_T* x, SR_T* y) {
    const SR_T* slab = T->SR_SLABS;
    int64_t size = SR_LANES * (int64_t)T->columnCount;
    int32_t row = 0;
    for (; row + 3 * SR_LANES <= T->rowCount; row += 3 * SR_LANES) {
        SR_V sums[3][3] = {{{0}}};
        addSlabs(3, slab, T->columnCount, 3, x, sums);
        for (int s = 0; s < 3; s++) {
            addLanes(sums[s], SR_LANES, y + 3 * (int64_t)(row + SR_LANES * s));
        }
        slab += 3 * size;
    }
    for (; row < T->rowCount; row += SR_LANES) {
        SR_V sums[3][3] = {{{0}}};
        addSlabs(1, slab, T->columnCount, 3, x, sums);
        int32_t left = T->rowCount - row;
        addLanes(sums[0], left < SR_LANES ? left : SR_LANES, y + 3 * (int64_t)row);
        slab += size;
    }
}

// Rows of three numbers to lanes; zeros beyond `count`.
SR_KERNEL void loadPoints(const SR_T* x, int32_t count, SR_V out[3]) {
    SR_T lanes[3][SR_LANES] = {{0}};
    for (int32_t i = 0; i < SR_LANES && i < count; i++) {
        for (int c = 0; c < 3; c++) {
            lanes[c][i] = x[3 * i + c];
        }
    }
    for (int c = 0; c < 3; c++) {
        out[c] = LoadW(lanes[c]);
    }
}

// Adds products of `count` (a constant) slabs' columns with the slabs' rows of x to wide sums, three a
// column.
SR_KERNEL void addTransposed(const int count, const srThin* T, const SR_T* slab, const SR_T* x,
                             int32_t rowsLeft, SR_T* sums) {
    int64_t stride = SR_LANES * (int64_t)T->columnCount;
    SR_V v[3][3];
    for (int s = 0; s < count; s++) {
        loadPoints(x + 3 * SR_LANES * s, rowsLeft - SR_LANES * s, v[s]);
    }
    for (int32_t j = 0; j < T->columnCount; j++) {
        SR_T* sum = sums + 3 * SR_LANES * (int64_t)j;
        SR_V a = LoadW(sum), b = LoadW(sum + SR_LANES), c = LoadW(sum + 2 * SR_LANES);
        for (int s = 0; s < count; s++) {
            SR_V p = LoadW(slab + s * stride + SR_LANES * j);
            a += p * v[s][0];
            b += p * v[s][1];
            c += p * v[s][2];
        }
        StoreW(sum, a);
        StoreW(sum + SR_LANES, b);
        StoreW(sum + 2 * SR_LANES, c);
    }
}

// y += T' x; `sums` has room for 3 SR_LANES elements a column.
static void SR_NAME(mulAddTransposedThin, )(const srThin* T, const SR_T* x, SR_T* y, SR_T* sums) {
    const SR_T* slab = T->SR_SLABS;
    int64_t size = SR_LANES * (int64_t)T->columnCount;
    memset(sums, 0, 3 * (size_t)size * sizeof(SR_T));
    int32_t row = 0;
    for (; row + 3 * SR_LANES <= T->rowCount; row += 3 * SR_LANES) {
        addTransposed(3, T, slab, x + 3 * (int64_t)row, T->rowCount - row, sums);
        slab += 3 * size;
    }
    for (; row < T->rowCount; row += SR_LANES) {
        addTransposed(1, T, slab, x + 3 * (int64_t)row, T->rowCount - row, sums);
        slab += size;
    }
    for (int32_t j = 0; j < T->columnCount; j++) {
        SR_V v[4][3] = {{{0}}};
        for (int c = 0; c < 3; c++) {
            v[0][c] = LoadW(sums + SR_LANES * (3 * (int64_t)j + c));
        }
        Row rows[4];
        SumRows((const SR_V(*)[3])v, rows);
        for (int c = 0; c < 3; c++) {
            y[3 * (int64_t)j + c] += rows[0][c];
        }
    }
}

#endif

#undef LoadW
#undef StoreW
#undef SplatW
#undef Row
#undef LoadRow
#undef StoreRow
#undef GatherRows
#undef ScatterRows
#undef SumRows
#undef Group
#undef groupOf
#undef widthAt
#undef slabSize
#undef columnAt
#undef multiplySixSlabs
#undef addEightColumns
#undef multiplyEightColumns
#undef addSlabs
#undef multiplySlabs
#undef multiplySlab
#undef forwardGroup
#undef addColumns
#undef multiplyColumns
#undef backwardGroup
#undef addLanes
#undef loadPoints
#undef addTransposed
