// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing: from a skin with bones to a character that can be simulated. The skin may be any polygon soup;
// what is simulated is a coarse cage of tetrahedra that the library fits to its inside.
//
// Conventions. Lengths are in metres or whatever unit the host uses; matrices are 4 x 4 in *column-major*
// order, as Blender's bulk reads give them: 16 floats, the translation in 12, 13, 14. "Skin space" is where
// the skin has its own shape, but for its size: flesh is measured there. It is the skin object's own space,
// unless that object is scaled unevenly; then the host brings the skin to such a space, and the shot brings
// its offsets back (`srShotDef.skinToObject`).

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

/// What the artist painted on the skin: one number a vertex each. A null array is a map that nobody painted,
/// and so is a value that is not finite. Numbers beyond a range count as its end.
typedef struct srCharacterMaps {
    size_t structSize; ///< Set by `srDefaultCharacterMaps`.

    const float* stiffness; ///< Factor on stiffness and on the pull to the pose, 0.01 to 100; unpainted 1.
    const float* mass;      ///< Factor on density, 0.01 to 100; unpainted 1. Heavier flesh swings slower.
    const float* damping;   ///< Factor on damping, 0.01 to 100; unpainted 1.
    const float* hold; ///< 0 to 1, by about how much less the flesh swings; nodes of 1 do not leave the pose.
                       ///< Where paint ends, flesh goes over from held to free within a cell. Unpainted 0.
    const float* pin;  ///< As hold; and where it is 1 the skin itself does not leave the pose, to the bit.
    const float* detail; ///< From 0.5 on the cage has cells of half the size there, and larger ones
                         ///< elsewhere: `targetNodeCount` is met all the same. Unpainted 0. The only map that
                         ///< the cage depends on.
} srCharacterMaps;

/// Nothing painted.
SR_API srCharacterMaps srDefaultCharacterMaps(void);

/// Who makes the cage from the skin.
typedef enum srMesher {
    sr_mesherAutomatic = 0, ///< Whichever was measured to be better: TetGen, if `tetgenProgram` is given and
                            ///< the skin is closed, crosses nowhere and is fine enough; else the lattice.
    sr_mesherLattice = 1,   ///< The library's own: always, for whatever has an inside.
    sr_mesherTetgen = 2,    ///< TetGen, in a helper program of its own; if that does not answer, the lattice.
} srMesher;

/// Room for the sentence about the cage in a report, the closing zero included.
#define SR_MESHER_NOTE_SIZE 160

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

    srCharacterMaps maps; ///< Default: nothing painted.

    // how the inside of the skin is understood, for a cage that the library makes
    float largestHole;    ///< Holes up to this diagonal are closed, in diagonals of the skin's bounds: 0 or
                          ///< more. Larger ones stay open. Default 0.2.
    float sheetThickness; ///< What encloses nothing (ears, fins, cloth) gets this thickness, in the same
                          ///< unit: 0 to 1. Zero leaves it out. Default 0.01.
    bool fillsHollows;    ///< Hollows within flesh are flesh too. Default false.
    bool joinsTouching; ///< Parts that touch, lie closer than a cell or overlap a little hang together in the
                        ///< cage. Default false: they stay separate, as fingers and lips must.
    int32_t mesher;     ///< An `srMesher`. Default automatic.
    const char* tetgenProgram; ///< Path of the helper program softrig-tetgen, UTF-8. Null: there is none.
} srCharacterDef;

SR_API srCharacterDef srDefaultCharacterDef(void);

/// Bins of ten degrees from 0 to 180.
#define SR_DIHEDRAL_BINS 18

/// Bins of a tenth from 0 to 1.
#define SR_ASPECT_BINS 10

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

    int32_t vertexCount; ///< Of the skin.
    int32_t boneCount;
    int32_t spaceCount;
    int32_t dihedralCounts[SR_DIHEDRAL_BINS]; ///< Angles between two faces of a cell, by tens of degrees.
    float mapsSeconds;                        ///< Of the painted maps.
    float totalSeconds;                       ///< Times are zero for a character that was opened.
    float peakMegabytes; ///< The most that the library held at once meanwhile, everything counted.

    // what was repaired; all zero with a cage of the caller's own
    int32_t weldedVertexCount;      ///< Vertices at the place of another one: taken as one.
    int32_t duplicateTriangleCount; ///< Triangles on the corners of another one: left out.
    int32_t flippedTriangleCount;   ///< Turned to face as most of their patch does.
    int32_t turnedPatchCount; ///< Patches (parts joined by edges of two triangles) that were inside out.
    int32_t closedHoleCount;
    int32_t openRimCount;        ///< Holes too large to be closed, and outlines of sheets.
    int32_t sheetCount;          ///< Patches without an inside or with a thinner one: they got a thickness.
    int32_t swallowedPatchCount; ///< Patches within flesh that bound nothing: left out.
    int32_t cavityCount;         ///< Patches around a hollow.
    int32_t skinPieceCount;      ///< Parts that the skin falls into.

    int32_t cagePieceCount;               ///< Parts that the cage falls into.
    int32_t copyCount;                    ///< Copies of cells where flesh only touches.
    int32_t removedCellCount;             ///< Cells left out because the skin pinched itself there.
    float cellSize;                       ///< Edge of the lattice's cubes at the skin, or of TetGen's cells.
    float insideVolume;                   ///< Of the repaired skin, to a few per cent.
    int32_t aspectCounts[SR_ASPECT_BINS]; ///< Three times inner by outer radius of cells, by tenths; 1 is
                                          ///< regular.
    int32_t mesher; ///< The `srMesher` that made the cage; automatic when the caller gave one.
    char mesherNote[SR_MESHER_NOTE_SIZE]; ///< Why it was that one, in a sentence or two; empty when the
                                          ///< caller gave a cage.

    /// How many nodes are enough for the shape: where no count within 15 % of the wanted one could be made,
    /// be it more or fewer, or the cage is larger than the inside by more than three tenths. The least of the
    /// cages tried that were neither, to be asked for next (somewhat fewer may do too); the most of them
    /// where none was. Else 0, and where TetGen made the cage: one of its that is off by more is not taken.
    int32_t leastNodeCount;

    /// Vertices farther outside of the cage than the longest edge of the cell that they follow: what it does
    /// not reach, such as cards of hair. They lag behind, for about there their weights meet their bound.
    int32_t farVertexCount;
} srCharacterReport;

/// Checks and copies `def` and starts to prepare in a thread of the library. The id is valid at once; what
/// needs a ready character answers `sr_errorNotReady` until then.
SR_API srResult srCreateCharacter(const srCharacterDef* def, srCharacterId* outCharacter);

/// Cancels preparing if it runs, without waiting for that, and frees the character as soon as no shot uses it
/// any more.
SR_API srResult srDestroyCharacter(srCharacterId character);

SR_API srResult srCharacter_GetStatus(srCharacterId character, srJobStatus* outStatus);

/// Waits at most `seconds` (negative: for ever). `sr_success` when the character is ready, `sr_errorNotReady`
/// when time ran out, else the result of preparing with its sentence.
SR_API srResult srCharacter_Wait(srCharacterId character, double seconds);

SR_API srResult srCharacter_GetReport(srCharacterId character, srCharacterReport* outReport);

/// Copies the cage: 3 floats a node, 4 indices a cell, with the counts of the report.
SR_API srResult srCharacter_ReadCage(srCharacterId character, float* outNodes, int32_t nodeCount,
                                     int32_t* outCells, int32_t cellCount);

/// Changes what is painted, as if the character had been prepared with it: takes a part of that time, makes
/// no new cage (`maps->detail` is not looked at), and the id stays. Shots simulate anew from their first
/// frame when anything differs. `sr_errorNotReady` while the character is being prepared.
SR_API srResult srCharacter_SetMaps(srCharacterId character, const srCharacterMaps* maps,
                                    int32_t vertexCount);

/// Bytes that `srCharacter_WriteFile` writes: the whole prepared character, painted maps included.
SR_API srResult srCharacter_GetFileSize(srCharacterId character, size_t* outByteCount);

/// Writes the prepared character into the caller's memory, in the format of docs/character-format.md.
/// `byteCount` is what `srCharacter_GetFileSize` said; `sr_errorNotReady` when the painted maps changed
/// since: ask for the size again.
SR_API srResult srCharacter_WriteFile(srCharacterId character, uint8_t* outBytes, size_t byteCount);

/// A ready character from what `srCharacter_WriteFile` wrote, here or on another machine of the same byte
/// order, in some milliseconds and without any linear algebra: its shots have the same bits as those of the
/// character that was written. The bytes are copied; they must not change before this returns.
/// `sr_errorBadFile` with a sentence for what is cut, damaged, of another byte order or of another version.
SR_API srResult srOpenCharacter(const uint8_t* bytes, size_t byteCount, srCharacterId* outCharacter);
