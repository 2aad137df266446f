// SPDX-License-Identifier: GPL-3.0-or-later
//
// The experiments by which position-based complementary dynamics was published (Halim 2023), again: four
// characters' times, then three scenes against what is exact. Its tables stand beside ours; its shapes are
// not public in the form that was used, so ours are procedural, of the same sizes. Draws the trajectories
// into docs/images.

#include "thesis_parts.h"

#include "core/parallel.h"

int main(int argc, char** argv) {
    srBenchReport* report = srBench_Open(argc, argv, "thesis");
    if (report != NULL) {
        srParallel_SetWorkerCount(1);
        srThesisBenchCharacters(report);
        srThesisBenchScenes(report);
    }
    return srBench_Close(report);
}
