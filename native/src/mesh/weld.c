// SPDX-License-Identifier: GPL-3.0-or-later
//
// Three groupings: points by place, triangles by corners, sides by edge.

#include "mesh/weld.h"

#include "core/alloc.h"
#include "mesh/parts.h"

#include <string.h>

#define BLOCK_SIZE 4096
#define BATCH_SIZE (1 << 17)

// Sides of one edge among which mates are looked for
#define MOST_PAIRED 64

// Keys of what is to be grouped
typedef struct Keys {
    int32_t* buckets;
    uint64_t* keys;
    int32_t count;
} Keys;

static srResult createKeys(int32_t count, Keys* out) {
    *out = (Keys){SR_ALLOC(int32_t, count), SR_ALLOC(uint64_t, count), count};
    return out->buckets != NULL && out->keys != NULL ? sr_success
                                                     : srFailOutOfMemory("the edges of the surface");
}

static void destroyKeys(Keys* keys) {
    SR_FREE(keys->buckets, keys->count);
    SR_FREE(keys->keys, keys->count);
}

typedef struct Welding {
    const srSurface* surface;
    srWelded* welded;
    Keys keys;
    srParts parts; // none as long as nothing lies on each other
} Welding;

// points by place

// splitmix64's finaliser (Steele et al. 2014)
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// + 0.0 makes the two zeros one
static uint64_t mixWith(uint64_t seed, double x) {
    double number = x + 0.0;
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return mix(seed + UINT64_C(0x9e3779b97f4a7c15) + bits);
}

static void hashPoints(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Welding* welding = context;
    for (int32_t v = begin; v < end; v++) {
        srVec3 p = welding->surface->points[v];
        uint64_t hash = mixWith(mixWith(mixWith(0, p.x), p.y), p.z);
        welding->keys.keys[v] = hash;
        welding->keys.buckets[v] = (int32_t)(mix(hash) % (uint64_t)welding->surface->pointCount);
    }
}

// What is not a number is the same as anything: no triangle uses it, and many such points are one run.
static bool isSamePlace(srVec3 a, srVec3 b) {
    return !(a.x < b.x || a.x > b.x || a.y < b.y || a.y > b.y || a.z < b.z || a.z > b.z);
}

// Of points with the same hash each looks for the first one at its place; different places with the same
// hash would be a wonder, but would cost no more than time.
static void joinRun(const Welding* welding, const srKeyed* items, int32_t count) {
    const srVec3* points = welding->surface->points;
    for (int32_t i = 0; i < count; i++) {
        int32_t v = items[i].value, first = 0;
        while (first < i && !isSamePlace(points[items[first].value], points[v])) {
            first++;
        }
        welding->welded->places[v] = items[first].value;
    }
}

static srResult weldPoints(Welding* welding, const srProgress* progress) {
    int32_t count = welding->surface->pointCount;
    srProgress hashing = srPartOfProgress(progress, 0.0, 0.3);
    srProgress sorting = srPartOfProgress(progress, 0.3, 1.0);
    srBuckets buckets = {0};
    srResult result = createKeys(count, &welding->keys);
    if (result != sr_success) {
        goto cleanup;
    }
    SR_TRY_CLEANUP(srParallelForWithProgress(hashPoints, count, BLOCK_SIZE, BATCH_SIZE, welding, &hashing));
    SR_TRY_CLEANUP(
        srSortIntoBuckets(welding->keys.buckets, welding->keys.keys, count, count, &sorting, &buckets));
    for (int32_t b = 0; b < count; b++) {
        for (int32_t i = buckets.starts[b], end = i; i < buckets.starts[b + 1]; i = end) {
            end = srEndOfRun(&buckets, b, i);
            joinRun(welding, &buckets.items[i], end - i);
        }
    }

cleanup:
    destroyKeys(&welding->keys);
    srDestroyBuckets(&buckets);
    return result;
}

// triangles by corners

static void sortThree(const int32_t in[3], int32_t out[3]) {
    int32_t a = in[0], b = in[1], c = in[2];
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    out[0] = c < low ? c : low;
    out[2] = c > high ? c : high;
    out[1] = c < low ? low : c > high ? high : c;
}

static void keyTriangles(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Welding* welding = context;
    for (int32_t t = begin; t < end; t++) {
        int32_t* corners = welding->welded->triangles[t];
        int32_t sorted[3];
        for (int c = 0; c < 3; c++) {
            corners[c] = welding->welded->places[welding->surface->triangles[t][c]];
        }
        sortThree(corners, sorted);
        bool isFlat = sorted[0] == sorted[1] || sorted[1] == sorted[2];
        welding->keys.buckets[t] = isFlat ? SR_NULL_INDEX : sorted[0];
        welding->keys.keys[t] = srPairKey(sorted[1], sorted[2]);
    }
}

static bool hasRuns(const srBuckets* buckets, int32_t least) {
    for (int32_t b = 0; b < buckets->bucketCount; b++) {
        for (int32_t i = buckets->starts[b], end = i; i < buckets->starts[b + 1]; i = end) {
            end = srEndOfRun(buckets, b, i);
            if (end - i >= least) {
                return true;
            }
        }
    }
    return false;
}

static bool isOfWhole(const Welding* welding, int32_t triangle) {
    return welding->parts.parts[srPartOf(&welding->parts, welding->surface, triangle)].isWhole;
}

static void leaveOut(Welding* welding, int32_t triangle) {
    welding->keys.buckets[triangle] = SR_NULL_INDEX;
    welding->welded->duplicateCount++;
}

// Of each group those of whole parts stay; where there are none, the first triangle.
static void leaveOutDoubles(Welding* welding, const srBuckets* buckets) {
    for (int32_t b = 0; b < buckets->bucketCount; b++) {
        for (int32_t i = buckets->starts[b], end = i; i < buckets->starts[b + 1]; i = end) {
            end = srEndOfRun(buckets, b, i);
            bool isContact = false;
            for (int32_t k = i; k < end && end - i > 1; k++) {
                isContact = isContact || isOfWhole(welding, buckets->items[k].value);
            }
            for (int32_t k = i; k < end && end - i > 1; k++) {
                if (isContact ? !isOfWhole(welding, buckets->items[k].value) : k > i) {
                    leaveOut(welding, buckets->items[k].value);
                }
            }
        }
    }
}

// The order of those that stay is that of the surface.
static void keepRest(srWelded* welded, const Keys* keys) {
    int32_t kept = 0;
    for (int32_t t = 0; t < keys->count; t++) {
        if (keys->buckets[t] >= 0) {
            welded->sources[kept] = t;
            memmove(welded->triangles[kept++], welded->triangles[t], sizeof(welded->triangles[0]));
        }
    }
    welded->triangleCount = kept;
}

static srResult dropDoubles(Welding* welding, const srProgress* progress) {
    int32_t count = welding->surface->triangleCount;
    srProgress keying = srPartOfProgress(progress, 0.0, 0.3);
    srProgress sorting = srPartOfProgress(progress, 0.3, 1.0);
    srBuckets buckets = {0};
    srResult result = createKeys(count, &welding->keys);
    if (result != sr_success) {
        goto cleanup;
    }
    SR_TRY_CLEANUP(srParallelForWithProgress(keyTriangles, count, BLOCK_SIZE, BATCH_SIZE, welding, &keying));
    SR_TRY_CLEANUP(srSortIntoBuckets(welding->keys.buckets, welding->keys.keys, count,
                                     welding->surface->pointCount, &sorting, &buckets));
    for (int32_t t = 0; t < count; t++) {
        welding->welded->flatCount += welding->keys.buckets[t] < 0;
    }
    if (hasRuns(&buckets, 2)) {
        SR_TRY_CLEANUP(srCreateParts(welding->surface, &welding->parts));
        srJudgeParts(welding->surface, &buckets, &welding->parts);
        leaveOutDoubles(welding, &buckets);
    }
    keepRest(welding->welded, &welding->keys);

cleanup:
    destroyKeys(&welding->keys);
    srDestroyBuckets(&buckets);
    return result;
}

// sides by edge

static void keySides(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Welding* welding = context;
    for (int32_t side = begin; side < end; side++) {
        const int32_t* corners = welding->welded->triangles[side / 3];
        int32_t a = corners[side % 3], b = corners[(side + 1) % 3];
        welding->keys.buckets[side] = a < b ? a : b;
        welding->keys.keys[side] = (uint64_t)(uint32_t)(a < b ? b : a);
    }
}

static int32_t partOfSide(const Welding* welding, int32_t side) {
    return srPartOf(&welding->parts, welding->surface, welding->welded->sources[side / 3]);
}

// At an edge of many sides two of a whole part, which has no others there, are mates: what only touches it
// cuts it nowhere. So are two that are left.
static void pairByParts(const Welding* welding, const srKeyed* sides, int32_t count) {
    int32_t* mates = welding->welded->mates;
    int32_t left[2] = {0, 0}, leftCount = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t part = partOfSide(welding, sides[i].value), own = 0, other = i;
        for (int32_t k = 0; k < count && own < 3; k++) {
            bool isOwn = partOfSide(welding, sides[k].value) == part;
            own += isOwn;
            other = isOwn && k != i ? k : other;
        }
        if (own == 2 && welding->parts.parts[part].isWhole) {
            mates[sides[i].value] = sides[other].value;
        } else {
            mates[sides[i].value] = SR_SIDE_SHARED;
            left[leftCount % 2] = sides[i].value;
            leftCount++;
        }
    }
    if (leftCount == 2 && leftCount < count) {
        mates[left[0]] = left[1];
        mates[left[1]] = left[0];
    }
}

static void pairSides(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Welding* welding = context;
    const srBuckets* edges = &welding->welded->edges;
    int32_t* mates = welding->welded->mates;
    for (int32_t b = begin; b < end; b++) {
        for (int32_t i = edges->starts[b], stop = i; i < edges->starts[b + 1]; i = stop) {
            stop = srEndOfRun(edges, b, i);
            if (stop - i == 2) {
                mates[edges->items[i].value] = edges->items[i + 1].value;
                mates[edges->items[i + 1].value] = edges->items[i].value;
            } else if (stop - i > 2 && stop - i <= MOST_PAIRED) {
                pairByParts(welding, &edges->items[i], stop - i);
            } else {
                for (int32_t side = i; side < stop; side++) {
                    mates[edges->items[side].value] = stop - i == 1 ? SR_SIDE_ALONE : SR_SIDE_SHARED;
                }
            }
        }
    }
}

static srResult joinSides(Welding* welding, const srProgress* progress) {
    srWelded* welded = welding->welded;
    int32_t count = 3 * welded->triangleCount, pointCount = welding->surface->pointCount;
    srProgress keying = srPartOfProgress(progress, 0.0, 0.2);
    srProgress sorting = srPartOfProgress(progress, 0.2, 0.8);
    srProgress pairing = srPartOfProgress(progress, 0.8, 1.0);
    srResult result = createKeys(count, &welding->keys);
    if (result != sr_success) {
        goto cleanup;
    }
    SR_TRY_CLEANUP(srParallelForWithProgress(keySides, count, BLOCK_SIZE, BATCH_SIZE, welding, &keying));
    SR_TRY_CLEANUP(srSortIntoBuckets(welding->keys.buckets, welding->keys.keys, count, pointCount, &sorting,
                                     &welded->edges));
    if (welding->parts.parts == NULL && hasRuns(&welded->edges, 3)) {
        SR_TRY_CLEANUP(srCreateParts(welding->surface, &welding->parts));
    }
    SR_TRY_CLEANUP(
        srParallelForWithProgress(pairSides, pointCount, BLOCK_SIZE, BATCH_SIZE, welding, &pairing));

cleanup:
    destroyKeys(&welding->keys);
    return result;
}

static int32_t countJoined(const Welding* welding) {
    int32_t count = 0;
    for (int32_t v = 0; v < welding->surface->pointCount; v++) {
        count += welding->welded->places[v] != v;
    }
    return count;
}

srResult srWeldSurface(const srSurface* surface, const srProgress* progress, srWelded* outWelded) {
    srResult result = sr_success;
    srWelded welded = {.triangleCapacity = surface->triangleCount, .pointCount = surface->pointCount};
    Welding welding = {.surface = surface, .welded = &welded};
    srProgress points = srPartOfProgress(progress, 0.0, 0.2);
    srProgress doubles = srPartOfProgress(progress, 0.2, 0.5);
    srProgress sides = srPartOfProgress(progress, 0.5, 1.0);
    welded.places = SR_ALLOC(int32_t, surface->pointCount);
    welded.triangles = srAlloc((size_t)surface->triangleCount, sizeof(welded.triangles[0]));
    welded.mates = srAlloc((size_t)surface->triangleCount, 3 * sizeof(int32_t));
    welded.sources = SR_ALLOC(int32_t, surface->triangleCount);
    if (welded.places == NULL || welded.triangles == NULL || welded.mates == NULL || welded.sources == NULL) {
        result = srFailOutOfMemory("the edges of the surface");
        goto cleanup;
    }
    SR_TRY_CLEANUP(weldPoints(&welding, &points));
    SR_TRY_CLEANUP(dropDoubles(&welding, &doubles));
    SR_TRY_CLEANUP(joinSides(&welding, &sides));
    welded.weldedCount = countJoined(&welding);
    *outWelded = welded;

cleanup:
    srDestroyParts(&welding.parts);
    if (result != sr_success) {
        srDestroyWelded(&welded);
    }
    return result;
}

void srDestroyWelded(srWelded* welded) {
    srFree(welded->triangles, (size_t)welded->triangleCapacity, sizeof(welded->triangles[0]));
    srFree(welded->mates, (size_t)welded->triangleCapacity, 3 * sizeof(int32_t));
    SR_FREE(welded->places, welded->pointCount);
    SR_FREE(welded->sources, welded->triangleCapacity);
    srDestroyBuckets(&welded->edges);
    *welded = (srWelded){0};
}

const srKeyed* srFindSides(const srWelded* welded, int32_t side, int32_t most, int32_t* outFirst,
                           int32_t* outCount) {
    const int32_t* corners = welded->triangles[side / 3];
    int32_t a = corners[side % 3], b = corners[(side + 1) % 3];
    int32_t bucket = a < b ? a : b, bucketEnd = welded->edges.starts[bucket + 1];
    uint64_t key = (uint64_t)(uint32_t)(a < b ? b : a);
    int32_t first = srFindInBucket(&welded->edges, bucket, key), count = 0;
    while (count < most && first + count < bucketEnd && welded->edges.items[first + count].key == key) {
        count++;
    }
    *outFirst = first;
    *outCount = count;
    return welded->edges.items;
}
