// SPDX-License-Identifier: GPL-3.0-or-later

#include "math_plain.h"

#include "core/thread.h"

#include <math.h>

#define REAL float
#define NAME(name) name##F
#define ROOT sqrtf
#define SMALL 0x1p-21f
#include "math_plain.inl"
#undef REAL
#undef NAME
#undef ROOT
#undef SMALL

#define REAL double
#define NAME(name) name
#define ROOT sqrt
#define SMALL 0x1p-49
#include "math_plain.inl"

#if defined(__x86_64__) && defined(__GNUC__)
#define CHAINS 12
#define LINKS 2000

typedef float srWide __attribute__((vector_size(32)));

// Twelve chains that do not wait for each other keep two units busy at four cycles an operation.
__attribute__((target("avx2,fma"), noinline)) static float multiplyAddChains(void) {
    srWide x[CHAINS];
    srWide a = (srWide){0} + 0.999f;
    srWide b = (srWide){0} + 0.001f;
    for (int c = 0; c < CHAINS; c++) {
        x[c] = (srWide){0} + (float)c;
    }
    for (int i = 0; i < LINKS; i++) {
        __asm__("vfmadd213ps %13, %12, %0\n\tvfmadd213ps %13, %12, %1\n\tvfmadd213ps %13, %12, %2\n\t"
                "vfmadd213ps %13, %12, %3\n\tvfmadd213ps %13, %12, %4\n\tvfmadd213ps %13, %12, %5\n\t"
                "vfmadd213ps %13, %12, %6\n\tvfmadd213ps %13, %12, %7\n\tvfmadd213ps %13, %12, %8\n\t"
                "vfmadd213ps %13, %12, %9\n\tvfmadd213ps %13, %12, %10\n\tvfmadd213ps %13, %12, %11"
                : "+x"(x[0]), "+x"(x[1]), "+x"(x[2]), "+x"(x[3]), "+x"(x[4]), "+x"(x[5]), "+x"(x[6]),
                  "+x"(x[7]), "+x"(x[8]), "+x"(x[9]), "+x"(x[10]), "+x"(x[11])
                : "x"(a), "x"(b));
    }
    float sum = 0.0f;
    for (int c = 0; c < CHAINS; c++) {
        sum += x[c][0];
    }
    return sum;
}

double srMeasurePeak(void) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        return 0.0;
    }
    static volatile float sink;
    double best = 0.0;
    for (int round = 0; round < 50; round++) {
        double start = srGetSeconds();
        sink = multiplyAddChains();
        double speed = 2.0 * 8.0 * CHAINS * LINKS / (1e9 * (srGetSeconds() - start));
        best = speed > best ? speed : best;
    }
    (void)sink;
    return best;
}
#else
double srMeasurePeak(void) {
    return 0.0;
}
#endif
