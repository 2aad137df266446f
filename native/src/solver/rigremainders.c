// SPDX-License-Identifier: GPL-3.0-or-later
//
// Candidates that were left out are brought to right angles with the rows, four at a time, then with each
// other. Both are done again after a vector was made a unit: what rounding left of the large part that was
// taken away has grown with it.

#include "solver/rigremainders.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "solver/cells.h"

#include <math.h>
#include <string.h>

#define LEAST_LEFT 1e-10 // of a candidate's length: what offsets may do along it
#define LEAST_CAPACITY 16
#define ROWS_PER_BLOCK 4

// Scratch of the making.
typedef struct Finding {
    srRigRows* rows;
    double* vectors; // one after the other
    double* sizes;   // of each, before it was made a unit, in parts of its candidate
    int32_t count;
    int32_t capacity;
    double* four; // vectors side by side
    int32_t laneCount;
    double* scratch;
    size_t scratchCount;
} Finding;

static double* vectorAt(const Finding* finding, int32_t k) {
    return finding->vectors + (size_t)k * (size_t)finding->rows->nodeCount;
}

static double dot(const double* x, const double* y, int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

// its length; of nothing nothing becomes
static double makeUnit(double* x, int32_t count) {
    double length = sqrt(dot(x, x, count));
    for (int32_t i = 0; i < count && length > 0.0; ++i) {
        x[i] /= length;
    }
    return length;
}

static srResult grow(Finding* finding) {
    int32_t capacity = finding->capacity == 0 ? LEAST_CAPACITY : 2 * finding->capacity;
    size_t n = (size_t)finding->rows->nodeCount;
    double* vectors =
        srRealloc(finding->vectors, (size_t)finding->capacity * n, (size_t)capacity * n, sizeof(double));
    if (vectors == NULL) {
        return srFailOutOfMemory("the rig's rows");
    }
    finding->vectors = vectors;
    finding->capacity = capacity;
    return sr_success;
}

static void setLane(Finding* finding, int32_t lane, const double* x) {
    for (size_t i = 0; i < (size_t)finding->rows->nodeCount; ++i) {
        finding->four[SR_POINT * i + (size_t)lane] = x == NULL ? 0.0 : x[i];
    }
}

static void getLane(const Finding* finding, int32_t lane, double* x) {
    for (size_t i = 0; i < (size_t)finding->rows->nodeCount; ++i) {
        x[i] = finding->four[SR_POINT * i + (size_t)lane];
    }
}

// keeps what is left of each lane; all of them are empty then
static srResult takeFour(Finding* finding) {
    int32_t n = finding->rows->nodeCount;
    for (int pass = 0; pass < 2; ++pass) {
        srRigRows_Project(finding->rows, finding->four, finding->scratch);
    }
    for (int32_t lane = 0; lane < finding->laneCount; ++lane) {
        if (finding->count == finding->capacity) {
            SR_TRY(grow(finding));
        }
        getLane(finding, lane, vectorAt(finding, finding->count));
        finding->sizes[finding->count] = makeUnit(vectorAt(finding, finding->count), n);
        finding->count += finding->sizes[finding->count] > LEAST_LEFT;
    }
    memset(finding->four, 0, sizeof(double) * SR_POINT * (size_t)n);
    finding->laneCount = 0;
    return sr_success;
}

// a candidate as a unit vector, into the next lane; one of zeros into none
static void addCandidate(Finding* finding, int32_t bone, int column) {
    const srRigRows* rows = finding->rows;
    double square = 0.0;
    for (int32_t e = rows->starts[bone]; e < rows->starts[bone + 1]; ++e) {
        square += rows->values[e][column] * rows->values[e][column];
    }
    double factor = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    for (int32_t e = rows->starts[bone]; e < rows->starts[bone + 1]; ++e) {
        finding->four[SR_POINT * (size_t)rows->nodes[e] + (size_t)finding->laneCount] =
            factor * rows->values[e][column];
    }
    finding->laneCount += square > 0.0;
}

static srResult collect(Finding* finding) {
    const srRigRows* rows = finding->rows;
    for (int32_t bone = 0; bone < rows->boneCount; ++bone) {
        for (int column = 0; column < 4; ++column) {
            if (rows->places[bone][column] == SR_NULL_INDEX) {
                addCandidate(finding, bone, column);
            }
            if (finding->laneCount == SR_POINT) {
                SR_TRY(takeFour(finding));
            }
        }
    }
    return takeFour(finding);
}

// each to right angles with those before it; those of which too little stays are dropped
static void orthonormalise(Finding* finding) {
    int32_t n = finding->rows->nodeCount, kept = 0;
    for (int32_t k = 0; k < finding->count; ++k) {
        double *x = vectorAt(finding, kept), size = finding->sizes[k];
        memmove(x, vectorAt(finding, k), sizeof(double) * (size_t)n);
        for (int pass = 0; pass < 2; ++pass) {
            for (int32_t j = 0; j < kept; ++j) {
                const double* q = vectorAt(finding, j);
                double share = dot(q, x, n);
                for (int32_t i = 0; i < n; ++i) {
                    x[i] -= share * q[i];
                }
            }
            size *= makeUnit(x, n);
        }
        finding->sizes[kept] = size;
        kept += size > LEAST_LEFT;
    }
    finding->count = kept;
}

// to right angles with the rows once more
static void straighten(Finding* finding) {
    for (int32_t first = 0; first < finding->count; first += SR_POINT) {
        for (int32_t lane = 0; lane < SR_POINT; ++lane) {
            setLane(finding, lane, first + lane < finding->count ? vectorAt(finding, first + lane) : NULL);
        }
        srRigRows_Project(finding->rows, finding->four, finding->scratch);
        for (int32_t lane = 0; lane < SR_POINT && first + lane < finding->count; ++lane) {
            getLane(finding, lane, vectorAt(finding, first + lane));
            (void)makeUnit(vectorAt(finding, first + lane), finding->rows->nodeCount);
        }
    }
}

static srResult find(Finding* finding) {
    srRigRows* rows = finding->rows;
    finding->sizes = SR_ALLOC(double, 4 * (int64_t)rows->boneCount + 1); // and one that is looked at
    finding->four = SR_ALLOC_ZERO(double, SR_POINT*(int64_t)rows->nodeCount);
    finding->scratch = SR_ALLOC(double, finding->scratchCount);
    if (finding->sizes == NULL || finding->four == NULL || finding->scratch == NULL) {
        return srFailOutOfMemory("the rig's rows");
    }
    SR_TRY(collect(finding));
    orthonormalise(finding);
    straighten(finding);
    orthonormalise(finding);
    if (finding->count > 0) {
        size_t n = (size_t)rows->nodeCount, count = (size_t)finding->count * n;
        rows->remainders = SR_ALLOC(double, count);
        if (rows->remainders == NULL) {
            return srFailOutOfMemory("the rig's rows");
        }
        memcpy(rows->remainders, finding->vectors, count * sizeof(double));
        rows->remainderCount = finding->count;
    }
    return sr_success;
}

srResult srFindRemainders(srRigRows* rows) {
    size_t scratchCount = SR_POINT * (size_t)srRigRows_GetScratchRowCount(rows);
    Finding finding = {.rows = rows, .scratchCount = scratchCount};
    srResult result = find(&finding);
    SR_FREE(finding.vectors, (size_t)finding.capacity * (size_t)rows->nodeCount);
    SR_FREE(finding.sizes, 4 * (int64_t)rows->boneCount + 1);
    SR_FREE(finding.four, SR_POINT * (int64_t)rows->nodeCount);
    SR_FREE(finding.scratch, scratchCount);
    return result;
}

typedef struct Product {
    const srRigRows* rows;
    const double* x;
    const float* xFloat; // instead
    int32_t width;       // of a row of x
    double* y;
} Product;

static void multiplyRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Product* product = context;
    size_t n = (size_t)product->rows->nodeCount, width = (size_t)product->width;
    for (size_t r = (size_t)begin; r < (size_t)end; ++r) {
        const double* q = product->rows->remainders + r * n;
        double sums[SR_POINT] = {0.0};
        for (size_t i = 0; i < n; ++i) {
            for (size_t c = 0; c < 3; ++c) {
                sums[c] += q[i] * (product->x != NULL ? product->x[width * i + c]
                                                      : (double)product->xFloat[width * i + c]);
            }
        }
        memcpy(product->y + SR_POINT * r, sums, sizeof sums);
    }
}

void srMultiplyRemainders(const srRigRows* rows, const double* x, double* y) {
    Product product = {.rows = rows, .x = x, .width = SR_POINT, .y = y};
    srParallelFor(multiplyRange, rows->remainderCount, ROWS_PER_BLOCK, &product);
}

void srMultiplyRemaindersFloat(const srRigRows* rows, const float* x, int32_t width, double* y) {
    Product product = {.rows = rows, .xFloat = x, .width = width, .y = y};
    srParallelFor(multiplyRange, rows->remainderCount, ROWS_PER_BLOCK, &product);
}

void srSubtractRemainders(const srRigRows* rows, const double* y, double* x, int32_t begin, int32_t end) {
    for (size_t r = 0; r < (size_t)rows->remainderCount; ++r) {
        const double *q = rows->remainders + r * (size_t)rows->nodeCount, *share = y + SR_POINT * r;
        for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
            for (size_t c = 0; c < SR_POINT; ++c) {
                x[SR_POINT * i + c] -= q[i] * share[c];
            }
        }
    }
}
