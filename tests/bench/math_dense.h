// SPDX-License-Identifier: GPL-3.0-or-later
//
// The dense half of the bench of solves.

#pragma once

#include "report.h"

/// Small dense systems against plain C, and thin matrices, on one core.
void srBenchMathDense(srBenchReport* report);
