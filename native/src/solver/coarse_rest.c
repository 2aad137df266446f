// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the handles of the coarse correction are and how far they reach.

#include "solver/coarse.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

#define REACH 1.5 // of the distance between handles
// of a handle on a node, before weights are made to sum to one; less is nothing, and would cost as much
#define LEAST_WEIGHT 0.03
// Of a distance: so near to the farthest node others are as far, and the last of them is taken: the first
// handle stands at the first node (docs/decisions/0056)
#define SAME_DISTANCE 1e-5

// Nodes and their neighbours, with lengths, and a heap of nodes by distance
typedef struct Graph {
    int32_t nodeCount;
    int32_t* starts;
    int32_t* neighbours;
    double* distances;
    int32_t* heap;
    int32_t* places; // of a node in the heap; SR_NULL_INDEX outside
    int32_t heapCount;
    const srVec3* nodes;
} Graph;

static void destroyGraph(Graph* graph, int32_t cellCount) {
    SR_FREE(graph->starts, (size_t)graph->nodeCount + 1);
    SR_FREE(graph->neighbours, 12 * (size_t)cellCount);
    SR_FREE(graph->distances, graph->nodeCount);
    SR_FREE(graph->heap, graph->nodeCount);
    SR_FREE(graph->places, graph->nodeCount);
}

// neighbours may repeat: the cells around an edge each name it
static srResult createGraph(const srFleshShape* shape, Graph* graph) {
    *graph = (Graph){.nodeCount = shape->nodeCount, .nodes = shape->nodes};
    graph->starts = SR_ALLOC_ZERO(int32_t, (size_t)shape->nodeCount + 1);
    graph->neighbours = SR_ALLOC(int32_t, 12 * (size_t)shape->cellCount);
    graph->distances = SR_ALLOC(double, shape->nodeCount);
    graph->heap = SR_ALLOC(int32_t, shape->nodeCount);
    graph->places = SR_ALLOC(int32_t, shape->nodeCount);
    if (graph->starts == NULL || graph->neighbours == NULL || graph->distances == NULL ||
        graph->heap == NULL || graph->places == NULL) {
        destroyGraph(graph, shape->cellCount);
        return srFailOutOfMemory("the coarse correction");
    }
    for (int32_t k = 0; k < 4 * shape->cellCount; ++k) {
        graph->starts[shape->cells[k / 4][k % 4] + 1] += 3;
    }
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        graph->starts[i + 1] += graph->starts[i];
        graph->places[i] = graph->starts[i];
    }
    for (int32_t k = 0; k < 4 * shape->cellCount; ++k) {
        const int32_t* corners = shape->cells[k / 4];
        for (int other = 1; other < 4; ++other) {
            graph->neighbours[graph->places[corners[k % 4]]++] = corners[(k + other) % 4];
        }
    }
    return sr_success;
}

static bool isBefore(const Graph* graph, int32_t a, int32_t b) {
    return graph->distances[a] < graph->distances[b] || (graph->distances[a] == graph->distances[b] && a < b);
}

static void placeInHeap(Graph* graph, int32_t place, int32_t node) {
    graph->heap[place] = node;
    graph->places[node] = place;
}

static void rise(Graph* graph, int32_t node) {
    int32_t place = graph->places[node];
    if (place == SR_NULL_INDEX) {
        place = graph->heapCount++;
    }
    while (place > 0 && isBefore(graph, node, graph->heap[(place - 1) / 2])) {
        placeInHeap(graph, place, graph->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    placeInHeap(graph, place, node);
}

static int32_t takeFirst(Graph* graph) {
    int32_t first = graph->heap[0];
    int32_t last = graph->heap[--graph->heapCount];
    graph->places[first] = SR_NULL_INDEX;
    if (graph->heapCount == 0) {
        return first;
    }
    int32_t place = 0;
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child >= graph->heapCount) {
            break;
        }
        if (child + 1 < graph->heapCount && isBefore(graph, graph->heap[child + 1], graph->heap[child])) {
            ++child;
        }
        if (!isBefore(graph, graph->heap[child], last)) {
            break;
        }
        placeInHeap(graph, place, graph->heap[child]);
        place = child;
    }
    placeInHeap(graph, place, last);
    return first;
}

// distances along edges from a node, up to `limit`; beyond it, infinite
static void findDistances(Graph* graph, int32_t from, double limit) {
    for (int32_t i = 0; i < graph->nodeCount; ++i) {
        graph->distances[i] = (double)INFINITY;
        graph->places[i] = SR_NULL_INDEX;
    }
    graph->distances[from] = 0.0;
    graph->heapCount = 0;
    rise(graph, from);
    while (graph->heapCount > 0) {
        int32_t node = takeFirst(graph);
        for (int32_t k = graph->starts[node]; k < graph->starts[node + 1]; ++k) {
            int32_t next = graph->neighbours[k];
            double distance = graph->distances[node] + srDistance(graph->nodes[node], graph->nodes[next]);
            if (distance < graph->distances[next] && distance < limit) {
                graph->distances[next] = distance;
                rise(graph, next);
            }
        }
    }
}

// Farthest first: each handle where the ones before it are farthest. Nodes of no cell get none. Returns the
// largest distance from a node to its handle.
static double chooseSeeds(Graph* graph, int32_t handleCount, double* nearest, int32_t* seeds,
                          int32_t* outCount) {
    double reach = 0.0;
    int32_t seed = SR_NULL_INDEX;
    for (int32_t i = 0; i < graph->nodeCount; ++i) {
        bool hasCell = graph->starts[i + 1] > graph->starts[i];
        nearest[i] = hasCell ? (double)INFINITY : -1.0;
        seed = seed == SR_NULL_INDEX && hasCell ? i : seed;
    }
    *outCount = 0;
    while (*outCount < handleCount && seed != SR_NULL_INDEX) {
        seeds[(*outCount)++] = seed;
        findDistances(graph, seed, (double)INFINITY);
        reach = 0.0;
        for (int32_t i = 0; i < graph->nodeCount; ++i) {
            nearest[i] = fmin(nearest[i], graph->distances[i]);
            reach = fmax(reach, nearest[i]);
        }
        seed = SR_NULL_INDEX;
        for (int32_t i = 0; i < graph->nodeCount && reach > 0.0; ++i) {
            seed = nearest[i] >= (1.0 - SAME_DISTANCE) * reach ? i : seed;
        }
    }
    return reach;
}

static double bump(double share) {
    double inside = 1.0 - share * share;
    return inside > 0.0 ? inside * inside : 0.0;
}

// A node's handles from the dense `weights` (a row a handle), which are normalised
static void collectEntries(srCoarseRest* coarse, float* weights) {
    size_t nodeCount = (size_t)coarse->nodeCount;
    int32_t count = 0;
    for (int32_t i = 0; i < coarse->nodeCount; ++i) {
        double sum = 0.0;
        coarse->starts[i] = count;
        for (int32_t j = 0; j < coarse->handleCount; ++j) {
            double w = (double)weights[(size_t)j * nodeCount + (size_t)i];
            sum += w > LEAST_WEIGHT ? w : 0.0;
        }
        for (int32_t j = 0; j < coarse->handleCount; ++j) {
            float* w = &weights[(size_t)j * nodeCount + (size_t)i];
            *w = (double)*w > LEAST_WEIGHT ? (float)((double)*w / sum) : 0.0f;
            if (*w > 0.0f) {
                coarse->entries[count++] = (srHandleEntry){j, *w};
            }
        }
    }
    coarse->starts[coarse->nodeCount] = count;
}

static size_t memberStartCount(const srCoarseRest* coarse) {
    return (size_t)srCoarse_GetBlockCount(coarse) * (size_t)coarse->handleCapacity + 1;
}

// the entries again, by block of nodes and handle
static void collectMembers(const float* weights, srCoarseRest* coarse) {
    size_t nodeCount = (size_t)coarse->nodeCount;
    int32_t count = 0;
    int32_t* start = coarse->memberStarts;
    for (int32_t first = 0; first < coarse->nodeCount; first += SR_COARSE_BLOCK) {
        int32_t left = coarse->nodeCount - first;
        int32_t last = first + (left < SR_COARSE_BLOCK ? left : SR_COARSE_BLOCK);
        for (int32_t j = 0; j < coarse->handleCount; ++j) {
            *start++ = count;
            for (int32_t i = first; i < last; ++i) {
                float w = weights[(size_t)j * nodeCount + (size_t)i];
                if (w > 0.0f) {
                    coarse->members[count++] = (srHandleMember){i, w};
                }
            }
        }
    }
    *start = count;
}

static srResult allocateCoarse(srCoarseRest* coarse) {
    size_t entryCount = (size_t)coarse->nodeCount * (size_t)coarse->handleCapacity;
    coarse->starts = SR_ALLOC_ZERO(int32_t, (size_t)coarse->nodeCount + 1);
    coarse->entries = SR_ALLOC(srHandleEntry, entryCount);
    coarse->memberStarts = SR_ALLOC_ZERO(int32_t, memberStartCount(coarse));
    coarse->members = SR_ALLOC(srHandleMember, entryCount);
    coarse->places = SR_ALLOC_ZERO(float, SR_ROW_FLOATS*(size_t)coarse->nodeCount);
    coarse->centres = SR_ALLOC_ZERO(float, SR_ROW_FLOATS*(size_t)coarse->handleCapacity);
    bool isComplete = coarse->starts != NULL && coarse->entries != NULL && coarse->memberStarts != NULL &&
                      coarse->members != NULL && coarse->places != NULL && coarse->centres != NULL;
    return isComplete ? sr_success : srFailOutOfMemory("the coarse correction");
}

static void writePlace(float* rows, int32_t i, srVec3 x, double size, float last) {
    float* row = rows + SR_ROW_FLOATS * (size_t)i;
    row[0] = (float)(x.x / size);
    row[1] = (float)(x.y / size);
    row[2] = (float)(x.z / size);
    row[3] = last;
}

static void fillCoarse(const srFleshShape* shape, Graph* graph, double* nearest, float* weights,
                       int32_t* seeds, srCoarseRest* coarse) {
    double reach = chooseSeeds(graph, coarse->handleCapacity, nearest, seeds, &coarse->handleCount);
    // one handle alone reaches everywhere
    double radius = coarse->handleCount > 1 ? REACH * reach : 2.0 * reach;
    coarse->size = radius > 0.0 ? radius : 1.0;
    for (int32_t j = 0; j < coarse->handleCount; ++j) {
        writePlace(coarse->centres, j, shape->nodes[seeds[j]], coarse->size, 0.0f);
        findDistances(graph, seeds[j], coarse->size);
        float* row = weights + (size_t)j * (size_t)shape->nodeCount;
        for (int32_t i = 0; i < shape->nodeCount; ++i) {
            row[i] = (float)bump(graph->distances[i] / coarse->size);
        }
    }
    collectEntries(coarse, weights);
    collectMembers(weights, coarse);
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        writePlace(coarse->places, i, shape->nodes[i], coarse->size, 1.0f);
    }
}

srResult srCreateCoarseRest(const srFleshShape* shape, srCoarseRest** outCoarse) {
    *outCoarse = NULL;
    Graph graph;
    SR_TRY(createGraph(shape, &graph));
    int32_t capacity = shape->handleCount;
    size_t weightCount = (size_t)capacity * (size_t)shape->nodeCount;
    srCoarseRest* coarse = SR_ALLOC_ZERO(srCoarseRest, 1);
    double* nearest = SR_ALLOC(double, shape->nodeCount);
    float* weights = SR_ALLOC_ZERO(float, weightCount);
    int32_t* seeds = SR_ALLOC(int32_t, capacity);
    srResult result = sr_errorOutOfMemory;
    if (coarse != NULL && nearest != NULL && weights != NULL && seeds != NULL) {
        coarse->nodeCount = shape->nodeCount;
        coarse->handleCapacity = capacity;
        result = allocateCoarse(coarse);
    }
    if (result == sr_success) {
        fillCoarse(shape, &graph, nearest, weights, seeds, coarse);
        *outCoarse = coarse;
    } else {
        srDestroyCoarseRest(coarse);
        result = srFailOutOfMemory("the coarse correction");
    }
    SR_FREE(nearest, shape->nodeCount);
    SR_FREE(weights, weightCount);
    SR_FREE(seeds, capacity);
    destroyGraph(&graph, shape->cellCount);
    return result;
}

void srDestroyCoarseRest(srCoarseRest* coarse) {
    if (coarse == NULL) {
        return;
    }
    SR_FREE(coarse->starts, (size_t)coarse->nodeCount + 1);
    SR_FREE(coarse->entries, (size_t)coarse->nodeCount * (size_t)coarse->handleCapacity);
    SR_FREE(coarse->memberStarts, memberStartCount(coarse));
    SR_FREE(coarse->members, (size_t)coarse->nodeCount * (size_t)coarse->handleCapacity);
    SR_FREE(coarse->places, SR_ROW_FLOATS * (size_t)coarse->nodeCount);
    SR_FREE(coarse->centres, SR_ROW_FLOATS * (size_t)coarse->handleCapacity);
    SR_FREE(coarse->regions, coarse->handleCapacity);
    SR_FREE(coarse->cellRegions, coarse->laneCount);
    SR_FREE(coarse->patchRegions, coarse->patchCount);
    SR_FREE(coarse, 1);
}
