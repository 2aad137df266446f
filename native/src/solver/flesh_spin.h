// SPDX-License-Identifier: GPL-3.0-or-later
//
// Momentum and angular momentum of pieces of flesh that nothing holds or pulls. Inner to flesh.h.
//
// Sums are taken while nodes are read anyhow, by ranges of SR_SPIN_RANGE nodes, each piece of a range in a
// seat of its own, and added up seat by seat: the same bits on any number of workers.

#pragma once

#include "solver/flesh.h"

#define SR_SPIN_RANGE 512

/// Accounts of a body's pieces. Owns its arrays.
typedef struct srSpinScratch srSpinScratch;

/// Where a substep begins or ends.
typedef struct srSpinStep {
    const srFleshRest* rest;
    const srFleshTuning* tuning;
    const srPrimaryMotion* motion;
    const srVec3f* loads; ///< Or null.
    const float* starts;  ///< Rows: u,
    float* velocities;    ///< and w,
    const float* earlier; ///< and w a substep earlier, where the substep is one of BDF2 with a past; or null.
    float fraction;       ///< Of the frame, by now.
    float toRest;         ///< Rest units a world unit.
    srSpinScratch* scratch;
} srSpinStep;

/// What of a shape hangs together.
SR_MUST_USE srResult srCreateFleshPieces(const srFleshShape* shape, srFleshPieces* outPieces);
void srDestroyFleshPieces(srFleshPieces* pieces, int32_t nodeCount);

SR_MUST_USE srResult srCreateSpinScratch(const srFleshPieces* pieces, srSpinScratch** outScratch);
void srDestroySpinScratch(srSpinScratch* scratch);

/// At the end of a substep, and where a frame begins: what nodes of a range have. It begins at a multiple of
/// SR_SPIN_RANGE, as all do.
void srFlesh_GatherMomenta(const srSpinStep* step, int32_t begin, int32_t end);

/// When all have: by how much velocities of each piece are to be moved and turned as one, to be what was
/// foreseen; at the first substep not at all.
void srFlesh_FindTurns(const srSpinStep* step, bool isFirst);

/// Moves and turns them, and looks at what damping and what pushes from outside will make of them in the next
/// substep.
void srFlesh_KeepMomenta(const srSpinStep* step, int32_t begin, int32_t end);

/// When all have: what each piece will have at the end of it.
void srFlesh_ForeseeMomenta(const srSpinStep* step);
