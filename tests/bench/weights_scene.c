// SPDX-License-Identifier: GPL-3.0-or-later

#include "weights_scene.h"

#include "mesh/mesher.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum {
    around = 160,
    down = 80,
    mostLine = 512
};

static void* take(size_t count, size_t size) {
    void* block = calloc(count > 0 ? count : 1, size);
    if (block == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return block;
}

// a number from 0 to 1, the same in every run
static double random01(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

// Bones from nodes far from each other and from the surface towards the nearest of the others.
static void addBones(srBenchWeights* s, int32_t boneCount) {
    int32_t n = s->cage.nodeCount, at = 0;
    double* squares = take((size_t)n, sizeof(double));
    int32_t* degrees = take((size_t)n, sizeof(int32_t));
    s->points = take(2 * (size_t)boneCount, sizeof(srVec3));
    s->columns = take(2 * (size_t)boneCount, sizeof(int32_t));
    s->elements = take((size_t)boneCount, sizeof(*s->elements));
    for (int32_t c = 0; c < 4 * s->cage.cellCount; ++c) {
        ++degrees[s->cage.cells[c / 4][c % 4]];
    }
    for (int32_t i = 0; i < n; ++i) {
        squares[i] = (double)INFINITY;
    }
    for (int32_t b = 0; b < boneCount; ++b) {
        double farthest = -1.0;
        for (int32_t i = 0; i < n; ++i) {
            if (degrees[i] >= 20 && squares[i] > farthest) { // inner nodes have as many cells
                farthest = squares[i];
                at = i;
            }
        }
        s->points[2 * b] = s->cage.nodes[at];
        for (int32_t i = 0; i < n; ++i) {
            srVec3 d = srSub(s->cage.nodes[i], s->cage.nodes[at]);
            squares[i] = fmin(squares[i], srDot(d, d));
        }
    }
    for (int32_t b = 0; b < boneCount; ++b) {
        double nearest = (double)INFINITY;
        srVec3 towards = {0.0, 0.0, 0.0};
        for (int32_t other = 0; other < boneCount; ++other) {
            srVec3 d = srSub(s->points[2 * other], s->points[2 * b]);
            if (other != b && srDot(d, d) < nearest) {
                nearest = srDot(d, d);
                towards = d;
            }
        }
        s->points[2 * b + 1] = srAdd(s->points[2 * b], srScale(0.6, towards));
        s->columns[2 * b] = s->columns[2 * b + 1] = b;
        s->elements[b][0] = 2 * b;
        s->elements[b][1] = s->elements[b][2] = 2 * b + 1;
    }
    s->anchors = (srAnchors){.points = s->points,
                             .columns = s->columns,
                             .pointCount = 2 * boneCount,
                             .elements = (const int32_t (*)[3])s->elements,
                             .elementCount = boneCount,
                             .columnCount = boneCount};
    free(squares);
    free(degrees);
}

static bool fill(const float* points, int32_t pointCount, const int32_t* triangles, int32_t triangleCount,
                 int32_t targetNodeCount, int32_t boneCount, srBenchWeights* out) {
    srSurface surface = {0};
    srSurfaceReport odd;
    srMesherReport made;
    srMesh mesh = {0};
    srMesherSettings settings = {.targetNodeCount = targetNodeCount};
    *out = (srBenchWeights){0};
    bool isMade =
        srCreateSurface(points, pointCount, triangles, triangleCount, &surface, &odd) == sr_success &&
        srMeshSurface(&surface, &settings, &mesh, &made) == sr_success &&
        srCreateEmbedding(&mesh.cage, surface.points, mesh.pointCells, pointCount, &out->embedding) ==
            sr_success;
    if (!isMade) {
        fprintf(stderr, "no cage: %s\n", srGetErrorText());
        srDestroySurface(&surface);
        srDestroyMesh(&mesh);
        return false;
    }
    out->surface = surface;
    out->spacing = made.spacing;
    out->cage = mesh.cage;
    mesh.cage = (srCage){0};
    srDestroyMesh(&mesh);
    addBones(out, boneCount);
    return true;
}

void srBenchMakeArms(int32_t targetNodeCount, int32_t boneCount, srBenchWeights* out) {
    static const double ARMS[6][3] = {{0, 0, 1},         {0.9, 0, 0.43},      {-0.9, 0.1, 0.43},
                                      {0.5, 0.2, -0.84}, {-0.5, -0.2, -0.84}, {0, 1, 0}};
    int32_t count = around * (down + 1);
    float* points = take(3 * (size_t)count, sizeof(float));
    int32_t* triangles = take(6 * (size_t)(around * down), sizeof(int32_t));
    for (int32_t v = 0; v < count; ++v) {
        double theta = PI * (v / around) / down, phi = 2.0 * PI * (v % around) / around;
        double d[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)}, radius = 0.45;
        for (int a = 0; a < 6; ++a) {
            double along = d[0] * ARMS[a][0] + d[1] * ARMS[a][1] + d[2] * ARMS[a][2];
            radius += 1.1 * exp(-12.0 * (1.0 - along));
        }
        for (int k = 0; k < 3; ++k) {
            points[3 * v + k] = (float)(radius * d[k]);
        }
    }
    for (int32_t q = 0; q < around * down; ++q) {
        int32_t a = q, b = q / around * around + (q + 1) % around, c = a + around, d = b + around;
        const int32_t corners[6] = {a, c, d, a, d, b};
        memcpy(triangles + 6 * (size_t)q, corners, sizeof(corners));
    }
    if (!fill(points, count, triangles, 2 * around * down, targetNodeCount, boneCount, out)) {
        exit(1);
    }
    free(points);
    free(triangles);
}

static int32_t readFace(char* line, int32_t* triangles, int32_t count) {
    int32_t corners[3], seen = 0;
    for (char* word = strtok(line + 1, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n")) {
        corners[seen < 2 ? seen : 2] = (int32_t)strtol(word, NULL, 10) - 1;
        if (++seen >= 3) {
            memcpy(triangles + 3 * (size_t)count++, corners, sizeof(corners));
            corners[1] = corners[2];
        }
    }
    return count;
}

bool srBenchReadWeights(const char* path, int32_t targetNodeCount, int32_t boneCount, srBenchWeights* out) {
    FILE* in = fopen(path, "r");
    if (in == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return false;
    }
    int32_t lineCount = 0, pointCount = 0, triangleCount = 0;
    char line[mostLine];
    while (fgets(line, sizeof(line), in) != NULL) {
        ++lineCount;
    }
    rewind(in);
    float* points = take(3 * (size_t)lineCount, sizeof(float));
    int32_t* triangles = take(3 * 8 * (size_t)lineCount, sizeof(int32_t)); // faces of up to ten corners
    while (fgets(line, sizeof(line), in) != NULL) {
        float* x = points + 3 * (size_t)pointCount;
        if (line[0] == 'v' && line[1] == ' ' && sscanf(line + 1, "%f %f %f", &x[0], &x[1], &x[2]) == 3) {
            ++pointCount;
        } else if (line[0] == 'f') {
            triangleCount = readFace(line, triangles, triangleCount);
        }
    }
    fclose(in);
    bool isMade = fill(points, pointCount, triangles, triangleCount, targetNodeCount, boneCount, out);
    free(points);
    free(triangles);
    return isMade;
}

static double leastVolume(const srCage* cage, const int32_t* starts, const int32_t* cells, int32_t node) {
    double least = (double)INFINITY;
    for (int32_t e = starts[node]; e < starts[node + 1]; ++e) {
        least = fmin(least, srCellVolume(cage, cells[e]));
    }
    return least;
}

void srBenchMakeSlivers(srBenchWeights* s) {
    srCage* cage = &s->cage;
    int32_t n = cage->nodeCount;
    int32_t* starts = take((size_t)n + 1, sizeof(int32_t));
    int32_t* ends = take((size_t)n, sizeof(int32_t));
    int32_t* cells = take(4 * (size_t)cage->cellCount, sizeof(int32_t));
    double mean = 0.0;
    uint64_t seed = 88172645463325252ull;
    for (int32_t c = 0; c < 4 * cage->cellCount; ++c) {
        ++starts[cage->cells[c / 4][c % 4] + 1];
        mean += 0.25 * srCellVolume(cage, c / 4) / cage->cellCount;
    }
    for (int32_t i = 0; i < n; ++i) {
        starts[i + 1] += starts[i];
        ends[i] = starts[i];
    }
    for (int32_t c = 0; c < 4 * cage->cellCount; ++c) {
        cells[ends[cage->cells[c / 4][c % 4]]++] = c / 4;
    }
    double reach = 0.6 * cbrt(6.0 * mean);
    for (int32_t turn = 0; turn < 6 * n; ++turn) {
        srVec3* x = &cage->nodes[turn % n];
        srVec3 before = *x;
        double length = reach;
        for (int attempt = 0; attempt < 8; ++attempt, length *= 0.7) {
            double a = random01(&seed), b = random01(&seed), c = random01(&seed);
            *x = srAdd(before, srScale(length, (srVec3){a - 0.5, b - 0.5, c - 0.5}));
            if (leastVolume(cage, starts, cells, turn % n) > 0.02 * mean) {
                break;
            }
            *x = before;
        }
    }
    free(starts);
    free(ends);
    free(cells);
}

void srBenchFreeWeights(srBenchWeights* s) {
    srDestroyEmbedding(&s->embedding);
    srDestroySurface(&s->surface);
    srDestroyCage(&s->cage);
    free(s->points);
    free(s->columns);
    free(s->elements);
    *s = (srBenchWeights){0};
}
