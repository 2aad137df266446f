// SPDX-License-Identifier: GPL-3.0-or-later
//
// By which order slow motion comes to the pose that it would rest in.

#pragma once

#include "report.h"

/// Adds, for bends and twists with and without Pose correction, how far the flesh is behind at four speeds,
/// and the order.
void srBenchMeasureOrders(srBenchReport* out);
