// SPDX-License-Identifier: GPL-3.0-or-later
//
// The Laplacian of the nodes inside, factored once.

#include "rig/hold_poisson.h"

#include "core/alloc.h"
#include "math/cholesky.h"

enum {
    pairCount = 10
};

// Six volumes times the gradient of a corner's hat function is the area vector of the opposite face, twice:
// L_ab = n_a . n_b / (36 V)
static srResult measureCell(const srVec3* nodes, const int32_t corners[4], int32_t cell, srVec3 n[4],
                            double* outVolume) {
    srVec3 a = nodes[corners[0]];
    srVec3 ab = srSub(nodes[corners[1]], a), ac = srSub(nodes[corners[2]], a);
    srVec3 ad = srSub(nodes[corners[3]], a);
    n[1] = srCross(ac, ad);
    n[2] = srCross(ad, ab);
    n[3] = srCross(ab, ac);
    n[0] = srScale(-1.0, srAdd(n[1], srAdd(n[2], n[3])));
    *outVolume = srDot(ab, n[1]) / 6.0;
    return *outVolume > 0.0 ? sr_success
                            : srFail(sr_errorBadMesh, "Cell %d of the cage has no volume.", cell);
}

// lower triangle among the nodes inside, each under its own number; volumes of nodes
static srResult fillLaplacian(const srVec3* nodes, const int32_t (*cells)[4], int32_t cellCount,
                              const int32_t* numbers, double* volumes, srTriplet* triplets,
                              int32_t* outCount) {
    int32_t count = 0;
    for (int32_t cell = 0; cell < cellCount; ++cell) {
        srVec3 n[4];
        double volume;
        SR_TRY(measureCell(nodes, cells[cell], cell, n, &volume));
        for (int a = 0; a < 4; ++a) {
            int32_t i = numbers[cells[cell][a]];
            volumes[cells[cell][a]] += 0.25 * volume;
            for (int b = 0; b <= a && i != SR_NULL_INDEX; ++b) {
                int32_t j = numbers[cells[cell][b]];
                double value = srDot(n[a], n[b]) / (36.0 * volume);
                if (j != SR_NULL_INDEX) {
                    triplets[count++] = (srTriplet){i > j ? i : j, i > j ? j : i, value};
                }
            }
        }
    }
    *outCount = count;
    return sr_success;
}

// m z / its largest
static void spread(const int32_t* numbers, const double* volumes, const double* z, int32_t nodeCount,
                   double* outHolds) {
    double largest = 0.0;
    for (int32_t i = 0; i < nodeCount; ++i) {
        outHolds[i] = numbers[i] == SR_NULL_INDEX ? 0.0 : volumes[i] * z[numbers[i]];
        largest = outHolds[i] > largest ? outHolds[i] : largest;
    }
    for (int32_t i = 0; i < nodeCount && largest > 0.0; ++i) {
        outHolds[i] /= largest;
    }
}

srResult srComputePoissonHold(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                              int32_t cellCount, const bool* isOnBoundary, double* outHolds) {
    int32_t insideCount = 0, tripletCount = 0;
    srCsc L = {0};
    srCholesky* cholesky = NULL;
    srResult result = sr_success;
    int32_t* numbers = SR_ALLOC(int32_t, nodeCount);
    double* volumes = SR_ALLOC_ZERO(double, nodeCount);
    double* z = SR_ALLOC_ZERO(double, nodeCount);
    srTriplet* triplets = SR_ALLOC(srTriplet, (int64_t)pairCount * cellCount);
    if (numbers == NULL || volumes == NULL || z == NULL || triplets == NULL) {
        result = srFailOutOfMemory("the hold map");
        goto cleanup;
    }
    for (int32_t i = 0; i < nodeCount; ++i) {
        numbers[i] = isOnBoundary[i] ? SR_NULL_INDEX : insideCount++;
    }
    SR_TRY_CLEANUP(fillLaplacian(nodes, cells, cellCount, numbers, volumes, triplets, &tripletCount));
    if (insideCount > 0) {
        SR_TRY_CLEANUP(srCreateCsc(insideCount, insideCount, triplets, tripletCount, &L));
        SR_TRY_CLEANUP(srCreateCholesky(&L, &cholesky));
        for (int32_t i = 0; i < nodeCount; ++i) {
            if (numbers[i] != SR_NULL_INDEX) {
                z[numbers[i]] = volumes[i];
            }
        }
        SR_TRY_CLEANUP(srCholesky_Solve(cholesky, z, 1));
    }
    spread(numbers, volumes, z, nodeCount, outHolds);

cleanup:
    srDestroyCholesky(cholesky);
    srDestroyCsc(&L);
    SR_FREE(numbers, nodeCount);
    SR_FREE(volumes, nodeCount);
    SR_FREE(z, nodeCount);
    SR_FREE(triplets, (int64_t)pairCount * cellCount);
    return result;
}
