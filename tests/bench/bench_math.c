// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the numeric floor costs: wide rotations, sparse solves, and handing a loop to two workers.

#include "loops.h"
#include "math_parts.h"

#include <stddef.h>

int main(int argc, char** argv) {
    srBenchReport* report = srBench_Open(argc, argv, "math");
    if (report != NULL) {
        srBenchMathRotations(report);
        srBenchMathSolves(report);
        srBenchLoops(report);
    }
    return srBench_Close(report);
}
