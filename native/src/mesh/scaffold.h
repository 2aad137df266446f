// SPDX-License-Identifier: GPL-3.0-or-later
//
// The scaffold: the tetrahedra that the cage is cut from, written out. Each is a tetrahedron of a
// body-centred cubic lattice, or, where cells of two sizes meet (grading.h), what halving one once or twice
// gives, or half a pyramid; where flesh only touches, several copies of one may lie at the same place
// (copies.h). Lives here: points, signed distances, tetrahedra. Does
// not: cutting (stuffing.h).

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/grading.h"
#include "mesh/lattice.h"
#include "mesh/progress.h"

/// Arrays live in the arena that made them.
typedef struct srScaffold {
    srVec3* points;
    int32_t (
        *coords)[3];  ///< In a unit that all tetrahedra share, from the middle: mirrored, they change sign.
    double* phi;      ///< Signed distance to the skin, below zero inside.
    double* sizes;    ///< Longest edge of the smallest tetrahedron at a point.
    int32_t* bases;   ///< The point that this is a copy of; its own index if there are no copies.
    uint8_t* isSplit; ///< Whether there are other copies of this point.
    int32_t pointCount;
    int32_t (*tets)[4]; ///< Either way round.
    int32_t* tetBases;  ///< The tetrahedron that this is a copy of.
    int32_t tetCount;
} srScaffold;

/// Tetrahedra of the lattice with a corner where `phi` is below `reach`. `phi` is one number a lattice point.
/// None: success, and no tetrahedra.
SR_MUST_USE srResult srCreateScaffold(const srLattice* lattice, const double* phi, double reach,
                                      srArena* arena, const srProgress* progress, srScaffold* outScaffold);

/// The same of cubes of several sizes. The reach is a share of a tetrahedron's longest edge.
SR_MUST_USE srResult srCreateGradedScaffold(const srGrading* grading, const double* phi, double reachShare,
                                            srArena* arena, const srProgress* progress,
                                            srScaffold* outScaffold);

/// Arrays for as many points and tetrahedra, without content.
SR_MUST_USE srResult srAllocateScaffold(srArena* arena, int32_t pointCount, int32_t tetCount,
                                        srScaffold* outScaffold);

/// Fills `sizes` from the tetrahedra. For those who make scaffolds.
void srScaffold_MeasureSizes(srScaffold* scaffold);

/// All of them as one, side by side.
SR_MUST_USE srResult srJoinScaffolds(const srScaffold* scaffolds, int32_t count, srArena* arena,
                                     srScaffold* outScaffold);

/// The level whose zero is the cage's skin: phi less an offset that is `leastShare` of a point's size where
/// flesh is thick, and more where it is thin, up to `mostShare`, so that nothing falls between the points.
/// `outLevel` and `scratch` have room for a number a point.
void srScaffold_OffsetLevel(const srScaffold* scaffold, double leastShare, double mostShare, double* scratch,
                            double* outLevel);

/// About how much volume lies below zero of a level, from the corners of each tetrahedron; copies count each.
double srScaffold_EstimateVolume(const srScaffold* scaffold, const double* level);

/// Into how many pieces of at least four points the inside of a level falls. `scratch` and `roots` have room
/// for a number a point.
int32_t srScaffold_CountPieces(const srScaffold* scaffold, const double* level, double* scratch,
                               int32_t* roots);
