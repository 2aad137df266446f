// SPDX-License-Identifier: GPL-3.0-or-later
//
// The cages of a skin's layers as one cage: they lie over one another where pieces overlap, and share
// nothing.

#pragma once

#include "mesh/layers.h"
#include "mesh/mesher.h"

/// `meshes` are one for each layer. A point of a layer's triangles gets a cell of that layer's cage, if place
/// alone would tell another's.
SR_MUST_USE srResult srJoinMeshes(const srSurface* surface, const srLayers* layers, const srMesh* meshes,
                                  const srProgress* progress, srMesh* outMesh);
