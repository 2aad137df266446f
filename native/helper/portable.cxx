// SPDX-License-Identifier: GPL-3.0-or-later
//
// Additions, multiplications, divisions and square roots only: those are the same on every machine.

#include "portable.h"

#include <stdint.h>

#undef cos
#undef acos

static const double pi = 3.14159265358979323846;

// changed by the two functions below alone; TetGen runs in one thread
static uint64_t randomState = 1;

void srPortableSeed(unsigned seed) {
    randomState = seed;
}

// A linear congruence (Knuth's MMIX), its upper bits.
int srPortableRandom() {
    randomState = randomState * 6364136223846793005u + 1442695040888963407u;
    return (int)(randomState >> 33);
}

// The series, where it is short.
static double cosOfSmall(double x) {
    double square = x * x, term = 1.0, sum = 1.0;
    for (int n = 2; n <= 22; n += 2) {
        term *= -square / (double)(n * (n - 1));
        sum += term;
    }
    return sum;
}

// cos x = 2 cos^2(x / 2) - 1, twice. TetGen asks for angles from 0 to pi.
double srPortableCos(double angle) {
    double quarter = cosOfSmall(0.25 * angle);
    double half = 2.0 * quarter * quarter - 1.0;
    return 2.0 * half * half - 1.0;
}

// asin y = 2 asin(y / sqrt(2 + 2 sqrt(1 - y^2))), twice, then the series; for y up to sqrt(1/2).
static double asinOfSmall(double y) {
    for (int halving = 0; halving < 2; halving++) {
        y /= sqrt(2.0 + 2.0 * sqrt(1.0 - y * y));
    }
    double square = y * y, power = y, sum = y;
    for (int n = 1; n <= 12; n++) {
        power *= square * (double)(2 * n - 1) / (double)(2 * n);
        sum += power / (double)(2 * n + 1);
    }
    return 4.0 * sum;
}

double srPortableAcos(double cosine) {
    double x = cosine < -1.0 ? -1.0 : cosine > 1.0 ? 1.0 : cosine;
    if (x < 0.0) {
        return pi - srPortableAcos(-x);
    }
    return x > 0.7 ? 2.0 * asinOfSmall(sqrt(0.5 * (1.0 - x))) : 0.5 * pi - asinOfSmall(x);
}
