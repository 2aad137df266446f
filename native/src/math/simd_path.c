// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/simd_path.h"

#include <stdatomic.h>

// the path and one, or zero while nobody has asked
static atomic_int chosen;

#if defined(SR_HAS_AVX2)
#define CPUID_OS_KEEPS (1U << 27)
#define CPUID_AVX (1U << 28)
#define CPUID_AVX2 (1U << 5)
#define KEEPS_WIDE_REGISTERS 6U

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

// by hand: __builtin_cpu_supports wants __cpu_model, which not every compiler's runtime library has
static bool hasAvx2(void) {
    srCpuid features = askCpuid(1);
    if (askCpuid(0).a < 7 || (features.c & CPUID_OS_KEEPS) == 0 || (features.c & CPUID_AVX) == 0) {
        return false;
    }

    // does the system keep both halves of the wide registers
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & KEEPS_WIDE_REGISTERS) == KEEPS_WIDE_REGISTERS && (askCpuid(7).b & CPUID_AVX2) != 0;
}
#endif

bool srHasSimdPath(srSimdPath path) {
    switch (path) {
    case sr_simdScalar:
        return true;
    case sr_simdAvx2:
#if defined(SR_HAS_AVX2)
        return hasAvx2();
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
        path = 1 + (srHasSimdPath(sr_simdAvx2)   ? sr_simdAvx2
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
    return path == sr_simdAvx2 ? "avx2" : path == sr_simdNeon ? "neon" : "scalar";
}
