// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is left of a rig's rows (rigrows.h) that nearly depend on the others: the directions in which they do
// not, dense and orthonormal. Inner to rigrows.c.

#pragma once

#include "solver/rigrows.h"

/// Fills `remainders` and `remainderCount` of rows that have none yet, their matrix factored. With them no
/// candidate has more than 1e-10 of its length outside of what the rows span.
SR_MUST_USE srResult srFindRemainders(srRigRows* rows);

/// y = Q x, a row of four numbers each; `x` in rows of four.
void srMultiplyRemainders(const srRigRows* rows, const double* x, double* y);

/// Likewise for floats, `width` a node.
void srMultiplyRemaindersFloat(const srRigRows* rows, const float* x, int32_t width, double* y);

/// x -= Q' y for nodes from `begin` to `end`.
void srSubtractRemainders(const srRigRows* rows, const double* y, double* x, int32_t begin, int32_t end);
