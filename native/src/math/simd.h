// SPDX-License-Identifier: GPL-3.0-or-later
//
// The one SIMD type: eight floats or four doubles, on every machine; eight doubles with AVX-512. Operators
// come with the compiler's vector types; what they lack stands here, and intrinsics stand nowhere else. A
// lane never sees another one, so that every path gives the same bits; the same words work on plain float and
// double, which is how one kernel text becomes a wide and a scalar function. Multiply-adds are not fused
// (docs/decisions/0008). Lives here: arithmetic of one path. Does not: which path a machine takes
// (simd_path.h).
//
// A kernel is a text (`*.inl`) that thin files compile once for each path: `*_avx2.c` defines SR_SIMD_AVX2
// and is compiled with -mavx2, `*_avx512.c` SR_SIMD_AVX512 besides, `*_neon.c` defines SR_SIMD_NEON,
// `*_scalar.c` none. Only those files include this, and those that compile a kernel for plain numbers.

#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(SR_SIMD_AVX2)
#include <immintrin.h>
#elif defined(SR_SIMD_NEON)
#include <arm_neon.h>
#endif

// all functions here are inlined, so how vectors are passed does not matter
#pragma GCC diagnostic ignored "-Wpsabi"

#define SR_FLOAT_LANES 8
#define SR_VECTOR __attribute__((vector_size(32), aligned(32)))
#if defined(SR_SIMD_AVX512)
#define SR_DOUBLE_LANES 8
#define SR_DOUBLE_VECTOR __attribute__((vector_size(64), aligned(64)))
#else
#define SR_DOUBLE_LANES 4
#define SR_DOUBLE_VECTOR SR_VECTOR
#endif

#define SR_KERNEL static inline __attribute__((always_inline))
#define SR_COLD __attribute__((noinline, cold))

typedef float srFloatW SR_VECTOR;
typedef double srDoubleW SR_DOUBLE_VECTOR;

/// What a comparison gives: a lane is all ones where it holds, else zero. Masks are joined with & and |. The
/// mask of a plain float or double is an int, 1 or 0.
typedef int32_t srMaskFloatW SR_VECTOR;
typedef int64_t srMaskDoubleW SR_DOUBLE_VECTOR;

typedef uint32_t srWordW SR_VECTOR;

// one value in all lanes

SR_KERNEL srFloatW srSplatFloatW(float x) {
    return (srFloatW){x, x, x, x, x, x, x, x};
}

SR_KERNEL srDoubleW srSplatDoubleW(double x) {
#if SR_DOUBLE_LANES == 8
    return (srDoubleW){x, x, x, x, x, x, x, x};
#else
    return (srDoubleW){x, x, x, x};
#endif
}

// memory of any alignment

SR_KERNEL srFloatW srLoadFloatW(const float* x) {
    srFloatW v;
    memcpy(&v, x, sizeof v);
    return v;
}

SR_KERNEL srDoubleW srLoadDoubleW(const double* x) {
    srDoubleW v;
    memcpy(&v, x, sizeof v);
    return v;
}

// Of eight words, the lower or the upper half of each, as the upper half of a float.
SR_KERNEL srFloatW srLowerHalvesFloatW(const uint32_t* words) {
    srWordW v;
    memcpy(&v, words, sizeof v);
    return (srFloatW)(v << 16);
}

SR_KERNEL srFloatW srUpperHalvesFloatW(const uint32_t* words) {
    srWordW v;
    memcpy(&v, words, sizeof v);
    return (srFloatW)(v & 0xffff0000u);
}

SR_KERNEL float srLoadFloat(const float* x) {
    return *x;
}

SR_KERNEL double srLoadDouble(const double* x) {
    return *x;
}

SR_KERNEL void srStoreFloatW(float* out, srFloatW v) {
    memcpy(out, &v, sizeof v);
}

SR_KERNEL void srStoreDoubleW(double* out, srDoubleW v) {
    memcpy(out, &v, sizeof v);
}

SR_KERNEL void srStoreFloat(float* out, float v) {
    *out = v;
}

SR_KERNEL void srStoreDouble(double* out, double v) {
    *out = v;
}

// the bits of a number, and back

SR_KERNEL int32_t srToBitsFloat(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SR_KERNEL float srFromBitsFloat(int32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

SR_KERNEL int64_t srToBitsDouble(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SR_KERNEL double srFromBitsDouble(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// the value of one lane or the other

SR_KERNEL float srSelectFloat(int32_t mask, float a, float b) {
    return mask ? a : b;
}

SR_KERNEL double srSelectDouble(int32_t mask, double a, double b) {
    return mask ? a : b;
}

SR_KERNEL srFloatW srSelectFloatW(srMaskFloatW mask, srFloatW a, srFloatW b) {
#if defined(SR_SIMD_AVX2)
    return (srFloatW)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (srFloatW)((mask & (srMaskFloatW)a) | (~mask & (srMaskFloatW)b));
#endif
}

SR_KERNEL srDoubleW srSelectDoubleW(srMaskDoubleW mask, srDoubleW a, srDoubleW b) {
#if defined(SR_SIMD_AVX512)
    return (srDoubleW)_mm512_mask_mov_pd((__m512d)b, _mm512_movepi64_mask((__m512i)mask), (__m512d)a);
#elif defined(SR_SIMD_AVX2)
    return (srDoubleW)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
#else
    return (srDoubleW)((mask & (srMaskDoubleW)a) | (~mask & (srMaskDoubleW)b));
#endif
}

// which lanes hold, lane 0 in bit 0

SR_KERNEL int32_t srBitsOfMaskFloat(int32_t mask) {
    return mask ? 1 : 0;
}

SR_KERNEL int32_t srBitsOfMaskDouble(int32_t mask) {
    return mask ? 1 : 0;
}

SR_KERNEL int32_t srBitsOfMaskFloatW(srMaskFloatW mask) {
#if defined(SR_SIMD_AVX2)
    return _mm256_movemask_ps((__m256)mask);
#else
    const srMaskFloatW weights = {1, 2, 4, 8, 16, 32, 64, 128};
    srMaskFloatW m = mask & weights;
    return m[0] | m[1] | m[2] | m[3] | m[4] | m[5] | m[6] | m[7];
#endif
}

SR_KERNEL int32_t srBitsOfMaskDoubleW(srMaskDoubleW mask) {
#if defined(SR_SIMD_AVX512)
    return _mm512_movepi64_mask((__m512i)mask);
#elif defined(SR_SIMD_AVX2)
    return _mm256_movemask_pd((__m256d)mask);
#else
    const srMaskDoubleW weights = {1, 2, 4, 8};
    srMaskDoubleW m = mask & weights;
    return (int32_t)(m[0] | m[1] | m[2] | m[3]);
#endif
}

// square roots, correctly rounded

SR_KERNEL float srSqrtFloat(float x) {
    return sqrtf(x);
}

SR_KERNEL double srSqrtDouble(double x) {
    return sqrt(x);
}

SR_KERNEL srFloatW srSqrtFloatW(srFloatW v) {
#if defined(SR_SIMD_AVX2)
    return (srFloatW)_mm256_sqrt_ps((__m256)v);
#elif defined(SR_SIMD_NEON)
    float32x4_t halves[2];
    memcpy(halves, &v, sizeof v);
    halves[0] = vsqrtq_f32(halves[0]);
    halves[1] = vsqrtq_f32(halves[1]);
    memcpy(&v, halves, sizeof v);
    return v;
#else
    return (srFloatW){sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3]),
                      sqrtf(v[4]), sqrtf(v[5]), sqrtf(v[6]), sqrtf(v[7])};
#endif
}

SR_KERNEL srDoubleW srSqrtDoubleW(srDoubleW v) {
#if defined(SR_SIMD_AVX512)
    return (srDoubleW)_mm512_sqrt_pd((__m512d)v);
#elif defined(SR_SIMD_AVX2)
    return (srDoubleW)_mm256_sqrt_pd((__m256d)v);
#elif defined(SR_SIMD_NEON)
    float64x2_t halves[2];
    memcpy(halves, &v, sizeof v);
    halves[0] = vsqrtq_f64(halves[0]);
    halves[1] = vsqrtq_f64(halves[1]);
    memcpy(&v, halves, sizeof v);
    return v;
#else
    return (srDoubleW){sqrt(v[0]), sqrt(v[1]), sqrt(v[2]), sqrt(v[3])};
#endif
}

// absolute value; a with the sign of b: by their bits, so that zeros and NaNs have signs too

SR_KERNEL float srAbsFloat(float x) {
    return srFromBitsFloat(srToBitsFloat(x) & INT32_MAX);
}

SR_KERNEL double srAbsDouble(double x) {
    return srFromBitsDouble(srToBitsDouble(x) & INT64_MAX);
}

SR_KERNEL srFloatW srAbsFloatW(srFloatW v) {
    return (srFloatW)((srMaskFloatW)v & INT32_MAX);
}

SR_KERNEL srDoubleW srAbsDoubleW(srDoubleW v) {
    return (srDoubleW)((srMaskDoubleW)v & INT64_MAX);
}

SR_KERNEL float srCopySignFloat(float a, float b) {
    return srFromBitsFloat((srToBitsFloat(a) & INT32_MAX) | (srToBitsFloat(b) & INT32_MIN));
}

SR_KERNEL double srCopySignDouble(double a, double b) {
    return srFromBitsDouble((srToBitsDouble(a) & INT64_MAX) | (srToBitsDouble(b) & INT64_MIN));
}

SR_KERNEL srFloatW srCopySignFloatW(srFloatW a, srFloatW b) {
    return (srFloatW)(((srMaskFloatW)a & INT32_MAX) | ((srMaskFloatW)b & INT32_MIN));
}

SR_KERNEL srDoubleW srCopySignDoubleW(srDoubleW a, srDoubleW b) {
    return (srDoubleW)(((srMaskDoubleW)a & INT64_MAX) | ((srMaskDoubleW)b & INT64_MIN));
}

// The power of two 2^-e for |x| in [2^e, 2^(e+1)), by the exponent's bits: x times it is exact and lies in
// [1, 2). Clamped to normal numbers, so: for zero and subnormal x the largest of them, for the largest x (and
// infinity, NaN) the smallest, where the product reaches 4.
#define SR_EXPONENT_FLOAT 0x7f800000
#define SR_EXPONENT_DOUBLE 0x7ff0000000000000
#define SR_MIRROR_FLOAT 0x7f000000
#define SR_MIRROR_DOUBLE 0x7fe0000000000000
#define SR_LEAST_FLOAT 0x00800000
#define SR_LEAST_DOUBLE 0x0010000000000000

SR_KERNEL float srScaleToOneFloat(float x) {
    int32_t bits = SR_MIRROR_FLOAT - (srToBitsFloat(x) & SR_EXPONENT_FLOAT);
    return srFromBitsFloat(bits < SR_LEAST_FLOAT ? SR_LEAST_FLOAT : bits);
}

SR_KERNEL double srScaleToOneDouble(double x) {
    int64_t bits = SR_MIRROR_DOUBLE - (srToBitsDouble(x) & SR_EXPONENT_DOUBLE);
    return srFromBitsDouble(bits < SR_LEAST_DOUBLE ? SR_LEAST_DOUBLE : bits);
}

SR_KERNEL srFloatW srScaleToOneFloatW(srFloatW v) {
    srMaskFloatW bits = SR_MIRROR_FLOAT - ((srMaskFloatW)v & SR_EXPONENT_FLOAT);
    srMaskFloatW isSmall = bits < SR_LEAST_FLOAT;
    return (srFloatW)((isSmall & SR_LEAST_FLOAT) | (~isSmall & bits));
}

SR_KERNEL srDoubleW srScaleToOneDoubleW(srDoubleW v) {
    srMaskDoubleW bits = SR_MIRROR_DOUBLE - ((srMaskDoubleW)v & SR_EXPONENT_DOUBLE);
    srMaskDoubleW isSmall = bits < SR_LEAST_DOUBLE;
    return (srDoubleW)((isSmall & SR_LEAST_DOUBLE) | (~isSmall & bits));
}

// one name for all four types

#define SR_BY_TYPE(name, x)                                                                                  \
    _Generic((x), float: name##Float, double: name##Double, srFloatW: name##FloatW, srDoubleW: name##DoubleW)

/// The correctly rounded square root.
#define srSqrt(x) SR_BY_TYPE(srSqrt, x)(x)
/// The absolute value.
#define srAbs(x) SR_BY_TYPE(srAbs, x)(x)
/// The size of `a` with the sign of `b`.
#define srCopySign(a, b) SR_BY_TYPE(srCopySign, a)((a), (b))
/// `a` where `mask` holds, else `b`; a NaN in the other one does not matter.
#define srSelect(mask, a, b) SR_BY_TYPE(srSelect, a)((mask), (a), (b))
/// A power of two that brings `x` into [1, 2); see above for the ends of the range.
#define srScaleToOne(x) SR_BY_TYPE(srScaleToOne, x)(x)
/// The smaller of two numbers; `b` when one is NaN.
#define srMinW(a, b) srSelect((a) < (b), (a), (b))
/// The larger of two numbers; `b` when one is NaN.
#define srMaxW(a, b) srSelect((a) > (b), (a), (b))
