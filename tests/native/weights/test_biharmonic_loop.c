// SPDX-License-Identifier: GPL-3.0-or-later
//
// The loop against an answer found by other means: projected gradients, one dense product at a time.

#include "weights/biharmonic_loop.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/simd_path.h"
#include "support/support.h"
#include "weights/second_opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    rowCount = 60,
    columnCount = 5,
    valueCount = rowCount * columnCount
};

// Squares of second differences on a line, pulled to columns here and there: bounds bind in many rows.
typedef struct Line {
    double A[rowCount][rowCount];
    double loads[valueCount];
    double metric[rowCount];
    srVec3 places[rowCount];
    srSimplexProblem problem;
} Line;

static void createLine(Line* line) {
    static const int32_t ANCHORS[] = {3, 14, 25, 41, 57};
    memset(line, 0, sizeof(*line));
    for (int32_t k = 1; k + 1 < rowCount; k++) {
        const double stencil[3] = {-1.0, 2.0, -1.0};
        for (int a = 0; a < 9; a++) {
            line->A[k - 1 + a / 3][k - 1 + a % 3] += stencil[a / 3] * stencil[a % 3];
        }
    }
    for (int32_t j = 0; j < columnCount; j++) {
        line->A[ANCHORS[j]][ANCHORS[j]] += 3.0;
        line->loads[ANCHORS[j] * columnCount + j] += 3.0;
    }
    srTriplet triplets[rowCount * rowCount];
    int32_t count = 0;
    for (int32_t i = 0; i < rowCount; i++) {
        line->metric[i] = 0.05 * (1.0 + 0.3 * sin(i));
        line->places[i] = (srVec3){i, 0.0, 0.0};
        for (int32_t j = 0; j <= i; j++) {
            if (line->A[i][j] != 0.0) {
                triplets[count++] = (srTriplet){i, j, line->A[i][j]};
            }
        }
    }
    assert_success(srCreateCsc(rowCount, rowCount, triplets, count, &line->problem.A));
    line->problem.loads = line->loads;
    line->problem.metric = line->metric;
    line->problem.places = line->places;
    line->problem.columnCount = columnCount;
}

static void multiply(const Line* line, const double* w, double* out) {
    memset(out, 0, valueCount * sizeof(double));
    for (int32_t i = 0; i < rowCount; i++) {
        for (int32_t k = 0; k < rowCount; k++) {
            for (int32_t j = 0; j < columnCount; j++) {
                out[i * columnCount + j] += line->A[i][k] * w[k * columnCount + j];
            }
        }
    }
}

static double measureEnergy(const Line* line, const double* w) {
    double product[valueCount], energy = 0.0;
    multiply(line, w, product);
    for (int32_t k = 0; k < valueCount; k++) {
        energy += w[k] * (0.5 * product[k] - line->loads[k]);
    }
    return energy;
}

// accelerated, begun anew whenever the energy rises
static void solveByGradients(const Line* line, double* w) {
    double y[valueCount], next[valueCount], product[valueCount], momentum = 1.0, energy = (double)INFINITY;
    for (int32_t k = 0; k < valueCount; k++) {
        w[k] = y[k] = 1.0 / columnCount;
    }
    for (int32_t step = 0; step < 200000; step++) {
        double moved = 0.0;
        multiply(line, y, product);
        for (int32_t i = 0; i < rowCount; i++) {
            double row[columnCount];
            for (int32_t j = 0; j < columnCount; j++) {
                int32_t k = i * columnCount + j;
                row[j] = y[k] - (product[k] - line->loads[k]) / 20.0; // eigenvalues are below 19
            }
            projectBySorting(row, columnCount, next + i * columnCount);
        }
        double nextEnergy = measureEnergy(line, next),
               grown = 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        bool isWorse = nextEnergy > energy;
        for (int32_t k = 0; k < valueCount; k++) {
            moved = fmax(moved, fabs(next[k] - w[k]));
            y[k] = isWorse ? next[k] : next[k] + (momentum - 1.0) / grown * (next[k] - w[k]);
            w[k] = next[k];
        }
        momentum = isWorse ? 1.0 : grown;
        energy = nextEnergy;
        if (moved < 1e-14 && step > 1000) {
            break;
        }
    }
}

static void rows_are_in_the_simplex_and_agree_with_projected_gradients(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    double w[valueCount], expected[valueCount];
    srSimplexSettings settings = {1e-9, 5000};
    srSimplexReport report;
    assert_success(srSolveSimplexProblem(&line.problem, &settings, NULL, w, NULL, &report));
    assert_true(report.isConverged);
    solveByGradients(&line, expected);
    int32_t boundCount = 0;
    for (int32_t i = 0; i < rowCount; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < columnCount; j++) {
            double value = w[i * columnCount + j];
            assert_true(value >= 0.0 && value <= 1.0);
            boundCount += value == 0.0;
            sum += value;
            // two iterations' ends, each within some 1e-9 of the minimum
            assert_near(value, expected[i * columnCount + j], 1e-7);
        }
        assert_near(sum, 1.0, 1e-14);
    }
    assert_true(boundCount > rowCount); // bounds do bind
    srDestroyCsc(&line.problem.A);
}

// |v|^2 in the metric
static double square(const Line* line, const double* v) {
    double sum = 0.0;
    for (int32_t k = 0; k < valueCount; k++) {
        sum += line->metric[k / columnCount] * v[k] * v[k];
    }
    return sum;
}

// n is the part of y that is normal to the simplex at w: what projecting w + D^-1 y cuts off
static void residuals_are_true_ones(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    const double TOLERANCES[] = {1e-2, 1e-4, 1e-7};
    for (int t = 0; t < 3; t++) {
        double w[valueCount], x[valueCount], product[valueCount];
        double apart[valueCount], cut[valueCount], left[valueCount];
        srSimplexSettings settings = {TOLERANCES[t], 5000};
        srSimplexReport report;
        assert_success(srSolveSimplexProblem(&line.problem, &settings, NULL, w, x, &report));
        assert_true(report.isConverged);
        multiply(&line, x, product);
        for (int32_t i = 0; i < rowCount; i++) {
            double s[columnCount], back[columnCount];
            for (int32_t j = 0; j < columnCount; j++) {
                int32_t k = i * columnCount + j;
                s[j] = w[k] + (line.loads[k] - product[k]) / line.metric[i];
            }
            projectBySorting(s, columnCount, back);
            for (int32_t j = 0; j < columnCount; j++) {
                int32_t k = i * columnCount + j;
                apart[k] = x[k] - w[k];
                cut[k] = s[j] - back[j];
                left[k] = back[j] - w[k];
            }
        }
        assert_true(sqrt(square(&line, apart) / square(&line, w)) <= 1.001 * TOLERANCES[t]);
        // the nearest normal is at least as near as the one that the library has
        assert_true(sqrt(square(&line, left) / square(&line, cut)) <= 1.01 * TOLERANCES[t]);
    }
    srDestroyCsc(&line.problem.A);
}

static void bits_are_the_same_on_any_number_of_workers_and_every_path(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    double first[valueCount], w[valueCount];
    srSimplexSettings settings = {1e-4, 5000};
    srSimplexReport report;
    for (int t = 0; t < 2; t++) {
        settings.tolerance = t == 0 ? 1e-4 : 1e-8; // in float, in double
        for (int32_t workers = 1; workers <= 4; workers++) {
            srParallel_SetWorkerCount(workers);
            for (int scalar = 0; scalar < 2; scalar++) {
                srSimdPath best = srGetSimdPath();
                if (scalar) {
                    srForceSimdPath(sr_simdScalar);
                }
                assert_success(srSolveSimplexProblem(&line.problem, &settings, NULL, w, NULL, &report));
                srForceSimdPath(best);
                if (workers == 1 && !scalar) {
                    memcpy(first, w, sizeof(w));
                }
                assert_memory_equal(first, w, sizeof(w));
            }
        }
    }
    srParallel_SetWorkerCount(1);
    srDestroyCsc(&line.problem.A);
}

// Roughly first and then on from there: the same steps, so the same bits.
static void a_rough_turn_changes_no_bit_of_the_next(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    double expected[valueCount], w[valueCount], x[valueCount];
    const srSimplexSettings settings = {1e-4, 5000}, rough = {1e-2, 5000};
    srSimplexAnswer answer = {.weights = w, .smooth = x};
    srSimplexReport report;
    srSimplexLoop* loop;
    assert_success(srSolveSimplexProblem(&line.problem, &settings, NULL, expected, NULL, &report));
    assert_success(srCreateSimplexLoop(&line.problem, NULL, &loop));
    assert_success(srSimplexLoop_Solve(loop, &rough, &(srSimplexTurn){NULL, true, true}, NULL, &answer));
    int32_t steps = answer.report.iterationCount;
    assert_true(steps > 0 && steps < report.iterationCount);
    assert_memory_not_equal(expected, w, sizeof(w));
    assert_success(srSimplexLoop_Solve(loop, &settings, &(srSimplexTurn){0}, NULL, &answer));
    assert_int_equal(answer.report.iterationCount, report.iterationCount - steps);
    assert_memory_equal(expected, w, sizeof(w));
    srDestroySimplexLoop(loop);
    srDestroyCsc(&line.problem.A);
}

// Judged by what must hold of a minimum: forces are normal to what each row may be.
static void assert_minimum(const Line* line, const double* ceilings, const double* w) {
    double product[valueCount], s[columnCount], back[columnCount];
    multiply(line, w, product);
    for (int32_t i = 0; i < rowCount; i++) {
        for (int32_t j = 0; j < columnCount; j++) {
            int32_t k = i * columnCount + j;
            s[j] = w[k] + (line->loads[k] - product[k]) / line->metric[i];
        }
        projectByHalving(s, ceilings + (ptrdiff_t)i * columnCount, columnCount, back);
        for (int32_t j = 0; j < columnCount; j++) {
            assert_near(back[j], w[i * columnCount + j], 1e-6); // a thousand times what is left of forces
        }
    }
}

static void ceilings_come_and_go_from_turn_to_turn(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    double free[valueCount], w[valueCount], ones[valueCount], ceilings[valueCount];
    const srSimplexSettings settings = {1e-9, 5000};
    srSimplexAnswer answer = {.weights = w};
    srSimplexReport report;
    srSimplexLoop* loop;
    assert_success(srSolveSimplexProblem(&line.problem, &settings, NULL, free, NULL, &report));
    for (int32_t k = 0; k < valueCount; k++) {
        ones[k] = 1.0;
        ceilings[k] = k / columnCount % 5 == 2 ? 0.4 : 1.0;
    }
    assert_success(srCreateSimplexLoop(&line.problem, NULL, &loop));
    for (int turn = 0; turn < 3; turn++) {
        const double* most = turn == 1 ? ceilings : ones;
        assert_success(
            srSimplexLoop_Solve(loop, &settings, &(srSimplexTurn){most, true, false}, NULL, &answer));
        assert_true(answer.report.isConverged);
        assert_minimum(&line, most, w);
        double apart = 0.0;
        for (int32_t k = 0; k < valueCount; k++) {
            assert_true(w[k] >= 0.0 && w[k] <= most[k]);
            apart = fmax(apart, fabs(w[k] - free[k]));
        }
        assert_true(turn == 1 ? apart > 0.1 : apart < 1e-7);
    }
    srDestroySimplexLoop(loop);
    srDestroyCsc(&line.problem.A);
}

static void a_limit_of_steps_is_told_not_failed(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    double w[valueCount];
    srSimplexSettings settings = {1e-8, 3};
    srSimplexReport report;
    assert_success(srSolveSimplexProblem(&line.problem, &settings, NULL, w, NULL, &report));
    assert_false(report.isConverged);
    assert_int_equal(report.iterationCount, 3);
    for (int32_t i = 0; i < rowCount; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < columnCount; j++) {
            sum += w[i * columnCount + j];
        }
        assert_near(sum, 1.0, 1e-14);
    }
    srDestroyCsc(&line.problem.A);
}

static bool stopLater(float fraction, void* context) {
    int* calls = context;
    assert_true(fraction >= 0.0f && fraction <= 1.0f);
    return --*calls > 0;
}

static void whoever_says_stop_is_heard(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    double w[valueCount];
    srSimplexSettings settings = {1e-8, 5000};
    srSimplexReport report;
    for (int after = 1; after <= 12; after++) {
        int calls = after;
        srProgress progress = {stopLater, &calls, 0.0f, 1.0f};
        assert_result(srSolveSimplexProblem(&line.problem, &settings, &progress, w, NULL, &report),
                      sr_errorCancelled);
        assert_int_equal(calls, 0);
    }
    srDestroyCsc(&line.problem.A);
}

typedef struct Told {
    float last;
    int count, backwards;
} Told;

static bool noteProgress(float fraction, void* context) {
    Told* told = context;
    told->backwards += fraction < told->last;
    told->last = fraction;
    told->count++;
    return true;
}

// Residuals of mixed steps do go back, and a metric far off makes them do it often.
static void progress_never_goes_back(void** state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        Line line;
        createLine(&line);
        for (int32_t i = 0; i < rowCount; i++) {
            line.metric[i] *= k == 0 ? 0.05 : k == 1 ? 1.0 : 20.0;
        }
        double w[valueCount];
        srSimplexSettings settings = {1e-9, 5000};
        srSimplexReport report;
        Told told = {0};
        srProgress progress = {noteProgress, &told, 0.0f, 1.0f};
        assert_success(srSolveSimplexProblem(&line.problem, &settings, &progress, w, NULL, &report));
        assert_true(report.isConverged && told.count > 20);
        assert_int_equal(told.backwards, 0);
        assert_true(told.last == 1.0f);
        srDestroyCsc(&line.problem.A);
    }
}

static srResult solveOnce(void* context) {
    double w[valueCount];
    srSimplexSettings settings = {1e-3, 200};
    srSimplexReport report;
    return srSolveSimplexProblem(context, &settings, NULL, w, NULL, &report);
}

static void any_allocation_may_fail(void** state) {
    (void)state;
    Line line;
    createLine(&line);
    size_t before = srGetByteCount();
    // the matrix is held meanwhile, so bytes are compared here and not by the support's loop
    int64_t start = srAlloc_GetCount();
    assert_success(solveOnce(&line.problem));
    int64_t count = srAlloc_GetCount() - start;
    assert_true(count > 5);
    for (int64_t n = 1; n <= count; n++) {
        for (int forever = 0; forever < 2; forever++) {
            srAlloc_FailAt(n, forever);
            srResult result = solveOnce(&line.problem);
            srAlloc_FailAt(0, false);
            assert_int_equal(result, sr_errorOutOfMemory);
            assert_int_equal(srGetByteCount(), before);
        }
    }
    srDestroyCsc(&line.problem.A);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_are_in_the_simplex_and_agree_with_projected_gradients,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(residuals_are_true_ones, srTestNothingLeaked),
        cmocka_unit_test_teardown(bits_are_the_same_on_any_number_of_workers_and_every_path,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_rough_turn_changes_no_bit_of_the_next, srTestNothingLeaked),
        cmocka_unit_test_teardown(ceilings_come_and_go_from_turn_to_turn, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_limit_of_steps_is_told_not_failed, srTestNothingLeaked),
        cmocka_unit_test_teardown(progress_never_goes_back, srTestNothingLeaked),
        cmocka_unit_test_teardown(whoever_says_stop_is_heard, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_allocation_may_fail, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
