// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dense Cholesky by blocks of four columns, sizes a multiple of four, columns `stride` apart. Lanes are rows
// of the matrix while factoring and right-hand sides while solving, so no sum runs over lanes.

// A pivot below this share of its diagonal entry is rounding noise.
#define SMALL_NOISE 1e-13

// A block of `count` (a constant) times four rows of four columns, less what the columns before `j` take
// away: sums[r][c] = A[i + 4 r, j + c] - sum over k < j of L[i + 4 r, k] L[j + c, k]
SR_KERNEL void reduceBlock(const int count, const double* A, int32_t stride, int32_t i, int32_t j,
                           srDoubleW sums[2][4]) {
    for (int r = 0; r < count; r++) {
        for (int c = 0; c < 4; c++) {
            sums[r][c] = srLoadDoubleW(A + (int64_t)(j + c) * stride + i + 4 * r);
        }
    }
    for (int32_t k = 0; k < j; k++) {
        const double* column = A + (int64_t)k * stride;
        for (int c = 0; c < 4; c++) {
            srDoubleW factor = srSplatDoubleW(column[j + c]);
            for (int r = 0; r < count; r++) {
                sums[r][c] -= srLoadDoubleW(column + i + 4 * r) * factor;
            }
        }
    }
}

// A factored block on the diagonal, column by column, and the inverses of its pivots.
typedef struct DiagonalBlock {
    double D[4][4];
    double inverses[4];
} DiagonalBlock;

// The triangle of a block on the diagonal, in place. The first bad column, or SR_NULL_INDEX.
static int32_t factorBlock(DiagonalBlock* block, const double diagonal[4]) {
    double (*D)[4] = block->D;
    for (int c = 0; c < 4; c++) {
        double pivot = D[c][c];
        if (!(pivot > SMALL_NOISE * diagonal[c] && pivot - pivot == 0.0)) {
            return c;
        }
        D[c][c] = sqrt(pivot);
        block->inverses[c] = 1.0 / D[c][c];
        for (int r = c + 1; r < 4; r++) {
            D[c][r] *= block->inverses[c];
        }
        for (int other = c + 1; other < 4; other++) {
            for (int r = other; r < 4; r++) {
                D[other][r] -= D[c][r] * D[c][other];
            }
        }
    }
    return SR_NULL_INDEX;
}

// Rows i .. i + 4 count - 1 of the four columns from j on, below their diagonal block.
SR_KERNEL void factorRows(const int count, double* A, int32_t stride, int32_t i, int32_t j,
                          const DiagonalBlock* block) {
    srDoubleW sums[2][4];
    reduceBlock(count, A, stride, i, j, sums);
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < count; r++) {
            sums[r][c] *= srSplatDoubleW(block->inverses[c]);
            for (int other = c + 1; other < 4; other++) {
                sums[r][other] -= sums[r][c] * srSplatDoubleW(block->D[c][other]);
            }
            srStoreDoubleW(A + (int64_t)(j + c) * stride + i + 4 * r, sums[r][c]);
        }
    }
}

static int32_t factorSmall(double* A, int32_t size, int32_t stride) {
    for (int32_t j = 0; j < size; j += 4) {
        srDoubleW sums[2][4];
        DiagonalBlock block;
        double diagonal[4];
        for (int c = 0; c < 4; c++) {
            diagonal[c] = A[(int64_t)(j + c) * stride + j + c];
        }
        reduceBlock(1, A, stride, j, j, sums);
        for (int c = 0; c < 4; c++) {
            srStoreDoubleW(block.D[c], sums[0][c]);
        }
        int32_t bad = factorBlock(&block, diagonal);
        if (bad != SR_NULL_INDEX) {
            return j + bad;
        }
        for (int c = 0; c < 4; c++) {
            srStoreDoubleW(A + (int64_t)(j + c) * stride + j, srLoadDoubleW(block.D[c]));
        }
        int32_t i = j + 4;
        for (; i + 8 <= size; i += 8) {
            factorRows(2, A, stride, i, j, &block);
        }
        if (i < size) {
            factorRows(1, A, stride, i, j, &block);
        }
    }
    return SR_NULL_INDEX;
}

// X is four numbers a row, one row a vector. Forward by columns, backward by rows of L'.
static void solveSmall(const double* L, int32_t size, int32_t stride, double* X) {
    for (int32_t j = 0; j < size; j += 4) {
        srDoubleW x[4];
        for (int c = 0; c < 4; c++) {
            const double* column = L + (int64_t)(j + c) * stride;
            x[c] = srLoadDoubleW(X + 4 * (int64_t)(j + c));
            for (int before = 0; before < c; before++) {
                x[c] -= srSplatDoubleW(L[(int64_t)(j + before) * stride + j + c]) * x[before];
            }
            x[c] /= srSplatDoubleW(column[j + c]);
            srStoreDoubleW(X + 4 * (int64_t)(j + c), x[c]);
        }
        for (int32_t i = j + 4; i < size; i++) {
            srDoubleW sum = srLoadDoubleW(X + 4 * (int64_t)i);
            for (int c = 0; c < 4; c++) {
                sum -= srSplatDoubleW(L[(int64_t)(j + c) * stride + i]) * x[c];
            }
            srStoreDoubleW(X + 4 * (int64_t)i, sum);
        }
    }
    for (int32_t j = size - 4; j >= 0; j -= 4) {
        srDoubleW x[4];
        for (int c = 0; c < 4; c++) {
            x[c] = srLoadDoubleW(X + 4 * (int64_t)(j + c));
        }
        for (int32_t i = j + 4; i < size; i++) {
            srDoubleW row = srLoadDoubleW(X + 4 * (int64_t)i);
            for (int c = 0; c < 4; c++) {
                x[c] -= srSplatDoubleW(L[(int64_t)(j + c) * stride + i]) * row;
            }
        }
        for (int c = 3; c >= 0; c--) {
            for (int after = c + 1; after < 4; after++) {
                x[c] -= srSplatDoubleW(L[(int64_t)(j + c) * stride + j + after]) * x[after];
            }
            x[c] /= srSplatDoubleW(L[(int64_t)(j + c) * stride + j + c]);
            srStoreDoubleW(X + 4 * (int64_t)(j + c), x[c]);
        }
    }
}

// As above with one right-hand side: lanes are rows here too. The four sums of a column are added in one
// order on every path.
static void solveSmallOne(const double* L, int32_t size, int32_t stride, double* x) {
    for (int32_t j = 0; j < size; j += 4) {
        const double* columns = L + (int64_t)j * stride;
        for (int c = 0; c < 4; c++) {
            for (int before = 0; before < c; before++) {
                x[j + c] -= columns[(int64_t)before * stride + j + c] * x[j + before];
            }
            x[j + c] /= columns[(int64_t)c * stride + j + c];
        }
        for (int32_t i = j + 4; i < size; i += 4) {
            srDoubleW sum = srLoadDoubleW(x + i);
            for (int c = 0; c < 4; c++) {
                sum -= srLoadDoubleW(columns + (int64_t)c * stride + i) * srSplatDoubleW(x[j + c]);
            }
            srStoreDoubleW(x + i, sum);
        }
    }
    for (int32_t j = size - 4; j >= 0; j -= 4) {
        const double* columns = L + (int64_t)j * stride;
        srDoubleW sums[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
        for (int32_t i = j + 4; i < size; i += 4) {
            srDoubleW row = srLoadDoubleW(x + i);
            for (int c = 0; c < 4; c++) {
                sums[c] += srLoadDoubleW(columns + (int64_t)c * stride + i) * row;
            }
        }
        for (int c = 3; c >= 0; c--) {
            x[j + c] -= (sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3]);
            for (int after = c + 1; after < 4; after++) {
                x[j + c] -= columns[(int64_t)c * stride + j + after] * x[j + after];
            }
            x[j + c] /= columns[(int64_t)c * stride + j + c];
        }
    }
}

// First columns are mixed, of three at a time, then rows: four functions are a lane each.
static void addTurned(const double* B, const double* R, double* A, int32_t stride) {
    for (int32_t c = 0; c < 4; c++) {
        srDoubleW x[3][3]; // axis of the column, of the row
        for (int k = 0; k < 9; k++) {
            x[k / 3][k % 3] = srLoadDoubleW(B + 48 * (k / 3) + 12 * c + 4 * (k % 3));
        }
        for (int e = 0; e < 3; e++) {
            const double* turn = R + 3 * e;
            srDoubleW rows[3];
            for (int i = 0; i < 3; i++) {
                rows[i] = srSplatDoubleW(turn[0]) * x[0][i] + srSplatDoubleW(turn[1]) * x[1][i] +
                          srSplatDoubleW(turn[2]) * x[2][i];
            }
            double* column = A + (int64_t)(4 * e + c) * stride;
            for (int d = 0; d < 3; d++) {
                srDoubleW sum = srSplatDoubleW(R[3 * d]) * rows[0] + srSplatDoubleW(R[3 * d + 1]) * rows[1] +
                                srSplatDoubleW(R[3 * d + 2]) * rows[2];
                srStoreDoubleW(column + 4 * d, srLoadDoubleW(column + 4 * d) + sum);
            }
        }
    }
}
