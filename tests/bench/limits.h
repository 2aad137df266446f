// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a core can do at best, for what a bench tells of the share that was reached.

#pragma once

#include <stddef.h>

/// Seconds of a copy that moves as many bytes, half of them read and half written.
double srBenchTimeCopy(size_t bytes);

/// Single-precision multiplications and additions, none fused, that a core does in a nanosecond at best; zero
/// where that is not known.
double srBenchMeasurePeak(void);
