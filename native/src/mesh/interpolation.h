// SPDX-License-Identifier: GPL-3.0-or-later
//
// Using an embedding: vectors on the nodes of the cage brought to the points embedded in it.

#pragma once

#include "mesh/embedding.h"

/// outPoints[i] = sum over c of weights[i][c] * vectors[nodes[i][c]]; 3 floats a point.
void srInterpolate(const srEmbedding* embedding, const srVec3f* vectors, float* outPoints);
