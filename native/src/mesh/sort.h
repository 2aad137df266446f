// SPDX-License-Identifier: GPL-3.0-or-later
//
// A stable sort by a 64-bit key, for edges and faces made into keys. Same order on every machine.

#pragma once

#include <stdint.h>

typedef struct srKeyed {
    uint64_t key;
    int32_t value;
} srKeyed;

/// Ascending by key; items of equal key stay in order. `scratch` has room for `count` items.
void srSortKeyed(srKeyed* items, srKeyed* scratch, int32_t count);

/// Two indices (none negative) as one key that sorts by the first, then by the second.
static inline uint64_t srPairKey(int32_t first, int32_t second) {
    return (uint64_t)(uint32_t)first << 32 | (uint32_t)second;
}

/// The key of an edge, whichever way round it is given.
static inline uint64_t srEdgeKey(int32_t a, int32_t b) {
    return a < b ? srPairKey(a, b) : srPairKey(b, a);
}
