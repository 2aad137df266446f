// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parts of bench_thesis: what each measures is said in its source.

#pragma once

#include "report.h"
#include "support/thesis.h"

/// Curves of what a scene shows, as a picture in the project's docs/images.
typedef struct srThesisCurve {
    const char* name;
    const srThesisScene* scene; ///< Scenes of one picture are as long and show the same axis.
    const srVec3* path;
} srThesisCurve;

void srThesisDraw(const srThesisCurve* curves, int32_t curveCount, const char* fileName);

/// 0 to 2: oscillator, beam, jello.
void srThesisBenchScene(srBenchReport* report, int index);

/// What an iteration costs in each of them, and nothing else.
void srThesisBenchTimes(srBenchReport* report);

void srThesisBenchCharacters(srBenchReport* report);
