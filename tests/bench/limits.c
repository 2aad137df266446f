// SPDX-License-Identifier: GPL-3.0-or-later

#include "limits.h"

#include "core/thread.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 60
#define LARGE_COPY 100000000

double srBenchTimeCopy(size_t bytes) {
    char* from = calloc(bytes / 2 + 1, 1);
    char* to = calloc(bytes / 2 + 1, 1);
    double best = 0.0;
    int rounds = bytes > LARGE_COPY ? ROUNDS / 10 : ROUNDS;
    for (int round = 0; from != NULL && to != NULL && round < rounds; ++round) {
        from[round % (bytes / 2 + 1)] = (char)round;
        double start = srGetSeconds();
        memcpy(to, from, bytes / 2);
        double seconds = srGetSeconds() - start;
        best = best == 0.0 || seconds < best ? seconds : best;
        from[0] = to[bytes / 4];
    }
    free(from);
    free(to);
    return best;
}

#if defined(__x86_64__)
typedef float Wide __attribute__((vector_size(32)));
#define CHAINS 6 // of each kind: four steps long, two begun at a time
#define LINKS 200000

__attribute__((target("avx2"))) static float runChains(void) {
    Wide products[CHAINS];
    Wide sums[CHAINS];
    for (int k = 0; k < CHAINS; ++k) {
        products[k] = (Wide){0} + 1.0f;
        sums[k] = (Wide){0};
    }
    static volatile float one = 1.0000001f;
    Wide factor = (Wide){0} + one;
    for (int link = 0; link < LINKS; ++link) {
        for (int k = 0; k < CHAINS; ++k) {
            products[k] *= factor;
            sums[k] += factor;
        }
    }
    float sum = 0.0f;
    for (int k = 0; k < CHAINS; ++k) {
        sum += products[k][0] + sums[k][0];
    }
    return sum;
}

double srBenchMeasurePeak(void) {
    static volatile float sink;
    double best = 0.0;
    for (int round = 0; __builtin_cpu_supports("avx2") && round < 20; ++round) {
        double start = srGetSeconds();
        sink = runChains();
        double speed = 16.0 * CHAINS * LINKS / (1e9 * (srGetSeconds() - start));
        best = speed > best ? speed : best;
    }
    (void)sink;
    return best;
}
#else
double srBenchMeasurePeak(void) {
    return 0.0;
}
#endif
