// SPDX-License-Identifier: GPL-3.0-or-later
//
// The list of cases.

#include "corpus/corpus.h"

#include "corpus/shapes.h"

#include "cli/files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// every damage meets this many seeds, each on another shape
#define SEEDS_PER_DAMAGE 22

static const int32_t cleanSizes[] = {300, 1000};
static const int32_t damagedSizes[] = {200, 400, 700};
static const double nothingScales[] = {1.0, 1e-5, 1e6};

enum {
    cleanSizeCount = 2,
    damagedSizeCount = 3,
    nothingScaleCount = 3
};

static int32_t countShapes(void) {
    int32_t count = 0;
    srGetShapes(&count);
    return count;
}

static int32_t countLongShapes(void) {
    int32_t count = 0;
    srGetLongShapes(&count);
    return count;
}

static int32_t countNothings(void) {
    int32_t count = 0;
    srGetNothings(&count);
    return count;
}

static int32_t countDamages(void) {
    int32_t count = 0;
    srGetDamages(&count);
    return count;
}

int32_t srCountCases(void) {
    return cleanSizeCount * (countShapes() + countLongShapes()) + nothingScaleCount * countNothings() +
           SEEDS_PER_DAMAGE * countDamages();
}

static void addAparts(srCase* made, const char* shape) {
    int32_t count = 0;
    const srApart* aparts = srGetAparts(&count);
    for (int32_t i = 0; i < count && made->apartCount < 8; i++) {
        if (strcmp(aparts[i].shape, shape) == 0) {
            memcpy(made->aparts[made->apartCount], aparts[i].a, sizeof(aparts[i].a));
            memcpy(made->aparts[made->apartCount] + 3, aparts[i].b, sizeof(aparts[i].b));
            made->leastPaths[made->apartCount++] = aparts[i].leastPath;
        }
    }
}

static void makeClean(int32_t index, srCase* made) {
    int32_t count = 0;
    const srShape* shape = &srGetShapes(&count)[index / cleanSizeCount];
    srSoup soup = {0};
    shape->make(&soup);
    made->family = sr_familyClean;
    made->wantedNodes = cleanSizes[index % cleanSizeCount];
    made->patient = srCreatePatient(&soup, 1);
    made->limits = shape->isAllSheet ? srDamagedLimits : srCleanLimits;
    made->expectation = shape->isAllSheet ? sr_expectFitOrNothing : sr_expectFit;
    snprintf(made->damage, sizeof(made->damage), "clean");
    snprintf(made->name, sizeof(made->name), "%s, %d nodes", shape->name, made->wantedNodes);
    if (made->wantedNodes >= 1000) {
        // coarser, the lattice of the shape itself is finer than what keeps its parts apart
        addAparts(made, shape->name);
    }
    srFreeSoup(&soup);
}

static void makeLong(int32_t index, srCase* made) {
    int32_t count = 0;
    const srLongShape* shape = &srGetLongShapes(&count)[index / cleanSizeCount];
    srSoup soup = {0};
    srMakeLongShape(shape, &soup);
    made->family = sr_familyClean;
    made->wantedNodes = cleanSizes[index % cleanSizeCount];
    made->patient = srCreatePatient(&soup, 1);
    made->limits = srCleanLimits;
    made->expectation = sr_expectFit;
    snprintf(made->damage, sizeof(made->damage), "clean");
    snprintf(made->name, sizeof(made->name), "%s, %d nodes", shape->name, made->wantedNodes);
    srFreeSoup(&soup);
}

static void makeNothing(int32_t index, srCase* made) {
    int32_t count = 0;
    const srNothing* nothing = &srGetNothings(&count)[index / nothingScaleCount];
    double scale = nothingScales[index % nothingScaleCount];
    srSoup soup = {0};
    nothing->make(&soup);
    srSoup_Place(&soup, (double[]){scale, scale, scale}, (double[]){0.0, 0.0, 0.0});
    made->family = sr_familyNothing;
    made->wantedNodes = 200;
    made->patient = srCreatePatient(&soup, 1);
    made->limits = nothing->isDust ? srDustLimits : srDamagedLimits;
    made->expectation = nothing->isSheet ? sr_expectFitOrNothing : sr_expectNothing;
    snprintf(made->damage, sizeof(made->damage), "nothing inside");
    snprintf(made->name, sizeof(made->name), "%s, scale %g", nothing->name, scale);
    srFreeSoup(&soup);
}

static void makeDamaged(int32_t index, int32_t firstSeed, srCase* made) {
    int32_t damageCount = 0, shapeCount = 0;
    int32_t seed = firstSeed + index % SEEDS_PER_DAMAGE, d = index / SEEDS_PER_DAMAGE;
    const srDamage* damage = &srGetDamages(&damageCount)[d];
    const srShape* shapes = srGetShapes(&shapeCount);
    srSoup soup = {0};

    // the last two shapes are sheets, on which damage means little
    const srShape* shape = &shapes[(5 * seed + 3 * d) % (shapeCount - 2)];
    shape->make(&soup);
    made->family = sr_familyDamaged;
    made->wantedNodes = damagedSizes[(seed + d) % damagedSizeCount];
    made->patient = srCreatePatient(&soup, (uint64_t)(1000 * d + seed + 1));
    damage->inflict(&made->patient);
    made->limits = srDamagedLimits;
    made->expectation = sr_expectFit;
    snprintf(made->damage, sizeof(made->damage), "%s", damage->name);
    snprintf(made->name, sizeof(made->name), "%s, %s, seed %d, %d nodes", shape->name, damage->name, seed,
             made->wantedNodes);
    srFreeSoup(&soup);
}

srCase srMakeCase(int32_t index) {
    return srMakeCaseOf(index, 0);
}

srCase srMakeCaseOf(int32_t index, int32_t firstSeed) {
    srCase made = {.apartCount = 0};
    int32_t cleanCount = cleanSizeCount * countShapes();
    int32_t nothingCount = nothingScaleCount * countNothings();
    int32_t longCount = cleanSizeCount * countLongShapes();
    if (index < cleanCount) {
        makeClean(index, &made);
    } else if (index < cleanCount + longCount) {
        makeLong(index - cleanCount, &made);
    } else if (index < cleanCount + longCount + nothingCount) {
        makeNothing(index - cleanCount - longCount, &made);
    } else {
        makeDamaged(index - cleanCount - longCount - nothingCount, firstSeed, &made);
    }
    return made;
}

bool srMakeFileCase(const char* path, srCase* outCase) {
    srCliMesh mesh;
    srCliError error = {{0}};
    if (!srCliReadSkinFile(path, &mesh, &error)) {
        fprintf(stderr, "%s\n", error.text);
        srCliMesh_Free(&mesh);
        return false;
    }
    srSoup soup = {0};
    for (int32_t p = 0; p < srCliMesh_GetPointCount(&mesh); p++) {
        const float* x = mesh.points.items + 3 * (size_t)p;
        srSoup_AddPoint(&soup, (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int32_t t = 0; t < srCliMesh_GetTriangleCount(&mesh); t++) {
        const int32_t* c = mesh.triangles.items + 3 * (size_t)t;
        srSoup_AddTriangle(&soup, c[0], c[1], c[2]);
    }
    srCliMesh_Free(&mesh);

    // points at one place mean one; what is there twice is meant once
    srSoup welded = srWeldSoup(&soup);
    *outCase = (srCase){.family = sr_familyFile, .wantedNodes = 1000, .expectation = sr_expectFit};
    outCase->patient = srCreatePatient(&welded, 1);
    outCase->limits = srSoup_IsClosed(&welded) ? srCleanLimits : srDamagedLimits;
    srFreeSoup(&outCase->patient.skin);
    outCase->patient.skin = soup;
    srFreeSoup(&welded);
    const char* name = strrchr(path, '/');
    snprintf(outCase->damage, sizeof(outCase->damage), "file");
    snprintf(outCase->name, sizeof(outCase->name), "%s", name != NULL ? name + 1 : path);
    return true;
}

bool srExportShapes(const char* folder) {
    int32_t count = 0;
    const srShape* shapes = srGetShapes(&count);
    srCliError error = {{0}};
    bool isWritten = true;
    for (int32_t i = 0; i < count && isWritten; i++) {
        char path[512];
        srSoup soup = {0};
        shapes[i].make(&soup);
        snprintf(path, sizeof(path), "%s/%s.obj", folder, shapes[i].name);
        for (char* at = strrchr(path, '/'); *at != 0; at++) {
            *at = *at == ' ' ? '-' : *at;
        }
        isWritten =
            srCliWriteObj(path, soup.points, soup.pointCount, soup.triangles, soup.triangleCount, &error);
        srFreeSoup(&soup);
    }
    if (!isWritten) {
        fprintf(stderr, "%s\n", error.text);
    }
    return isWritten;
}

void srDestroyCase(srCase* testCase) {
    srDestroyPatient(&testCase->patient);
}
