// SPDX-License-Identifier: GPL-3.0-or-later
//
// Given nodes, solved nodes, and pieces that no bone is in.

#include "weights/biharmonic.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "mesh/hints.h"
#include "weights/biharmonic_mend.h"
#include "weights/biharmonic_system.h"

#include <math.h>
#include <string.h>

// How high a weight may rise once more away from its bone; above that one would see it on the skin.
#define PEAK_LIMIT 0.0195

typedef struct Solving {
    const srCage* cage;
    const srAnchorRows* rows;
    const srStiffness* stiffness;
    const srPieces* pieces;
    const srSimplexSettings* settings;
    int32_t columnCount;
    float* weights;
} Solving;

srSimplexSettings srDefaultBiharmonicSettings(void) {
    return (srSimplexSettings){.tolerance = 1e-4, .iterationLimit = 3000};
}

// ---- writing ----

static float* rowOf(const Solving* s, int32_t node) {
    return s->weights + s->columnCount * (int64_t)node;
}

static void writeFixed(const Solving* s) {
    memset(s->weights, 0, (size_t)s->cage->nodeCount * (size_t)s->columnCount * sizeof(float));
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        for (int c = 0; c < 3 && s->rows->isFixed[i]; c++) {
            rowOf(s, i)[s->rows->fixedValues[i].columns[c]] += (float)s->rows->fixedValues[i].values[c];
        }
    }
}

static void writeSolved(const Solving* s, const srBiharmonicSystem* system, const double* solved) {
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        int32_t from = system->rowOfNode[i], columns = system->problem.columnCount;
        for (int32_t j = 0; from != SR_NULL_INDEX && j < columns; j++) {
            rowOf(s, i)[system->columns[j]] = (float)solved[columns * (int64_t)from + j];
        }
    }
}

// A piece without a bone (an eye, a button) stays stiff: all of it goes with the one node of the others that
// is nearest to any of its own.
static void adoptPieces(const Solving* s, const int32_t* nearest, int32_t* best) {
    const srCage* cage = s->cage;
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        best[i] = SR_NULL_INDEX;
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        int32_t piece = s->pieces->pieceOfNode[i];
        if (nearest[i] == SR_NULL_INDEX || s->pieces->isHeard[piece]) {
            continue;
        }
        int32_t held = best[piece];
        srVec3 d = srSub(cage->nodes[i], cage->nodes[nearest[i]]);
        srVec3 e = held != SR_NULL_INDEX ? srSub(cage->nodes[held], cage->nodes[nearest[held]]) : d;
        best[piece] = held == SR_NULL_INDEX || srDot(d, d) < srDot(e, e) ? i : held;
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        int32_t from = best[s->pieces->pieceOfNode[i]];
        if (from != SR_NULL_INDEX && !s->pieces->isHeard[s->pieces->pieceOfNode[i]]) {
            memcpy(rowOf(s, i), rowOf(s, nearest[from]), (size_t)s->columnCount * sizeof(float));
        }
    }
}

static srResult carryOver(const Solving* s) {
    int32_t n = s->cage->nodeCount;
    srResult result = sr_success;
    int32_t* heard = SR_ALLOC(int32_t, n);
    int32_t* nearest = SR_ALLOC(int32_t, n);
    int32_t* best = SR_ALLOC(int32_t, n);
    if (heard == NULL || nearest == NULL || best == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    for (int32_t i = 0; i < n; i++) {
        heard[i] = s->pieces->isHeard[s->pieces->pieceOfNode[i]] ? i : SR_NULL_INDEX;
    }
    SR_TRY_CLEANUP(srFindNearestHints(s->cage->nodes, heard, n, s->cage->nodes, n, nearest));
    adoptPieces(s, nearest, best);

cleanup:
    SR_FREE(heard, n);
    SR_FREE(nearest, n);
    SR_FREE(best, n);
    return result;
}

// ---- the whole ----

static srResult solveSystem(const Solving* s, const srBiharmonicSystem* system, const srProgress* progress,
                            srSimplexReport* outReport) {
    size_t count = (size_t)system->rowCount * (size_t)system->problem.columnCount;
    double* solved = SR_ALLOC(double, count);
    if (solved == NULL) {
        return srFailOutOfMemory("weights");
    }
    srResult result = sr_success;
    if (system->problem.columnCount == 1) {
        for (size_t k = 0; k < count; k++) {
            solved[k] = 1.0;
        }
        *outReport = (srSimplexReport){.isConverged = true};
    } else {
        result = srSolveSimplexProblem(&system->problem, s->settings, progress, solved, NULL, outReport);
    }
    if (result == sr_success) {
        writeSolved(s, system, solved);
    }
    SR_FREE(solved, count);
    return result;
}

// the worst of all pieces
static void addReport(const srSimplexReport* from, srSimplexReport* to) {
    to->iterationCount =
        from->iterationCount > to->iterationCount ? from->iterationCount : to->iterationCount;
    to->restartCount += from->restartCount;
    to->primalResidual = fmax(to->primalResidual, from->primalResidual);
    to->dualResidual = fmax(to->dualResidual, from->dualResidual);
    to->isConverged = to->isConverged && from->isConverged;
    to->isDouble = to->isDouble || from->isDouble;
}

static srResult solvePieces(const Solving* s, const srProgress* progress, srSimplexReport* outReport) {
    *outReport = (srSimplexReport){.isConverged = true};
    writeFixed(s);
    for (int32_t piece = 0; piece < s->cage->nodeCount; piece++) {
        if (s->pieces->pieceOfNode[piece] != piece || !s->pieces->isHeard[piece]) {
            continue;
        }
        // nodes are numbered for locality, so a piece's number tells about how far it is
        srProgress part = srPartOfProgress(progress, (double)piece / s->cage->nodeCount, 1.0);
        srBiharmonicSystem system = {0};
        srSimplexReport report = {.isConverged = true};
        SR_TRY(srCreateBiharmonicSystem(s->cage, s->stiffness, s->rows, s->pieces, piece, s->columnCount,
                                        &system));
        srResult result = system.rowCount > 0 ? solveSystem(s, &system, &part, &report) : sr_success;
        srDestroyBiharmonicSystem(&system);
        SR_TRY(result);
        addReport(&report, outReport);
    }
    return sr_success;
}

static double measure(const srStiffness* K, const srAnchorRows* rows, const float* weights,
                      int32_t columnCount, double* slopes) {
    double energy = 0.0;
    for (int32_t k = 0; k < K->nodeCount; k++) {
        memset(slopes, 0, (size_t)columnCount * sizeof(double));
        for (int32_t e = K->starts[k]; e < K->starts[k + 1]; e++) {
            const float* row = weights + columnCount * (int64_t)K->nodes[e];
            for (int32_t j = 0; j < columnCount; j++) {
                slopes[j] += K->values[e] * (double)row[j];
            }
        }
        for (int32_t j = 0; j < columnCount; j++) {
            energy += 0.5 * slopes[j] * slopes[j] / K->masses[k];
        }
    }
    for (int32_t k = 0; k < rows->sampleCount; k++) {
        const srAnchorSample* sample = &rows->samples[k];
        memset(slopes, 0, (size_t)columnCount * sizeof(double));
        for (int c = 0; c < 3; c++) {
            slopes[sample->value.columns[c]] -= sample->value.values[c];
        }
        for (int32_t j = 0; j < columnCount; j++) {
            for (int c = 0; c < 4; c++) {
                slopes[j] +=
                    sample->weights[c] * (double)weights[columnCount * (int64_t)sample->nodes[c] + j];
            }
            energy += 0.5 * K->unit * sample->strength * slopes[j] * slopes[j];
        }
    }
    return energy;
}

srResult srMeasureBiharmonicEnergy(const srCage* cage, const srAnchorRows* rows, const float* weights,
                                   int32_t columnCount, double* outEnergy) {
    srStiffness stiffness = {0};
    SR_TRY(srCreateStiffness(cage, &stiffness));
    double* slopes = SR_ALLOC(double, columnCount);
    if (slopes == NULL) {
        srDestroyStiffness(&stiffness);
        return srFailOutOfMemory("weights");
    }
    *outEnergy = measure(&stiffness, rows, weights, columnCount, slopes);
    SR_FREE(slopes, columnCount);
    srDestroyStiffness(&stiffness);
    return sr_success;
}

// ---- peaks ----

#define MENDING_ROUNDS 4

typedef struct Peaks {
    const Solving* solving;
    float* ceilings; // where peaks were cut no weight may rise again
    float* best;
    double* slopes;
    double energy; // of the best
    size_t count;
} Peaks;

// What was lowered gets a ceiling; `before` may be the best.
static void lowerCeilings(const Peaks* p, const float* before) {
    for (size_t k = 0; k < p->count; k++) {
        float w = p->solving->weights[k];
        p->ceilings[k] = w < before[k] ? fminf(p->ceilings[k], w) : p->ceilings[k];
    }
}

// Levelling costs energy, for it knows nothing of it. Rows around are brought to the least there is, and what
// rises thereby is levelled again, as long as that pays.
static srResult mendPeaks(Peaks* p, const srProgress* progress, srPeakReport* report) {
    const Solving* s = p->solving;
    float* mended = SR_ALLOC(float, p->count);
    srResult result = mended != NULL ? sr_success : srFailOutOfMemory("weights");
    bool isBetter = true;
    for (int round = 0; result == sr_success && isBetter && round < MENDING_ROUNDS; round++) {
        srProgress part =
            srPartOfProgress(progress, (double)round / MENDING_ROUNDS, (round + 1.0) / MENDING_ROUNDS);
        srPeakReport again = {0};
        memcpy(p->best, s->weights, p->count * sizeof(float));
        SR_TRY_CLEANUP(srMendRows(s->stiffness, s->rows, s->pieces, s->columnCount, p->ceilings, s->weights));
        memcpy(mended, s->weights, p->count * sizeof(float));
        SR_TRY_CLEANUP(srLevelPeaks(s->cage, s->rows, s->columnCount, PEAK_LIMIT, &part, s->weights, &again));
        double energy = measure(s->stiffness, s->rows, s->weights, s->columnCount, p->slopes);
        isBetter = energy < p->energy;
        if (isBetter) {
            lowerCeilings(p, mended);
            p->energy = energy;
            report->mendCount++;
            isBetter = again.peakCount > 0;
        } else {
            memcpy(s->weights, p->best, p->count * sizeof(float));
        }
    }

cleanup:
    SR_FREE(mended, p->count);
    return result;
}

static srResult levelPeaks(const Solving* s, const srProgress* progress, srPeakReport* outReport) {
    srResult result = sr_success;
    srProgress level = srPartOfProgress(progress, 0.0, 0.5), mend = srPartOfProgress(progress, 0.5, 1.0);
    Peaks p = {.solving = s, .count = (size_t)s->cage->nodeCount * (size_t)s->columnCount};
    p.best = SR_ALLOC(float, p.count);
    p.slopes = SR_ALLOC(double, s->columnCount);
    if (p.best == NULL || p.slopes == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    memcpy(p.best, s->weights, p.count * sizeof(float));
    SR_TRY_CLEANUP(srLevelPeaks(s->cage, s->rows, s->columnCount, PEAK_LIMIT, &level, s->weights, outReport));
    if (outReport->roundCount > 0) {
        p.ceilings = SR_ALLOC(float, p.count);
        if (p.ceilings == NULL) {
            result = srFailOutOfMemory("weights");
            goto cleanup;
        }
        for (size_t k = 0; k < p.count; k++) {
            p.ceilings[k] = 1.0f;
        }
        lowerCeilings(&p, p.best);
        p.energy = measure(s->stiffness, s->rows, s->weights, s->columnCount, p.slopes);
        SR_TRY_CLEANUP(mendPeaks(&p, &mend, outReport));
    }

cleanup:
    SR_FREE(p.best, p.count);
    SR_FREE(p.ceilings, p.count);
    SR_FREE(p.slopes, s->columnCount);
    return result;
}

// ---- the story ----

srResult srSolveBiharmonic(const srCage* cage, const srAnchors* anchors, const srSimplexSettings* settings,
                           const srProgress* progress, float* outWeights, srBiharmonicReport* outReport) {
    srResult result = sr_success;
    srProgress whole = progress != NULL ? *progress : (srProgress){0};
    srProgress matrices = srPartOfProgress(&whole, 0.0, 0.05), loop = srPartOfProgress(&whole, 0.05, 0.98),
               peaks = srPartOfProgress(&whole, 0.98, 1.0);
    double start = srGetSeconds();
    srAnchorRows rows = {0};
    srStiffness stiffness = {0};
    srPieces pieces = {0};
    srBiharmonicReport report = {0};
    double* slopes = NULL;
    SR_TRY_CLEANUP(srCreateAnchorRows(cage, anchors, &rows));
    SR_TRY_CLEANUP(srReportProgress(&matrices, 0.3));
    SR_TRY_CLEANUP(srCreateStiffness(cage, &stiffness));
    SR_TRY_CLEANUP(srCreatePieces(cage, &rows, &pieces));
    SR_TRY_CLEANUP(srReportProgress(&matrices, 1.0));
    report.matrixSeconds = srGetSeconds() - start;
    Solving solving = {cage, &rows, &stiffness, &pieces, settings, anchors->columnCount, outWeights};
    SR_TRY_CLEANUP(solvePieces(&solving, &loop, &report.loop));
    SR_TRY_CLEANUP(levelPeaks(&solving, &peaks, &report.peaks));
    SR_TRY_CLEANUP(pieces.orphanCount > 0 ? carryOver(&solving) : sr_success);
    slopes = SR_ALLOC(double, anchors->columnCount);
    if (slopes == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    report.energy = measure(&stiffness, &rows, outWeights, anchors->columnCount, slopes);
    report.sampleCount = rows.sampleCount;
    report.fixedCount = rows.fixedCount;
    report.outsideCount = rows.outsideCount;
    report.orphanCount = pieces.orphanCount;
    report.loopSeconds = srGetSeconds() - start - report.matrixSeconds;
    *outReport = report;

cleanup:
    SR_FREE(slopes, anchors->columnCount);
    srDestroyAnchorRows(&rows);
    srDestroyStiffness(&stiffness);
    srDestroyPieces(&pieces);
    return result;
}
