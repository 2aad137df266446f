// SPDX-License-Identifier: GPL-3.0-or-later
//
// First what became of the program, then the frame of what it said, then every number in it.

#include "mesh/tetgen_answer.h"

#include "core/hash.h"
#include "mesh/faces.h"
#include "mesh/tetgen_protocol.h"

#include <math.h>
#include <string.h>

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
    case sr_tetgenExitOrder:
        return sr_tetgenForeign;
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

static bool areNodesFinite(const srTetgenMesh* mesh) {
    for (int32_t n = 0; n < mesh->nodeCount; n++) {
        double sum = mesh->nodes[n].x + mesh->nodes[n].y + mesh->nodes[n].z;
        if (!isfinite(sum)) {
            return false;
        }
    }
    return true;
}

// Every cell names nodes that are there and has a volume; turned to be positive.
static bool areCellsSound(srTetgenMesh* mesh) {
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
    }
    return true;
}

// ---- filling
// ------------------------------------------------------------------------------------------------

// The first nodes are the surface's points, to the bit.
static bool hasPoints(const srTetgenInput* input, const srTetgenMesh* mesh) {
    return mesh->nodeCount >= input->pointCount &&
           memcmp(mesh->nodes, input->points, (size_t)input->pointCount * sizeof(srVec3)) == 0;
}

// Same way round, the lowest first.
static void turnFace(int32_t a, int32_t b, int32_t c, int32_t out[3]) {
    int32_t first = b < a && b < c ? 1 : c < a && c < b ? 2 : 0;
    const int32_t n[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        out[i] = n[(first + i) % 3];
    }
}

static void getFace(const srTetgenMesh* mesh, int32_t face, int32_t out[3]) {
    const int32_t* cell = mesh->cells[face / 4];
    const int* corners = srFaceCorners[face % 4];
    turnFace(cell[corners[0]], cell[corners[1]], cell[corners[2]], out);
}

// Triangles by their lowest points, as chains.
static void linkTriangles(const srTetgenInput* input, int32_t* heads, int32_t* next) {
    for (int32_t p = 0; p < input->pointCount; p++) {
        heads[p] = SR_NULL_INDEX;
    }
    for (int32_t t = 0; t < input->triangleCount; t++) {
        const int32_t* n = input->triangles[t];
        int32_t turned[3];
        turnFace(n[0], n[1], n[2], turned);
        next[t] = heads[turned[0]];
        heads[turned[0]] = t;
    }
}

// Takes a triangle of these corners, the same way round, out of its chain; false when there is none (left).
static bool takeTriangle(const srTetgenInput* input, const int32_t face[3], int32_t* heads, int32_t* next) {
    if (face[0] >= input->pointCount) {
        return false;
    }
    for (int32_t* link = &heads[face[0]]; *link != SR_NULL_INDEX; link = &next[*link]) {
        const int32_t* n = input->triangles[*link];
        int32_t turned[3];
        turnFace(n[0], n[1], n[2], turned);
        if (turned[1] == face[1] && turned[2] == face[2]) {
            *link = next[*link];
            return true;
        }
    }
    return false;
}

static bool areFacesSound(const srTetgenInput* input, const srTetgenMesh* mesh, const int32_t* opposite,
                          int32_t* heads, int32_t* next) {
    int32_t outerCount = 0;
    linkTriangles(input, heads, next);
    for (int32_t face = 0; face < 4 * mesh->cellCount; face++) {
        int32_t n[3], m[3];
        getFace(mesh, face, n);
        if (opposite[face] == SR_NULL_INDEX) {
            outerCount++;
            if (!takeTriangle(input, n, heads, next)) {
                return false;
            }
        } else {
            getFace(mesh, opposite[face], m);
            if (n[1] != m[2] || n[2] != m[1]) {
                return false;
            }
        }
    }
    return outerCount == input->triangleCount;
}

// Inner faces have a cell on either side; the others are the triangles of the surface, each once. As no cell
// is turned inside out, they cover each place as often as the surface goes around it: no hole, nothing
// beyond, nothing twice. A triangle that TetGen had to split after all is no longer the surface's, and
// refused.
static srResult doCellsFill(const srTetgenInput* input, const srTetgenMesh* mesh, srArena* arena,
                            bool* outFill) {
    srArenaMark mark = srArena_GetMark(arena);
    int32_t* opposite = SR_PUSH(arena, int32_t, 4 * (size_t)mesh->cellCount, "faces of cells");
    int32_t* heads = SR_PUSH(arena, int32_t, input->pointCount, "triangles of the surface");
    int32_t* next = SR_PUSH(arena, int32_t, input->triangleCount, "triangles of the surface");
    if (opposite == NULL || heads == NULL || next == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(srPairFaces((const int32_t (*)[4])mesh->cells, mesh->cellCount, mesh->nodeCount, arena, opposite));
    *outFill = areFacesSound(input, mesh, opposite, heads, next);
    srArena_Release(arena, mark);
    return sr_success;
}

// ---- reading
// ------------------------------------------------------------------------------------------------

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
    bool isCage = areNodesFinite(&mesh) && hasPoints(input, &mesh) && areCellsSound(&mesh);
    if (isCage) {
        SR_TRY(doCellsFill(input, &mesh, arena, &isCage));
    }
    if (isCage) {
        *outFate = sr_tetgenMade;
        *outMesh = mesh;
    }
    return sr_success;
}
