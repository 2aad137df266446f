// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/simd_path.h"

#include <stdatomic.h>

// the path and one, or zero while nobody has asked
static atomic_int chosen;

bool srHasSimdPath(srSimdPath path) {
    switch (path) {
    case sr_simdScalar:
        return true;
    case sr_simdAvx2:
#if defined(SR_HAS_AVX2)
        return __builtin_cpu_supports("avx2");
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
