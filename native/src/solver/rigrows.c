// SPDX-License-Identifier: GPL-3.0-or-later
//
// Candidates bone by bone; their Gram matrix in the metric of 1 / M; a Cholesky factorisation of it that
// takes the most independent row next and stops where all that is left nearly depends on what was taken: a
// Gram matrix tells no more, as it has the squares. The rest is found from the rows themselves
// (rigremainders.c).

#include "solver/rigrows.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/small.h"
#include "solver/newton_kernels.h"
#include "solver/rigremainders.h"

#include <math.h>
#include <string.h>

#define BONES_PER_BLOCK 2
#define LEAST_EXTENT 2e-7 // across what a bone holds, of how far away it is: less is what floats left of zero
#define LEAST_INDEPENDENCE 1e-4 // of a unit row: what is left of it beside the rows that were taken; where
#define SURE_INDEPENDENCE 1e-3  // masses differ so much that their products cannot be factored, this
#define LEAST_HELD 0.05         // of a vector's length: less says nothing of what is held

// Scratch of the making.
typedef struct Making {
    const srVec3* nodes;
    const double* masses;
    const double* holds;
    const srRigWeights* weights;
    const double* vectors; // of a space of its own, null for a rig's
    int32_t vectorCount;
    int32_t nodeCount;
    srRigRows* rows;
    int32_t* nodeStarts; // entries by node: nodeCount + 1; of each
    int32_t* nodeEntries;
    int32_t* nodeBones;
    int32_t candidateCount; // 4 a bone
    double* gram;           // candidateCount^2
    double* triangle;       // likewise: row r of the factor in row r
    double* left;           // of each candidate's squared length
    int32_t* order;         // candidates that were taken
} Making;

static bool isHeld(const Making* making, int32_t node, int32_t entry) {
    return making->weights->weights[entry] > 0.0 && making->holds[node] > 0.0 && making->masses[node] > 0.0;
}

static int32_t countTaken(const srRigRows* rows) {
    return rows->rowCount - rows->remainderCount;
}

static int32_t countPieces(const srRigRows* rows) {
    return (rows->nodeCount + SR_RIG_PIECE - 1) / SR_RIG_PIECE;
}

static size_t countPieceStarts(const srRigRows* rows) {
    return ((size_t)countPieces(rows) + 1) * (size_t)rows->boneCount;
}

static srResult allocateRows(Making* making) {
    srRigRows* rows = making->rows;
    rows->starts = SR_ALLOC_ZERO(int32_t, rows->boneCount + 1);
    making->nodeStarts = SR_ALLOC_ZERO(int32_t, rows->nodeCount + 1);
    if (rows->starts == NULL || making->nodeStarts == NULL) {
        return srFailOutOfMemory("the rig's rows");
    }
    for (int32_t i = 0; i < rows->nodeCount; ++i) {
        for (int32_t e = making->weights->starts[i]; e < making->weights->starts[i + 1]; ++e) {
            if (isHeld(making, i, e)) {
                rows->starts[making->weights->bones[e] + 1] += 1;
                rows->entryCount += 1;
            }
        }
    }
    int32_t count = rows->entryCount;
    size_t square = (size_t)making->candidateCount * (size_t)making->candidateCount;
    if (count == 0) {
        return sr_success;
    }
    rows->nodes = SR_ALLOC(int32_t, count);
    rows->values = srAllocZero((size_t)count, sizeof(*rows->values));
    rows->valuesF = srAllocZero((size_t)count, sizeof(*rows->valuesF));
    rows->places = srAllocZero((size_t)rows->boneCount, sizeof(*rows->places));
    rows->pieceStarts = SR_ALLOC(int32_t, countPieceStarts(rows));
    making->nodeEntries = SR_ALLOC(int32_t, count);
    making->nodeBones = SR_ALLOC(int32_t, count);
    making->gram = SR_ALLOC_ZERO(double, square);
    making->triangle = SR_ALLOC_ZERO(double, square);
    making->left = SR_ALLOC(double, making->candidateCount);
    making->order = SR_ALLOC(int32_t, making->candidateCount);
    bool isWhole = rows->nodes && rows->values && rows->valuesF && rows->places && rows->pieceStarts &&
                   making->nodeEntries && making->nodeBones && making->gram && making->triangle &&
                   making->left && making->order;
    return isWhole ? sr_success : srFailOutOfMemory("the rig's rows");
}

static void freeMaking(Making* making) {
    size_t square = (size_t)making->candidateCount * (size_t)making->candidateCount;
    SR_FREE(making->nodeStarts, making->nodeCount + 1);
    SR_FREE(making->nodeEntries, making->rows->entryCount);
    SR_FREE(making->nodeBones, making->rows->entryCount);
    SR_FREE(making->gram, square);
    SR_FREE(making->triangle, square);
    SR_FREE(making->left, making->candidateCount);
    SR_FREE(making->order, making->candidateCount);
}

// entries by bone, and by node; for the moment the last value of an entry is m d w
static void sortEntries(Making* making) {
    srRigRows* rows = making->rows;
    for (int32_t k = 0; k < rows->boneCount; ++k) {
        rows->starts[k + 1] += rows->starts[k];
    }
    int32_t count = 0;
    for (int32_t i = 0; i < rows->nodeCount; ++i) {
        making->nodeStarts[i] = count;
        for (int32_t e = making->weights->starts[i]; e < making->weights->starts[i + 1]; ++e) {
            if (!isHeld(making, i, e)) {
                continue;
            }
            int32_t bone = making->weights->bones[e];
            int32_t place = rows->starts[bone]++;
            rows->nodes[place] = i;
            rows->values[place][3] = making->masses[i] * making->holds[i] * making->weights->weights[e];
            making->nodeEntries[count] = place;
            making->nodeBones[count++] = bone;
        }
    }
    making->nodeStarts[rows->nodeCount] = count;
    for (int32_t k = rows->boneCount; k > 0; --k) {
        rows->starts[k] = rows->starts[k - 1];
    }
    rows->starts[0] = 0;
}

static void cutIntoPieces(srRigRows* rows) {
    for (int32_t k = 0; k < rows->boneCount; ++k) {
        int32_t e = rows->starts[k];
        for (int32_t piece = 0; piece <= countPieces(rows); ++piece) {
            while (e < rows->starts[k + 1] && rows->nodes[e] < piece * SR_RIG_PIECE) {
                ++e;
            }
            rows->pieceStarts[piece * rows->boneCount + k] = e;
        }
    }
}

// centre and size of what a bone holds, weighed as the metric of 1 / M weighs it
static void measureBone(const Making* making, int32_t bone, srVec3* outCentre, double* outSize) {
    const srRigRows* rows = making->rows;
    srVec3 sum = {0.0, 0.0, 0.0};
    double total = 0.0, squares = 0.0;
    for (int32_t e = rows->starts[bone]; e < rows->starts[bone + 1]; ++e) {
        double share = rows->values[e][3] * rows->values[e][3] / making->masses[rows->nodes[e]];
        sum = srMulAdd(sum, share, making->nodes[rows->nodes[e]]);
        total += share;
    }
    *outCentre = srScale(1.0 / total, sum);
    for (int32_t e = rows->starts[bone]; e < rows->starts[bone + 1]; ++e) {
        double share = rows->values[e][3] * rows->values[e][3] / making->masses[rows->nodes[e]];
        srVec3 from = srSub(making->nodes[rows->nodes[e]], *outCentre);
        squares += share * srDot(from, from);
    }
    double size = sqrt(squares / total);
    *outSize = size > 0.0 ? size : 1.0;
}

// m d w [X; 1] in the bone's own coordinates, each row then made a unit
static void fillBone(Making* making, int32_t bone) {
    srRigRows* rows = making->rows;
    srVec3 centre;
    double size, squares[4] = {0.0, 0.0, 0.0, 0.0};
    measureBone(making, bone, &centre, &size);
    for (int32_t e = rows->starts[bone]; e < rows->starts[bone + 1]; ++e) {
        srVec3 X = srScale(1.0 / size, srSub(making->nodes[rows->nodes[e]], centre));
        double* v = rows->values[e];
        const double columns[4] = {v[3] * X.x, v[3] * X.y, v[3] * X.z, v[3]};
        for (int r = 0; r < 4; ++r) {
            v[r] = columns[r];
            squares[r] += v[r] * v[r] / making->masses[rows->nodes[e]];
        }
    }

    double least = LEAST_EXTENT * LEAST_EXTENT * (1.0 + srDot(centre, centre) / (size * size));
    double factors[4] = {0.0, 0.0, 0.0, squares[3] > 0.0 ? 1.0 / sqrt(squares[3]) : 0.0};
    for (int r = 0; r < 3; ++r) {
        bool isReal = squares[r] > least * squares[3];
        factors[r] = isReal ? 1.0 / sqrt(squares[r]) : 0.0;
    }
    for (int32_t e = rows->starts[bone]; e < rows->starts[bone + 1]; ++e) {
        for (int r = 0; r < 4; ++r) {
            rows->values[e][r] =
                factors[r] > 0.0 ? rows->values[e][r] * factors[r] : 0.0; // of nothing it is a NaN
            rows->valuesF[e][r] = (float)rows->values[e][r];
        }
    }
}

// m d v for four vectors of a space, each row then made a unit where enough of the vector is held
static void fillFour(Making* making, int32_t four) {
    srRigRows* rows = making->rows;
    double squares[4] = {0.0}, wholes[4] = {0.0}, factors[4] = {0.0};
    double firmest = 0.0;
    for (int32_t i = 0; i < rows->nodeCount; ++i) {
        firmest = making->holds[i] > firmest ? making->holds[i] : firmest;
    }
    for (int32_t r = 0; r < 4 && 4 * four + r < making->vectorCount; ++r) {
        const double* vector = making->vectors + (size_t)(4 * four + r) * (size_t)rows->nodeCount;
        for (int32_t i = 0; i < rows->nodeCount; ++i) {
            wholes[r] += making->masses[i] * vector[i] * vector[i];
        }
        for (int32_t e = rows->starts[four]; e < rows->starts[four + 1]; ++e) {
            double m = making->masses[rows->nodes[e]], d = making->holds[rows->nodes[e]];
            double v = vector[rows->nodes[e]];
            rows->values[e][r] = m * d * v;
            squares[r] += m * d * v * d * v;
        }
        double least = LEAST_HELD * LEAST_HELD * firmest * firmest * wholes[r];
        factors[r] = squares[r] > least ? 1.0 / sqrt(squares[r]) : 0.0;
    }
    for (int32_t e = rows->starts[four]; e < rows->starts[four + 1]; ++e) {
        for (int r = 0; r < 4; ++r) {
            rows->values[e][r] = factors[r] > 0.0 ? rows->values[e][r] * factors[r] : 0.0;
            rows->valuesF[e][r] = (float)rows->values[e][r];
        }
    }
}

// all products of candidates: in the metric of 1 / M, or plain ones
static void fillGram(Making* making, bool isByMass) {
    const srRigRows* rows = making->rows;
    size_t stride = (size_t)making->candidateCount;
    memset(making->gram, 0, stride * stride * sizeof(double));
    for (int32_t i = 0; i < rows->nodeCount; ++i) {
        double share = isByMass ? 1.0 / making->masses[i] : 1.0;
        for (int32_t a = making->nodeStarts[i]; a < making->nodeStarts[i + 1]; ++a) {
            const double* u = rows->values[making->nodeEntries[a]];
            for (int32_t b = making->nodeStarts[i]; b < making->nodeStarts[i + 1]; ++b) {
                const double* v = rows->values[making->nodeEntries[b]];
                double* block = making->gram + 4 * ((size_t)making->nodeBones[a] * stride) +
                                4 * (size_t)making->nodeBones[b];
                for (size_t r = 0; r < 4; ++r) {
                    for (size_t c = 0; c < 4; ++c) {
                        block[r * stride + c] += share * u[r] * v[c];
                    }
                }
            }
        }
    }
}

// Pivoted Cholesky: the candidate of which most is left comes next. Returns how many were taken.
static int32_t choosePivots(Making* making, double independence) {
    int32_t count = making->candidateCount;
    size_t stride = (size_t)count;
    double least = independence * independence;
    for (int32_t r = 0; r < count; ++r) {
        making->left[r] = making->gram[(size_t)r * stride + (size_t)r];
    }
    for (int32_t taken = 0; taken < count; ++taken) {
        int32_t pivot = 0;
        for (int32_t r = 1; r < count; ++r) {
            pivot = making->left[r] > making->left[pivot] ? r : pivot;
        }
        if (!(making->left[pivot] > least)) {
            return taken;
        }
        double root = sqrt(making->left[pivot]);
        const double* pivotRow = making->triangle + (size_t)pivot * stride;
        for (int32_t r = 0; r < count; ++r) {
            double* row = making->triangle + (size_t)r * stride;
            double sum = making->gram[(size_t)r * stride + (size_t)pivot];
            for (int32_t k = 0; k < taken; ++k) {
                sum -= row[k] * pivotRow[k];
            }
            if (r != pivot) {
                row[taken] = sum / root;
                making->left[r] -= row[taken] * row[taken];
            }
        }
        making->triangle[(size_t)pivot * stride + (size_t)taken] = root;
        making->left[pivot] = -1.0; // taken
        making->order[taken] = pivot;
    }
    return count;
}

// rows in the candidates' order
static void placeRows(Making* making, int32_t taken) {
    srRigRows* rows = making->rows;
    int32_t* places = rows->places[0];
    for (int32_t r = 0; r < making->candidateCount; ++r) {
        places[r] = SR_NULL_INDEX;
    }
    for (int32_t k = 0; k < taken; ++k) {
        places[making->order[k]] = 0;
    }
    rows->rowCount = 0;
    for (int32_t r = 0; r < making->candidateCount; ++r) {
        places[r] = places[r] == SR_NULL_INDEX ? SR_NULL_INDEX : rows->rowCount++;
    }
}

static void freeGram(srRigRows* rows) {
    SR_FREE(rows->gram, srSmallCount(rows->rowCount));
    SR_FREE(rows->lengths, rows->rowCount);
    rows->gram = rows->lengths = NULL;
}

// C C' of the chosen rows, factored
static srResult factorGram(Making* making) {
    srRigRows* rows = making->rows;
    size_t stride = (size_t)srSmallStride(rows->rowCount);
    if (rows->rowCount == 0) {
        return sr_success;
    }
    rows->gram = SR_ALLOC_ZERO(double, srSmallCount(rows->rowCount));
    rows->lengths = SR_ALLOC(double, rows->rowCount);
    if (rows->gram == NULL || rows->lengths == NULL) {
        return srFailOutOfMemory("the rig's rows");
    }
    const int32_t* places = rows->places[0];
    fillGram(making, false);
    for (int32_t r = 0; r < making->candidateCount; ++r) {
        for (int32_t c = 0; c < making->candidateCount; ++c) {
            if (places[r] >= places[c] && places[c] != SR_NULL_INDEX) {
                rows->gram[(size_t)places[c] * stride + (size_t)places[r]] =
                    making->gram[(size_t)r * (size_t)making->candidateCount + (size_t)c];
            }
        }
    }
    for (int32_t r = countTaken(rows); r < rows->rowCount; ++r) {
        rows->gram[(size_t)r * (stride + 1)] = 1.0;
    }
    for (int32_t r = 0; r < rows->rowCount; ++r) {
        rows->lengths[r] = sqrt(rows->gram[(size_t)r * (stride + 1)]);
    }
    int32_t bad = srFactorSmall(rows->gram, rows->rowCount);
    return bad == SR_NULL_INDEX
               ? sr_success
               : srFail(sr_errorInvalidValue,
                        "The masses of the cage's nodes differ too much for its bones (row %d of %d).", bad,
                        rows->rowCount);
}

static srResult chooseRows(Making* making, double independence) {
    srRigRows* rows = making->rows;
    freeGram(rows);
    fillGram(making, true);
    placeRows(making, choosePivots(making, independence));
    return factorGram(making);
}

// as rows behind those that were taken
static srResult addRemainders(Making* making) {
    srRigRows* rows = making->rows;
    SR_TRY(srFindRemainders(rows));
    if (rows->remainderCount == 0) {
        return sr_success;
    }
    freeGram(rows);
    rows->rowCount += rows->remainderCount;
    return factorGram(making);
}

static srResult makeRows(Making* making, srRigRows* outRows) {
    srRigRows rows = {.nodeCount = making->nodeCount, .boneCount = making->weights->boneCount};
    *outRows = (srRigRows){0};
    making->rows = &rows;
    making->candidateCount = 4 * rows.boneCount;
    srResult result = allocateRows(making);
    if (result == sr_success && rows.entryCount > 0) {
        sortEntries(making);
        cutIntoPieces(&rows);
        for (int32_t k = 0; k < rows.boneCount; ++k) {
            if (rows.starts[k] == rows.starts[k + 1]) {
                continue;
            }
            if (making->vectors != NULL) {
                fillFour(making, k);
            } else {
                fillBone(making, k);
            }
        }
        result = chooseRows(making, LEAST_INDEPENDENCE);
        result = result == sr_errorInvalidValue ? chooseRows(making, SURE_INDEPENDENCE) : result;
        result = result == sr_success ? addRemainders(making) : result;
    }
    freeMaking(making);
    if (result != sr_success) {
        srDestroyRigRows(&rows);
        return result;
    }
    *outRows = rows;
    return sr_success;
}

srResult srCreateRigRows(const srVec3* nodes, const double* masses, const double* holds, int32_t nodeCount,
                         const srRigWeights* weights, srRigRows* outRows) {
    Making making = {
        .nodes = nodes, .masses = masses, .holds = holds, .weights = weights, .nodeCount = nodeCount};
    return makeRows(&making, outRows);
}

// every node on every four
static void weighAlike(int32_t nodeCount, int32_t fourCount, int32_t* starts, int32_t* fours,
                       double* weights) {
    for (int32_t i = 0; i <= nodeCount; ++i) {
        starts[i] = i * fourCount;
    }
    for (int32_t e = 0; e < nodeCount * fourCount; ++e) {
        fours[e] = e % fourCount;
        weights[e] = 1.0;
    }
}

srResult srCreateSpaceRows(const double* vectors, int32_t vectorCount, const double* masses,
                           const double* holds, int32_t nodeCount, srRigRows* outRows) {
    *outRows = (srRigRows){0};
    if (vectorCount == 0) {
        return sr_success;
    }
    int32_t fourCount = (vectorCount + 3) / 4;
    size_t entryCount = (size_t)nodeCount * (size_t)fourCount;
    int32_t* starts = SR_ALLOC(int32_t, nodeCount + 1);
    int32_t* fours = SR_ALLOC(int32_t, entryCount);
    double* weights = SR_ALLOC(double, entryCount);
    srResult result = sr_success;
    if (starts == NULL || fours == NULL || weights == NULL) {
        result = srFailOutOfMemory("the rows of a motion");
    } else {
        weighAlike(nodeCount, fourCount, starts, fours, weights);
        srRigWeights alike = {starts, fours, weights, fourCount};
        Making making = {.masses = masses,
                         .holds = holds,
                         .weights = &alike,
                         .vectors = vectors,
                         .vectorCount = vectorCount,
                         .nodeCount = nodeCount};
        result = makeRows(&making, outRows);
    }
    SR_FREE(starts, nodeCount + 1);
    SR_FREE(fours, entryCount);
    SR_FREE(weights, entryCount);
    return result;
}

void srDestroyRigRows(srRigRows* rows) {
    SR_FREE(rows->starts, rows->boneCount + 1);
    SR_FREE(rows->nodes, rows->entryCount);
    SR_FREE(rows->pieceStarts, countPieceStarts(rows));
    SR_FREE(rows->values, rows->entryCount);
    SR_FREE(rows->valuesF, rows->entryCount);
    SR_FREE(rows->places, rows->boneCount);
    SR_FREE(rows->remainders, (size_t)rows->remainderCount * (size_t)rows->nodeCount);
    freeGram(rows);
    *rows = (srRigRows){0};
}

typedef struct Product {
    const srRigRows* rows;
    const double* x;
    const float* xFloat;
    int32_t width; // of its rows
    double* y;
} Product;

static void multiplyRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Product* product = context;
    srGetNewtonTable()->multiplyBones(product->rows, product->x, product->y, begin, end);
}

void srRigRows_Multiply(const srRigRows* rows, const double* x, double* y) {
    Product product = {.rows = rows, .x = x, .y = y};
    srParallelFor(multiplyRange, rows->rowCount > 0 ? rows->boneCount : 0, BONES_PER_BLOCK, &product);
    srMultiplyRemainders(rows, x, y + SR_POINT * (size_t)countTaken(rows));
}

static void multiplyFloatRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Product* product = context;
    srGetNewtonTable()->multiplyBonesFloat(product->rows, product->xFloat, product->width, product->y, begin,
                                           end);
}

static void multiplyFloat(const srRigRows* rows, const float* x, int32_t width, double* y) {
    Product product = {.rows = rows, .xFloat = x, .width = width, .y = y};
    srParallelFor(multiplyFloatRange, rows->rowCount > 0 ? rows->boneCount : 0, BONES_PER_BLOCK, &product);
    srMultiplyRemaindersFloat(rows, x, width, y + SR_POINT * (size_t)countTaken(rows));
}

void srRigRows_MultiplyFloat(const srRigRows* rows, const float* x, double* y) {
    multiplyFloat(rows, x, 3, y);
}

double srRigRows_MeasureRange(const srRigRows* rows, const float* x, double* scratch) {
    size_t count = SR_POINT * (size_t)rows->rowCount;
    double *y = scratch, *solution = scratch + SR_POINT * (size_t)srSmallStride(rows->rowCount), sum = 0.0;
    multiplyFloat(rows, x, SR_POINT, y);
    memcpy(solution, y, count * sizeof(double));
    if (count > 0) {
        srSolveSmall(rows->gram, rows->rowCount, solution);
    }
    for (size_t k = 0; k < count; ++k) {
        sum += y[k] * solution[k];
    }
    return sum;
}

void srRigRows_GetRow(const srRigRows* rows, int32_t row, double* outValues) {
    size_t bytes = (size_t)rows->nodeCount * sizeof(double);
    if (row >= countTaken(rows)) {
        size_t remainder = (size_t)(row - countTaken(rows));
        memcpy(outValues, rows->remainders + remainder * (size_t)rows->nodeCount, bytes);
        return;
    }
    memset(outValues, 0, bytes);
    for (int32_t k = 0; k < rows->boneCount; ++k) {
        for (int r = 0; r < 4; ++r) {
            for (int32_t e = rows->starts[k]; rows->places[k][r] == row && e < rows->starts[k + 1]; ++e) {
                outValues[rows->nodes[e]] = rows->values[e][r];
            }
        }
    }
}

// where remainders stand when rows are spread to candidates
static double* behindCandidates(const srRigRows* rows, double* y) {
    return y + SR_POINT * 4 * (size_t)rows->boneCount;
}

// From rows to candidates, of which those that are no rows get zeros, and behind them the remainders. From
// the last on, as no row stands behind its candidate.
static void spreadToCandidates(const srRigRows* rows, double* y) {
    const int32_t* places = rows->places[0];
    memmove(behindCandidates(rows, y), y + SR_POINT * (size_t)countTaken(rows),
            SR_POINT * (size_t)rows->remainderCount * sizeof(double));
    for (int32_t r = 4 * rows->boneCount - 1; r >= 0; --r) {
        double* candidate = y + SR_POINT * (size_t)r;
        if (places[r] == SR_NULL_INDEX) {
            memset(candidate, 0, SR_POINT * sizeof(double));
        } else if (places[r] != r) {
            memcpy(candidate, y + SR_POINT * (size_t)places[r], SR_POINT * sizeof(double));
        }
    }
}

int32_t srRigRows_GetScratchRowCount(const srRigRows* rows) {
    int32_t pair = 2 * srSmallStride(rows->rowCount);
    int32_t candidates = 4 * rows->boneCount + rows->remainderCount;
    return pair > candidates ? pair : candidates;
}

typedef struct Projection {
    const srRigRows* rows;
    double* candidates; // what is taken away of each, and of remainders
    double* x;
    const double* y;
    double* partials; // null: no product is asked for
} Projection;

// A piece's nodes are its own, so that their product can be taken at once.
static void projectRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Projection* p = context;
    int32_t piece = begin / SR_RIG_PIECE;
    if (p->rows->rowCount > 0) {
        srGetNewtonTable()->subtractBones(p->rows, p->candidates, p->x, piece, piece + 1);
        srSubtractRemainders(p->rows, behindCandidates(p->rows, p->candidates), p->x, begin, end);
    }
    if (p->partials == NULL) {
        return;
    }
    double sums[SR_POINT] = {0.0};
    for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
        for (size_t c = 0; c < SR_POINT; ++c) {
            sums[c] += p->x[SR_POINT * i + c] * p->y[SR_POINT * i + c];
        }
    }
    p->partials[piece] = sums[0] + sums[1] + sums[2];
}

static void project(Projection* p, int32_t nodeCount, double* scratch) {
    if (p->rows->rowCount > 0) {
        srRigRows_Multiply(p->rows, p->x, scratch);
        srSolveSmall(p->rows->gram, p->rows->rowCount, scratch);
        spreadToCandidates(p->rows, scratch);
    }
    srParallelFor(projectRange, nodeCount, SR_RIG_PIECE, p);
}

void srRigRows_Project(const srRigRows* rows, double* x, double* scratch) {
    Projection p = {.rows = rows, .candidates = scratch, .x = x};
    if (rows->rowCount > 0) {
        project(&p, rows->nodeCount, scratch);
    }
}

double srRigRows_ProjectAndDot(const srRigRows* rows, double* x, const double* y, int32_t nodeCount,
                               double* scratch, double* partials) {
    Projection p = {.rows = rows, .candidates = scratch, .x = x, .y = y, .partials = partials};
    project(&p, nodeCount, scratch);
    double sum = 0.0;
    for (int32_t k = 0; k * SR_RIG_PIECE < nodeCount; ++k) {
        sum += partials[k];
    }
    return sum;
}
