// SPDX-License-Identifier: GPL-3.0-or-later
//
// Building the constant half of the position-based solver, and spreading the dials over it. The steps are in
// xpbd.c.

#include "solver/xpbd.h"

#include "core/alloc.h"
#include "math/mat34.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static double cellVolume(const srXpbdShape* shape, int32_t cell) {
    const int32_t* corners = shape->cells[cell];
    srVec3 a = shape->nodes[corners[0]];
    srVec3 ab = srSub(shape->nodes[corners[1]], a);
    srVec3 ac = srSub(shape->nodes[corners[2]], a);
    srVec3 ad = srSub(shape->nodes[corners[3]], a);
    return srDot(ab, srCross(ac, ad)) / 6.0;
}

static srResult allocateRest(const srXpbdShape* shape, srXpbdRest* rest) {
    rest->nodeVolumes = SR_ALLOC_ZERO(float, shape->nodeCount);
    rest->holds = SR_ALLOC(float, shape->nodeCount);
    rest->boneDistances = SR_ALLOC(float, shape->nodeCount);
    rest->edges = srAllocZero((size_t)shape->edgeCount, sizeof(*rest->edges));
    rest->edgeLengths = SR_ALLOC(float, shape->edgeCount);
    rest->edgeVolumes = SR_ALLOC_ZERO(float, shape->edgeCount);
    rest->cells = srAllocZero((size_t)shape->cellCount, sizeof(*rest->cells));
    rest->cellVolumes = SR_ALLOC(float, shape->cellCount);
    bool complete = rest->nodeVolumes != NULL && rest->holds != NULL && rest->boneDistances != NULL &&
                    rest->edges != NULL && rest->edgeLengths != NULL && rest->edgeVolumes != NULL &&
                    rest->cells != NULL && rest->cellVolumes != NULL;
    return complete ? sr_success : srFailOutOfMemory("the constraints");
}

// the edge between two nodes; `firstEdges` says where the edges of each lower node begin
static int32_t findEdge(const srXpbdShape* shape, const int32_t* firstEdges, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b;
    int32_t high = a < b ? b : a;
    int32_t edge = firstEdges[low];
    for (int32_t e = firstEdges[low]; e < firstEdges[low + 1] - 1; ++e) {
        edge += shape->edges[e][1] < high; // counted to the end: no branch that nobody can foretell
    }
    SR_ASSERT(shape->edges[edge][0] == low && shape->edges[edge][1] == high);
    return edge;
}

static void listFirstEdges(const srXpbdShape* shape, int32_t* firstEdges) {
    int32_t node = 0;
    for (int32_t edge = 0; edge < shape->edgeCount; ++edge) {
        for (; node <= shape->edges[edge][0]; ++node) {
            firstEdges[node] = edge;
        }
    }
    for (; node <= shape->nodeCount; ++node) {
        firstEdges[node] = shape->edgeCount;
    }
}

// volumes of nodes and edges, from the cells around them; `edgeVolumes` in the shape's order
static void spreadVolumes(const srXpbdShape* shape, const int32_t* firstEdges, float* nodeVolumes,
                          float* edgeVolumes) {
    static const int CORNER_PAIRS[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        float volume = (float)cellVolume(shape, cell);
        const int32_t* corners = shape->cells[cell];
        for (int c = 0; c < 4; ++c) {
            nodeVolumes[corners[c]] += 0.25f * volume;
        }
        for (int pair = 0; pair < 6; ++pair) {
            int32_t edge =
                findEdge(shape, firstEdges, corners[CORNER_PAIRS[pair][0]], corners[CORNER_PAIRS[pair][1]]);
            edgeVolumes[edge] += volume / 6.0f;
        }
    }
}

static void fillInOrder(const srXpbdShape* shape, const float* edgeVolumes, srXpbdRest* rest) {
    for (int32_t place = 0; place < shape->edgeCount; ++place) {
        int32_t edge = rest->edgeChunks.order[place];
        const int32_t* ends = shape->edges[edge];
        memcpy(rest->edges[place], ends, sizeof(rest->edges[place]));
        rest->edgeLengths[place] = (float)srDistance(shape->nodes[ends[0]], shape->nodes[ends[1]]);
        rest->edgeVolumes[place] = edgeVolumes[edge];
    }
    for (int32_t place = 0; place < shape->cellCount; ++place) {
        int32_t cell = rest->cellChunks.order[place];
        memcpy(rest->cells[place], shape->cells[cell], sizeof(rest->cells[place]));
        rest->cellVolumes[place] = (float)cellVolume(shape, cell);
    }
}

static srResult orderConstraints(const srXpbdShape* shape, srXpbdRest* rest) {
    int32_t nodeCount = shape->nodeCount;
    const int32_t* edges = shape->edges[0];
    const int32_t* cells = shape->cells[0];
    SR_TRY(shape->edgeChunks != NULL
               ? srCopyChunks(edges, 2, nodeCount, shape->edgeChunks, &rest->edgeChunks)
               : srCreateChunks(edges, 2, shape->edgeCount, nodeCount, &rest->edgeChunks));
    return shape->cellChunks != NULL
               ? srCopyChunks(cells, 4, nodeCount, shape->cellChunks, &rest->cellChunks)
               : srCreateChunks(cells, 4, shape->cellCount, nodeCount, &rest->cellChunks);
}

srResult srCreateXpbdRest(const srXpbdShape* shape, srXpbdRest* outRest) {
    srXpbdRest rest = {.nodeCount = shape->nodeCount};
    *outRest = (srXpbdRest){0};
    srResult result = sr_success;
    float* edgeVolumes = SR_ALLOC_ZERO(float, shape->edgeCount);
    int32_t* firstEdges = SR_ALLOC(int32_t, shape->nodeCount + 1);
    if (edgeVolumes == NULL || firstEdges == NULL) {
        result = srFailOutOfMemory("the constraints");
        goto cleanup;
    }
    SR_TRY_CLEANUP(allocateRest(shape, &rest));
    SR_TRY_CLEANUP(orderConstraints(shape, &rest));

    memcpy(rest.holds, shape->holds, (size_t)shape->nodeCount * sizeof(float));
    memcpy(rest.boneDistances, shape->boneDistances, (size_t)shape->nodeCount * sizeof(float));
    listFirstEdges(shape, firstEdges);
    spreadVolumes(shape, firstEdges, rest.nodeVolumes, edgeVolumes);
    fillInOrder(shape, edgeVolumes, &rest);
    *outRest = rest;

cleanup:
    SR_FREE(edgeVolumes, shape->edgeCount);
    SR_FREE(firstEdges, shape->nodeCount + 1);
    if (result != sr_success) {
        rest.edgeChunks.constraintCount = shape->edgeCount;
        rest.cellChunks.constraintCount = shape->cellCount;
        srDestroyXpbdRest(&rest);
    }
    return result;
}

void srDestroyXpbdRest(srXpbdRest* rest) {
    int32_t edgeCount = rest->edgeChunks.constraintCount;
    int32_t cellCount = rest->cellChunks.constraintCount;
    SR_FREE(rest->nodeVolumes, rest->nodeCount);
    SR_FREE(rest->holds, rest->nodeCount);
    SR_FREE(rest->boneDistances, rest->nodeCount);
    SR_FREE(rest->edges, edgeCount);
    SR_FREE(rest->edgeLengths, edgeCount);
    SR_FREE(rest->edgeVolumes, edgeCount);
    SR_FREE(rest->cells, cellCount);
    SR_FREE(rest->cellVolumes, cellCount);
    srDestroyChunks(&rest->edgeChunks);
    srDestroyChunks(&rest->cellChunks);
    *rest = (srXpbdRest){0};
}

srResult srCreateXpbdTuning(const srXpbdRest* rest, srXpbdTuning* outTuning) {
    srXpbdTuning tuning = {0};
    tuning.velocitiesLeft = SR_ALLOC_ZERO(float, rest->nodeCount);
    tuning.inverseMasses = SR_ALLOC_ZERO(float, rest->nodeCount);
    tuning.bondFactors = SR_ALLOC_ZERO(float, rest->nodeCount);
    tuning.edgeCompliances = SR_ALLOC_ZERO(float, rest->edgeChunks.constraintCount);
    tuning.cellCompliances = SR_ALLOC_ZERO(float, rest->cellChunks.constraintCount);
    *outTuning = tuning;
    if (tuning.velocitiesLeft == NULL || tuning.inverseMasses == NULL || tuning.bondFactors == NULL ||
        tuning.edgeCompliances == NULL || tuning.cellCompliances == NULL) {
        srDestroyXpbdTuning(rest, outTuning);
        return srFailOutOfMemory("the material");
    }
    return sr_success;
}

void srDestroyXpbdTuning(const srXpbdRest* rest, srXpbdTuning* tuning) {
    SR_FREE(tuning->velocitiesLeft, rest->nodeCount);
    SR_FREE(tuning->inverseMasses, rest->nodeCount);
    SR_FREE(tuning->bondFactors, rest->nodeCount);
    SR_FREE(tuning->edgeCompliances, rest->edgeChunks.constraintCount);
    SR_FREE(tuning->cellCompliances, rest->cellChunks.constraintCount);
    *tuning = (srXpbdTuning){0};
}

// of a painted map that may be null
static double factorAt(const float* map, int32_t node) {
    return map != NULL ? (double)map[node] : 1.0;
}

float srFindPaintedHold(const srXpbdMaps* maps, int32_t node) {
    float hold = maps->hold != NULL ? maps->hold[node] : 0.0f;
    return maps->pin != NULL && maps->pin[node] > hold ? maps->pin[node] : hold;
}

// A stop sends flesh of frequency f as far as 1 / f, and f^2 goes with the pull and what flesh resists by
// itself, together twice the pull.
double srFindPaintedPull(const srXpbdMaps* maps, int32_t node) {
    double left = 1.0 - (double)srFindPaintedHold(maps, node);
    double least = 1.0 - (double)SR_HARD_HOLD;
    left = left > least ? left : least;
    return 1.0 + 2.0 * (1.0 / (left * left) - 1.0);
}

float srFindHold(const srXpbdRest* rest, const srXpbdMaps* maps, int32_t node) {
    return srFindPaintedHold(maps, node) >= SR_HARD_HOLD ? 1.0f : rest->holds[node];
}

// An implicit substep of the pull to the pose damps by itself: of a swing whose velocity keeps the share s in
// a substep, s / (1 + (h omega)^2) of the energy is left. Asked for is exp(-rate h), here as the quotient
// that agrees with it to third order; so the pull's own share is given back, as far as there is damping at
// all.
static double findVelocityLeft(double h, double omegaSquared, double rate) {
    double halfRate = 0.5 * h * rate;
    double left = (1.0 - halfRate) / (1.0 + halfRate) * (1.0 + h * h * omegaSquared);
    return left < 0.0 ? 0.0 : left > 1.0 ? 1.0 : left;
}

// A bond of stiffness k pulls u to zero. One implicit substep from u leaves u / (1 + h^2 k / m) of it, which
// is what the compliant constraint C = u with alpha = 1/k gives. Painted, omega^2 = k / m goes with stiffness
// over mass.
static void tuneNodes(srXpbdTuning* tuning, const srXpbdRest* rest, double h) {
    const srXpbdDials* dials = &tuning->dials;
    double omega = 2.0 * PI * dials->frequency;
    double scale = dials->scale;
    double volumeScale = scale * scale * scale;
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        double volume = (double)rest->nodeVolumes[i] * volumeScale;
        double mass = dials->material.density * volume * factorAt(dials->maps.mass, i);
        double stiffness = factorAt(dials->maps.stiffness, i);
        double pull = srFindPaintedPull(&dials->maps, i);
        double omegaSquared = omega * omega * (pull * stiffness / factorAt(dials->maps.mass, i));
        float hold = srFindHold(rest, &dials->maps, i);
        double rate = dials->dampingRate * factorAt(dials->maps.damping, i);
        tuning->velocitiesLeft[i] = (float)findVelocityLeft(h, omegaSquared, rate);
        if (hold >= SR_HARD_HOLD || !(mass > 0.0)) {
            tuning->inverseMasses[i] = 0.0f;
            tuning->bondFactors[i] = 0.0f;
            continue;
        }

        // no bond is shorter than the flesh around the node is wide
        double width = srCubeRoot(volume);
        double distance = (double)rest->boneDistances[i] * scale;
        distance = distance > width ? distance : width;
        double bond = stiffness * srBondStiffness(&dials->material, (double)hold, volume, distance);
        tuning->inverseMasses[i] = (float)(1.0 / mass);
        tuning->bondFactors[i] = (float)(1.0 / (1.0 + h * h * (omegaSquared + bond / mass)));
    }
}

// geometric means: between half and twice there is one
static double edgeFactor(const srXpbdRest* rest, const float* stiffness, int32_t edge) {
    const int32_t* ends = rest->edges[edge];
    return stiffness == NULL ? 1.0 : sqrt((double)stiffness[ends[0]] * (double)stiffness[ends[1]]);
}

static double cellFactor(const srXpbdRest* rest, const float* stiffness, int32_t cell) {
    const int32_t* corners = rest->cells[cell];
    double product = 1.0;
    for (int c = 0; c < 4; ++c) {
        product *= factorAt(stiffness, corners[c]);
    }
    return stiffness == NULL ? 1.0 : sqrt(sqrt(product));
}

void srXpbdTuning_Set(srXpbdTuning* tuning, const srXpbdRest* rest, const srXpbdDials* dials) {
    tuning->dials = *dials;
    const float* stiffness = dials->maps.stiffness;
    double h = dials->frameSeconds / dials->substeps;
    double scale = dials->scale;
    double volumeScale = scale * scale * scale;
    tuneNodes(tuning, rest, h);
    for (int32_t j = 0; j < rest->edgeChunks.constraintCount; ++j) {
        double length = (double)rest->edgeLengths[j] * scale;
        double volume = (double)rest->edgeVolumes[j] * volumeScale;
        double factor = edgeFactor(rest, stiffness, j);
        tuning->edgeCompliances[j] =
            (float)(1.0 / (factor * srEdgeStiffness(&dials->material, length, volume) * h * h));
    }
    for (int32_t j = 0; j < rest->cellChunks.constraintCount; ++j) {
        double volume = (double)rest->cellVolumes[j] * volumeScale;
        double factor = cellFactor(rest, stiffness, j);
        tuning->cellCompliances[j] = (float)(srVolumeCompliance(&dials->material, volume) / (factor * h * h));
    }
}
