// SPDX-License-Identifier: GPL-3.0-or-later

#include "solver/solver_kernels.h"

#include "math/simd_path.h"

const srSolverTable* srGetSolverTable(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
        return &srSolverTableAvx2;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srSolverTableNeon;
#endif
    default:
        return &srSolverTableScalar;
    }
}
