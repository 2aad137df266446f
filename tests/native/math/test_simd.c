// SPDX-License-Identifier: GPL-3.0-or-later
//
// The words of simd.h on a wide number and on each of its lanes alone. This file is compiled for every
// machine, so it sees the scalar path; that the others give the same bits is tested with the kernels
// (test_rotation.c, neon_bits.sh).

#include "math/simd.h"

#include "support/support.h"

#include <float.h>

static const float numbersF[] = {0.0f, -0.0f,        1.0f,     -1.0f,    3.0f,      -2.5f, FLT_MIN, -FLT_MIN,
                                 1e30, FLT_TRUE_MIN, -FLT_MAX, INFINITY, -INFINITY, 0.1f,  FLT_MAX, 7.0f};
static const double numbers[] = {0.0,   -0.0,         1.0,      -1.0,     3.0,       -2.5, DBL_MIN, -DBL_MIN,
                                 1e300, DBL_TRUE_MIN, -DBL_MAX, HUGE_VAL, -HUGE_VAL, 0.1,  DBL_MAX, 7.0};

#define COUNT SR_ARRAY_COUNT(numbers)

static void assertSameFloats(srFloatW wide, const float* lanes) {
    float stored[SR_FLOAT_LANES];
    srStoreFloatW(stored, wide);
    assert_memory_equal(stored, lanes, sizeof stored);
}

static void assertSameDoubles(srDoubleW wide, const double* lanes) {
    double stored[SR_DOUBLE_LANES];
    srStoreDoubleW(stored, wide);
    assert_memory_equal(stored, lanes, sizeof stored);
}

static void a_lane_does_what_a_plain_float_does(void** state) {
    (void)state;
    for (int i = 0; i + SR_FLOAT_LANES <= COUNT; i++) {
        for (int j = 0; j + SR_FLOAT_LANES <= COUNT; j++) {
            srFloatW a = srLoadFloatW(&numbersF[i]), b = srLoadFloatW(&numbersF[j]);
            srFloatW wide[] = {a + b,           a * b,        srAbs(a),        srCopySign(a, b),
                               srMinW(a, b),    srMaxW(a, b), srScaleToOne(a), srSelect(a < b, b, a),
                               srSqrt(srAbs(a))};
            float lanes[SR_ARRAY_COUNT(wide)][SR_FLOAT_LANES];
            for (int k = 0; k < SR_FLOAT_LANES; k++) {
                float x = numbersF[i + k], y = numbersF[j + k];
                float plain[] = {x + y,           x * y,        srAbs(x),        srCopySign(x, y),
                                 srMinW(x, y),    srMaxW(x, y), srScaleToOne(x), srSelect(x < y, y, x),
                                 srSqrt(srAbs(x))};
                for (int n = 0; n < SR_ARRAY_COUNT(plain); n++) {
                    lanes[n][k] = plain[n];
                }
                assert_int_equal((srBitsOfMaskFloatW(a < b) >> k) & 1, srBitsOfMaskFloat(x < y));
            }
            // what is not a number may have any sign: infinity less infinity, zero times infinity
            for (int n = 0; n < SR_ARRAY_COUNT(wide); n++) {
                srFloatW isNumber = srSelect(wide[n] == wide[n], wide[n], srSplatFloatW(0.0f));
                for (int k = 0; k < SR_FLOAT_LANES; k++) {
                    lanes[n][k] = lanes[n][k] == lanes[n][k] ? lanes[n][k] : 0.0f;
                }
                assertSameFloats(isNumber, lanes[n]);
            }
        }
    }
}

static void a_lane_does_what_a_plain_double_does(void** state) {
    (void)state;
    for (int i = 0; i + SR_DOUBLE_LANES <= COUNT; i++) {
        for (int j = 0; j + SR_DOUBLE_LANES <= COUNT; j++) {
            srDoubleW a = srLoadDoubleW(&numbers[i]), b = srLoadDoubleW(&numbers[j]);
            srDoubleW wide[] = {srAbs(a),        srCopySign(a, b),      srMinW(a, b),    srMaxW(a, b),
                                srScaleToOne(a), srSelect(a < b, b, a), srSqrt(srAbs(a))};
            double lanes[SR_ARRAY_COUNT(wide)][SR_DOUBLE_LANES];
            for (int k = 0; k < SR_DOUBLE_LANES; k++) {
                double x = numbers[i + k], y = numbers[j + k];
                double plain[] = {srAbs(x),        srCopySign(x, y),      srMinW(x, y),    srMaxW(x, y),
                                  srScaleToOne(x), srSelect(x < y, y, x), srSqrt(srAbs(x))};
                for (int n = 0; n < SR_ARRAY_COUNT(plain); n++) {
                    lanes[n][k] = plain[n];
                }
                assert_int_equal((srBitsOfMaskDoubleW(a < b) >> k) & 1, srBitsOfMaskDouble(x < y));
            }
            for (int n = 0; n < SR_ARRAY_COUNT(wide); n++) {
                assertSameDoubles(wide[n], lanes[n]);
            }
        }
    }
}

static void the_scale_is_a_power_of_two_that_brings_to_one(void** state) {
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        int exponent;
        assert_true(frexp(srScaleToOne(numbers[i]), &exponent) == 0.5);
        assert_true(frexpf(srScaleToOne(numbersF[i]), &exponent) == 0.5f);
        double size = fabs(numbers[i]) * srScaleToOne(numbers[i]);
        float sizeF = fabsf(numbersF[i]) * srScaleToOne(numbersF[i]);
        if (fabs(numbers[i]) >= DBL_MIN && fabs(numbers[i]) <= DBL_MAX) {
            assert_true(size >= 1.0 && size < 4.0);
            assert_true(sizeF >= 1.0f && sizeF < 4.0f);
        }
    }
}

static void a_nan_that_was_not_selected_does_not_matter(void** state) {
    (void)state;
    srFloatW x = {1, -1, 2, -2, 3, -3, 4, -4};
    srFloatW root = srSelect(x > 0.0f, srSqrt(x), srSplatFloatW(0.0f));
    const float lanes[] = {1.0f, 0.0f, sqrtf(2.0f), 0.0f, sqrtf(3.0f), 0.0f, 2.0f, 0.0f};
    assertSameFloats(root, lanes);
    assert_true(srMaxW((float)NAN, 2.0f) == 2.0f && srMinW((float)NAN, 2.0f) == 2.0f);
}

static void memory_may_be_misaligned(void** state) {
    (void)state;
    float floats[SR_FLOAT_LANES + 1];
    double doubles[SR_DOUBLE_LANES + 1];
    for (int i = 0; i <= SR_FLOAT_LANES; i++) {
        floats[i] = (float)i;
    }
    for (int i = 0; i <= SR_DOUBLE_LANES; i++) {
        doubles[i] = i;
    }
    assertSameFloats(srLoadFloatW(floats + 1), floats + 1);
    assertSameDoubles(srLoadDoubleW(doubles + 1), doubles + 1);
    srStoreFloatW(floats + 1, srSplatFloatW(5.0f));
    srStoreDoubleW(doubles + 1, srSplatDoubleW(5.0));
    assert_true(floats[0] == 0.0f && floats[1] == 5.0f && floats[SR_FLOAT_LANES] == 5.0f);
    assert_true(doubles[0] == 0.0 && doubles[1] == 5.0 && doubles[SR_DOUBLE_LANES] == 5.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_lane_does_what_a_plain_float_does, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_lane_does_what_a_plain_double_does, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_scale_is_a_power_of_two_that_brings_to_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_nan_that_was_not_selected_does_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(memory_may_be_misaligned, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/simd", tests, NULL, NULL);
}
