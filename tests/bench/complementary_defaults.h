// SPDX-License-Identifier: GPL-3.0-or-later
//
// What tolerance, substeps and integrator cost and give: where the solver's defaults come from.

#pragma once

#include "report.h"

/// Adds a figure of error and one of time for each choice; draws them into `svgPath` unless it is null.
void srBenchPlotDefaults(srBenchReport* out, const char* svgPath);
