// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the rig puts the skin: linear blending as Blender's armature modifier does it, in world space, with
// simulated offsets on top. For sequences of surfaces only; the library has its own.

#pragma once

#include "cli/files.h"

#include <stdbool.h>
#include <stdint.h>

/// World positions of the skin in one frame of the rig's motion. `offsets` are in skin space, 3 a vertex.
/// Fails when a matrix that must be inverted is singular, or memory ran out.
bool srCliPlaceSkin(const srCliRig* rig, int32_t frameIndex, const srCliMesh* skin, const float* offsets,
                    float* outPositions, srCliError* error);
