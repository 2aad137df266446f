// SPDX-License-Identifier: GPL-3.0-or-later
//
// The small matrix and the three stages of a correction. Where the handles are is chosen in coarse_rest.c.
//
// Unknown (4 j + c) 3 + d of the small system is axis d of the c-th of [X; 1] of handle j.

#include "solver/coarse.h"

#include "core/alloc.h"
#include "math/rotation.h"
#include "math/small.h"
#include "solver/patches.h"

#include <math.h>
#include <string.h>

#define PATCH_STIFFNESS 1e3 // of a patch that keeps its volume, times its cells' own
#define MOST_AROUND 32 // handles that a cell may lie in; more are left out, the matrix is one of a correction
#define FREQUENCY_STEPS 40 // of inverse iteration; the slowest swing is at most one of a few alike
#define POSE_SAMPLES 512   // nodes that tell how handles are turned
#define LEAST_PIVOT                                                                                          \
    1e-7 // added to the diagonal, relative: handles of too few nodes to tell their motions apart

struct srCoarse {
    int32_t rowCount;
    bool isReady;
    double* A;
    double* vectors; // two
};

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
        if (coarse->A == NULL || coarse->vectors == NULL) {
            srDestroyCoarse(coarse);
            return srFailOutOfMemory("the coarse correction");
        }
    }
    *outCoarse = coarse;
    return sr_success;
}

void srDestroyCoarse(srCoarse* coarse) {
    if (coarse != NULL) {
        SR_FREE(coarse->A, srSmallCount(coarse->rowCount));
        SR_FREE(coarse->vectors, 2 * (size_t)srSmallStride(coarse->rowCount));
        SR_FREE(coarse, 1);
    }
}

bool srCoarse_IsReady(const srCoarse* coarse) {
    return coarse != NULL && coarse->isReady;
}

// Q' M Q, the same for each axis
static void addMasses(srCoarse* coarse, const srCoarseRest* rest, const float* weights) {
    size_t stride = (size_t)srSmallStride(coarse->rowCount);
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        if (!(weights[i] > 0.0f)) {
            continue;
        }
        double mass = 1.0 / (double)weights[i];
        const float* place = rest->places + SR_ROW_FLOATS * (size_t)i;
        double values[MOST_AROUND][4];
        int32_t count = rest->starts[i + 1] - rest->starts[i];
        count = count < MOST_AROUND ? count : MOST_AROUND;
        const srHandleEntry* entries = rest->entries + rest->starts[i];
        for (int32_t e = 0; e < count; ++e) {
            const float* centre = rest->centres + SR_ROW_FLOATS * (size_t)entries[e].handle;
            for (int c = 0; c < 4; ++c) {
                values[e][c] = (double)entries[e].weight * (double)(place[c] - centre[c]);
            }
        }
        for (int32_t k = 0; k < 16 * count * count; ++k) {
            int32_t e = k / (16 * count), f = k / 16 % count, c = k / 4 % 4, d = k % 4;
            size_t row = 3 * (4 * (size_t)entries[e].handle + (size_t)c);
            size_t column = 3 * (4 * (size_t)entries[f].handle + (size_t)d);
            double value = mass * values[e][c] * values[f][d];
            for (size_t axis = 0; row >= column && axis < 3; ++axis) {
                coarse->A[(column + axis) * stride + row + axis] += value;
            }
        }
    }
}

// The handles around a cell and the gradients in it of their four functions
typedef struct Around {
    int32_t count;
    int32_t handles[MOST_AROUND];
    double gradients[MOST_AROUND][4][3];
} Around;

static void addCorner(const srCoarseRest* rest, int32_t node, const double g[3], Around* around) {
    const float* place = rest->places + SR_ROW_FLOATS * (size_t)node;
    for (int32_t e = rest->starts[node]; e < rest->starts[node + 1]; ++e) {
        int32_t handle = rest->entries[e].handle;
        int32_t k = 0;
        while (k < around->count && around->handles[k] != handle) {
            ++k;
        }
        if (k == MOST_AROUND) {
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

// s (G_a . G_b I + G_b G_a') + l G_a G_b' for all pairs of functions
static void addStiffness(srCoarse* coarse, const Around* around, double s, double l) {
    size_t stride = (size_t)srSmallStride(coarse->rowCount);
    int32_t count = 4 * around->count;
    for (int32_t a = 0; a < count; ++a) {
        const double* A = around->gradients[a / 4][a % 4];
        size_t row = 3 * (4 * (size_t)around->handles[a / 4] + (size_t)(a % 4));
        for (int32_t b = 0; b < count; ++b) {
            const double* B = around->gradients[b / 4][b % 4];
            size_t column = 3 * (4 * (size_t)around->handles[b / 4] + (size_t)(b % 4));
            if (row < column) {
                continue;
            }
            double both = s * (A[0] * B[0] + A[1] * B[1] + A[2] * B[2]);
            for (size_t j = 0; j < 3; ++j) {
                double* out = coarse->A + (column + j) * stride + row;
                for (size_t i = 0; i < 3; ++i) {
                    out[i] += s * A[j] * B[i] + l * A[i] * B[j];
                }
                out[j] += both;
            }
        }
    }
}

// What fibres resist stretch along them more: s (d . G_a)(d . G_b) d d'. That they also resist shear a little
// more is left out: it is at most half as much again, and this matrix is one of a correction.
static void addFibres(srCoarse* coarse, const Around* around, double s, const srCellFibres* fibres,
                      int lane) {
    size_t stride = (size_t)srSmallStride(coarse->rowCount);
    double d[3] = {(double)fibres->d[0][lane], (double)fibres->d[1][lane], (double)fibres->d[2][lane]};
    for (int32_t k = 0; k < 16 * around->count * around->count; ++k) {
        int32_t a = k / (4 * around->count), b = k % (4 * around->count);
        const double* A = around->gradients[a / 4][a % 4];
        const double* B = around->gradients[b / 4][b % 4];
        size_t row = 3 * (4 * (size_t)around->handles[a / 4] + (size_t)(a % 4));
        size_t column = 3 * (4 * (size_t)around->handles[b / 4] + (size_t)(b % 4));
        double both =
            s * (d[0] * A[0] + d[1] * A[1] + d[2] * A[2]) * (d[0] * B[0] + d[1] * B[1] + d[2] * B[2]);
        for (size_t j = 0; row >= column && j < 9; ++j) {
            coarse->A[(column + j / 3) * stride + row + j % 3] += both * d[j / 3] * d[j % 3];
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
        addStiffness(coarse, &around, 0.0, stiffness);
    }
}

void srCoarse_Set(srCoarse* coarse, const srCoarseRest* coarseRest, const srFleshRest* rest,
                  const srFleshTuning* tuning) {
    size_t stride = (size_t)srSmallStride(coarse->rowCount);
    coarse->isReady = false;
    if (coarse->rowCount == 0) {
        return;
    }
    memset(coarse->A, 0, srSmallCount(coarse->rowCount) * sizeof(double));
    addMasses(coarse, coarseRest, tuning->weights);
    for (int32_t b = 0; b < rest->batches.batchCount; ++b) {
        for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
            if (rest->volumes[b].V[lane] > 0.0f) {
                Around around = {.count = 0};
                const srCellFibres* fibres = rest->fibres != NULL ? &rest->fibres[b] : NULL;
                double factor =
                    fibres != NULL ? (double)fibres->root[lane] * (double)fibres->root[lane] : 1.0;
                double shape = (double)tuning->forceMaterials[b].shape[lane];
                findAround(coarseRest, &rest->blocks[b], fibres, lane, 1.0, tuning->weights, &around);
                addStiffness(coarse, &around, 0.5 * shape,
                             factor * (double)tuning->forceMaterials[b].volume[lane]);
                if (fibres != NULL) {
                    addFibres(coarse, &around, (factor - 1.0) * shape, fibres, lane);
                }
            }
        }
    }
    if (tuning->hasPatches) {
        addPatches(coarse, coarseRest, rest, tuning);
    }
    double largest = 0.0;
    for (size_t k = 0; k < (size_t)coarse->rowCount; ++k) {
        largest = fmax(largest, coarse->A[k * stride + k]);
    }
    for (size_t k = 0; k < (size_t)coarse->rowCount; ++k) {
        double* pivot = &coarse->A[k * stride + k];
        *pivot += LEAST_PIVOT * fmax(*pivot, LEAST_PIVOT * largest);
    }
    coarse->isReady = largest > 0.0 && srFactorSmall(coarse->A, coarse->rowCount) == SR_NULL_INDEX;
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
                    size_t row = 3 * (4 * (size_t)entry->handle + (size_t)(k % 4)) + (size_t)axis;
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
    for (size_t row = 0; row < rowCount; ++row) {
        v[row] = 1.0 + 0.37 * (double)(row * row % 17);
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
    scratch.partials = SR_ALLOC_ZERO(float, SR_HANDLE_FLOATS * handleCount * (size_t)scratch.blockCount);
    scratch.moves = SR_ALLOC_ZERO(float, SR_HANDLE_FLOATS* handleCount);
    scratch.small = SR_ALLOC_ZERO(double, srSmallStride(SR_HANDLE_ROWS * rest->handleCount));
    *outScratch = scratch;
    if (scratch.turns == NULL || scratch.partials == NULL || scratch.moves == NULL || scratch.small == NULL) {
        srDestroyCoarseScratch(outScratch);
        return srFailOutOfMemory("the simulation");
    }
    return sr_success;
}

void srDestroyCoarseScratch(srCoarseScratch* scratch) {
    size_t handleCount = (size_t)scratch->handleCount;
    SR_FREE(scratch->turns, handleCount);
    SR_FREE(scratch->partials, SR_HANDLE_FLOATS * handleCount * (size_t)scratch->blockCount);
    SR_FREE(scratch->moves, SR_HANDLE_FLOATS * handleCount);
    SR_FREE(scratch->small, srSmallStride(SR_HANDLE_ROWS * scratch->handleCount));
    *scratch = (srCoarseScratch){0};
}

// The nearest rotation to sum of phi (p - mean)(X - mean)', by raw moments around the handle's centre
void srCoarse_Pose(const srCoarseStep* step, const float* poseRows) {
    const srCoarseRest* rest = step->rest;
    srCoarseScratch* scratch = step->scratch;
    int32_t handleCount = rest->handleCount;
    float* sums = scratch->partials; // rows: sum phi p X_x, phi p X_y, phi p X_z, phi p
    float* means = scratch->moves;   // a row: sum phi X, phi
    memset(sums, 0, SR_HANDLE_FLOATS * (size_t)handleCount * sizeof(float));
    memset(means, 0, SR_HANDLE_FLOATS * (size_t)handleCount * sizeof(float));
    int32_t stride = 1 + rest->nodeCount / POSE_SAMPLES;
    for (int32_t i = 0; i < rest->nodeCount; i += stride) {
        const float* p = poseRows + SR_ROW_FLOATS * (size_t)i;
        const float* place = rest->places + SR_ROW_FLOATS * (size_t)i;
        for (int32_t e = rest->starts[i]; e < rest->starts[i + 1]; ++e) {
            const float* centre = rest->centres + SR_ROW_FLOATS * (size_t)rest->entries[e].handle;
            float* sum = sums + SR_HANDLE_FLOATS * (size_t)rest->entries[e].handle;
            float* mean = means + SR_HANDLE_FLOATS * (size_t)rest->entries[e].handle;
            for (int c = 0; c < 4; ++c) {
                float value = rest->entries[e].weight * (place[c] - centre[c]);
                mean[c] += value;
                for (int d = 0; d < 3; ++d) {
                    sum[4 * c + d] += value * p[d];
                }
            }
        }
    }
    for (int32_t j = 0; j < handleCount; ++j) {
        const float* sum = sums + SR_HANDLE_FLOATS * (size_t)j;
        const float* mean = means + SR_HANDLE_FLOATS * (size_t)j;
        float perWeight = mean[3] > 0.0f ? 1.0f / mean[3] : 0.0f;
        srMat3f F;
        for (int d = 0; d < 3; ++d) {
            for (int c = 0; c < 3; ++c) {
                F.m[d][c] = perWeight * (sum[4 * c + d] - perWeight * mean[c] * sum[12 + d]);
            }
        }
        scratch->turns[j] = srFindRotationF(&F);
    }
}

static srHandleMap mapOf(const srCoarseRest* rest) {
    return (srHandleMap){rest->starts, rest->entries, rest->places, rest->centres};
}

void srCoarse_RestrictBlocks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCoarseStep* step = context;
    const srCoarseRest* rest = step->rest;
    srHandleMap map = mapOf(rest);
    size_t sumFloats = SR_HANDLE_FLOATS * (size_t)rest->handleCount;
    for (int32_t block = begin; block < end; ++block) {
        float* sums = step->scratch->partials + sumFloats * (size_t)block;
        memset(sums, 0, sumFloats * sizeof(float));
        int32_t last = (block + 1) * SR_COARSE_BLOCK;
        srGetSolverKernels()->restrictNodes(&map, step->predicted, step->forces, step->rows, sums,
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
        const srMat3f* R = &scratch->turns[k / 4];
        for (size_t d = 0; d < 3; ++d) {
            scratch->small[3 * k + d] =
                (double)R->m[0][d] * sum[0] + (double)R->m[1][d] * sum[1] + (double)R->m[2][d] * sum[2];
        }
    }
    srSolveSmallOne(step->coarse->A, step->coarse->rowCount, scratch->small);
    for (size_t k = 0; k < 4 * (size_t)rest->handleCount; ++k) {
        const srMat3f* R = &scratch->turns[k / 4];
        for (size_t d = 0; d < 3; ++d) {
            double move = 0.0;
            for (size_t c = 0; c < 3; ++c) {
                move += (double)R->m[d][c] * scratch->small[3 * k + c];
            }
            scratch->moves[4 * k + d] = (float)move;
        }
        scratch->moves[4 * k + 3] = 0.0f;
    }
}

void srCoarse_ProlongBlocks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCoarseStep* step = context;
    srHandleMap map = mapOf(step->rest);
    int32_t last = end * SR_COARSE_BLOCK;
    srGetSolverKernels()->prolongNodes(&map, step->scratch->moves, step->rows, begin * SR_COARSE_BLOCK,
                                       last < step->rest->nodeCount ? last : step->rest->nodeCount);
}
