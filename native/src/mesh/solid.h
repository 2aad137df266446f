// SPDX-License-Identifier: GPL-3.0-or-later
//
// The inside of any polygon soup: repaired, turned, closed where it should be, with what is asked of it again
// and again (trees) at hand. What is flesh and what is not is decided in roles.h, which holes are closed in
// holes.h; the field over it is field.h.

#pragma once

#include "mesh/bvh.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

/// The least thickness of a sheet that counts, in largest coordinates: a few steps of float.
#define SR_LEAST_THICKNESS 0x1p-21

typedef struct srSolidSettings {
    double largestHole;    ///< Diagonal of a hole that is closed, in sizes of the surface.
    double sheetThickness; ///< Of what is modelled as a single sheet, in sizes of the surface; 0 for none.
    bool fillsCavities;    ///< Hollows within the flesh are flesh as well.
} srSolidSettings;

/// Holes up to 0.2, sheets 0.01 thick, cavities kept.
srSolidSettings srDefaultSolidSettings(void);

/// What was repaired, for people. Counts of what is left out of the counts in srSurfaceReport.
typedef struct srSolidReport {
    int32_t weldedPointCount;       ///< At the place of another point.
    int32_t duplicateCount;         ///< Triangles on the corners of another one; left out.
    int32_t flippedTriangleCount;   ///< Turned, to face as most of their patch does.
    int32_t turnedPatchCount;       ///< Turned as a whole, because they were inside out.
    int32_t oneSidedEdgeCount;      ///< Cuts through what has one side only, like a Moebius strip.
    int32_t patchCount;             ///< Parts that hang together by edges of two triangles.
    int32_t pieceCount;             ///< Parts that hang together at all; hollows belong to what they are in.
    int32_t cavityCount;            ///< Patches that bound a hollow.
    int32_t swallowedCount;         ///< Patches that lie within flesh and bound nothing; left out.
    int32_t sheetCount;             ///< Patches that enclose nothing.
    int32_t thinCount;              ///< Closed patches thinner than a sheet shall be.
    int32_t thickenedTriangleCount; ///< Of both, if there is a thickness.
    int32_t closedHoleCount;
    int32_t openRimCount; ///< Holes too large to be closed, and outlines of sheets.
    bool isWatertight;    ///< Shells and cavities are closed now.
} srSolidReport;

/// A side of a shell's triangle with nothing on the other side.
typedef struct srRim {
    srVec3 from;
    srVec3 to;
} srRim;

/// Owns its arrays. `shells` and `sheets` share the points.
typedef struct srSolid {
    srSurface shells;     ///< What bounds flesh, facing away from it; without triangles if there is none.
    srSurface sheets;     ///< What gets a thickness.
    int32_t* shellPieces; ///< By triangle of `shells`: which piece it is of, 0 .. pieceCount - 1.
    int32_t* sheetPieces;
    int32_t* places; ///< By point of the surface it was made of: the lowest one at its place.
    int32_t surfacePointCount;
    int32_t*
        trianglePieces; ///< By triangle of that surface: its piece; null for one that bounds nothing, ...
    int8_t* turns;      ///< ... and 1 where it faces away from flesh, -1 where it faces it, 0 there.
    int32_t surfaceTriangleCount;
    int32_t pieceCount;
    int32_t pointCapacity;
    srBvh* shellTree; ///< Null without shells.
    srBvh* sheetTree; ///< Null without sheets, or when they get no thickness.
    srRim* rims;      ///< Of `shells`; null when they are closed.
    int32_t rimCount;
    double halfThickness;
    double volume; ///< Enclosed by the shells less the cavities; what overlaps counts twice.
    double area;   ///< Of the shells, and of the sheets on both sides.
    bool isWatertight;
} srSolid;

/// `sr_errorNoInside` when nothing encloses anything and sheets get no thickness, or one below what float
/// coordinates can tell; `sr_errorCancelled` within 50 ms when progress said so. `report` may be null.
SR_MUST_USE srResult srCreateSolid(const srSurface* surface, const srSolidSettings* settings,
                                   const srProgress* progress, srSolid* outSolid, srSolidReport* outReport);

/// Accepts a zeroed solid.
void srDestroySolid(srSolid* solid);

/// One piece of a solid as a solid of its own, for those who want pieces that overlap or touch to stay
/// separate flesh. `sr_errorNoInside` when the piece bounds no flesh (all of it was swallowed).
SR_MUST_USE srResult srTakePiece(const srSolid* solid, int32_t piece, const srProgress* progress,
                                 srSolid* outSolid);
