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

// How high above its foot such a peak may be when it is solved for anew: feet move.
#define PEAK_REST (0.8 * PEAK_LIMIT)

// How often the whole is solved once more, with what rose too high as bounds; then it is cut. At first
// roughly: peaks show early, as high as they are at the end to a thousandth.
#define MOST_ROUNDS 12
#define MOST_ROUGH_ROUNDS 8
#define ROUGH_TOLERANCE 3e-3
#define ROUGH_SHARE 0.4 // of progress

// A piece of the cage, and all that it is solved with: row by row of its system.
typedef struct Part {
    srBiharmonicSystem system;
    srSimplexLoop* loop; // null where nothing is to be solved
    int32_t* nodes;      // of rows
    size_t count;
    double *weights, *smooth, *ceilings; // of one block
    double tolerance;                    // that it came to; zero: not yet
    srSimplexReport report;
} Part;

typedef struct Solving {
    const srCage* cage;
    const srAnchorRows* rows;
    const srStiffness* stiffness;
    const srPieces* pieces;
    const srSimplexSettings* settings;
    int32_t columnCount;
    float* weights;
    double* smooth;  // x of the last time, node by node
    float* ceilings; // zero where a piece does not hear a column
    float* past;     // srPeakBounds
    Part* parts;
    int32_t partCount;
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

// Where a weight of the part is among those of the cage.
static int64_t placeOf(const Solving* s, const Part* part, size_t k) {
    size_t columns = (size_t)part->system.problem.columnCount;
    return s->columnCount * (int64_t)part->nodes[k / columns] + part->system.columns[k % columns];
}

static void writeSolved(const Solving* s, const Part* part) {
    for (size_t k = 0; k < part->count; k++) {
        int64_t to = placeOf(s, part, k);
        s->weights[to] = (float)part->weights[k];
        s->smooth[to] = part->smooth[k];
    }
}

// What is not heard leaves no room to the others.
static void liftCeilings(const Solving* s, const Part* part) {
    for (int32_t r = 0; r < part->system.rowCount; r++) {
        float* row = s->ceilings + s->columnCount * (int64_t)part->nodes[r];
        for (int32_t j = 0; j < s->columnCount; j++) {
            row[j] = part->system.columnNumber[j] >= 0 ? 1.0f : 0.0f;
        }
    }
}

// Whether any is another than it was.
static bool readBounds(const Solving* s, Part* part) {
    bool areNew = false;
    for (size_t k = 0; k < part->count; k++) {
        double ceiling = (double)s->ceilings[placeOf(s, part, k)];
        areNew = areNew || ceiling != part->ceilings[k];
        part->ceilings[k] = ceiling;
    }
    return areNew;
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

static void destroyParts(Solving* s) {
    for (Part* part = s->parts; part < s->parts + s->partCount; part++) {
        srDestroySimplexLoop(part->loop);
        SR_FREE(part->weights, 3 * part->count);
        SR_FREE(part->nodes, part->system.rowCount);
        srDestroyBiharmonicSystem(&part->system);
    }
    SR_FREE(s->parts, s->partCount);
}

static srResult createPart(const Solving* s, int32_t piece, const srProgress* progress, Part* part) {
    srBiharmonicSystem* system = &part->system;
    SR_TRY(
        srCreateBiharmonicSystem(s->cage, s->stiffness, s->rows, s->pieces, piece, s->columnCount, system));
    part->report.isConverged = true;
    part->count = (size_t)system->rowCount * (size_t)system->problem.columnCount;
    if (part->count == 0) {
        return sr_success;
    }
    part->nodes = SR_ALLOC(int32_t, system->rowCount);
    part->weights = SR_ALLOC(double, 3 * part->count);
    if (part->nodes == NULL || part->weights == NULL) {
        return srFailOutOfMemory("weights");
    }
    srTakeNodes(system, part->nodes);
    liftCeilings(s, part);
    part->smooth = part->weights + part->count;
    part->ceilings = part->smooth + part->count;
    for (size_t k = 0; k < 3 * part->count; k++) {
        part->weights[k] = 1.0;
    }
    if (system->problem.columnCount > 1) {
        return srCreateSimplexLoop(&system->problem, progress, &part->loop);
    }
    writeSolved(s, part);
    return sr_success;
}

static srResult createParts(Solving* s, const srProgress* progress) {
    int32_t heardCount = 0, n = s->cage->nodeCount;
    for (int32_t piece = 0; piece < n; piece++) {
        heardCount += s->pieces->pieceOfNode[piece] == piece && s->pieces->isHeard[piece];
    }
    if (heardCount == 0) {
        return sr_success;
    }
    s->parts = SR_ALLOC_ZERO(Part, heardCount);
    if (s->parts == NULL) {
        return srFailOutOfMemory("weights");
    }
    s->partCount = heardCount;
    Part* part = s->parts;
    for (int32_t piece = 0; piece < n; piece++) {
        // nodes are numbered for locality, so a piece's number tells about how far it is
        srProgress mine = srPartOfProgress(progress, (double)piece / n, 1.0);
        if (s->pieces->pieceOfNode[piece] == piece && s->pieces->isHeard[piece]) {
            SR_TRY(createPart(s, piece, &mine, part++));
        }
    }
    return sr_success;
}

static srResult solvePart(const Solving* s, Part* part, const srSimplexSettings* settings, bool isRough,
                          const srProgress* progress) {
    bool areNew = readBounds(s, part) || part->tolerance == 0.0;
    srSimplexTurn turn = {part->ceilings, areNew, isRough};
    if (part->loop == NULL || (!areNew && part->tolerance <= settings->tolerance)) {
        return sr_success; // it is there
    }
    srSimplexAnswer answer = {.weights = part->weights, .smooth = part->smooth};
    SR_TRY(srSimplexLoop_Solve(part->loop, settings, &turn, progress, &answer));
    answer.report.iterationCount += part->report.iterationCount;
    answer.report.restartCount += part->report.restartCount;
    part->report = answer.report;
    part->tolerance = settings->tolerance;
    writeSolved(s, part);
    return sr_success;
}

static srResult solveParts(const Solving* s, const srSimplexSettings* settings, bool isRough,
                           const srProgress* progress) {
    for (int32_t k = 0; k < s->partCount; k++) {
        srProgress mine = srPartOfProgress(progress, (double)k / s->partCount, (k + 1.0) / s->partCount);
        SR_TRY(solvePart(s, &s->parts[k], settings, isRough, &mine));
    }
    return sr_success;
}

// the worst of all
static void addReport(const srSimplexReport* from, srSimplexReport* to) {
    to->iterationCount =
        from->iterationCount > to->iterationCount ? from->iterationCount : to->iterationCount;
    to->restartCount += from->restartCount;
    to->primalResidual = fmax(to->primalResidual, from->primalResidual);
    to->dualResidual = fmax(to->dualResidual, from->dualResidual);
    to->isConverged = to->isConverged && from->isConverged;
    to->isDouble = to->isDouble || from->isDouble;
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
// with it, and again. Ends where `settings` are met and no peak is left, or after so many rounds.
static srResult solveRounds(const Solving* s, const srSimplexSettings* settings, bool isRough,
                            const srProgress* progress, srBiharmonicReport* report) {
    int32_t mostRounds = isRough ? MOST_ROUGH_ROUNDS : MOST_ROUNDS;
    const srPeakBounds bounds = {PEAK_LIMIT, PEAK_REST, s->weights, s->ceilings, s->past};
    for (int32_t peakCount = 1, round = 0; peakCount > 0; round++) {
        // nobody knows how many rounds, so each takes half of what is left
        double from = 1.0 - ldexp(1.0, -round), to = 0.5 + 0.5 * from;
        srProgress solve = srPartOfProgress(progress, from, 0.1 * from + 0.9 * to);
        srProgress look = srPartOfProgress(progress, 0.1 * from + 0.9 * to, to);
        SR_TRY(solveParts(s, settings, isRough, &solve));
        if (report->solveCount >= mostRounds) {
            break;
        }
        SR_TRY(srBoundPeaks(s->cage, s->rows, s->columnCount, &bounds, &look, &peakCount));
        report->boundCount = report->boundCount > 0 ? report->boundCount : peakCount;
        report->solveCount += peakCount > 0;
    }
    return sr_success;
}

// Roughly, then to the end. Should bounds come to none, what is left is levelled.
static srResult solveAll(const Solving* s, const srProgress* progress, srBiharmonicReport* report) {
    srProgress roughly = srPartOfProgress(progress, 0.0, ROUGH_SHARE);
    srProgress fully = srPartOfProgress(progress, ROUGH_SHARE, 1.0),
               level = srPartOfProgress(progress, 1.0, 1.0);
    srSimplexSettings rough = *s->settings;
    rough.tolerance = ROUGH_TOLERANCE;
    if (s->settings->tolerance < rough.tolerance) {
        SR_TRY(solveRounds(s, &rough, true, &roughly, report));
    }
    SR_TRY(solveRounds(s, s->settings, false, &fully, report));
    return srLevelPeaks(s->cage, s->rows, s->columnCount, PEAK_LIMIT, &level, s->weights, &report->peaks);
}

// ---- the story ----

static srResult weigh(Solving* s, const srProgress* progress, srBiharmonicReport* report) {
    srProgress factors = srPartOfProgress(progress, 0.0, 0.2), rounds = srPartOfProgress(progress, 0.2, 1.0);
    size_t count = (size_t)s->cage->nodeCount * (size_t)s->columnCount;
    writeFixed(s);
    for (size_t k = 0; k < count; k++) {
        s->smooth[k] = 0.0;
        s->ceilings[k] = 1.0f;
    }
    SR_TRY(createParts(s, &factors));
    SR_TRY(solveAll(s, &rounds, report));
    report->loop.isConverged = true;
    for (int32_t k = 0; k < s->partCount; k++) {
        addReport(&s->parts[k].report, &report->loop);
    }
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
    float *ceilings = NULL, *past = NULL;
    Solving solving = {0};
    SR_TRY_CLEANUP(srCreateAnchorRows(cage, anchors, &rows));
    SR_TRY_CLEANUP(srReportProgress(&matrices, 0.3));
    slopes = SR_ALLOC(double, anchors->columnCount);
    smooth = answer->smooth == NULL ? SR_ALLOC(double, count) : NULL;
    ceilings = answer->ceilings == NULL ? SR_ALLOC(float, count) : NULL;
    past = SR_ALLOC_ZERO(float, 2 * count);
    if (slopes == NULL || (answer->smooth == NULL && smooth == NULL) ||
        (answer->ceilings == NULL && ceilings == NULL) || past == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateStiffness(cage, &stiffness));
    SR_TRY_CLEANUP(srCreatePieces(cage, &rows, &pieces));
    SR_TRY_CLEANUP(srReportProgress(&matrices, 1.0));
    report.matrixSeconds = srGetSeconds() - start;
    solving = (Solving){.cage = cage,
                        .rows = &rows,
                        .stiffness = &stiffness,
                        .pieces = &pieces,
                        .settings = settings,
                        .columnCount = anchors->columnCount,
                        .weights = answer->weights,
                        .smooth = smooth != NULL ? smooth : answer->smooth,
                        .ceilings = ceilings != NULL ? ceilings : answer->ceilings,
                        .past = past};
    SR_TRY_CLEANUP(weigh(&solving, &loop, &report));
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
    SR_FREE(past, 2 * count);
    destroyParts(&solving);
    srDestroyAnchorRows(&rows);
    srDestroyStiffness(&stiffness);
    srDestroyPieces(&pieces);
    return result;
}
