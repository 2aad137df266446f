// SPDX-License-Identifier: GPL-3.0-or-later
//
// What benches do with the times they took.

#pragma once

#include <stdlib.h>

static inline int srBenchCompare(const void* a, const void* b) {
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

/// The median; sorts the values.
static inline double srBenchMedian(double* values, size_t count) {
    qsort(values, count, sizeof(double), srBenchCompare);
    return values[count / 2];
}
