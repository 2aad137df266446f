// SPDX-License-Identifier: GPL-3.0-or-later
//
// Wide rotations, decompositions and turns against plain scalar C (math_plain.inl), 4,096 matrices in the
// second cache. Each figure is the least of many rounds, baseline and candidate in turns, so that who else is
// on the machine counts as little as can be. The rotation of the library is the nearest for any matrix; the
// baseline's only where the closed form is good.

#include "math_parts.h"

#include "math_plain.h"
#include "core/alloc.h"
#include "core/thread.h"
#include "math/rotation.h"
#include "math/simd_path.h"
#include "math/svd.h"

#include <math.h>
#include <stdio.h>

#define MATRICES 4096
#define BLOCKS (MATRICES / SR_BLOCK_LANES)
#define ROUNDS 200

// Additions, multiplications, divisions and square roots of one rotation by the kernel's text: invariants 81,
// bound of the root 10, four steps 72, closed form 85, polishing 98. Comparisons, selections and signs are
// not counted.
#define ROTATION_OPERATIONS 346.0

typedef struct srRotationBench {
    double F[MATRICES][9], R[MATRICES][9];
    float FF[MATRICES][9], RF[MATRICES][9];
    srMat3 matrices[MATRICES];
    srMat3f matricesF[MATRICES];
    srMat3Block blocks[BLOCKS], rotations[BLOCKS];
    srMat3Blockf blocksF[BLOCKS], rotationsF[BLOCKS];
    srTurnBlock turns[BLOCKS];
    srTurnBlockf turnsF[BLOCKS];
    srSvdBlock svds[BLOCKS];
    srSvdBlockf svdsF[BLOCKS];
} srRotationBench;

typedef void srPassFcn(srRotationBench* b);

static void plainRotations(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        srPlainRotation(b->F[i], b->R[i]);
    }
}

static void plainRotationsF(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        srPlainRotationF(b->FF[i], b->RF[i]);
    }
}

static void jacobiRotations(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        srPlainJacobiRotation(b->F[i], b->R[i]);
    }
}

static void jacobiRotationsF(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        srPlainJacobiRotationF(b->FF[i], b->RF[i]);
    }
}

static void plainSvds(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        double s[3], V[9];
        srPlainSvd(b->F[i], b->R[i], s, V);
        b->R[i][0] += s[2] + V[0];
    }
}

static void plainSvdsF(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        float s[3], V[9];
        srPlainSvdF(b->FF[i], b->RF[i], s, V);
        b->RF[i][0] += s[2] + V[0];
    }
}

static void singleRotations(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        b->R[i][0] = srFindRotation(&b->matrices[i]).m[0][0];
    }
}

static void singleRotationsF(srRotationBench* b) {
    for (int i = 0; i < MATRICES; i++) {
        b->RF[i][0] = srFindRotationF(&b->matricesF[i]).m[0][0];
    }
}

static void wideRotations(srRotationBench* b) {
    srFindRotations(b->blocks, b->rotations, BLOCKS);
}

static void wideRotationsF(srRotationBench* b) {
    srFindRotationsF(b->blocksF, b->rotationsF, BLOCKS);
}

static void wideSvds(srRotationBench* b) {
    srDecomposeBlocks(b->blocks, b->svds, BLOCKS);
}

static void wideSvdsF(srRotationBench* b) {
    srDecomposeBlocksF(b->blocksF, b->svdsF, BLOCKS);
}

static void wideTurns(srRotationBench* b) {
    srFindTurns(b->blocks, b->rotations, b->turns, BLOCKS);
}

static void wideTurnsF(srRotationBench* b) {
    srFindTurnsF(b->blocksF, b->rotationsF, b->turnsF, BLOCKS);
}

static double timePass(srPassFcn* pass, srRotationBench* b) {
    double start = srGetSeconds();
    pass(b);
    return 1e9 * (srGetSeconds() - start) / MATRICES;
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static double timeAlone(srPassFcn* pass, srRotationBench* b) {
    double least = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++) {
        least = lesser(least, timePass(pass, b));
    }
    return least;
}

typedef struct srComparison {
    const char* caseName;
    srPassFcn* baseline;
    srPassFcn* candidate;
    const char* baselineName;
    const char* candidateName;
    const char* goal;
    const char* ratioGoal;
} srComparison;

static double compare(srBenchReport* report, srRotationBench* b, const srComparison* c) {
    double baseline = HUGE_VAL, candidate = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++) {
        baseline = lesser(baseline, timePass(c->baseline, b));
        candidate = lesser(candidate, timePass(c->candidate, b));
    }
    srBench_Add(report, c->caseName, c->baselineName, baseline, "ns", NULL);
    srBench_Add(report, c->caseName, c->candidateName, candidate, "ns", c->goal);
    srBench_Add(report, c->caseName, "baseline / candidate", baseline / candidate, "", c->ratioGoal);
    return candidate;
}

static double nextSigned(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

// Entries of I * diagonal plus up to `size` either way
static void fill(srRotationBench* b, double diagonal, double size) {
    uint64_t state = 88172645463325252ull;
    for (int i = 0; i < MATRICES; i++) {
        for (int k = 0; k < 9; k++) {
            double entry = (k % 4 == 0 ? diagonal : 0.0) + size * nextSigned(&state);
            b->F[i][k] = b->matrices[i].m[k / 3][k % 3] = entry;
            b->FF[i][k] = b->matricesF[i].m[k / 3][k % 3] = (float)entry;
        }
        srSetLane(&b->blocks[i / SR_BLOCK_LANES], i % SR_BLOCK_LANES, &b->matrices[i]);
        srSetLaneF(&b->blocksF[i / SR_BLOCK_LANES], i % SR_BLOCK_LANES, &b->matricesF[i]);
    }
}

// A double has half the lanes, so half the peak. Measured among the rounds of the candidate: on a busy
// machine the peak is one of moments.
static void benchPeak(srBenchReport* report, srRotationBench* b, const srComparison* c, double lanes) {
    double nanoseconds = compare(report, b, c), peak = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        nanoseconds = lesser(nanoseconds, timePass(c->candidate, b));
        double now = srMeasurePeak() * lanes / 8.0;
        peak = now > peak ? now : peak;
    }
    if (peak > 0.0) {
        double speed = ROTATION_OPERATIONS / nanoseconds;
        const char* caseName = c->caseName;
        srBench_Add(report, caseName, "peak of fused multiply-adds", peak, "operations/ns", NULL);
        srBench_Add(report, caseName, "operations done", speed, "operations/ns", NULL);
        srBench_Add(report, caseName, "share of the peak", 100.0 * speed / peak, "%", NULL);
    }
}

static void benchDeformed(srBenchReport* report, srRotationBench* b) {
    const char* plain = "plain C, closed form (baseline)";
    const char* jacobi = "plain C, Jacobi (baseline)";
    const srComparison comparisons[] = {
        {"rotation, float, by Jacobi", jacobiRotationsF, wideRotationsF, jacobi, "srFindRotationsF", NULL,
         NULL},
        {"rotation, double, by Jacobi", jacobiRotations, wideRotations, jacobi, "srFindRotations", NULL,
         NULL},
        {"signed SVD, float", plainSvdsF, wideSvdsF, jacobi, "srDecomposeBlocksF", "<= 40", NULL},
        {"signed SVD, double", plainSvds, wideSvds, jacobi, "srDecomposeBlocks", NULL, NULL},
    };
    fill(b, 1.0, 0.4);
    const srComparison first = {"rotation, float",  plainRotationsF, wideRotationsF, plain,
                                "srFindRotationsF", "<= 7",          ">= 6"};
    const srComparison second = {"rotation, double", plainRotations, wideRotations, plain,
                                 "srFindRotations",  "<= 14",        ">= 3"};
    benchPeak(report, b, &first, 8.0);
    benchPeak(report, b, &second, 4.0);
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        compare(report, b, &comparisons[i]);
    }
    srBench_Add(report, "rotation, float", "srFindRotationF, one by one", timeAlone(singleRotationsF, b),
                "ns", NULL);
    srBench_Add(report, "rotation, double", "srFindRotation, one by one", timeAlone(singleRotations, b), "ns",
                NULL);
    srBench_Add(report, "rotation and how it turns", "srFindTurnsF", timeAlone(wideTurnsF, b), "ns", NULL);
    srBench_Add(report, "rotation and how it turns", "srFindTurns", timeAlone(wideTurns, b), "ns", NULL);
}

// Every second one is inside out, and one in two hundred needs the fall-back
static void benchRandom(srBenchReport* report, srRotationBench* b) {
    fill(b, 0.0, 1.0);
    const char* caseName = "entries at random, half inverted";
    srBench_Add(report, caseName, "srFindRotationsF", timeAlone(wideRotationsF, b), "ns", NULL);
    srBench_Add(report, caseName, "srFindRotations", timeAlone(wideRotations, b), "ns", NULL);
    srBench_Add(report, caseName, "srDecomposeBlocksF", timeAlone(wideSvdsF, b), "ns", NULL);
    srBench_Add(report, caseName, "srDecomposeBlocks", timeAlone(wideSvds, b), "ns", NULL);
}

// Beyond what the closed form does without being scaled first
static void benchTiny(srBenchReport* report, srRotationBench* b) {
    fill(b, 0x1p-60, 0.4 * 0x1p-60);
    const char* caseName = "all of size 2^-60";
    srBench_Add(report, caseName, "srFindRotationsF", timeAlone(wideRotationsF, b), "ns", NULL);
    srBench_Add(report, caseName, "srFindRotations", timeAlone(wideRotations, b), "ns", NULL);
    srBench_Add(report, caseName, "srFindTurnsF", timeAlone(wideTurnsF, b), "ns", NULL);
    srBench_Add(report, caseName, "srFindTurns", timeAlone(wideTurns, b), "ns", NULL);
}

static void benchPaths(srBenchReport* report, srRotationBench* b) {
    srSimdPath before = srGetSimdPath();
    fill(b, 1.0, 0.4);
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (srForceSimdPath((srSimdPath)path)) {
            char metric[64];
            snprintf(metric, sizeof metric, "srFindRotationsF, %s path", srGetSimdPathName((srSimdPath)path));
            srBench_Add(report, "rotation, float", metric, timeAlone(wideRotationsF, b), "ns", NULL);
            snprintf(metric, sizeof metric, "srDecomposeBlocksF, %s path",
                     srGetSimdPathName((srSimdPath)path));
            srBench_Add(report, "signed SVD, float", metric, timeAlone(wideSvdsF, b), "ns", NULL);
        }
    }
    srForceSimdPath(before);
}

void srBenchMathRotations(srBenchReport* report) {
    srRotationBench* b = srAllocZero(1, sizeof(srRotationBench));
    if (b == NULL) {
        return;
    }
    benchDeformed(report, b);
    benchRandom(report, b);
    benchTiny(report, b);
    benchPaths(report, b);
    srFree(b, 1, sizeof(srRotationBench));
}
