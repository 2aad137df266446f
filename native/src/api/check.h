// SPDX-License-Identifier: GPL-3.0-or-later
//
// Checks of what callers hand over: null, sizes, ranges, NaN. Each failure has a sentence with the argument's
// name.

#pragma once

#include "core/error.h"
#include "core/id.h"

#include <stdint.h>

/// Leaves the function with `sr_errorNullArgument` and the argument's name.
#define SR_CHECK_NOT_NULL(pointer)                                                                           \
    do {                                                                                                     \
        if ((pointer) == NULL) {                                                                             \
            return srFail(sr_errorNullArgument, "%s must not be null.", #pointer);                           \
        }                                                                                                    \
    } while (0)

/// Leaves the function with `sr_errorStructSize` when a struct is not of this version; `remedy` says how the
/// caller gets one that is.
#define SR_CHECK_STRUCT(pointer, remedy)                                                                     \
    do {                                                                                                     \
        SR_CHECK_NOT_NULL(pointer);                                                                          \
        if ((pointer)->structSize != sizeof(*(pointer))) {                                                   \
            return srFail(sr_errorStructSize, "%s->structSize is %zu; %zu was expected. %s", #pointer,       \
                          (pointer)->structSize, sizeof(*(pointer)), remedy);                                \
        }                                                                                                    \
    } while (0)

/// Public ids and raw ids have the same two fields.
#define SR_RAW_ID(id) ((srRawId){(id).index1, (id).generation})

SR_MUST_USE srResult srCheckRange(const char* name, double value, double lowest, double highest);

/// Names the first bad number: "boneRests[3] of 16 is nan".
SR_MUST_USE srResult srCheckFinite(const char* name, const float* values, size_t count);

/// Places and matrices: numbers that are no NaN must not lie beyond any scene.
SR_MUST_USE srResult srCheckSize(const char* name, const float* values, size_t count);

/// `srCheckFinite` and `srCheckSize`.
SR_MUST_USE srResult srCheckPlaces(const char* name, const float* values, size_t count);

/// A time to wait: any number, and infinity, but no NaN.
SR_MUST_USE srResult srCheckSeconds(double seconds);

/// All indices from `lowest` to `end` - 1.
SR_MUST_USE srResult srCheckIndices(const char* name, const int32_t* indices, size_t count, int32_t lowest,
                                    int32_t end);
