// SPDX-License-Identifier: GPL-3.0-or-later
//
// The first half of isosurface stuffing: where the level set cuts the lattice's edges, and which lattice
// points are moved onto it because it passes too close to them.

#pragma once

#include "mesh/field.h"
#include "mesh/lattice.h"

/// Signs are 1 inside, 0 on the level set (moved there), -1 outside. An edge from an inside to an outside
/// point has a cut, and belongs to its inside point. Owns its arrays.
typedef struct srWarp {
    const srLattice* lattice;
    int8_t* signs;
    uint8_t* warpDirections; ///< Where a point of sign 0 was moved to: along this edge ...
    double* warpShares;      ///< ... by this share of its length.
    uint16_t* cutMasks;      ///< Bit d: edge d of this inside point is cut, at lattice state before the warp.
    int32_t* firstCuts;      ///< Of the inside point's cuts, in the order of directions.
    double* cuts;            ///< Share of the edge, from the inside point.
    int32_t cutCount;
} srWarp;

/// `lattice` must outlive the warp. `progress` is heard while cuts are searched.
SR_MUST_USE srResult srCreateWarp(const srLattice* lattice, const srField* field, const double* phi,
                                  const srProgress* progress, srWarp* outWarp);

/// Accepts a zeroed warp.
void srDestroyWarp(srWarp* warp);

/// The index into `cuts` of a cut edge.
int32_t srWarp_FindCut(const srWarp* warp, int32_t insidePoint, int direction);

/// Where an inside point is, or where a point of sign 0 was moved to.
srVec3 srWarp_Point(const srWarp* warp, int32_t point);
