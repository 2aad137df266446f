// SPDX-License-Identifier: GPL-3.0-or-later
//
// Weights for a skin that has none yet: bounded biharmonic weights of its bones, computed on a cage within
// the skin and brought to its vertices. Because the cage is made of the inside, it does not matter whether
// the skin is closed, clean or in one piece, and nothing leaks across a gap.

#pragma once

#include "softrig/base.h"
#include "softrig/character.h"
#include "softrig/id.h"

/// What weights are computed from. Everything is copied by `srStartWeights`; nothing is kept.
///
/// Bones, points and control cages are one thing: points, each of a column of weights, joined to elements of
/// three point numbers. Three times the same is a point; two different ones a segment, along which weights go
/// straight from the one's column to the other's; three a triangle. A bone is two points of one column.
typedef struct srWeightsDef {
    size_t structSize; ///< Set by `srDefaultWeightsDef`.

    const float* skinPositions; ///< 3 a vertex. A vertex that is not finite gets no weights.
    int32_t skinVertexCount;
    const int32_t* skinTriangles; ///< 3 vertex indices a triangle.
    int32_t skinTriangleCount;

    const float* points; ///< 3 a point, in the space of the skin.
    const int32_t* pointColumns;
    int32_t pointCount;
    const int32_t* elements; ///< 3 point indices an element.
    int32_t elementCount;
    int32_t columnCount; ///< 1 to 4,096.

    const int32_t* mirrorColumns; ///< Nullable. The column on the other side, for each; itself in the middle;
                                  ///< -1 for one without, which keeps its weights as they come. Vertices that
                                  ///< have a mirror image at x -> -x then get the mean of their own weights
                                  ///< and those of their image: a symmetric rig stays symmetric.

    int32_t targetNodeCount; ///< Size of the cage: 50 to 50,000. Default 4,000.
    float tolerance;         ///< Of both residuals: 1e-8 to 0.1. Default 1e-4.

    // how the inside of the skin is understood: as in `srCharacterDef`, with the same defaults
    float largestHole;
    float sheetThickness;
    bool fillsHollows;
    bool joinsTouching;
} srWeightsDef;

SR_API srWeightsDef srDefaultWeightsDef(void);

/// What was found.
typedef struct srWeightsReport {
    int32_t nodeCount;
    int32_t cellCount;
    int32_t outsideColumnCount;  ///< Columns with nothing inside of the skin: they count where it is nearest.
    int32_t orphanCount;         ///< Pieces of the skin that no bone is in: they go with what is nearest.
    int32_t mirroredVertexCount; ///< Vertices that have a mirror image.
    int32_t iterationCount;
    float primalResidual; ///< How far the weights are from smooth ones, relative;
    float dualResidual;   ///< and how far what bounds them is from what would have to.
    float energy;         ///< What is minimised, lengths in units of the cube root of the cage's volume.
    bool isConverged;     ///< Both residuals are below the tolerance.
    float cageSeconds;
    float weightsSeconds;
} srWeightsReport;

/// Checks and copies `def` and starts to work in a thread of the library.
SR_API srResult srStartWeights(const srWeightsDef* def, srWeightsId* outWeights);

SR_API srResult srWeights_GetStatus(srWeightsId weights, srJobStatus* outStatus);

/// As `srCharacter_Wait`.
SR_API srResult srWeights_Wait(srWeightsId weights, double seconds);

SR_API srResult srWeights_GetReport(srWeightsId weights, srWeightsReport* outReport);

/// Copies the weights, vertex by vertex (skinVertexCount x columnCount): 0 to 1; those of a finite vertex sum
/// to one. `sr_errorNotReady` while they are being computed.
SR_API srResult srWeights_Read(srWeightsId weights, float* outValues, int32_t vertexCount,
                               int32_t columnCount);

/// Cancels if it still runs, without waiting for that, and frees.
SR_API srResult srDestroyWeights(srWeightsId weights);
