// SPDX-License-Identifier: GPL-3.0-or-later
//
// Moves nodes a little where cells are flat: by climbing, the worst cell around a node first (Freitag and
// Ollivier-Gooch 1997, with the least sine of a cell's dihedral angles as its worth). For the few slivers
// that a mesher leaves.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

/// Cells have positive volume and keep it; the worst of them never gets worse. Nodes of the surface leave
/// their place by at most a quarter of the edges around. Cells whose least sine is at least that of
/// `wantedDegrees` start nothing.
SR_MUST_USE srResult srRelaxNodes(srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                                  int32_t cellCount, double wantedDegrees, srArena* arena);
