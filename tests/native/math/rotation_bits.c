// SPDX-License-Identifier: GPL-3.0-or-later
//
// rotation_bits <rounds>: prints a hash of what the kernels of rotation.h and svd.h make of the same
// matrices, 1,024 a round, a line for each path of this machine. Lines that differ, here or between machines,
// break the promise of equal bits. Needs nothing but the kernels, so that it can be compiled for another
// processor and emulated: neon_bits.sh.

#include "core/hash.h"
#include "kinds.h"
#include "math/rotation.h"
#include "math/simd_path.h"
#include "math/svd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 128

static srMat3Block F[BLOCKS], R[BLOCKS], dR[BLOCKS];
static srMat3Blockf FF[BLOCKS], RF[BLOCKS], dRF[BLOCKS];
static srTurnBlock T[BLOCKS];
static srTurnBlockf TF[BLOCKS];
static srSvdBlock svds[BLOCKS];
static srSvdBlockf svdsF[BLOCKS];
static srTwistBlock twists[BLOCKS];
static srTwistBlockf twistsF[BLOCKS];

static void fillBlocks(uint64_t* seed) {
    for (int i = 0; i < BLOCKS * SR_BLOCK_LANES; i++) {
        srKind kind = (srKind)(i % kind_count);
        srMat3 A = srRandomOfKind(kind, seed);
        srMat3f B = srNarrow3(&A);
        A = srStretchToDouble(kind, &A);
        srSetLane(&F[i / 8], i % 8, &A);
        srSetLaneF(&FF[i / 8], i % 8, &B);
    }
}

static uint64_t hashAll(uint64_t hash) {
    srFindTurns(F, R, T, BLOCKS);
    srFindTurnsF(FF, RF, TF, BLOCKS);
    srTurnRotations(R, T, F, dR, BLOCKS);
    srTurnRotationsF(RF, TF, FF, dRF, BLOCKS);
    srDecomposeBlocks(F, svds, BLOCKS);
    srDecomposeBlocksF(FF, svdsF, BLOCKS);
    srFindTwistBlocks(svds, twists, BLOCKS);
    srFindTwistBlocksF(svdsF, twistsF, BLOCKS);
    hash = srHashBytes(hash, F, sizeof F);
    hash = srHashBytes(hash, R, sizeof R);
    hash = srHashBytes(hash, RF, sizeof RF);
    hash = srHashBytes(hash, T, sizeof T);
    hash = srHashBytes(hash, TF, sizeof TF);
    hash = srHashBytes(hash, dR, sizeof dR);
    hash = srHashBytes(hash, dRF, sizeof dRF);
    hash = srHashBytes(hash, svds, sizeof svds);
    hash = srHashBytes(hash, svdsF, sizeof svdsF);
    hash = srHashBytes(hash, twists, sizeof twists);
    return srHashBytes(hash, twistsF, sizeof twistsF);
}

int main(int argc, char** argv) {
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: rotation_bits <rounds>\n");
        return 2;
    }
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (srForceSimdPath((srSimdPath)path)) {
            uint64_t seed = 88172645463325252ull;
            uint64_t hash = SR_HASH_SEED;
            for (long round = 0; round < rounds; round++) {
                fillBlocks(&seed);
                hash = hashAll(hash);
            }
            printf("%s %016" PRIx64 "\n", srGetSimdPathName((srSimdPath)path), hash);
        }
    }
    return 0;
}
