// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a careful programmer writes without wide types: the same blocks and the same arithmetic, one lane
// after the other. The baselines of bench_pbd.c; they share no code with the kernels.

#pragma once

#include "solver/solver_kernels.h"

void srPlainDistances(srDistanceBlock* blocks, int32_t count, float* rows);
void srPlainVolumes(srVolumeBlock* blocks, int32_t count, float* rows);
void srPlainCells(const srCellSweep* sweep, int32_t count);
