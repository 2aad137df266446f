// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a field to a scaffold whose cells have the lattice's size at the skin, twice that deep within, and
// half of it where the artist wants detail.

#pragma once

#include "mesh/field.h"
#include "mesh/scaffold.h"

typedef struct srSampling {
    const srField* field;
    const srSurface* surface;
    const float* detail; ///< One number a point of the surface, 0 to 1; null for none.
    double
        reachShare; ///< Tetrahedra are kept that have a corner this share of their longest edge from flesh.
    bool isAlike;   ///< Cells of one size only; any counts of the lattice will do.
} srSampling;

/// Detail from which cells have half the size.
#define SR_LEAST_DETAIL 0.5f

/// The counts of the lattice are multiples of four (srLattice_Pad). `outInsideVolume` is what the field calls
/// inside, to a few per cent.
SR_MUST_USE srResult srSampleScaffold(const srLattice* lattice, const srSampling* sampling, srArena* arena,
                                      const srProgress* progress, srScaffold* outScaffold,
                                      double* outInsideVolume);

/// The volume of what the field calls inside, in the box and its thickness around it, however coarse the cage
/// is: what overlaps counts once. Right to some thousandths; skins that cross within the flesh take away a
/// quarter of `outSpacing` on each side of them.
SR_MUST_USE srResult srMeasureInside(const srField* field, srVec3 lower, srVec3 upper,
                                     const srProgress* progress, double* outVolume, double* outSpacing);
