// SPDX-License-Identifier: GPL-3.0-or-later
//
// The part of bench_prepare that times inside and outside: from a soup to the field on the lattice of a cage.

#pragma once

#include "report.h"

/// Adds the figures of all sizes, on two workers. No block of the library may be held.
void srBenchField(srBenchReport* report);
