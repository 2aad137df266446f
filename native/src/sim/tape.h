// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tape: recorded motion of the rig, one row of matrices a frame, as it was handed over, to the bit; and
// of a skin that something else than bones moves, where that puts the cage's nodes, in skin space.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>

/// Rows 0 .. recordedCount - 1 hold something. Owns its arrays.
typedef struct srTape {
    float* rows;
    int32_t rowFloatCount;
    int32_t rowCount;
    int32_t recordedCount;
    srVec3f* nodes; ///< rowCount x nodeCount; null while nobody follows the skin.
    bool* hasNodes; ///< Which rows of them hold something.
    int32_t nodeCount;
} srTape;

SR_MUST_USE srResult srCreateTape(int32_t rowCount, int32_t rowFloatCount, srTape* outTape);

/// Accepts a zeroed tape.
void srDestroyTape(srTape* tape);

/// recordedCount, also while rows beyond the recorded ones are written.
int32_t srTape_CountRecorded(const srTape* tape);

/// A row that is recorded. May be read while rows beyond the recorded ones are written.
const float* srTape_GetRow(const srTape* tape, int32_t row);

/// The first of the given rows that differs from what is on the tape, or lies beyond it; firstRow + rowCount
/// when none does.
int32_t srTape_FindChange(const srTape* tape, int32_t firstRow, int32_t rowCount, const float* rows);

/// Rows must follow what is recorded without a gap and fit.
void srTape_Write(srTape* tape, int32_t firstRow, int32_t rowCount, const float* rows);

/// Room for nodes, where there is none yet.
SR_MUST_USE srResult srTape_KeepNodes(srTape* tape, int32_t nodeCount);

/// Where the nodes are at a row, if that was written; else null.
const srVec3f* srTape_GetNodes(const srTape* tape, int32_t row);

/// Whether these are other nodes than the row has, by their bits.
bool srTape_HasOtherNodes(const srTape* tape, int32_t row, const srVec3f* nodes);

void srTape_WriteNodes(srTape* tape, int32_t row, const srVec3f* nodes);
