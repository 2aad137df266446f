// SPDX-License-Identifier: GPL-3.0-or-later
//
// All columns are shifted alike and then cut: w_j = min(max(s_j - t, 0), c_j). Their sum falls with the
// shift, piece by piece straight, so Newton's steps find t, within a bracket.

#include "weights/biharmonic_row.h"

#include <math.h>

#define SHIFT_LIMIT 60
#define SUM_TOLERANCE 1e-13

static double cut(double w, double ceiling) {
    return fmin(fmax(w, 0.0), ceiling);
}

static double findShift(const double* s, const double* ceilings, int32_t count) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int32_t j = 0; j < count; j++) {
        low = fmin(low, s[j] - ceilings[j]);
        high = fmax(high, s[j]);
    }
    double shift = 0.5 * (low + high);
    for (int k = 0; k < SHIFT_LIMIT; k++) {
        double sum = 0.0, slope = 0.0;
        for (int32_t j = 0; j < count; j++) {
            double free = s[j] - shift;
            sum += cut(free, ceilings[j]);
            slope += free > 0.0 && free < ceilings[j];
        }
        if (fabs(sum - 1.0) < SUM_TOLERANCE) {
            break;
        }
        low = sum > 1.0 ? shift : low;
        high = sum < 1.0 ? shift : high;
        double next = slope > 0.0 ? shift + (sum - 1.0) / slope : 0.5 * (low + high);
        shift = next > low && next < high ? next : 0.5 * (low + high);
    }
    return shift;
}

void srProjectBelow(const double* s, const double* ceilings, int32_t count, double* out) {
    double shift = findShift(s, ceilings, count), sum = 0.0, room = 0.0;
    for (int32_t j = 0; j < count; j++) {
        out[j] = cut(s[j] - shift, ceilings[j]);
        sum += out[j];
        room += ceilings[j] - out[j];
    }
    // where numbers are huge no shift may be fine enough
    double share = sum < 1.0 && room > 0.0 ? (1.0 - sum) / room : 0.0;
    for (int32_t j = 0; j < count; j++) {
        out[j] = sum > 1.0 ? out[j] / sum : out[j] + fmin(share, 1.0) * (ceilings[j] - out[j]);
    }
}
