// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/simd_path.h"

#include <stdatomic.h>

#if defined(SR_HAS_AVX2)
#include <cpuid.h>
#endif

// the path and one, or zero while nobody has asked
static atomic_int chosen;

#if defined(SR_HAS_AVX2)
// by hand: __builtin_cpu_supports wants __cpu_model, which not every compiler's runtime library has
static bool hasAvx2(void) {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) {
        return false;
    }

    // does the system keep both halves of the wide registers
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6) {
        return false;
    }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
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
