// SPDX-License-Identifier: GPL-3.0-or-later
//
// The field whose zero is the cage's skin: signed distance to the surface less an offset. Below zero is
// inside.

#pragma once

#include "mesh/bvh.h"
#include "mesh/lattice.h"
#include "mesh/progress.h"

/// phi = s d - offset: d the distance to the surface, s = -1 where the surface winds more than half around
/// the point in either sense (|w| > 1/2), else 1.
typedef struct srField {
    const srBvh* bvh;
    double offset;
} srField;

/// Thread-safe.
double srField_Value(const srField* field, srVec3 point);

/// Fills `outPhi` for every point of the lattice. Far from the level set only the sign is right, and |phi| is
/// more than two cubes.
SR_MUST_USE srResult srField_Sample(const srField* field, const srLattice* lattice, double* outPhi,
                                    const srProgress* progress);
