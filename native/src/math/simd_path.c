// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/simd_path.h"

#include <stdatomic.h>

// the path and one, or zero while nobody has asked
static atomic_int chosen;

#if defined(SR_HAS_AVX2)
#define CPUID_OS_KEEPS (1U << 27)
#define CPUID_AVX (1U << 28)
#define CPUID_AVX2 (1U << 5)
#define CPUID_AVX512 (1U << 16 | 1U << 17 | 1U << 30 | 1U << 31) // F, DQ, BW, VL
#define KEEPS_WIDE_REGISTERS 6U
#define KEEPS_WIDEST_REGISTERS 0xe6U

typedef struct srCpuid {
    unsigned a, b, c, d;
} srCpuid;

static srCpuid askCpuid(unsigned leaf) {
    srCpuid answer;
    __asm__ volatile("cpuid"
                     : "=a"(answer.a), "=b"(answer.b), "=c"(answer.c), "=d"(answer.d)
                     : "a"(leaf), "c"(0));
    return answer;
}

// All of `wanted` in leaf 7, and registers that the system keeps in all their parts; by hand:
// __builtin_cpu_supports wants __cpu_model, which not every compiler's runtime library has.
static bool hasWide(unsigned wanted, unsigned registers) {
    srCpuid features = askCpuid(1);
    if (askCpuid(0).a < 7 || (features.c & CPUID_OS_KEEPS) == 0 || (features.c & CPUID_AVX) == 0) {
        return false;
    }
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & registers) == registers && (askCpuid(7).b & wanted) == wanted;
}
#endif

bool srHasSimdPath(srSimdPath path) {
    switch (path) {
    case sr_simdScalar:
        return true;
    case sr_simdAvx2:
#if defined(SR_HAS_AVX2)
        return hasWide(CPUID_AVX2, KEEPS_WIDE_REGISTERS);
#else
        return false;
#endif
    case sr_simdAvx512:
#if defined(SR_HAS_AVX2)
        return hasWide(CPUID_AVX2 | CPUID_AVX512, KEEPS_WIDEST_REGISTERS);
#else
        return false;
#endif
    case sr_simdNeon:
#if defined(SR_HAS_NEON)
        return true; // each 64-bit ARM has it
#else
        return false;
#endif
    }
    return false;
}

srSimdPath srGetSimdPath(void) {
    int path = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (path == 0) {
        // two threads that meet here find the same
        path = 1 + (srHasSimdPath(sr_simdAvx512) ? sr_simdAvx512
                    : srHasSimdPath(sr_simdAvx2) ? sr_simdAvx2
                    : srHasSimdPath(sr_simdNeon) ? sr_simdNeon
                                                 : sr_simdScalar);
        int nobody = 0;
        if (!atomic_compare_exchange_strong(&chosen, &nobody, path)) {
            path = nobody;
        }
    }
    return (srSimdPath)(path - 1);
}

bool srForceSimdPath(srSimdPath path) {
    if (!srHasSimdPath(path)) {
        return false;
    }
    atomic_store(&chosen, 1 + (int)path);
    return true;
}

const char* srGetSimdPathName(srSimdPath path) {
    static const char* const NAMES[SR_SIMD_PATH_COUNT] = {"scalar", "avx2", "neon", "avx512"};
    return NAMES[path];
}
