// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is odd about a surface or a cage.

#include "cli/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool isFinitePoint(const float* x) {
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

srCliBounds srCliMeasureBounds(const srCliFloats* points) {
    srCliBounds bounds = {.nonFiniteCount = 0};
    bool isEmpty = true;
    for (size_t i = 0; i + 3 <= points->count; i += 3) {
        const float* x = points->items + i;
        if (!isFinitePoint(x)) {
            bounds.nonFiniteCount += 1;
            continue;
        }
        for (int c = 0; c < 3; ++c) {
            double value = (double)x[c];
            bounds.low[c] = isEmpty || value < bounds.low[c] ? value : bounds.low[c];
            bounds.high[c] = isEmpty || value > bounds.high[c] ? value : bounds.high[c];
        }
        isEmpty = false;
    }
    return bounds;
}

// six times the signed volume of the tetrahedron a b c d
static double measureSixVolumes(const float* a, const float* b, const float* c, const float* d) {
    double e[3][3];
    for (int k = 0; k < 3; ++k) {
        e[0][k] = (double)b[k] - (double)a[k];
        e[1][k] = (double)c[k] - (double)a[k];
        e[2][k] = (double)d[k] - (double)a[k];
    }
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static bool isDegenerate(const float* points, const int32_t* t) {
    const float* a = points + 3 * (size_t)t[0];
    const float* b = points + 3 * (size_t)t[1];
    const float* c = points + 3 * (size_t)t[2];
    double e[3];
    double f[3];
    for (int k = 0; k < 3; ++k) {
        e[k] = (double)b[k] - (double)a[k];
        f[k] = (double)c[k] - (double)a[k];
    }
    double x = e[1] * f[2] - e[2] * f[1];
    double y = e[2] * f[0] - e[0] * f[2];
    double z = e[0] * f[1] - e[1] * f[0];
    return !(x * x + y * y + z * z > 0.0);
}

// the edge's two vertices, smaller first, and in the lowest bit whether it was turned round for that
typedef struct srEdgeUse {
    int32_t low;
    int32_t high;
    int32_t isTurned;
} srEdgeUse;

static int compareEdges(const void* left, const void* right) {
    const srEdgeUse* a = left;
    const srEdgeUse* b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    return (a->high > b->high) - (a->high < b->high);
}

static void countEdgeRuns(const srEdgeUse* uses, size_t useCount, srCliSurfaceSurvey* survey) {
    for (size_t begin = 0; begin < useCount;) {
        size_t end = begin + 1;
        while (end < useCount && compareEdges(&uses[begin], &uses[end]) == 0) {
            end += 1;
        }
        survey->borderEdgeCount += end - begin == 1;
        survey->nonManifoldEdgeCount += end - begin > 2;
        survey->flippedEdgeCount += end - begin == 2 && uses[begin].isTurned == uses[begin + 1].isTurned;
        begin = end;
    }
}

static bool surveyEdges(const srCliMesh* mesh, srCliSurfaceSurvey* survey, srCliError* error) {
    if (mesh->triangles.count == 0) {
        return true;
    }
    srEdgeUse* uses = srCliResize(NULL, mesh->triangles.count * sizeof(srEdgeUse));
    if (uses == NULL) {
        return srCliFailMemory(error);
    }
    size_t useCount = 0;
    for (size_t i = 0; i < mesh->triangles.count; ++i) {
        int32_t from = mesh->triangles.items[i];
        int32_t to = mesh->triangles.items[i % 3 == 2 ? i - 2 : i + 1];
        if (from < to) {
            uses[useCount++] = (srEdgeUse){from, to, 0};
        } else if (from > to) {
            uses[useCount++] = (srEdgeUse){to, from, 1};
        }
    }
    qsort(uses, useCount, sizeof(srEdgeUse), compareEdges);
    countEdgeRuns(uses, useCount, survey);
    srCliResize(uses, 0);
    return true;
}

// finds the piece's first vertex and shortens the way there
static int32_t findPiece(int32_t* parents, int32_t vertex) {
    while (parents[vertex] != vertex) {
        parents[vertex] = parents[parents[vertex]];
        vertex = parents[vertex];
    }
    return vertex;
}

// negative parents are vertices that no triangle has used yet
static bool surveyPieces(const srCliMesh* mesh, srCliSurfaceSurvey* survey, srCliError* error) {
    int32_t vertexCount = srCliMesh_GetPointCount(mesh);
    int32_t* parents = srCliResize(NULL, sizeof(int32_t) * ((size_t)vertexCount + 1));
    if (parents == NULL) {
        return srCliFailMemory(error);
    }
    memset(parents, 0xFF, sizeof(int32_t) * (size_t)vertexCount);
    for (size_t i = 0; i < mesh->triangles.count; ++i) {
        int32_t vertex = mesh->triangles.items[i];
        if (parents[vertex] < 0) {
            parents[vertex] = vertex;
            survey->pieceCount += 1;
        }
        int32_t first = findPiece(parents, mesh->triangles.items[i - i % 3]);
        int32_t own = findPiece(parents, vertex);
        if (own != first) {
            parents[own > first ? own : first] = own > first ? first : own;
            survey->pieceCount -= 1;
        }
    }
    for (int32_t v = 0; v < vertexCount; ++v) {
        survey->isolatedVertexCount += parents[v] < 0;
    }
    srCliResize(parents, 0);
    return true;
}

static int comparePlaces(const void* left, const void* right) {
    const float* a = left;
    const float* b = right;
    for (int c = 0; c < 3; ++c) {
        if (a[c] < b[c] || a[c] > b[c]) {
            return a[c] < b[c] ? -1 : 1;
        }
    }
    return 0;
}

static bool surveyPlaces(const srCliMesh* mesh, srCliSurfaceSurvey* survey, srCliError* error) {
    float* places = srCliResize(NULL, sizeof(float) * (mesh->points.count + 1));
    if (places == NULL) {
        return srCliFailMemory(error);
    }
    size_t count = 0;
    for (size_t i = 0; i + 3 <= mesh->points.count; i += 3) {
        if (isFinitePoint(mesh->points.items + i)) {
            memcpy(places + 3 * count, mesh->points.items + i, 3 * sizeof(float));
            count += 1;
        }
    }
    qsort(places, count, 3 * sizeof(float), comparePlaces);
    for (size_t i = 1; i < count; ++i) {
        survey->sharedPlaceCount += comparePlaces(places + 3 * i - 3, places + 3 * i) == 0;
    }
    srCliResize(places, 0);
    return true;
}

bool srCliSurveySurface(const srCliMesh* mesh, srCliSurfaceSurvey* outSurvey, srCliError* error) {
    *outSurvey = (srCliSurfaceSurvey){0};
    static const float origin[3] = {0.0f, 0.0f, 0.0f};
    double sixVolumes = 0.0;
    for (size_t i = 0; i + 3 <= mesh->triangles.count; i += 3) {
        const int32_t* t = mesh->triangles.items + i;
        const float* points = mesh->points.items;
        double part = measureSixVolumes(origin, points + 3 * (size_t)t[0], points + 3 * (size_t)t[1],
                                        points + 3 * (size_t)t[2]);
        sixVolumes += isfinite(part) ? part : 0.0;
        outSurvey->degenerateTriangleCount += isDegenerate(points, t);
    }
    outSurvey->signedVolume = sixVolumes / 6.0;
    return surveyEdges(mesh, outSurvey, error) && surveyPieces(mesh, outSurvey, error) &&
           surveyPlaces(mesh, outSurvey, error);
}

bool srCliSurveyCage(const srCliMesh* mesh, srCliCageSurvey* outSurvey, srCliError* error) {
    *outSurvey = (srCliCageSurvey){0};
    int32_t nodeCount = srCliMesh_GetPointCount(mesh);
    char* isUsed = srCliResize(NULL, (size_t)nodeCount + 1);
    if (isUsed == NULL) {
        return srCliFailMemory(error);
    }
    memset(isUsed, 0, (size_t)nodeCount);
    for (size_t i = 0; i + 4 <= mesh->cells.count; i += 4) {
        const int32_t* cell = mesh->cells.items + i;
        const float* corners[4];
        for (int c = 0; c < 4; ++c) {
            corners[c] = mesh->points.items + 3 * (size_t)cell[c];
            isUsed[cell[c]] = 1;
        }
        double sixVolumes = measureSixVolumes(corners[0], corners[1], corners[2], corners[3]);
        outSurvey->invertedCellCount += sixVolumes < 0.0;
        outSurvey->flatCellCount += !(fabs(sixVolumes) > 0.0);
        outSurvey->volume += sixVolumes / 6.0;
    }
    for (int32_t n = 0; n < nodeCount; ++n) {
        outSurvey->unusedNodeCount += !isUsed[n];
    }
    srCliResize(isUsed, 0);
    return true;
}
