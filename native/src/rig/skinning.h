// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the rig does to the cage: from the recorded matrices of a frame to one affine map a bone, and linear
// blend skinning of nodes with it. Physics is not known here.

#pragma once

#include "core/error.h"
#include "math/mat34.h"

#include <stdint.h>

/// The constant half of a rig. Owns its arrays.
typedef struct srRig {
    srMat34* inverseRests; ///< Armature to bone in the rest pose.
    int32_t* boneSpaces;
    int32_t boneCount;
    int32_t spaceCount;
} srRig;

/// `boneRests` is 16 column-major floats a bone; `boneSpaces` null is 0 for all. `sr_errorInvalidValue` for a
/// bone whose rest matrix cannot be inverted.
SR_MUST_USE srResult srCreateRig(const float* boneRests, const int32_t* boneSpaces, int32_t boneCount,
                                 int32_t spaceCount, srRig* outRig);

/// Accepts a zeroed rig.
void srDestroyRig(srRig* rig);

/// Matrices in one recorded row: the skin object, the armatures, the bones.
int32_t srRig_GetRowMatrixCount(const srRig* rig);

/// The map of each bone from skin space to the world, as Blender's armature deform has it, and after the last
/// bone that of the skin object alone (for what has no weights): boneCount + 1 maps. With A an armature, O
/// the skin object, P and R a bone's pose and rest: A P R^-1 A^-1 O.
void srRig_ReadRow(const srRig* rig, const float* row, srMat34* outMaps);

/// The skin object's own map in a row.
srMat34 srRig_ReadObject(const float* row);

/// Weights of nodes on maps, sparse: node i owns entries starts[i] .. starts[i + 1] - 1, which sum to one.
/// Owns its arrays.
typedef struct srNodeWeights {
    int32_t* starts;
    int32_t* bones;
    double* weights;
    int32_t nodeCount;
} srNodeWeights;

/// Keeps of each node what is at least 0.01 %, and in any case the largest, and normalises. `dense` is
/// nodeCount x boneCount; each row has a positive weight.
SR_MUST_USE srResult srCreateNodeWeights(const float* dense, int32_t nodeCount, int32_t boneCount,
                                         srNodeWeights* outWeights);

/// Accepts zeroed weights.
void srDestroyNodeWeights(srNodeWeights* weights);

/// p_i = sum_k w_ik T_k X_i
void srSkinNodes(const srNodeWeights* weights, const srMat34* maps, const srVec3* restNodes,
                 srVec3* outNodes);
