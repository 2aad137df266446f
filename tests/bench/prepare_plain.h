// SPDX-License-Identifier: GPL-3.0-or-later
//
// What preparing is compared with: the same answers by the plainest means, in plain C. Lives here: baselines.
// Does not: what they are measured against.

#pragma once

#include "mesh/cage.h"
#include "mesh/embedding.h"
#include "mesh/surface.h"
#include "weights/transfer.h"

#include <stdbool.h>

/// Distance to the nearest of all triangles.
double srScanTriangles(const srSurface* surface, srVec3 p);

/// The cell in which the point's smallest barycentric weight is largest, of all cells.
int32_t srScanCells(const srCage* cage, srVec3 p);

/// The weights of `srTransferWeights`, bone by bone by conjugate gradients. For skins that are finite and
/// painted everywhere. False without memory, or when they do not converge.
bool srTransferByGradients(const srCage* cage, const srEmbedding* embedding, const srPaintedWeights* painted,
                           float* outWeights);
