// SPDX-License-Identifier: GPL-3.0-or-later
//
// A X = B with a factor of our own (factor.h), three columns at once, as rows of x, y, z: what a frame does
// with a factor. No heap, no BLAS; the same bits on every path, every machine and any number of workers,
// which share what hangs on the top of the elimination tree (factor_tasks.h): not from a loop's body. Several
// threads may solve with one factor at a time, each with a scratch of its own.

#pragma once

#include "math/factor.h"

/// Bytes of scratch for any of the solves; a multiple of 64, at which the scratch must start.
size_t srFactor_GetScratchSize(const srFactor* factor);

/// `b` and `x`: 3 floats a row in the caller's order; may be the same array. Needs sr_factorFloat. Relative
/// error about 1e-7 times what the matrix, scaled to a unit diagonal, is worse conditioned than a good one.
/// `sr_errorNotFinite`, and zeros in `x`, when `b` or the solution is not finite.
SR_MUST_USE srResult srFactor_SolveFloat(const srFactor* factor, const float* b, float* x, void* scratch);

/// The same of rows of four floats in `b`, of which the last has no meaning; `x` has three a row, and is
/// another array.
SR_MUST_USE srResult srFactor_SolveFloatRows(const srFactor* factor, const float* b, float* x, void* scratch);

/// srFactor_SolveFloat in double; needs sr_factorDouble.
SR_MUST_USE srResult srFactor_SolveDouble(const srFactor* factor, const double* b, double* x, void* scratch);

/// Solves with the float panels (the double ones where there are no others), then `stepCount` times with the
/// residual against A, whose lower triangle is read. `b` and `x` must not overlap.
SR_MUST_USE srResult srFactor_SolveRefined(const srFactor* factor, const srCsc* A, const double* b, double* x,
                                           int32_t stepCount, void* scratch);
