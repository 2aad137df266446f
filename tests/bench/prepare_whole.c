// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sixty bones along a bumpy body; meshes of a folder have none.

#include "prepare_whole.h"

#include "core/hash.h"
#include "core/thread.h"
#include "softrig/softrig.h"

#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PI 3.14159265358979323846

enum {
    boneCount = 60,
    nodeTarget = 4000,
    workerCount = 2,
    cancelCount = 12,
    openCount = 20
};

// A skin with its rig; all arrays are its own.
typedef struct Body {
    srCharacterDef def;
    float* points;
    int32_t* triangles;
    int32_t* starts;
    int32_t* bones;
    float* weights;
    float* rests;
    float* lengths;
    int32_t* parents;
    float placement[16];
} Body;

static const float IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

// a vertex of a bumpy body along z, and its two bones
static void setVertex(Body* body, int32_t v, double theta, double phi) {
    double radius = 1.0 + 0.35 * sin(3.0 * theta) * cos(2.0 * phi);
    double at = (boneCount - 1.001) * theta / PI;
    int32_t bone = (int32_t)at;
    body->points[3 * v] = (float)(radius * sin(theta) * cos(phi));
    body->points[3 * v + 1] = (float)(radius * sin(theta) * sin(phi));
    body->points[3 * v + 2] = (float)(1.5 * radius * cos(theta));
    body->starts[v] = 2 * v;
    body->bones[2 * v] = bone;
    body->bones[2 * v + 1] = bone + 1;
    body->weights[2 * v] = (float)(1.0 - (at - bone));
    body->weights[2 * v + 1] = (float)(at - bone);
}

static void addTriangle(Body* body, int32_t a, int32_t b, int32_t c) {
    int32_t* corners = body->triangles + 3 * body->def.skinTriangleCount++;
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
}

static void fillSkin(Body* body, int32_t around, int32_t rings) {
    int32_t south = around * rings + 1;
    setVertex(body, 0, 0.0, 0.0);
    setVertex(body, south, PI, 0.0);
    body->starts[south + 1] = 2 * (south + 1);
    for (int32_t i = 0; i < around * rings; i++) {
        setVertex(body, 1 + i, PI * (i / around + 1) / (rings + 1), 2.0 * PI * (i % around) / around);
    }
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, last = 1 + (rings - 1) * around;
        addTriangle(body, 0, 1 + i, 1 + next);
        addTriangle(body, south, last + next, last + i);
        for (int32_t a = 1; a < last; a += around) {
            addTriangle(body, a + i, a + around + i, a + around + next);
            addTriangle(body, a + i, a + around + next, a + next);
        }
    }
}

static void fillBones(Body* body) {
    for (int32_t k = 0; k < boneCount; k++) {
        memcpy(body->rests + 16 * k, IDENTITY, sizeof(IDENTITY));
        body->rests[16 * k + 14] = 1.5f - 3.0f * (float)k / boneCount;
        body->lengths[k] = 3.0f / boneCount;
        body->parents[k] = k - 1;
    }
    memcpy(body->placement, IDENTITY, sizeof(IDENTITY));
}

static Body makeBody(int32_t triangleCount) {
    Body body = {.def = srDefaultCharacterDef()};
    int32_t rings = (int32_t)sqrt(triangleCount / 4.0), around = 2 * rings;
    size_t count = (size_t)around * (size_t)rings + 2;
    body.points = malloc(3 * count * sizeof(float));
    body.triangles = malloc(6 * count * sizeof(int32_t));
    body.starts = malloc((count + 1) * sizeof(int32_t));
    body.bones = malloc(2 * count * sizeof(int32_t));
    body.weights = malloc(2 * count * sizeof(float));
    body.rests = malloc(16 * boneCount * sizeof(float));
    body.lengths = malloc(boneCount * sizeof(float));
    body.parents = malloc(boneCount * sizeof(int32_t));
    fillSkin(&body, around, rings);
    fillBones(&body);
    body.def.skinPositions = body.points;
    body.def.skinVertexCount = (int32_t)count;
    body.def.skinTriangles = body.triangles;
    body.def.weightStarts = body.starts;
    body.def.weightBones = body.bones;
    body.def.weightValues = body.weights;
    body.def.boneCount = boneCount;
    body.def.boneRests = body.rests;
    body.def.boneLengths = body.lengths;
    body.def.boneParents = body.parents;
    body.def.spaceCount = 1;
    body.def.targetNodeCount = nodeTarget;
    return body;
}

static void freeBody(Body* body) {
    free(body->points);
    free(body->triangles);
    free(body->starts);
    free(body->bones);
    free(body->weights);
    free(body->rests);
    free(body->lengths);
    free(body->parents);
}

static srResult prepare(const srCharacterDef* def, srCharacterId* outCharacter,
                        srCharacterReport* outReport) {
    srResult result = srCreateCharacter(def, outCharacter);
    result = result == sr_success ? srCharacter_Wait(*outCharacter, -1.0) : result;
    return result == sr_success ? srCharacter_GetReport(*outCharacter, outReport) : result;
}

// What a busy machine does not add to but for what its cores share.
static double processorSeconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint8_t* storeCharacter(srCharacterId character, size_t* outSize) {
    check(srCharacter_GetFileSize(character, outSize));
    uint8_t* bytes = malloc(*outSize);
    check(srCharacter_WriteFile(character, bytes, *outSize));
    return bytes;
}

static uint64_t hashOnWorkers(const srCharacterDef* def, int32_t workers) {
    srCharacterId character;
    srCharacterReport found;
    size_t size;
    check(srSetWorkerCount(workers));
    check(prepare(def, &character, &found));
    uint8_t* bytes = storeCharacter(character, &size);
    uint64_t hash = srHashBlock(bytes, size);
    free(bytes);
    check(srDestroyCharacter(character));
    return hash;
}

typedef struct Cancelling {
    double longest; // until destroying has cancelled and is back
    double lasting; // until the work that is left behind has ended, too
    int32_t count;  // of those that were early enough
} Cancelling;

// at moments all over the way
static Cancelling tryCancelling(const srCharacterDef* def, double wholeSeconds) {
    Cancelling found = {0};
    for (int i = 0; i < cancelCount; i++) {
        srCharacterId character;
        check(srCreateCharacter(def, &character));
        srResult early = srCharacter_Wait(character, wholeSeconds * (i + 0.5) / cancelCount);
        double start = srGetSeconds();
        check(srDestroyCharacter(character));
        double seconds = srGetSeconds() - start;
        if (srGetByteCount() != 0) {
            fprintf(stderr, "A cancelled character holds memory.\n");
            exit(1);
        }
        if (early == sr_errorNotReady) {
            found.longest = fmax(found.longest, seconds);
            found.lasting = fmax(found.lasting, srGetSeconds() - start);
            found.count++;
        }
    }
    return found;
}

static void benchCancelling(srBenchReport* report, const char* caseName, const srCharacterDef* def,
                            double wholeSeconds) {
    Cancelling found = tryCancelling(def, wholeSeconds);
    srBench_Add(report, caseName, "cancelled on the way", found.count, "times", NULL);
    srBench_Add(report, caseName, "longest cancel", 1e3 * found.longest, "ms", "<= 50");
    srBench_Add(report, caseName, "longest until the work has ended", 1e3 * found.lasting, "ms", NULL);
}

// cages so large that single steps, like a factorisation, take longer than anybody shall wait
static void benchCancellingLarge(srBenchReport* report) {
    static const int32_t nodeCounts[] = {20000, 50000};
    for (int i = 0; i < 2; i++) {
        Body body = makeBody(30000);
        body.def.spaceToSkin = body.placement;
        body.def.targetNodeCount = nodeCounts[i];
        char caseName[64];
        snprintf(caseName, sizeof(caseName), "character 30k, %d nodes", nodeCounts[i]);
        srCharacterId character;
        srCharacterReport found;
        check(prepare(&body.def, &character, &found));
        check(srDestroyCharacter(character));
        srBench_Add(report, caseName, "whole, 60 bones, 2 workers", (double)found.totalSeconds, "s", NULL);
        srBench_Add(report, caseName, "most memory", (double)found.peakMegabytes, "MB", "< 1000");
        benchCancelling(report, caseName, &body.def, (double)found.totalSeconds);
        freeBody(&body);
    }
}

// what a node costs: with the largest cage that may be asked for, beside smaller ones
static void benchMemory(srBenchReport* report) {
    static const int32_t nodeCounts[] = {1000, 4000, 20000, 50000, 100000, 200000};
    for (size_t i = 0; i < sizeof(nodeCounts) / sizeof(nodeCounts[0]); i++) {
        Body body = makeBody(30000);
        body.def.spaceToSkin = body.placement;
        body.def.targetNodeCount = nodeCounts[i];
        char caseName[64];
        snprintf(caseName, sizeof(caseName), "memory, %d nodes", nodeCounts[i]);
        srCharacterId character;
        srCharacterReport found;
        check(prepare(&body.def, &character, &found));
        double held = 1e-6 * (double)srGetByteCount(), most = (double)found.peakMegabytes;
        check(srDestroyCharacter(character));
        srBench_Add(report, caseName, "whole, 60 bones, 2 workers", (double)found.totalSeconds, "s", NULL);
        srBench_Add(report, caseName, "most memory", most, "MB", NULL);
        srBench_Add(report, caseName, "most memory, a node", 1e3 * most / found.nodeCount, "kB", NULL);
        srBench_Add(report, caseName, "held when it is ready", held, "MB", NULL);
        freeBody(&body);
    }
}

static void benchFile(srBenchReport* report, const char* caseName, srCharacterId character) {
    size_t size;
    uint8_t* bytes = storeCharacter(character, &size);
    double write = HUGE_VAL, open = HUGE_VAL;
    for (int run = 0; run < openCount; run++) {
        srCharacterId opened;
        double start = srGetSeconds();
        check(srCharacter_WriteFile(character, bytes, size));
        write = fmin(write, srGetSeconds() - start);
        start = srGetSeconds();
        check(srOpenCharacter(bytes, size, &opened));
        open = fmin(open, srGetSeconds() - start);
        check(srDestroyCharacter(opened));
    }
    free(bytes);
    srBench_Add(report, caseName, "stored character", 1e-6 * (double)size, "MB", NULL);
    srBench_Add(report, caseName, "storing", 1e3 * write, "ms", NULL);
    srBench_Add(report, caseName, "opening", 1e3 * open, "ms", "<= 5");
}

static void addStages(srBenchReport* report, const char* caseName, const srCharacterReport* found) {
    const struct {
        const char* name;
        float seconds;
    } stages[] = {{"surface", found->surfaceSeconds},
                  {"cage", found->cageSeconds},
                  {"embedding", found->embeddingSeconds},
                  {"weights", found->weightsSeconds},
                  {"hold map and body", found->holdSeconds}};
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        char metric[64];
        snprintf(metric, sizeof(metric), "whole, of it %s", stages[i].name);
        srBench_Add(report, caseName, metric, (double)stages[i].seconds, "s", NULL);
    }
    srBench_Add(report, caseName, "nodes", found->nodeCount, "", NULL);
    srBench_Add(report, caseName, "most memory", (double)found->peakMegabytes, "MB", "< 1000");
}

void srBenchWhole(srBenchReport* report) {
    static const struct {
        int32_t triangles;
        const char* goal;
    } sizes[] = {{3000, NULL}, {30000, "<= 1"}, {100000, NULL}, {300000, "<= 4"}};
    double unit = 0.0;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        Body body = makeBody(sizes[s].triangles);
        body.def.spaceToSkin = body.placement;
        char caseName[64];
        snprintf(caseName, sizeof(caseName), "character %dk", sizes[s].triangles / 1000);
        check(srSetWorkerCount(workerCount));
        double seconds = HUGE_VAL;
        srCharacterReport found = {0}, best = {0};
        srCharacterId character;
        double processor = HUGE_VAL;
        for (int run = 0; run < 3; run++) {
            double before = processorSeconds();
            check(prepare(&body.def, &character, &found));
            processor = fmin(processor, processorSeconds() - before);
            best = (double)found.totalSeconds < seconds ? found : best;
            seconds = fmin(seconds, (double)found.totalSeconds);
            if (run == 2 && sizes[s].triangles == 100000) {
                benchFile(report, caseName, character);
            }
            check(srDestroyCharacter(character));
        }
        srBench_Add(report, caseName, "whole, 60 bones, 2 workers", seconds, "s", sizes[s].goal);
        srBench_Add(report, caseName, "of processors, both together", processor, "s", NULL);
        addStages(report, caseName, &best);

        // from the first size on: what a triangle costs, beyond the logarithm and what no triangle costs
        double nLogN = sizes[s].triangles * log(sizes[s].triangles);
        unit = s == 1 ? seconds / nLogN : unit;
        if (s > 1) {
            srBench_Add(report, caseName, "time by n log n, 30k is 1", seconds / nLogN / unit, "", "<= 1");
        }
        if (sizes[s].triangles == 30000) {
            uint64_t hash = hashOnWorkers(&body.def, 1);
            int others = (hashOnWorkers(&body.def, 2) != hash) + (hashOnWorkers(&body.def, 4) != hash);
            srBench_Add(report, caseName, "other bits on 2 or 4 workers", others, "", "== 0");
            check(srSetWorkerCount(workerCount));
            benchCancelling(report, caseName, &body.def, seconds);
        }
        freeBody(&body);
    }
    benchCancellingLarge(report);
    benchMemory(report);
}

// grows the array by one element's room when it is full
static void* grow(void* array, int32_t count, size_t elementSize) {
    bool isFull = count >= 64 ? (count & (count - 1)) == 0 : count == 0;
    size_t room = count == 0 ? 64 : 2 * (size_t)count;
    void* grown = isFull ? realloc(array, room * elementSize) : array;
    if (grown == NULL) {
        fprintf(stderr, "No memory for a mesh.\n");
        exit(1);
    }
    return grown;
}

// the places of an OBJ or OFF file and the fans of its faces; false for what is neither
static bool readMesh(const char* path, Body* body) {
    FILE* file = fopen(path, "r");
    char line[4096];
    int32_t pointsLeft = -1, facesLeft = -1; // of an OFF file
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        float* x = NULL;
        char* at = line;
        int32_t corners[3], count = 0, vertexCount = body->def.skinVertexCount;
        bool isFace = strncmp(line, "f ", 2) == 0 || (pointsLeft == 0 && facesLeft > 0);
        bool isPoint = strncmp(line, "v ", 2) == 0 || pointsLeft > 0;
        if (strncmp(line, "OFF", 3) == 0) {
            pointsLeft = -2;
        } else if (pointsLeft == -2) {
            pointsLeft = sscanf(line, "%d %d", &pointsLeft, &facesLeft) == 2 ? pointsLeft : -1;
        } else if (isPoint) {
            body->points = grow(body->points, vertexCount, 3 * sizeof(float));
            x = body->points + 3 * (size_t)vertexCount;
            body->def.skinVertexCount += sscanf(line + (line[0] == 'v'), "%f %f %f", x, x + 1, x + 2) == 3;
            pointsLeft -= pointsLeft > 0;
        } else if (isFace) {
            bool isObj = line[0] == 'f';
            strtol(line, &at, 10); // an OFF face begins with its count
            at = isObj ? line + 1 : at;
            for (char* end = at;; at = end + strcspn(end, " \t\n")) {
                long corner = strtol(at, &end, 10);
                if (end == at) {
                    break;
                }
                corner += corner < 0 ? vertexCount : isObj ? -1 : 0;
                corners[count < 2 ? count : 2] = (int32_t)corner;
                if (++count > 2) {
                    body->triangles = grow(body->triangles, body->def.skinTriangleCount, 3 * sizeof(int32_t));
                    addTriangle(body, corners[0], corners[1], corners[2]);
                    corners[1] = corners[2];
                }
            }
            facesLeft -= facesLeft > 0;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return body->def.skinTriangleCount > 0;
}

static int compareNames(const void* a, const void* b) {
    return strcmp(((const struct dirent* const*)a)[0]->d_name, ((const struct dirent* const*)b)[0]->d_name);
}

static void benchMesh(srBenchReport* report, const char* folder, const char* name) {
    char path[4096];
    Body body = {.def = srDefaultCharacterDef()};
    body.def.targetNodeCount = nodeTarget;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (readMesh(path, &body)) {
        srCharacterId character = {0};
        srCharacterReport found = {0};
        body.def.skinPositions = body.points;
        body.def.skinTriangles = body.triangles;
        srResult result = prepare(&body.def, &character, &found);
        if (result != sr_success) {
            fprintf(stderr, "%s: %s\n", name, srGetErrorText());
        }
        srBench_Add(report, name, "prepared", result == sr_success, "", "== 1");
        srBench_Add(report, name, "triangles", body.def.skinTriangleCount, "", NULL);
        srBench_Add(report, name, "whole", (double)found.totalSeconds, "s", NULL);
        addStages(report, name, &found);
        srDestroyCharacter(character);
    }
    free(body.points);
    free(body.triangles);
}

bool srBenchFolder(srBenchReport* report, const char* folder) {
    struct dirent** names = NULL;
    int count = scandir(folder, &names, NULL, NULL);
    if (count < 0) {
        fprintf(stderr, "%s: There is no such folder.\n", folder);
        return false;
    }
    qsort(names, (size_t)count, sizeof(names[0]), compareNames);
    check(srSetWorkerCount(workerCount));
    for (int i = 0; i < count; i++) {
        const char* ending = strrchr(names[i]->d_name, '.');
        if (ending != NULL && (strcmp(ending, ".obj") == 0 || strcmp(ending, ".off") == 0)) {
            benchMesh(report, folder, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    return true;
}

const char* srTakeDataFolder(int* argumentCount, char** arguments) {
    const char* folder = NULL;
    int kept = 1;
    for (int i = 1; i < *argumentCount; i++) {
        if (strcmp(arguments[i], "--data") == 0 && i + 1 < *argumentCount) {
            folder = arguments[++i];
        } else {
            arguments[kept++] = arguments[i];
        }
    }
    *argumentCount = kept;
    return folder;
}
