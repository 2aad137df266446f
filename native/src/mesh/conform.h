// SPDX-License-Identifier: GPL-3.0-or-later
//
// A conforming cage, the way the thesis on position-based complementary dynamics prepares its characters: a
// closed surface, thinned to a few triangles, filled by TetGen. Follows thin and curved parts with fewer
// nodes than a lattice; may fail at any of its steps, and then says at which. Lives here: the steps and the
// search for the wanted number of nodes. Does not: what answers instead (filling.h).

#pragma once

#include "core/error.h"
#include "mesh/mesher.h"
#include "mesh/tetgen.h"

/// Which step failed.
typedef enum srConformFate {
    sr_conformMade,
    sr_conformHelper,   ///< TetGen: `tetgen` tells more.
    sr_conformUnclean,  ///< The artist's own surface was wanted and cannot be taken: `skin` tells more.
    sr_conformNoInside, ///< The surface encloses nothing.
    sr_conformCrossing, ///< The thinned surface could not be kept from crossing itself.
    sr_conformPoor,     ///< Cells too flat to be simulated.
    sr_conformSize,     ///< Not near the wanted number of nodes.
    sr_conformFateCount
} srConformFate;

/// What the artist's own surface is good for.
typedef enum srSkinFate {
    sr_skinTaken,
    sr_skinOpen,
    sr_skinSheet,   ///< Some of it encloses nothing, or hardly anything.
    sr_skinCoarse,  ///< Fewer triangles than the cage would have.
    sr_skinPinched, ///< An edge of more than two triangles, or one point of several fans.
    sr_skinCrossing,
    sr_skinFateCount
} srSkinFate;

typedef struct srConformSettings {
    int32_t targetNodeCount;
    bool wantsOwnSurface;  ///< No contour: the artist's surface, or none.
    srTetgenLimits limits; ///< Of one run; zero time and memory are the usual ones.
    const srVec3* spine;   ///< Ends of segments, two each, along which nodes shall lie: bones. May be null.
    int32_t segmentCount;
    const float* detail; ///< By point of the surface, 0 to 1: 1 for edges of half the length. May be null.
    const srSolidSettings* solid; ///< Null is srDefaultSolidSettings().
    const srProgress* progress;   ///< May be null.
} srConformSettings;

typedef struct srConformReport {
    srConformFate fate;
    srTetgenFate tetgen;
    srSkinFate skin; ///< Taken: the artist's own triangles were thinned; else the contour of the inside.
    bool isDivided;  ///< Taken, in smaller triangles: it is thin, and was too coarse.
    int32_t surfaceTriangles; ///< Before thinning,
    int32_t hullTriangles;    ///< and after.
    int32_t spineCount;       ///< Nodes put on the spine.
    int32_t runCount;         ///< Of TetGen.
    double minDihedralDegrees;
    double edgeLength;   ///< Wanted, where no detail is.
    double volume;       ///< Of all cells.
    double insideVolume; ///< What the artist's own surface encloses; not more than the cells where a contour
                         ///< is filled, and that of the cells where sheets have a thickness.
    srSolidReport solid;
} srConformReport;

/// `sr_success` with any fate; a mesh only with `sr_conformMade`. Else `sr_errorCancelled`,
/// `sr_errorOutOfMemory`. `pointCells` of the mesh is null unless the artist's own surface was taken.
SR_MUST_USE srResult srConformSurface(const srSurface* surface, const srConformSettings* settings,
                                      srMesh* outMesh, srConformReport* outReport);

/// Why TetGen made the cage or did not, as a sentence for people; static.
const char* srDescribeConformFate(const srConformReport* report);
