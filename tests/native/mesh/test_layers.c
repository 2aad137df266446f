// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/layers.h"

#include "core/parallel.h"
#include "mesh/embedding.h"
#include "mesh/filling.h"
#include "mesh/helper.h"
#include "mesh/touching.h"

static const srSolidSettings usual = {.largestHole = 0.2, .sheetThickness = 0.01};

static srLayers layersOf(const Soup* soup, int32_t target) {
    srSurface surface = makeSurface(soup);
    const srProgress nobody = {0};
    srLayers layers;
    assert_success(srCreateLayers(&surface, &usual, target, &nobody, &layers));
    srDestroySurface(&surface);
    return layers;
}

static void requireCount(Soup* soup, int32_t target, int expected) {
    srLayers layers = layersOf(soup, target);
    assert_int_equal(layers.count, expected);
    srDestroyLayers(&layers);
    freeSoup(soup);
}

static void addTwoThighs(Soup* soup, double gap) {
    addThigh(soup, -1.0 - 0.5 * gap, 0.0);
    addThigh(soup, 1.0 + 0.5 * gap, 0.0);
}

// Whatever the number of nodes: how deep counts by the pieces alone.
static void what_touches_or_overlaps_a_little_is_parted(void** state) {
    (void)state;
    const double gaps[] = {0.02, 1e-4, 0.0, -0.01, -0.1, -0.3};
    const int32_t targets[] = {60, 1000, 30000};
    for (int k = 0; k < SR_ARRAY_COUNT(gaps) * SR_ARRAY_COUNT(targets); k++) {
        Soup soup = {0};
        addTwoThighs(&soup, gaps[k / SR_ARRAY_COUNT(targets)]);
        srLayers layers = layersOf(&soup, targets[k % SR_ARRAY_COUNT(targets)]);
        assert_int_equal(layers.count, 2);
        assert_int_equal(layers.triangleCount, soup.triangleCount);
        for (int32_t t = 0; t < layers.triangleCount; t++) {
            assert_int_equal(layers.layers[t], t >= layers.triangleCount / 2);
        }
        assert_near(layers.shares[0], 0.5, 1e-6);
        assert_near(layers.shares[1], 0.5, 1e-6);
        assert_int_equal(layers.solid.pieceCount, 2);
        srDestroyLayers(&layers);
        freeSoup(&soup);
    }
}

static void what_overlaps_deeply_is_one(void** state) {
    (void)state;
    const double gaps[] = {-0.8, -1.0, -1.6};
    for (int g = 0; g < SR_ARRAY_COUNT(gaps); g++) {
        Soup soup = {0};
        addTwoThighs(&soup, gaps[g]);
        requireCount(&soup, 1000, 1);
    }
    for (int kind = 0; kind < 4; kind++) {
        Soup soup = {0};
        addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
        if (kind == 0) { // given twice, a hair apart
            addSphere(&soup, 4, 1.0001, 0.0, 0.0, 0.0);
        } else if (kind == 1) { // half in it
            addSphere(&soup, 4, 0.2, 1.0, 0.0, 0.0);
        } else if (kind == 2) { // through it
            int32_t first = soup.pointCount;
            addThigh(&soup, 0.0, 0.0);
            for (int32_t p = first; p < soup.pointCount; p++) {
                soup.points[3 * p] *= 0.1f;
                soup.points[3 * p + 1] *= 0.1f;
                soup.points[3 * p + 2] -= 2.5f;
            }
        } else { // wholly in it
            addSphere(&soup, 4, 0.3, 0.0, 0.2, 0.0);
        }
        requireCount(&soup, 1000, 1);
    }
}

static void what_lies_apart_or_is_one_piece_is_one_layer(void** state) {
    (void)state;
    Soup apart = {0}, one = {0}, sheet = {0};
    addTwoThighs(&apart, 20.0);
    requireCount(&apart, 1000, 1);
    addThigh(&one, 0.0, 0.0);
    requireCount(&one, 1000, 1);
    // a sheet has no inside of its own: it stays with what it is near
    addSphere(&sheet, 4, 1.0, 0.0, 0.0, 0.0);
    int32_t a = addPoint(&sheet, 1.01, 0, 0), b = addPoint(&sheet, 1.01, 0.5, 0),
            c = addPoint(&sheet, 1.01, 0, 0.5);
    addTriangle(&sheet, a, b, c);
    requireCount(&sheet, 1000, 1);
}

// Two bars of twelve triangles each, one across the other: none of their corners is near.
static void large_triangles_touch_anywhere(void** state) {
    (void)state;
    const double gaps[] = {0.01, 0.0, -0.01};
    for (int g = 0; g < SR_ARRAY_COUNT(gaps); g++) {
        Soup soup = {0};
        addBox(&soup, (double[3]){-5.0, -0.5, 0.0}, (double[3]){11.0, 1.0, 1.0});
        addBox(&soup, (double[3]){-0.5, -5.0, 1.0 + gaps[g]}, (double[3]){1.0, 11.0, 1.0});
        requireCount(&soup, 1000, 2);
    }
}

static void neighbours_differ_and_others_may_not(void** state) {
    (void)state;
    Soup soup = {0};
    for (int i = 0; i < 5; i++) {
        addThigh(&soup, 1.95 * i, 0.0);
    }
    srLayers layers = layersOf(&soup, 1000);
    assert_int_equal(layers.count, 2);
    for (int32_t t = 0; t < layers.triangleCount; t++) {
        assert_int_equal(layers.layers[t], t / (layers.triangleCount / 5) % 2);
    }
    assert_near(layers.shares[0], 0.6, 1e-6);
    srDestroyLayers(&layers);
    freeSoup(&soup);
}

// ---- filled
// ----------------------------------------------------------------------------------------------------

static srMesh fill(const srSurface* surface, srFillingRoute route, int32_t target, srFillingReport* report) {
    srMesh mesh;
    const srFillingSettings settings = {
        .route = route, .lattice = {.targetNodeCount = target}, .limits = {.program = helperPath}};
    assert_success(srFillSurface(surface, &settings, &mesh, report));
    return mesh;
}

// Points of one body are in cells of one piece, those of the other in another.
static void requireOwnPieces(const srSurface* surface, const srMesh* mesh, int32_t second) {
    srEmbedding embedding;
    assert_success(
        srCreateEmbedding(&mesh->cage, surface->points, mesh->pointCells, surface->pointCount, &embedding));
    int32_t* piece = findPieces(&mesh->cage);
    int32_t first = piece[embedding.nodes[0][0]], other = piece[embedding.nodes[second][0]];
    assert_int_not_equal(first, other);
    for (int32_t p = 0; p < surface->pointCount; p++) {
        assert_int_equal(piece[embedding.nodes[p][0]], p < second ? first : other);
    }
    free(piece);
    srDestroyEmbedding(&embedding);
}

static void pieces_are_filled_each_by_itself(void** state) {
    (void)state;
    needHelper();
    const double overlaps[] = {-0.01, 0.0, 0.03, 0.1, 0.3};
    const int32_t targets[] = {300, 1000, 4000};
    for (int k = 0; k < SR_ARRAY_COUNT(overlaps) * SR_ARRAY_COUNT(targets); k++) {
        int32_t target = targets[k % SR_ARRAY_COUNT(targets)];
        Soup soup = {0};
        addTwoThighs(&soup, -overlaps[k / SR_ARRAY_COUNT(targets)]);
        srSurface surface = makeSurface(&soup);
        for (int route = 0; route < 2; route++) {
            srFillingReport report;
            srMesh mesh =
                fill(&surface, route == 0 ? sr_fillingLattice : sr_fillingAutomatic, target, &report);
            assert_near(mesh.cage.nodeCount, target, 0.15 * target);
            requireOwnPieces(&surface, &mesh, soup.pointCount / 2);
            assert_int_equal(report.lattice.leastNodeCount, 0);
            bool isByTetgen = report.route == sr_fillingTetgen;
            assert_int_equal((isByTetgen ? report.conform.solid : report.lattice.solid).pieceCount, 2);
            srDestroyMesh(&mesh);
        }
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void a_ball_in_a_hollow_has_cells(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 4, -0.7, 0.0, 0.0, 0.0);
    int32_t second = soup.pointCount;
    addSphere(&soup, 4, 0.4, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    for (int route = 0; route < 2; route++) {
        srFillingReport report;
        srMesh mesh = fill(&surface, route == 0 ? sr_fillingLattice : sr_fillingAutomatic, 1000, &report);
        requireOwnPieces(&surface, &mesh, second);
        const srSolidReport* solid =
            report.route == sr_fillingTetgen ? &report.conform.solid : &report.lattice.solid;
        assert_int_equal(solid->pieceCount, 2);
        double inside = 4.0 / 3.0 * 3.14159265358979 * (1.0 - 0.343 + 0.064), volume = sumVolumes(&mesh.cage);
        assert_true(volume > 0.97 * inside && volume < 1.3 * inside);
        srDestroyMesh(&mesh);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// Volumes of the pieces whose cells the points are in that begin there.
static double volumeAt(const srSurface* surface, const srMesh* mesh, int32_t point, const int32_t* piece) {
    srEmbedding embedding;
    assert_success(
        srCreateEmbedding(&mesh->cage, surface->points, mesh->pointCells, surface->pointCount, &embedding));
    double volume = 0.0;
    for (int32_t cell = 0; cell < mesh->cage.cellCount; cell++) {
        bool isOfIt = piece[mesh->cage.cells[cell][0]] == piece[embedding.nodes[point][0]];
        volume += isOfIt ? srCellVolume(&mesh->cage, cell) : 0.0;
    }
    srDestroyEmbedding(&embedding);
    return volume;
}

// A sleeve whose inner wall is the arm's skin, to the bit, and with other points along the arm.
static void a_sleeve_on_an_arm_is_a_piece_of_its_own(void** state) {
    (void)state;
    needHelper();
    const int32_t targets[] = {1000, 4000, 10000};
    for (int k = 0; k < 2 * SR_ARRAY_COUNT(targets); k++) {
        Soup soup = {0};
        addThigh(&soup, 0.0, 0.0);
        int32_t second = soup.pointCount;
        double low = 5.0 * 8 / 24 + (k % 2) * 0.03, high = low + 7 * 5.0 / 24;
        addWasher(&soup, 1.0, 1.3, low, high);
        srSurface surface = makeSurface(&soup);
        srFillingReport report;
        srMesh mesh = fill(&surface, sr_fillingAutomatic, targets[k / 2], &report);
        bool isByTetgen = report.route == sr_fillingTetgen;
        const srSolidReport* solid = isByTetgen ? &report.conform.solid : &report.lattice.solid;
        assert_int_equal(solid->pieceCount, 2);
        assert_int_equal(solid->cavityCount + solid->duplicateCount + solid->turnedPatchCount, 0);
        requireOwnPieces(&surface, &mesh, second);
        int32_t* piece = findPieces(&mesh.cage);
        double arm = 16.0 * sin(2.0 * 3.14159265358979 / 32) * 5.0;
        double sleeve = arm / 5.0 * (1.69 - 1.0) * (high - low);
        assert_near(volumeAt(&surface, &mesh, 0, piece) / arm, 1.1, 0.15);
        assert_near(volumeAt(&surface, &mesh, second, piece) / sleeve, 1.1, 0.2);
        free(piece);
        srDestroyMesh(&mesh);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void stacked_washers_are_as_many_pieces(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    for (int w = 0; w < 8; w++) {
        addWasher(&soup, 0.5, 1.0, 0.25 * w, 0.25 * (w + 1));
    }
    srSurface surface = makeSurface(&soup);
    srFillingReport report;
    srMesh mesh = fill(&surface, sr_fillingAutomatic, 2000, &report);
    int32_t* piece = findPieces(&mesh.cage);
    double one = 16.0 * sin(2.0 * 3.14159265358979 / 32) * 0.75 * 0.25;
    for (int w = 0; w < 8; w++) {
        assert_near(volumeAt(&surface, &mesh, w * soup.pointCount / 8, piece) / one, 1.1, 0.2);
    }
    free(piece);
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// Far smaller than a cell, on a ball, on each side of it: their layer has flesh on all sides of the ball.
static void buttons_get_cages_of_their_own_size(void** state) {
    (void)state;
    const double places[][3] = {{1.0, 0.0, 0.1}, {-1.0, 0.1, 0.0}, {0.0, 0.1, 1.0}};
    const double depths[] = {-0.001, 0.0, 0.01};
    const int32_t targets[] = {300, 1000, 4000};
    for (int k = 0; k < SR_ARRAY_COUNT(depths) * SR_ARRAY_COUNT(targets); k++) {
        int32_t target = targets[k % SR_ARRAY_COUNT(targets)];
        double radius = 0.06, away = 1.0 + radius - depths[k / SR_ARRAY_COUNT(targets)];
        Soup soup = {0};
        addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
        for (int b = 0; b < SR_ARRAY_COUNT(places); b++) {
            const double* x = places[b];
            addSphere(&soup, 2, radius, away * x[0], away * x[1], away * x[2]);
        }
        srSurface surface = makeSurface(&soup);
        srFillingReport report;
        srMesh mesh = fill(&surface, sr_fillingLattice, target, &report);
        assert_int_equal(report.lattice.pieceCount, 4);
        assert_int_equal(report.lattice.leastNodeCount, 0);
        assert_near(mesh.cage.nodeCount, target, 0.15 * target);
        assert_true(report.lattice.volume < SR_LIMIT_OF_GROWTH * report.lattice.insideVolume);
        srDestroyMesh(&mesh);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void a_setting_joins_them(void** state) {
    (void)state;
    Soup soup = {0};
    addTwoThighs(&soup, -0.3);
    srSurface surface = makeSurface(&soup);
    const srFillingSettings settings = {.route = sr_fillingLattice,
                                        .lattice = {.targetNodeCount = 1000, .gluesContacts = true}};
    srMesh mesh;
    srFillingReport report;
    assert_success(srFillSurface(&surface, &settings, &mesh, &report));
    int32_t* piece = findPieces(&mesh.cage);
    for (int32_t n = 0; n < mesh.cage.nodeCount; n++) {
        assert_int_equal(piece[n], 0);
    }
    free(piece);
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void cage_is_the_same_on_any_number_of_workers(void** state) {
    (void)state;
    Soup soup = {0};
    addTwoThighs(&soup, -0.1);
    srSurface surface = makeSurface(&soup);
    srMesh meshes[2];
    srFillingReport report;
    for (int i = 0; i < 2; i++) {
        srParallel_SetWorkerCount(i == 0 ? 1 : 3);
        meshes[i] = fill(&surface, sr_fillingLattice, 500, &report);
    }
    assert_int_equal(meshes[0].cage.nodeCount, meshes[1].cage.nodeCount);
    assert_memory_equal(meshes[0].cage.nodes, meshes[1].cage.nodes,
                        sizeof(srVec3) * (size_t)meshes[0].cage.nodeCount);
    assert_memory_equal(meshes[0].pointCells, meshes[1].pointCells,
                        sizeof(int32_t) * (size_t)meshes[0].pointCount);
    srDestroyMesh(&meshes[0]);
    srDestroyMesh(&meshes[1]);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

typedef struct Stop {
    float at, last;
    bool hasFallen;
} Stop;

static bool stopAt(float fraction, void* context) {
    Stop* stop = context;
    stop->hasFallen = stop->hasFallen || fraction < stop->last - 1e-6f;
    stop->last = fraction;
    return fraction < stop->at;
}

static void caller_may_cancel_at_any_time(void** state) {
    (void)state;
    Soup soup = {0};
    addTwoThighs(&soup, 0.0);
    srSurface surface = makeSurface(&soup);
    for (float at = 0.0f; at < 1.2f; at += 0.1f) {
        Stop stop = {at, 0.0f, false};
        const srFillingSettings settings = {
            .route = sr_fillingLattice,
            .lattice = {.targetNodeCount = 500, .progress = stopAt, .progressContext = &stop}};
        srMesh mesh = {0};
        srFillingReport report;
        assert_int_equal(srFillSurface(&surface, &settings, &mesh, &report),
                         at < 1.0f ? sr_errorCancelled : sr_success);
        assert_false(stop.hasFallen);
        srDestroyMesh(&mesh);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static srResult fillAndForget(void* context) {
    const srFillingSettings settings = {.route = sr_fillingLattice, .lattice = {.targetNodeCount = 30}};
    srMesh mesh;
    srFillingReport report;
    SR_TRY(srFillSurface(context, &settings, &mesh, &report));
    srDestroyMesh(&mesh);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 2, 1.0, 1.95, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srTestEveryAllocationFails(fillAndForget, &surface);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_touches_or_overlaps_a_little_is_parted, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_overlaps_deeply_is_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_lies_apart_or_is_one_piece_is_one_layer, srTestNothingLeaked),
        cmocka_unit_test_teardown(large_triangles_touch_anywhere, srTestNothingLeaked),
        cmocka_unit_test_teardown(neighbours_differ_and_others_may_not, srTestNothingLeaked),
        cmocka_unit_test_teardown(pieces_are_filled_each_by_itself, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_ball_in_a_hollow_has_cells, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_sleeve_on_an_arm_is_a_piece_of_its_own, srTestNothingLeaked),
        cmocka_unit_test_teardown(stacked_washers_are_as_many_pieces, srTestNothingLeaked),
        cmocka_unit_test_teardown(buttons_get_cages_of_their_own_size, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_setting_joins_them, srTestNothingLeaked),
        cmocka_unit_test_teardown(cage_is_the_same_on_any_number_of_workers, srTestNothingLeaked),
        cmocka_unit_test_teardown(caller_may_cancel_at_any_time, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/layers", tests, NULL, NULL);
}
