// SPDX-License-Identifier: GPL-3.0-or-later
//
// Nodes and cells behind one another; then the points that place alone would give to another layer's cells.

#include "mesh/joining.h"

#include "core/alloc.h"
#include "mesh/embedding.h"

#include <string.h>

typedef struct Joining {
    const srSurface* surface;
    const srLayers* layers;
    const srMesh* meshes;
    const srProgress* progress;
    srVec3* nodes;
    int32_t (*cells)[4];
    int32_t* newCells;
    int32_t nodeCount, cellCount;
    // one layer's points at a time
    uint8_t* isTaken;
    int32_t* numbers;
    srVec3* points;
    uint8_t* layersOfCells;
} Joining;

static srResult allocate(Joining* j, srMesh* mesh) {
    int32_t pointCount = j->surface->pointCount;
    for (int layer = 0; layer < j->layers->count; layer++) {
        j->nodeCount += j->meshes[layer].cage.nodeCount;
        j->cellCount += j->meshes[layer].cage.cellCount;
    }
    j->nodes = SR_ALLOC(srVec3, j->nodeCount);
    j->cells = srAlloc((size_t)j->cellCount, sizeof(j->cells[0]));
    j->newCells = SR_ALLOC(int32_t, j->cellCount);
    j->isTaken = SR_ALLOC_ZERO(uint8_t, pointCount);
    j->numbers = SR_ALLOC(int32_t, pointCount);
    j->points = SR_ALLOC(srVec3, pointCount);
    j->layersOfCells = SR_ALLOC_ZERO(uint8_t, j->cellCount);
    mesh->pointCells = SR_ALLOC(int32_t, pointCount);
    mesh->pointCount = pointCount;
    bool isThere = j->nodes != NULL && j->cells != NULL && j->newCells != NULL && j->isTaken != NULL &&
                   j->numbers != NULL && j->points != NULL && j->layersOfCells != NULL &&
                   mesh->pointCells != NULL;
    return isThere ? sr_success : srFailOutOfMemory("the cage");
}

static void freeAll(Joining* j) {
    int32_t pointCount = j->surface->pointCount;
    SR_FREE(j->nodes, j->nodeCount);
    srFree(j->cells, (size_t)j->cellCount, sizeof(j->cells[0]));
    SR_FREE(j->newCells, j->cellCount);
    SR_FREE(j->isTaken, pointCount);
    SR_FREE(j->numbers, pointCount);
    SR_FREE(j->points, pointCount);
    SR_FREE(j->layersOfCells, j->cellCount);
}

static void stackCages(Joining* j) {
    int32_t node = 0, cell = 0;
    for (int layer = 0; layer < j->layers->count; layer++) {
        const srCage* cage = &j->meshes[layer].cage;
        memcpy(j->nodes + node, cage->nodes, (size_t)cage->nodeCount * sizeof(srVec3));
        for (int32_t i = 0; i < 4 * cage->cellCount; i++) {
            j->cells[cell + i / 4][i % 4] = node + cage->cells[i / 4][i % 4];
        }
        node += cage->nodeCount;
        cell += cage->cellCount;
    }
}

// Where place alone tells a cell of another layer, the points of one layer's triangles are looked for in
// their own cage; others keep what they were told there. A point of two layers is the first one's.
static int32_t listPoints(Joining* j, const srEmbedding* byPlace, int layer, int32_t firstCell,
                          srMesh* mesh) {
    const srMesh* own = &j->meshes[layer];
    int32_t count = 0;
    for (int32_t corner = 0; corner < 3 * j->surface->triangleCount; corner++) {
        int32_t p = j->surface->triangles[corner / 3][corner % 3];
        if (j->layers->layers[corner / 3] != layer || j->isTaken[p]) {
            continue;
        }
        j->isTaken[p] = 1;
        int32_t told = own->pointCells != NULL ? own->pointCells[p] : SR_NULL_INDEX;
        if (told != SR_NULL_INDEX) {
            mesh->pointCells[p] = j->newCells[firstCell + told];
        } else if (j->layersOfCells[byPlace->cells[p]] != layer) {
            j->points[count] = j->surface->points[p];
            j->numbers[count++] = p;
        }
    }
    return count;
}

static void nameCells(Joining* j) {
    int32_t cell = 0;
    for (int layer = 0; layer < j->layers->count; layer++) {
        for (int32_t i = 0; i < j->meshes[layer].cage.cellCount; i++, cell++) {
            if (j->newCells[cell] != SR_NULL_INDEX) {
                j->layersOfCells[j->newCells[cell]] = (uint8_t)layer;
            }
        }
    }
}

static srResult placePoints(Joining* j, srMesh* mesh) {
    srEmbedding byPlace, embedding;
    srProgress placing = srPartOfProgress(j->progress, 0.0, 0.5);
    int32_t firstCell = 0;
    SR_TRY(srCreateEmbeddingWithProgress(&mesh->cage, j->surface->points, NULL, mesh->pointCount, &placing,
                                         &byPlace));
    nameCells(j);
    srResult result = sr_success;
    for (int layer = 0; layer < j->layers->count && result == sr_success; layer++) {
        const srCage* cage = &j->meshes[layer].cage;
        int32_t count = listPoints(j, &byPlace, layer, firstCell, mesh);
        double begin = 0.5 + 0.5 * layer / j->layers->count;
        srProgress part = srPartOfProgress(j->progress, begin, begin + 0.5 / j->layers->count);
        result = srCreateEmbeddingWithProgress(cage, j->points, NULL, count, &part, &embedding);
        for (int32_t i = 0; i < count && result == sr_success; i++) {
            mesh->pointCells[j->numbers[i]] = j->newCells[firstCell + embedding.cells[i]];
        }
        if (result == sr_success) {
            srDestroyEmbedding(&embedding);
        }
        firstCell += cage->cellCount;
    }
    srDestroyEmbedding(&byPlace);
    return result;
}

srResult srJoinMeshes(const srSurface* surface, const srLayers* layers, const srMesh* meshes,
                      const srProgress* progress, srMesh* outMesh) {
    Joining j = {.surface = surface, .layers = layers, .meshes = meshes, .progress = progress};
    srMesh mesh = {0};
    srResult result = sr_success;
    SR_TRY_CLEANUP(allocate(&j, &mesh));
    stackCages(&j);
    SR_TRY_CLEANUP(srCreateCageMapped(j.nodes, j.nodeCount, (const int32_t (*)[4])j.cells, j.cellCount,
                                      j.newCells, &mesh.cage));
    memset(mesh.pointCells, 0xff, (size_t)mesh.pointCount * sizeof(int32_t)); // null
    SR_TRY_CLEANUP(placePoints(&j, &mesh));
    *outMesh = mesh;

cleanup:
    freeAll(&j);
    if (result != sr_success) {
        srDestroyMesh(&mesh);
    }
    return result;
}
