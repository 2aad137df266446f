// SPDX-License-Identifier: GPL-3.0-or-later
//
// One row of weights with ceilings, and the nearest allowed one. Rows without are projected many at once
// (biharmonic_kernels.h).

#pragma once

#include <stdint.h>

/// The nearest numbers to `s` between zero and `ceilings` with a sum of one, to rounding. The ceilings have a
/// sum of one at least.
void srProjectBelow(const double* s, const double* ceilings, int32_t count, double* out);
