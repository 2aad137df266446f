// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing: from a skin with bones to a character that can be simulated. The skin may be any polygon soup;
// what is simulated is a coarse cage of tetrahedra that the library fits to its inside.
//
// Conventions. Lengths are in metres or whatever unit the host uses; matrices are 4 x 4 in *column-major*
// order, as Blender's bulk reads give them: 16 floats, the translation in 12, 13, 14. "Skin space" is the
// skin object's own space.

#pragma once

#include "softrig/base.h"
#include "softrig/id.h"

/// Where long work stands.
typedef enum srPhase {
    sr_phaseRunning = 0,
    sr_phaseDone = 1,
    sr_phaseFailed =
        2, ///< `result` and `message` tell why; a cancelled job has failed with `sr_errorCancelled`.
} srPhase;

typedef struct srJobStatus {
    srPhase phase;
    srResult result;   ///< `sr_errorNotReady` while it runs.
    float progress;    ///< 0 to 1.
    char message[256]; ///< The sentence of a failure; else empty. UTF-8, ends with a zero.
} srJobStatus;

/// What a character is made from. Everything is copied by `srCreateCharacter`; nothing is kept.
/// A character without bones is moved by its object alone: leave the bone arrays null and `boneCount` zero.
typedef struct srCharacterDef {
    size_t structSize; ///< Set by `srDefaultCharacterDef`.

    const float* skinPositions; ///< 3 a vertex, undeformed, in skin space. NaN vertices are reported and get
                                ///< no offset.
    int32_t skinVertexCount;
    const int32_t* skinTriangles; ///< 3 vertex indices a triangle.
    int32_t skinTriangleCount;

    const int32_t* weightStarts; ///< skinVertexCount + 1: vertex v owns entries weightStarts[v] ..
                                 ///< weightStarts[v + 1] - 1.
    const int32_t* weightBones;  ///< Bone of each entry.
    const float* weightValues;   ///< Weight of each entry, 0 or more; a vertex's weights are normalised. A
                                 ///< vertex without any stays with the object, as in Blender.

    int32_t boneCount;
    const float* boneRests; ///< 16 a bone: bone to armature in the rest pose (Blender's `matrix_local`). The
                            ///< bone runs from its origin along its y axis.
    const float* boneLengths;   ///< Length of each bone in its armature's space, 0 or more.
    const int32_t* boneParents; ///< `SR_NULL_INDEX` for a root; a parent stands before its children.
    const float* boneLooseTips; ///< 0 to 1: the share of a chain's length, from its free end, that swings
                                ///< freely. Read from the last bone of an unbranched chain that ends freely
                                ///< (ear, tail); the chain reaches up to the first bone that branches or has
                                ///< 0 here. Null is 0 for all.
    const int32_t* boneSpaces;  ///< Which armature a bone belongs to, 0 .. spaceCount - 1. Null is 0 for all.
    int32_t spaceCount;         ///< How many armature objects there are; 0 only without bones.
    const float* spaceToSkin;   ///< 16 an armature: armature space to skin space at the moment of preparing.
                                ///< Like `boneRests` not flat: they have an inverse.

    const float* cageNodes; ///< Optional: a cage of the caller's own, 3 a node, in skin space. Null: the
                            ///< library makes one.
    int32_t cageNodeCount;
    const int32_t* cageCells; ///< 4 node indices a cell.
    int32_t cageCellCount;

    int32_t targetNodeCount; ///< Size of the cage that the library makes: 50 to 200,000. Default 1,000.
} srCharacterDef;

SR_API srCharacterDef srDefaultCharacterDef(void);

/// What preparing found and made. All lengths in skin space.
typedef struct srCharacterReport {
    int32_t nonFiniteVertexCount;
    int32_t degenerateTriangleCount;
    int32_t borderEdgeCount;
    int32_t nonManifoldEdgeCount;
    int32_t isolatedVertexCount;
    int32_t unweightedVertexCount; ///< They stay with the object.
    int32_t nodeCount;
    int32_t cellCount;
    int32_t edgeCount;
    int32_t heldNodeCount;      ///< Nodes that follow their bone exactly.
    int32_t outsideVertexCount; ///< Skin vertices outside of the cage; they follow its nearest cell.
    float size;                 ///< Diagonal of the skin's bounds.
    float volume;               ///< Of the cage.
    float smallestAngleDegrees; ///< Between two faces of a cell.
    float largestAngleDegrees;
    float surfaceSeconds;
    float cageSeconds;
    float embeddingSeconds;
    float weightsSeconds;
    float holdSeconds;
} srCharacterReport;

/// Checks and copies `def` and starts to prepare in a thread of the library. The id is valid at once; what
/// needs a ready character answers `sr_errorNotReady` until then.
SR_API srResult srCreateCharacter(const srCharacterDef* def, srCharacterId* outCharacter);

/// Cancels preparing if it runs, and frees the character as soon as no shot uses it any more.
SR_API srResult srDestroyCharacter(srCharacterId character);

SR_API srResult srCharacter_GetStatus(srCharacterId character, srJobStatus* outStatus);

/// Waits at most `seconds` (negative: for ever). `sr_success` when the character is ready, `sr_errorNotReady`
/// when time ran out, else the result of preparing with its sentence.
SR_API srResult srCharacter_Wait(srCharacterId character, double seconds);

SR_API srResult srCharacter_GetReport(srCharacterId character, srCharacterReport* outReport);

/// Copies the cage: 3 floats a node, 4 indices a cell, with the counts of the report.
SR_API srResult srCharacter_ReadCage(srCharacterId character, float* outNodes, int32_t nodeCount,
                                     int32_t* outCells, int32_t cellCount);
