// SPDX-License-Identifier: GPL-3.0-or-later
//
// Trees that gather what hangs together (union-find): an array of items, each of which names another of its
// tree or, at the root, itself.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Every item a tree of its own.
static inline void srClearRoots(int32_t* roots, int32_t count) {
    for (int32_t item = 0; item < count; item++) {
        roots[item] = item;
    }
}

/// The lowest item of a tree.
static inline int32_t srFindRoot(int32_t* roots, int32_t item) {
    while (roots[item] != item) {
        roots[item] = roots[roots[item]];
        item = roots[item];
    }
    return item;
}

/// Makes the trees of two items one; false when they were.
static inline bool srJoinRoots(int32_t* roots, int32_t a, int32_t b) {
    int32_t rootA = srFindRoot(roots, a), rootB = srFindRoot(roots, b);
    int32_t low = rootA < rootB ? rootA : rootB;
    roots[rootA] = low;
    roots[rootB] = low;
    return rootA != rootB;
}
