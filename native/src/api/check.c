// SPDX-License-Identifier: GPL-3.0-or-later
//
// Loops over caller's arrays that look and touch nothing.

#include "api/check.h"

#define LARGEST_PLACE 1e12f // beyond it a float cannot tell a character's nodes apart anyhow

srResult srCheckRange(const char* name, double value, double lowest, double highest) {
    if (value >= lowest && value <= highest) {
        return sr_success;
    }
    return srFail(sr_errorInvalidValue, "%s is %g; it must be from %g to %g.", name, value, lowest, highest);
}

srResult srCheckFinite(const char* name, const float* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (values[i] - values[i] != 0.0f) {
            return srFail(sr_errorNotFinite, "%s[%zu] of %zu numbers is %g.", name, i, count,
                          (double)values[i]);
        }
    }
    return sr_success;
}

srResult srCheckSize(const char* name, const float* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        bool isFinite = values[i] - values[i] == 0.0f;
        if (isFinite && (values[i] > LARGEST_PLACE || values[i] < -LARGEST_PLACE)) {
            return srFail(sr_errorInvalidValue, "%s[%zu] of %zu numbers is %g, beyond any scene.", name, i,
                          count, (double)values[i]);
        }
    }
    return sr_success;
}

srResult srCheckPlaces(const char* name, const float* values, size_t count) {
    SR_TRY(srCheckFinite(name, values, count));
    return srCheckSize(name, values, count);
}

srResult srCheckSeconds(double seconds) {
    return seconds == seconds ? sr_success
                              : srFail(sr_errorInvalidValue, "The seconds to wait are not a number.");
}

srResult srCheckIndices(const char* name, const int32_t* indices, size_t count, int32_t lowest, int32_t end) {
    for (size_t i = 0; i < count; ++i) {
        if (indices[i] < lowest || indices[i] >= end) {
            return srFail(sr_errorInvalidValue, "%s[%zu] is %d; it must be from %d to %d.", name, i,
                          indices[i], lowest, end - 1);
        }
    }
    return sr_success;
}
