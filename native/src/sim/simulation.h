// SPDX-License-Identifier: GPL-3.0-or-later
//
// A shot at work: tape, worker that runs ahead, frame cache, and those who read from it. What a shot's id
// stands for. Every function may be called from any thread.

#pragma once

#include "core/error.h"
#include "sim/character.h"
#include "softrig/shot.h"

typedef struct srSimulation srSimulation;

/// `character` must outlive the simulation; `def` has been checked.
SR_MUST_USE srResult srCreateSimulation(const srCharacter* character, const srShotDef* def,
                                        srSimulation** outSimulation);

/// Stops the worker. Accepts null.
void srDestroySimulation(srSimulation* simulation);

/// Nothing is simulated and nobody waits any more. Returns at once.
void srSimulation_Halt(srSimulation* simulation);

const srCharacter* srSimulation_GetCharacter(const srSimulation* simulation);
int32_t srSimulation_GetFirstFrame(const srSimulation* simulation);
int32_t srSimulation_GetFrameCount(const srSimulation* simulation);

/// How many frames before the shot's first and behind its last can be read like its own: of a loop one, the
/// round before and the one to come; else none.
int32_t srSimulation_GetMargin(srSimulation* simulation);

/// Floats in a row of the tape.
int32_t srSimulation_GetRowFloatCount(const srSimulation* simulation);

/// Rows are checked by the caller for size and NaN. `sr_errorInvalidValue` for a gap or rows outside of the
/// range.
SR_MUST_USE srResult srSimulation_WriteTape(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                            const float* rows, int32_t* outFirstChangedFrame);

/// Rows are checked by the caller: within the range, with sane values.
void srSimulation_WriteControls(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                const srFrameControls* controls, int32_t* outFirstChangedFrame);

/// As their public namesakes (shot.h). Rows are checked by the caller: within the range, with sane values.
SR_MUST_USE srResult srSimulation_FollowSkin(srSimulation* simulation, const float* restPositions);
SR_MUST_USE srResult srSimulation_WriteSkin(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                            const float* positions, int32_t* outFirstChangedFrame);

void srSimulation_SetParams(srSimulation* simulation, const srShotParams* params);

void srSimulation_GetStatus(srSimulation* simulation, srShotStatus* outStatus);

/// Counts how often frames that were ready became void: what was read under one revision belongs together.
int32_t srSimulation_GetRevision(srSimulation* simulation);

/// The rest as their public namesakes (shot.h).
SR_MUST_USE srResult srSimulation_WaitFrame(srSimulation* simulation, int32_t frame, double seconds);
SR_MUST_USE srResult srSimulation_ReadOffsets(srSimulation* simulation, double frame, float* outOffsets);
SR_MUST_USE srResult srSimulation_AskProvisional(srSimulation* simulation, int32_t frame);
SR_MUST_USE srResult srSimulation_ReadProvisional(srSimulation* simulation, int32_t frame, float* outOffsets);
SR_MUST_USE srResult srSimulation_ReadNodes(srSimulation* simulation, int32_t frame, bool primary,
                                            float* outNodes);
SR_MUST_USE srResult srSimulation_GetHash(srSimulation* simulation, int32_t frame, uint64_t* outHash);
SR_MUST_USE srResult srSimulation_GetFrameStats(srSimulation* simulation, int32_t frame,
                                                srFrameStats* outStats);

/// Somebody's points, and how the offsets of nodes at a row, in the world, come to them: `bring` is called
/// while nobody else reads or changes the shot.
typedef struct srReader {
    void (*bring)(void* context, int32_t row, const srVec3f* nodeOffsets, float* outOffsets);
    void* context;
    int32_t rowCount;    ///< Rows that `bring` knows; later ones are as if they were not ready.
    size_t floatCount;   ///< Of all points.
    float* laterOffsets; ///< Scratch, as many.
} srReader;

/// As `srSimulation_ReadOffsets` and `srSimulation_ReadProvisional`, for other points than the skin's.
SR_MUST_USE srResult srSimulation_ReadFor(srSimulation* simulation, double frame, const srReader* reader,
                                          float* outOffsets);
SR_MUST_USE srResult srSimulation_ReadProvisionalFor(srSimulation* simulation, int32_t frame,
                                                     const srReader* reader, float* outOffsets);

/// Counts the changes of whatever the rows are simulated from, also of those that nobody has seen yet.
int32_t srSimulation_GetEdition(srSimulation* simulation);

/// A simulated row with all that going on from it needs. Arrays are the owner's.
typedef struct srRowRecord {
    uint64_t sourceHash; ///< Of all that the row depends on.
    uint64_t stateHash;
    srFrameStats stats;
    float loopSeam;
    int32_t loopRounds;
    srVec3f* offsets;
    void* state; ///< At checkpoints only.
    size_t stateSize;
} srRowRecord;

/// Bytes of a state of the solver that the dials ask for.
SR_MUST_USE srResult srSimulation_GetStateSize(srSimulation* simulation, size_t* outSize);

/// Copies a row into the record's arrays; `record->sourceHash` is that of the row before (of row 0: any) and
/// becomes this one's. `sr_errorCancelled` when the shot is not of that edition any more.
SR_MUST_USE srResult srSimulation_SaveRow(srSimulation* simulation, int32_t row, int32_t edition,
                                          srRowRecord* record);

/// Hands out the next row, in order; null when there is none.
typedef const srRowRecord* srNextRowFcn(void* context);

/// Takes rows from row 0 on for as long as they are this shot's, and instead of simulating them; those that
/// are ready stay. How many were this shot's, of which edition, and the last one's hash.
SR_MUST_USE srResult srSimulation_Restore(srSimulation* simulation, srNextRowFcn* next, void* context,
                                          int32_t* outRowCount, int32_t* outEdition, uint64_t* outSourceHash);
