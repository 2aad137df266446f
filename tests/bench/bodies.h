// SPDX-License-Identifier: GPL-3.0-or-later
//
// Characters made from nothing: bodies of blended limbs with bones, weights and a motion. Four have the sizes
// of those in the thesis on position-based complementary dynamics.

#pragma once

#include "softrig/character.h"

#include <stdbool.h>
#include <stdint.h>

#define SR_BODY_COUNT 10
#define SR_BODY_FRAMES 48

typedef struct srBenchBody {
    const char* name;
    srCharacterDef def; ///< Its arrays are the body's.
    float size;
} srBenchBody;

/// False when there is no memory.
bool srBench_CreateBody(int index, srBenchBody* outBody);

/// Accepts a zeroed body.
void srBench_DestroyBody(srBenchBody* body);

/// SR_BODY_FRAMES rows of the tape, 16 (2 + bones) floats each.
void srBench_MoveBody(const srBenchBody* body, float* outRows);
