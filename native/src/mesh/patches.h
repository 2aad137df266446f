// SPDX-License-Identifier: GPL-3.0-or-later
//
// A surface sorted into patches: triangles that hang together by edges of exactly two, turned so that they
// face the same way. Lives here: what belongs together. Does not: which side of a patch is flesh (roles.h).

#pragma once

#include "mesh/progress.h"
#include "mesh/surface.h"

/// What a patch is to the flesh.
typedef enum srRole {
    sr_roleShell,     ///< Bounds flesh from outside; triangles face away from it.
    sr_roleCavity,    ///< Bounds a hollow within the flesh.
    sr_roleSheet,     ///< Encloses nothing; may get a thickness.
    sr_roleSwallowed, ///< Lies within the flesh and bounds nothing.
} srRole;

/// An edge that its patch has on one side only, as the triangle has it.
typedef struct srBorderEdge {
    int32_t from;
    int32_t to;
    bool isOpen;   ///< No other triangle at all is there; else other patches are.
    bool isClosed; ///< A cap was put there.
} srBorderEdge;

typedef struct srPatch {
    int32_t firstTriangle;
    int32_t triangleCount;
    int32_t firstBorder;
    int32_t borderCount;
    int32_t firstCap;
    int32_t capCount;
    int32_t openCount; ///< Borders without cap.
    int32_t part;      ///< Of the surface's indices: what shares one is of the same part.
    int32_t piece;     ///< `SR_NULL_INDEX` for one that bounds nothing, if nothing of its piece does.
    double area;
    double volume; ///< Enclosed with the cone over what is open, from `center`; caps included.
    srVec3 center; ///< Centroid of the area.
    bool isTurned; ///< Faces the other way than most of its triangles were given; they are stored turned.
    bool isThin;   ///< A shell that gets the thickness of sheets, as it is thinner, and wide.
    bool isWeak;   ///< Encloses too little to know its outside by itself.
    bool isNested; ///< Lies within others; whether as a hollow is not decided yet.
    bool isPoking; ///< Nested but for a little that looks out: a hollow, or a shell like any other.
    srRole role;
} srPatch;

typedef struct srPatches {
    srVec3* points; ///< Those of the surface, then the middles of caps.
    int32_t pointCount;
    int32_t pointCapacity;
    int32_t (*triangles)[3]; ///< By patch. Corners at the same place have the same index.
    int32_t* sources;        ///< By triangle: that of the surface.
    int32_t triangleCount;
    int32_t triangleCapacity;
    srPatch* patches;
    int32_t patchCount;
    int32_t patchCapacity;
    srBorderEdge* borders; ///< By patch.
    int32_t borderCount;
    int32_t borderCapacity;
    int32_t (*caps)[3]; ///< By patch; room for one at each border.
    int32_t capCount;
    int32_t pieceCount;
    int32_t* places; ///< By point of the surface: the lowest one at its place.
    int32_t surfacePointCount;
    double size; ///< Of the surface.

    // what was odd
    int32_t weldedCount;
    int32_t duplicateCount;
    int32_t flatCount;
    int32_t oneSidedEdgeCount;
    int32_t flippedTriangleCount;
} srPatches;

/// `sr_errorCancelled` when progress said so. A surface of nothing but duplicates has one patch at least.
SR_MUST_USE srResult srCreatePatches(const srSurface* surface, const srProgress* progress,
                                     srPatches* outPatches);

/// Accepts zeroed patches.
void srDestroyPatches(srPatches* patches);

/// Turns all triangles, borders and caps of a patch the other way round.
void srTurnPatch(srPatches* patches, int32_t patch);

/// Area, volume and centre again, with the caps that it has.
void srMeasurePatch(srPatches* patches, int32_t patch);
