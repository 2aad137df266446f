// SPDX-License-Identifier: GPL-3.0-or-later
//
// The experiments by which position-based complementary dynamics was published (Halim 2023), again: four
// characters' times, then three scenes against what is exact. Its tables stand beside ours; its shapes are
// not public in the form that was used, so ours are procedural, of the same sizes. Draws the trajectories
// into docs/images.

#include "thesis_parts.h"

#include "core/parallel.h"

#include <string.h>

// `bench thesis PART` plays one part alone: characters takes a minute, the scenes by their names longer.
// times, half a minute and only where it is asked for, says what iterations cost in the scenes and nothing
// else.
int main(int argc, char** argv) {
    static const char* const PARTS[] = {"characters", "oscillator", "beam", "jello", "times"};
    int part = -1;
    for (int k = 0; argc > 1 && k < 5; ++k) {
        part = strcmp(argv[argc - 1], PARTS[k]) == 0 ? k : part;
    }
    srBenchReport* report = srBench_Open(argc - (part >= 0), argv, "thesis");
    if (report != NULL) {
        srParallel_SetWorkerCount(1);
        for (int k = 0; k < 4; ++k) {
            if (part < 0 || part == k) {
                k == 0 ? srThesisBenchCharacters(report) : srThesisBenchScene(report, k - 1);
            }
        }
        if (part == 4) {
            srThesisBenchTimes(report);
        }
    }
    return srBench_Close(report);
}
