// SPDX-License-Identifier: GPL-3.0-or-later
//
// The mesher alone, by target count and by what touches.

#pragma once

#include "report.h"

#include "mesh/surface.h"

/// A row a target, up to 100,000 nodes, on two workers.
void srBenchMesherTargets(srBenchReport* report, const char* name, const srSurface* surface);
