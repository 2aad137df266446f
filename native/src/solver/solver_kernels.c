// SPDX-License-Identifier: GPL-3.0-or-later

#include "solver/solver_kernels.h"

const srSolverKernels* srGetSolverKernels(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
    case sr_simdAvx512:
        return &srSolverAvx2;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srSolverNeon;
#endif
    default:
        return &srSolverScalar;
    }
}
