// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pictures of an animation, to be looked at: left where the rig puts the cage, right where physics takes it.

#pragma once

#include "complementary_data.h"
#include "mesh/boundary.h"

typedef struct srBenchPictures {
    const srBenchCharacter* character;
    srBoundary skin;
    int axes[3];    ///< To the right, up, towards who looks: the thinnest way through the character.
    srVec3 middle;  ///< Of what the rig makes of the cage: the eye goes along.
    double perUnit; ///< Pixels.
    double* depths;
    unsigned char* pixels;
} srBenchPictures;

/// Looks at the whole animation first. False when memory ran out.
bool srBenchBeginPictures(srBenchCharacter* character, srBenchPictures* outPictures);

/// Writes a frame as FOLDER/NAME_0001.ppm and so on; `offsets` one a node. False, with a sentence on stderr,
/// when it cannot be written.
bool srBenchDrawFrame(srBenchPictures* pictures, const srVec3* offsets, const char* folder, int32_t frame);

void srBenchEndPictures(srBenchPictures* pictures);
