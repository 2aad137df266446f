// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows of x, y, z, 0 in float: what conjugate gradients do with them, one row after the other, so that sums
// have one order on every path. Packed rows have three numbers, and one more number after the last. Part of a
// kernel text.

// x, y, z of a packed row, and zero
SR_KERNEL srRowFloat loadPacked(const float* x) {
    const srRowFloat zero = {0};
    return __builtin_shufflevector(srLoadRowFloat(x), zero, 0, 1, 2, 4);
}

SR_KERNEL double sumRow(srRowDouble sums) {
    return (sums[0] + sums[1]) + sums[2];
}

static double dotRows(const float* x, const float* y, int32_t count) {
    srRowDouble sums = {0};
    for (int32_t i = 0; i < count; i++) {
        srRowFloat products = srLoadRowFloat(x + SR_ROW * i) * srLoadRowFloat(y + SR_ROW * i);
        sums += __builtin_convertvector(products, srRowDouble);
    }
    return sumRow(sums);
}

// The number after the last row of y is not read: another worker may be writing it.
static double dotPacked(const float* x, const float* y, int32_t count) {
    srRowDouble sums = {0};
    for (int32_t i = 0; i < count; i++) {
        const float* at = y + 3 * i;
        srRowFloat row = i + 1 < count ? loadPacked(at) : (srRowFloat){at[0], at[1], at[2], 0.0f};
        srRowFloat products = srLoadRowFloat(x + SR_ROW * i) * row;
        sums += __builtin_convertvector(products, srRowDouble);
    }
    return sumRow(sums);
}

static void turnRows(const float* z, float beta, const float* diagonal, float* p, float* q, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        srRowFloat row = loadPacked(z + 3 * i) + beta * srLoadRowFloat(p + SR_ROW * i);
        srStoreRowFloat(p + SR_ROW * i, row);
        srStoreRowFloat(q + SR_ROW * i, diagonal[i] * row);
    }
}

// returns r.r
static double advanceRows(float alpha, const float* p, const float* q, float* d, float* r, int32_t count) {
    srRowDouble sums = {0};
    for (int32_t i = 0; i < count; i++) {
        srRowFloat moved = srLoadRowFloat(d + SR_ROW * i) + alpha * srLoadRowFloat(p + SR_ROW * i);
        srRowFloat left = srLoadRowFloat(r + SR_ROW * i) - alpha * srLoadRowFloat(q + SR_ROW * i);
        srStoreRowFloat(d + SR_ROW * i, moved);
        srStoreRowFloat(r + SR_ROW * i, left);
        sums += __builtin_convertvector(left * left, srRowDouble);
    }
    return sumRow(sums);
}
