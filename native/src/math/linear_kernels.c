// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/linear_kernels.h"

#include "math/simd_path.h"

const srLinearKernels* srGetLinearKernels(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
        return &srLinearAvx2;
    case sr_simdAvx512:
        return &srLinearAvx512;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srLinearNeon;
#endif
    default:
        return &srLinearScalar;
    }
}
