// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every mesh becomes a cage that fits, or is told to have no inside: the whole corpus, and a folder of
// meshes. bench_corpus [--data DIR] [--only WORDS] [--seeds N] [--list] [--json]: --list has a line a case on
// stderr, those that are not as expected have one anyway; --only runs cases with WORDS in their names;
// --seeds has damages of the seeds from N on, 0 for those of the corpus. bench_corpus --export DIR writes the
// clean shapes as OBJ files.

#include "report.h"

#include "corpus/corpus.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    maxGroups = 64,
    familyCount = 4
};

// What cases of one kind of damage, or of one family, have in common.
typedef struct srGroup {
    char nameBytes[32];
    int32_t caseCount;
    int32_t fineCount;
    int32_t outcomes[sr_outcomeCount];
    double leastVolume, mostVolume, outside, missing, leastNodes, mostNodes, slowest;
    double smallestAngle, largestAngle, worstAspect;
    int64_t angles[srAngleBins], aspects[srAspectBins];
} srGroup;

typedef struct srTally {
    srGroup groups[maxGroups];
    int32_t groupCount;
    srGroup families[familyCount];
    srGroup whole;
    const char* only;  // words that the names of cases hold; null is all cases
    int32_t firstSeed; // of damages
    bool isListed;
} srTally;

static srGroup startGroup(const char* name) {
    srGroup group = {.leastVolume = HUGE_VAL, .leastNodes = HUGE_VAL, .smallestAngle = 180.0};
    snprintf(group.nameBytes, sizeof(group.nameBytes), "%.31s", name);
    return group;
}

static void addToGroup(srGroup* group, const srCase* made, const srVerdict* verdict) {
    const srFitReport* fit = &verdict->fit;
    group->caseCount++;
    group->fineCount += verdict->isAsExpected;
    group->outcomes[verdict->outcome]++;
    group->slowest = fmax(group->slowest, verdict->cpuSeconds);
    if (verdict->outcome != sr_outcomeFits && verdict->outcome != sr_outcomeMisfits) {
        return;
    }
    double nodes = fit->nodeCount / (double)made->wantedNodes;
    group->leastVolume = fmin(group->leastVolume, fit->volumeRatio);
    group->mostVolume = fmax(group->mostVolume, fit->volumeRatio);
    group->outside = fmax(group->outside, fit->outsideCells / made->limits.mostCells);
    group->missing = fmax(group->missing, fit->missingCells / made->limits.mostCells);
    group->leastNodes = fmin(group->leastNodes, nodes);
    group->mostNodes = fmax(group->mostNodes, nodes);
    group->smallestAngle = fmin(group->smallestAngle, fit->smallestAngleDegrees);
    group->largestAngle = fmax(group->largestAngle, fit->largestAngleDegrees);
    group->worstAspect = fmax(group->worstAspect, fit->worstAspect);
    for (int i = 0; i < srAngleBins; i++) {
        group->angles[i] += fit->angles[i];
    }
    for (int i = 0; i < srAspectBins; i++) {
        group->aspects[i] += fit->aspects[i];
    }
}

static srGroup* findGroup(srTally* tally, const char* name) {
    for (int32_t i = 0; i < tally->groupCount; i++) {
        if (strcmp(tally->groups[i].nameBytes, name) == 0) {
            return &tally->groups[i];
        }
    }
    if (tally->groupCount == maxGroups) {
        return &tally->groups[maxGroups - 1];
    }
    tally->groups[tally->groupCount] = startGroup(name);
    return &tally->groups[tally->groupCount++];
}

static void listCase(const srCase* made, const srVerdict* verdict) {
    const srFitReport* fit = &verdict->fit;
    fprintf(stderr,
            "%-4s %-48s %-9s nodes %5d/%-5d volume %5.3f out %5.2f miss %5.2f path %5.2f angles %5.1f-%5.1f "
            "%5.2f s  %s\n",
            verdict->isAsExpected ? "ok" : "BAD", made->name, srGetOutcomeName(verdict->outcome),
            fit->nodeCount, made->wantedNodes, fit->volumeRatio, fit->outsideCells, fit->missingCells,
            fit->shortestPath, fit->smallestAngleDegrees, fit->largestAngleDegrees, verdict->cpuSeconds,
            verdict->outcome == sr_outcomeFits ? "" : verdict->text);
}

static void runOne(srTally* tally, srCase* made) {
    if (tally->only != NULL && strstr(made->name, tally->only) == NULL) {
        srDestroyCase(made);
        return;
    }
    srVerdict verdict = srRunCase(made);
    const char* group = made->family == sr_familyFile ? made->name : made->damage;
    addToGroup(findGroup(tally, group), made, &verdict);
    addToGroup(&tally->families[made->family], made, &verdict);
    addToGroup(&tally->whole, made, &verdict);
    if (tally->isListed || !verdict.isAsExpected) {
        listCase(made, &verdict);
    }
    srDestroyCase(made);
}

static int compareNames(const void* a, const void* b) {
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static bool hasEnding(const char* name, const char* ending) {
    size_t length = strlen(name), endingLength = strlen(ending);
    return length > endingLength && strcmp(name + length - endingLength, ending) == 0;
}

static void runFolder(srTally* tally, const char* folder) {
    DIR* directory = opendir(folder);
    char* names[1024];
    int32_t count = 0;
    if (directory == NULL) {
        fprintf(stderr, "bench_corpus: %s is not there: its meshes are skipped.\n", folder);
        return;
    }
    for (struct dirent* entry = readdir(directory); entry != NULL && count < 1024;
         entry = readdir(directory)) {
        if (hasEnding(entry->d_name, ".obj") || hasEnding(entry->d_name, ".off")) {
            size_t size = strlen(folder) + strlen(entry->d_name) + 2;
            names[count] = srCorpusAlloc(NULL, (int64_t)size, 1);
            snprintf(names[count++], size, "%s/%s", folder, entry->d_name);
        }
    }
    closedir(directory);
    qsort(names, (size_t)count, sizeof(names[0]), compareNames);
    for (int32_t i = 0; i < count; i++) {
        srCase made;
        if (srMakeFileCase(names[i], &made)) {
            runOne(tally, &made);
        }
        free(names[i]);
    }
}

static void reportGroup(srBenchReport* report, const srGroup* group) {
    const char* name = group->nameBytes;
    char goal[32];
    snprintf(goal, sizeof(goal), "== %d", group->caseCount);
    srBench_Add(report, name, "as expected", group->fineCount, "cases", goal);
    for (int o = sr_outcomeMisfits; o < sr_outcomeCount; o++) {
        if (group->outcomes[o] > 0) {
            srBench_Add(report, name, srGetOutcomeName(o), group->outcomes[o], "cases", NULL);
        }
    }
    if (group->outcomes[sr_outcomeFits] + group->outcomes[sr_outcomeMisfits] == 0) {
        return;
    }
    srBench_Add(report, name, "volume, least of what is inside", group->leastVolume, "", ">= 0.97");
    srBench_Add(report, name, "volume, most of what may be", group->mostVolume, "", "<= 1.3");
    srBench_Add(report, name, "boundary from skin, furthest, of the limit", group->outside, "", "<= 1");
    srBench_Add(report, name, "skin from boundary, furthest, of the limit", group->missing, "", "<= 1");
    srBench_Add(report, name, "nodes of wanted, least", group->leastNodes, "", ">= 0.6");
    srBench_Add(report, name, "nodes of wanted, most", group->mostNodes, "", NULL);
    srBench_Add(report, name, "smallest dihedral angle", group->smallestAngle, "degrees", NULL);
    srBench_Add(report, name, "largest dihedral angle", group->largestAngle, "degrees", NULL);
    srBench_Add(report, name, "worst aspect", group->worstAspect, "", NULL);
    srBench_Add(report, name, "slowest, of a processor", group->slowest, "s", "<= 4");
}

static void reportHistograms(srBenchReport* report, const srGroup* whole) {
    static const double ends[srAspectBins] = {1.5, 2, 3, 4, 6, 8, 12, 16, 32, HUGE_VAL};
    double angles = 0.0, aspects = 0.0;
    for (int i = 0; i < srAngleBins; i++) {
        angles += (double)whole->angles[i];
    }
    for (int i = 0; i < srAspectBins; i++) {
        aspects += (double)whole->aspects[i];
    }
    for (int i = 0; i < srAngleBins; i++) {
        char metric[64];
        snprintf(metric, sizeof(metric), "dihedral angles from %d to %d", 10 * i, 10 * i + 10);
        srBench_Add(report, "all cages", metric, 100.0 * (double)whole->angles[i] / angles, "%", NULL);
    }
    for (int i = 0; i < srAspectBins; i++) {
        char metric[64];
        snprintf(metric, sizeof(metric), "aspect ratios up to %g", ends[i]);
        srBench_Add(report, "all cages", metric, 100.0 * (double)whole->aspects[i] / aspects, "%", NULL);
    }
}

// Takes out what the report does not know.
static const char* takeOptions(int* argc, char** argv, srTally* tally, const char* folder) {
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--data") == 0 && i + 1 < *argc) {
            folder = argv[++i];
        } else if (strcmp(argv[i], "--list") == 0) {
            tally->isListed = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < *argc) {
            tally->only = argv[++i];
        } else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < *argc) {
            tally->firstSeed = (int32_t)strtol(argv[++i], NULL, 10);
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    return folder;
}

int main(int argc, char** argv) {
    static const char* const families[familyCount] = {"clean shapes", "nothing inside", "damaged meshes",
                                                      "files"};
    if (argc == 3 && strcmp(argv[1], "--export") == 0) {
        return srExportShapes(argv[2]) ? 0 : 1;
    }
    srTally* tally = calloc(1, sizeof(srTally));
    if (tally == NULL) {
        return 2;
    }
    const char* folder = takeOptions(&argc, argv, tally, SR_DATA_FOLDER);
    srBenchReport* report = srBench_Open(argc, argv, "corpus");
    if (report == NULL) {
        free(tally);
        return srBench_Close(report);
    }
    tally->whole = startGroup("everything");
    for (int f = 0; f < familyCount; f++) {
        tally->families[f] = startGroup(families[f]);
    }
    runFolder(tally, folder);
    for (int32_t i = 0; i < srCountCases(); i++) {
        srCase made = srMakeCaseOf(i, tally->firstSeed);
        runOne(tally, &made);
    }
    for (int32_t g = 0; g < tally->groupCount; g++) {
        reportGroup(report, &tally->groups[g]);
    }
    for (int f = 0; f < familyCount; f++) {
        if (tally->families[f].caseCount > 0) {
            reportGroup(report, &tally->families[f]);
        }
    }
    reportGroup(report, &tally->whole);
    reportHistograms(report, &tally->whole);
    free(tally);
    return srBench_Close(report);
}
