// SPDX-License-Identifier: GPL-3.0-or-later
//
// The constant half of the complementary solver: shapes of cells, the pattern of its matrix, an order to
// eliminate in, the rig's rows.

#include "solver/complementary.h"

#include "core/alloc.h"
#include "math/dissect.h"

#include <string.h>

enum {
    pairCount = 10
};

// pairs of corners, the lower triangle of 4 x 4
static const int PAIRS[pairCount][2] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1},
                                        {2, 2}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};

static srResult allocateRest(srComplementaryRest* rest) {
    rest->nodeVolumes = SR_ALLOC_ZERO(double, rest->nodeCount);
    rest->inverses = SR_ALLOC(srMat3, rest->cellCount);
    rest->volumes = SR_ALLOC(double, rest->cellCount);
    rest->corners = srAllocZero((size_t)rest->cellCount, sizeof(*rest->corners));
    rest->entries = srAllocZero((size_t)rest->cellCount, sizeof(*rest->entries));
    rest->order = SR_ALLOC(int32_t, rest->nodeCount);
    bool isWhole =
        rest->nodeVolumes && rest->inverses && rest->volumes && rest->corners && rest->entries && rest->order;
    return isWhole ? sr_success : srFailOutOfMemory("the complementary solver");
}

// B = [X1 - X0, X2 - X0, X3 - X0]^-1, by cross products
static srResult measureCell(const srComplementaryShape* shape, int32_t cell, srComplementaryRest* rest) {
    const int32_t* corners = shape->cells[cell];
    srVec3 a = shape->nodes[corners[0]];
    srVec3 e[3];
    for (int c = 0; c < 3; ++c) {
        e[c] = srSub(shape->nodes[corners[c + 1]], a);
    }
    const srVec3 rows[3] = {srCross(e[1], e[2]), srCross(e[2], e[0]), srCross(e[0], e[1])};
    double determinant = srDot(e[0], rows[0]);
    double inverse = 1.0 / determinant;
    if (!(determinant > 0.0) || inverse - inverse != 0.0) {
        return srFail(sr_errorBadMesh, "Cell %d of the cage has no volume.", cell);
    }
    for (int r = 0; r < 3; ++r) {
        rest->inverses[cell].m[r][0] = inverse * rows[r].x;
        rest->inverses[cell].m[r][1] = inverse * rows[r].y;
        rest->inverses[cell].m[r][2] = inverse * rows[r].z;
    }
    rest->volumes[cell] = determinant / 6.0;
    for (int c = 0; c < 4; ++c) {
        rest->nodeVolumes[corners[c]] += 0.25 * rest->volumes[cell];
    }
    memcpy(rest->corners[cell], corners, sizeof(rest->corners[cell]));
    return sr_success;
}

static double measureBox(const srVec3* nodes, int32_t nodeCount) {
    srVec3 lower = nodes[0], upper = nodes[0];
    for (int32_t i = 1; i < nodeCount; ++i) {
        lower = srMin(lower, nodes[i]);
        upper = srMax(upper, nodes[i]);
    }
    return srDistance(lower, upper);
}

static int32_t findEntry(const srCsc* A, int32_t row, int32_t column) {
    int32_t first = A->columnStarts[column], last = A->columnStarts[column + 1] - 1;
    while (first < last) {
        int32_t middle = first + (last - first) / 2;
        if (A->rows[middle] < row) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    SR_ASSERT(A->rows[first] == row);
    return first;
}

// the lower triangle's entry of a pair
static srTriplet entryOf(const int32_t corners[4], int pair) {
    int32_t a = corners[PAIRS[pair][0]], b = corners[PAIRS[pair][1]];
    return (srTriplet){.row = a > b ? a : b, .column = a > b ? b : a, .value = 1.0};
}

static srResult createPattern(srComplementaryRest* rest) {
    int32_t count = pairCount * rest->cellCount + rest->nodeCount;
    srTriplet* triplets = SR_ALLOC(srTriplet, count);
    if (triplets == NULL) {
        return srFailOutOfMemory("the complementary solver");
    }
    srTriplet* next = triplets;
    for (int32_t cell = 0; cell < rest->cellCount; ++cell) {
        for (int pair = 0; pair < pairCount; ++pair) {
            *next++ = entryOf(rest->corners[cell], pair);
        }
    }
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        *next++ = (srTriplet){i, i, 1.0};
    }
    srResult result = srCreateCsc(rest->nodeCount, rest->nodeCount, triplets, count, &rest->pattern);
    SR_FREE(triplets, count);
    SR_TRY(result);
    for (int32_t cell = 0; cell < rest->cellCount; ++cell) {
        for (int pair = 0; pair < pairCount; ++pair) {
            srTriplet entry = entryOf(rest->corners[cell], pair);
            rest->entries[cell][pair] = findEntry(&rest->pattern, entry.row, entry.column);
        }
    }
    return sr_success;
}

static srResult createRows(const srComplementaryShape* shape, const double* holds,
                           srComplementaryRest* rest) {
    if (shape->vectors != NULL) {
        return srCreateSpaceRows(shape->vectors, shape->vectorCount, rest->nodeVolumes, holds,
                                 shape->nodeCount, &rest->rows);
    }
    return srCreateRigRows(shape->nodes, rest->nodeVolumes, holds, shape->nodeCount, &shape->weights,
                           &rest->rows);
}

static srResult listFixed(const srComplementaryShape* shape, srComplementaryRest* rest) {
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        rest->fixedCount += shape->isFixed[i];
    }
    if (rest->fixedCount == 0) {
        return sr_success;
    }
    rest->isFixed = SR_ALLOC(bool, shape->nodeCount);
    rest->fixedNodes = SR_ALLOC(int32_t, rest->fixedCount);
    if (rest->isFixed == NULL || rest->fixedNodes == NULL) {
        return srFailOutOfMemory("the complementary solver");
    }
    memcpy(rest->isFixed, shape->isFixed, (size_t)shape->nodeCount * sizeof(bool));
    int32_t count = 0;
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        if (shape->isFixed[i]) {
            rest->fixedNodes[count++] = i;
        }
    }
    return sr_success;
}

// C u = 0 is the same with or without what u is zero at
static srResult createRowsOfOthers(const srComplementaryShape* shape, srComplementaryRest* rest) {
    SR_TRY(listFixed(shape, rest));
    double* holds = SR_ALLOC(double, shape->nodeCount);
    if (holds == NULL) {
        return srFailOutOfMemory("the complementary solver");
    }
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        holds[i] = shape->isFixed[i] ? 0.0 : shape->holds[i];
    }
    srResult result = createRows(shape, holds, rest);
    SR_FREE(holds, shape->nodeCount);
    return result;
}

static srResult buildRest(const srComplementaryShape* shape, srComplementaryRest* rest) {
    SR_TRY(allocateRest(rest));
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        SR_TRY(measureCell(shape, cell, rest));
    }
    rest->size = measureBox(shape->nodes, shape->nodeCount);
    SR_TRY(srCreateCellLayout(shape->nodes, shape->nodeCount, shape->cells, shape->cellCount, &rest->layout));
    SR_TRY(createPattern(rest));
    SR_TRY(srDissect(&rest->pattern, shape->nodes, rest->order));
    return shape->isFixed != NULL ? createRowsOfOthers(shape, rest) : createRows(shape, shape->holds, rest);
}

srResult srCreateComplementaryRest(const srComplementaryShape* shape, srComplementaryRest* outRest) {
    *outRest = (srComplementaryRest){0};
    if (shape->nodeCount < 1 || shape->cellCount < 1) {
        return srFail(sr_errorBadMesh, "The cage has no cells.");
    }
    srComplementaryRest rest = {.nodeCount = shape->nodeCount, .cellCount = shape->cellCount};
    srResult result = buildRest(shape, &rest);
    if (result != sr_success) {
        srDestroyComplementaryRest(&rest);
        return result;
    }
    *outRest = rest;
    return sr_success;
}

void srDestroyComplementaryRest(srComplementaryRest* rest) {
    SR_FREE(rest->nodeVolumes, rest->nodeCount);
    SR_FREE(rest->inverses, rest->cellCount);
    SR_FREE(rest->volumes, rest->cellCount);
    SR_FREE(rest->corners, rest->cellCount);
    SR_FREE(rest->entries, rest->cellCount);
    SR_FREE(rest->order, rest->nodeCount);
    SR_FREE(rest->isFixed, rest->nodeCount);
    SR_FREE(rest->fixedNodes, rest->fixedCount);
    srDestroyCellLayout(&rest->layout);
    srDestroyCsc(&rest->pattern);
    srDestroyRigRows(&rest->rows);
    *rest = (srComplementaryRest){0};
}
