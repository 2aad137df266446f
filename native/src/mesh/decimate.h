// SPDX-License-Identifier: GPL-3.0-or-later
//
// Fewer triangles for a closed surface: edges collapse, the cheapest first, to where the squared distances to
// the planes around are least (Garland and Heckbert 1997). Triangles stay well shaped, the surface stays
// closed and of the same topology, and does not come to cross itself.

#pragma once

#include "mesh/hull.h"

#include "core/arena.h"
#include "core/error.h"
#include "mesh/progress.h"

#include <stdbool.h>

typedef struct srDecimateSettings {
    int32_t targetTriangles;    ///< Not gone below; even, as every collapse takes two.
    const float* fineness;      ///< By point: how many times shorter edges shall be there; may be null: 1.
    const srProgress* progress; ///< May be null.
    bool looksAtEach; ///< Collapse, whether it makes triangles cross, before it is done: the plain way,
                      ///< many times slower, to compare with.
} srDecimateSettings;

typedef struct srDecimateReport {
    int32_t crossingCount; ///< Pairs of triangles that cross in the end. None, unless some did before.
    int32_t undoneCount;   ///< Collapses that were taken back, because they made triangles cross.
    int32_t* heirs;        ///< By point of the given hull: the point of the new one that edges drew it to;
                           ///< `SR_NULL_INDEX` where no triangle used it. Lives in the arena.
} srDecimateReport;

/// `hull` is closed: each edge has two triangles that run along it in opposite ways, and each point one fan;
/// `sr_errorBadMesh` otherwise. More triangles than asked for are left where no collapse is possible. Equal
/// bits on any number of workers. `outHull` lives in the arena.
SR_MUST_USE srResult srDecimate(const srHull* hull, const srDecimateSettings* settings, srArena* arena,
                                srHull* outHull, srDecimateReport* outReport);

/// Whether a surface is closed as srDecimate wants it.
SR_MUST_USE srResult srIsHullClosed(const srHull* hull, srArena* arena, bool* outIsClosed);
