// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/factor_tasks.h"

#include "math/dissect.h"
#include "matrices.h"

static srFactor makeFactor(int32_t nx, int32_t ny, int32_t nz) {
    srVec3* positions;
    srCsc A = makeGrid(nx, ny, nz, 1e-2, &positions);
    int32_t* order = malloc((size_t)A.columnCount * sizeof(int32_t));
    srCholesky* cholesky;
    srFactor f;
    assert_success(srDissect(&A, positions, order));
    assert_success(srAnalyzeCholesky(&A, order, &cholesky));
    assert_success(srCholesky_Factor(cholesky, &A));
    assert_success(srCreateFactor(cholesky, sr_factorFloat, &f));
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
    free(order);
    free(positions);
    return f;
}

// the task of each row; `count` for those that come after all tasks
static int32_t* findTasks(const srFactor* f) {
    int32_t* tasks = malloc((size_t)f->size * sizeof(int32_t));
    for (int32_t k = 0; k < f->size; k++) {
        tasks[k] = SR_NULL_INDEX;
    }
    for (int32_t t = 0; t <= f->tasks.count; t++) {
        for (int32_t i = f->tasks.starts[t]; i < f->tasks.starts[t + 1]; i++) {
            int32_t g = f->tasks.groups[i];
            for (int32_t k = f->columnStarts[g]; k < f->columnStarts[g + 1]; k++) {
                assert_int_equal(tasks[k], SR_NULL_INDEX); // each group once
                tasks[k] = t;
            }
        }
    }
    for (int32_t k = 0; k < f->size; k++) {
        assert_true(tasks[k] != SR_NULL_INDEX);
    }
    return tasks;
}

static void tasks_write_nothing_that_others_read_or_write(void** state) {
    (void)state;
    srFactor f = makeFactor(17, 16, 15);
    const srFactorTasks* tasks = &f.tasks;
    assert_true(tasks->count > 3);
    int32_t* taskOfRow = findTasks(&f);
    for (int32_t t = 0; t < tasks->count; t++) {
        for (int32_t i = tasks->starts[t]; i < tasks->starts[t + 1]; i++) {
            int32_t g = tasks->groups[i];
            for (int32_t r = SR_SLAB_ROWS * f.slabStarts[g]; r < SR_SLAB_ROWS * f.slabStarts[g + 1]; r++) {
                int32_t row = f.rows[r], forward = tasks->forwardRows[r];
                if (forward < f.size) {
                    assert_int_equal(forward, row);
                    assert_int_equal(taskOfRow[row], t);
                    continue;
                }
                int32_t place = forward - f.size - 1;
                assert_in_range(place, tasks->outsideStarts[t], tasks->outsideStarts[t + 1] - 1);
                if (row == f.size) {
                    assert_int_equal(place, tasks->outsideStarts[t]);
                } else {
                    assert_int_equal(taskOfRow[row], tasks->count);
                    assert_true(place > tasks->outsideStarts[t]);
                    assert_int_equal(tasks->outsideRows[place], row);
                }
            }
        }
    }
    free(taskOfRow);
    srDestroyFactor(&f);
}

static void most_of_the_work_is_in_tasks_of_like_size(void** state) {
    (void)state;
    srFactor f = makeFactor(12, 12, 40);
    double inside = 0.0, largest = 0.0, total = (double)f.floatStarts[f.groupCount];
    for (int32_t t = 0; t < f.tasks.count; t++) {
        double work = 0.0;
        for (int32_t i = f.tasks.starts[t]; i < f.tasks.starts[t + 1]; i++) {
            int32_t g = f.tasks.groups[i];
            work += (double)(f.floatStarts[g + 1] - f.floatStarts[g]);
        }
        inside += work;
        largest = fmax(largest, work);
    }
    print_message("%d tasks, %.2f of the work, %.2f the largest\n", f.tasks.count, inside / total,
                  largest / total);
    assert_true(inside > 0.75 * total);
    assert_true(largest < 0.45 * total);
    srDestroyFactor(&f);
}

static void small_factors_have_no_tasks(void** state) {
    (void)state;
    srFactor f = makeFactor(6, 6, 6);
    assert_int_equal(f.tasks.count, 0);
    assert_null(f.tasks.groups);
    srDestroyFactor(&f);
}

static srResult createAgain(void* context) {
    srFactor* f = context;
    srResult result = srCreateFactorTasks(f);
    srDestroyFactorTasks(f);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srFactor f = makeFactor(17, 16, 15);
    srDestroyFactorTasks(&f);
    srTestEveryAllocationFails(createAgain, &f);
    srDestroyFactor(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(tasks_write_nothing_that_others_read_or_write, srTestNothingLeaked),
        cmocka_unit_test_teardown(most_of_the_work_is_in_tasks_of_like_size, srTestNothingLeaked),
        cmocka_unit_test_teardown(small_factors_have_no_tasks, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/factor_tasks", tests, NULL, NULL);
}
