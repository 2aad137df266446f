// SPDX-License-Identifier: GPL-3.0-or-later
//
// The small matrix and the three stages of a correction. Where the handles are is chosen in coarse_rest.c.
//
// Unknown 12 j + 4 d + c of the small system is axis d of the c-th of [X; 1] of handle j: so what two handles
// have with each other is one block of 12 x 12, and what turns it mixes whole rows of four.

#include "solver/coarse.h"

#include "core/alloc.h"
#include "math/rotation.h"
#include "math/small.h"
#include "solver/patches.h"

#include <math.h>
#include <string.h>

#define PATCH_STIFFNESS 1e3 // of a patch that keeps its volume, times its cells' own
#define FREQUENCY_STEPS 40  // of inverse iteration; the slowest swing is at most one of a few alike
#define LEAST_PIVOT                                                                                          \
    1e-7 // added to the diagonal, relative: handles of too few nodes to tell their motions apart

struct srCoarse {
    int32_t rowCount;
    bool isReady;
    double* A;       // the factor at rest
    double* vectors; // two
    double* masses;  // of functions, each with each
    double* blocks;  // of all regions, one after the other: of each pair of local handles, the lower half
};

// where axis d of function k = 4 j + c stands
static size_t rowOf(size_t k, size_t d) {
    return SR_HANDLE_ROWS * (k / 4) + 4 * d + k % 4;
}

srResult srCreateCoarse(const srCoarseRest* rest, srCoarse** outCoarse) {
    *outCoarse = NULL;
    srCoarse* coarse = SR_ALLOC_ZERO(srCoarse, 1);
    if (coarse == NULL) {
        return srFailOutOfMemory("the coarse correction");
    }
    coarse->rowCount = SR_HANDLE_ROWS * rest->handleCount;
    if (coarse->rowCount > 0) {
        coarse->A = SR_ALLOC_ZERO(double, srSmallCount(coarse->rowCount));
        coarse->vectors = SR_ALLOC_ZERO(double, 2 * (size_t)srSmallStride(coarse->rowCount));
        coarse->masses = SR_ALLOC_ZERO(double, 16 * (size_t)rest->handleCount * (size_t)rest->handleCount);
        coarse->blocks = SR_ALLOC_ZERO(double, rest->blockFloatCount);
        if (coarse->A == NULL || coarse->vectors == NULL || coarse->masses == NULL ||
            (coarse->blocks == NULL && rest->blockFloatCount > 0)) {
            srDestroyCoarse(rest, coarse);
            return srFailOutOfMemory("the coarse correction");
        }
    }
    *outCoarse = coarse;
    return sr_success;
}

void srDestroyCoarse(const srCoarseRest* rest, srCoarse* coarse) {
    if (coarse != NULL) {
        SR_FREE(coarse->A, srSmallCount(coarse->rowCount));
        SR_FREE(coarse->vectors, 2 * (size_t)srSmallStride(coarse->rowCount));
        SR_FREE(coarse->masses, 16 * (size_t)rest->handleCount * (size_t)rest->handleCount);
        SR_FREE(coarse->blocks, rest->blockFloatCount);
        SR_FREE(coarse, 1);
    }
}

bool srCoarse_IsReady(const srCoarse* coarse) {
    return coarse != NULL && coarse->isReady;
}

// Q' M Q, the same for each axis
static void addMasses(srCoarse* coarse, const srCoarseRest* rest, const float* weights) {
    size_t functionCount = 4 * (size_t)rest->handleCount;
    memset(coarse->masses, 0, functionCount * functionCount * sizeof(double));
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        if (!(weights[i] > 0.0f)) {
            continue;
        }
        double mass = 1.0 / (double)weights[i];
        const float* place = rest->places + SR_ROW_FLOATS * (size_t)i;
        double values[SR_MOST_LOCAL][4];
        int32_t count = rest->starts[i + 1] - rest->starts[i];
        count = count < SR_MOST_LOCAL ? count : SR_MOST_LOCAL;
        const srHandleEntry* entries = rest->entries + rest->starts[i];
        for (int32_t e = 0; e < count; ++e) {
            const float* centre = rest->centres + SR_ROW_FLOATS * (size_t)entries[e].handle;
            for (int c = 0; c < 4; ++c) {
                values[e][c] = (double)entries[e].weight * (double)(place[c] - centre[c]);
            }
        }
        for (int32_t k = 0; k < 16 * count * count; ++k) {
            int32_t e = k / (16 * count), f = k / 16 % count, c = k / 4 % 4, d = k % 4;
            size_t row = 4 * (size_t)entries[e].handle + (size_t)c;
            size_t column = 4 * (size_t)entries[f].handle + (size_t)d;
            coarse->masses[column * functionCount + row] += mass * values[e][c] * values[f][d];
        }
    }
}

// The handles around a cell and the gradients in it of their four functions
typedef struct Around {
    int32_t count;
    int32_t handles[SR_MOST_LOCAL];
    double* blocks;                // of the region
    int32_t locals[SR_MOST_LOCAL]; // of the handles, in the region
    double gradients[SR_MOST_LOCAL][4][3];
} Around;

static void addCorner(const srCoarseRest* rest, int32_t node, const double g[3], Around* around) {
    const float* place = rest->places + SR_ROW_FLOATS * (size_t)node;
    for (int32_t e = rest->starts[node]; e < rest->starts[node + 1]; ++e) {
        int32_t handle = rest->entries[e].handle;
        int32_t k = 0;
        while (k < around->count && around->handles[k] != handle) {
            ++k;
        }
        if (k == SR_MOST_LOCAL) {
            continue;
        }
        if (k == around->count) {
            around->handles[k] = handle;
            memset(around->gradients[k], 0, sizeof(around->gradients[k]));
            ++around->count;
        }
        const float* centre = rest->centres + SR_ROW_FLOATS * (size_t)handle;
        for (int c = 0; c < 4; ++c) {
            double value = (double)rest->entries[e].weight * (double)(place[c] - centre[c]);
            for (int axis = 0; axis < 3; ++axis) {
                around->gradients[k][c][axis] += value * g[axis];
            }
        }
    }
}

// adds a cell's part, times `scale`; what holds fast is not moved by handles
static void findAround(const srCoarseRest* rest, const srCellBlock* block, const srCellFibres* fibres,
                       int lane, double scale, const float* weights, Around* around) {
    double g[4][3] = {{0.0}};
    for (int c = 1; c < 4; ++c) {
        float own[3];
        for (int axis = 0; axis < 3; ++axis) {
            own[axis] = block->gradients[c - 1][axis][lane];
        }
        if (fibres != NULL) {
            srUnstretch(fibres, lane, own);
        }
        for (int axis = 0; axis < 3; ++axis) {
            g[c][axis] = scale * (double)own[axis];
            g[0][axis] -= g[c][axis];
        }
    }
    for (int c = 0; c < 4; ++c) {
        int32_t node = block->places[c][lane] / SR_ROW_FLOATS;
        if (weights[node] > 0.0f) {
            addCorner(rest, node, g[c], around);
        }
    }
}

#define PAIR_NUMBERS (SR_HANDLE_ROWS * SR_HANDLE_ROWS)

// Where a region keeps what two functions have with each other: axes i of the first and j of the second are
// 48 j + 4 i further on. Null for pairs of handles of the upper half.
static double* blockOf(const Around* around, int32_t a, int32_t b) {
    if (around->locals[a / 4] < around->locals[b / 4] || around->locals[b / 4] < 0) {
        return NULL;
    }
    size_t first = (size_t)around->locals[a / 4];
    size_t pair = first * (first + 1) / 2 + (size_t)around->locals[b / 4];
    return around->blocks + PAIR_NUMBERS * pair + SR_HANDLE_ROWS * (size_t)(b % 4) + (size_t)(a % 4);
}

static size_t within(size_t i, size_t j) {
    return 4 * SR_HANDLE_ROWS * j + 4 * i;
}

static void enterRegion(srCoarse* coarse, const srCoarseRest* rest, int32_t region, Around* around) {
    const srCoarseRegion* r = &rest->regions[region];
    around->blocks = coarse->blocks + r->firstBlock;
    for (int32_t k = 0; k < around->count; ++k) {
        int32_t local = r->handleCount - 1;
        while (local >= 0 && r->handles[local] != around->handles[k]) {
            --local;
        }
        around->locals[k] = local; // SR_NULL_INDEX: more handles than a region may have
    }
}

// s (G_a . G_b I + G_b G_a') + l G_a G_b' for all pairs of functions
static void addStiffness(const Around* around, double s, double l) {
    int32_t count = 4 * around->count;
    for (int32_t a = 0; a < count; ++a) {
        const double* A = around->gradients[a / 4][a % 4];
        for (int32_t b = 0; b < count; ++b) {
            const double* B = around->gradients[b / 4][b % 4];
            double* out = blockOf(around, a, b);
            if (out == NULL) {
                continue;
            }
            double both = s * (A[0] * B[0] + A[1] * B[1] + A[2] * B[2]);
            for (size_t j = 0; j < 3; ++j) {
                for (size_t i = 0; i < 3; ++i) {
                    out[within(i, j)] += s * A[j] * B[i] + l * A[i] * B[j];
                }
                out[within(j, j)] += both;
            }
        }
    }
}

// What fibres resist stretch along them more: s (d . G_a)(d . G_b) d d'. That they also resist shear a little
// more is left out: it is at most half as much again, and this matrix is one of a correction.
static void addFibres(const Around* around, double s, const srCellFibres* fibres, int lane) {
    double d[3] = {(double)fibres->d[0][lane], (double)fibres->d[1][lane], (double)fibres->d[2][lane]};
    for (int32_t k = 0; k < 16 * around->count * around->count; ++k) {
        int32_t a = k / (4 * around->count), b = k % (4 * around->count);
        const double* A = around->gradients[a / 4][a % 4];
        const double* B = around->gradients[b / 4][b % 4];
        double both =
            s * (d[0] * A[0] + d[1] * A[1] + d[2] * A[2]) * (d[0] * B[0] + d[1] * B[1] + d[2] * B[2]);
        double* out = blockOf(around, a, b);
        for (size_t j = 0; out != NULL && j < 9; ++j) {
            out[within(j % 3, j / 3)] += both * d[j / 3] * d[j % 3];
        }
    }
}

// A patch resists with the mean gradient of its cells. One that is as good as rigid gets a number: what it
// pushes back with is no part of the residual, so here it need but keep the handles from changing volumes.
static void addPatches(srCoarse* coarse, const srCoarseRest* coarseRest, const srFleshRest* rest,
                       const srFleshTuning* tuning) {
    for (int32_t i = 0; i < rest->patches->patchCount; ++i) {
        const srPatch* patch = &rest->patches->patches[i];
        if (tuning->patchCompliances[i] < 0.0f) {
            continue;
        }
        Around around = {.count = 0};
        double own = 0.0;
        double whole = 0.0;
        for (int lane = 0; lane < SR_LANES_PER_BLOCK && patch->batches[lane] != SR_NULL_INDEX; ++lane) {
            double V = (double)patch->V[lane];
            findAround(coarseRest, &patch->cells, NULL, lane, V, tuning->weights, &around);
            own += (double)tuning->forceMaterials[patch->batches[lane]].shape[patch->lanes[lane]];
            whole += V;
        }
        // gradients carry V already: sigma (sum V g)(sum V g)' / V with sigma of a whole patch
        double most = PATCH_STIFFNESS * own / (whole * whole);
        double stiffness = fmin(1.0 / fmax((double)tuning->patchCompliances[i], 1.0 / most), most);
        enterRegion(coarse, coarseRest, coarseRest->patchRegions[i], &around);
        addStiffness(&around, 0.0, stiffness);
    }
}

static void addCells(srCoarse* coarse, const srCoarseRest* coarseRest, const srFleshRest* rest,
                     const srFleshTuning* tuning, int32_t b) {
    const srCellFibres* fibres = rest->fibres != NULL ? &rest->fibres[b] : NULL;
    for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
        if (!(rest->volumes[b].V[lane] > 0.0f)) {
            continue;
        }
        Around around = {.count = 0};
        // the cells may be less stiff along their fibres than they were made
        double root = fibres != NULL ? (double)tuning->fibres[b].root[lane] : 1.0;
        double factor = root * root;
        double shape = (double)tuning->forceMaterials[b].shape[lane];
        findAround(coarseRest, &rest->blocks[b], fibres, lane, 1.0, tuning->weights, &around);
        enterRegion(coarse, coarseRest, coarseRest->cellRegions[SR_LANES_PER_BLOCK * b + lane], &around);
        addStiffness(&around, 0.5 * shape, factor * (double)tuning->forceMaterials[b].volume[lane]);
        if (fibres != NULL) {
            addFibres(&around, (factor - 1.0) * shape, fibres, lane);
        }
    }
}

// R B R' of a region's blocks, to where their handles stand in A
static void addRegion(const srCoarse* coarse, const srCoarseRegion* region, const srMat3f* turn, double* A) {
    size_t stride = (size_t)srSmallStride(coarse->rowCount);
    double R[9];
    for (int k = 0; k < 9; ++k) {
        R[k] = turn != NULL ? (double)turn->m[k / 3][k % 3] : k % 4 == 0 ? 1.0 : 0.0;
    }
    const double* B = coarse->blocks + region->firstBlock;
    for (int32_t p = 0; p < region->handleCount; ++p) {
        size_t row = SR_HANDLE_ROWS * (size_t)region->handles[p];
        for (int32_t q = 0; q <= p; ++q, B += PAIR_NUMBERS) {
            size_t column = SR_HANDLE_ROWS * (size_t)region->handles[q];
            srAddTurned(B, R, A + column * stride + row, (int32_t)stride);
        }
    }
}

// A and its factor for regions so turned; null is rest. False when it cannot be factored.
static bool factorTurned(const srCoarse* coarse, const srCoarseRest* rest, const srMat3f* turns, double* A) {
    size_t stride = (size_t)srSmallStride(coarse->rowCount);
    size_t functionCount = 4 * (size_t)rest->handleCount;
    memset(A, 0, srSmallCount(coarse->rowCount) * sizeof(double));
    for (size_t column = 0; column < functionCount; ++column) {
        for (size_t row = column; row < functionCount; ++row) {
            double mass = coarse->masses[column * functionCount + row];
            for (size_t axis = 0; axis < 3; ++axis) {
                A[rowOf(column, axis) * stride + rowOf(row, axis)] = mass;
            }
        }
    }
    for (int32_t region = 0; region < rest->handleCount; ++region) {
        addRegion(coarse, &rest->regions[region], turns != NULL ? &turns[region] : NULL, A);
    }
    double largest = 0.0;
    for (size_t k = 0; k < (size_t)coarse->rowCount; ++k) {
        largest = fmax(largest, A[k * stride + k]);
    }
    for (size_t k = 0; k < (size_t)coarse->rowCount; ++k) {
        double* pivot = &A[k * stride + k];
        *pivot += LEAST_PIVOT * fmax(*pivot, LEAST_PIVOT * largest);
    }
    return largest > 0.0 && srFactorSmall(A, coarse->rowCount) == SR_NULL_INDEX;
}

void srCoarse_Set(srCoarse* coarse, const srCoarseRest* coarseRest, const srFleshRest* rest,
                  const srFleshTuning* tuning) {
    coarse->isReady = false;
    if (coarse->rowCount == 0) {
        return;
    }
    memset(coarse->blocks, 0, coarseRest->blockFloatCount * sizeof(double));
    addMasses(coarse, coarseRest, tuning->weights);
    for (int32_t b = 0; b < rest->batches.batchCount; ++b) {
        addCells(coarse, coarseRest, rest, tuning, b);
    }
    if (tuning->hasPatches) {
        addPatches(coarse, coarseRest, rest, tuning);
    }
    coarse->isReady = factorTurned(coarse, coarseRest, NULL, coarse->A);
}

// y = Q' M Q v
static void applyMasses(const srCoarseRest* rest, const srFleshTuning* tuning, const double* v, double* y) {
    for (int32_t k = 0; k < SR_HANDLE_ROWS * rest->handleCount; ++k) {
        y[k] = 0.0;
    }
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        if (!(tuning->weights[i] > 0.0f)) {
            continue;
        }
        double mass = (double)tuning->carries[i] / (double)tuning->weights[i];
        const float* place = rest->places + SR_ROW_FLOATS * (size_t)i;
        for (int axis = 0; axis < 3; ++axis) {
            double u = 0.0;
            for (int pass = 0; pass < 2; ++pass) {
                for (int32_t k = 4 * rest->starts[i]; k < 4 * rest->starts[i + 1]; ++k) {
                    const srHandleEntry* entry = &rest->entries[k / 4];
                    const float* centre = rest->centres + SR_ROW_FLOATS * (size_t)entry->handle;
                    double value = (double)entry->weight * (double)(place[k % 4] - centre[k % 4]);
                    size_t row = rowOf(4 * (size_t)entry->handle + (size_t)(k % 4), (size_t)axis);
                    if (pass == 0) {
                        u += value * v[row];
                    } else {
                        y[row] += mass * u * value;
                    }
                }
            }
        }
    }
}

// Steps of v <- A^-1 M v, from a vector without symmetry; kappa = v'Mv / v'M A^-1 M v
double srCoarse_FindLeast(const srCoarse* coarse, const srCoarseRest* coarseRest,
                          const srFleshTuning* tuning) {
    size_t rowCount = (size_t)coarse->rowCount;
    double* v = coarse->vectors;
    double* y = v + srSmallStride(coarse->rowCount);
    for (size_t k = 0; k < rowCount; ++k) {
        v[rowOf(k / 3, k % 3)] = 1.0 + 0.37 * (double)(k * k % 17);
    }
    double kappa = 0.0;
    for (int step = 0; step < FREQUENCY_STEPS; ++step) {
        applyMasses(coarseRest, tuning, v, y);
        double before = 0.0;
        for (size_t row = 0; row < rowCount; ++row) {
            before += v[row] * y[row];
        }
        double scale = before > 0.0 ? 1.0 / sqrt(before) : 0.0;
        double after = 0.0;
        for (size_t row = 0; row < rowCount; ++row) {
            y[row] *= scale;
            v[row] = y[row];
        }
        srSolveSmallOne(coarse->A, coarse->rowCount, v);
        for (size_t row = 0; row < rowCount; ++row) {
            after += v[row] * y[row];
        }
        kappa = after > 0.0 ? 1.0 / after : 0.0;
    }
    return kappa;
}

int32_t srCoarse_GetBlockCount(const srCoarseRest* rest) {
    return rest->nodeCount / SR_COARSE_BLOCK + (rest->nodeCount % SR_COARSE_BLOCK != 0);
}

srResult srCreateCoarseScratch(const srCoarseRest* rest, srCoarseScratch* outScratch) {
    srCoarseScratch scratch = {.handleCount = rest->handleCount, .blockCount = srCoarse_GetBlockCount(rest)};
    size_t handleCount = (size_t)rest->handleCount;
    *outScratch = (srCoarseScratch){0};
    if (handleCount == 0) {
        return sr_success;
    }
    scratch.turns = SR_ALLOC_ZERO(srMat3f, handleCount);
    scratch.A = SR_ALLOC_ZERO(double, srSmallCount(SR_HANDLE_ROWS * rest->handleCount));
    scratch.partials = SR_ALLOC_ZERO(float, SR_HANDLE_FLOATS * handleCount * (size_t)scratch.blockCount);
    scratch.moves = SR_ALLOC_ZERO(float, SR_HANDLE_FLOATS* handleCount);
    scratch.small = SR_ALLOC_ZERO(double, srSmallStride(SR_HANDLE_ROWS * rest->handleCount));
    *outScratch = scratch;
    if (scratch.turns == NULL || scratch.A == NULL || scratch.partials == NULL || scratch.moves == NULL ||
        scratch.small == NULL) {
        srDestroyCoarseScratch(outScratch);
        return srFailOutOfMemory("the simulation");
    }
    return sr_success;
}

void srDestroyCoarseScratch(srCoarseScratch* scratch) {
    size_t handleCount = (size_t)scratch->handleCount;
    SR_FREE(scratch->turns, handleCount);
    SR_FREE(scratch->A, srSmallCount(SR_HANDLE_ROWS * scratch->handleCount));
    SR_FREE(scratch->partials, SR_HANDLE_FLOATS * handleCount * (size_t)scratch->blockCount);
    SR_FREE(scratch->moves, SR_HANDLE_FLOATS * handleCount);
    SR_FREE(scratch->small, srSmallStride(SR_HANDLE_ROWS * scratch->handleCount));
    *scratch = (srCoarseScratch){0};
}

// The sum of (x - mean)(X - mean)' over a region's samples
static srMat3f momentsOf(const srCoarseRest* rest, const srCoarseRegion* region, const float* poseRows,
                         const float* rows) {
    float meanNow[3] = {0.0f}, meanThen[3] = {0.0f};
    float share = 1.0f / (float)(region->sampleCount > 0 ? region->sampleCount : 1);
    for (int32_t k = 0; k < region->sampleCount; ++k) {
        size_t at = SR_ROW_FLOATS * (size_t)region->samples[k];
        for (size_t d = 0; d < 3; ++d) {
            meanNow[d] += share * (poseRows[at + d] + rows[at + d]);
            meanThen[d] += share * rest->places[at + d];
        }
    }
    srMat3f F = {{{0.0f}}};
    for (int32_t k = 0; k < region->sampleCount; ++k) {
        size_t at = SR_ROW_FLOATS * (size_t)region->samples[k];
        for (size_t d = 0; d < 3; ++d) {
            float now = poseRows[at + d] + rows[at + d] - meanNow[d];
            for (size_t c = 0; c < 3; ++c) {
                F.m[d][c] += now * (rest->places[at + c] - meanThen[c]);
            }
        }
    }
    return F;
}

// the rotations nearest to the moments, of as many regions at once as a block has lanes
static void turnRegions(const srCoarseStep* step, const float* poseRows) {
    const srCoarseRest* rest = step->rest;
    for (int32_t first = 0; first < rest->handleCount; first += SR_BLOCK_LANES) {
        int32_t left = rest->handleCount - first;
        int32_t count = left < SR_BLOCK_LANES ? left : SR_BLOCK_LANES;
        srMat3Blockf block = {0};
        for (int32_t lane = 0; lane < count; ++lane) {
            srMat3f F = momentsOf(rest, &rest->regions[first + lane], poseRows, step->rows);
            srSetLaneF(&block, lane, &F);
        }
        srFindRotationsF(&block, &block, 1);
        for (int32_t lane = 0; lane < count; ++lane) {
            step->scratch->turns[first + lane] = srGetLaneF(&block, lane);
        }
    }
}

// how the body as a whole is turned
static srMat3f findWholeTurn(const srCoarseStep* step, const float* poseRows) {
    srMat3f F = {{{0.0f}}};
    for (int32_t j = 0; j < step->rest->handleCount; ++j) {
        srMat3f own = momentsOf(step->rest, &step->rest->regions[j], poseRows, step->rows);
        for (int k = 0; k < 9; ++k) {
            F.m[k / 3][k % 3] += own.m[k / 3][k % 3];
        }
    }
    return srFindRotationF(&F);
}

void srCoarse_Follow(const srCoarseStep* step, const float* poseRows) {
    srMat3f now = findWholeTurn(step, poseRows);
    srMat3f* since = &step->scratch->since;
    for (int k = 0; k < 9; ++k) {
        const float* a = now.m[k / 3];
        const float* b = step->scratch->posed.m[k % 3];
        since->m[k / 3][k % 3] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
}

void srCoarse_Pose(const srCoarseStep* step, const float* poseRows) {
    turnRegions(step, poseRows);
    if (step->isLoose) {
        step->scratch->posed = findWholeTurn(step, poseRows);
    }
    step->scratch->isReady = factorTurned(step->coarse, step->rest, step->scratch->turns, step->scratch->A);
}

static srHandleMap mapOf(const srCoarseRest* rest, int32_t block) {
    const int32_t* starts = rest->memberStarts + (size_t)block * (size_t)rest->handleCount;
    return (srHandleMap){starts, rest->members, rest->places, rest->centres, rest->handleCount};
}

void srCoarse_RestrictBlocks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCoarseStep* step = context;
    const srCoarseRest* rest = step->rest;
    size_t sumFloats = SR_HANDLE_FLOATS * (size_t)rest->handleCount;
    for (int32_t block = begin; block < end; ++block) {
        srHandleMap map = mapOf(rest, block);
        float* sums = step->scratch->partials + sumFloats * (size_t)block;
        int32_t last = (block + 1) * SR_COARSE_BLOCK;
        srGetSolverKernels()->restrictNodes(&map, step->predicted, step->rows, step->forces, sums,
                                            block * SR_COARSE_BLOCK,
                                            last < rest->nodeCount ? last : rest->nodeCount);
    }
}

void srCoarse_Solve(const srCoarseStep* step) {
    const srCoarseRest* rest = step->rest;
    srCoarseScratch* scratch = step->scratch;
    size_t sumFloats = SR_HANDLE_FLOATS * (size_t)rest->handleCount;
    for (size_t k = 0; k < 4 * (size_t)rest->handleCount; ++k) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int32_t block = 0; block < scratch->blockCount; ++block) {
            for (size_t d = 0; d < 3; ++d) {
                sum[d] += (double)scratch->partials[sumFloats * (size_t)block + 4 * k + d];
            }
        }
        float (*turn)[3] = scratch->since.m;
        for (size_t d = 0; d < 3; ++d) {
            scratch->small[rowOf(k, d)] =
                step->isLoose
                    ? (double)turn[0][d] * sum[0] + (double)turn[1][d] * sum[1] + (double)turn[2][d] * sum[2]
                    : sum[d];
        }
    }
    srSolveSmallOne(scratch->A, step->coarse->rowCount, scratch->small);
    for (size_t k = 0; k < 4 * (size_t)rest->handleCount; ++k) {
        float (*turn)[3] = scratch->since.m;
        double move[3];
        for (size_t d = 0; d < 3; ++d) {
            move[d] = scratch->isReady ? scratch->small[rowOf(k, d)] : 0.0;
        }
        for (size_t d = 0; d < 3; ++d) {
            double turned =
                (double)turn[d][0] * move[0] + (double)turn[d][1] * move[1] + (double)turn[d][2] * move[2];
            scratch->moves[4 * k + d] = (float)(step->isLoose ? turned : move[d]);
        }
        scratch->moves[4 * k + 3] = 0.0f;
    }
}

void srCoarse_ProlongBlocks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCoarseStep* step = context;
    for (int32_t block = begin; block < end; ++block) {
        srHandleMap map = mapOf(step->rest, block);
        srGetSolverKernels()->prolongNodes(&map, step->scratch->moves, step->rows);
    }
}
