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
    tape->recordedCount = end > tape->recordedCount ? end : tape->recordedCount;
}
