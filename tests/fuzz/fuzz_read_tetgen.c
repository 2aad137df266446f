// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as what the helper around TetGen answered for an octahedron. The last two say how the program
// ended, and whether its words are signed first: without a signature nearly all inputs end at the hash, with
// one the checks behind it are met. A cage that is taken must be one.

#include "target.h"
#include "tetgen_ball.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "mesh/tetgen_answer.h"
#include "mesh/tetgen_protocol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 2048
#define TAIL 2

enum {
    tailSigns = 1,
    tailHasCode = 2,
    tailHasFate = 4
};

static const char* const words[] = {"1GES",     "\x01", "\xff\xff\xff\x7f", "\xf0\x3f", "\xf0\x7f",
                                    "\xf8\x7f", NULL};

static void sign(uint8_t* bytes, size_t size) {
    srTetgenReply reply;
    if (size >= sizeof(reply)) {
        memcpy(&reply, bytes, sizeof(reply));
        reply.hash = srHashBytes(SR_HASH_SEED, bytes + sizeof(reply), size - sizeof(reply));
        memcpy(bytes, &reply, sizeof(reply));
    }
}

static void requireCage(const srTetgenMesh* mesh) {
    double sum = 0.0;
    for (int32_t i = 0; i < mesh->cellCount; i++) {
        const int32_t* n = mesh->cells[i];
        for (int c = 0; c < 4; c++) {
            srFuzzRequire(n[c] >= 0 && n[c] < mesh->nodeCount);
        }
        srVec3 a = mesh->nodes[n[0]];
        double volume = srDot(srSub(mesh->nodes[n[1]], a),
                              srCross(srSub(mesh->nodes[n[2]], a), srSub(mesh->nodes[n[3]], a)));
        srFuzzRequire(volume > 0.0);
        sum += volume / 6.0;
    }
    // of an octahedron around the unit ball's axes
    srFuzzRequire(fabs(sum - 4.0 / 3.0) < 1e-5);
    for (int32_t n = 0; n < mesh->nodeCount; n++) {
        srFuzzRequire(isfinite(mesh->nodes[n].x) && isfinite(mesh->nodes[n].y) && isfinite(mesh->nodes[n].z));
    }
}

static bool run(const uint8_t* bytes, size_t size) {
    if (size < TAIL) {
        return false;
    }
    size_t wordCount = size - TAIL;
    uint8_t tail = bytes[wordCount], kind = bytes[wordCount + 1];
    uint8_t* said = malloc(wordCount + 1);
    memcpy(said, bytes, wordCount);
    if ((tail & tailSigns) != 0) {
        sign(said, wordCount);
    }
    srProcessAnswer answer = {
        .fate = sr_processEnded, .bytes = said, .byteCount = wordCount, .capacity = wordCount};
    answer.code = (tail & tailHasCode) != 0 ? kind : 0;
    answer.fate =
        (tail & tailHasFate) != 0 ? (srProcessFate)(kind % (sr_processCancelled + 1)) : sr_processEnded;

    srArena* arena = srCreateArena(1 << 12);
    srTetgenInput input = srFuzzBall();
    srTetgenMesh mesh;
    srTetgenFate fate;
    srFuzzRequire(arena != NULL);
    srFuzzRequire(srReadTetgenAnswer(&input, &answer, arena, &fate, &mesh) == sr_success);
    srFuzzRequire((fate == sr_tetgenMade) == (mesh.cellCount > 0));
    srFuzzRequire(strlen(srDescribeTetgenFate(fate)) > 5);
    if (fate == sr_tetgenMade) {
        srFuzzRequire(answer.fate == sr_processEnded && answer.code == 0);
        requireCage(&mesh);
    }
    srDestroyArena(arena);
    free(said);
    srFuzzRequire(srAlloc_GetByteCount() == 0);
    return fate == sr_tetgenMade;
}

static void visitCells(int32_t nodeCount, const int32_t (*cells)[4], int32_t cellCount, srFuzzSeedFcn* visit,
                       void* context) {
    uint8_t bytes[MAX_SIZE];
    srTetgenReply reply = {SR_TETGEN_MAGIC, nodeCount, cellCount, 0, 0};
    size_t nodeBytes = (size_t)nodeCount * sizeof(srVec3), cellBytes = (size_t)cellCount * sizeof(cells[0]);
    size_t size = sizeof(reply) + nodeBytes + cellBytes;
    memcpy(bytes, &reply, sizeof(reply));
    memcpy(bytes + sizeof(reply), srFuzzBallPoints, nodeBytes);
    memcpy(bytes + sizeof(reply) + nodeBytes, cells, cellBytes);
    sign(bytes, size);
    for (uint8_t tail = 0; tail <= tailSigns; tail++) {
        bytes[size] = tail;
        bytes[size + 1] = 0;
        visit(bytes, size + TAIL, context);
    }
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    visitCells(6, srFuzzBallAxis, 4, visit, context);
    visitCells(7, srFuzzBallCentre, 8, visit, context);
    // a node that no cell has
    visitCells(7, srFuzzBallAxis, 4, visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"read_tetgen", run, visitSeeds, words, MAX_SIZE};
