// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/dissect.h"
#include "math/simd_path.h"
#include "math/solve.h"
#include "matrices.h"

enum {
    bothKinds = sr_factorFloat | sr_factorDouble
};

// A factor with narrow panels, and one whose float panels have the same numbers.
typedef struct Pair {
    srFactor narrow;
    srFactor rounded;
    size_t count; // numbers of a right-hand side
    float *b, *x, *y;
    void* scratch;
    size_t scratchSize;
} Pair;

// the upper half of a float, the nearest, even of two as near
static float roundToHalf(float x) {
    double unit = x != 0.0f ? ldexp(1.0, ilogb((double)x) - 7) : 1.0;
    return (float)(nearbyint((double)x / unit) * unit);
}

static void roundPanels(srFactor* f) {
    float* panels = (float*)f->floatPanels;
    for (int64_t k = 0; k < f->floatStarts[f->groupCount]; k++) {
        panels[k] = roundToHalf(panels[k]);
    }
}

static Pair makePair(const srCsc* A, const int32_t* order) {
    Pair p = {.count = 3 * (size_t)A->columnCount};
    srCholesky* cholesky;
    assert_success(srAnalyzeCholesky(A, order, &cholesky));
    assert_success(srCholesky_Factor(cholesky, A));
    assert_success(srCreateFactor(cholesky, sr_factorFloat, &p.narrow));
    assert_success(srCreateFactor(cholesky, sr_factorFloat, &p.rounded));
    srDestroyCholesky(cholesky);
    assert_success(srFactor_Narrow(&p.narrow));
    roundPanels(&p.rounded);
    p.b = malloc(p.count * sizeof(float));
    p.x = malloc(p.count * sizeof(float));
    p.y = malloc(p.count * sizeof(float));
    double* numbers = makeNumbers(p.count, 31);
    for (size_t i = 0; i < p.count; i++) {
        p.b[i] = (float)numbers[i];
    }
    free(numbers);
    p.scratchSize = srFactor_GetScratchSize(&p.narrow);
    p.scratch = srAlloc(p.scratchSize, 1);
    memset(p.scratch, 0xff, p.scratchSize);
    return p;
}

static void freePair(Pair* p) {
    srDestroyFactor(&p->narrow);
    srDestroyFactor(&p->rounded);
    srFree(p->scratch, p->scratchSize, 1);
    free(p->b);
    free(p->x);
    free(p->y);
}

static void hasBitsOfRoundedPanels(srCsc A, const int32_t* order) {
    Pair p = makePair(&A, order);
    srSimdPath usual = srGetSimdPath();
    assert_true(srForceSimdPath(sr_simdScalar));
    assert_success(srFactor_SolveFloat(&p.rounded, p.b, p.y, p.scratch));
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (srForceSimdPath((srSimdPath)path)) {
            memset(p.x, 0, p.count * sizeof(float));
            assert_success(srFactor_SolveFloat(&p.narrow, p.b, p.x, p.scratch));
            assert_memory_equal(p.x, p.y, p.count * sizeof(float));
        }
    }
    assert_true(srForceSimdPath(usual));
    freePair(&p);
    srDestroyCsc(&A);
}

static void on_every_path_solves_have_the_bits_of_rounded_panels(void** state) {
    (void)state;
    // all remainders of columns and rows by the width of a slab, and by two and three of them
    for (int32_t n = 1; n <= 72; n++) {
        hasBitsOfRoundedPanels(makeRandom(n, n, (uint64_t)n, NULL), NULL);
        hasBitsOfRoundedPanels(makeRandom(2 * n, n, (uint64_t)n, NULL), NULL);
    }
    hasBitsOfRoundedPanels(makeGrid(9, 7, 5, 0.5, NULL), NULL);
    srVec3* positions;
    srCsc A = makeGrid(15, 14, 13, 1e-2, &positions);
    int32_t* order = malloc((size_t)A.columnCount * sizeof(int32_t));
    assert_success(srDissect(&A, positions, order));
    hasBitsOfRoundedPanels(A, order);
    free(order);
    free(positions);
}

static void workers_do_not_change_a_bit(void** state) {
    (void)state;
    srVec3* positions;
    srCsc A = makeGrid(16, 16, 16, 1e-2, &positions);
    int32_t* order = malloc((size_t)A.columnCount * sizeof(int32_t));
    assert_success(srDissect(&A, positions, order));
    Pair p = makePair(&A, order);
    assert_true(p.narrow.tasks.count > 3);
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(1);
    assert_success(srFactor_SolveFloat(&p.narrow, p.b, p.y, p.scratch));
    uint64_t counts[8] = {0};
    for (int32_t workers = 2; workers <= 8; workers++) {
        srParallel_SetWorkerCount(workers);
        // one that wakes late does nothing
        for (int tries = 0; tries < 2000 && (tries == 0 || (workers == 2 && counts[1] == 0)); tries++) {
            assert_success(srFactor_SolveFloat(&p.narrow, p.b, p.x, p.scratch));
            assert_memory_equal(p.x, p.y, p.count * sizeof(float));
            assert_int_equal(srParallel_GetBlockCounts(counts, 8), workers);
        }
        assert_true(workers != 2 || counts[1] > 0);
    }
    srParallel_Stop();
    srParallel_SetWorkerCount(before);
    free(order);
    free(positions);
    freePair(&p);
    srDestroyCsc(&A);
}

static double dotOf(const float* x, const float* y, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)x[i] * (double)y[i];
    }
    return sum;
}

// What conjugate gradients ask of a preconditioner.
static void answers_are_near_symmetric_and_positive(void** state) {
    (void)state;
    srCsc A = makeGrid(10, 9, 8, 0.3, NULL);
    Pair p = makePair(&A, NULL);
    float *c = malloc(p.count * sizeof(float)), *exact = malloc(p.count * sizeof(float));
    for (size_t i = 0; i < p.count; i++) {
        c[i] = p.b[p.count - 1 - i];
    }
    assert_success(srFactor_SolveFloat(&p.narrow, p.b, p.x, p.scratch));
    assert_success(srFactor_SolveFloat(&p.narrow, c, p.y, p.scratch));
    double size = sqrt(dotOf(p.x, p.x, p.count) * dotOf(c, c, p.count));
    assert_near((dotOf(p.x, c, p.count) - dotOf(p.y, p.b, p.count)) / size, 0.0, srTestTolerance(1e-6));
    assert_true(dotOf(p.x, p.b, p.count) > 0.0);

    // as floats have them, but for eight bits of each entry, and no nearer: else nothing would be narrow
    srFactor_Widen(&p.narrow);
    assert_success(srFactor_SolveFloat(&p.narrow, p.b, exact, p.scratch));
    double off = 0.0;
    for (size_t i = 0; i < p.count; i++) {
        off += ((double)p.x[i] - (double)exact[i]) * ((double)p.x[i] - (double)exact[i]);
    }
    double error = sqrt(off / dotOf(exact, exact, p.count));
    assert_true(error < 0x1p-7 && error > 1e-5);
    free(c);
    free(exact);
    freePair(&p);
    srDestroyCsc(&A);
}

static void filling_again_rounds_again(void** state) {
    (void)state;
    srCsc A = makeGrid(8, 9, 10, 0.1, NULL), B = makeGrid(8, 9, 10, 0.1, NULL);
    for (int32_t p = 0; p < B.columnStarts[B.columnCount]; p++) {
        B.values[p] *= 1.7;
    }
    srCholesky *cholesky, *other;
    srFactor f, g;
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateCholesky(&B, &other));
    assert_success(srCreateFactor(cholesky, bothKinds, &f));
    assert_success(srFactor_Narrow(&f));
    assert_success(srFactor_Narrow(&f)); // twice is once
    assert_success(srCreateFactor(other, bothKinds, &g));
    assert_success(srFactor_Narrow(&g));
    assert_int_equal(f.narrow.starts[f.groupCount], g.narrow.starts[g.groupCount]);
    size_t bytes = (size_t)f.narrow.starts[f.groupCount] * sizeof(uint32_t);
    assert_memory_not_equal(f.narrow.words, g.narrow.words, bytes);
    assert_success(srCholesky_Factor(cholesky, &B));
    assert_success(srFactor_Refill(&f, cholesky));
    assert_memory_equal(f.narrow.words, g.narrow.words, bytes);
    srDestroyFactor(&f);
    srDestroyFactor(&g);
    srDestroyCholesky(cholesky);
    srDestroyCholesky(other);
    srDestroyCsc(&A);
    srDestroyCsc(&B);
}

static void without_floats_there_is_nothing_to_narrow(void** state) {
    (void)state;
    srCsc A = makeGrid(3, 3, 3, 1.0, NULL);
    srCholesky* cholesky;
    srFactor f;
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateFactor(cholesky, sr_factorDouble, &f));
    assert_result(srFactor_Narrow(&f), sr_errorInvalidValue);
    srDestroyFactor(&f);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

static srResult createNarrow(void* context) {
    srFactor f;
    SR_TRY(srCreateFactor(context, sr_factorFloat, &f));
    srResult result = srFactor_Narrow(&f);
    srDestroyFactor(&f);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCsc A = makeGrid(4, 5, 6, 0.1, NULL);
    srCholesky* cholesky;
    assert_success(srCreateCholesky(&A, &cholesky));
    srTestEveryAllocationFails(createNarrow, cholesky);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(on_every_path_solves_have_the_bits_of_rounded_panels, srTestNothingLeaked),
        cmocka_unit_test_teardown(workers_do_not_change_a_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(answers_are_near_symmetric_and_positive, srTestNothingLeaked),
        cmocka_unit_test_teardown(filling_again_rounds_again, srTestNothingLeaked),
        cmocka_unit_test_teardown(without_floats_there_is_nothing_to_narrow, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/factor_narrow", tests, NULL, NULL);
}
