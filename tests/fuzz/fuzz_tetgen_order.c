// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as an order to the helper around TetGen, which runs in a process of its own as ever. Whatever it
// is told it ends, with a code that is known or by a signal, and leaves no process; and a cage that it then
// gives is either one of the octahedron that most orders are about, or is told from one.

// children that are left
#define _GNU_SOURCE

#include "target.h"
#include "tetgen_ball.h"

#include "core/alloc.h"
#include "core/process.h"
#include "mesh/tetgen_answer.h"
#include "mesh/tetgen_protocol.h"

#include <string.h>
#include <sys/wait.h>

#define MAX_SIZE 2048
// what is wanted too fine takes forever
#define SECONDS 0.5

static const char* const words[] = {"1GES",     "\x01", "\xff\xff\xff\x7f", "\xf0\x3f", "\xf0\x7f",
                                    "\xf8\x7f", NULL};

static bool isKnown(int code) {
    switch (code) {
    case sr_tetgenExitFine:
    case sr_tetgenExitMemory:
    case sr_tetgenExitBug:
    case sr_tetgenExitCrossing:
    case sr_tetgenExitTiny:
    case sr_tetgenExitClose:
    case sr_tetgenExitInput:
    case sr_tetgenExitOrder:
    case sr_tetgenExitEmpty:
    case sr_tetgenExitPipe:
        return true;
    default:
        return false;
    }
}

static bool run(const uint8_t* bytes, size_t size) {
    srProcessOrder order = {
        .program = SR_TETGEN_PROGRAM,
        .input = bytes,
        .inputSize = size,
        .mostOutput = (size_t)1 << 24,
        .mostSeconds = SECONDS,
    };
    srProcessAnswer answer;
    srFuzzRequire(srRunProcess(&order, &answer) == sr_success);
    srFuzzRequire(answer.fate != sr_processMissing && answer.fate != sr_processCancelled);
    srFuzzRequire(answer.fate != sr_processEnded || isKnown(answer.code));
    srFuzzRequire(waitpid(-1, NULL, WNOHANG) == -1);

    srArena* arena = srCreateArena(1 << 12);
    srTetgenInput input = srFuzzBall();
    srTetgenMesh mesh;
    srTetgenFate fate;
    srFuzzRequire(arena != NULL);
    srFuzzRequire(srReadTetgenAnswer(&input, &answer, arena, &fate, &mesh) == sr_success);
    srFuzzRequire(fate != sr_tetgenMade || mesh.nodeCount >= input.pointCount);
    srDestroyArena(arena);
    srDestroyProcessAnswer(&answer);
    srFuzzRequire(srAlloc_GetByteCount() == 0);
    return fate == sr_tetgenMade;
}

static void put(uint8_t** cursor, const void* from, size_t size) {
    memcpy(*cursor, from, size);
    *cursor += size;
}

// the octahedron alone, with a point inside, and with wanted lengths
static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    const float sizes[8] = {0.9f, 0.9f, 0.9f, 0.9f, 0.7f, 0.7f, 0.7f, 0.7f};
    for (int kind = 0; kind < 3; kind++) {
        uint8_t bytes[MAX_SIZE];
        uint8_t* cursor = bytes;
        srTetgenOrder head;
        memset(&head, 0, sizeof(head));
        head.magic = SR_TETGEN_MAGIC;
        head.pointCount = 6;
        head.extraCount = kind > 0;
        head.triangleCount = 8;
        head.mostSeconds = 1;
        head.mostBytes = (int64_t)1 << 28;
        head.radiusEdge = 2.0;
        if (kind == 2) {
            head.sizeCounts[0] = head.sizeCounts[1] = head.sizeCounts[2] = 2;
            head.sizeOrigin[0] = head.sizeOrigin[1] = head.sizeOrigin[2] = -1.0;
            head.sizeSpacing = 2.0;
        }
        put(&cursor, &head, sizeof(head));
        put(&cursor, srFuzzBallPoints, (size_t)(6 + head.extraCount) * sizeof(srVec3));
        put(&cursor, srFuzzBallTriangles, sizeof(srFuzzBallTriangles));
        put(&cursor, sizes, kind == 2 ? sizeof(sizes) : 0);
        visit(bytes, (size_t)(cursor - bytes), context);
    }
}

const srFuzzTarget srFuzzTheTarget = {"tetgen_order", run, visitSeeds, words, MAX_SIZE};
