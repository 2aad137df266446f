// SPDX-License-Identifier: GPL-3.0-or-later
//
// The field whose zero is the cage's skin: signed distance to the surface less an offset. Below zero is
// inside.

#pragma once

#include "mesh/bvh.h"
#include "mesh/lattice.h"
#include "mesh/progress.h"
#include "mesh/solid.h"

/// phi = min(s d, e - halfThickness) - offset
///
/// with d the distance to the triangles of `bvh`, e that to the triangles of `sheets` (infinite without
/// them), and s = -1 inside, else 1. With `isRepaired` inside is where the surface winds more than half
/// around the point; and near an opening, d is the distance to its lid (w = 1/2, to first order) if that is
/// less: phi has no jump there. Else inside is where it winds more than half in either sense. d counts
/// triangles that lie within flesh too (where pieces overlap): there phi is nearer to zero than the distance
/// to the outside, and its sign is still right.
typedef struct srField {
    const srBvh* bvh; ///< May be null if there are sheets.
    double offset;
    const srBvh* sheets; ///< May be null.
    double halfThickness;
    const srRim* rims; ///< Of `bvh`'s surface; may be null.
    int32_t rimCount;
    bool isRepaired;
    bool isWatertight; ///< The surface of `bvh` is closed: winding numbers are whole, which saves time.
} srField;

/// The field over a solid, which must outlive it.
srField srMakeField(const srSolid* solid, double offset);

/// Thread-safe.
double srField_Value(const srField* field, srVec3 point);

/// What the last value taught about the neighbourhood. Zeroed at the start; one for each thread and field.
typedef struct srFieldMemory {
    srVec3 point; ///< Where the sign was asked for.
    double distance;
    double winding;
    double share;      ///< Of `distance`: as far as the sign is known.
    int32_t triangle1; ///< 1 more than the triangle that was nearest to the last point; 0: none yet
    int32_t sheet1;
} srFieldMemory;

/// As srField_Value, to the bit where the surface is watertight; where it is open, but for places where both
/// say that the winding number is nearly whole. A memory of a near point makes it several times faster. For
/// root searches along edges.
double srField_ValueNear(const srField* field, srVec3 point, srFieldMemory* memory);

/// One look at a place: what a value is made of, and its sign.
typedef struct srFieldLook {
    bool isInside;   ///< Whether the value is below zero, offset aside. Needs no distance to lids.
    double distance; ///< To the triangles of `bvh`; infinite without them.
    srVec3 nearest;  ///< ... and the place that is so near.
    int32_t triangle;
    double sheetDistance; ///< To the triangles of `sheets`; infinite without them.
    srVec3 sheetNearest;
    double winding; ///< Around the point or around one near it: on the same sides of 1/2 and of 3/2.
} srFieldLook;

/// As srField_ValueNear, for those who want to know where a place is rather than how far the level set is.
srFieldLook srField_Look(const srField* field, srVec3 point, srFieldMemory* memory);

/// Fills `outPhi` for every point of the lattice. Far from the level set only the sign is right, and |phi| is
/// more than two cubes. Equal bits on any number of workers.
SR_MUST_USE srResult srField_Sample(const srField* field, const srLattice* lattice, double* outPhi,
                                    const srProgress* progress);

/// A grid of nx ny nz points, x fastest.
typedef struct srSampleBox {
    srVec3 origin; ///< Its first point.
    double spacing;
    int32_t nx, ny, nz;
    double band; ///< Values are exact where |phi| is below this; elsewhere the sign is right and |phi| at
                 ///< least this.
} srSampleBox;

/// Fills `outPhi` with nx ny nz values, on the calling thread; thread-safe, allocates nothing, so that many
/// small boxes can be sampled by the workers of a loop. Costs by the points near the level set, hardly by the
/// others.
void srField_SampleBox(const srField* field, const srSampleBox* box, double* outPhi);
