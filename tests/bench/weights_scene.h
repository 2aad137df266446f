// SPDX-License-Identifier: GPL-3.0-or-later
//
// What bench_weights measures on: cages of shapes with arms, and bones within them.

#pragma once

#include "mesh/embedding.h"
#include "mesh/surface.h"
#include "weights/biharmonic.h"

#include <stdbool.h>

typedef struct srBenchWeights {
    srSurface surface; ///< The skin,
    srEmbedding embedding;
    double spacing; ///< and the edges of the lattice that its cage is from.
    srCage cage;
    srVec3* points;
    int32_t* columns;
    int32_t (*elements)[3];
    srAnchors anchors;
} srBenchWeights;

/// A body with six arms, made here.
void srBenchMakeArms(int32_t targetNodeCount, int32_t boneCount, srBenchWeights* out);

/// An OBJ file; false, with a sentence on stderr, when it gives no cage.
bool srBenchReadWeights(const char* path, int32_t targetNodeCount, int32_t boneCount, srBenchWeights* out);

/// Moves nodes about until many cells are nearly flat, by a seed; bones stay.
void srBenchMakeSlivers(srBenchWeights* scene);

void srBenchFreeWeights(srBenchWeights* scene);
