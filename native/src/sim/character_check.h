// SPDX-License-Identifier: GPL-3.0-or-later
//
// A stored character as it lies in a file, and whether it is one. Nothing of what is checked here is believed
// because of a hash: bytes may be made to hash right.

#pragma once

#include "core/error.h"
#include "math/mat34.h"
#include "mesh/blend.h"
#include "weights/maps.h"

#include <stdint.h>

/// What is no array. No padding, or files would differ.
typedef struct srStoredFacts {
    double largestWeightSum;
    int32_t spaceCount;
    int32_t outsideCount;
    int32_t rootMap;
    int32_t linearCount; ///< Of the blend; likewise:
    double blendWeightSum;
} srStoredFacts;

/// An array of a file; `count` elements.
#define SR_STORED(type, name)                                                                                \
    const type* name;                                                                                        \
    int32_t name##Count

/// Views; nothing is owned.
typedef struct srStoredCharacter {
    SR_STORED(srStoredFacts, facts);
    SR_STORED(uint32_t, report); ///< srCharacterReport, or as much of it as the writer knew.
    SR_STORED(srVec3, nodes);
    const int32_t (*cells)[4];
    int32_t cellsCount;
    const int32_t (*edges)[2];
    int32_t edgesCount;
    const int32_t (*pointNodes)[4]; ///< The embedding.
    int32_t pointNodesCount;
    const float (*pointWeights)[4];
    int32_t pointWeightsCount;
    SR_STORED(int32_t, pointCells);
    SR_STORED(int32_t, mapNodes); ///< The blend: its maps, ...
    const float (*mapPlaces)[4];
    int32_t mapPlacesCount;
    SR_STORED(int32_t, slopeStarts);
    SR_STORED(srSlope, slopes);
    SR_STORED(srBlendRun, runs); ///< ... and its points.
    SR_STORED(int32_t, targets);
    const float (*places)[3];
    int32_t placesCount;
    SR_STORED(float, shares);
    SR_STORED(uint16_t, shortMaps);
    SR_STORED(int32_t, longMaps);
    SR_STORED(srMat34, inverseRests); ///< One a bone, or none.
    SR_STORED(int32_t, boneSpaces);
    SR_STORED(srVec3, boneAxes); ///< One a bone, or none: files had none at first.
    SR_STORED(int32_t, weightStarts);
    SR_STORED(int32_t, weightBones);
    SR_STORED(double, weightValues);
    SR_STORED(float, holds);
    SR_STORED(float, boneDistances);
    SR_STORED(int32_t, edgeOrder); ///< The solver's.
    SR_STORED(int32_t, edgeStarts);
    SR_STORED(int32_t, cellOrder);
    SR_STORED(int32_t, cellStarts);
    const float* maps[sr_mapKindCount]; ///< One number a node, or null.
    int32_t mapCounts[sr_mapKindCount];
} srStoredCharacter;

/// All but the order of the constraints, which the solver checks itself. `sr_errorBadFile` with a sentence.
SR_MUST_USE srResult srCheckStoredCharacter(const srStoredCharacter* stored);
