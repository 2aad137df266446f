// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which groups of a factor can be swept side by side: bundles of subtrees of its elimination tree. A fixed
// function of the factor, so that the number of workers does not change a bit. Inner to factor*.c and
// solve.c.

#pragma once

#include "math/factor.h"

/// Fills `factor->tasks`, which is zeroed before. Small factors have no tasks.
SR_MUST_USE srResult srCreateFactorTasks(srFactor* factor);

/// Accepts zeroed tasks.
void srDestroyFactorTasks(srFactor* factor);
