// SPDX-License-Identifier: GPL-3.0-or-later
//
// A character and its animation for the solver alone: read from a folder in the format of the published
// examples of complementary dynamics (mesh, point handles, weights, their keys), or a bar or body made here.

#pragma once

#include "mesh/cage.h"
#include "solver/complementary.h"

#include <stdbool.h>

typedef struct srBenchCharacter {
    char name[64];
    srCage cage;
    srRigWeights weights; ///< Its arrays are the character's.
    double* holds;
    int32_t boneCount;
    int32_t frameCount;
    double (*maps)[12]; ///< A 3 x 4 affine map, row by row, for each frame and bone.
    double frameSeconds;
    double youngModulus;
    double poissonRatio;
    srVec3* places[3]; ///< p now, one and two frames ago.
    srVec3* jump;
} srBenchCharacter;

/// False, with a sentence on stderr, when the folder cannot be read. The hold map is the published one.
bool srBenchReadCharacter(const char* folder, srBenchCharacter* outCharacter);

/// A bar of cubes, six cells each, along z, on `boneCount` bones one after the other which bend it to and
/// fro; each bone holds what is next to its axis.
bool srBenchMakeBar(int32_t across, int32_t along, int32_t boneCount, int32_t frameCount,
                    srBenchCharacter* outCharacter);

#define SR_BENCH_SWING 1.2 // radians of a bar's tip to either side

/// Another swing for a bar of that length in its own widths.
void srBenchSwingBar(srBenchCharacter* character, double length, double swing);

/// A body of bodies.h, its cage of about `nodeCount` nodes, weights and holds as the add-on would have them;
/// the last bone is the object's own place.
bool srBenchMakeBody(int index, int32_t nodeCount, srBenchCharacter* outCharacter);

/// Places, holds and weights for the cage and as many bones as the character has; false without memory.
bool srBenchAllocatePlaces(srBenchCharacter* character);

void srBenchFreeCharacter(srBenchCharacter* character);

/// The motion of frame `frame`, from 1 on; frames must come one after the other.
srComplementaryMotion srBenchMoveTo(srBenchCharacter* character, int32_t frame);
