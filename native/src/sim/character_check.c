// SPDX-License-Identifier: GPL-3.0-or-later
//
// Counts that fit together, indices in range, numbers that are finite and within what preparing can make.

#include "sim/character_check.h"

#include "core/alloc.h"

#include <math.h>

#define LARGEST_NODE_COUNT 10000000
#define LARGEST_PLACE 1e12 // as for what is prepared
#define LARGEST_WEIGHT_SUM 4.001
#define SUM_TOLERANCE 1e-6
#define LARGEST_FLOAT 1e15f       // of a blend, which counts in units of the cage's size
#define LARGEST_SHORT_COUNT 65536 // of maps that 16 bits tell apart

static srResult failStored(const char* what) {
    return srFail(sr_errorBadFile, "The stored character is damaged: %s.", what);
}

// These loops run over every number of the file, so they look at all of it and take no branch: compilers make
// them wide.

static bool areInRange(const int32_t* indices, size_t count, int32_t end) {
    uint32_t isWrong = 0;
    for (size_t i = 0; i < count; ++i) {
        isWrong |= (uint32_t)((indices[i] < 0) | (indices[i] >= end));
    }
    return isWrong == 0;
}

// no NaN is within anything
static bool areWithin(const float* values, size_t count, float lowest, float highest) {
    uint32_t isWrong = 0;
    for (size_t i = 0; i < count; ++i) {
        isWrong |= (uint32_t)!((values[i] >= lowest) & (values[i] <= highest));
    }
    return isWrong == 0;
}

static bool doFinitesLie(const double* values, size_t count, double limit) {
    uint32_t isWrong = 0;
    for (size_t i = 0; i < count; ++i) {
        isWrong |= (uint32_t)!((values[i] >= -limit) & (values[i] <= limit));
    }
    return isWrong == 0;
}

// starts of runs that fill an array from end to end, none of them empty
static bool areStarts(const int32_t* starts, int32_t count, int32_t end) {
    bool isFine = starts[0] == 0 && starts[count - 1] == end;
    for (int32_t i = 1; i < count; ++i) {
        isFine = isFine && starts[i] > starts[i - 1];
    }
    return isFine;
}

static bool hasBlendCounts(const srStoredCharacter* s) {
    bool hasMaps = s->mapNodesCount == s->mapPlacesCount &&
                   (int64_t)s->mapNodesCount <= 2 * (int64_t)s->nodesCount &&
                   (int64_t)s->slopeStartsCount == (int64_t)s->mapNodesCount + 1;
    bool hasShares =
        s->sharesCount == (s->mapNodesCount > LARGEST_SHORT_COUNT ? s->longMapsCount : s->shortMapsCount);
    return hasMaps && hasShares && (s->shortMaps == NULL || s->longMaps == NULL) &&
           s->runsCount <= SR_MOST_SHARES + 1 && s->targetsCount == s->pointNodesCount &&
           s->placesCount == s->pointNodesCount;
}

static srResult checkCounts(const srStoredCharacter* s) {
    int32_t nodeCount = s->nodesCount;
    bool hasCage = nodeCount >= 4 && nodeCount <= LARGEST_NODE_COUNT && s->cellsCount >= 1 &&
                   s->edgesCount >= 6 && s->edgesCount <= INT32_MAX / 4 && s->cellsCount <= INT32_MAX / 6;
    bool hasPoints = s->pointNodesCount >= 1 && s->pointNodesCount == s->pointWeightsCount &&
                     s->pointNodesCount == s->pointCellsCount && hasBlendCounts(s);
    bool hasBones = s->inverseRestsCount == s->boneSpacesCount && s->inverseRestsCount <= 100000 &&
                    (s->boneAxes == NULL || s->boneAxesCount == s->inverseRestsCount);
    bool hasWeights = (int64_t)s->weightStartsCount == (int64_t)nodeCount + 1 &&
                      s->weightBonesCount >= nodeCount && s->weightBonesCount == s->weightValuesCount;
    bool hasHolds = s->holdsCount == nodeCount && s->boneDistancesCount == nodeCount;
    bool hasOrder = s->edgeOrderCount == s->edgesCount && s->cellOrderCount == s->cellsCount &&
                    s->edgeStartsCount >= 2 && s->cellStartsCount >= 2;
    bool hasFacts = s->factsCount == 1 && s->reportCount >= 1;
    if (!hasCage || !hasPoints || !hasBones || !hasWeights || !hasHolds || !hasOrder || !hasFacts) {
        return failStored("its counts do not fit together");
    }
    for (int kind = 0; kind < sr_mapKindCount; ++kind) {
        if (s->maps[kind] != NULL && s->mapCounts[kind] != nodeCount) {
            return failStored("a painted map has another number of nodes");
        }
    }
    return sr_success;
}

// A word with all ones where a float has its exponent is no number, and no count either.
static srResult checkFacts(const srStoredCharacter* s) {
    for (int32_t i = 0; i < s->reportCount; ++i) {
        if ((s->report[i] & 0x7f800000u) == 0x7f800000u) {
            return failStored("its report holds what is no number");
        }
    }
    const srStoredFacts* facts = s->facts;
    bool isFine = facts->spaceCount >= (s->inverseRestsCount > 0 ? 1 : 0) && facts->spaceCount <= 10000 &&
                  facts->outsideCount >= 0 && facts->rootMap >= 0 && facts->rootMap <= s->inverseRestsCount &&
                  facts->outsideCount <= s->pointNodesCount && facts->linearCount >= 0 &&
                  facts->linearCount <= s->pointNodesCount && facts->blendWeightSum >= 0.0 &&
                  facts->blendWeightSum <= LARGEST_WEIGHT_SUM &&
                  facts->largestWeightSum >= 1.0 - SUM_TOLERANCE &&
                  facts->largestWeightSum <= LARGEST_WEIGHT_SUM;
    return isFine ? sr_success : failStored("its facts are out of range");
}

static double sixVolumes(const srVec3* nodes, const int32_t corners[4]) {
    srVec3 a = nodes[corners[0]];
    srVec3 ab = srSub(nodes[corners[1]], a);
    srVec3 ac = srSub(nodes[corners[2]], a);
    srVec3 ad = srSub(nodes[corners[3]], a);
    return srDot(ab, srCross(ac, ad));
}

static srResult checkCells(const srStoredCharacter* s) {
    if (!doFinitesLie(&s->nodes[0].x, 3 * (size_t)s->nodesCount, LARGEST_PLACE)) {
        return failStored("a node is no place");
    }
    if (!areInRange(s->cells[0], 4 * (size_t)s->cellsCount, s->nodesCount)) {
        return failStored("a cell has a corner that is no node");
    }
    for (int32_t cell = 0; cell < s->cellsCount; ++cell) {
        double volume = sixVolumes(s->nodes, s->cells[cell]);
        if (!(volume > 0.0) || !isfinite(volume)) {
            return failStored("a cell has no volume");
        }
    }
    return sr_success;
}

// marks the edges that cells have; false when a cell has one that is not listed
static bool markEdges(const srStoredCharacter* s, const int32_t* firstEdges, uint8_t* isUsed) {
    static const int PAIRS[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int32_t i = 0; i < 6 * s->cellsCount; ++i) {
        int32_t a = s->cells[i / 6][PAIRS[i % 6][0]];
        int32_t b = s->cells[i / 6][PAIRS[i % 6][1]];
        int32_t low = a < b ? a : b;
        int32_t high = a < b ? b : a;
        int32_t edge = firstEdges[low];
        for (int32_t e = firstEdges[low]; e < firstEdges[low + 1]; ++e) {
            edge += s->edges[e][1] < high; // counted to the end: no branch that nobody can foretell
        }
        if (edge >= firstEdges[low + 1] || s->edges[edge][1] != high) {
            return false;
        }
        isUsed[edge] = 1;
    }
    return true;
}

// where the edges of each lower node begin; false unless they ascend, lower node first
static bool listFirstEdges(const srStoredCharacter* s, int32_t* firstEdges) {
    int32_t node = 0;
    for (int32_t edge = 0; edge < s->edgesCount; ++edge) {
        const int32_t* ends = s->edges[edge];
        bool isSorted = edge == 0 || ends[0] > ends[-2] || (ends[0] == ends[-2] && ends[1] > ends[-1]);
        if (!isSorted || ends[0] >= ends[1]) {
            return false;
        }
        for (; node <= ends[0]; ++node) {
            firstEdges[node] = edge;
        }
    }
    for (; node <= s->nodesCount; ++node) {
        firstEdges[node] = s->edgesCount;
    }
    return true;
}

// all edges of the cells and no others
static srResult checkEdges(const srStoredCharacter* s) {
    if (!areInRange(s->edges[0], 2 * (size_t)s->edgesCount, s->nodesCount)) {
        return failStored("an edge has an end that is no node");
    }
    srResult result = sr_success;
    int32_t* firstEdges = SR_ALLOC(int32_t, s->nodesCount + 1);
    uint8_t* isUsed = SR_ALLOC_ZERO(uint8_t, s->edgesCount);
    if (firstEdges == NULL || isUsed == NULL) {
        result = srFailOutOfMemory("a stored character");
        goto cleanup;
    }
    bool isFine = listFirstEdges(s, firstEdges) && markEdges(s, firstEdges, isUsed);
    for (int32_t edge = 0; isFine && edge < s->edgesCount; ++edge) {
        isFine = isUsed[edge] != 0;
    }
    result = isFine ? sr_success : failStored("its edges are not those of its cells");

cleanup:
    SR_FREE(firstEdges, s->nodesCount + 1);
    SR_FREE(isUsed, s->edgesCount);
    return result;
}

static srResult checkEmbedding(const srStoredCharacter* s) {
    if (!areInRange(s->pointNodes[0], 4 * (size_t)s->pointNodesCount, s->nodesCount)) {
        return failStored("a vertex hangs on what is no node");
    }
    uint32_t isWrong = 0;
    for (int32_t i = 0; i < s->pointCellsCount; ++i) {
        isWrong |= (uint32_t)((s->pointCells[i] < SR_NULL_INDEX) | (s->pointCells[i] >= s->cellsCount));
    }
    if (isWrong != 0) {
        return failStored("a vertex is in what is no cell");
    }
    float limit = (float)LARGEST_WEIGHT_SUM;
    return areWithin(s->pointWeights[0], 4 * (size_t)s->pointWeightsCount, -limit, limit)
               ? sr_success
               : failStored("a vertex has a weight out of range");
}

// starts of runs that fill an array from end to end, some perhaps empty
static bool areLooseStarts(const int32_t* starts, int32_t count, int32_t end) {
    uint32_t isWrong = (uint32_t)(starts[0] != 0) | (uint32_t)(starts[count - 1] != end);
    for (int32_t i = 1; i < count; ++i) {
        isWrong |= (uint32_t)(starts[i] < starts[i - 1]);
    }
    return isWrong == 0;
}

static bool areMapsFine(const srStoredCharacter* s) {
    bool isFine = areLooseStarts(s->slopeStarts, s->slopeStartsCount, s->slopesCount) &&
                  areInRange(s->mapNodes, (size_t)s->mapNodesCount, s->nodesCount) &&
                  (s->mapNodesCount == 0 ||
                   areWithin(s->mapPlaces[0], 4 * (size_t)s->mapNodesCount, -LARGEST_FLOAT, LARGEST_FLOAT));
    uint32_t isWrong = 0;
    for (int32_t i = 0; i < s->slopesCount; ++i) {
        const srSlope* slope = &s->slopes[i];
        isWrong |= (uint32_t)((slope->node < 0) | (slope->node >= s->nodesCount));
        for (int axis = 0; axis < 3; ++axis) {
            float x = slope->gradient[axis];
            isWrong |= (uint32_t)!((x >= -LARGEST_FLOAT) & (x <= LARGEST_FLOAT));
        }
    }
    return isFine && isWrong == 0;
}

// runs that list all points and all shares, one after the other
static bool areRunsFine(const srStoredCharacter* s) {
    int32_t point = 0;
    int64_t share = 0;
    for (int32_t r = 0; r < s->runsCount; ++r) {
        const srBlendRun* run = &s->runs[r];
        bool isNext = run->firstPoint == point && run->firstShare == share;
        if (!isNext || run->pointCount < 0 || run->pointCount > s->targetsCount - point ||
            run->shareCount < 0 || run->shareCount > SR_MOST_SHARES) {
            return false;
        }
        point += run->pointCount;
        share += (int64_t)run->pointCount * run->shareCount;
    }
    return point == s->targetsCount && share == s->sharesCount;
}

static bool areShareMapsFine(const srStoredCharacter* s) {
    if (s->longMaps != NULL) {
        return areInRange(s->longMaps, (size_t)s->longMapsCount, s->mapNodesCount);
    }
    uint32_t isWrong = 0;
    for (int32_t i = 0; i < s->shortMapsCount; ++i) {
        isWrong |= (uint32_t)((int32_t)s->shortMaps[i] >= s->mapNodesCount);
    }
    return isWrong == 0;
}

static srResult checkBlend(const srStoredCharacter* s) {
    if (!areMapsFine(s) || !areRunsFine(s) || !areShareMapsFine(s) ||
        !areInRange(s->targets, (size_t)s->targetsCount, s->pointNodesCount) ||
        !areWithin(s->places[0], 3 * (size_t)s->placesCount, -LARGEST_FLOAT, LARGEST_FLOAT) ||
        !areWithin(s->shares, (size_t)s->sharesCount, 0.0f, 1.001f)) {
        return failStored("its smooth embedding is out of range");
    }
    return sr_success;
}

static srResult checkRig(const srStoredCharacter* s) {
    size_t boneCount = (size_t)s->inverseRestsCount;
    size_t numbers = sizeof(srMat34) / sizeof(double);
    if (boneCount > 0 && (!doFinitesLie((const double*)s->inverseRests, numbers * boneCount, 1e30) ||
                          !areInRange(s->boneSpaces, boneCount, s->facts->spaceCount))) {
        return failStored("a bone is none");
    }
    for (int32_t k = 0; k < s->boneAxesCount; ++k) {
        double square = srDot(s->boneAxes[k], s->boneAxes[k]);
        if (!(square == 0.0 || fabs(square - 1.0) <= SUM_TOLERANCE)) {
            return failStored("a bone has no direction");
        }
    }
    if (!areStarts(s->weightStarts, s->weightStartsCount, s->weightBonesCount) ||
        !areInRange(s->weightBones, (size_t)s->weightBonesCount, s->inverseRestsCount + 1)) {
        return failStored("a node has a weight for no bone");
    }
    for (int32_t i = 0; i < s->nodesCount; ++i) {
        double sum = 0.0;
        for (int32_t entry = s->weightStarts[i]; entry < s->weightStarts[i + 1]; ++entry) {
            double weight = s->weightValues[entry];
            sum += weight >= 0.0 ? weight : 2.0; // a NaN neither
        }
        if (!(fabs(sum - 1.0) <= SUM_TOLERANCE)) {
            return failStored("a node's weights do not sum to one");
        }
    }
    return sr_success;
}

static srResult checkFlesh(const srStoredCharacter* s) {
    size_t nodeCount = (size_t)s->nodesCount;
    if (!areWithin(s->holds, nodeCount, 0.0f, 1.0f) ||
        !areWithin(s->boneDistances, nodeCount, 0.0f, (float)(4.0 * LARGEST_PLACE))) {
        return failStored("its hold map is out of range");
    }
    for (int kind = 0; kind < sr_mapKindCount; ++kind) {
        srMapRange range = srGetMapRange((srMapKind)kind);
        if (s->maps[kind] != NULL && !areWithin(s->maps[kind], nodeCount, range.lowest, range.highest)) {
            return failStored("a painted map is out of range");
        }
    }
    return sr_success;
}

srResult srCheckStoredCharacter(const srStoredCharacter* stored) {
    SR_TRY(checkCounts(stored));
    SR_TRY(checkFacts(stored));
    SR_TRY(checkCells(stored));
    SR_TRY(checkEdges(stored));
    SR_TRY(checkEmbedding(stored));
    SR_TRY(checkBlend(stored));
    SR_TRY(checkRig(stored));
    return checkFlesh(stored);
}
