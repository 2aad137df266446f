// SPDX-License-Identifier: GPL-3.0-or-later
//
// Float panels rounded to the upper halves of floats, two columns in a word.

#include "math/factor_narrow.h"

#include "core/alloc.h"

#include <string.h>

static int32_t columnsOf(const srFactor* f, int32_t group) {
    return f->columnStarts[group + 1] - f->columnStarts[group];
}

static int32_t slabsOf(const srFactor* f, int32_t group) {
    return f->slabStarts[group + 1] - f->slabStarts[group];
}

// of a slab, without what makes it even
static int32_t widthOf(int32_t columns, int32_t slab) {
    int32_t end = SR_SLAB_ROWS * (slab + 1);
    return end < columns ? end : columns;
}

static int64_t countWords(const srFactor* f, int32_t group) {
    int32_t columns = columnsOf(f, group);
    int64_t count = 0;
    for (int32_t slab = 0; slab < slabsOf(f, group); slab++) {
        count += SR_SLAB_ROWS * (int64_t)((widthOf(columns, slab) + 1) / 2);
    }
    return count;
}

// The nearest of the two that differ in the upper half, the even one of two as near. What is finite stays so.
static uint32_t roundToHalf(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t up = bits + 0x7fffu + (bits >> 16 & 1u);
    bool isFinite = (up & 0x7f800000u) != 0x7f800000u;
    return (isFinite ? up : bits) >> 16;
}

static void fillGroup(srFactor* f, int32_t group) {
    int32_t columns = columnsOf(f, group);
    const float* from = f->floatPanels + f->floatStarts[group];
    uint32_t* to = f->narrow.words + f->narrow.starts[group];
    for (int32_t slab = 0; slab < slabsOf(f, group); slab++) {
        int32_t width = widthOf(columns, slab);
        for (int32_t j = 0; j < width; j += 2) {
            for (int32_t r = 0; r < SR_SLAB_ROWS; r++) {
                uint32_t first = roundToHalf(from[SR_SLAB_ROWS * j + r]);
                uint32_t second = j + 1 < width ? roundToHalf(from[SR_SLAB_ROWS * (j + 1) + r]) : 0;
                *to++ = first | second << 16;
            }
        }
        from += SR_SLAB_ROWS * (int64_t)width;
    }
}

void srRefillNarrow(srFactor* f) {
    for (int32_t g = 0; f->narrow.words != NULL && g < f->groupCount; g++) {
        fillGroup(f, g);
    }
}

srResult srFactor_Narrow(srFactor* f) {
    if (f->floatPanels == NULL) {
        return srFail(sr_errorInvalidValue, "The factor has no panels in float.");
    }
    if (f->narrow.words != NULL) {
        return sr_success;
    }
    int64_t* starts = SR_ALLOC(int64_t, f->groupCount + 1);
    if (starts == NULL) {
        return srFailOutOfMemory("the narrow panels of a sparse factor");
    }
    starts[0] = 0;
    for (int32_t g = 0; g < f->groupCount; g++) {
        starts[g + 1] = starts[g] + countWords(f, g);
    }
    uint32_t* words = SR_ALLOC(uint32_t, starts[f->groupCount]);
    if (words == NULL) {
        SR_FREE(starts, f->groupCount + 1);
        return srFailOutOfMemory("the narrow panels of a sparse factor");
    }
    f->narrow = (srNarrowPanels){starts, words};
    srRefillNarrow(f);
    return sr_success;
}

void srFactor_Widen(srFactor* f) {
    if (f->narrow.words != NULL) {
        SR_FREE(f->narrow.words, f->narrow.starts[f->groupCount]);
        SR_FREE(f->narrow.starts, f->groupCount + 1);
    }
    f->narrow = (srNarrowPanels){0};
}
