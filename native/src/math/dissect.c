// SPDX-License-Identifier: GPL-3.0-or-later
//
// Nested dissection (George 1973) by planes: a range of nodes is sorted along several directions and cut at
// several places; the separator of a cut is the smallest vertex cover of the edges that cross it (a largest
// matching, and Koenig's theorem); the cut that is cheapest wins. Left part, right part, separator: the order
// is the array itself. Small ranges are ordered by exact minimum degree, their surroundings included.

#include "math/dissect.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

enum {
    directionCount = 9,
    cutCount = 5,
    leafSize = 60,      // measured: 60 to 250 differ by less than 2 % in fill
    maxLeafCover = 900, // nodes of a leaf and around it that minimum degree is tried on
    maxDepth = 64,
    keyLimit = 1 << 24,
    wordBits = 64
};

// the three axes, and across the edges of the cube
static const double directions[directionCount][3] = {
    {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1},
};

typedef enum Side {
    side_left,
    side_right,
    side_separator
} Side;

typedef struct Key {
    uint32_t along;
    int32_t node;
} Key;

// A range of `order`, cut on its own.
typedef struct Range {
    int32_t begin;
    int32_t end;
} Range;

// Everything by node but keys and `queue`.
typedef struct Dissection {
    int32_t nodeCount;
    int32_t edgeCount; // both ways
    const srVec3* positions;
    int32_t* starts; // nodeCount + 1
    int32_t* neighbors;
    int32_t* order;
    int32_t* ranks;    // within the range that is being cut; SR_NULL_INDEX outside
    int32_t* farthest; // the highest rank among neighbours
    int32_t* matches;
    int32_t* parents; // of a search, by node of the right side
    int32_t* stamps;
    int32_t stamp;
    int32_t* queue;
    uint8_t* sides;
    uint8_t* bestSides;
    uint8_t* isReached;
    Key* keys;
    Key* spareKeys;

    // minimum degree of a leaf
    uint64_t* rows;
    int32_t* members;
} Dissection;

static srResult allocateDissection(Dissection* d) {
    int32_t n = d->nodeCount;
    d->neighbors = SR_ALLOC(int32_t, d->edgeCount + 1);
    d->ranks = SR_ALLOC(int32_t, n);
    d->farthest = SR_ALLOC(int32_t, n);
    d->matches = SR_ALLOC(int32_t, n);
    d->parents = SR_ALLOC(int32_t, n);
    d->stamps = SR_ALLOC_ZERO(int32_t, n);
    d->queue = SR_ALLOC(int32_t, n);
    d->sides = SR_ALLOC(uint8_t, n);
    d->bestSides = SR_ALLOC(uint8_t, n);
    d->isReached = SR_ALLOC(uint8_t, n);
    d->keys = SR_ALLOC(Key, n);
    d->spareKeys = SR_ALLOC(Key, n);
    d->rows = SR_ALLOC(uint64_t, maxLeafCover*(maxLeafCover / wordBits + 1));
    d->members = SR_ALLOC(int32_t, maxLeafCover);
    bool isWhole = d->neighbors && d->ranks && d->farthest && d->matches && d->parents && d->stamps &&
                   d->queue && d->sides && d->bestSides && d->isReached && d->keys && d->spareKeys &&
                   d->rows && d->members;
    return isWhole ? sr_success : srFailOutOfMemory("the order of a sparse factor");
}

static void freeDissection(Dissection* d) {
    int32_t n = d->nodeCount;
    SR_FREE(d->starts, n + 1);
    SR_FREE(d->neighbors, d->edgeCount + 1);
    SR_FREE(d->ranks, n);
    SR_FREE(d->farthest, n);
    SR_FREE(d->matches, n);
    SR_FREE(d->parents, n);
    SR_FREE(d->stamps, n);
    SR_FREE(d->queue, n);
    SR_FREE(d->sides, n);
    SR_FREE(d->bestSides, n);
    SR_FREE(d->isReached, n);
    SR_FREE(d->keys, n);
    SR_FREE(d->spareKeys, n);
    SR_FREE(d->rows, maxLeafCover * (maxLeafCover / wordBits + 1));
    SR_FREE(d->members, maxLeafCover);
}

static void countNeighbors(Dissection* d, const srCsc* A) {
    for (int32_t j = 0; j < d->nodeCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            if (A->rows[p] > j) {
                d->starts[A->rows[p] + 1]++;
                d->starts[j + 1]++;
            }
        }
    }
    for (int32_t i = 0; i < d->nodeCount; i++) {
        d->starts[i + 1] += d->starts[i];
    }
    d->edgeCount = d->starts[d->nodeCount];
}

static void listNeighbors(Dissection* d, const srCsc* A) {
    int32_t* next = d->queue;
    memcpy(next, d->starts, (size_t)d->nodeCount * sizeof(int32_t));
    for (int32_t j = 0; j < d->nodeCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            int32_t i = A->rows[p];
            if (i > j) {
                d->neighbors[next[i]++] = j;
                d->neighbors[next[j]++] = i;
            }
        }
    }
}

static double placeAlong(const Dissection* d, int32_t node, const double direction[3]) {
    srVec3 x = d->positions[node];
    return direction[0] * x.x + direction[1] * x.y + direction[2] * x.z;
}

// One stable pass of a counting sort, by eight bits of the keys.
static void sortByBits(const Key* keys, int32_t count, int shift, Key* outKeys) {
    int32_t starts[257] = {0};
    for (int32_t k = 0; k < count; k++) {
        starts[(keys[k].along >> shift & 255) + 1]++;
    }
    for (int bucket = 0; bucket < 256; bucket++) {
        starts[bucket + 1] += starts[bucket];
    }
    for (int32_t k = 0; k < count; k++) {
        outKeys[starts[keys[k].along >> shift & 255]++] = keys[k];
    }
}

// Sorts the range by place, to a part in 2^24 of its length; those at one place keep their order.
static void rankAlong(Dissection* d, Range range, const double direction[3]) {
    int32_t count = range.end - range.begin;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int32_t k = 0; k < count; k++) {
        double place = placeAlong(d, d->order[range.begin + k], direction);
        least = place < least ? place : least;
        most = place > most ? place : most;
    }
    double scale = (keyLimit - 1) / (most - least);
    for (int32_t k = 0; k < count; k++) {
        int32_t node = d->order[range.begin + k];
        double along = (placeAlong(d, node, direction) - least) * scale;
        // not the other way round: all at one place, or too far apart, gives a NaN
        d->keys[k] = (Key){along >= 0.0 && along < keyLimit ? (uint32_t)along : 0, node};
    }
    sortByBits(d->keys, count, 0, d->spareKeys);
    sortByBits(d->spareKeys, count, 8, d->keys);
    sortByBits(d->keys, count, 16, d->spareKeys);
    memcpy(d->keys, d->spareKeys, (size_t)count * sizeof(Key));
    for (int32_t k = 0; k < count; k++) {
        d->ranks[d->keys[k].node] = k;
    }
    for (int32_t k = 0; k < count; k++) {
        int32_t node = d->keys[k].node, farthest = SR_NULL_INDEX;
        for (int32_t p = d->starts[node]; p < d->starts[node + 1]; p++) {
            int32_t rank = d->ranks[d->neighbors[p]];
            farthest = rank > farthest ? rank : farthest;
        }
        d->farthest[node] = farthest;
    }
}

// Whether an edge of a node on the left crosses the cut.
static bool isAtCut(const Dissection* d, int32_t node, int32_t cut) {
    return d->farthest[node] >= cut;
}

static bool isRight(const Dissection* d, int32_t node, int32_t cut) {
    return d->ranks[node] >= cut; // false outside of the range
}

// Looks for a path from a free node of the left side to a free one of the right, by breadth, and flips it.
static void augment(Dissection* d, int32_t start, int32_t cut) {
    int32_t head = 0, tail = 0;
    d->stamp++;
    d->queue[tail++] = start;
    while (head < tail) {
        int32_t left = d->queue[head++];
        for (int32_t p = d->starts[left]; p < d->starts[left + 1]; p++) {
            int32_t right = d->neighbors[p];
            if (!isRight(d, right, cut) || d->stamps[right] == d->stamp) {
                continue;
            }
            d->stamps[right] = d->stamp;
            d->parents[right] = left;
            if (d->matches[right] != SR_NULL_INDEX) {
                d->queue[tail++] = d->matches[right];
                continue;
            }
            for (int32_t at = right; at != SR_NULL_INDEX;) {
                int32_t mate = d->parents[at], next = d->matches[mate];
                d->matches[at] = mate;
                d->matches[mate] = at;
                at = next;
            }
            return;
        }
    }
}

static void matchGreedily(Dissection* d, int32_t left, int32_t cut) {
    for (int32_t p = d->starts[left]; p < d->starts[left + 1]; p++) {
        int32_t right = d->neighbors[p];
        if (isRight(d, right, cut) && d->matches[right] == SR_NULL_INDEX) {
            d->matches[right] = left;
            d->matches[left] = right;
            return;
        }
    }
}

// Marks what alternating paths reach from free nodes of the left side. Sides are by rank here.
static void markReached(Dissection* d, int32_t cut) {
    int32_t head = 0, tail = 0;
    for (int32_t k = 0; k < cut; k++) {
        int32_t left = d->keys[k].node;
        if (d->matches[left] == SR_NULL_INDEX && isAtCut(d, left, cut)) {
            d->isReached[left] = 1;
            d->queue[tail++] = left;
        }
    }
    while (head < tail) {
        int32_t left = d->queue[head++];
        for (int32_t p = d->starts[left]; p < d->starts[left + 1]; p++) {
            int32_t right = d->neighbors[p];
            if (!isRight(d, right, cut) || d->isReached[right]) {
                continue;
            }
            d->isReached[right] = 1;
            int32_t mate = d->matches[right];
            if (mate != SR_NULL_INDEX && !d->isReached[mate]) {
                d->isReached[mate] = 1;
                d->queue[tail++] = mate;
            }
        }
    }
}

// Cuts the sorted range before its `cut`-th node; fills `sides` and returns what the cut costs: the size of
// the separator, more where the halves are uneven.
static double cutRange(Dissection* d, int32_t count, int32_t cut) {
    for (int32_t k = 0; k < count; k++) {
        d->matches[d->keys[k].node] = SR_NULL_INDEX;
        d->isReached[d->keys[k].node] = 0;
    }
    for (int32_t k = 0; k < cut; k++) {
        if (isAtCut(d, d->keys[k].node, cut)) {
            matchGreedily(d, d->keys[k].node, cut);
        }
    }
    for (int32_t k = 0; k < cut; k++) {
        if (d->matches[d->keys[k].node] == SR_NULL_INDEX && isAtCut(d, d->keys[k].node, cut)) {
            augment(d, d->keys[k].node, cut);
        }
    }
    markReached(d, cut);
    int32_t counts[3] = {0};
    for (int32_t k = 0; k < count; k++) {
        int32_t node = d->keys[k].node;
        Side side = k < cut ? side_left : side_right;
        bool isCovering = d->matches[node] != SR_NULL_INDEX && (d->isReached[node] != 0) == (k >= cut);
        d->sides[node] = (uint8_t)(isCovering ? side_separator : side);
        counts[d->sides[node]]++;
    }
    int32_t larger = counts[side_left] > counts[side_right] ? counts[side_left] : counts[side_right];
    return larger == count ? HUGE_VAL : counts[side_separator] * (2.0 * larger / count);
}

// The best of all cuts in `bestSides`; false when none is worth it.
static bool chooseCut(Dissection* d, Range range) {
    int32_t count = range.end - range.begin;
    double best = HUGE_VAL;
    for (int direction = 0; direction < directionCount; direction++) {
        rankAlong(d, range, directions[direction]);
        for (int c = 0; c < cutCount; c++) {
            int32_t cut = (int32_t)((int64_t)count * (40 + 5 * c) / 100);
            double cost = cutRange(d, count, cut);
            if (!(cost < best)) {
                continue;
            }
            best = cost;
            for (int32_t k = range.begin; k < range.end; k++) {
                d->bestSides[d->order[k]] = d->sides[d->order[k]];
            }
        }
    }
    return best <= 0.3 * count;
}

// Brings the range into the order left, right, separator, each in the order it had.
static void splitRange(Dissection* d, Range range, Range outParts[2]) {
    int32_t counts[3] = {0};
    for (int32_t k = range.begin; k < range.end; k++) {
        counts[d->bestSides[d->order[k]]]++;
    }
    int32_t next[3] = {0, counts[side_left], counts[side_left] + counts[side_right]};
    outParts[0] = (Range){range.begin, range.begin + next[1]};
    outParts[1] = (Range){range.begin + next[1], range.begin + next[2]};
    for (int32_t k = range.begin; k < range.end; k++) {
        d->queue[next[d->bestSides[d->order[k]]]++] = d->order[k];
    }
    memcpy(d->order + range.begin, d->queue, (size_t)(range.end - range.begin) * sizeof(int32_t));
}

// Lists the range and the nodes next to it in `members`; false when they are too many.
static bool gatherMembers(Dissection* d, Range range, int32_t* outCount) {
    int32_t count = range.end - range.begin;
    if (count > maxLeafCover) {
        return false;
    }
    d->stamp++;
    for (int32_t k = 0; k < count; k++) {
        d->members[k] = d->order[range.begin + k];
        d->stamps[d->members[k]] = d->stamp;
        d->ranks[d->members[k]] = k;
    }
    int32_t inside = count;
    for (int32_t k = 0; k < inside; k++) {
        for (int32_t p = d->starts[d->members[k]]; p < d->starts[d->members[k] + 1]; p++) {
            int32_t node = d->neighbors[p];
            if (d->stamps[node] == d->stamp) {
                continue;
            }
            if (count == maxLeafCover) {
                return false;
            }
            d->stamps[node] = d->stamp;
            d->ranks[node] = count;
            d->members[count++] = node;
        }
    }
    *outCount = count;
    return true;
}

static int32_t countBits(const uint64_t* row, int32_t wordCount) {
    int32_t sum = 0;
    for (int32_t w = 0; w < wordCount; w++) {
        sum += __builtin_popcountll(row[w]);
    }
    return sum;
}

// Eliminates `pivot` from the bit matrix: its neighbours become neighbours of each other.
static void eliminate(uint64_t* rows, int32_t wordCount, int32_t pivot) {
    const uint64_t* row = rows + (size_t)pivot * (size_t)wordCount;
    for (int32_t w = 0; w < wordCount; w++) {
        for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
            int32_t node = wordBits * w + __builtin_ctzll(bits);
            uint64_t* other = rows + (size_t)node * (size_t)wordCount;
            for (int32_t v = 0; v < wordCount; v++) {
                other[v] |= row[v];
            }
            other[node / wordBits] &= ~(UINT64_C(1) << (node % wordBits));
            other[pivot / wordBits] &= ~(UINT64_C(1) << (pivot % wordBits));
        }
    }
}

// Exact minimum degree within the range; nodes around it count as neighbours and are not eliminated.
static void orderLeaf(Dissection* d, Range range) {
    int32_t memberCount, count = range.end - range.begin;
    if (!gatherMembers(d, range, &memberCount)) {
        return;
    }
    int32_t wordCount = (memberCount + wordBits - 1) / wordBits;
    memset(d->rows, 0, (size_t)memberCount * (size_t)wordCount * sizeof(uint64_t));
    for (int32_t k = 0; k < count; k++) {
        for (int32_t p = d->starts[d->members[k]]; p < d->starts[d->members[k] + 1]; p++) {
            int32_t other = d->ranks[d->neighbors[p]];
            d->rows[(size_t)k * (size_t)wordCount + (size_t)(other / wordBits)] |= UINT64_C(1)
                                                                                   << (other % wordBits);
            d->rows[(size_t)other * (size_t)wordCount + (size_t)(k / wordBits)] |= UINT64_C(1)
                                                                                   << (k % wordBits);
        }
    }
    memset(d->isReached, 0, (size_t)count); // here: by place in the range
    for (int32_t step = 0; step < count; step++) {
        int32_t pivot = SR_NULL_INDEX, least = INT32_MAX;
        for (int32_t k = 0; k < count; k++) {
            int32_t degree =
                d->isReached[k] ? INT32_MAX : countBits(d->rows + (size_t)k * (size_t)wordCount, wordCount);
            if (degree < least) {
                least = degree;
                pivot = k;
            }
        }
        d->isReached[pivot] = 1;
        eliminate(d->rows, wordCount, pivot);
        d->order[range.begin + step] = d->members[pivot];
    }
}

static void clearRanks(Dissection* d) {
    memset(d->ranks, 0xff, (size_t)d->nodeCount * sizeof(int32_t)); // all SR_NULL_INDEX
}

// Left parts are done at once, right ones wait. A part is at most three fifths of its whole and a bit, so the
// stack is never full; if it were, the range would be a leaf.
static void dissectAll(Dissection* d) {
    Range stack[maxDepth] = {{0, d->nodeCount}};
    int depth = 1;
    while (depth > 0) {
        Range range = stack[--depth];
        bool isCut = range.end - range.begin > leafSize && depth + 2 <= maxDepth && chooseCut(d, range);
        if (isCut) {
            Range parts[2];
            splitRange(d, range, parts);
            stack[depth++] = parts[1];
            stack[depth++] = parts[0];
        } else {
            orderLeaf(d, range);
        }
        clearRanks(d);
    }
}

static srResult checkInput(const srCsc* A, const srVec3* positions) {
    if (A->rowCount != A->columnCount || A->columnCount < 1) {
        return srFail(sr_errorInvalidValue, "A matrix of %d x %d cannot be ordered.", A->rowCount,
                      A->columnCount);
    }
    for (int32_t i = 0; i < A->columnCount; i++) {
        double sum = positions[i].x + positions[i].y + positions[i].z;
        if (!isfinite(sum)) {
            return srFail(sr_errorNotFinite, "Point %d of the order is not finite.", i);
        }
    }
    return sr_success;
}

srResult srDissect(const srCsc* A, const srVec3* positions, int32_t* outOrder) {
    SR_TRY(checkInput(A, positions));
    srResult result = sr_success;
    Dissection d = {.nodeCount = A->columnCount, .positions = positions, .order = outOrder};
    d.starts = SR_ALLOC_ZERO(int32_t, d.nodeCount + 1);
    if (d.starts == NULL) {
        return srFailOutOfMemory("the order of a sparse factor");
    }
    countNeighbors(&d, A);
    SR_TRY_CLEANUP(allocateDissection(&d));
    listNeighbors(&d, A);
    for (int32_t i = 0; i < d.nodeCount; i++) {
        outOrder[i] = i;
    }
    clearRanks(&d);
    dissectAll(&d);

cleanup:
    freeDissection(&d);
    return result;
}
