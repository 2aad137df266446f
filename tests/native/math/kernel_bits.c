// SPDX-License-Identifier: GPL-3.0-or-later
//
// kernel_bits <rounds> <factor>: prints a hash of what all wide kernels make of the same numbers, a line for
// each path of this machine: those of rotation.h and svd.h of 1,024 matrices a round, those of solve.h,
// thin.h and small.h of a stored factor (store_factor) and of matrices of every width of remainder. Lines
// that differ, here or between machines, break the promise of equal bits. Needs nothing but the kernels, so
// that it can be compiled for another processor and emulated: neon_bits.sh.

#include "core/alloc.h"
#include "core/hash.h"
#include "kinds.h"
#include "math/rotation.h"
#include "math/simd_path.h"
#include "math/small.h"
#include "math/solve.h"
#include "math/svd.h"
#include "math/thin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 128
#define MOST_ROWS 40 // of small and thin matrices
#define MOST_NUMBERS 1600

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

static uint64_t hashRotations(uint64_t hash) {
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

// The factor stays in the bytes, which the caller frees.
static bool readFactor(const char* path, srFactor* outFactor, void** outBytes, size_t* outSize) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return false;
    }
    size_t size = (size_t)ftell(file);
    void* bytes = srAlloc(size, 1);
    *outBytes = bytes;
    *outSize = size;
    rewind(file);
    bool isRead = bytes != NULL && fread(bytes, 1, size, file) == size;
    fclose(file);
    return isRead && srOpenFactor(bytes, size, outFactor) == sr_success;
}

static void fillNumbers(uint64_t* seed, size_t count, double* numbers, float* floats) {
    for (size_t i = 0; i < count; i++) {
        numbers[i] = srNextSigned(seed);
        floats[i] = (float)numbers[i];
    }
}

static uint64_t hashSolves(uint64_t hash, const srFactor* f, uint64_t* seed) {
    size_t count = 3 * (size_t)f->size;
    void* scratch = srAlloc(srFactor_GetScratchSize(f), 1);
    double* x = srAlloc(count, sizeof(double));
    float* xFloat = srAlloc(count, sizeof(float));
    if (scratch != NULL && x != NULL && xFloat != NULL) {
        fillNumbers(seed, count, x, xFloat);
        bool isSolved = srFactor_SolveDouble(f, x, x, scratch) == sr_success &&
                        srFactor_SolveFloat(f, xFloat, xFloat, scratch) == sr_success;
        hash = srHashBytes(hash, x, count * sizeof(double));
        hash = srHashBytes(hash, xFloat, count * sizeof(float));
        hash = isSolved ? hash : 0;
    }
    srFree(scratch, srFactor_GetScratchSize(f), 1);
    srFree(x, count, sizeof(double));
    srFree(xFloat, count, sizeof(float));
    return hash;
}

static uint64_t hashThin(uint64_t hash, int32_t rows, int32_t columns, uint64_t* seed) {
    static double values[MOST_NUMBERS], x[3 * MOST_ROWS], y[6 * MOST_ROWS], scratch[24 * MOST_ROWS];
    static float valuesF[MOST_NUMBERS], xF[3 * MOST_ROWS], yF[6 * MOST_ROWS], scratchF[24 * MOST_ROWS];
    srThin thin;
    fillNumbers(seed, (size_t)rows * (size_t)columns, values, valuesF);
    fillNumbers(seed, 3 * MOST_ROWS, x, xF);
    fillNumbers(seed, 6 * MOST_ROWS, y, yF);
    if (srCreateThin(values, rows, columns, sr_factorFloat | sr_factorDouble, &thin) != sr_success) {
        return 0;
    }
    srThin_MulAddDouble(&thin, x, y);
    srThin_MulAddFloat(&thin, xF, yF);
    srThin_MulAddTransposedDouble(&thin, x, y + 3 * MOST_ROWS, scratch);
    srThin_MulAddTransposedFloat(&thin, xF, yF + 3 * MOST_ROWS, scratchF);
    srDestroyThin(&thin);
    hash = srHashBytes(hash, y, sizeof y);
    return srHashBytes(hash, yF, sizeof yF);
}

static uint64_t hashSmall(uint64_t hash, int32_t size, uint64_t* seed) {
    static double A[MOST_NUMBERS], X[4 * MOST_ROWS];
    static float unused[MOST_NUMBERS];
    int32_t stride = srSmallStride(size);
    fillNumbers(seed, srSmallCount(size), A, unused);
    fillNumbers(seed, 4 * (size_t)stride, X, unused);
    for (int32_t i = 0; i < size; i++) {
        A[i * stride + i] += size + 1.0;
    }
    if (srFactorSmall(A, size) != SR_NULL_INDEX) {
        return 0;
    }
    srSolveSmall(A, size, X);
    for (int32_t j = 0; j < size; j++) {
        hash = srHashBytes(hash, A + j * stride + j, (size_t)(size - j) * sizeof(double));
    }
    return srHashBytes(hash, X, 4 * (size_t)size * sizeof(double));
}

static uint64_t hashPath(long rounds, const srFactor* factor, const srFactor* narrow) {
    uint64_t seed = 88172645463325252ull;
    uint64_t hash = SR_HASH_SEED;
    for (long round = 0; round < rounds; round++) {
        fillBlocks(&seed);
        hash = hashRotations(hash);
        if (round % 10 == 0) {
            hash = hashSolves(hash, factor, &seed);
            hash = hashSolves(hash, narrow, &seed);
        }
        int32_t rows = 1 + (int32_t)(round % MOST_ROWS);
        hash = hashThin(hash, rows, 1 + (int32_t)(round * 7 % MOST_ROWS), &seed);
        hash = hashSmall(hash, rows, &seed);
    }
    return hash;
}

int main(int argc, char** argv) {
    long rounds = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    srFactor factor;
    void* bytes = NULL;
    size_t size = 0;
    if (rounds < 1 || !readFactor(argv[2], &factor, &bytes, &size)) {
        fprintf(stderr, "usage: kernel_bits <rounds> <factor>\n");
        return 2;
    }
    srFactor narrow = factor; // on the same bytes
    if (srFactor_Narrow(&narrow) != sr_success) {
        return 1;
    }
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (srForceSimdPath((srSimdPath)path)) {
            printf("%s %016" PRIx64 "\n", srGetSimdPathName((srSimdPath)path),
                   hashPath(rounds, &factor, &narrow));
        }
    }
    srFactor_Widen(&narrow);
    srFree(bytes, size, 1);
    return 0;
}
