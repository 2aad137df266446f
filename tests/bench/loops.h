// SPDX-License-Identifier: GPL-3.0-or-later
//
// What handing a loop to two workers costs, against handing it over with a mutex and a condition variable.
// Each figure is the median of many rounds, baseline and candidate in turns, so that a busy machine is busy
// for both.

#pragma once

#include "report.h"

void srBenchLoops(srBenchReport* report);
