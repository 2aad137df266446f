// SPDX-License-Identifier: GPL-3.0-or-later
//
// The cotangent Laplacian of a cage, which is the stiffness of linear finite elements: L_ij = sum over cells
// of volume (grad phi_i . grad phi_j). Rows sum to zero; unit of length to the power one.

#pragma once

#include "math/csc.h"
#include "mesh/cage.h"

/// Entries that srFillLaplacian writes for each cell: the lower triangle of a 4 x 4 block.
#define SR_LAPLACIAN_ENTRIES 10

/// Lower triangle, `SR_LAPLACIAN_ENTRIES` triplets a cell, to be summed by srCreateCsc.
void srFillLaplacian(const srCage* cage, srTriplet* outTriplets);
