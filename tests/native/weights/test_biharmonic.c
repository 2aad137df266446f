// SPDX-License-Identifier: GPL-3.0-or-later
//
// What weights of bones on a cage must be, whoever computes them.

#include "weights/biharmonic.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "support/scenes.h"
#include "support/support.h"
#include "weights/second_opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    mostBones = 6
};

// Bones as segments, each of a column of its own.
typedef struct Bones {
    srVec3 points[2 * mostBones];
    int32_t columns[2 * mostBones];
    int32_t elements[mostBones][3];
    srAnchors anchors;
} Bones;

static void addBone(Bones* bones, srVec3 head, srVec3 tail) {
    int32_t k = bones->anchors.elementCount++;
    bones->points[2 * k] = head;
    bones->points[2 * k + 1] = tail;
    bones->columns[2 * k] = bones->columns[2 * k + 1] = k;
    bones->elements[k][0] = 2 * k;
    bones->elements[k][1] = bones->elements[k][2] = 2 * k + 1;
    bones->anchors.points = bones->points;
    bones->anchors.columns = bones->columns;
    bones->anchors.elements = (const int32_t (*)[3])bones->elements;
    bones->anchors.pointCount = 2 * (k + 1);
    bones->anchors.columnCount = k + 1;
}

static srVec3 at(double x, double y, double z) {
    return (srVec3){x, y, z};
}

// A bar of 4 x 16 x 4 cubes of 0.25; bones along its axis, on nodes or `off` them.
static void createBar(srCage* cage, Bones* bones, double off) {
    assert_success(srTestCreateBarCage((const int32_t[]){4, 16, 4}, 0.25, cage));
    memset(bones, 0, sizeof(*bones));
    double x = 0.5 + off, z = 0.5 + 0.7 * off;
    addBone(bones, at(x, 0.25 + off, z), at(x, 1.0 + off, z));
    addBone(bones, at(x, 1.5 + off, z), at(x, 2.5 + off, z));
    addBone(bones, at(x, 3.0 + off, z), at(x, 3.5 + off, z));
}

static float* solve(const srCage* cage, const srAnchors* anchors, double tolerance,
                    srBiharmonicReport* report) {
    float* weights = calloc((size_t)cage->nodeCount * (size_t)anchors->columnCount, sizeof(float));
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    settings.tolerance = tolerance;
    assert_success(
        srSolveBiharmonic(cage, anchors, &settings, NULL, &(srBiharmonicAnswer){.weights = weights}, report));
    return weights;
}

static void assert_weights(const float* weights, int32_t nodeCount, int32_t columnCount) {
    for (int32_t i = 0; i < nodeCount; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < columnCount; j++) {
            float w = weights[i * columnCount + j];
            assert_true(w >= 0.0f && w <= 1.0f);
            sum += (double)w;
        }
        assert_near(sum, 1.0, 1e-6);
    }
}

static void bounds_and_sums_are_exact(void** state) {
    (void)state;
    for (int off = 0; off < 2; off++) {
        srCage cage;
        Bones bones;
        srBiharmonicReport report;
        createBar(&cage, &bones, 0.04 * off);
        float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
        assert_true(report.loop.isConverged);
        assert_true(report.loop.primalResidual <= 1e-4 && report.loop.dualResidual <= 1e-4);
        assert_weights(weights, cage.nodeCount, 3);
        free(weights);
        srDestroyCage(&cage);
    }
}

static double distanceTo(const Bones* bones, int32_t bone, srVec3 x) {
    srVec3 a = bones->points[2 * bone], d = srSub(bones->points[2 * bone + 1], a);
    double t = fmin(fmax(srDot(srSub(x, a), d) / srDot(d, d), 0.0), 1.0);
    srVec3 off = srSub(x, srAdd(a, srScale(t, d)));
    return sqrt(srDot(off, off));
}

static void a_bone_has_its_nodes_wholly(void** state) {
    (void)state;
    srCage cage;
    Bones bones;
    srBiharmonicReport report;
    createBar(&cage, &bones, 0.0);
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    int32_t onBones = 0;
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        for (int32_t j = 0; j < 3; j++) {
            if (distanceTo(&bones, j, cage.nodes[i]) < 1e-9) {
                assert_true(weights[3 * i + j] == 1.0f);
                onBones++;
            }
        }
    }
    assert_int_equal(onBones, 4 + 5 + 3);
    assert_int_equal(report.fixedCount, onBones);
    free(weights);
    srDestroyCage(&cage);
}

static void a_bone_off_the_nodes_has_nearly_all_of_its_place(void** state) {
    (void)state;
    srCage cage;
    Bones bones;
    srBiharmonicReport report;
    createBar(&cage, &bones, 0.04);
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    int32_t isNear = 0;
    assert_int_equal(report.fixedCount, 0);
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        for (int32_t j = 0; j < 3; j++) {
            // a fifth of a cell beside it; the pull is soft
            double y = cage.nodes[i].y, from = bones.points[2 * j].y, to = bones.points[2 * j + 1].y;
            if (distanceTo(&bones, j, cage.nodes[i]) < 0.05 && y > from && y < to) {
                assert_true(weights[3 * i + j] > 0.85f); // least at ends, where another bone is near
                isNear++;
            }
        }
    }
    assert_int_equal(isNear, 3 + 4 + 2);
    free(weights);
    srDestroyCage(&cage);
}

// largest height of a node above all its neighbours, away from its bone
static double findSpuriousPeak(const srCage* cage, const Bones* bones, const float* weights) {
    int32_t columns = bones->anchors.columnCount;
    double* rises = calloc((size_t)cage->nodeCount * (size_t)columns, sizeof(double));
    double largest = 0.0;
    for (int32_t k = 0; k < cage->nodeCount * columns; k++) {
        rises[k] = (double)INFINITY;
    }
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        int32_t a = cage->edges[e][0], b = cage->edges[e][1];
        for (int32_t j = 0; j < columns; j++) {
            double rise = (double)weights[a * columns + j] - (double)weights[b * columns + j];
            rises[a * columns + j] = fmin(rises[a * columns + j], rise);
            rises[b * columns + j] = fmin(rises[b * columns + j], -rise);
        }
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        for (int32_t j = 0; j < columns; j++) {
            bool isOff = distanceTo(bones, j, cage->nodes[i]) > 0.5; // two cells
            largest = isOff ? fmax(largest, rises[i * columns + j]) : largest;
        }
    }
    free(rises);
    return largest;
}

// an L of two bars, where bones are far from each other around the corner
static void createCorner(srCage* cage, Bones* bones) {
    srVec3 nodes[2048];
    int32_t cells[8192][4], nodeCount = 0, cellCount = 0;
    const int32_t SIZES[2][3] = {{3, 12, 3}, {12, 3, 3}};
    int32_t numbers[13][13][4];
    memset(numbers, -1, sizeof(numbers));
    for (int part = 0; part < 2; part++) {
        srCage bar;
        assert_success(srTestCreateBarCage(SIZES[part], 0.25, &bar));
        for (int32_t c = 0; c < bar.cellCount; c++) {
            double x = 0.0, y = 0.0;
            for (int k = 0; k < 4; k++) {
                x += 0.25 * bar.nodes[bar.cells[c][k]].x;
                y += 0.25 * bar.nodes[bar.cells[c][k]].y;
            }
            if (part == 1 && x < 0.75 && y < 0.75) {
                continue; // the corner is of the first bar
            }
            for (int k = 0; k < 4; k++) {
                srVec3 p = bar.nodes[bar.cells[c][k]];
                int32_t* number = &numbers[lround(p.x * 4.0)][lround(p.y * 4.0)][lround(p.z * 4.0)];
                if (*number < 0) {
                    nodes[nodeCount] = p;
                    *number = nodeCount++;
                }
                cells[cellCount][k] = *number;
            }
            cellCount++;
        }
        srDestroyCage(&bar);
    }
    assert_success(srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, cellCount, cage));
    memset(bones, 0, sizeof(*bones));
    addBone(bones, at(0.375, 2.75, 0.375), at(0.375, 1.75, 0.375));
    addBone(bones, at(0.375, 1.25, 0.375), at(0.375, 0.4, 0.375));
    addBone(bones, at(1.25, 0.375, 0.375), at(1.75, 0.375, 0.375));
    addBone(bones, at(2.0, 0.375, 0.375), at(2.75, 0.375, 0.375));
}

static void nothing_peaks_away_from_its_bone(void** state) {
    (void)state;
    for (int scene = 0; scene < 3; scene++) {
        srCage cage;
        Bones bones;
        srBiharmonicReport report;
        if (scene == 2) {
            createCorner(&cage, &bones);
        } else {
            createBar(&cage, &bones, 0.04 * scene);
        }
        float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
        assert_true(findSpuriousPeak(&cage, &bones, weights) <= 0.02);
        free(weights);
        srDestroyCage(&cage);
    }
}

// each bone alone, between zero and one, against all others together; then rows divided by their sums
static float* dropAndNormalise(const srCage* cage, const Bones* bones) {
    int32_t columns = bones->anchors.columnCount;
    float* weights = calloc((size_t)cage->nodeCount * (size_t)columns, sizeof(float));
    for (int32_t j = 0; j < columns; j++) {
        Bones pair = *bones;
        pair.anchors.points = pair.points;
        pair.anchors.columns = pair.columns;
        pair.anchors.elements = (const int32_t (*)[3])pair.elements;
        pair.anchors.columnCount = 2;
        for (int32_t p = 0; p < pair.anchors.pointCount; p++) {
            pair.columns[p] = bones->columns[p] == j ? 0 : 1;
        }
        srBiharmonicReport report;
        float* alone = solve(cage, &pair.anchors, 1e-6, &report);
        for (int32_t i = 0; i < cage->nodeCount; i++) {
            weights[i * columns + j] = alone[2 * i];
        }
        free(alone);
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        float sum = 0.0f;
        for (int32_t j = 0; j < columns; j++) {
            sum += weights[i * columns + j];
        }
        for (int32_t j = 0; j < columns; j++) {
            weights[i * columns + j] /= sum;
        }
    }
    return weights;
}

static void the_joint_problem_has_less_energy_than_dropping_and_normalising(void** state) {
    (void)state;
    for (int scene = 0; scene < 2; scene++) {
        srCage cage;
        Bones bones;
        srBiharmonicReport report;
        if (scene == 1) {
            createCorner(&cage, &bones);
        } else {
            createBar(&cage, &bones, 0.0);
        }
        float* joint = solve(&cage, &bones.anchors, 1e-4, &report);
        float* dropped = dropAndNormalise(&cage, &bones);
        srAnchorRows rows;
        double jointEnergy, droppedEnergy;
        assert_success(srCreateAnchorRows(&cage, &bones.anchors, &rows));
        int32_t columns = bones.anchors.columnCount;
        assert_success(srMeasureBiharmonicEnergy(&cage, &rows, joint, columns, &jointEnergy));
        assert_success(srMeasureBiharmonicEnergy(&cage, &rows, dropped, columns, &droppedEnergy));
        assert_near(jointEnergy, report.energy, 1e-9 * report.energy);
        assert_true(jointEnergy < droppedEnergy);
        srDestroyAnchorRows(&rows);
        free(joint);
        free(dropped);
        srDestroyCage(&cage);
    }
}

// dense K M^-1 K from gradients, with a factor for bones far beyond any other number
static double measureEnergyDensely(const srCage* cage, const float* weights, int32_t columns) {
    int32_t n = cage->nodeCount;
    double* slopes = calloc((size_t)n * (size_t)columns, sizeof(double));
    double* masses = calloc((size_t)n, sizeof(double));
    double volume = 0.0, energy = 0.0;
    for (int32_t c = 0; c < cage->cellCount; c++) {
        const int32_t* k = cage->cells[c];
        srVec3 g[4];
        double six = findGradients(cage, c, g);
        volume += six / 6.0;
        for (int p = 0; p < 4; p++) {
            masses[k[p]] += six / 24.0;
            for (int q = 0; q < 4; q++) {
                for (int32_t j = 0; j < columns; j++) {
                    slopes[k[p] * columns + j] +=
                        six / 6.0 * srDot(g[p], g[q]) * (double)weights[k[q] * columns + j];
                }
            }
        }
    }
    for (int32_t i = 0; i < n * columns; i++) {
        energy += 0.5 * slopes[i] * slopes[i] / masses[i / columns];
    }
    free(slopes);
    free(masses);
    return energy * cbrt(volume);
}

static void energy_is_what_cells_say(void** state) {
    (void)state;
    srCage cage;
    Bones bones;
    srBiharmonicReport report;
    createBar(&cage, &bones, 0.0); // all samples lie on given nodes and are obeyed, so none adds anything
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    double expected = measureEnergyDensely(&cage, weights, 3);
    assert_near(report.energy, expected, 1e-9 * expected);
    free(weights);
    srDestroyCage(&cage);
}

// an edge of a control cage that begins on a node and leaves it aslant: its first samples share cells with a
// given node
static void no_small_step_towards_any_bone_lowers_the_energy(void** state) {
    (void)state;
    srCage cage;
    Bones bones = {0};
    srBiharmonicReport report;
    assert_success(srTestCreateBarCage((const int32_t[]){4, 16, 4}, 0.25, &cage));
    addBone(&bones, at(0.5, 0.5, 0.5), at(0.62, 1.4, 0.57));
    addBone(&bones, at(0.5, 2.5, 0.5), at(0.45, 3.3, 0.4));
    bones.columns[1] = 1; // the first goes over from one column to the other
    float* weights = solve(&cage, &bones.anchors, 1e-7, &report);
    srAnchorRows rows;
    assert_success(srCreateAnchorRows(&cage, &bones.anchors, &rows));
    assert_int_equal(rows.fixedCount, 2);
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        if (rows.isFixed[i] || (distanceTo(&bones, 0, cage.nodes[i]) > 0.3 && i % 16 != 0)) {
            continue;
        }
        float before[2] = {weights[2 * i], weights[2 * i + 1]};
        for (int32_t j = 0; j < 2; j++) {
            double energy;
            weights[2 * i + j] = before[j] + 0.01f * (1.0f - before[j]);
            weights[2 * i + 1 - j] = before[1 - j] * 0.99f;
            assert_success(srMeasureBiharmonicEnergy(&cage, &rows, weights, 2, &energy));
            assert_true(energy >= report.energy * (1.0 - 1e-6)); // what floats leave
            weights[2 * i] = before[0];
            weights[2 * i + 1] = before[1];
        }
    }
    srDestroyAnchorRows(&rows);
    free(weights);
    srDestroyCage(&cage);
}

static void units_of_length_do_not_matter(void** state) {
    (void)state;
    srCage cage, large;
    Bones bones;
    srBiharmonicReport report;
    createBar(&cage, &bones, 0.04);
    float* weights = solve(&cage, &bones.anchors, 1e-6, &report);
    double energy = report.energy;
    srVec3* nodes = calloc((size_t)cage.nodeCount, sizeof(srVec3));
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        nodes[i] = srScale(1024.0, cage.nodes[i]);
    }
    for (int32_t p = 0; p < bones.anchors.pointCount; p++) {
        bones.points[p] = srScale(1024.0, bones.points[p]);
    }
    assert_success(
        srCreateCage(nodes, cage.nodeCount, (const int32_t (*)[4])cage.cells, cage.cellCount, &large));
    float* scaled = solve(&large, &bones.anchors, 1e-6, &report);
    assert_near(report.energy, energy, 1e-6 * energy);
    free(nodes);
    free(weights);
    free(scaled);
    srDestroyCage(&cage);
    srDestroyCage(&large);
}

static void mirrored_bones_have_mirrored_weights(void** state) {
    (void)state;
    // apart, and with a joint, which is on a node and neither's
    const double ENDS[] = {1.25, 2.0};
    for (int t = 0; t < 2; t++) {
        srCage cage;
        Bones bones = {0};
        srBiharmonicReport report;
        // the bar's cells are not symmetric, its half turn about the middle is: each bone has its opposite
        assert_success(srTestCreateBarCage((const int32_t[]){4, 16, 4}, 0.25, &cage));
        addBone(&bones, at(0.5, 0.5, 0.5), at(0.5, ENDS[t], 0.5));
        addBone(&bones, at(0.5, 3.5, 0.5), at(0.5, 4.0 - ENDS[t], 0.5));
        float* weights = solve(&cage, &bones.anchors, 1e-6, &report);
        assert_int_equal(report.fixedCount, t == 0 ? 8 : 12);
        for (int32_t i = 0; i < cage.nodeCount; i++) {
            srVec3 image = srSub(at(1.0, 4.0, 1.0), cage.nodes[i]);
            for (int32_t k = 0; k < cage.nodeCount; k++) {
                srVec3 d = srSub(image, cage.nodes[k]);
                if (srDot(d, d) < 1e-18) {
                    // minima are flat: residuals of 1e-6 leave some 1e-5
                    assert_near((double)weights[2 * i], (double)weights[2 * k + 1], 1e-4);
                }
            }
        }
        free(weights);
        srDestroyCage(&cage);
    }
}

static void along_a_control_cage_weights_go_straight(void** state) {
    (void)state;
    srCage cage;
    srBiharmonicReport report;
    assert_success(srTestCreateBarCage((const int32_t[]){4, 16, 4}, 0.25, &cage));
    // an edge from column 0 to column 1 on nodes, a triangle of columns 1, 2, 3 above it
    const srVec3 points[] = {{0.5, 0.5, 0.5}, {0.5, 2.0, 0.5}, {0.0, 3.0, 0.5}, {1.0, 3.0, 0.5}};
    const int32_t columns[] = {0, 1, 2, 3}, elements[][3] = {{0, 1, 1}, {1, 2, 3}};
    srAnchors anchors = {points, columns, 4, elements, 2, 4, NULL, NULL, 0};
    float* weights = solve(&cage, &anchors, 1e-4, &report);
    assert_weights(weights, cage.nodeCount, 4);
    int32_t onEdge = 0, onTriangle = 0;
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        srVec3 x = cage.nodes[i];
        if (x.x == 0.5 && x.z == 0.5 && x.y >= 0.5 && x.y <= 2.0) {
            assert_near((double)weights[4 * i + 1], (x.y - 0.5) / 1.5, 1e-6);
            onEdge++;
        } else if (x.z == 0.5 && x.y >= 2.0 && x.y <= 3.0 && fabs(x.x - 0.5) <= 0.5 * (x.y - 2.0)) {
            assert_near((double)weights[4 * i + 1], 3.0 - x.y, 1e-6);
            assert_near((double)weights[4 * i + 3] - (double)weights[4 * i + 2], 2.0 * (x.x - 0.5), 1e-6);
            onTriangle++;
        }
    }
    assert_int_equal(onEdge, 7);
    assert_int_equal(onTriangle, 1 + 1 + 3 + 3 + 5 - 1);
    free(weights);
    srDestroyCage(&cage);
}

// two bars with a gap of half a cell: bones in both
static void nothing_leaks_across_a_gap_and_strays_go_with_the_nearest(void** state) {
    (void)state;
    srCage bar, cage;
    assert_success(srTestCreateBarCage((const int32_t[]){2, 8, 2}, 0.25, &bar));
    srVec3* nodes = calloc(3 * (size_t)bar.nodeCount, sizeof(srVec3));
    int32_t (*cells)[4] = calloc(3 * (size_t)bar.cellCount, sizeof(*cells));
    for (int part = 0; part < 3; part++) {
        for (int32_t i = 0; i < bar.nodeCount; i++) {
            nodes[part * bar.nodeCount + i] = srAdd(bar.nodes[i], at(0.625 * part, 0.0, 0.0));
        }
        for (int32_t k = 0; k < 4 * bar.cellCount; k++) {
            cells[part * bar.cellCount + k / 4][k % 4] = bar.cells[k / 4][k % 4] + part * bar.nodeCount;
        }
    }
    assert_success(
        srCreateCage(nodes, 3 * bar.nodeCount, (const int32_t (*)[4])cells, 3 * bar.cellCount, &cage));
    Bones bones = {0};
    addBone(&bones, at(0.25, 0.3, 0.25), at(0.25, 0.8, 0.25));
    addBone(&bones, at(0.25, 1.2, 0.25), at(0.25, 1.8, 0.25));
    addBone(&bones, at(0.875, 0.3, 0.25), at(0.875, 1.8, 0.25));
    srBiharmonicReport report;
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    assert_int_equal(report.orphanCount, 1);
    assert_weights(weights, cage.nodeCount, 3);
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        bool isFirst = cage.nodes[i].x < 0.55;
        assert_true(isFirst ? weights[3 * i + 2] == 0.0f : weights[3 * i + 2] == 1.0f);
    }
    free(weights);
    free(nodes);
    free(cells);
    srDestroyCage(&bar);
    srDestroyCage(&cage);
}

static void a_bone_outside_counts_where_the_cage_is_nearest(void** state) {
    (void)state;
    srCage cage;
    Bones bones;
    srBiharmonicReport report;
    createBar(&cage, &bones, 0.04);
    addBone(&bones, at(5.0, 1.3, 0.5), at(9.0, 1.3, 0.5));
    addBone(&bones, at(0.5, 1e9, 0.5), at(0.5, 2e9, 0.5)); // absurdly far above
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    assert_weights(weights, cage.nodeCount, 5);
    assert_int_equal(report.outsideCount, 2);
    int32_t most = 0;
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        most = weights[5 * i + 3] > weights[5 * most + 3] ? i : most;
    }
    assert_true(cage.nodes[most].x > 0.7 && fabs(cage.nodes[most].y - 1.3) < 0.3);
    free(weights);
    srDestroyCage(&cage);
}

// what bends, without what pulls
static double measureBending(const srCage* cage, const float* weights, int32_t columnCount) {
    double energy;
    assert_success(srMeasureBiharmonicEnergy(cage, &(srAnchorRows){0}, weights, columnCount, &energy));
    return energy;
}

static double findMost(const float* weights, int32_t nodeCount, int32_t columnCount, int32_t column) {
    double most = 0.0;
    for (int32_t i = 0; i < nodeCount; i++) {
        most = fmax(most, (double)weights[columnCount * i + column]);
    }
    return most;
}

// It holds a patch as wide as it is far, so nothing in it is steep; but it does hold it, however far it is.
static void a_bone_that_is_farther_outside_holds_more_softly(void** state) {
    (void)state;
    const double distances[] = {0.02, 0.08, 0.15, 1.0, 20.0};
    const bool isWidest[] = {false, false, false, true, true}; // a third of the cage's size, no more
    double energy = HUGE_VAL;
    for (int k = 0; k < SR_ARRAY_COUNT(distances); k++) {
        srCage cage;
        Bones bones;
        srBiharmonicReport report;
        createBar(&cage, &bones, 0.0);
        double x = 1.0 + distances[k];
        addBone(&bones, at(x, 1.9, 0.5), at(x, 2.1, 0.5));
        float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
        assert_weights(weights, cage.nodeCount, 4);
        assert_int_equal(report.outsideCount, 1);
        double most = findMost(weights, cage.nodeCount, 4, 3), bending = measureBending(&cage, weights, 4);
        print_message("%g outside: energy %g, holds at most %g\n", distances[k], bending, most);
        assert_true(isWidest[k] ? bending < 1.001 * energy : bending < 0.99 * energy);
        // as wide as the bar, a patch is shared with the bone below it
        assert_true(most > (isWidest[k] ? 0.33 : 0.5));
        energy = bending;
        free(weights);
        srDestroyCage(&cage);
    }
}

// From all inside to all outside, across the bar: nothing jumps on the way, and what sticks out bends less.
static void a_bone_that_is_pulled_out_lets_go_little_by_little(void** state) {
    (void)state;
    double before = 1.0, bending[2] = {0.0, 0.0};
    for (int step = 0; step <= 40; step++) {
        srCage cage;
        Bones bones;
        srBiharmonicReport report;
        createBar(&cage, &bones, 0.04);
        double x = 0.4 + 0.02 * step;
        addBone(&bones, at(x, 2.75, 0.52), at(x + 0.5, 2.75, 0.52));
        float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
        double most = findMost(weights, cage.nodeCount, 4, 3);
        print_message("%.2f inside: %.3f\n", fmax(0.0, 1.0 - x), most);
        assert_true(x > 0.95 && x < 1.01 ? report.outsideCount <= 1 : report.outsideCount == (x > 1.0));
        assert_true(fabs(most - before) < 0.2 && most > 0.4);
        before = most;
        bending[step == 40] = step == 0 || step == 40 ? measureBending(&cage, weights, 4) : bending[0];
        free(weights);
        srDestroyCage(&cage);
    }
    assert_true(bending[1] < 0.8 * bending[0]);
}

// Two bars with a narrow gap between them are one cage of two pieces. A patch is wider than the one, and not
// of the other.
static void the_patch_of_a_bone_outside_ends_at_a_gap(void** state) {
    (void)state;
    srCage bar, cage;
    Bones bones;
    srBiharmonicReport report;
    createBar(&bar, &bones, 0.04);
    int32_t n = bar.nodeCount, m = bar.cellCount;
    srVec3* nodes = calloc(2 * (size_t)n, sizeof(srVec3));
    int32_t (*cells)[4] = calloc(2 * (size_t)m, sizeof(*cells));
    for (int32_t i = 0; i < 2 * n; i++) {
        nodes[i] = srAdd(bar.nodes[i % n], at(i < n ? 0.0 : 1.02, 0.0, 0.0));
    }
    for (int32_t c = 0; c < 8 * m; c++) {
        cells[c / 4][c % 4] = bar.cells[c / 4 % m][c % 4] + (c < 4 * m ? 0 : n);
    }
    assert_success(srCreateCage(nodes, 2 * n, (const int32_t (*)[4])cells, 2 * m, &cage));
    addBone(&bones, at(1.5, 0.5, 0.5), at(1.5, 3.5, 0.5));
    addBone(&bones, at(-0.4, 1.5, 0.5), at(-0.4, 2.5, 0.5));
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    assert_true(findMost(weights, cage.nodeCount, 5, 4) > 0.3);
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        assert_true(cage.nodes[i].x < 1.01 || weights[5 * i + 4] == 0.0f);
    }
    free(weights);
    free(nodes);
    free(cells);
    srDestroyCage(&bar);
    srDestroyCage(&cage);
}

static void one_bone_alone_has_everything(void** state) {
    (void)state;
    srCage cage;
    Bones bones = {0};
    srBiharmonicReport report;
    assert_success(srTestCreateBarCage((const int32_t[]){2, 4, 2}, 0.25, &cage));
    addBone(&bones, at(0.1, 0.1, 0.1), at(0.1, 0.1, 0.1)); // no length
    float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
    for (int32_t i = 0; i < cage.nodeCount; i++) {
        assert_true(weights[i] == 1.0f);
    }
    free(weights);
    srDestroyCage(&cage);
}

static void bad_bones_are_refused_in_words(void** state) {
    (void)state;
    srCage cage;
    Bones bones;
    srBiharmonicReport report;
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    float* weights = calloc(4096, sizeof(float));
    createBar(&cage, &bones, 0.0);
    bones.points[1].y = (double)NAN;
    assert_result(srSolveBiharmonic(&cage, &bones.anchors, &settings, NULL,
                                    &(srBiharmonicAnswer){.weights = weights}, &report),
                  sr_errorNotFinite);
    bones.points[1].y = 1.0;
    bones.columns[1] = 3;
    assert_result(srSolveBiharmonic(&cage, &bones.anchors, &settings, NULL,
                                    &(srBiharmonicAnswer){.weights = weights}, &report),
                  sr_errorInvalidValue);
    bones.columns[1] = 0;
    bones.elements[0][2] = -1;
    assert_result(srSolveBiharmonic(&cage, &bones.anchors, &settings, NULL,
                                    &(srBiharmonicAnswer){.weights = weights}, &report),
                  sr_errorInvalidValue);
    bones.anchors.elementCount = 0;
    assert_result(srSolveBiharmonic(&cage, &bones.anchors, &settings, NULL,
                                    &(srBiharmonicAnswer){.weights = weights}, &report),
                  sr_errorInvalidValue);
    free(weights);
    srDestroyCage(&cage);
}

static void flat_cells_give_weights_or_a_sentence_but_no_nan(void** state) {
    (void)state;
    for (int k = 0; k < 12; k++) {
        srCage bar, cage;
        Bones bones;
        createBar(&bar, &bones, 0.04);
        srVec3* nodes = calloc((size_t)bar.nodeCount, sizeof(srVec3));
        double flat = pow(10.0, -4.0 * k);
        for (int32_t i = 0; i < bar.nodeCount; i++) {
            nodes[i] = bar.nodes[i];
            nodes[i].z = i % 7 == 0 ? nodes[i].z : nodes[i].z * flat;
        }
        if (srCreateCage(nodes, bar.nodeCount, (const int32_t (*)[4])bar.cells, bar.cellCount, &cage) ==
            sr_success) {
            float* weights = calloc((size_t)cage.nodeCount * 3, sizeof(float));
            srSimplexSettings settings = {1e-4, 200};
            srBiharmonicReport report;
            if (srSolveBiharmonic(&cage, &bones.anchors, &settings, NULL,
                                  &(srBiharmonicAnswer){.weights = weights}, &report) == sr_success) {
                assert_weights(weights, cage.nodeCount, 3);
            } else {
                assert_true(strlen(srGetErrorText()) > 10);
            }
            free(weights);
            srDestroyCage(&cage);
        }
        free(nodes);
        srDestroyCage(&bar);
    }
}

static void bits_are_the_same_on_any_number_of_workers(void** state) {
    (void)state;
    srCage cage;
    Bones bones;
    srBiharmonicReport report;
    createBar(&cage, &bones, 0.04);
    addBone(&bones, at(1.2, 1.1, 0.5), at(1.2, 1.6, 0.5)); // outside
    float* first = solve(&cage, &bones.anchors, 1e-4, &report);
    for (int32_t workers = 2; workers <= 5; workers++) {
        srParallel_SetWorkerCount(workers);
        float* weights = solve(&cage, &bones.anchors, 1e-4, &report);
        assert_memory_equal(first, weights, sizeof(float) * 4 * (size_t)cage.nodeCount);
        free(weights);
    }
    srParallel_SetWorkerCount(1);
    free(first);
    srDestroyCage(&cage);
}

static srResult makeAll(void* context) {
    (void)context;
    srCage cage = {0};
    Bones bones = {0};
    addBone(&bones, at(0.1, 0.1, 0.1), at(0.1, 0.4, 0.1));
    addBone(&bones, at(0.1, 0.6, 0.1), at(0.1, 0.9, 0.1));
    const srVec3 hints[] = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const int32_t hintCells[] = {0, SR_NULL_INDEX};
    bones.anchors.hintPoints = hints;
    bones.anchors.hintCells = hintCells;
    bones.anchors.hintCount = 2;
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    srBiharmonicReport report;
    float weights[300];
    addBone(&bones, at(0.8, 0.3, 0.2), at(0.8, 0.8, 0.2)); // outside
    SR_TRY(srTestCreateBarCage((const int32_t[]){2, 4, 2}, 0.25, &cage));
    srResult result = srSolveBiharmonic(&cage, &bones.anchors, &settings, NULL,
                                        &(srBiharmonicAnswer){.weights = weights}, &report);
    srDestroyCage(&cage);
    return result;
}

static void any_allocation_may_fail(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeAll, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bounds_and_sums_are_exact, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bone_has_its_nodes_wholly, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bone_off_the_nodes_has_nearly_all_of_its_place, srTestNothingLeaked),
        cmocka_unit_test_teardown(nothing_peaks_away_from_its_bone, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_joint_problem_has_less_energy_than_dropping_and_normalising,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(energy_is_what_cells_say, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_small_step_towards_any_bone_lowers_the_energy, srTestNothingLeaked),
        cmocka_unit_test_teardown(units_of_length_do_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(mirrored_bones_have_mirrored_weights, srTestNothingLeaked),
        cmocka_unit_test_teardown(along_a_control_cage_weights_go_straight, srTestNothingLeaked),
        cmocka_unit_test_teardown(nothing_leaks_across_a_gap_and_strays_go_with_the_nearest,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bone_outside_counts_where_the_cage_is_nearest, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bone_that_is_farther_outside_holds_more_softly, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bone_that_is_pulled_out_lets_go_little_by_little, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_patch_of_a_bone_outside_ends_at_a_gap, srTestNothingLeaked),
        cmocka_unit_test_teardown(one_bone_alone_has_everything, srTestNothingLeaked),
        cmocka_unit_test_teardown(bad_bones_are_refused_in_words, srTestNothingLeaked),
        cmocka_unit_test_teardown(flat_cells_give_weights_or_a_sentence_but_no_nan, srTestNothingLeaked),
        cmocka_unit_test_teardown(bits_are_the_same_on_any_number_of_workers, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_allocation_may_fail, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
