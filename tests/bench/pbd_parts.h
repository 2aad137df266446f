// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parts of bench_pbd: what each measures is said in its source.

#pragma once

#include "mesh/cage.h"
#include "report.h"
#include "solver/flesh.h"

/// A bar of flesh, held at one end, and its motion: shaken sideways.
typedef struct srBenchFlesh {
    srCage cage;
    srFleshRest rest;
    srFleshTuning tuning;
    srFleshState state;
    srVec3f* from;
    srVec3f* to;
    srVec3f* jump;
} srBenchFlesh;

bool srBenchCreateFlesh(const int32_t counts[3], int32_t handleCount, int32_t substeps, srBenchFlesh* out);
/// Other dials than it was created with.
bool srBenchTuneFlesh(srBenchFlesh* flesh, const srFleshDials* dials);
void srBenchDestroyFlesh(srBenchFlesh* flesh);

/// Seconds of one frame of the shaken bar;
double srBenchStepFlesh(srBenchFlesh* flesh, int32_t frame);
/// of one whose motion is set.
double srBenchPlayFlesh(srBenchFlesh* flesh);

void srBenchConstraints(srBenchReport* report);
void srBenchFrames(srBenchReport* report);
void srBenchLoose(srBenchReport* report);
void srBenchThreads(srBenchReport* report);
void srBenchSizes(srBenchReport* report);
