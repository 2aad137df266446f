// SPDX-License-Identifier: GPL-3.0-or-later
//
// One case in a process of its own, through the public door.

#include "corpus/corpus.h"

#include "softrig/softrig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// What preparing may take of a processor before it counts as hanging: far above what any case needs, also
// under a sanitizer. And of time, for one that waits for nothing
#define CPU_LIMIT_SECONDS 60
#define WALL_LIMIT_SECONDS 600

static const char* const outcomeNames[sr_outcomeCount] = {"fits",  "misfits", "no inside", "refused",
                                                          "crash", "hang",    "leak"};

const char* srGetOutcomeName(srOutcome outcome) {
    return outcomeNames[outcome];
}

// A cage as it was read from the library.
typedef struct srReadCage {
    float* nodes;
    int32_t* cells;
    int32_t nodeCount;
    int32_t cellCount;
} srReadCage;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void limitTime(rlim_t cpuSeconds, unsigned wallSeconds) {
    struct rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = cpuSeconds;
    setrlimit(RLIMIT_CPU, &limit);
    alarm(wallSeconds);
}

static srResult readCage(srCharacterId id, srReadCage* cage) {
    srCharacterReport report;
    srResult result = srCharacter_GetReport(id, &report);
    if (result != sr_success) {
        return result;
    }
    cage->nodeCount = report.nodeCount;
    cage->cellCount = report.cellCount;
    cage->nodes = srCorpusAlloc(NULL, report.nodeCount, 3 * sizeof(float));
    cage->cells = srCorpusAlloc(NULL, report.cellCount, 4 * sizeof(int32_t));
    return srCharacter_ReadCage(id, cage->nodes, cage->nodeCount, cage->cells, cage->cellCount);
}

static srResult prepare(const srCase* testCase, srReadCage* cage, srVerdict* verdict) {
    srCharacterDef def = srDefaultCharacterDef();
    def.skinPositions = testCase->patient.skin.points;
    def.skinVertexCount = testCase->patient.skin.pointCount;
    def.skinTriangles = testCase->patient.skin.triangles;
    def.skinTriangleCount = testCase->patient.skin.triangleCount;
    def.targetNodeCount = testCase->wantedNodes;
    srCharacterId id = {0};
    double start = now(CLOCK_MONOTONIC);
    srResult result = srCreateCharacter(&def, &id);
    if (result == sr_success) {
        result = srCharacter_Wait(id, -1.0);
    }
    verdict->seconds = now(CLOCK_MONOTONIC) - start;
    verdict->cpuSeconds = now(CLOCK_PROCESS_CPUTIME_ID);
    if (result == sr_success) {
        result = readCage(id, cage);
    }
    snprintf(verdict->text, sizeof(verdict->text), "%s: %.150s", srGetResultName(result), srGetErrorText());
    srDestroyCharacter(id);
    return result;
}

static void judgeCage(const srCase* testCase, const srReadCage* cage, srVerdict* verdict) {
    const srPatient* patient = &testCase->patient;
    const srFitGoal goal = {
        .skin = &patient->skin,
        .repaired = &patient->repaired,
        .widest = patient->widest.triangleCount > 0 ? &patient->widest : NULL,
        .wantedNodes = testCase->wantedNodes,
        .aparts = testCase->aparts,
        .leastPaths = testCase->leastPaths,
        .apartCount = testCase->apartCount,
    };
    bool fits = srJudgeFit(cage->nodes, cage->nodeCount, cage->cells, cage->cellCount, &goal,
                           &testCase->limits, &verdict->fit);
    verdict->outcome = fits ? sr_outcomeFits : sr_outcomeMisfits;
    srDescribeMisfits(verdict->fit.misfits, verdict->text, sizeof(verdict->text));
}

static void runHere(const srCase* testCase, srVerdict* verdict) {
    srReadCage cage = {0};
    srResult result = srSetWorkerCount(1);
    if (result == sr_success) {
        result = prepare(testCase, &cage, verdict);
    }
    srShutdown();
    size_t held = srGetByteCount();
    limitTime(RLIM_INFINITY, 0);
    if (held != 0) {
        verdict->outcome = sr_outcomeLeak;
        snprintf(verdict->text, sizeof(verdict->text), "%zu bytes are held", held);
    } else if (result == sr_success) {
        judgeCage(testCase, &cage, verdict);
    } else {
        bool isNothing = result == sr_errorNoInside ||
                         (result == sr_errorBadMesh && testCase->expectation == sr_expectNothing);
        verdict->outcome = isNothing ? sr_outcomeNoInside : sr_outcomeRefused;
    }
    free(cage.nodes);
    free(cage.cells);
}

static void explainEnd(int status, srVerdict* verdict) {
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    verdict->outcome = number == SIGXCPU || number == SIGALRM ? sr_outcomeHang : sr_outcomeCrash;
    snprintf(verdict->text, sizeof(verdict->text), "ended by signal %d, exit code %d", number,
             WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

static bool isExpected(const srCase* testCase, srOutcome outcome) {
    return (outcome == sr_outcomeFits && testCase->expectation != sr_expectNothing) ||
           (outcome == sr_outcomeNoInside && testCase->expectation != sr_expectFit);
}

srVerdict srRunApart(srCaseFcn* body, const srCase* testCase, int32_t cpuSeconds) {
    srVerdict verdict = {.outcome = sr_outcomeCrash};
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) {
        perror("corpus");
        exit(2);
    }
    pid_t child = fork();
    if (child < 0) {
        perror("corpus");
        exit(2);
    }
    if (child == 0) {
        close(ends[0]);
        limitTime((rlim_t)cpuSeconds, WALL_LIMIT_SECONDS);
        body(testCase, &verdict);

        // less than a pipe holds, so this never waits
        _exit(write(ends[1], &verdict, sizeof(verdict)) == (ssize_t)sizeof(verdict) ? 0 : 3);
    }
    close(ends[1]);
    int status = 0;
    waitpid(child, &status, 0);
    if (read(ends[0], &verdict, sizeof(verdict)) != (ssize_t)sizeof(verdict)) {
        explainEnd(status, &verdict);
    }
    close(ends[0]);
    verdict.isAsExpected = isExpected(testCase, verdict.outcome);
    return verdict;
}

srVerdict srRunCase(const srCase* testCase) {
    return srRunApart(runHere, testCase, CPU_LIMIT_SECONDS);
}
