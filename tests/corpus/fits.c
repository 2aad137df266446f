// SPDX-License-Identifier: GPL-3.0-or-later

#include "corpus/fits.h"

#include "corpus/measure.h"
#include "corpus/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

// points of the skin from which the boundary is looked for
#define SKIN_SAMPLES 400

// How far from one half a winding number over an opening may be
#define LID_SLACK 0.03

const srFitLimits srCleanLimits = {0.97, 1.3, 0.85, 1.15, 1.0};
const srFitLimits srDamagedLimits = {0.97, 1.3, 0.6, HUGE_VAL, 1.0};
const srFitLimits srDustLimits = {0.97, 1.3, 0.6, HUGE_VAL, 2.5};

static const char* const misfitNames[] = {"index",     "loose node", "flat cell", "face",      "edge",
                                          "vertex",    "outside",    "missing",   "too small", "too large",
                                          "few nodes", "many nodes", "glued"};

void srDescribeMisfits(int misfits, char* outText, int32_t textSize) {
    int32_t at = 0;
    outText[0] = 0;
    for (int bit = 0; bit < (int)(sizeof(misfitNames) / sizeof(misfitNames[0])); bit++) {
        if ((misfits & 1 << bit) != 0 && at < textSize) {
            at +=
                snprintf(outText + at, (size_t)(textSize - at), "%s%s", at > 0 ? ", " : "", misfitNames[bit]);
        }
    }
}

typedef struct srJudge {
    const float* nodes;
    const int32_t* cells;
    const srFitGoal* goal;
    srFitReport* report;
    srTopology topology;
    double* cellSizes;  // longest edge of each
    double typicalSize; // of cells at the boundary
    uint64_t random;
} srJudge;

static const float* nodeOf(const srJudge* judge, int32_t cell, int corner) {
    return judge->nodes + 3 * (int64_t)judge->cells[4 * (int64_t)cell + corner];
}

static void arm(const float* from, const float* to, double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = (double)to[i] - (double)from[i];
    }
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// ---- cells -----------------------------------------------------------------------------------------------

static bool areIndicesSound(const float* nodes, int32_t nodeCount, const int32_t* cells, int32_t cellCount) {
    for (int64_t i = 0; i < 3 * (int64_t)nodeCount; i++) {
        if (!isfinite(nodes[i])) {
            return false;
        }
    }
    for (int64_t i = 0; i < 4 * (int64_t)cellCount; i++) {
        if (cells[i] < 0 || cells[i] >= nodeCount) {
            return false;
        }
        for (int64_t before = i / 4 * 4; before < i; before++) {
            if (cells[before] == cells[i]) {
                return false;
            }
        }
    }
    return cellCount > 0;
}

static double longestEdge(const srJudge* judge, int32_t cell) {
    double longest = 0.0;
    for (int a = 0; a < 4; a++) {
        for (int b = a + 1; b < 4; b++) {
            double edge[3];
            arm(nodeOf(judge, cell, a), nodeOf(judge, cell, b), edge);
            longest = fmax(longest, sqrt(dot(edge, edge)));
        }
    }
    return longest;
}

// The normal of the face that leaves out a corner, of twice its area, outwards.
static void faceNormal(const srJudge* judge, int32_t cell, int corner, double out[3]) {
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const int* f = faces[corner];
    double u[3], v[3];
    arm(nodeOf(judge, cell, f[0]), nodeOf(judge, cell, f[1]), u);
    arm(nodeOf(judge, cell, f[0]), nodeOf(judge, cell, f[2]), v);
    cross(u, v, out);
}

static void countAspect(srFitReport* report, double aspect) {
    static const double ends[srAspectBins - 1] = {1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0};
    int bin = 0;
    while (bin < srAspectBins - 1 && !(aspect <= ends[bin])) {
        bin++;
    }
    report->aspects[bin]++;
    report->worstAspect = fmax(report->worstAspect, aspect);
}

static void measureShape(srJudge* judge, int32_t cell) {
    srFitReport* report = judge->report;
    double normals[4][3], largestArea = 0.0, u[3], sixVolumes;
    for (int corner = 0; corner < 4; corner++) {
        faceNormal(judge, cell, corner, normals[corner]);
        largestArea = fmax(largestArea, sqrt(dot(normals[corner], normals[corner])));
    }
    for (int a = 0; a < 4; a++) {
        for (int b = a + 1; b < 4; b++) {
            double lengths = sqrt(dot(normals[a], normals[a]) * dot(normals[b], normals[b]));
            double cosine = lengths > 0.0 ? -dot(normals[a], normals[b]) / lengths : 1.0;
            double angle = 180.0 / PI * acos(fmin(fmax(cosine, -1.0), 1.0));
            int bin = (int)(angle * srAngleBins / 180.0);
            report->angles[bin < srAngleBins ? bin : srAngleBins - 1]++;
            report->smallestAngleDegrees = fmin(report->smallestAngleDegrees, angle);
            report->largestAngleDegrees = fmax(report->largestAngleDegrees, angle);
        }
    }
    arm(nodeOf(judge, cell, 1), nodeOf(judge, cell, 0), u);
    sixVolumes = -dot(normals[0], u);
    report->volume += sixVolumes / 6.0;
    countAspect(report, judge->cellSizes[cell] * largestArea / fabs(sixVolumes));
}

static void judgeCells(srJudge* judge) {
    srFitReport* report = judge->report;
    report->smallestAngleDegrees = 180.0;
    judge->cellSizes = srCorpusAlloc(NULL, report->cellCount, sizeof(double));
    for (int32_t cell = 0; cell < report->cellCount; cell++) {
        report->flatCellCount += srSignOfVolume(nodeOf(judge, cell, 0), nodeOf(judge, cell, 1),
                                                nodeOf(judge, cell, 2), nodeOf(judge, cell, 3)) <= 0;
        judge->cellSizes[cell] = longestEdge(judge, cell);
        measureShape(judge, cell);
    }
    report->misfits |= report->flatCellCount > 0 ? sr_misfitFlatCell : 0;
}

static void judgeTopology(srJudge* judge) {
    srFitReport* report = judge->report;
    judge->topology = srCreateTopology(report->nodeCount, judge->cells, report->cellCount);
    report->boundaryFaceCount = judge->topology.boundaryCount;
    report->badFaceCount = judge->topology.badFaceCount;
    report->badEdgeCount = judge->topology.badEdgeCount;
    report->badVertexCount = judge->topology.badVertexCount;
    report->misfits |= judge->topology.looseNodeCount > 0 ? sr_misfitLooseNode : 0;
    report->misfits |= report->badFaceCount > 0 ? sr_misfitFace : 0;
    report->misfits |= report->badEdgeCount > 0 ? sr_misfitEdge : 0;
    report->misfits |= report->badVertexCount > 0 ? sr_misfitVertex : 0;
}

// ---- boundary and skin -----------------------------------------------------------------------------------

static int compareDoubles(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void findTypicalSize(srJudge* judge) {
    int32_t count = judge->topology.boundaryCount;
    double* sizes = srCorpusAlloc(NULL, count, sizeof(double));
    for (int32_t f = 0; f < count; f++) {
        sizes[f] = judge->cellSizes[judge->topology.boundaryCells[f]];
    }
    qsort(sizes, (size_t)count, sizeof(double), compareDoubles);
    judge->typicalSize = count > 0 ? sizes[count / 2] : 0.0;
    free(sizes);
}

static srSoup copyBoundary(const srJudge* judge) {
    srSoup soup = {0};
    for (int32_t n = 0; n < judge->report->nodeCount; n++) {
        const float* x = judge->nodes + 3 * (int64_t)n;
        srSoup_AddPoint(&soup, (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int32_t f = 0; f < judge->topology.boundaryCount; f++) {
        const int32_t* face = judge->topology.boundary[f];
        srSoup_AddTriangle(&soup, face[0], face[1], face[2]);
    }
    return soup;
}

// Over a hole there is no skin to be near to; there the inside ends where the winding number says, or, where
// patches of the skin face either way and cancel, where skin lies in half of all directions. Whether it does
// so within a cell of a point on a face. Over a large opening both hardly change: there is no sharp place.
static bool isOverHole(const srScan* repaired, double corners[4][3], const double x[3], double size) {
    double u[3], v[3], n[3];
    for (int i = 0; i < 3; i++) {
        u[i] = corners[1][i] - corners[0][i];
        v[i] = corners[2][i] - corners[0][i];
    }
    cross(u, v, n);
    double length = sqrt(dot(n, n));
    bool isFirstInside = false, isFirstWithin = false;
    for (int step = -4; step <= 4; step++) {
        double probe[3];
        for (int i = 0; i < 3; i++) {
            probe[i] = x[i] + 0.25 * step * size / length * n[i];
        }
        double winding =
            repaired->isClosed ? srScan_IsInside(repaired, probe) : srScan_Winding(repaired, probe);
        double cover = repaired->isClosed ? 0.0 : srScan_Cover(repaired, probe);
        bool isInside = fabs(winding) > 0.5, isWithin = cover > 0.5;
        isFirstInside = step == -4 ? isInside : isFirstInside;
        isFirstWithin = step == -4 ? isWithin : isFirstWithin;
        if (isInside != isFirstInside || isWithin != isFirstWithin || fabs(fabs(winding) - 0.5) < LID_SLACK ||
            fabs(cover - 0.5) < LID_SLACK) {
            return true;
        }
    }
    return false;
}

// From the boundary to the skin, as it was given or as it is meant: middles of faces and every corner, in
// cells.
static double measureOutside(const srJudge* judge, const srSoup* boundary, const srScan* skin,
                             const srScan* repaired) {
    double worst = 0.0;
    for (int32_t f = 0; f < boundary->triangleCount; f++) {
        // a corner of a cell that the skin cuts off is not a finer cage
        double size = fmax(judge->cellSizes[judge->topology.boundaryCells[f]], judge->typicalSize);
        double corners[4][3] = {{0}};
        for (int c = 0; c < 3; c++) {
            srSoup_GetCorner(boundary, f, c, corners[c]);
            for (int i = 0; i < 3; i++) {
                corners[3][i] += corners[c][i] / 3.0;
            }
        }
        // each corner belongs to some six faces; two points of each face meet them all but rarely
        for (int c = 2; c < 4; c++) {
            double distance = srScan_Distance(repaired, corners[c], NULL, NULL);
            if (distance > worst * size) {
                distance = fmin(distance, srScan_Distance(skin, corners[c], NULL, NULL));
                bool isNear = distance <= size || isOverHole(repaired, corners, corners[c], size);
                worst = fmax(worst, isNear ? fmin(distance / size, 1.0) : distance / size);
            }
        }
    }
    return worst;
}

// Steps from one side of a hollow to the other
#define HOLLOW_STEPS 8

static bool isFlesh(const srScan* repaired, const srScan* widest, const double x[3]) {
    return srScan_IsInside(repaired, x) || srScan_IsInside(widest, x);
}

// Whether flesh lies on both sides of a place along some line, within a cell altogether.
static bool isInNarrow(const srScan* repaired, const srScan* widest, const double x[3], double cell) {
    for (int line = 0; line < 13; line++) {
        int code = line + 14, reach[2] = {HOLLOW_STEPS + 1, HOLLOW_STEPS + 1};
        const double way[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        double unit = cell / HOLLOW_STEPS / sqrt(dot(way, way));
        for (int side = 0; side < 2; side++) {
            bool isFound = false;
            for (int at = 1; at <= HOLLOW_STEPS && !isFound; at++) {
                double probe[3];
                for (int i = 0; i < 3; i++) {
                    probe[i] = x[i] + (side == 0 ? at : -at) * unit * way[i];
                }
                isFound = isFlesh(repaired, widest, probe);
                reach[side] = isFound ? at : reach[side];
            }
        }
        if (reach[0] + reach[1] <= HOLLOW_STEPS) {
            return true;
        }
    }
    return false;
}

// Skin with flesh on both sides, or with what a cage may enclose too, has no boundary to be near to; nor has
// skin around a hollow where that is narrower than a cell.
static bool isBuried(const srScan* repaired, const srScan* widest, int32_t triangle, const double x[3],
                     double cell) {
    double a[3], u[3], v[3], n[3];
    srSoup_GetCorner(repaired->soup, triangle, 0, a);
    srSoup_GetCorner(repaired->soup, triangle, 1, u);
    srSoup_GetCorner(repaired->soup, triangle, 2, v);
    for (int i = 0; i < 3; i++) {
        u[i] -= a[i];
        v[i] -= a[i];
    }
    cross(u, v, n);
    double length = sqrt(dot(n, n));
    for (int side = -1; side <= 1; side += 2) {
        double probe[3];
        for (int i = 0; i < 3; i++) {
            probe[i] = x[i] + side * 0.05 * cell / length * n[i];
        }
        if (!isFlesh(repaired, widest, probe) && !isInNarrow(repaired, widest, probe, cell)) {
            return false;
        }
    }
    return true;
}

// Farther than this share of a cell from the skin that was given there is none: what is over a hole, a
// finger's tip for one, nobody can know.
#define OVER_HOLE 0.5

static double measureMissing(srJudge* judge, const srSoup* boundary, const srScan* skin,
                             const srScan* repaired) {
    const srSoup nothing = {.points = NULL};
    srScan scan = srCreateScan(boundary);
    srScan widest = srCreateScan(judge->goal->widest != NULL ? judge->goal->widest : &nothing);
    double* areas = srSumAreas(repaired);
    double worst = 0.0;
    for (int i = 0; i < SKIN_SAMPLES; i++) {
        double x[3];
        int32_t nearest = 0, triangle = srPickPoint(repaired, areas, &judge->random, x);
        double distance = srScan_Distance(&scan, x, &nearest, NULL);
        double own = judge->cellSizes[judge->topology.boundaryCells[nearest]];
        double cells = distance / fmax(own, judge->typicalSize);

        // most points are near: only of the others it matters whether they are buried
        if (cells > worst && srScan_Distance(skin, x, NULL, NULL) < OVER_HOLE * judge->typicalSize &&
            !isBuried(repaired, &widest, triangle, x, judge->typicalSize)) {
            worst = cells;
        }
    }
    free(areas);
    srDestroyScan(&widest);
    srDestroyScan(&scan);
    return worst;
}

static srEstimate estimateVolume(const srSoup* soup, const srScan* scan, uint64_t seed) {
    return srSoup_IsClosed(soup) ? srEstimateClosedVolume(soup, seed) : srEstimateOpenVolume(scan, seed);
}

// What may be counted as inside besides: asked for only where a cage is larger than what is inside for sure,
// for it takes long.
static void widenInside(srJudge* judge, const srScan* repaired, srEstimate inside) {
    const srFitGoal* goal = judge->goal;
    srEstimate thin = srEstimateThinVolume(repaired, judge->typicalSize, judge->random);
    srEstimate widest = goal->widest != NULL ? srEstimateClosedVolume(goal->widest, judge->random) : inside;
    double error = fmax(inside.error, widest.error);
    judge->report->insideMost =
        fmax(inside.value, widest.value) + thin.value + 3.0 * sqrt(error * error + thin.error * thin.error);
}

static void judgeVolume(srJudge* judge, const srScan* repaired, const srFitLimits* limits) {
    srFitReport* report = judge->report;
    srEstimate inside = estimateVolume(judge->goal->repaired, repaired, judge->random);
    report->insideLeast = fmax(inside.value - 3.0 * inside.error, 0.0);
    report->insideMost = inside.value + 3.0 * inside.error;
    if (report->volume > limits->mostVolume * report->insideMost) {
        widenInside(judge, repaired, inside);
    }
    if (report->volume < report->insideLeast) {
        report->volumeRatio = report->volume / report->insideLeast;
    } else {
        report->volumeRatio = fmax(report->volume / report->insideMost, 1.0);
    }
    bool isSmall = report->volume < limits->leastVolume * report->insideLeast;
    bool isLarge = report->volume > limits->mostVolume * report->insideMost;
    report->misfits |= (isSmall ? sr_misfitSmall : 0) | (isLarge ? sr_misfitLarge : 0);
}

static void judgeSkin(srJudge* judge, const srFitLimits* limits) {
    srFitReport* report = judge->report;
    srScan skin = srCreateScan(judge->goal->skin), repaired = srCreateScan(judge->goal->repaired);
    srSoup boundary = copyBoundary(judge);
    findTypicalSize(judge);
    report->outsideCells = measureOutside(judge, &boundary, &skin, &repaired);
    report->missingCells = HUGE_VAL;
    if (repaired.count > 0 && boundary.triangleCount > 0) {
        report->missingCells = measureMissing(judge, &boundary, &skin, &repaired);
    }
    judgeVolume(judge, &repaired, limits);
    report->misfits |= report->outsideCells > limits->mostCells ? sr_misfitOutside : 0;
    report->misfits |= report->missingCells > limits->mostCells ? sr_misfitMissing : 0;
    srFreeSoup(&boundary);
    srDestroyScan(&repaired);
    srDestroyScan(&skin);
}

// ---- what is apart ---------------------------------------------------------------------------------------

static double distanceTo(const srJudge* judge, int32_t node, const double x[3]) {
    const float* n = judge->nodes + 3 * (int64_t)node;
    double d[3] = {x[0] - (double)n[0], x[1] - (double)n[1], x[2] - (double)n[2]};
    return sqrt(dot(d, d));
}

static bool holdsPoint(const srJudge* judge, int32_t cell, const double x[3]) {
    for (int corner = 0; corner < 4; corner++) {
        double normal[3];
        const float* on = nodeOf(judge, cell, (corner + 1) % 4);
        const double d[3] = {x[0] - (double)on[0], x[1] - (double)on[1], x[2] - (double)on[2]};
        faceNormal(judge, cell, corner, normal);
        if (dot(normal, d) > 0.0) {
            return false;
        }
    }
    return true;
}

// Lengths of the shortest paths along edges of cells, from x within one cell to all nodes: rounds over all
// cells until nothing gets shorter.
static void measurePaths(const srJudge* judge, int32_t from, const double x[3], double* lengths) {
    for (int32_t n = 0; n < judge->report->nodeCount; n++) {
        lengths[n] = HUGE_VAL;
    }
    for (int corner = 0; corner < 4; corner++) {
        int32_t node = judge->cells[4 * (int64_t)from + corner];
        lengths[node] = distanceTo(judge, node, x);
    }
    for (bool isShorter = true; isShorter;) {
        isShorter = false;
        for (int64_t i = 0; i < 12 * (int64_t)judge->report->cellCount; i++) {
            static const int edges[12][2] = {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 3}, {3, 0},
                                             {1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 3}, {3, 2}};
            const int* edge = edges[i % 12];
            int32_t a = judge->cells[4 * (i / 12) + edge[0]], b = judge->cells[4 * (i / 12) + edge[1]];
            if (lengths[a] >= lengths[b]) {
                continue;
            }
            double along[3];
            arm(judge->nodes + 3 * (int64_t)a, judge->nodes + 3 * (int64_t)b, along);
            double length = lengths[a] + sqrt(dot(along, along));
            if (length < lengths[b]) {
                lengths[b] = length;
                isShorter = true;
            }
        }
    }
}

// A place that several copies of a cell hold belongs to one of them; which, the judge does not know, and
// takes the choice that is best. Zero when no cell holds it.
static double findPath(const srJudge* judge, const double pair[6]) {
    double best = 0.0;
    double* lengths = srCorpusAlloc(NULL, judge->report->nodeCount, sizeof(double));
    for (int32_t from = 0; from < judge->report->cellCount; from++) {
        if (!holdsPoint(judge, from, pair)) {
            continue;
        }
        measurePaths(judge, from, pair, lengths);
        for (int32_t to = 0; to < judge->report->cellCount; to++) {
            if (!holdsPoint(judge, to, pair + 3)) {
                continue;
            }
            double path = HUGE_VAL;
            for (int corner = 0; corner < 4; corner++) {
                int32_t node = judge->cells[4 * (int64_t)to + corner];
                path = fmin(path, lengths[node] + distanceTo(judge, node, pair + 3));
            }
            best = fmax(best, path);
        }
    }
    free(lengths);
    return best;
}

static void judgeAparts(srJudge* judge) {
    const srFitGoal* goal = judge->goal;
    judge->report->shortestPath = HUGE_VAL;
    for (int32_t i = 0; i < goal->apartCount; i++) {
        // where two parts come together one cell may hold both
        double path = findPath(judge, goal->aparts[i]) + judge->typicalSize;
        judge->report->shortestPath = fmin(judge->report->shortestPath, path / goal->leastPaths[i]);
    }
    judge->report->misfits |= judge->report->shortestPath < 1.0 ? sr_misfitGlued : 0;
}

bool srJudgeFit(const float* nodes, int32_t nodeCount, const int32_t* cells, int32_t cellCount,
                const srFitGoal* goal, const srFitLimits* limits, srFitReport* outReport) {
    *outReport = (srFitReport){.nodeCount = nodeCount, .cellCount = cellCount};
    if (!areIndicesSound(nodes, nodeCount, cells, cellCount)) {
        outReport->misfits = sr_misfitIndex;
        return false;
    }
    srJudge judge = {.nodes = nodes, .cells = cells, .goal = goal, .report = outReport, .random = 20260101};
    judgeCells(&judge);
    judgeTopology(&judge);
    judgeSkin(&judge, limits);
    judgeAparts(&judge);
    outReport->misfits |= nodeCount < limits->leastNodes * goal->wantedNodes ? sr_misfitFewNodes : 0;
    outReport->misfits |= nodeCount > limits->mostNodes * goal->wantedNodes ? sr_misfitManyNodes : 0;
    srDestroyTopology(&judge.topology);
    free(judge.cellSizes);
    return outReport->misfits == 0;
}
