// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the library and the helper program around TetGen say to each other: one order in, one answer out, in
// the machine's own byte order. Read by both, so it is C and C++ and includes nothing of either.
//
// Order: srTetgenOrder, then points, extras and holes (3 doubles each), triangles (3 int32), sizes
// (floats).
// Answer: srTetgenReply, then nodes (3 doubles), cells (4 int32); nothing at all on a failure, which the exit
// code tells. The helper's argument is the host's process number, decimal: it ends where that is not its
// parent (any more). Without an argument it belongs to nobody.

#pragma once

#include <stdint.h>

#define SR_TETGEN_MAGIC 0x31474553u // "SEG1"

// Counts beyond these are refused by either side.
#define SR_TETGEN_MOST_POINTS (1 << 22)
#define SR_TETGEN_MOST_TRIANGLES (1 << 23)
#define SR_TETGEN_MOST_SIZES (1 << 24)

typedef struct srTetgenOrder {
    uint32_t magic;
    int32_t pointCount; ///< Of the surface.
    int32_t extraCount; ///< Points within it that shall be nodes.
    int32_t holeCount;  ///< Points of hollows, one each: what is around them is not filled.
    int32_t triangleCount;
    int32_t sizeCounts[3]; ///< A grid of wanted edge lengths, x fastest; the whole may be 0.
    int32_t mostSeconds;   ///< After which it ends itself, should nobody else.
    int32_t reserved;
    int64_t mostBytes; ///< Of memory, everything counted.
    double sizeOrigin[3];
    double sizeSpacing;
    double radiusEdge; ///< Largest radius of a cell's sphere by its shortest edge.
    double minDihedralDegrees;
} srTetgenOrder;

typedef struct srTetgenReply {
    uint32_t magic;
    int32_t nodeCount;
    int32_t cellCount;
    int32_t reserved;
    uint64_t hash; ///< FNV-1a over nodes and cells.
} srTetgenReply;

/// Exit codes: TetGen's own, and ours.
typedef enum srTetgenExit {
    sr_tetgenExitFine = 0,
    sr_tetgenExitMemory = 1,
    sr_tetgenExitBug = 2,
    sr_tetgenExitCrossing = 3,
    sr_tetgenExitTiny = 4,
    sr_tetgenExitClose = 5,
    sr_tetgenExitInput = 10,
    sr_tetgenExitOrder = 20, ///< The order was not understood.
    sr_tetgenExitEmpty = 21, ///< TetGen made no cells.
    sr_tetgenExitPipe = 22,  ///< Nobody takes the answer.
} srTetgenExit;
