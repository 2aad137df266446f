// SPDX-License-Identifier: GPL-3.0-or-later
//
// The sparse factor as a frame uses it: taken over from CHOLMOD once, in an order and a layout made for our
// own solves (solve.h), in one block of bytes that can be stored as it is and used where it lies. Lives here:
// the layout, its making, its checks. Does not: arithmetic with it.

#pragma once

#include "math/cholesky.h"

#include <stdbool.h>
#include <stddef.h>

/// Rows of a slab; a slab is also two slabs of doubles.
#define SR_SLAB_ROWS 8

/// Which panels a factor has; joined by |.
typedef enum srFactorKind {
    sr_factorFloat = 1,
    sr_factorDouble = 2,
} srFactorKind;

/// Of a factor, at most.
#define SR_MOST_FACTOR_TASKS 16

/// Groups that can be swept side by side (factor_tasks.h): those of task t are groups[starts[t]] ..
/// groups[starts[t + 1] - 1], ascending; those that come after all tasks follow as task `count`. Owns its
/// arrays; all null without tasks.
typedef struct srFactorTasks {
    int32_t count;
    int32_t groupCount;
    int32_t outsideCount;
    int32_t rowCount;
    int32_t* starts; ///< count + 2
    int32_t* groups;
    int32_t* outsideStarts; ///< count + 1; the first place of each task takes padding.
    int32_t* outsideRows;   ///< The row that place k after row `size` is to be added to.
    int32_t* forwardRows;   ///< The factor's rows, but places for those outside of a task.
} srFactorTasks;

/// Panels whose numbers are the upper halves of floats, in the order of float panels, but that two columns
/// share words: the first has the lower half. Slabs of an odd number of columns have one of zeros more. Owns
/// its arrays; both null where panels are not narrow.
typedef struct srNarrowPanels {
    int64_t* starts; ///< groupCount + 1, in words
    uint32_t* words;
} srNarrowPanels;

/// With P the order and D the scales (powers of two), P D A D P' = L L'. Columns are in groups; a group of k
/// columns has one dense panel [inverse of L11; -L21 * inverse of L11], so that both sweeps are products with
/// it. Its rows come in slabs of SR_SLAB_ROWS rows, a slab column by column; a slab that meets the triangle
/// ends with its last column that is not zero. All arrays lie in `bytes`.
typedef struct srFactor {
    int32_t size;
    int32_t groupCount;
    int32_t slabCount;
    int32_t kinds;
    const int32_t* columnStarts; ///< groupCount + 1
    const int32_t* slabStarts;   ///< groupCount + 1, in slabs
    const int32_t* rows;  ///< SR_SLAB_ROWS a slab: the group's own columns, rows below, `size` as padding.
    const int32_t* order; ///< Row k is the caller's row order[k].
    const double* scales; ///< Of row k.
    const int64_t* floatStarts; ///< groupCount + 1, in floats; null without the kind. Likewise:
    const int64_t* doubleStarts;
    const float* floatPanels;
    const double* doublePanels;

    srFactorTasks tasks;
    srNarrowPanels narrow;  ///< Not among the bytes.
    int32_t mostColumns;    ///< Of a group.
    int32_t mostSlabs;      ///< Of a group.
    bool areScalesOrdinary; ///< All between 2^-60 and 2^60: floats, and so are their products with ordinary
                            ///< floats.
    const void* bytes;      ///< All of it, to be written to a file.
    size_t byteCount;
    void* ownedBytes; ///< Null when `bytes` are the caller's.
} srFactor;

/// Takes over a factor that has values. `sr_errorInvalidValue` when values do not fit the kind.
SR_MUST_USE srResult srCreateFactor(const srCholesky* cholesky, int kinds, srFactor* outFactor);

/// Takes over the values again after another numeric phase of the same `cholesky`. No other thread may use
/// the factor meanwhile. When it fails the factor may only be filled again or destroyed.
SR_MUST_USE srResult srFactor_Refill(srFactor* factor, const srCholesky* cholesky);

/// From now on solves in float take panels of half the bytes, rounded to eight bits: the answers are those of
/// another matrix, as symmetric and positive as A, which differs from it by 2^-9 at most of what an entry of
/// the panels makes. Worth it where panels are larger than caches. Refilling keeps them. Needs
/// sr_factorFloat.
SR_MUST_USE srResult srFactor_Narrow(srFactor* factor);

/// The float panels again.
void srFactor_Widen(srFactor* factor);

/// A factor from stored bytes. They are used in place when they start at a multiple of 64, and must then stay
/// until the factor is destroyed; else they are copied. `sr_errorInvalidValue` with a sentence when they are
/// cut short, damaged, of another version or another byte order.
SR_MUST_USE srResult srOpenFactor(const void* bytes, size_t byteCount, srFactor* outFactor);

/// Accepts a zeroed factor.
void srDestroyFactor(srFactor* factor);
