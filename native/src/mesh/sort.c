// SPDX-License-Identifier: GPL-3.0-or-later
//
// Radix sort, a byte at a time from the lowest; bytes that are the same in all keys cost one look.

#include "mesh/sort.h"

#include <string.h>

// One stable pass; false when all keys agree in this byte and nothing was moved.
static int sortByByte(const srKeyed* items, srKeyed* out, int32_t count, int shift) {
    int32_t starts[256] = {0};
    for (int32_t i = 0; i < count; i++) {
        starts[items[i].key >> shift & 255]++;
    }
    if (starts[items[0].key >> shift & 255] == count) {
        return 0;
    }
    int32_t sum = 0;
    for (int byte = 0; byte < 256; byte++) {
        int32_t here = starts[byte];
        starts[byte] = sum;
        sum += here;
    }
    for (int32_t i = 0; i < count; i++) {
        out[starts[items[i].key >> shift & 255]++] = items[i];
    }
    return 1;
}

void srSortKeyed(srKeyed* items, srKeyed* scratch, int32_t count) {
    if (count < 2) {
        return;
    }
    srKeyed* from = items;
    srKeyed* to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        if (sortByByte(from, to, count, shift)) {
            srKeyed* swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != items) {
        memcpy(items, from, (size_t)count * sizeof(srKeyed));
    }
}
