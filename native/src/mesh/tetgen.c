// SPDX-License-Identifier: GPL-3.0-or-later
//
// The order is written, the helper is run, and what it says is read (tetgen_answer.h).

#include "mesh/tetgen.h"

#include "core/process.h"
#include "mesh/tetgen_answer.h"
#include "mesh/tetgen_protocol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A cage of as many nodes as the largest that can be asked for stays far below this.
#define MOST_ANSWER ((size_t)1 << 29)

const char* srDescribeTetgenFate(srTetgenFate fate) {
    static const char* const clauses[sr_tetgenFateCount] = {
        [sr_tetgenMade] = "made the cage",
        [sr_tetgenMissing] = "is missing or cannot be started",
        [sr_tetgenStalled] = "took too long and was ended",
        [sr_tetgenStarved] = "needed more memory than it is allowed",
        [sr_tetgenCrashed] = "crashed or was killed",
        [sr_tetgenRefused] = "found a fault in the surface",
        [sr_tetgenForeign] = "is of another version",
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
    char host[24];
    snprintf(host, sizeof(host), "%ld", srGetProcessNumber());
    const char* arguments[] = {host, NULL};
    srProcessOrder order = {
        .program = limits->program,
        .arguments = arguments,
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
        result = srReadTetgenAnswer(input, &answer, arena, outFate, outMesh);
    }
    srDestroyProcessAnswer(&answer);
    return result;
}
