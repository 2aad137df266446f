// SPDX-License-Identifier: GPL-3.0-or-later
//
// Looking at a file's content and counting what is odd about it, before any preparing. The library has its
// own checks; these are for `softrig info`.

#pragma once

#include "cli/files.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct srCliBounds {
    double low[3];
    double high[3];
    int32_t nonFiniteCount; ///< Points that are not in the bounds.
} srCliBounds;

typedef struct srCliSurfaceSurvey {
    int32_t pieceCount; ///< Parts that share no vertex; vertices without triangles are not counted.
    int32_t borderEdgeCount;
    int32_t nonManifoldEdgeCount;
    int32_t flippedEdgeCount; ///< Its two triangles disagree about the outside.
    int32_t degenerateTriangleCount;
    int32_t isolatedVertexCount;
    int32_t sharedPlaceCount; ///< Vertices at the very place of another.
    double signedVolume;      ///< Negative when a closed surface is inside out.
} srCliSurfaceSurvey;

typedef struct srCliCageSurvey {
    int32_t invertedCellCount; ///< Volume below zero.
    int32_t flatCellCount;     ///< Volume zero.
    int32_t unusedNodeCount;
    double volume;
} srCliCageSurvey;

typedef struct srCliRigSurvey {
    int32_t rootCount;
    int32_t weightlessBoneCount;
    int32_t zeroLengthBoneCount;
    int32_t looseBoneCount;
    int32_t unweightedVertexCount;
    int32_t unnormalizedVertexCount; ///< Weights do not sum to 1 within a thousandth.
    int32_t mirroredMatrixCount;     ///< Rest, space and first frame: determinant below zero.
    int32_t singularMatrixCount;     ///< No inverse.
    int32_t projectiveMatrixCount;   ///< Last row is not 0 0 0 1, in the whole motion too.
    int32_t stillFrameCount;         ///< Frames whose matrices equal those of the frame before.
} srCliRigSurvey;

srCliBounds srCliMeasureBounds(const srCliFloats* points);
bool srCliSurveySurface(const srCliMesh* mesh, srCliSurfaceSurvey* outSurvey, srCliError* error);
bool srCliSurveyCage(const srCliMesh* mesh, srCliCageSurvey* outSurvey, srCliError* error);
bool srCliSurveyRig(const srCliRig* rig, srCliRigSurvey* outSurvey, srCliError* error);
