// SPDX-License-Identifier: GPL-3.0-or-later
//
// First what became of the program, then the frame of what it said, then every number in it.

#include "mesh/tetgen_answer.h"

#include "core/hash.h"
#include "mesh/tetgen_protocol.h"

#include <math.h>
#include <string.h>

// What the cells fill may differ from what the surface encloses by rounding alone.
#define VOLUME_TOLERANCE 1e-6

// Cells flatter than this, six volumes by the cube of the longest edge, are as good as none.
#define LEAST_FLATNESS 1e-7

static srTetgenFate judgeEnd(const srProcessAnswer* answer) {
    switch (answer->fate) {
    case sr_processMissing:
        return sr_tetgenMissing;
    case sr_processStalled:
        return sr_tetgenStalled;
    case sr_processCrashed:
        return sr_tetgenCrashed;
    case sr_processFlooded:
    case sr_processCancelled:
        return sr_tetgenGarbled;
    case sr_processEnded:
        break;
    }
    switch (answer->code) {
    case sr_tetgenExitFine:
        return sr_tetgenMade;
    case sr_tetgenExitMemory:
        return sr_tetgenStarved;
    case sr_tetgenExitBug:
        return sr_tetgenCrashed;
    case sr_tetgenExitCrossing:
    case sr_tetgenExitTiny:
    case sr_tetgenExitClose:
    case sr_tetgenExitInput:
    case sr_tetgenExitEmpty:
        return sr_tetgenRefused;
    default:
        return sr_tetgenGarbled;
    }
}

static double volumeOf(const srTetgenMesh* mesh, const int32_t cell[4]) {
    srVec3 a = mesh->nodes[cell[0]], b = srSub(mesh->nodes[cell[1]], a), c = srSub(mesh->nodes[cell[2]], a),
           d = srSub(mesh->nodes[cell[3]], a);
    return srDot(b, srCross(c, d)) / 6.0;
}

static double longestOf(const srTetgenMesh* mesh, const int32_t cell[4]) {
    double longest = 0.0;
    for (int a = 0; a < 4; a++) {
        for (int b = a + 1; b < 4; b++) {
            longest = fmax(longest, srLength(srSub(mesh->nodes[cell[a]], mesh->nodes[cell[b]])));
        }
    }
    return longest;
}

// Six volumes by all triangles with one point; around the first point, for the sake of rounding.
static double enclosedVolume(const srTetgenInput* input) {
    double sum = 0.0;
    for (int32_t t = 0; t < input->triangleCount; t++) {
        const int32_t* n = input->triangles[t];
        srVec3 o = input->points[0], a = srSub(input->points[n[0]], o), b = srSub(input->points[n[1]], o),
               c = srSub(input->points[n[2]], o);
        sum += srDot(a, srCross(b, c)) / 6.0;
    }
    return sum;
}

static bool areNodesFinite(const srTetgenMesh* mesh) {
    for (int32_t n = 0; n < mesh->nodeCount; n++) {
        double sum = mesh->nodes[n].x + mesh->nodes[n].y + mesh->nodes[n].z;
        if (!isfinite(sum)) {
            return false;
        }
    }
    return true;
}

// Every cell names nodes that are there and has a volume; turned to be positive. Together they fill the
// surface: no hole, nothing beyond, nothing twice.
static bool isCageOf(const srTetgenInput* input, srTetgenMesh* mesh) {
    double filled = 0.0;
    if (!areNodesFinite(mesh)) {
        return false;
    }
    for (int32_t i = 0; i < mesh->cellCount; i++) {
        int32_t* cell = mesh->cells[i];
        for (int c = 0; c < 4; c++) {
            if (cell[c] < 0 || cell[c] >= mesh->nodeCount) {
                return false;
            }
        }
        double volume = volumeOf(mesh, cell);
        if (volume < 0.0) {
            int32_t first = cell[0];
            cell[0] = cell[1];
            cell[1] = first;
            volume = -volume;
        }
        double longest = longestOf(mesh, cell);
        if (!(6.0 * volume > LEAST_FLATNESS * longest * longest * longest)) {
            return false;
        }
        filled += volume;
    }
    double enclosed = enclosedVolume(input);
    return fabs(filled - enclosed) <= VOLUME_TOLERANCE * fabs(enclosed);
}

static bool isWhole(const srProcessAnswer* answer, srTetgenReply* outReply) {
    if (answer->byteCount < sizeof(*outReply)) {
        return false;
    }
    memcpy(outReply, answer->bytes, sizeof(*outReply));
    if (outReply->magic != SR_TETGEN_MAGIC || outReply->nodeCount < 4 || outReply->cellCount < 1) {
        return false;
    }
    size_t size =
        (size_t)outReply->nodeCount * sizeof(srVec3) + (size_t)outReply->cellCount * sizeof(int32_t[4]);
    return answer->byteCount == sizeof(*outReply) + size &&
           srHashBytes(SR_HASH_SEED, answer->bytes + sizeof(*outReply), size) == outReply->hash;
}

srResult srReadTetgenAnswer(const srTetgenInput* input, const srProcessAnswer* answer, srArena* arena,
                            srTetgenFate* outFate, srTetgenMesh* outMesh) {
    srTetgenReply reply;
    *outMesh = (srTetgenMesh){0};
    *outFate = judgeEnd(answer);
    if (*outFate != sr_tetgenMade) {
        return sr_success;
    }
    *outFate = sr_tetgenGarbled;
    if (!isWhole(answer, &reply)) {
        return sr_success;
    }
    srTetgenMesh mesh = {SR_PUSH(arena, srVec3, reply.nodeCount, "nodes from TetGen"), reply.nodeCount,
                         srArena_Push(arena, (size_t)reply.cellCount, sizeof(int32_t[4]), "cells"),
                         reply.cellCount};
    if (mesh.nodes == NULL || mesh.cells == NULL) {
        return srFailOutOfMemory("the cage");
    }
    const uint8_t* from = answer->bytes + sizeof(reply);
    size_t nodeBytes = (size_t)mesh.nodeCount * sizeof(srVec3);
    memcpy(mesh.nodes, from, nodeBytes);
    memcpy(mesh.cells, from + nodeBytes, (size_t)mesh.cellCount * sizeof(int32_t[4]));
    if (isCageOf(input, &mesh)) {
        *outFate = sr_tetgenMade;
        *outMesh = mesh;
    }
    return sr_success;
}
