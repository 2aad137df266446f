// SPDX-License-Identifier: GPL-3.0-or-later
//
// The cage: the tetrahedral mesh that is simulated. Its points are nodes, its elements cells; corners a b c
// d, positive volume.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

/// Owns its arrays.
typedef struct srCage {
    srVec3* nodes;
    int32_t nodeCount;
    int32_t (*cells)[4];
    int32_t cellCount;
    int32_t (*edges)[2]; ///< Each edge of the cells once, lower node first, in ascending order.
    int32_t edgeCount;
} srCage;

/// Copies the arrays, turns cells of negative volume round, leaves out nodes that no cell uses, renumbers
/// nodes for locality (reverse Cuthill-McKee) and cells by their first node, and lists the edges.
/// `sr_errorBadMesh` when an index is out of range, a node is not finite, or no cell of positive volume is
/// left.
SR_MUST_USE srResult srCreateCage(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                                  int32_t cellCount, srCage* outCage);

/// As srCreateCage, and for each cell given the cell it became, or `SR_NULL_INDEX` when it had no volume.
/// `outNewCells` may be null.
SR_MUST_USE srResult srCreateCageMapped(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                                        int32_t cellCount, int32_t* outNewCells, srCage* outCage);

/// Accepts a zeroed cage.
void srDestroyCage(srCage* cage);

/// Six times the volume of a cell is what its corners' triple product gives; this is the volume itself.
double srCellVolume(const srCage* cage, int32_t cell);

/// A quarter of each cell's volume to each corner: fills one number a node.
void srCage_LumpVolumes(const srCage* cage, double* outVolumes);

/// Who is next to node i along edges: `outNeighbours[outStarts[i]] .. outNeighbours[outStarts[i + 1] - 1]`,
/// ascending. Fills nodeCount + 1 starts and 2 edgeCount neighbours.
void srCage_ListNeighbours(const srCage* cage, int32_t* outStarts, int32_t* outNeighbours);
