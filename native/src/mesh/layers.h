// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pieces of a skin that touch, lie close or overlap a little are flesh of their own, however fine the cage:
// they are sorted into layers, of which each is a skin whose pieces have nothing to do with one another. What
// overlaps deeply is one. Lives here: which piece goes where. Does not: filling a layer, joining cages
// (filling.h).

#pragma once

#include "mesh/solid.h"

/// Pieces beyond these wait in the last layer, beside others that they may touch.
#define SR_MOST_LAYERS 6

typedef struct srLayers {
    int count;       ///< 1: all of the skin; nothing else is filled in then.
    uint8_t* layers; ///< By triangle of the surface: its layer, or `count` for one that bounds no flesh.
    int32_t triangleCount;
    double shares[SR_MOST_LAYERS]; ///< How many of a cage's nodes each is worth; together 1.
    srSolidReport solid;           ///< Of all of the skin.
} srLayers;

/// Whether indices alone hang all of the skin together: then there is nothing to sort.
SR_MUST_USE srResult srIsOnePiece(const srSurface* surface, bool* outIsOne);

/// `targetNodeCount` tells what is close: about as long as an edge of such a cage. `sr_errorNoInside` as
/// srCreateSolid.
SR_MUST_USE srResult srCreateLayers(const srSurface* surface, const srSolidSettings* settings,
                                    int32_t targetNodeCount, const srProgress* progress, srLayers* outLayers);

/// Accepts zeroed layers.
void srDestroyLayers(srLayers* layers);

/// One layer as a surface that borrows its points from the whole and has triangles of its own: free those
/// alone, with srDestroyLayer.
SR_MUST_USE srResult srTakeLayer(const srLayers* layers, const srSurface* surface, int layer,
                                 srSurface* outLayer);

/// Accepts a zeroed one.
void srDestroyLayer(srSurface* layer);
