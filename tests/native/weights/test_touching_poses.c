// SPDX-License-Identifier: GPL-3.0-or-later
//
// What only touches, posed by its bones: skin to cage to weights, and then a spread hand and an open mouth.

#include "mesh/mesher.h"
#include "mesh/touching.h"
#include "weights/transfer.h"

#include <math.h>

enum {
    maxPoints = BLOCKS_MAX * BLOCKS_MAX * BLOCKS_MAX,
    fingerCount = 4,
    maxBones = fingerCount + 1
};

// A skin with a bone and the object's own, which takes the rest, at each vertex.
typedef struct Posed {
    Soup soup;
    srMesh mesh;
    srMesherReport report;
    srEmbedding embedding;
    int32_t boneCount;
    int32_t starts[maxPoints + 1];
    int32_t bones[2 * maxPoints];
    float painted[2 * maxPoints];
    srVec3 points[maxPoints];
    float* weights;
    srVec3* nodes; // posed
} Posed;

static Posed posed;

static void spacePlanes(Blocks* blocks, int axis, double from, double to, int count, int* at) {
    for (int i = 0; i <= count; i++) {
        blocks->planes[axis][*at + i] = from + (to - from) * i / count;
    }
    *at += count;
    blocks->counts[axis] = *at;
}

static void paint(int32_t vertex, int32_t bone, double weight) {
    posed.starts[vertex + 1] = 2 * (vertex + 1);
    posed.bones[2 * vertex] = bone;
    posed.bones[2 * vertex + 1] = 0;
    posed.painted[2 * vertex] = (float)weight;
    posed.painted[2 * vertex + 1] = (float)(1.0 - weight);
}

static void weigh(int32_t target) {
    srSurface surface = makeSurface(&posed.soup);
    const srMesherSettings settings = {.targetNodeCount = target};
    assert_success(srMeshSurface(&surface, &settings, &posed.mesh, &posed.report));
    assert_true(posed.report.copyCount > 0);
    for (int32_t p = 0; p < posed.soup.pointCount; p++) {
        const float* x = posed.soup.points + 3 * p;
        posed.points[p] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }
    assert_success(srCreateEmbedding(&posed.mesh.cage, posed.points, posed.mesh.pointCells,
                                     posed.soup.pointCount, &posed.embedding));
    const srPaintedWeights painted = {posed.starts, posed.bones, posed.painted, posed.soup.pointCount,
                                      posed.boneCount};
    size_t nodeCount = (size_t)posed.mesh.cage.nodeCount;
    posed.weights = malloc(nodeCount * (size_t)posed.boneCount * sizeof(float));
    posed.nodes = malloc(nodeCount * sizeof(srVec3));
    assert_success(srTransferWeights(&posed.mesh.cage, &posed.embedding, &painted, NULL, posed.weights));
    srDestroySurface(&surface);
}

static void forget(void) {
    srDestroyEmbedding(&posed.embedding);
    srDestroyMesh(&posed.mesh);
    freeSoup(&posed.soup);
    free(posed.weights);
    free(posed.nodes);
    memset(&posed, 0, sizeof(posed));
}

// About an axis through a place: x (0) or z (2).
static srVec3 turn(srVec3 x, srVec3 about, int axis, double angle) {
    srVec3 d = srSub(x, about);
    double c = cos(angle), s = sin(angle);
    srVec3 out = axis == 2 ? (srVec3){c * d.x - s * d.y, s * d.x + c * d.y, d.z}
                           : (srVec3){d.x, c * d.y - s * d.z, s * d.y + c * d.z};
    return srAdd(about, out);
}

// How far the squared lengths in a cell are from those at rest, at most: zero where it only turned.
static double strainOf(int32_t cell) {
    const int32_t* n = posed.mesh.cage.cells[cell];
    double worst = 0.0;
    for (int a = 0; a < 3; a++) {
        for (int b = a + 1; b < 4; b++) {
            double rest = srDistance(posed.mesh.cage.nodes[n[a]], posed.mesh.cage.nodes[n[b]]);
            worst = fmax(worst, fabs(srDistance(posed.nodes[n[a]], posed.nodes[n[b]]) / rest - 1.0));
        }
    }
    return worst;
}

static srVec3 middleOf(int32_t cell) {
    const int32_t* n = posed.mesh.cage.cells[cell];
    const srVec3* x = posed.mesh.cage.nodes;
    return srScale(0.25, srAdd(srAdd(x[n[0]], x[n[1]]), srAdd(x[n[2]], x[n[3]])));
}

static srVec3 posedPoint(int32_t p) {
    srVec3 x = {0.0, 0.0, 0.0};
    for (int c = 0; c < 4; c++) {
        x = srMulAdd(x, (double)posed.embedding.weights[p][c], posed.nodes[posed.embedding.nodes[p][c]]);
    }
    return x;
}

static void makeHand(double gap) {
    Blocks hand = {.counts = {2 * fingerCount - 1, 0, 0}};
    int y = 0, z = 0;
    for (int i = 0; i < 2 * fingerCount; i++) {
        hand.planes[0][i] = 1.2 * ((i + 1) / 2) + gap * (i / 2);
    }
    spacePlanes(&hand, 1, 0.0, 3.0, 3, &y);
    spacePlanes(&hand, 1, 3.0, 7.0, 8, &y);
    spacePlanes(&hand, 2, 0.0, 1.2, 2, &z);
    for (int i = 0; i < hand.counts[0] * hand.counts[1] * hand.counts[2]; i++) {
        int x = i % hand.counts[0], up = i / hand.counts[0] % hand.counts[1];
        hand.isFull[x][up][i / (hand.counts[0] * hand.counts[1])] = up < 3 || x % 2 == 0;
    }
    addBlocks(&posed.soup, &hand);
    posed.boneCount = fingerCount + 1;
    for (int32_t p = 0; p < posed.soup.pointCount; p++) {
        double height = (double)posed.soup.points[3 * p + 1];
        paint(p, 1 + p % (2 * fingerCount) / 2, fmin(fmax(height - 3.0, 0.0), 1.0));
    }
}

static void spreadFingers(double gap) {
    for (int32_t node = 0; node < posed.mesh.cage.nodeCount; node++) {
        const float* w = posed.weights + node * posed.boneCount;
        srVec3 rest = posed.mesh.cage.nodes[node], x = srScale((double)w[0], rest);
        for (int f = 0; f < fingerCount; f++) {
            srVec3 root = {0.6 + f * (1.2 + gap), 3.0, 0.6};
            x = srMulAdd(x, (double)w[f + 1], turn(rest, root, 2, 0.25 * (1.5 - f)));
        }
        posed.nodes[node] = x;
    }
}

static void fingers_spread_by_their_bones_strain_no_cell_that_two_share(void** state) {
    (void)state;
    const double gaps[] = {0.06, 0.2}; // about 0.15 and 0.5 of a cube
    for (int g = 0; g < SR_ARRAY_COUNT(gaps); g++) {
        makeHand(gaps[g]);
        weigh(1500);
        spreadFingers(gaps[g]);
        int32_t shared = 0, seen = 0;
        double worst = 0.0;
        for (int32_t cell = 0; cell < posed.mesh.cage.cellCount; cell++) {
            // fingers are wholly their bones' from y = 4 on; a cell below that they still bend
            if (middleOf(cell).y < 4.0 + posed.report.spacing) {
                continue;
            }
            bool isNearRoot = middleOf(cell).y < 4.0 + 2.0 * posed.report.spacing;
            bool isOf[fingerCount] = {false};
            int count = 0;
            for (int c = 0; c < 4; c++) {
                const float* w = posed.weights + posed.mesh.cage.cells[cell][c] * posed.boneCount;
                for (int f = 0; f < fingerCount; f++) {
                    // more than a twentieth of its neighbour may be left in the first cells above the root,
                    // where weights fade out, but not two cells above
                    isOf[f] = isOf[f] || w[f + 1] > (isNearRoot ? 0.1f : 0.05f);
                }
            }
            for (int f = 0; f < fingerCount; f++) {
                count += isOf[f];
            }
            shared += count > 1;
            worst = fmax(worst, strainOf(cell));
            seen++;
        }
        assert_true(seen > 500);
        assert_int_equal(shared, 0);
        // what is left of the bend at the root; a shared cell has more than 0.5
        assert_true(worst < 0.25);
        forget();
    }
}

static void makeMouth(double gap) {
    Blocks head = {.counts = {0}};
    int x = 0, y = 0, z = 0;
    spacePlanes(&head, 0, 0.0, 1.0, 2, &x);
    spacePlanes(&head, 0, 1.0, 3.0, 6, &x);
    spacePlanes(&head, 0, 3.0, 4.0, 2, &x);
    spacePlanes(&head, 1, 0.0, 2.0, 3, &y);
    spacePlanes(&head, 1, 2.0, 4.0, 6, &y);
    spacePlanes(&head, 2, 0.0, 2.0, 3, &z);
    spacePlanes(&head, 2, 2.0, 2.0 + gap, 1, &z);
    spacePlanes(&head, 2, 2.0 + gap, 4.0, 3, &z);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 9; j++) {
            for (int k = 0; k < 7; k++) {
                head.isFull[i][j][k] = !(i >= 2 && i < 8 && j >= 3 && k == 3);
            }
        }
    }
    addBlocks(&posed.soup, &head);
    posed.boneCount = 2;
    for (int32_t p = 0; p < posed.soup.pointCount; p++) {
        const float* at = posed.soup.points + 3 * p;
        bool isBelow = p / (11 * 10) <= 3; // planes along z: up to the lower lip
        double open = fmin(fmax(1.0 - fabs((double)at[0] - 2.0), 0.0), 0.5) / 0.5;
        paint(p, 1, isBelow ? open * fmin(fmax((double)at[1] - 2.0, 0.0), 1.0) : 0.0);
    }
}

// Of the grid of both lips: eleven planes along x, ten along y.
static int32_t lipVertex(bool isUpper, int x, int y) {
    return (isUpper ? 4 : 3) * 110 + y * 11 + x;
}

static void openMouth(srVec3 hinge) {
    for (int32_t node = 0; node < posed.mesh.cage.nodeCount; node++) {
        double w = (double)posed.weights[2 * node + 1];
        srVec3 rest = posed.mesh.cage.nodes[node];
        posed.nodes[node] = srMulAdd(srScale(1.0 - w, rest), w, turn(rest, hinge, 0, -0.4));
    }
}

// All of both lips but for a cell around the mouth's corners and its end, where they are one.
static void requireLipsApart(double gap, int32_t target) {
    const srVec3 hinge = {2.0, 2.0, 2.0};
    double worst = 0.0;
    int32_t shared = 0, seen = 0;
    makeMouth(gap);
    weigh(target);
    openMouth(hinge);
    for (int32_t i = 0; i < 110; i++) {
        int32_t lips[2] = {lipVertex(false, i % 11, i / 11), lipVertex(true, i % 11, i / 11)};
        srVec3 at = posed.points[lips[0]];
        double fromEnd = fmin(fmin(at.x - 1.0, 3.0 - at.x), at.y - 2.0);
        for (int lip = 0; lip < 2 && fromEnd > 0.9 * posed.report.spacing; lip++) {
            double w = (double)posed.painted[2 * lips[lip]];
            srVec3 rest = posed.points[lips[lip]];
            srVec3 wanted = srMulAdd(srScale(1.0 - w, rest), w, turn(rest, hinge, 0, -0.4));
            worst = fmax(worst, srDistance(posedPoint(lips[lip]), wanted));
            shared += posed.embedding.cells[lips[0]] == posed.embedding.cells[lips[1]];
            seen++;
        }
    }
    print_message("gap %g, %d nodes: off by %.3f\n", gap, posed.mesh.cage.nodeCount, worst);
    assert_true(seen >= 30);
    assert_int_equal(shared, 0);
    // the lower lip goes 0.78 down; the cage smooths what is painted
    assert_true(worst < 0.05);
    forget();
}

static void a_mouth_opens(void** state) {
    (void)state;
    const double gaps[] = {0.0, 1e-3, 0.02, 0.05};
    const int32_t targets[] = {3000, 4000, 6000};
    for (int k = 0; k < SR_ARRAY_COUNT(gaps) * SR_ARRAY_COUNT(targets); k++) {
        requireLipsApart(gaps[k / SR_ARRAY_COUNT(targets)], targets[k % SR_ARRAY_COUNT(targets)]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(fingers_spread_by_their_bones_strain_no_cell_that_two_share,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_mouth_opens, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/touching_poses", tests, NULL, NULL);
}
