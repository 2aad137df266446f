// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows of floats, compared by their bits.

#include "sim/tape.h"

#include "core/alloc.h"

#include <string.h>

srResult srCreateTape(int32_t rowCount, int32_t rowFloatCount, srTape* outTape) {
    *outTape = (srTape){.rowCount = rowCount, .rowFloatCount = rowFloatCount};
    outTape->rows = srAlloc((size_t)rowCount, (size_t)rowFloatCount * sizeof(float));
    return outTape->rows != NULL ? sr_success : srFailOutOfMemory("the recorded motion");
}

void srDestroyTape(srTape* tape) {
    srFree(tape->rows, (size_t)tape->rowCount, (size_t)tape->rowFloatCount * sizeof(float));
    if (tape->nodes != NULL) {
        srFree(tape->nodes, (size_t)tape->rowCount, (size_t)tape->nodeCount * sizeof(srVec3f));
        SR_FREE(tape->hasNodes, tape->rowCount);
    }
    *tape = (srTape){0};
}

const float* srTape_GetRow(const srTape* tape, int32_t row) {
    SR_ASSERT(row >= 0 && row < tape->rowCount);
    return tape->rows + (size_t)row * (size_t)tape->rowFloatCount;
}

int32_t srTape_FindChange(const srTape* tape, int32_t firstRow, int32_t rowCount, const float* rows) {
    size_t rowBytes = (size_t)tape->rowFloatCount * sizeof(float);
    int32_t row = firstRow;
    while (row < firstRow + rowCount && row < tape->recordedCount &&
           memcmp(srTape_GetRow(tape, row), rows + (size_t)(row - firstRow) * (size_t)tape->rowFloatCount,
                  rowBytes) == 0) {
        ++row;
    }
    return row;
}

void srTape_Write(srTape* tape, int32_t firstRow, int32_t rowCount, const float* rows) {
    SR_ASSERT(firstRow <= tape->recordedCount && firstRow + rowCount <= tape->rowCount);
    size_t rowFloatCount = (size_t)tape->rowFloatCount;
    memcpy(tape->rows + (size_t)firstRow * rowFloatCount, rows,
           (size_t)rowCount * rowFloatCount * sizeof(float));
    int32_t end = firstRow + rowCount;
    if (end > tape->recordedCount) {
        __atomic_store_n(&tape->recordedCount, end, __ATOMIC_RELAXED);
    }
}

int32_t srTape_CountRecorded(const srTape* tape) {
    return __atomic_load_n(&tape->recordedCount, __ATOMIC_RELAXED);
}

srResult srTape_KeepNodes(srTape* tape, int32_t nodeCount) {
    if (tape->nodes != NULL) {
        return sr_success;
    }
    srVec3f* nodes = srAlloc((size_t)tape->rowCount, (size_t)nodeCount * sizeof(srVec3f));
    bool* hasNodes = SR_ALLOC_ZERO(bool, tape->rowCount);
    if (nodes == NULL || hasNodes == NULL) {
        srFree(nodes, (size_t)tape->rowCount, (size_t)nodeCount * sizeof(srVec3f));
        SR_FREE(hasNodes, tape->rowCount);
        return srFailOutOfMemory("the recorded motion");
    }
    tape->nodes = nodes;
    tape->hasNodes = hasNodes;
    tape->nodeCount = nodeCount;
    return sr_success;
}

static srVec3f* findNodes(const srTape* tape, int32_t row) {
    SR_ASSERT(row >= 0 && row < tape->rowCount);
    return tape->nodes + (size_t)row * (size_t)tape->nodeCount;
}

const srVec3f* srTape_GetNodes(const srTape* tape, int32_t row) {
    return tape->nodes != NULL && tape->hasNodes[row] ? findNodes(tape, row) : NULL;
}

bool srTape_HasOtherNodes(const srTape* tape, int32_t row, const srVec3f* nodes) {
    const srVec3f* kept = srTape_GetNodes(tape, row);
    return kept == NULL || memcmp(kept, nodes, (size_t)tape->nodeCount * sizeof(srVec3f)) != 0;
}

void srTape_WriteNodes(srTape* tape, int32_t row, const srVec3f* nodes) {
    memcpy(findNodes(tape, row), nodes, (size_t)tape->nodeCount * sizeof(srVec3f));
    tape->hasNodes[row] = true;
}
