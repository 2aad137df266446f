// SPDX-License-Identifier: GPL-3.0-or-later
//
// A fill-reducing order by nested dissection from where the nodes lie in space: a factor with half to two
// thirds of the entries that minimum degree leaves on a cage. Knows points and a sparse matrix, no meshes.

#pragma once

#include "math/csc.h"
#include "math/vec3.h"

/// Orders the nodes of a symmetric matrix, of which the lower triangle is read: `outOrder[k]` is the k-th
/// node to eliminate. `positions` has one finite point a node; that the answer is good, not that it is right,
/// depends on them. The same on every machine. `sr_errorInvalidValue` when the matrix is not square,
/// `sr_errorNotFinite` when a point is not finite.
SR_MUST_USE srResult srDissect(const srCsc* A, const srVec3* positions, int32_t* outOrder);
