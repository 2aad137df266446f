// SPDX-License-Identifier: GPL-3.0-or-later
//
// What conjugate gradients do with rows of x, y, z, 0 in float, several workers at once where there are many.
// Packed rows have three numbers a row, and one number of no meaning after the last. All functions go over
// blocks of rows that do not depend on the number of workers.

#pragma once

#include "math/thin.h"

#include <stdint.h>

/// Numbers of scratch for the sums of `count` rows.
int32_t srCountRowPartials(int32_t count);

double srDotRows(const float* x, const float* y, int32_t count, double* partials);

/// The same, y packed; before, y += T z, unless T is null (srThin_MulAddFloat).
double srDotPacked(const float* x, const srThin* T, const float* z, float* y, int32_t count,
                   double* partials);

/// p = z + beta p, z packed; q = diagonal p, a number a row.
void srTurnRows(const float* z, float beta, const float* diagonal, float* p, float* q, int32_t count);

/// d += alpha p; r -= alpha q. Returns r.r.
double srAdvanceRows(float alpha, const float* p, const float* q, float* d, float* r, int32_t count,
                     double* partials);
