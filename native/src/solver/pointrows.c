// SPDX-License-Identifier: GPL-3.0-or-later

#include "solver/pointrows.h"

#include "core/parallel.h"
#include "solver/newton_kernels.h"

#define ROWS_PER_BLOCK 512 // so many that handing them out costs little, so few that workers end together

typedef struct Rows {
    const float* x;
    const float* y;
    float* a;
    float* b;
    const float* diagonal;
    float factor;
    const srThin* thin;
    double* partials;
} Rows;

int32_t srCountRowPartials(int32_t count) {
    return (count + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
}

static double sumPartials(const double* partials, int32_t count) {
    double sum = 0.0;
    for (int32_t k = 0; k < srCountRowPartials(count); ++k) {
        sum += partials[k];
    }
    return sum;
}

static void dotRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Rows* rows = context;
    rows->partials[begin / ROWS_PER_BLOCK] =
        srGetNewtonTable()->dotRows(rows->x + 4 * (int64_t)begin, rows->y + 4 * (int64_t)begin, end - begin);
}

static void dotPackedRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Rows* rows = context;
    if (rows->thin != NULL) {
        srThin_MulAddFloatRange(rows->thin, rows->y, rows->a, begin, end);
    }
    rows->partials[begin / SR_THIN_PIECE] = srGetNewtonTable()->dotPacked(
        rows->x + 4 * (int64_t)begin, rows->a + 3 * (int64_t)begin, end - begin);
}

static void turnRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Rows* rows = context;
    srGetNewtonTable()->turnRows(rows->x + 3 * (int64_t)begin, rows->factor, rows->diagonal + begin,
                                 rows->a + 4 * (int64_t)begin, rows->b + 4 * (int64_t)begin, end - begin);
}

static void advanceRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Rows* rows = context;
    rows->partials[begin / ROWS_PER_BLOCK] = srGetNewtonTable()->advanceRows(
        rows->factor, rows->x + 4 * (int64_t)begin, rows->y + 4 * (int64_t)begin,
        rows->a + 4 * (int64_t)begin, rows->b + 4 * (int64_t)begin, end - begin);
}

double srDotRows(const float* x, const float* y, int32_t count, double* partials) {
    Rows rows = {.x = x, .y = y, .partials = partials};
    srParallelFor(dotRange, count, ROWS_PER_BLOCK, &rows);
    return sumPartials(partials, count);
}

double srDotPacked(const float* x, const srThin* T, const float* z, float* y, int32_t count,
                   double* partials) {
    Rows rows = {.x = x, .y = z, .a = y, .thin = T, .partials = partials};
    srParallelFor(dotPackedRange, count, SR_THIN_PIECE, &rows);
    double sum = 0.0;
    for (int32_t k = 0; k * SR_THIN_PIECE < count; ++k) {
        sum += partials[k];
    }
    return sum;
}

void srTurnRows(const float* z, float beta, const float* diagonal, float* p, float* q, int32_t count) {
    Rows rows = {.x = z, .factor = beta, .diagonal = diagonal, .a = p, .b = q};
    srParallelFor(turnRange, count, ROWS_PER_BLOCK, &rows);
}

double srAdvanceRows(float alpha, const float* p, const float* q, float* d, float* r, int32_t count,
                     double* partials) {
    Rows rows = {.x = p, .y = q, .factor = alpha, .a = d, .b = r, .partials = partials};
    srParallelFor(advanceRange, count, ROWS_PER_BLOCK, &rows);
    return sumPartials(partials, count);
}
