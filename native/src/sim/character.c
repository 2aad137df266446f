// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing as a list of stages.

#include "sim/character.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "mesh/filling.h"
#include "mesh/progress.h"
#include "mesh/quality.h"
#include "mesh/surface.h"
#include "rig/hold.h"
#include "rig/turns.h"
#include "weights/transfer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// a shape of fewer steps of float than that across cannot be told from what rounding made of it
#define LEAST_STEPS 64

// what the stages hand to one another and nobody keeps
typedef struct Preparing {
    const srCharacterDef* def;
    srJob* job;
    srCharacter* character;
    srSurface surface;
    srVec3* skin;
    int32_t* pointCells; // by vertex: where it belongs; null for a given cage
    double startSeconds;
} Preparing;

static srResult finishStage(Preparing* preparing, float progress, float* outStageSeconds) {
    double now = srGetSeconds();
    *outStageSeconds = (float)(now - preparing->startSeconds);
    preparing->startSeconds = now;
    if (preparing->job == NULL) {
        return sr_success;
    }
    srJob_SetProgress(preparing->job, progress);
    return srJob_IsCancelled(preparing->job) ? srFail(sr_errorCancelled, "Preparing was cancelled.")
                                             : sr_success;
}

static srResult readSurface(Preparing* preparing) {
    const srCharacterDef* def = preparing->def;
    srSurfaceReport found = {0};
    SR_TRY(srCreateSurface(def->skinPositions, def->skinVertexCount, def->skinTriangles,
                           def->skinTriangleCount, &preparing->surface, &found));
    preparing->skin = SR_ALLOC(srVec3, def->skinVertexCount);
    if (preparing->skin == NULL) {
        return srFailOutOfMemory("the skin");
    }
    for (int32_t v = 0; v < def->skinVertexCount; ++v) {
        const float* x = def->skinPositions + 3 * (size_t)v;
        preparing->skin[v] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }

    srCharacterReport* out = &preparing->character->report;
    out->nonFiniteVertexCount = found.nonFinitePointCount;
    out->degenerateTriangleCount = found.degenerateCount;
    out->borderEdgeCount = found.borderEdgeCount;
    out->nonManifoldEdgeCount = found.nonManifoldEdgeCount;
    out->isolatedVertexCount = found.isolatedPointCount;
    out->size = (float)preparing->surface.size;
    out->vertexCount = def->skinVertexCount;
    out->boneCount = def->boneCount;
    out->spaceCount = def->spaceCount;
    return finishStage(preparing, 0.05f, &out->surfaceSeconds);
}

static bool reportWhole(float fraction, void* context) {
    srJob* job = context;
    srJob_SetProgress(job, fraction);
    return !srJob_IsCancelled(job);
}

static srProgress partOf(const Preparing* preparing, float from, float to) {
    return (srProgress){preparing->job != NULL ? reportWhole : NULL, preparing->job, from, to};
}

static bool reportMeshing(float fraction, void* context) {
    return reportWhole(0.05f + 0.6f * fraction, context);
}

// bones from their armatures' spaces to the space of the skin, as segments: two ends each
static void placeBones(const srCharacterDef* def, srVec3* ends) {
    for (int32_t k = 0; k < def->boneCount; ++k) {
        int32_t space = def->boneSpaces != NULL ? def->boneSpaces[k] : 0;
        srMat34 rest = srFromColumns16(def->boneRests + 16 * (size_t)k);
        srMat34 toSkin = srFromColumns16(def->spaceToSkin + 16 * (size_t)space);
        srVec3 tip = {0.0, (double)def->boneLengths[k], 0.0};
        ends[2 * k] = srMulPoint34(&toSkin, srMulPoint34(&rest, (srVec3){0.0, 0.0, 0.0}));
        ends[2 * k + 1] = srMulPoint34(&toSkin, srMulPoint34(&rest, tip));
    }
}

static void tellMesher(const srFillingReport* made, srCharacterReport* report) {
    report->mesher = made->route == sr_fillingTetgen ? sr_mesherTetgen : sr_mesherLattice;
    snprintf(report->mesherNote, sizeof(report->mesherNote), "%s%s", made->note,
             made->isInstead ? " The lattice mesher made the cage instead." : "");
}

static void reportCage(const srFillingReport* made, srCharacterReport* out) {
    bool isConforming = made->route == sr_fillingTetgen;
    const srSolidReport* solid = isConforming ? &made->conform.solid : &made->lattice.solid;
    out->weldedVertexCount = solid->weldedPointCount;
    out->duplicateTriangleCount = solid->duplicateCount;
    out->flippedTriangleCount = solid->flippedTriangleCount;
    out->turnedPatchCount = solid->turnedPatchCount;
    out->closedHoleCount = solid->closedHoleCount;
    out->openRimCount = solid->openRimCount;
    out->sheetCount = solid->sheetCount + solid->thinCount;
    out->swallowedPatchCount = solid->swallowedCount;
    out->cavityCount = solid->cavityCount;
    out->skinPieceCount = solid->pieceCount;
    out->cagePieceCount = isConforming ? solid->pieceCount : made->lattice.pieceCount;
    out->copyCount = made->lattice.copyCount;
    out->removedCellCount = made->lattice.removedCellCount;
    out->cellSize = (float)(isConforming ? made->conform.edgeLength : made->lattice.spacing);
    out->leastNodeCount = made->lattice.leastNodeCount;
    out->insideVolume = (float)(isConforming ? made->conform.insideVolume : made->lattice.insideVolume);
}

static srResult makeOwnCage(Preparing* preparing) {
    static const srFillingRoute routes[] = {
        [sr_mesherAutomatic] = sr_fillingAutomatic,
        [sr_mesherLattice] = sr_fillingLattice,
        [sr_mesherTetgen] = sr_fillingTetgen,
    };
    const srCharacterDef* def = preparing->def;
    const srSolidSettings solid = {(double)def->largestHole, (double)def->sheetThickness, def->fillsHollows};
    srVec3* spine = SR_ALLOC(srVec3, 2 * (size_t)def->boneCount + 1);
    if (spine == NULL) {
        return srFailOutOfMemory("the bones");
    }
    placeBones(def, spine);
    srFillingSettings settings = {
        .route = routes[def->mesher],
        .lattice = {.targetNodeCount = def->targetNodeCount,
                    .progress = preparing->job != NULL ? reportMeshing : NULL,
                    .progressContext = preparing->job,
                    .detail = def->maps.detail,
                    .solid = &solid,
                    .gluesContacts = def->joinsTouching},
        .limits = {.program = def->tetgenProgram},
        .spine = spine,
        .segmentCount = def->boneCount,
    };
    srFillingReport made = {0};
    srMesh mesh = {0};
    srResult result = srFillSurface(&preparing->surface, &settings, &mesh, &made);
    SR_FREE(spine, 2 * (size_t)def->boneCount + 1);
    SR_TRY(result);
    tellMesher(&made, &preparing->character->report);
    reportCage(&made, &preparing->character->report);
    preparing->character->cage = mesh.cage;
    preparing->pointCells = mesh.pointCells;
    return sr_success;
}

static srResult takeGivenCage(Preparing* preparing) {
    const srCharacterDef* def = preparing->def;
    srVec3* nodes = SR_ALLOC(srVec3, def->cageNodeCount);
    if (nodes == NULL) {
        return srFailOutOfMemory("the cage");
    }
    for (int32_t i = 0; i < def->cageNodeCount; ++i) {
        const float* x = def->cageNodes + 3 * (size_t)i;
        nodes[i] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }
    srResult result = srCreateCage(nodes, def->cageNodeCount, (const int32_t (*)[4])def->cageCells,
                                   def->cageCellCount, &preparing->character->cage);
    SR_FREE(nodes, def->cageNodeCount);
    return result;
}

static srResult makeCage(Preparing* preparing) {
    SR_TRY(preparing->def->cageCells != NULL ? takeGivenCage(preparing) : makeOwnCage(preparing));
    const srCage* cage = &preparing->character->cage;
    srCharacterReport* out = &preparing->character->report;
    srProgress measuring = partOf(preparing, 0.65f, 0.65f);
    SR_TRY(srReportProgress(&measuring, 0.0));
    out->nodeCount = cage->nodeCount;
    out->cellCount = cage->cellCount;
    out->edgeCount = cage->edgeCount;
    double smallestDegrees;
    double largestDegrees;
    double volume;
    srMeasureCells(cage, &smallestDegrees, &largestDegrees, &volume);
    out->smallestAngleDegrees = (float)smallestDegrees;
    out->largestAngleDegrees = (float)largestDegrees;
    out->volume = (float)volume;
    srCountDihedrals(cage, out->dihedralCounts, SR_DIHEDRAL_BINS);
    srCountAspects(cage, out->aspectCounts, SR_ASPECT_BINS);
    return finishStage(preparing, 0.65f, &out->cageSeconds);
}

static srResult embedSkin(Preparing* preparing) {
    srCharacter* character = preparing->character;
    srEmbedding* embedding = &character->embedding;
    srProgress finding = partOf(preparing, 0.65f, 0.7f), blending = partOf(preparing, 0.7f, 0.75f);
    SR_TRY(srCreateEmbeddingWithProgress(&character->cage, preparing->skin, preparing->pointCells,
                                         preparing->def->skinVertexCount, &finding, embedding));
    SR_TRY(srCreateBlendWithProgress(&character->cage, embedding, preparing->skin, &blending,
                                     &character->blend));
    for (int32_t v = 0; v < embedding->pointCount; ++v) {
        srVec3 x = preparing->skin[v];
        double sum = x.x + x.y + x.z;
        if (sum - sum != 0.0) { // not a place: no offset either
            for (int c = 0; c < 4; ++c) {
                embedding->weights[v][c] = 0.0f;
            }
        }
    }
    preparing->character->report.outsideVertexCount = embedding->outsideCount;
    preparing->character->report.farVertexCount = embedding->farCount;
    return finishStage(preparing, 0.75f, &preparing->character->report.embeddingSeconds);
}

// The painted weights with one more bone, the skin object itself, for vertices that have none.
static srResult paintWithObject(const srCharacterDef* def, srPaintedWeights* painted,
                                int32_t* outUnweighted) {
    int32_t vertexCount = def->skinVertexCount;
    int32_t entryCount = def->weightStarts != NULL ? def->weightStarts[vertexCount] : 0;
    int32_t* starts = SR_ALLOC(int32_t, vertexCount + 1);
    int32_t* bones = SR_ALLOC(int32_t, entryCount + vertexCount);
    float* values = SR_ALLOC(float, entryCount + vertexCount);
    *painted = (srPaintedWeights){starts, bones, values, vertexCount, def->boneCount + 1};
    if (starts == NULL || bones == NULL || values == NULL) {
        return srFailOutOfMemory("the painted weights");
    }
    int32_t count = 0;
    *outUnweighted = 0;
    starts[0] = 0;
    for (int32_t v = 0; v < vertexCount; ++v) {
        float sum = 0.0f;
        for (int32_t entry = entryCount > 0 ? def->weightStarts[v] : 0;
             entryCount > 0 && entry < def->weightStarts[v + 1]; ++entry) {
            bones[count] = def->weightBones[entry];
            values[count] = def->weightValues[entry];
            sum += values[count++];
        }
        if (!(sum > 0.0f)) {
            bones[count] = def->boneCount;
            values[count++] = 1.0f;
            *outUnweighted += 1;
        }
        starts[v + 1] = count;
    }
    return sr_success;
}

static void freePainted(srPaintedWeights* painted, int32_t entryRoom) {
    srFree((void*)painted->vertexStarts, (size_t)painted->vertexCount + 1, sizeof(int32_t));
    srFree((void*)painted->bones, (size_t)entryRoom, sizeof(int32_t));
    srFree((void*)painted->weights, (size_t)entryRoom, sizeof(float));
}

static srResult transferWeights(Preparing* preparing) {
    const srCharacterDef* def = preparing->def;
    srCharacter* character = preparing->character;
    int32_t mapCount = def->boneCount + 1;
    size_t denseCount = (size_t)character->cage.nodeCount * (size_t)mapCount;
    srPaintedWeights painted = {0};
    float* dense = SR_ALLOC(float, denseCount);
    srResult result = dense == NULL ? srFailOutOfMemory("the weights of the cage") : sr_success;
    if (result != sr_success) {
        goto cleanup;
    }
    SR_TRY_CLEANUP(
        srCreateRig(def->boneRests, def->boneSpaces, def->boneCount, def->spaceCount, &character->rig));
    SR_TRY_CLEANUP(paintWithObject(def, &painted, &character->report.unweightedVertexCount));
    srProgress progress = partOf(preparing, 0.75f, 0.9f);
    SR_TRY_CLEANUP(srTransferWeights(&character->cage, &character->embedding, &painted, &progress, dense));
    SR_TRY_CLEANUP(srCreateNodeWeights(dense, character->cage.nodeCount, mapCount, &character->weights));

cleanup:
    SR_FREE(dense, denseCount);
    freePainted(&painted, (def->weightStarts != NULL ? def->weightStarts[def->skinVertexCount] : 0) +
                              def->skinVertexCount);
    return result != sr_success ? result : finishStage(preparing, 0.9f, &character->report.weightsSeconds);
}

static srResult makeBody(Preparing* preparing, const float* holds, const float* distances) {
    srCharacter* character = preparing->character;
    srXpbdShape shape = {
        .nodes = character->cage.nodes,
        .nodeCount = character->cage.nodeCount,
        .edges = (const int32_t (*)[2])character->cage.edges,
        .edgeCount = character->cage.edgeCount,
        .cells = (const int32_t (*)[4])character->cage.cells,
        .cellCount = character->cage.cellCount,
        .holds = holds,
        .boneDistances = distances,
    };
    return srCreateXpbdRest(&shape, &character->body);
}

static srResult readMaps(const srCharacter* character, const srCharacterMaps* maps,
                         const srProgress* progress, srNodeMaps* outMaps) {
    const float* const painted[sr_mapKindCount] = {
        [sr_mapStiffness] = maps->stiffness, [sr_mapMass] = maps->mass, [sr_mapDamping] = maps->damping,
        [sr_mapHold] = maps->hold,           [sr_mapPin] = maps->pin,
    };
    return srTransferMaps(&character->cage, &character->embedding, painted, progress, outMaps);
}

static srResult holdBody(Preparing* preparing) {
    const srCharacterDef* def = preparing->def;
    srCharacter* character = preparing->character;
    int32_t nodeCount = character->cage.nodeCount;
    srVec3* ends = SR_ALLOC(srVec3, 2 * (size_t)def->boneCount + 1);
    srVec3* heads = SR_ALLOC(srVec3, def->boneCount + 1);
    srVec3* tails = SR_ALLOC(srVec3, def->boneCount + 1);
    double* volumes = SR_ALLOC(double, nodeCount);
    float* holds = SR_ALLOC(float, nodeCount);
    float* distances = SR_ALLOC(float, nodeCount);
    srVec3* axes = SR_ALLOC_ZERO(srVec3, def->boneCount);
    character->boneAxes = axes;
    srResult result = sr_success;
    if (ends == NULL || heads == NULL || tails == NULL || volumes == NULL || holds == NULL ||
        distances == NULL || (def->boneCount > 0 && axes == NULL)) {
        result = srFailOutOfMemory("the hold map");
        goto cleanup;
    }

    placeBones(def, ends);
    for (int32_t k = 0; k < def->boneCount; ++k) {
        heads[k] = ends[2 * k];
        tails[k] = ends[2 * k + 1];
    }
    srCage_LumpVolumes(&character->cage, volumes);
    character->rootMap = srFindRootMap(&character->weights, volumes, def->boneParents, def->boneCount);
    for (int32_t k = 0; k < def->boneCount; ++k) {
        srVec3 axis = srSub(tails[k], heads[k]);
        double length = srLength(axis);
        axes[k] = length > 0.0 ? srScale(1.0 / length, axis) : (srVec3){0.0, 0.0, 0.0};
    }
    srBoneSegments bones = {heads, tails, def->boneParents, def->boneLooseTips, def->boneCount};
    SR_TRY_CLEANUP(
        srComputeHold(character->cage.nodes, volumes, &character->weights, &bones, holds, distances));
    SR_TRY_CLEANUP(makeBody(preparing, holds, distances));

cleanup:
    SR_FREE(ends, 2 * (size_t)def->boneCount + 1);
    SR_FREE(heads, def->boneCount + 1);
    SR_FREE(tails, def->boneCount + 1);
    SR_FREE(volumes, nodeCount);
    SR_FREE(holds, nodeCount);
    SR_FREE(distances, nodeCount);
    return result != sr_success ? result : finishStage(preparing, 0.95f, &character->report.holdSeconds);
}

static srResult paintBody(Preparing* preparing) {
    srCharacter* character = preparing->character;
    srProgress progress = partOf(preparing, 0.95f, 1.0f);
    SR_TRY(readMaps(character, &preparing->def->maps, &progress, &character->maps));
    srCharacter_CountHeld(character);
    return finishStage(preparing, 1.0f, &character->report.mapsSeconds);
}

// the largest coordinate of what triangles use, and the diagonal of its bounds
static void measureSkin(const srCharacterDef* def, double* outLargest, double* outSize) {
    double lower[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, upper[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int32_t corner = 0; corner < 3 * def->skinTriangleCount; ++corner) {
        int32_t vertex = def->skinTriangles[corner];
        if (vertex < 0 || vertex >= def->skinVertexCount) {
            continue; // a sentence of its own tells of it
        }
        const float* x = def->skinPositions + 3 * (size_t)vertex;
        for (int c = 0; c < 3 && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); ++c) {
            lower[c] = fmin(lower[c], (double)x[c]);
            upper[c] = fmax(upper[c], (double)x[c]);
        }
    }
    *outLargest = 0.0;
    *outSize = 0.0;
    for (int c = 0; c < 3 && lower[0] <= upper[0]; ++c) {
        *outLargest = fmax(*outLargest, fmax(-lower[c], upper[c]));
        *outSize = hypot(*outSize, upper[c] - lower[c]);
    }
}

// A small mesh far away is torn by the steps of float before we see it: what is missing then is not an
// inside.
static srResult explainSteps(const srCharacterDef* def, srResult result) {
    double largest, size;
    if (def->cageCells != NULL || (result != sr_errorNoInside && result != sr_errorBadMesh)) {
        return result;
    }
    measureSkin(def, &largest, &size);
    double step = (double)(nextafterf((float)largest, INFINITY) - (float)largest);
    double thickness = (double)def->sheetThickness * size;
    bool hasNoSheets = thickness > 0.0 && thickness <= SR_LEAST_THICKNESS * largest;
    if (!(size > 0.0) || (size >= LEAST_STEPS * step && !hasNoSheets)) {
        return result;
    }
    return srFail(sr_errorBadMesh,
                  "The mesh is %.3g large and lies %.3g from the origin of its coordinates, where they go in "
                  "steps of %.2g: they cannot hold its shape. Model it at that origin, and move the object "
                  "instead.",
                  size, largest, step);
}

srResult srPrepareCharacter(const srSource* source, srJob* job, srCharacter* outCharacter) {
    *outCharacter = (srCharacter){0};
    Preparing preparing = {
        .def = &source->def,
        .job = job,
        .character = outCharacter,
        .startSeconds = srGetSeconds(),
    };
    srResult result = sr_success;
    double startSeconds = preparing.startSeconds;
    int32_t watch = srAlloc_BeginWatch();
    outCharacter->audience = srCreateAudience();
    if (outCharacter->audience == NULL) {
        result = srFailOutOfMemory("a character");
        goto cleanup;
    }
    SR_TRY_CLEANUP(readSurface(&preparing));
    SR_TRY_CLEANUP(makeCage(&preparing));
    SR_TRY_CLEANUP(embedSkin(&preparing));
    SR_TRY_CLEANUP(transferWeights(&preparing));
    SR_TRY_CLEANUP(holdBody(&preparing));
    SR_TRY_CLEANUP(paintBody(&preparing));
    outCharacter->report.totalSeconds = (float)(preparing.startSeconds - startSeconds);

cleanup:
    outCharacter->report.peakMegabytes = (float)(1e-6 * (double)srAlloc_EndWatch(watch));
    SR_FREE(preparing.skin, source->def.skinVertexCount);
    SR_FREE(preparing.pointCells, source->def.skinVertexCount);
    srDestroySurface(&preparing.surface);
    if (result != sr_success) {
        srDestroyCharacterRest(outCharacter);
        result = explainSteps(&source->def, result);
    }
    return result;
}

srXpbdMaps srCharacter_GetMaps(const srCharacter* character) {
    float* const* values = character->maps.values;
    return (srXpbdMaps){
        .stiffness = values[sr_mapStiffness],
        .mass = values[sr_mapMass],
        .damping = values[sr_mapDamping],
        .hold = values[sr_mapHold],
        .pin = values[sr_mapPin],
    };
}

void srCharacter_KeepPinned(const srCharacter* character, float* offsets) {
    const srEmbedding* embedding = &character->embedding;
    const float* pins = character->maps.values[sr_mapPin];
    for (int32_t v = 0; pins != NULL && v < embedding->pointCount; ++v) {
        bool isPinned = true;
        for (int c = 0; c < 4 && isPinned; ++c) {
            isPinned = pins[embedding->nodes[v][c]] >= 1.0f || embedding->weights[v][c] == 0.0f;
        }
        if (isPinned) {
            memset(offsets + 3 * (size_t)v, 0, 3 * sizeof(float));
        }
    }
}

void srCharacter_CountHeld(srCharacter* character) {
    srXpbdMaps maps = srCharacter_GetMaps(character);
    int32_t count = 0;
    for (int32_t i = 0; i < character->body.nodeCount; ++i) {
        count += srFindHold(&character->body, &maps, i) >= SR_HARD_HOLD;
    }
    character->report.heldNodeCount = count;
}

static bool areMapsEqual(const srNodeMaps* a, const srNodeMaps* b) {
    size_t size = (size_t)a->nodeCount * sizeof(float);
    for (int kind = 0; kind < sr_mapKindCount; ++kind) {
        const float* left = a->values[kind];
        const float* right = b->values[kind];
        if ((left == NULL) != (right == NULL) || (left != NULL && memcmp(left, right, size) != 0)) {
            return false;
        }
    }
    return true;
}

srResult srCharacter_ChangeMaps(srCharacter* character, const srCharacterMaps* maps) {
    srNodeMaps made;
    SR_TRY(readMaps(character, maps, NULL, &made));
    srAudience_Hold(character->audience);
    bool isNew = !areMapsEqual(&made, &character->maps);
    srAudience_Release(character->audience);
    if (isNew) {
        srAudience_Hush(character->audience);
        srNodeMaps before = character->maps;
        character->maps = made;
        made = before;
        srCharacter_CountHeld(character);
        srAudience_Resume(character->audience);
    }
    srDestroyNodeMaps(&made);
    return sr_success;
}

srCharacterReport srCharacter_CopyReport(const srCharacter* character) {
    srAudience_Hold(character->audience);
    srCharacterReport report = character->report;
    srAudience_Release(character->audience);
    return report;
}

void srDestroyCharacterRest(srCharacter* character) {
    srDestroyAudience(character->audience);
    srDestroyNodeMaps(&character->maps);
    srDestroyXpbdRest(&character->body);
    srDestroyNodeWeights(&character->weights);
    SR_FREE(character->boneAxes, character->rig.boneCount);
    srDestroyRig(&character->rig);
    srDestroyBlend(&character->blend);
    srDestroyEmbedding(&character->embedding);
    srDestroyCage(&character->cage);
    *character = (srCharacter){0};
}
