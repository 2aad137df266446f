// SPDX-License-Identifier: GPL-3.0-or-later
//
// From each top off its anchors the highest way leads down to its foot, the lowest place that has to be
// crossed. What is more than the limit above the foot is cut off where that is a few nodes, and the other
// columns of those nodes share it as they share the rest; where it is more, so that a cut would leave an edge
// around them, rows above the foot go towards the means of their neighbours', again and again. At flat cells
// means are no good: they cost a tenth of the energy, and a cut a hundredth.
//
// Others may thereby rise above a limit of their own, so that is done in rounds. Nothing says that cuts end;
// so after some rounds there are means only. Each lowers the sum over edges of |row - row|^2, and a peak
// above the limit lets that be by no less than some number that depends on the cage alone: rows with such a
// peak are a compact set, and in none of them all rows above the foot are the means of their neighbours'. So
// that ends.

#include "weights/biharmonic_peaks.h"

#include "core/alloc.h"

#include <math.h>

#define CUTTING_ROUNDS 40
#define NARROW 3             // nodes
#define NODES_A_QUESTION 512 // whether to go on
#define MOST_TURNS 1000
#define TURN_SHARE 0.25   // of the way to the mean
#define LEAST_SHARED 1e-3 // others that have less say nothing about who shall share

// Of what a peak is lowered by, what is left when its foot has gone down with it.
#define USUAL_SHARE 0.6f
#define LEAST_SHARE 0.2f
#define LEAST_FALL 1e-4f // of less nothing is known

typedef struct Levelling {
    const srCage* cage;
    const srAnchorRows* rows;
    int32_t columnCount;
    float limit;
    float* weights;
    int32_t* starts; // of neighbours, nodeCount + 1
    int32_t* neighbours;
    int32_t* ownStarts; // of the columns that have an anchor at a node, nodeCount + 1
    int32_t* ownColumns;
    int32_t ownCount;
    int32_t* seen; // by which search
    int32_t searchCount;
    int32_t* visited;
    int32_t visitedCount;
    int32_t islandCount; // of those: as many came before the foot
    int32_t* heap;       // nodes that are next to visited ones, the highest first
    int32_t heapCount;
    double* row;
} Levelling;

static float* rowOf(const Levelling* l, int32_t node) {
    return l->weights + l->columnCount * (int64_t)node;
}

// ---- who is next to whom ----

// Without `ends` it counts.
static void addOwn(Levelling* l, int32_t node, const srAnchorValue* value, int32_t* ends) {
    for (int c = 0; c < 3; c++) {
        if (value->values[c] > 0.0 && ends == NULL) {
            l->ownStarts[node + 1]++;
        } else if (value->values[c] > 0.0) {
            l->ownColumns[ends[node]++] = value->columns[c];
        }
    }
}

static void addAllOwn(Levelling* l, int32_t* ends) {
    for (int32_t i = 0; i < l->cage->nodeCount; i++) {
        if (l->rows->isFixed[i]) {
            addOwn(l, i, &l->rows->fixedValues[i], ends);
        }
    }
    for (int32_t k = 0; k < l->rows->sampleCount; k++) {
        const srAnchorSample* sample = &l->rows->samples[k];
        for (int c = 0; c < 4; c++) {
            if (sample->weights[c] > 0.0) {
                addOwn(l, sample->nodes[c], &sample->value, ends);
            }
        }
    }
}

static srResult prepare(Levelling* l) {
    int32_t n = l->cage->nodeCount;
    l->starts = SR_ALLOC(int32_t, n + 1);
    l->neighbours = SR_ALLOC(int32_t, 2 * (size_t)l->cage->edgeCount);
    l->ownStarts = SR_ALLOC_ZERO(int32_t, n + 1);
    l->seen = SR_ALLOC_ZERO(int32_t, n);
    l->visited = SR_ALLOC(int32_t, n);
    l->heap = SR_ALLOC(int32_t, n);
    l->row = SR_ALLOC(double, l->columnCount);
    if (l->starts == NULL || l->neighbours == NULL || l->ownStarts == NULL || l->seen == NULL ||
        l->visited == NULL || l->heap == NULL || l->row == NULL) {
        return srFailOutOfMemory("weights");
    }
    srCage_ListNeighbours(l->cage, l->starts, l->neighbours);
    addAllOwn(l, NULL);
    for (int32_t i = 0; i < n; i++) {
        l->ownStarts[i + 1] += l->ownStarts[i];
        l->heap[i] = l->ownStarts[i];
    }
    l->ownCount = l->ownStarts[n];
    l->ownColumns = SR_ALLOC(int32_t, l->ownCount);
    if (l->ownColumns == NULL) {
        return srFailOutOfMemory("weights");
    }
    addAllOwn(l, l->heap);
    return sr_success;
}

static void release(Levelling* l) {
    int32_t n = l->cage->nodeCount;
    SR_FREE(l->starts, n + 1);
    SR_FREE(l->neighbours, 2 * (size_t)l->cage->edgeCount);
    SR_FREE(l->ownStarts, n + 1);
    SR_FREE(l->ownColumns, l->ownCount);
    SR_FREE(l->seen, n);
    SR_FREE(l->visited, n);
    SR_FREE(l->heap, n);
    SR_FREE(l->row, l->columnCount);
}

static bool isOwn(const Levelling* l, int32_t node, int32_t column) {
    bool isFound = false;
    for (int32_t e = l->ownStarts[node]; e < l->ownStarts[node + 1]; e++) {
        isFound = isFound || l->ownColumns[e] == column;
    }
    return isFound;
}

// ---- the highest ways down ----

static void pushNode(Levelling* l, int32_t node, int32_t column) {
    int32_t at = l->heapCount++;
    float height = rowOf(l, node)[column];
    while (at > 0 && rowOf(l, l->heap[(at - 1) / 2])[column] < height) {
        l->heap[at] = l->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    l->heap[at] = node;
}

static int32_t popNode(Levelling* l, int32_t column) {
    int32_t top = l->heap[0], last = l->heap[--l->heapCount], at = 0;
    float height = rowOf(l, last)[column];
    for (int32_t below = 1; below < l->heapCount; below = 2 * at + 1) {
        bool isRight = below + 1 < l->heapCount &&
                       rowOf(l, l->heap[below + 1])[column] > rowOf(l, l->heap[below])[column];
        below += isRight;
        if (rowOf(l, l->heap[below])[column] <= height) {
            break;
        }
        l->heap[at] = l->heap[below];
        at = below;
    }
    l->heap[at] = last;
    return top;
}

// Of a plateau only nodes before all next to them: of thousands that are one, each would look for the foot.
static bool isTop(const Levelling* l, int32_t node, int32_t column) {
    float height = rowOf(l, node)[column];
    bool isHighest = height > l->limit;
    for (int32_t e = l->starts[node]; isHighest && e < l->starts[node + 1]; e++) {
        float other = rowOf(l, l->neighbours[e])[column];
        isHighest = other < height || (other == height && node < l->neighbours[e]);
    }
    return isHighest;
}

// Goes down from a top until there is an anchor or something higher; fills `visited` and returns the foot.
// Where nothing of the kind is to be found, all of a piece is of one height or has no anchor: the top itself.
static int32_t findFoot(Levelling* l, int32_t top, int32_t column) {
    float height = rowOf(l, top)[column];
    int32_t foot = top, search = ++l->searchCount;
    l->visitedCount = 0;
    l->islandCount = 0;
    l->heapCount = 0;
    l->seen[top] = search;
    pushNode(l, top, column);
    while (l->heapCount > 0) {
        int32_t node = popNode(l, column);
        if (rowOf(l, node)[column] < rowOf(l, foot)[column]) {
            foot = node;
            l->islandCount = l->visitedCount;
        }
        if (isOwn(l, node, column) || rowOf(l, node)[column] > height) {
            return foot;
        }
        l->visited[l->visitedCount++] = node;
        for (int32_t e = l->starts[node]; e < l->starts[node + 1]; e++) {
            int32_t next = l->neighbours[e];
            if (l->seen[next] != search) {
                l->seen[next] = search;
                pushNode(l, next, column);
            }
        }
    }
    return top;
}

// ---- levelling ----

static void cut(Levelling* l, int32_t node, int32_t column, float height, const float* foot) {
    float* row = rowOf(l, node);
    double rest = 0.0, restOfFoot = 0.0;
    for (int32_t j = 0; j < l->columnCount; j++) {
        rest += j != column ? (double)row[j] : 0.0;
        restOfFoot += j != column ? (double)foot[j] : 0.0;
    }
    const float* shares = rest > LEAST_SHARED ? row : foot;
    double scale = (1.0 - (double)height) / (rest > LEAST_SHARED ? rest : restOfFoot);
    for (int32_t j = 0; j < l->columnCount; j++) {
        row[j] = j == column ? height : (float)(scale * (double)shares[j]);
    }
}

static void goToMean(Levelling* l, int32_t node) {
    float* row = rowOf(l, node);
    double share = TURN_SHARE / (l->starts[node + 1] - l->starts[node]);
    for (int32_t j = 0; j < l->columnCount; j++) {
        l->row[j] = (1.0 - TURN_SHARE) * (double)row[j];
    }
    for (int32_t e = l->starts[node]; e < l->starts[node + 1]; e++) {
        const float* other = rowOf(l, l->neighbours[e]);
        for (int32_t j = 0; j < l->columnCount; j++) {
            l->row[j] += share * (double)other[j];
        }
    }
    for (int32_t j = 0; j < l->columnCount; j++) {
        row[j] = (float)l->row[j];
    }
}

static int32_t countAbove(const Levelling* l, int32_t column, float height) {
    int32_t count = 0;
    for (int32_t k = 0; k < l->visitedCount; k++) {
        count += rowOf(l, l->visited[k])[column] > height;
    }
    return count;
}

// Of what was visited. Nodes that are given are never above the foot: another column has nothing there.
static void levelVisited(Levelling* l, int32_t column, const float* foot, bool mayCut) {
    float lowest = foot[column], height = lowest + l->limit;
    bool isCut = mayCut && countAbove(l, column, height) <= NARROW;
    for (int32_t k = 0; k < l->visitedCount; k++) {
        float here = rowOf(l, l->visited[k])[column];
        if (isCut && here > height) {
            cut(l, l->visited[k], column, height, foot);
        } else if (!isCut && here > lowest) {
            goToMean(l, l->visited[k]);
        }
    }
}

static int32_t findHighest(const Levelling* l, int32_t column) {
    int32_t highest = l->visited[0];
    for (int32_t k = 1; k < l->visitedCount; k++) {
        highest = rowOf(l, l->visited[k])[column] > rowOf(l, highest)[column] ? l->visited[k] : highest;
    }
    return highest;
}

// Whether there was anything to do.
static bool levelTop(Levelling* l, int32_t top, int32_t column, bool mayCut) {
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        const float* foot = rowOf(l, findFoot(l, top, column));
        if (rowOf(l, top)[column] <= foot[column] + l->limit) {
            return turn > 0;
        }
        levelVisited(l, column, foot, mayCut);
        top = findHighest(l, column);
    }
    return true;
}

static srResult levelAll(Levelling* l, bool mayCut, const srProgress* progress, int32_t* outCount) {
    *outCount = 0;
    for (int32_t i = 0; i < l->cage->nodeCount; i++) {
        if (i % NODES_A_QUESTION == 0) {
            SR_TRY(srReportProgress(progress, (double)i / l->cage->nodeCount));
        }
        for (int32_t j = 0; j < l->columnCount; j++) {
            *outCount += isTop(l, i, j) && levelTop(l, i, j, mayCut);
        }
    }
    return sr_success;
}

// ---- bounds ----

// What the ceilings of a row must leave to a column.
static float findRoom(const Levelling* l, const float* ceilings, int32_t column) {
    double rest = 0.0;
    for (int32_t j = 0; j < l->columnCount; j++) {
        rest += j != column ? (double)ceilings[j] : 0.0;
    }
    return (float)(1.0 + 1e-6 - rest);
}

static void lowerCeiling(const Levelling* l, int32_t node, int32_t column, float height, float* ceilings) {
    float* row = ceilings + l->columnCount * (int64_t)node;
    if (!isOwn(l, node, column)) {
        row[column] = fminf(row[column], fmaxf(height, findRoom(l, row, column)));
    }
}

// How high it and how much too high of `rest` it was, by weight of an island.
static float* pastOf(const Levelling* l, const srPeakBounds* bounds, int32_t node, int32_t column) {
    return bounds->past + 2 * (l->columnCount * (int64_t)node + column);
}

// Its foot goes down with it, by what it did the last time (secants); nobody knows at first. No foot is below
// zero.
static float findHeight(const Levelling* l, const srPeakBounds* bounds, int32_t top, int32_t column,
                        float excess) {
    const float* past = pastOf(l, bounds, top, column);
    float height = rowOf(l, top)[column], fall = past[0] - height;
    float share = fall > LEAST_FALL ? (past[1] - excess) / fall : USUAL_SHARE;
    return fmaxf(height - excess / fminf(fmaxf(share, LEAST_SHARE), 1.0f), (float)bounds->rest);
}

// The island, and its shore, where else it would rise next.
static bool boundTop(Levelling* l, int32_t top, int32_t column, const srPeakBounds* bounds) {
    float now = rowOf(l, top)[column], foot = rowOf(l, findFoot(l, top, column))[column];
    if (now <= foot + l->limit) {
        return false;
    }
    float excess = now - foot - (float)bounds->rest;
    float height = findHeight(l, bounds, top, column, excess);
    for (int32_t k = 0; k < l->islandCount; k++) {
        int32_t node = l->visited[k];
        float* past = pastOf(l, bounds, node, column);
        past[0] = now;
        past[1] = excess;
        lowerCeiling(l, node, column, height, bounds->ceilings);
        for (int32_t e = l->starts[node]; e < l->starts[node + 1]; e++) {
            lowerCeiling(l, l->neighbours[e], column, height, bounds->ceilings);
        }
    }
    return true;
}

srResult srBoundPeaks(const srCage* cage, const srAnchorRows* rows, int32_t columnCount,
                      const srPeakBounds* bounds, const srProgress* progress, int32_t* outCount) {
    Levelling l = {.cage = cage,
                   .rows = rows,
                   .columnCount = columnCount,
                   .limit = (float)bounds->limit,
                   .weights = bounds->weights};
    srResult result = prepare(&l);
    *outCount = 0;
    for (int32_t i = 0; result == sr_success && i < cage->nodeCount; i++) {
        result = i % NODES_A_QUESTION == 0 ? srReportProgress(progress, (double)i / cage->nodeCount) : result;
        for (int32_t j = 0; result == sr_success && j < columnCount; j++) {
            *outCount += isTop(&l, i, j) && boundTop(&l, i, j, bounds);
        }
    }
    release(&l);
    return result;
}

// ---- the whole ----

srResult srLevelPeaks(const srCage* cage, const srAnchorRows* rows, int32_t columnCount, double limit,
                      const srProgress* progress, float* weights, srPeakReport* outReport) {
    Levelling l = {
        .cage = cage, .rows = rows, .columnCount = columnCount, .limit = (float)limit, .weights = weights};
    srPeakReport report = {0};
    srResult result = prepare(&l);
    for (int32_t count = 1; result == sr_success && count > 0;) {
        // nobody knows how many rounds, so each takes half of what is left
        double from = 1.0 - ldexp(1.0, -report.roundCount);
        srProgress round = srPartOfProgress(progress, from, 0.5 + 0.5 * from);
        result = levelAll(&l, report.roundCount < CUTTING_ROUNDS, &round, &count);
        report.peakCount += report.roundCount == 0 ? count : 0;
        report.roundCount += count > 0;
    }
    *outReport = report;
    release(&l);
    return result;
}
