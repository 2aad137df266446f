// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether a cage fits a skin: a judge that shares nothing with the mesher. It counts, tries every triangle,
// and decides signs exactly. Lives here: the limits and the judgement. Does not: anything of the library.

#pragma once

#include "corpus/soup.h"

/// What a cage may have wrong with it, one bit each.
typedef enum srMisfit {
    sr_misfitIndex = 1,     ///< A cell names a node that is not there, or one twice; a node is not finite.
    sr_misfitLooseNode = 2, ///< A node that no cell uses.
    sr_misfitFlatCell = 4,  ///< A cell whose volume is not positive.
    sr_misfitFace = 8,      ///< A face of three cells, or of two that lie on the same side of it.
    sr_misfitEdge = 16,     ///< An edge of the boundary that has not two faces of it.
    sr_misfitVertex = 32,   ///< A node at which the boundary, or the flesh, is more than one fan.
    sr_misfitOutside = 64,  ///< The boundary is further from the skin than a cell.
    sr_misfitMissing = 128, ///< The skin is further from the boundary than a cell.
    sr_misfitSmall = 256,   ///< Too little volume.
    sr_misfitLarge = 512,   ///< Too much volume.
    sr_misfitFewNodes = 1024,
    sr_misfitManyNodes = 2048,
    sr_misfitGlued = 4096, ///< What lies beside each other without touching is joined.
} srMisfit;

/// The names of the bits, joined by commas.
void srDescribeMisfits(int misfits, char* outText, int32_t textSize);

typedef struct srFitLimits {
    double leastVolume; ///< Of what is inside.
    double mostVolume;
    double leastNodes; ///< Of the wanted number.
    double mostNodes;
    double mostCells; ///< Between boundary and skin, in longest edges of the cell at the boundary.
} srFitLimits;

/// Clean shapes, damaged ones, and dust: all pieces smaller than a cell. There a cell is cut on all sides, so
/// that its edges are half of what they would be elsewhere, and not every piece is met by one.
extern const srFitLimits srCleanLimits;
extern const srFitLimits srDamagedLimits;
extern const srFitLimits srDustLimits;

/// What the cage should enclose.
typedef struct srFitGoal {
    const srSoup* skin;     ///< As it was given.
    const srSoup* repaired; ///< What it stands for: the skin before it was damaged; or the skin itself.
    const srSoup* widest;   ///< Closed, with whatever else the cage may enclose; null is `repaired`.
    int32_t wantedNodes;
    const double (*aparts)[6]; ///< Pairs of places that are far from each other through the flesh.
    const double* leastPaths;
    int32_t apartCount;
} srFitGoal;

enum {
    srAngleBins = 18,
    srAspectBins = 10
};

typedef struct srFitReport {
    int misfits;
    int32_t nodeCount;
    int32_t cellCount;
    int32_t boundaryFaceCount;
    int32_t flatCellCount;
    int32_t badFaceCount;
    int32_t badEdgeCount;
    int32_t badVertexCount;
    double volume;
    double insideLeast; ///< What is inside for sure: estimate less three standard errors, of `repaired`.
    double insideMost;  ///< What may be counted as inside, likewise; where that matters, with spikes, crumbs,
                        ///< and what walls and sheets thinner than a cell are given.
    double volumeRatio; ///< To the nearer of both, 1 between them.
    double outsideCells; ///< Furthest point of the boundary from the skin, in cells.
    double missingCells; ///< Furthest point of the skin from the boundary, in cells.
    double shortestPath; ///< Of the pairs that are apart, of the path that is wanted; infinite without any.
    double smallestAngleDegrees; ///< Between two faces of a cell.
    double largestAngleDegrees;
    double worstAspect;            ///< Longest edge over the shortest height; 1.22 for a regular cell.
    int32_t angles[srAngleBins];   ///< Ten degrees each.
    int32_t aspects[srAspectBins]; ///< Up to 1.5, 2, 3, 4, 6, 8, 12, 16, 32, and beyond.
} srFitReport;

/// `nodes` is 3 floats a node, `cells` 4 nodes a cell. Reproducible for a seed. True when nothing is wrong.
bool srJudgeFit(const float* nodes, int32_t nodeCount, const int32_t* cells, int32_t cellCount,
                const srFitGoal* goal, const srFitLimits* limits, srFitReport* outReport);
