// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a stored factor. The last byte says whether the rest is signed first: without a signature
// nearly all inputs end at the checksum, with one the checks behind it are met. A factor that was opened must
// solve within bounds, whatever its numbers are.

#include "target.h"

#include "core/alloc.h"
#include "math/factor_layout.h"
#include "math/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 16384

static const char* const words[] = {"SRFACTOR", "\x01", "\x08", "\xff\xff\xff\x7f", NULL};

static void requireSolution(const srFactor* factor, srResult result, const void* x, size_t bytesPerNumber) {
    srFuzzRequire(result == sr_success || result == sr_errorNotFinite);
    for (size_t i = 0; i < 3 * (size_t)factor->size; i++) {
        double value = bytesPerNumber == sizeof(float) ? (double)((const float*)x)[i] : ((const double*)x)[i];
        srFuzzRequire(isfinite(value));
    }
}

static void solve(const srFactor* factor) {
    size_t count = 3 * (size_t)factor->size;
    size_t scratchSize = srFactor_GetScratchSize(factor);
    void* scratch = aligned_alloc(64, scratchSize > 0 ? scratchSize : 64);
    double* x = calloc(count, sizeof(double));
    float* xFloat = calloc(count, sizeof(float));
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)(i % 7) - 3.0;
        xFloat[i] = (float)x[i];
    }
    if ((factor->kinds & sr_factorDouble) != 0) {
        requireSolution(factor, srFactor_SolveDouble(factor, x, x, scratch), x, sizeof(double));
    }
    if ((factor->kinds & sr_factorFloat) != 0) {
        requireSolution(factor, srFactor_SolveFloat(factor, xFloat, xFloat, scratch), xFloat, sizeof(float));
    }
    free(xFloat);
    free(x);
    free(scratch);
}

static void signIfWhole(void* bytes, size_t size) {
    srFactorHeader header;
    if (size >= sizeof(header)) {
        memcpy(&header, bytes, sizeof(header));
        if (header.byteCount <= size && header.byteCount >= sizeof(header) && header.byteCount % 64 == 0) {
            srSignFactor(bytes);
        }
    }
}

static bool run(const uint8_t* bytes, size_t size) {
    if (size == 0) {
        return false;
    }

    // in place where the bytes start at a multiple of 64, and copied where they do not
    size_t bytesSize = size - 1, shift = (bytes[bytesSize] & 2) != 0 ? 8 : 0;
    char* block = aligned_alloc(64, (bytesSize + shift + 64) / 64 * 64);
    memcpy(block + shift, bytes, bytesSize);
    if ((bytes[bytesSize] & 1) != 0) {
        signIfWhole(block + shift, bytesSize);
    }
    srFactor factor;
    srResult result = srOpenFactor(block + shift, bytesSize, &factor);
    if (result == sr_success) {
        solve(&factor);
        srDestroyFactor(&factor);
    } else {
        srFuzzRequire(result == sr_errorInvalidValue && strlen(srGetErrorText()) > 10);
    }
    free(block);
    srFuzzRequire(srGetByteCount() == 0);
    return result == sr_success;
}

// A chain of springs with a few that reach across, so that there are groups of several shapes.
static void visitChain(int32_t size, int kinds, srFuzzSeedFcn* visit, void* context) {
    srTriplet triplets[256];
    int32_t count = 0;
    for (int32_t i = 0; i < size; i++) {
        triplets[count++] = (srTriplet){i, i, 4.0};
        if (i > 0) {
            triplets[count++] = (srTriplet){i, i - 1, -1.0};
        }
        if (i % 3 == 0 && i > 4) {
            triplets[count++] = (srTriplet){i, i / 2, -0.5};
        }
    }
    srCsc A;
    srCholesky* cholesky;
    srFactor factor;
    srFuzzRequire(srCreateCsc(size, size, triplets, count, &A) == sr_success);
    srFuzzRequire(srCreateCholesky(&A, &cholesky) == sr_success);
    srFuzzRequire(srCreateFactor(cholesky, kinds, &factor) == sr_success);
    char* bytes = malloc(factor.byteCount + 1);
    memcpy(bytes, factor.bytes, factor.byteCount);
    bytes[factor.byteCount] = 1;
    visit(bytes, factor.byteCount + 1, context);
    free(bytes);
    srDestroyFactor(&factor);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    visitChain(1, sr_factorFloat, visit, context);
    visitChain(7, sr_factorDouble, visit, context);
    visitChain(30, sr_factorFloat | sr_factorDouble, visit, context);
    visitChain(60, sr_factorFloat, visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"open_factor", run, visitSeeds, words, MAX_SIZE};
