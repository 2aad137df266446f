// SPDX-License-Identifier: GPL-3.0-or-later
//
// Factor and solve of a sparse symmetric positive definite matrix. The only room that names CHOLMOD. For
// preparing only: a frame never comes here.

#pragma once

#include "core/error.h"
#include "math/csc.h"

typedef struct srCholesky srCholesky;

/// Orders and factors A; reads its lower triangle only. `sr_errorInvalidValue` with the first bad column in
/// the text when A is not positive definite, `sr_errorDependency` when BLAS computes wrongly here.
SR_MUST_USE srResult srCreateCholesky(const srCsc* A, srCholesky** outFactor);

/// Accepts null.
void srDestroyCholesky(srCholesky* factor);

/// A X = B, in place: `X` holds B column by column on entry. One thread at a time.
SR_MUST_USE srResult srCholesky_Solve(srCholesky* factor, double* X, int32_t columnCount);
