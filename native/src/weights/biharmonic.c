// SPDX-License-Identifier: GPL-3.0-or-later
//
// Given nodes, solved nodes, and pieces that no bone is in.

#include "weights/biharmonic.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "mesh/hints.h"
#include "weights/biharmonic_system.h"

#include <math.h>
#include <string.h>

// How high a weight may rise once more away from its bone; above that one would see it on the skin.
#define PEAK_LIMIT 0.0195

// How often the whole is solved once more, with what rose too high as bounds; then it is cut.
#define MOST_ROUNDS 12
#define ROUND_SHARE 0.75

typedef struct Solving {
    const srCage* cage;
    const srAnchorRows* rows;
    const srStiffness* stiffness;
    const srPieces* pieces;
    const srSimplexSettings* settings;
    int32_t columnCount;
    float* weights;
    double* smooth;           // x of the last time, node by node
    float* ceilings;          // zero where a piece does not hear a column
    bool isAgain;             // solved once more, with bounds
    srSimplexReport* reports; // by piece
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

// What the last time left, and how high each weight may be: row by row of the system, and node by node.
typedef struct Numbers {
    double *weights, *smooth, *ceilings;
} Numbers;

static void writeSolved(const Solving* s, const srBiharmonicSystem* system, const Numbers* numbers) {
    int32_t columns = system->problem.columnCount;
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        int64_t from = columns * (int64_t)system->rowOfNode[i], to = s->columnCount * (int64_t)i;
        for (int32_t j = 0; from >= 0 && j < columns; j++) {
            s->weights[to + system->columns[j]] = (float)numbers->weights[from + j];
            s->smooth[to + system->columns[j]] = numbers->smooth[from + j];
        }
    }
}

// What is not heard leaves no room to the others.
static void liftCeilings(const Solving* s, const srBiharmonicSystem* system) {
    for (int32_t i = 0; i < s->cage->nodeCount; i++) {
        float* row = s->ceilings + s->columnCount * (int64_t)i;
        for (int32_t j = 0; j < s->columnCount && system->rowOfNode[i] >= 0; j++) {
            row[j] = system->columnNumber[j] >= 0 ? 1.0f : 0.0f;
        }
    }
}

// Whether any weight of the system has a ceiling.
static bool readBounds(const Solving* s, const srBiharmonicSystem* system, const Numbers* numbers) {
    int32_t columns = system->problem.columnCount;
    bool isBound = false;
    for (int32_t i = 0; i < s->cage->nodeCount && s->isAgain; i++) {
        int64_t to = columns * (int64_t)system->rowOfNode[i], from = s->columnCount * (int64_t)i;
        for (int32_t j = 0; to >= 0 && j < columns; j++) {
            numbers->ceilings[to + j] = (double)s->ceilings[from + system->columns[j]];
            numbers->smooth[to + j] = s->smooth[from + system->columns[j]];
            isBound = isBound || s->ceilings[from + system->columns[j]] < 1.0f;
        }
    }
    return isBound;
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

static srResult solveSystem(const Solving* s, srBiharmonicSystem* system, const srProgress* progress,
                            srSimplexReport* report) {
    size_t count = (size_t)system->rowCount * (size_t)system->problem.columnCount;
    double* block = SR_ALLOC(double, 3 * count);
    if (block == NULL) {
        return srFailOutOfMemory("weights");
    }
    Numbers numbers = {block, block + count, block + 2 * count};
    srResult result = sr_success;
    bool isBound = readBounds(s, system, &numbers);
    if (!s->isAgain) {
        liftCeilings(s, system);
    }
    if (system->problem.columnCount == 1) {
        for (size_t k = 0; k < 2 * count; k++) {
            block[k] = 1.0;
        }
        *report = (srSimplexReport){.isConverged = true};
    } else if (isBound || !s->isAgain) {
        srSimplexReport now;
        system->problem.ceilings = isBound ? numbers.ceilings : NULL;
        system->problem.nearby = isBound ? numbers.smooth : NULL;
        result = srSolveSimplexProblem(&system->problem, s->settings, progress, numbers.weights,
                                       numbers.smooth, &now);
        now.iterationCount += report->iterationCount;
        now.restartCount += report->restartCount;
        *report = now;
    }
    if (result == sr_success && (isBound || !s->isAgain)) {
        writeSolved(s, system, &numbers);
    }
    SR_FREE(block, 3 * count);
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
    for (int32_t piece = 0; piece < s->cage->nodeCount; piece++) {
        if (s->pieces->pieceOfNode[piece] != piece || !s->pieces->isHeard[piece]) {
            continue;
        }
        // nodes are numbered for locality, so a piece's number tells about how far it is
        srProgress part = srPartOfProgress(progress, (double)piece / s->cage->nodeCount, 1.0);
        srBiharmonicSystem system = {0};
        SR_TRY(srCreateBiharmonicSystem(s->cage, s->stiffness, s->rows, s->pieces, piece, s->columnCount,
                                        &system));
        s->reports[piece].isConverged = s->reports[piece].isConverged || system.rowCount == 0;
        srResult result =
            system.rowCount > 0 ? solveSystem(s, &system, &part, &s->reports[piece]) : sr_success;
        srDestroyBiharmonicSystem(&system);
        SR_TRY(result);
        addReport(&s->reports[piece], outReport);
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

// What rises too high where it is solved for is a bound that the problem did not know: it is solved once more
// with it, and again. Should that come to no end, what is left is cut.
static srResult boundPeaks(Solving* s, const srProgress* progress, srBiharmonicReport* report) {
    double rest = PEAK_LIMIT;
    for (; report->solveCount < MOST_ROUNDS; report->solveCount++) {
        // nobody knows how many rounds, so each takes half of what is left
        double from = 1.0 - ldexp(1.0, -report->solveCount), to = 0.5 + 0.5 * from;
        srProgress look = srPartOfProgress(progress, from, 0.9 * from + 0.1 * to);
        srProgress solve = srPartOfProgress(progress, 0.9 * from + 0.1 * to, to);
        // feet go down with their peaks, so each round leaves less
        rest *= ROUND_SHARE;
        const srPeakBounds bounds = {PEAK_LIMIT, rest, s->weights, s->ceilings};
        int32_t peakCount;
        SR_TRY(srBoundPeaks(s->cage, s->rows, s->columnCount, &bounds, &look, &peakCount));
        report->boundCount += report->solveCount == 0 ? peakCount : 0;
        if (peakCount == 0) {
            return sr_success;
        }
        s->isAgain = true;
        SR_TRY(solvePieces(s, &solve, &report->loop));
    }
    srProgress level = srPartOfProgress(progress, 1.0, 1.0);
    return srLevelPeaks(s->cage, s->rows, s->columnCount, PEAK_LIMIT, &level, s->weights, &report->peaks);
}

// ---- the story ----

static srResult solveAll(Solving* s, const srProgress* progress, srBiharmonicReport* report) {
    srProgress first = srPartOfProgress(progress, 0.0, 0.9), rounds = srPartOfProgress(progress, 0.9, 1.0);
    size_t count = (size_t)s->cage->nodeCount * (size_t)s->columnCount;
    writeFixed(s);
    for (size_t k = 0; k < count; k++) {
        s->smooth[k] = 0.0;
        s->ceilings[k] = 1.0f;
    }
    SR_TRY(solvePieces(s, &first, &report->loop));
    SR_TRY(boundPeaks(s, &rounds, report));
    return s->pieces->orphanCount > 0 ? carryOver(s) : sr_success;
}

srResult srSolveBiharmonic(const srCage* cage, const srAnchors* anchors, const srSimplexSettings* settings,
                           const srProgress* progress, const srBiharmonicAnswer* answer,
                           srBiharmonicReport* outReport) {
    srResult result = sr_success;
    srProgress whole = progress != NULL ? *progress : (srProgress){0};
    srProgress matrices = srPartOfProgress(&whole, 0.0, 0.05), loop = srPartOfProgress(&whole, 0.05, 1.0);
    double start = srGetSeconds();
    size_t count = (size_t)cage->nodeCount * (size_t)anchors->columnCount;
    srAnchorRows rows = {0};
    srStiffness stiffness = {0};
    srPieces pieces = {0};
    srBiharmonicReport report = {0};
    double *slopes = NULL, *smooth = NULL;
    float* ceilings = NULL;
    srSimplexReport* reports = NULL;
    SR_TRY_CLEANUP(srCreateAnchorRows(cage, anchors, &rows));
    SR_TRY_CLEANUP(srReportProgress(&matrices, 0.3));
    slopes = SR_ALLOC(double, anchors->columnCount);
    smooth = answer->smooth == NULL ? SR_ALLOC(double, count) : NULL;
    ceilings = answer->ceilings == NULL ? SR_ALLOC(float, count) : NULL;
    reports = SR_ALLOC_ZERO(srSimplexReport, cage->nodeCount);
    if (slopes == NULL || (answer->smooth == NULL && smooth == NULL) ||
        (answer->ceilings == NULL && ceilings == NULL) || reports == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateStiffness(cage, &stiffness));
    SR_TRY_CLEANUP(srCreatePieces(cage, &rows, &pieces));
    SR_TRY_CLEANUP(srReportProgress(&matrices, 1.0));
    report.matrixSeconds = srGetSeconds() - start;
    Solving solving = {.cage = cage,
                       .rows = &rows,
                       .stiffness = &stiffness,
                       .pieces = &pieces,
                       .settings = settings,
                       .columnCount = anchors->columnCount,
                       .weights = answer->weights,
                       .smooth = smooth != NULL ? smooth : answer->smooth,
                       .ceilings = ceilings != NULL ? ceilings : answer->ceilings,
                       .reports = reports};
    SR_TRY_CLEANUP(solveAll(&solving, &loop, &report));
    report.energy = measure(&stiffness, &rows, answer->weights, anchors->columnCount, slopes);
    report.sampleCount = rows.sampleCount;
    report.fixedCount = rows.fixedCount;
    report.outsideCount = rows.outsideCount;
    report.orphanCount = pieces.orphanCount;
    report.loopSeconds = srGetSeconds() - start - report.matrixSeconds;
    *outReport = report;

cleanup:
    SR_FREE(slopes, anchors->columnCount);
    SR_FREE(smooth, count);
    SR_FREE(ceilings, count);
    SR_FREE(reports, cage->nodeCount);
    srDestroyAnchorRows(&rows);
    srDestroyStiffness(&stiffness);
    srDestroyPieces(&pieces);
    return result;
}
