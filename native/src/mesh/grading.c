// SPDX-License-Identifier: GPL-3.0-or-later
//
// Marks in bytes, a level at a time.

#include "mesh/grading.h"

#include <math.h>
#include <string.h>

// Skin is marked from places on it that are this share of a cube apart.
#define PLACE_SHARE 0.5
#define MOST_STEPS 4096

srGrading srGradeAlike(const srLattice* lattice) {
    return (srGrading){
        .lattice = *lattice, .levelCount = 1, .counts = {{lattice->nx, lattice->ny, lattice->nz}}};
}

static size_t countCubes(const srGrading* grading, int32_t level) {
    const int32_t* counts = grading->counts[level];
    return (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2];
}

srResult srCreateGrading(const srLattice* lattice, int32_t levelCount, srArena* arena,
                         srGrading* outGrading) {
    srGrading grading = {.lattice = *lattice, .levelCount = levelCount};
    for (int32_t level = 0; level < levelCount; level++) {
        int32_t ratio = 1 << (levelCount - 1 - level);
        grading.counts[level][0] = lattice->nx / ratio;
        grading.counts[level][1] = lattice->ny / ratio;
        grading.counts[level][2] = lattice->nz / ratio;
        if (level > 0) {
            size_t count = countCubes(&grading, level);
            grading.isCentred[level] = SR_PUSH(arena, uint8_t, count, "centres");
            if (grading.isCentred[level] == NULL) {
                return srFailOutOfMemory("the lattice");
            }
            memset(grading.isCentred[level], 0, count);
        }
    }
    *outGrading = grading;
    return sr_success;
}

static bool isCube(const srGrading* grading, int32_t level, const int32_t cube[3]) {
    for (int axis = 0; axis < 3; axis++) {
        if (cube[axis] < 0 || cube[axis] >= grading->counts[level][axis]) {
            return false;
        }
    }
    return true;
}

static size_t placeOf(const srGrading* grading, int32_t level, const int32_t cube[3]) {
    const int32_t* counts = grading->counts[level];
    return ((size_t)cube[2] * (size_t)counts[1] + (size_t)cube[1]) * (size_t)counts[0] + (size_t)cube[0];
}

bool srGrading_HasCentre(const srGrading* grading, int32_t level, const int32_t cube[3]) {
    return level < grading->levelCount && isCube(grading, level, cube) &&
           (level == 0 || grading->isCentred[level][placeOf(grading, level, cube)] != 0);
}

int32_t srGrading_GetStep(const srGrading* grading, int32_t level) {
    return 1 << (grading->levelCount - 1 - level);
}

int32_t srGrading_PointAt(const srGrading* grading, const int32_t place[3]) {
    const srLattice* lattice = &grading->lattice;
    int32_t cube = (place[2] / 2 * lattice->ny + place[1] / 2) * lattice->nx + place[0] / 2;
    return 2 * cube + (place[0] & 1);
}

// A cube of the lattice's own size may end at its high border, where no corner is.
static double phiAt(const srGrading* grading, const double* phi, const int32_t place[3]) {
    const srLattice* lattice = &grading->lattice;
    bool isWithin = place[0] < 2 * lattice->nx && place[1] < 2 * lattice->ny && place[2] < 2 * lattice->nz;
    return isWithin ? phi[srGrading_PointAt(grading, place)] : 0.0;
}

static bool isShallow(const srGrading* grading, int32_t level, const int32_t cube[3], const double* phi,
                      double depth) {
    int32_t step = srGrading_GetStep(grading, level);
    for (int corner = 0; corner < 9; corner++) {
        int32_t place[3];
        for (int axis = 0; axis < 3; axis++) {
            place[axis] = 2 * step * cube[axis] + (corner == 8 ? step : 2 * step * (corner >> axis & 1));
        }
        if (phiAt(grading, phi, place) > -depth) {
            return true;
        }
    }
    return false;
}

void srGrading_MarkShallow(srGrading* grading, int32_t level, const double* phi, double depth) {
    const int32_t* counts = grading->counts[level];
    int32_t cube[3];
    for (cube[2] = 0; cube[2] < counts[2]; cube[2]++) {
        for (cube[1] = 0; cube[1] < counts[1]; cube[1]++) {
            for (cube[0] = 0; cube[0] < counts[0]; cube[0]++) {
                grading->isCentred[level][placeOf(grading, level, cube)] |=
                    isShallow(grading, level, cube, phi, depth);
            }
        }
    }
}

// Cubes whose middle is within reach of a place, and the one that holds it.
static void markAround(srGrading* grading, int32_t level, srVec3 place, double reach) {
    double size = grading->lattice.spacing * srGrading_GetStep(grading, level);
    const srVec3 from = srScale(1.0 / size, srSub(place, grading->lattice.origin));
    const double at[3] = {from.x, from.y, from.z};
    double cubes = reach / size;
    int32_t low[3], high[3], cube[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = (int32_t)fmax(floor(at[axis] - cubes), 0.0);
        high[axis] = (int32_t)fmin(floor(at[axis] + cubes), grading->counts[level][axis] - 1.0);
    }
    for (cube[2] = low[2]; cube[2] <= high[2]; cube[2]++) {
        for (cube[1] = low[1]; cube[1] <= high[1]; cube[1]++) {
            for (cube[0] = low[0]; cube[0] <= high[0]; cube[0]++) {
                double x = cube[0] + 0.5 - at[0], y = cube[1] + 0.5 - at[1], z = cube[2] + 0.5 - at[2];
                if (x * x + y * y + z * z <= fmax(cubes * cubes, 0.75)) {
                    grading->isCentred[level][placeOf(grading, level, cube)] = 1;
                }
            }
        }
    }
}

void srGrading_MarkSkin(srGrading* grading, int32_t level, const srSurface* surface, const float* values,
                        float least, double reach) {
    double apart = PLACE_SHARE * grading->lattice.spacing * srGrading_GetStep(grading, level);
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        if (!(values[c[0]] + values[c[1]] + values[c[2]] >= 3.0f * least)) {
            continue;
        }
        srVec3 a = surface->points[c[0]], u = srSub(surface->points[c[1]], a),
               v = srSub(surface->points[c[2]], a);
        double longest = fmax(fmax(srLength(u), srLength(v)), srDistance(u, v));
        int steps = (int)fmin(ceil(longest / apart), MOST_STEPS);
        for (int i = 0; i <= steps; i++) {
            for (int j = 0; i + j <= steps; j++) {
                srVec3 x = srMulAdd(a, steps > 0 ? (double)i / steps : 0.0, u);
                markAround(grading, level, srMulAdd(x, steps > 0 ? (double)j / steps : 0.0, v), reach);
            }
        }
    }
}

// The eight cubes one level up around the corner that a cube lies at.
static void closeAround(srGrading* grading, int32_t level, const int32_t cube[3]) {
    for (int side = 0; side < 8; side++) {
        int32_t above[3];
        for (int axis = 0; axis < 3; axis++) {
            above[axis] = (cube[axis] + 1) / 2 - 1 + (side >> axis & 1);
        }
        if (isCube(grading, level - 1, above)) {
            grading->isCentred[level - 1][placeOf(grading, level - 1, above)] = 1;
        }
    }
}

void srGrading_Close(srGrading* grading) {
    for (int32_t level = grading->levelCount - 1; level > 1; level--) {
        const int32_t* counts = grading->counts[level];
        int32_t cube[3];
        for (cube[2] = 0; cube[2] < counts[2]; cube[2]++) {
            for (cube[1] = 0; cube[1] < counts[1]; cube[1]++) {
                for (cube[0] = 0; cube[0] < counts[0]; cube[0]++) {
                    if (srGrading_HasCentre(grading, level, cube)) {
                        closeAround(grading, level, cube);
                    }
                }
            }
        }
    }
}
