// SPDX-License-Identifier: GPL-3.0-or-later
//
// Splits the scaffold where it holds flesh that does not hang together: one copy of a tetrahedron for each
// part (virtual nodes: Molino et al. 2004; Nesme et al. 2009), each with distances of its own.

#pragma once

#include "mesh/flesh.h"

/// Arrays live in the arena that made them.
typedef struct srCopies {
    srScaffold scaffold; ///< Its tetrahedra come in the order of those they are copies of.
    int32_t* starts;  ///< First copy of each tetrahedron of the scaffold that was split; one more at the end.
    int32_t* aliases; ///< For each part of each tetrahedron (`partStarts`) its copy: parts may share one.
    int32_t* partStarts; ///< As `starts`, before parts were found to be one.
    int32_t splitCount;  ///< Tetrahedra with more than one copy.
    int32_t copyCount;   ///< Copies beyond the first.
} srCopies;

/// No face of the result is in more than two of its tetrahedra. With nothing to split it is `scaffold`
/// itself.
SR_MUST_USE srResult srSplitScaffold(const srScaffold* scaffold, const srFlesh* flesh, srArena* arena,
                                     const srProgress* progress, srCopies* outCopies);
