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

// Twelve chains that do not wait for each other keep two units busy at four cycles an operation. Variables,
// not an array: that would be stored in each round, and the stores would be what is measured.
__attribute__((target("avx2,fma"), noinline)) static float multiplyAddChains(void) {
    const srWide zero = {0}, factor = zero + 0.999f, term = zero + 0.001f;
    srWide a = zero, b = zero, c = zero, d = zero, e = zero, f = zero;
    srWide g = zero, h = zero, i = zero, j = zero, k = zero, l = zero;
    for (int link = 0; link < LINKS; link++) {
        __asm__ volatile("vfmadd213ps %13, %12, %0\n\tvfmadd213ps %13, %12, %1\n\t"
                         "vfmadd213ps %13, %12, %2\n\tvfmadd213ps %13, %12, %3\n\t"
                         "vfmadd213ps %13, %12, %4\n\tvfmadd213ps %13, %12, %5\n\t"
                         "vfmadd213ps %13, %12, %6\n\tvfmadd213ps %13, %12, %7\n\t"
                         "vfmadd213ps %13, %12, %8\n\tvfmadd213ps %13, %12, %9\n\t"
                         "vfmadd213ps %13, %12, %10\n\tvfmadd213ps %13, %12, %11"
                         : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i),
                           "+x"(j), "+x"(k), "+x"(l)
                         : "x"(factor), "x"(term));
    }
    return a[0] + b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + i[0] + j[0] + k[0] + l[0];
}

double srMeasurePeak(void) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        return 0.0;
    }
    static volatile float sink;
    double best = 0.0;
    for (int round = 0; round < 10; round++) {
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
