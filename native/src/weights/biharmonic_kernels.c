// SPDX-License-Identifier: GPL-3.0-or-later

#include "weights/biharmonic_kernels.h"

#include "math/simd_path.h"

const srBiharmonicTable* srGetBiharmonicTable(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
    case sr_simdAvx512:
        return &srBiharmonicTableAvx2;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srBiharmonicTableNeon;
#endif
    default:
        return &srBiharmonicTableScalar;
    }
}
