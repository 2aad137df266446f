// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tape keeps bits, and finds the first row that differs.

#include "support/support.h"

#include "sim/tape.h"

#include <math.h>
#include <string.h>

#define ROWS 6
#define FLOATS 3

static void fill(float* rows, int32_t rowCount, float first) {
    for (int32_t i = 0; i < rowCount * FLOATS; ++i) {
        rows[i] = first + (float)i;
    }
}

static void rows_come_back_to_the_bit(void** state) {
    (void)state;
    srTape tape;
    assert_success(srCreateTape(ROWS, FLOATS, &tape));
    float rows[ROWS * FLOATS];
    fill(rows, ROWS, 0.1f);
    rows[4] = -0.0f;
    srTape_Write(&tape, 0, 2, rows);
    assert_int_equal(tape.recordedCount, 2);
    srTape_Write(&tape, 2, ROWS - 2, rows + 2 * FLOATS);
    assert_int_equal(tape.recordedCount, ROWS);
    for (int32_t row = 0; row < ROWS; ++row) {
        assert_memory_equal(srTape_GetRow(&tape, row), rows + row * FLOATS, FLOATS * sizeof(float));
    }
    srDestroyTape(&tape);
}

static void the_first_change_is_found_by_bits(void** state) {
    (void)state;
    srTape tape;
    assert_success(srCreateTape(ROWS, FLOATS, &tape));
    float rows[ROWS * FLOATS];
    fill(rows, ROWS, 0.0f);
    assert_int_equal(srTape_FindChange(&tape, 0, ROWS, rows), 0);
    srTape_Write(&tape, 0, 4, rows);
    assert_int_equal(srTape_FindChange(&tape, 0, 4, rows), 4);
    assert_int_equal(srTape_FindChange(&tape, 1, 2, rows + FLOATS), 3);
    // beyond what is recorded everything is a change
    assert_int_equal(srTape_FindChange(&tape, 0, ROWS, rows), 4);
    for (int32_t row = 0; row < 4; ++row) {
        float other[ROWS * FLOATS];
        memcpy(other, rows, sizeof(rows));
        other[row * FLOATS + 2] = nextafterf(other[row * FLOATS + 2], 1e9f);
        assert_int_equal(srTape_FindChange(&tape, 0, 4, other), row);
    }
    // the last byte of a row counts
    float turned[ROWS * FLOATS];
    memcpy(turned, rows, sizeof(rows));
    turned[2 * FLOATS - 1] = -turned[2 * FLOATS - 1];
    assert_int_equal(srTape_FindChange(&tape, 0, 4, turned), 1);
    // zero and minus zero are two things
    rows[0] = -0.0f;
    assert_int_equal(srTape_FindChange(&tape, 0, 4, rows), 0);
    srDestroyTape(&tape);
}

static void writing_over_rows_keeps_those_after_them(void** state) {
    (void)state;
    srTape tape;
    assert_success(srCreateTape(ROWS, FLOATS, &tape));
    float rows[ROWS * FLOATS];
    float other[FLOATS] = {7.0f, 8.0f, 9.0f};
    fill(rows, ROWS, 0.0f);
    srTape_Write(&tape, 0, ROWS, rows);
    srTape_Write(&tape, 2, 1, other);
    assert_int_equal(tape.recordedCount, ROWS);
    assert_memory_equal(srTape_GetRow(&tape, 2), other, sizeof(other));
    assert_memory_equal(srTape_GetRow(&tape, 3), rows + 3 * FLOATS, sizeof(other));
    srDestroyTape(&tape);
}

static srResult makeTape(void* context) {
    (void)context;
    srTape tape;
    srResult result = srCreateTape(ROWS, FLOATS, &tape);
    srDestroyTape(&tape);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeTape, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_to_the_bit),
        cmocka_unit_test(the_first_change_is_found_by_bits),
        cmocka_unit_test(writing_over_rows_keeps_those_after_them),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/tape", tests, NULL, srTestNothingLeaked);
}
