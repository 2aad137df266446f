// SPDX-License-Identifier: GPL-3.0-or-later
//
// The order is written, the answer is read, and then it is looked at as if a stranger had sent it.

#include "mesh/tetgen.h"

#include "core/hash.h"
#include "core/process.h"
#include "mesh/tetgen_protocol.h"

#include <math.h>
#include <string.h>

// A cage of as many nodes as the largest that can be asked for stays far below this.
#define MOST_ANSWER ((size_t)1 << 29)

// What the cells fill may differ from what the surface encloses by rounding alone.
#define VOLUME_TOLERANCE 1e-6

// Cells flatter than this, six volumes by the cube of the longest edge, are as good as none.
#define LEAST_FLATNESS 1e-7

const char* srDescribeTetgenFate(srTetgenFate fate) {
    static const char* const clauses[sr_tetgenFateCount] = {
        [sr_tetgenMade] = "made the cage",
        [sr_tetgenMissing] = "is missing or cannot be started",
        [sr_tetgenStalled] = "took too long and was ended",
        [sr_tetgenStarved] = "needed more memory than it is allowed",
        [sr_tetgenCrashed] = "crashed or was killed",
        [sr_tetgenRefused] = "found a fault in the surface",
        [sr_tetgenGarbled] = "gave no usable cage",
    };
    return fate >= 0 && fate < sr_tetgenFateCount ? clauses[fate] : "did something unknown";
}

static void append(uint8_t** cursor, const void* from, size_t size) {
    if (size > 0) {
        memcpy(*cursor, from, size);
        *cursor += size;
    }
}

static size_t countSizes(const srSizeGrid* grid) {
    const int32_t* counts = grid->counts;
    bool isThere = counts[0] > 1 && counts[1] > 1 && counts[2] > 1;
    return isThere ? (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2] : 0;
}

static srTetgenOrder makeHead(const srTetgenInput* input, const srTetgenLimits* limits) {
    srTetgenOrder head;
    memset(&head, 0, sizeof(head)); // what lies between the fields is sent too
    head.magic = SR_TETGEN_MAGIC;
    head.pointCount = input->pointCount;
    head.extraCount = input->extraCount;
    head.holeCount = input->holeCount;
    head.triangleCount = input->triangleCount;
    head.mostSeconds = (int32_t)fmin(fmax(ceil(limits->seconds) + 1.0, 1.0), 1e5);
    head.mostBytes = (int64_t)(fmin(fmax(limits->megabytes, 1.0), 1e6) * 1048576.0);
    head.radiusEdge = input->radiusEdge;
    head.minDihedralDegrees = input->minDihedralDegrees;
    if (countSizes(&input->sizes) > 0) {
        memcpy(head.sizeCounts, input->sizes.counts, sizeof(head.sizeCounts));
        head.sizeOrigin[0] = input->sizes.origin.x;
        head.sizeOrigin[1] = input->sizes.origin.y;
        head.sizeOrigin[2] = input->sizes.origin.z;
        head.sizeSpacing = input->sizes.spacing;
    }
    return head;
}

static srResult writeOrder(const srTetgenInput* input, const srTetgenLimits* limits, srArena* arena,
                           uint8_t** outBytes, size_t* outSize) {
    srTetgenOrder head = makeHead(input, limits);
    size_t pointBytes = (size_t)input->pointCount * sizeof(srVec3);
    size_t extraBytes = (size_t)input->extraCount * sizeof(srVec3);
    size_t holeBytes = (size_t)input->holeCount * sizeof(srVec3);
    size_t triangleBytes = (size_t)input->triangleCount * sizeof(input->triangles[0]);
    size_t sizeBytes = countSizes(&input->sizes) * sizeof(float);
    *outSize = sizeof(head) + pointBytes + extraBytes + holeBytes + triangleBytes + sizeBytes;
    *outBytes = SR_PUSH(arena, uint8_t, *outSize, "order for TetGen");
    if (*outBytes == NULL) {
        return srFailOutOfMemory("the surface of the cage");
    }
    uint8_t* cursor = *outBytes;
    append(&cursor, &head, sizeof(head));
    append(&cursor, input->points, pointBytes);
    append(&cursor, input->extras, extraBytes);
    append(&cursor, input->holes, holeBytes);
    append(&cursor, input->triangles, triangleBytes);
    append(&cursor, input->sizes.sizes, sizeBytes);
    return sr_success;
}

// ---- reading
// ------------------------------------------------------------------------------------------------

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

static srResult readAnswer(const srTetgenInput* input, const srProcessAnswer* answer, srArena* arena,
                           srTetgenFate* outFate, srTetgenMesh* outMesh) {
    srTetgenReply reply;
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

// ---- running
// ------------------------------------------------------------------------------------------------

typedef struct Wait {
    const srProgress* progress;
    double mostSeconds;
    srResult result;
} Wait;

static bool goOn(double seconds, void* context) {
    Wait* wait = context;
    // nobody knows how long it takes: nearer to the end, slower and slower
    double share = 1.0 - 1.0 / (1.0 + 4.0 * seconds);
    wait->result = wait->progress != NULL ? srReportProgress(wait->progress, share) : sr_success;
    return wait->result == sr_success;
}

static bool canBeAsked(const srTetgenInput* input) {
    return input->pointCount >= 4 && input->pointCount <= SR_TETGEN_MOST_POINTS &&
           input->triangleCount >= 4 && input->triangleCount <= SR_TETGEN_MOST_TRIANGLES &&
           input->extraCount <= SR_TETGEN_MOST_POINTS && input->holeCount <= SR_TETGEN_MOST_POINTS &&
           countSizes(&input->sizes) <= (size_t)SR_TETGEN_MOST_SIZES;
}

srResult srRunTetgen(const srTetgenInput* input, const srTetgenLimits* limits, const srProgress* progress,
                     srArena* arena, srTetgenFate* outFate, srTetgenMesh* outMesh) {
    *outMesh = (srTetgenMesh){0};
    *outFate = sr_tetgenMissing;
    if (limits->program == NULL || limits->program[0] == '\0') {
        return sr_success;
    }
    *outFate = sr_tetgenRefused;
    if (!canBeAsked(input)) {
        return sr_success;
    }
    uint8_t* bytes;
    size_t byteCount;
    SR_TRY(writeOrder(input, limits, arena, &bytes, &byteCount));
    Wait wait = {progress, limits->seconds, sr_success};
    srProcessOrder order = {
        .program = limits->program,
        .input = bytes,
        .inputSize = byteCount,
        .mostOutput = MOST_ANSWER,
        .mostSeconds = limits->seconds,
        .goesOn = goOn,
        .context = &wait,
    };
    srProcessAnswer answer;
    SR_TRY(srRunProcess(&order, &answer));
    srResult result = wait.result;
    if (result == sr_success) {
        result = readAnswer(input, &answer, arena, outFate, outMesh);
    }
    srDestroyProcessAnswer(&answer);
    return result;
}
