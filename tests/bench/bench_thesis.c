// SPDX-License-Identifier: GPL-3.0-or-later
//
// The experiments by which position-based complementary dynamics was published (Halim 2023), again: four
// characters' times, then three scenes against what is exact. Its tables stand beside ours; its shapes are
// not public in the form that was used, so ours are procedural, of the same sizes. Draws the trajectories
// into docs/images.

#include "thesis_parts.h"

#include "core/parallel.h"

#include <string.h>

int main(int argc, char** argv) {
    bool isQuick = argc > 1 && strcmp(argv[argc - 1], "characters") == 0; // without the scenes: a minute
    srBenchReport* report = srBench_Open(argc - isQuick, argv, "thesis");
    if (report != NULL) {
        srParallel_SetWorkerCount(1);
        srThesisBenchCharacters(report);
        if (!isQuick) {
            srThesisBenchScenes(report);
        }
    }
    return srBench_Close(report);
}
