// SPDX-License-Identifier: GPL-3.0-or-later
//
// One sweep over all distances, volumes or blocks of a cage, against the same in plain C; and how many bytes
// a sweep moves, against what memory gives a copy of as many.

#include "core/thread.h"
#include "limits.h"
#include "pbd_parts.h"
#include "pbd_plain.h"
#include "solver/batches.h"
#include "support/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 60
// additions and multiplications of a lane, without what moves it to and from memory
#define BLOCK_OPERATIONS 467.0
#define VOLUME_OPERATIONS 113.0
#define DISTANCE_OPERATIONS 34.0

// times of the best round of a baseline, a candidate and a copy
typedef struct Best {
    double plain;
    double ours;
    double copy;
    size_t bytes;
    double operations; // of a lane
} Best;

static void keepLeast(double* best, double seconds) {
    *best = *best == 0.0 || seconds < *best ? seconds : *best;
}

// the rows of a cage a little out of shape
static void shakeRows(const srBenchFlesh* flesh, float* rows) {
    for (int32_t i = 0; i < flesh->rest.rowCount; ++i) {
        float* row = rows + 4 * (size_t)i;
        bool isNode = i < flesh->cage.nodeCount;
        for (int c = 0; c < 3; ++c) {
            row[c] = isNode ? 0.01f * (float)sin(1.7 * i + 2.0 * c) : 0.0f;
        }
        row[3] = isNode && flesh->tuning.weights[i] > 0.0f ? 1.0f : 0.0f;
    }
}

static void addNodes(const srBenchFlesh* flesh, float* rows) {
    for (int32_t i = 0; i < flesh->cage.nodeCount; ++i) {
        srVec3 x = flesh->cage.nodes[i];
        rows[4 * (size_t)i] += (float)x.x;
        rows[4 * (size_t)i + 1] += (float)x.y;
        rows[4 * (size_t)i + 2] += (float)x.z;
    }
}

static void reportConstraint(srBenchReport* report, const char* caseName, const char* what, int32_t count,
                             const Best* best, const char* goal, const char* ratioGoal) {
    char metric[96];
    snprintf(metric, sizeof(metric), "%s, plain C (baseline)", what);
    srBench_Add(report, caseName, metric, 1e9 * best->plain / count, "ns", NULL);
    snprintf(metric, sizeof(metric), "%s, kernel", what);
    srBench_Add(report, caseName, metric, 1e9 * best->ours / count, "ns", goal);
    snprintf(metric, sizeof(metric), "%s, baseline / kernel", what);
    srBench_Add(report, caseName, metric, best->plain / best->ours, "", ratioGoal);
    snprintf(metric, sizeof(metric), "%s, bytes moved a sweep", what);
    srBench_Add(report, caseName, metric, (double)best->bytes / count, "bytes", NULL);
    snprintf(metric, sizeof(metric), "%s, share of a copy's rate", what);
    srBench_Add(report, caseName, metric, 100.0 * best->copy / best->ours, "%", NULL);
    double peak = srBenchMeasurePeak();
    if (peak > 0.0) {
        snprintf(metric, sizeof(metric), "%s, share of the arithmetic's peak", what);
        double speed = best->operations * count / (1e9 * best->ours);
        srBench_Add(report, caseName, metric, 100.0 * speed / peak, "%", NULL);
    }
}

static void benchDistances(srBenchReport* report, const char* caseName, const srBenchFlesh* flesh,
                           float* rows) {
    const srCage* cage = &flesh->cage;
    srBatches batches;
    if (srCreateBatches(cage->edges[0], 2, cage->edgeCount, cage->nodeCount, &batches) != sr_success) {
        return;
    }
    srDistanceBlock* blocks = aligned_alloc(64, (size_t)batches.batchCount * sizeof(srDistanceBlock));
    if (blocks != NULL) {
        memset(blocks, 0, (size_t)batches.batchCount * sizeof(srDistanceBlock));
        for (int32_t k = 0; k < 8 * batches.batchCount; ++k) {
            int32_t edge = batches.members[k / 8][k % 8];
            for (int c = 0; c < 2; ++c) {
                blocks[k / 8].places[c][k % 8] =
                    SR_ROW_FLOATS * (edge == -1 ? cage->nodeCount : cage->edges[edge][c]);
            }
            if (edge != -1) {
                blocks[k / 8].lengths[k % 8] =
                    (float)srDistance(cage->nodes[cage->edges[edge][0]], cage->nodes[cage->edges[edge][1]]);
                blocks[k / 8].compliances[k % 8] = 0.5f;
            }
        }
        Best best = {.operations = DISTANCE_OPERATIONS};
        srConstraintSweep sweep = {.rows = rows, .stiffness = 1.0f};
        for (int round = 0; round < ROUNDS; ++round) {
            double start = srGetSeconds();
            srPlainDistances(blocks, batches.batchCount, rows);
            double middle = srGetSeconds();
            srGetSolverKernels()->solveDistances(&sweep, blocks, 0, batches.batchCount);
            keepLeast(&best.plain, middle - start);
            keepLeast(&best.ours, srGetSeconds() - middle);
        }
        best.bytes =
            (size_t)batches.batchCount * (sizeof(srDistanceBlock) + 32) + 32 * (size_t)cage->nodeCount;
        best.copy = srBenchTimeCopy(best.bytes);
        reportConstraint(report, caseName, "a distance", cage->edgeCount, &best, "<= 2.5", ">= 2.5");
    }
    free(blocks);
    srDestroyBatches(&batches);
}

static void benchVolumes(srBenchReport* report, const char* caseName, const srBenchFlesh* flesh,
                         float* rows) {
    const srCage* cage = &flesh->cage;
    int32_t batchCount = flesh->rest.batches.batchCount;
    srVolumeBlock* blocks = aligned_alloc(64, (size_t)batchCount * sizeof(srVolumeBlock));
    if (blocks == NULL) {
        return;
    }
    memset(blocks, 0, (size_t)batchCount * sizeof(srVolumeBlock));
    for (int32_t b = 0; b < batchCount; ++b) {
        memcpy(blocks[b].places, flesh->rest.blocks[b].places, sizeof(blocks[b].places));
        for (int lane = 0; lane < 8; ++lane) {
            blocks[b].sixVolumes[lane] = 6.0f * flesh->rest.volumes[b].V[lane];
            blocks[b].compliances[lane] = 1e-4f;
        }
    }
    Best best = {.operations = VOLUME_OPERATIONS};
    srConstraintSweep sweep = {.rows = rows, .stiffness = 1.0f};
    for (int round = 0; round < ROUNDS; ++round) {
        double start = srGetSeconds();
        srPlainVolumes(blocks, batchCount, rows);
        double middle = srGetSeconds();
        srGetSolverKernels()->solveVolumes(&sweep, blocks, 0, batchCount);
        keepLeast(&best.plain, middle - start);
        keepLeast(&best.ours, srGetSeconds() - middle);
    }
    best.bytes = (size_t)batchCount * (sizeof(srVolumeBlock) + 32) + 32 * (size_t)cage->nodeCount;
    best.copy = srBenchTimeCopy(best.bytes);
    reportConstraint(report, caseName, "a volume", cage->cellCount, &best, "<= 5.5", ">= 2.5");
    free(blocks);
}

static void benchBlocks(srBenchReport* report, const char* caseName, srBenchFlesh* flesh, float* rows,
                        float* poseRows) {
    int32_t batchCount = flesh->rest.batches.batchCount;
    srCellPose* poses = aligned_alloc(64, (size_t)batchCount * sizeof(srCellPose));
    srCellTurn* turns = aligned_alloc(64, (size_t)batchCount * sizeof(srCellTurn));
    if (poses != NULL && turns != NULL) {
        srGetSolverKernels()->poseCells(flesh->tuning.blocks, poseRows, poses, 0, batchCount);
        memset(turns, 0, (size_t)batchCount * sizeof(srCellTurn));
        for (int32_t k = 0; k < 8 * batchCount; ++k) {
            turns[k / 8].q[0][k % 8] = 1.0f;
        }
        srCellSweep sweep = {.blocks = flesh->tuning.blocks,
                             .materials = flesh->tuning.materials,
                             .poses = poses,
                             .turns = turns,
                             .rows = rows};
        for (int32_t i = 0; i < flesh->cage.nodeCount; ++i) {
            rows[4 * (size_t)i + 3] = flesh->tuning.weights[i];
        }
        Best best = {.operations = BLOCK_OPERATIONS};
        for (int round = 0; round < ROUNDS; ++round) {
            double start = srGetSeconds();
            srPlainCells(&sweep, batchCount);
            double middle = srGetSeconds();
            srGetSolverKernels()->solveCells(&sweep, 0, batchCount, 1);
            keepLeast(&best.plain, middle - start);
            keepLeast(&best.ours, srGetSeconds() - middle);
        }
        best.bytes = (size_t)batchCount * (sizeof(srCellBlock) + sizeof(srCellMaterial) + sizeof(srCellPose) +
                                           2 * sizeof(srCellTurn)) +
                     32 * (size_t)flesh->cage.nodeCount;
        best.copy = srBenchTimeCopy(best.bytes);
        reportConstraint(report, caseName, "a block", flesh->cage.cellCount, &best, "<= 11", ">= 6");
    }
    free(poses);
    free(turns);
}

static void benchCage(srBenchReport* report, const int32_t counts[3]) {
    srBenchFlesh flesh;
    if (!srBenchCreateFlesh(counts, 0, 5, &flesh)) {
        return;
    }
    char caseName[96];
    snprintf(caseName, sizeof(caseName), "%d nodes, %d edges, %d cells", flesh.cage.nodeCount,
             flesh.cage.edgeCount, flesh.cage.cellCount);
    size_t bytes = 16 * (size_t)flesh.rest.rowCount + 64;
    float* rows = aligned_alloc(64, bytes / 64 * 64);
    float* poseRows = aligned_alloc(64, bytes / 64 * 64);
    if (rows != NULL && poseRows != NULL) {
        memset(poseRows, 0, bytes / 64 * 64);
        addNodes(&flesh, poseRows);
        shakeRows(&flesh, rows);
        benchBlocks(report, caseName, &flesh, rows, poseRows);
        shakeRows(&flesh, rows);
        addNodes(&flesh, rows);
        benchDistances(report, caseName, &flesh, rows);
        benchVolumes(report, caseName, &flesh, rows);
    }
    free(rows);
    free(poseRows);
    srBenchDestroyFlesh(&flesh);
}

void srBenchConstraints(srBenchReport* report) {
    static const int32_t SMALL[3] = {13, 19, 13};
    static const int32_t LARGE[3] = {20, 24, 20};
    benchCage(report, SMALL);
    benchCage(report, LARGE);
}
