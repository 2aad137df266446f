// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cutting cells into patches: halves of halves along the longest side, until eight are left. Cells of one
// plane go by their index (docs/decisions/0056).

#include "solver/patches.h"

#include "core/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATCH_NODES (4 * SR_LANES_PER_BLOCK)

// Of the largest coordinate: nearer than this two places are one, for as floats they might have been
#define SAME_PLACE 1e-6

// A cell among the batches, with its centre and, along each axis, the plane it lies in
typedef struct Placed {
    srVec3 centre;
    int32_t planes[3];
    int32_t batch;
    int32_t lane;
} Placed;

typedef struct Sorted {
    double coordinate;
    int32_t cell;
} Sorted;

static double coordinate(srVec3 x, int axis) {
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

static int compareSorted(const void* a, const void* b) {
    const Sorted* x = a;
    const Sorted* y = b;
    if (x->coordinate != y->coordinate) {
        return x->coordinate < y->coordinate ? -1 : 1;
    }
    return (x->cell > y->cell) - (x->cell < y->cell);
}

// Cells of a lattice lie in planes, and rounding must not tell which of a plane comes first: it is another
// one in a scene of another size. A plane begins with its first cell and is no thicker than SAME_PLACE.
static void findPlanes(Placed* cells, int32_t count, Sorted* sorted) {
    double largest = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        srVec3 x = cells[i].centre;
        largest = fmax(largest, fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))));
    }
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t i = 0; i < count; ++i) {
            sorted[i] = (Sorted){coordinate(cells[i].centre, axis), i};
        }
        qsort(sorted, (size_t)count, sizeof(Sorted), compareSorted);
        int32_t plane = 0;
        double begin = sorted[0].coordinate;
        for (int32_t i = 0; i < count; ++i) {
            if (sorted[i].coordinate - begin > SAME_PLACE * largest) {
                ++plane;
                begin = sorted[i].coordinate;
            }
            cells[sorted[i].cell].planes[axis] = plane;
        }
    }
}

static bool isBefore(const Placed* a, const Placed* b, int axis) {
    if (a->planes[axis] != b->planes[axis]) {
        return a->planes[axis] < b->planes[axis];
    }
    return a->batch != b->batch ? a->batch < b->batch : a->lane < b->lane;
}

static void swapPlaced(Placed* a, Placed* b) {
    Placed kept = *a;
    *a = *b;
    *b = kept;
}

// Hoare's selection: the first `k` of the cells are before the others along the axis
static void select(Placed* cells, int32_t count, int32_t k, int axis) {
    int32_t first = 0;
    int32_t last = count - 1;
    while (first < last) {
        Placed pivot = cells[first + (last - first) / 2];
        int32_t i = first;
        int32_t j = last;
        while (i <= j) {
            while (isBefore(&cells[i], &pivot, axis)) {
                ++i;
            }
            while (isBefore(&pivot, &cells[j], axis)) {
                --j;
            }
            if (i <= j) {
                swapPlaced(&cells[i++], &cells[j--]);
            }
        }
        if (k <= j) {
            last = j;
        } else if (k >= i) {
            first = i;
        } else {
            return;
        }
    }
}

static int longestSide(const Placed* cells, int32_t count) {
    srVec3 lower = cells[0].centre;
    srVec3 upper = lower;
    for (int32_t i = 1; i < count; ++i) {
        lower = srMin(lower, cells[i].centre);
        upper = srMax(upper, cells[i].centre);
    }
    srVec3 sides = srSub(upper, lower);
    double longest = (1.0 - SAME_PLACE) * fmax(sides.x, fmax(sides.y, sides.z)); // of equal ones the first
    return sides.x >= longest ? 0 : sides.y >= longest ? 1 : 2;
}

// Sorts cells into runs of patches; marks where they end. Depth: the logarithm of the count.
static void bisect(Placed* cells, int32_t count, uint8_t* isLast) {
    if (count <= SR_LANES_PER_BLOCK) {
        isLast[count - 1] = 1;
        return;
    }
    // whole patches on the left, so that few are small
    int32_t half = (count / 2 + SR_LANES_PER_BLOCK - 1) / SR_LANES_PER_BLOCK * SR_LANES_PER_BLOCK;
    half = half < count ? half : count / 2;
    select(cells, count, half, longestSide(cells, count));
    bisect(cells, half, isLast);
    bisect(cells + half, count - half, isLast + half);
}

static int32_t placeOf(srPatch* patch, int32_t node) {
    for (int32_t i = 0; i < patch->nodeCount; ++i) {
        if (patch->nodes[i] == node) {
            return i;
        }
    }
    patch->nodes[patch->nodeCount] = node;
    return patch->nodeCount++;
}

static void fillPatch(const srFleshRest* rest, const Placed* cells, int32_t count, srPatch* patch) {
    memset(patch, 0, sizeof(*patch));
    for (int32_t i = 0; i < SR_LANES_PER_BLOCK; ++i) {
        patch->batches[i] = SR_NULL_INDEX;
    }
    for (int32_t i = 0; i < count; ++i) {
        const srCellBlock* block = &rest->blocks[cells[i].batch];
        int32_t lane = cells[i].lane;
        patch->batches[i] = cells[i].batch;
        patch->lanes[i] = lane;
        patch->V[i] = rest->volumes[cells[i].batch].V[lane];
        for (int c = 0; c < 4; ++c) {
            patch->cells.places[c][i] = block->places[c][lane];
            patch->locals[c][i] = placeOf(patch, block->places[c][lane] / SR_ROW_FLOATS);
        }
        for (int corner = 0; corner < 3; ++corner) {
            float g[3];
            for (int axis = 0; axis < 3; ++axis) {
                g[axis] = block->gradients[corner][axis][lane];
            }
            if (rest->fibres != NULL) {
                srUnstretch(&rest->fibres[cells[i].batch], lane, g);
            }
            for (int axis = 0; axis < 3; ++axis) {
                patch->cells.gradients[corner][axis][i] = g[axis];
            }
        }
    }
    for (int32_t i = count; i < SR_LANES_PER_BLOCK; ++i) {
        for (int c = 0; c < 4; ++c) {
            patch->cells.places[c][i] = patch->cells.places[c][0];
        }
    }
}

static int32_t placeCells(const srFleshShape* shape, const srFleshRest* rest, Placed* out) {
    int32_t count = 0;
    for (int32_t b = 0; b < rest->batches.batchCount; ++b) {
        for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
            if (rest->volumes[b].V[lane] > 0.0f) {
                srVec3 sum = {0.0, 0.0, 0.0};
                for (int c = 0; c < 4; ++c) {
                    sum = srAdd(sum, shape->nodes[rest->blocks[b].places[c][lane] / SR_ROW_FLOATS]);
                }
                out[count++] = (Placed){.centre = srScale(0.25, sum), .batch = b, .lane = lane};
            }
        }
    }
    return count;
}

// patches in the order of chunks; `nodes` holds each patch's, the first one repeated
static srResult orderPatches(const srPatch* unordered, int32_t count, int32_t nodeCount,
                             srFleshPatches* out) {
    int32_t* nodes = SR_ALLOC(int32_t, PATCH_NODES*(size_t)count);
    if (nodes == NULL) {
        return srFailOutOfMemory("the flesh");
    }
    for (int32_t i = 0; i < count; ++i) {
        for (int32_t k = 0; k < PATCH_NODES; ++k) {
            nodes[PATCH_NODES * (size_t)i + (size_t)k] =
                unordered[i].nodes[k < unordered[i].nodeCount ? k : 0];
        }
    }
    srResult result = srCreateChunks(nodes, PATCH_NODES, count, nodeCount, &out->chunks);
    if (result == sr_success) {
        for (int32_t place = 0; place < count; ++place) {
            out->patches[place] = unordered[out->chunks.order[place]];
        }
    }
    SR_FREE(nodes, PATCH_NODES * (size_t)count);
    return result;
}

static srResult cutPatches(const srFleshShape* shape, const srFleshRest* rest, Placed* cells, uint8_t* isLast,
                           srFleshPatches* out) {
    int32_t cellCount = placeCells(shape, rest, cells);
    if (cellCount == 0) {
        return sr_success;
    }
    Sorted* sorted = SR_ALLOC(Sorted, cellCount);
    if (sorted == NULL) {
        return srFailOutOfMemory("the flesh");
    }
    findPlanes(cells, cellCount, sorted);
    SR_FREE(sorted, cellCount);
    bisect(cells, cellCount, isLast);
    int32_t count = 0;
    for (int32_t i = 0; i < cellCount; ++i) {
        count += isLast[i];
    }
    srPatch* unordered = SR_ALLOC(srPatch, count);
    out->patches = SR_ALLOC(srPatch, count);
    out->patchCount = count;
    srResult result = sr_errorOutOfMemory;
    if (unordered != NULL && out->patches != NULL) {
        int32_t first = 0;
        int32_t patch = 0;
        for (int32_t i = 0; i < cellCount; ++i) {
            if (isLast[i]) {
                fillPatch(rest, cells + first, i + 1 - first, &unordered[patch++]);
                first = i + 1;
            }
        }
        result = orderPatches(unordered, count, rest->nodeCount, out);
    }
    SR_FREE(unordered, count);
    return result;
}

srResult srCreateFleshPatches(const srFleshShape* shape, const srFleshRest* rest,
                              srFleshPatches** outPatches) {
    *outPatches = NULL;
    size_t laneCount = SR_LANES_PER_BLOCK * (size_t)rest->batches.batchCount;
    if (laneCount == 0) {
        return sr_success;
    }
    srFleshPatches* patches = SR_ALLOC_ZERO(srFleshPatches, 1);
    Placed* cells = SR_ALLOC(Placed, laneCount);
    uint8_t* isLast = SR_ALLOC_ZERO(uint8_t, laneCount);
    srResult result = sr_errorOutOfMemory;
    if (patches != NULL && cells != NULL && isLast != NULL) {
        result = cutPatches(shape, rest, cells, isLast, patches);
    }
    SR_FREE(cells, laneCount);
    SR_FREE(isLast, laneCount);
    if (result != sr_success) {
        srDestroyFleshPatches(patches);
        return srFailOutOfMemory("the flesh");
    }
    *outPatches = patches;
    return sr_success;
}

void srDestroyFleshPatches(srFleshPatches* patches) {
    if (patches != NULL) {
        SR_FREE(patches->patches, patches->patchCount);
        srDestroyChunks(&patches->chunks);
        SR_FREE(patches, 1);
    }
}
