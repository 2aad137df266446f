// SPDX-License-Identifier: GPL-3.0-or-later
//
// Order and factor of a sparse symmetric positive definite matrix, in three phases. The only room that names
// CHOLMOD. For preparing only: a frame never comes here, it solves with what factor.h took over.

#pragma once

#include "core/error.h"
#include "math/csc.h"

typedef struct srCholesky srCholesky;

/// The factor's columns in groups of equal structure, as CHOLMOD holds them: group s has the columns
/// `columnStarts[s] .. columnStarts[s + 1] - 1` of the reordered matrix and the rows
/// `rows[rowStarts[s]] .. rows[rowStarts[s + 1] - 1]`, ascending, its own columns first; its values are
/// dense, column by column, at `values + valueStarts[s]`. What stands above the diagonal is meaningless.
typedef struct srSupernodes {
    int32_t size;
    int32_t count;
    const int32_t* columnStarts;
    const int32_t* rowStarts;
    const int32_t* valueStarts;
    const int32_t* rows;
    const double* values;
    const int32_t* order; ///< Reordered number k is the caller's number order[k].
} srSupernodes;

/// Phase one, once for a pattern: chooses an order and lays the factor out. Reads the lower triangle of A,
/// and its pattern only. `order` is null or a permutation to be tried (dissect.h): what gives fewer entries
/// wins, it or approximate minimum degree. `sr_errorDependency` when BLAS computes wrongly here.
SR_MUST_USE srResult srAnalyzeCholesky(const srCsc* A, const int32_t* order, srCholesky** outCholesky);

/// How many entries the factor has, with what is laid out for nothing: from phase one on.
int64_t srCholesky_CountEntries(const srCholesky* cholesky);

/// Phases two and three: the values, the first time or again. A has the pattern that was analysed, else
/// `sr_errorInvalidValue`. Also that, with the first bad column (in the caller's numbering, first in the
/// order of elimination) in the text, when A is not positive definite, or singular to working precision. A
/// failure leaves the phase to be repeated: solves are refused until then.
SR_MUST_USE srResult srCholesky_Factor(srCholesky* cholesky, const srCsc* A);

/// All phases at once, ordered by approximate minimum degree.
SR_MUST_USE srResult srCreateCholesky(const srCsc* A, srCholesky** outCholesky);

/// Accepts null.
void srDestroyCholesky(srCholesky* cholesky);

/// A X = B, in place: `X` holds B column by column on entry. One thread at a time. `sr_errorNotReady` without
/// values.
SR_MUST_USE srResult srCholesky_Solve(srCholesky* cholesky, double* X, int32_t columnCount);

/// A view, valid until the next phase or the end of `cholesky`. `sr_errorNotReady` without values.
SR_MUST_USE srResult srCholesky_GetSupernodes(const srCholesky* cholesky, srSupernodes* outSupernodes);
