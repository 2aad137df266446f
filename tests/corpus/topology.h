// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the cells of a cage hang together, by node numbers alone: copies of cells that lie over each other have
// nodes of their own and are judged each for itself.

#pragma once

#include "corpus/soup.h"

typedef struct srTopology {
    int32_t (
        *boundary)[3]; ///< Faces of one cell, seen counter-clockwise from outside if the cell is positive.
    int32_t* boundaryCells; ///< Whose they are.
    int32_t boundaryCount;
    int32_t badFaceCount;   ///< Of three cells or more, or of two on the same side.
    int32_t badEdgeCount;   ///< Of the boundary, without exactly one face on either side.
    int32_t badVertexCount; ///< Fans of cells, or of boundary faces, beyond the first, over all nodes.
    int32_t looseNodeCount;
} srTopology;

/// All indices must be in range.
srTopology srCreateTopology(int32_t nodeCount, const int32_t* cells, int32_t cellCount);
void srDestroyTopology(srTopology* topology);
