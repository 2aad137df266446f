// SPDX-License-Identifier: GPL-3.0-or-later

#include "solver/newton_kernels.h"

#include "math/simd_path.h"

const srNewtonTable* srGetNewtonTable(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
        return &srNewtonTableAvx2;
    case sr_simdAvx512:
        return &srNewtonTableAvx512;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srNewtonTableNeon;
#endif
    default:
        return &srNewtonTableScalar;
    }
}
