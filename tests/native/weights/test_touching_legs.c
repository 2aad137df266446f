// SPDX-License-Identifier: GPL-3.0-or-later
//
// One closed skin whose two legs lie beside each other, apart, touching or a little in each other: by either
// mesher no point of one leg hangs on the other, and a bone of its own spreads each.

#include "mesh/filling.h"
#include "mesh/helper.h"
#include "mesh/touching.h"
#include "weights/transfer.h"

#include <math.h>

// A tube of radius 0.2, bent like a hairpin: an arch, hips that draw near, and two upright legs.
enum {
    around = 24,
    archRings = 25,
    hipRings = 13,
    legRings = 25,
    sideRings = hipRings + legRings,
    ringCount = archRings + 2 * sideRings,
    pointCount = ringCount * around + 2,
    boneCount = 3 // hip, right, left
};

#define RADIUS 0.2
#define PI 3.14159265358979323846

// Legs begin below this, and are wholly their bones' from 0.6 down.
#define LEG_TOP 0.4
#define LOW 0.3
#define KNEE 1.0

typedef struct Legs {
    Soup soup;
    srVec3 path[ringCount];
    srVec3 points[pointCount];
    srMesh mesh;
    srFillingReport report;
    srEmbedding embedding;
    float* weights;
    srVec3* nodes; // posed
} Legs;

// From the end of the right leg over the arch to the end of the left one.
static srVec3 findMiddle(int ring, double gap) {
    const double wide = 0.45, narrow = RADIUS + 0.5 * gap;
    int fromEnd = ring < ringCount - 1 - ring ? ring : ringCount - 1 - ring;
    double side = ring < ringCount / 2 ? 1.0 : -1.0;
    if (fromEnd < legRings) {
        return (srVec3){side * narrow, 0.0, LEG_TOP - 1.6 * (legRings - fromEnd) / legRings};
    }
    if (fromEnd < sideRings) {
        double s = (sideRings - fromEnd) / (double)hipRings;
        return (srVec3){side * (wide + (narrow - wide) * (3.0 - 2.0 * s) * s * s), 0.0, 1.2 - 0.8 * s};
    }
    double turn = PI * (ring - sideRings) / (archRings - 1.0);
    return (srVec3){wide * cos(turn), 0.0, 1.2 + 0.45 * sin(turn)};
}

static void makeSkin(Legs* legs, double gap) {
    for (int ring = 0; ring < ringCount; ring++) {
        legs->path[ring] = findMiddle(ring, gap);
    }
    for (int ring = 0; ring < ringCount; ring++) {
        srVec3 along =
            srSub(legs->path[ring < ringCount - 1 ? ring + 1 : ring], legs->path[ring > 0 ? ring - 1 : ring]);
        srVec3 x = {0.0, 1.0, 0.0}, y = srCross(srScale(1.0 / srLength(along), along), x);
        for (int k = 0; k < around; k++) {
            double angle = 2.0 * PI * (k + 0.5) / around;
            srVec3 p = srMulAdd(srMulAdd(legs->path[ring], RADIUS * cos(angle), x), RADIUS * sin(angle), y);
            addPoint(&legs->soup, p.x, p.y, p.z);
        }
    }
    for (int end = 0; end < 2; end++) {
        srVec3 p = legs->path[end * (ringCount - 1)];
        addPoint(&legs->soup, p.x, p.y, p.z);
    }
    for (int i = 0; i < (ringCount - 1) * around; i++) {
        int32_t p = i, q = i / around * around + (i + 1) % around;
        addTriangle(&legs->soup, p, q, q + around);
        addTriangle(&legs->soup, p, q + around, p + around);
    }
    for (int k = 0; k < around; k++) {
        int32_t last = (ringCount - 1) * around;
        addTriangle(&legs->soup, pointCount - 2, (k + 1) % around, k);
        addTriangle(&legs->soup, pointCount - 1, last + k, last + (k + 1) % around);
    }
    assert_int_equal(legs->soup.pointCount, pointCount);
    for (int32_t p = 0; p < pointCount; p++) {
        const float* x = legs->soup.points + 3 * p;
        legs->points[p] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }
}

static int ringOf(int32_t point) {
    return point < ringCount * around ? point / around : point == pointCount - 2 ? 0 : ringCount - 1;
}

static int boneOf(int32_t point) {
    return ringOf(point) < ringCount / 2 ? 1 : 2;
}

static void paintAndWeigh(Legs* legs) {
    int32_t starts[pointCount + 1] = {0}, bones[2 * pointCount];
    float painted[2 * pointCount];
    for (int32_t p = 0; p < pointCount; p++) {
        double leg = fmin(fmax((KNEE - legs->path[ringOf(p)].z) / 0.4, 0.0), 1.0);
        starts[p + 1] = 2 * (p + 1);
        bones[2 * p] = 0;
        bones[2 * p + 1] = boneOf(p);
        painted[2 * p] = (float)(1.0 - leg);
        painted[2 * p + 1] = (float)leg;
    }
    const srPaintedWeights all = {starts, bones, painted, pointCount, boneCount};
    size_t nodeCount = (size_t)legs->mesh.cage.nodeCount;
    legs->weights = malloc(nodeCount * boneCount * sizeof(float));
    legs->nodes = malloc(nodeCount * sizeof(srVec3));
    assert_success(srTransferWeights(&legs->mesh.cage, &legs->embedding, &all, NULL, legs->weights));
}

static srVec3 turnAbout(srVec3 x, srVec3 about, double angle) {
    srVec3 d = srSub(x, about);
    double c = cos(angle), s = sin(angle);
    return srAdd(about, (srVec3){c * d.x + s * d.z, d.y, c * d.z - s * d.x});
}

static void spread(Legs* legs) {
    for (int32_t node = 0; node < legs->mesh.cage.nodeCount; node++) {
        const float* w = legs->weights + node * boneCount;
        srVec3 rest = legs->mesh.cage.nodes[node];
        srVec3 right = turnAbout(rest, (srVec3){0.4, 0.0, KNEE}, -0.4);
        srVec3 left = turnAbout(rest, (srVec3){-0.4, 0.0, KNEE}, 0.4);
        srVec3 x = srScale((double)w[0], rest);
        legs->nodes[node] = srMulAdd(srMulAdd(x, (double)w[1], right), (double)w[2], left);
    }
}

static double highestOf(const srCage* cage, int32_t cell) {
    const int32_t* n = cage->cells[cell];
    const srVec3* x = cage->nodes;
    return fmax(fmax(x[n[0]].z, x[n[1]].z), fmax(x[n[2]].z, x[n[3]].z));
}

// Joins what cells below a height join; then each node knows the lowest node of its part.
static int32_t* findLowParts(const srCage* cage, double height) {
    int32_t* parts = malloc(sizeof(int32_t) * (size_t)cage->nodeCount);
    for (int32_t n = 0; n < cage->nodeCount; n++) {
        parts[n] = n;
    }
    for (bool changes = true; changes;) {
        changes = false;
        for (int32_t cell = 0; cell < cage->cellCount; cell++) {
            int32_t low = INT32_MAX;
            for (int c = 0; c < 4; c++) {
                int32_t part = parts[cage->cells[cell][c]];
                low = part < low ? part : low;
            }
            for (int c = 0; c < 4 && highestOf(cage, cell) < height; c++) {
                int32_t* part = &parts[cage->cells[cell][c]];
                changes = changes || *part != low;
                *part = low;
            }
        }
    }
    return parts;
}

// Points of one leg are in one part of the cage, those of the other in another.
static void requireOwnCells(const Legs* legs) {
    const srCage* cage = &legs->mesh.cage;
    int32_t* parts = findLowParts(cage, LEG_TOP);
    int32_t ofLegs[2] = {SR_NULL_INDEX, SR_NULL_INDEX}, wrong = 0, seen = 0;
    for (int32_t p = 0; p < pointCount; p++) {
        int32_t cell = legs->embedding.cells[p];
        if (legs->points[p].z >= LOW || highestOf(cage, cell) >= LEG_TOP) {
            continue;
        }
        int32_t part = parts[cage->cells[cell][0]], *own = &ofLegs[boneOf(p) - 1];
        *own = *own == SR_NULL_INDEX ? part : *own;
        wrong += part != *own;
        seen++;
    }
    free(parts);
    assert_true(seen > 900);
    assert_int_equal(wrong, 0);
    assert_int_not_equal(ofLegs[0], ofLegs[1]);
}

static void requireOwnBones(const Legs* legs) {
    const srCage* cage = &legs->mesh.cage;
    int32_t shared = 0;
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        const float* w = legs->weights + node * boneCount;
        shared += cage->nodes[node].z < LOW && w[1] > 0.02f && w[2] > 0.02f;
    }
    assert_int_equal(shared, 0);
}

// How much longer or shorter an edge of a leg becomes; with cells on both legs it was 6 to 30 times.
static double findStretch(const Legs* legs) {
    const srCage* cage = &legs->mesh.cage;
    double worst = 0.0;
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        const int32_t* n = cage->edges[e];
        double ratio = srDistance(legs->nodes[n[0]], legs->nodes[n[1]]) /
                       srDistance(cage->nodes[n[0]], cage->nodes[n[1]]);
        if (fmax(cage->nodes[n[0]].z, cage->nodes[n[1]].z) < LOW) {
            worst = fmax(worst, fabs(ratio - 1.0));
        }
    }
    return worst;
}

static void forget(Legs* legs) {
    srDestroyEmbedding(&legs->embedding);
    srDestroyMesh(&legs->mesh);
    freeSoup(&legs->soup);
    free(legs->weights);
    free(legs->nodes);
    memset(legs, 0, sizeof(*legs));
}

static srFillingRoute requireLegsApart(double gap, srFillingRoute route, int32_t target) {
    static Legs legs;
    makeSkin(&legs, gap);
    srSurface surface = makeSurface(&legs.soup);
    const srFillingSettings settings = {
        .route = route, .lattice = {.targetNodeCount = target}, .limits = {.program = helperPath}};
    assert_success(srFillSurface(&surface, &settings, &legs.mesh, &legs.report));
    assert_success(
        srCreateEmbedding(&legs.mesh.cage, legs.points, legs.mesh.pointCells, pointCount, &legs.embedding));
    paintAndWeigh(&legs);
    spread(&legs);
    srFillingRoute made = legs.report.route;
    print_message("gap %g, %d nodes by %s: stretch %.3f\n", gap, legs.mesh.cage.nodeCount,
                  made == sr_fillingTetgen ? "TetGen" : "the lattice", findStretch(&legs));
    requireOwnCells(&legs);
    requireOwnBones(&legs);
    assert_true(findStretch(&legs) < 0.3);
    srDestroySurface(&surface);
    forget(&legs);
    return made;
}

static const int32_t targets[] = {500, 1000, 2000};

static void legs_are_apart_on_the_lattice(void** state) {
    (void)state;
    const double gaps[] = {0.05, 0.01, 1e-3, 0.0, -0.005, -0.02};
    for (int k = 0; k < SR_ARRAY_COUNT(gaps) * SR_ARRAY_COUNT(targets); k++) {
        requireLegsApart(gaps[k / SR_ARRAY_COUNT(targets)], sr_fillingLattice,
                         targets[k % SR_ARRAY_COUNT(targets)]);
    }
}

// As deep as a quarter of a cube of a cage of so many nodes, also at the legs' ends, where their sides meet
// in edges.
static void legs_that_overlap_by_a_quarter_of_a_cube_are_apart(void** state) {
    (void)state;
    const struct {
        double gap;
        int32_t target;
    } cases[] = {{-0.04, 500}, {-0.04, 1000}, {-0.03, 2000}, {-0.02, 4000}, {-0.02, 8000}};
    for (int k = 0; k < SR_ARRAY_COUNT(cases); k++) {
        requireLegsApart(cases[k].gap, sr_fillingLattice, cases[k].target);
    }
}

// Where the skin touches nothing TetGen keeps it; the rest goes to the lattice.
static void legs_are_apart_by_the_automatic_route(void** state) {
    (void)state;
    needHelper();
    const double gaps[] = {0.05, 0.02, 0.01, 1e-3, 0.0, -0.005, -0.02};
    int32_t byTetgen = 0;
    for (int k = 0; k < SR_ARRAY_COUNT(gaps) * SR_ARRAY_COUNT(targets); k++) {
        byTetgen += requireLegsApart(gaps[k / SR_ARRAY_COUNT(targets)], sr_fillingAutomatic,
                                     targets[k % SR_ARRAY_COUNT(targets)]) == sr_fillingTetgen;
    }
    assert_true(byTetgen >= 8);
}

// Also where TetGen was asked for.
static void legs_are_apart_by_tetgen(void** state) {
    (void)state;
    needHelper();
    const double gaps[] = {0.02, 0.01, 1e-3};
    for (int g = 0; g < SR_ARRAY_COUNT(gaps); g++) {
        assert_int_equal(requireLegsApart(gaps[g], sr_fillingTetgen, 700), sr_fillingTetgen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(legs_are_apart_on_the_lattice, srTestNothingLeaked),
        cmocka_unit_test_teardown(legs_that_overlap_by_a_quarter_of_a_cube_are_apart, srTestNothingLeaked),
        cmocka_unit_test_teardown(legs_are_apart_by_the_automatic_route, srTestNothingLeaked),
        cmocka_unit_test_teardown(legs_are_apart_by_tetgen, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/touching_legs", tests, NULL, NULL);
}
