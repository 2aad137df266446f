// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/mesher.h"

#include "core/parallel.h"
#include "mesh/boundary.h"
#include "mesh/embedding.h"
#include "mesh/solids.h"
#include "mesh/sort.h"

#define PI 3.14159265358979323846

static srResult mesh(const srSurface* surface, int32_t target, srCage* outCage, srMesherReport* outReport) {
    const srMesherSettings settings = {.targetNodeCount = target};
    return srMeshSurface(surface, &settings, outCage, outReport);
}

// Every edge of the cage's skin belongs to two faces, which run through it in opposite directions.
static void checkSkinIsClosed(const srCage* cage) {
    srBoundary boundary;
    assert_success(srCreateBoundary(cage, &boundary));
    int32_t count = 3 * boundary.faceCount;
    srKeyed* edges = malloc(sizeof(srKeyed) * (size_t)count);
    srKeyed* scratch = malloc(sizeof(srKeyed) * (size_t)count);
    for (int32_t e = 0; e < count; e++) {
        int32_t from = boundary.faces[e / 3][e % 3], to = boundary.faces[e / 3][(e + 1) % 3];
        edges[e] = (srKeyed){srEdgeKey(from, to), from < to ? 1 : -1};
    }
    srSortKeyed(edges, scratch, count);
    assert_int_equal(count % 2, 0);
    for (int32_t e = 0; e < count; e += 2) {
        assert_true(edges[e].key == edges[e + 1].key);
        assert_int_equal(edges[e].value + edges[e + 1].value, 0);
        assert_true(e == 0 || edges[e].key != edges[e - 1].key);
    }
    free(edges);
    free(scratch);
    srDestroyBoundary(&boundary);
}

static void checkCage(const srCage* cage, const srMesherReport* report) {
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        assert_true(srCellVolume(cage, cell) > 0.0);
    }
    assert_true(report->minDihedralDegrees > 9.5 && report->maxDihedralDegrees < 164.8);
    assert_near(report->volume, sumVolumes(cage), 1e-10 * report->volume);
}

static int32_t countPieces(const srCage* cage) {
    int32_t* piece = malloc(sizeof(int32_t) * (size_t)cage->nodeCount);
    int32_t count = 0;
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        piece[i] = i;
    }
    for (bool changes = true; changes;) {
        changes = false;
        for (int32_t e = 0; e < cage->edgeCount; e++) {
            int32_t a = cage->edges[e][0], b = cage->edges[e][1];
            int32_t low = piece[a] < piece[b] ? piece[a] : piece[b];
            changes = changes || piece[a] != piece[b];
            piece[a] = piece[b] = low;
        }
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        count += piece[i] == i;
    }
    free(piece);
    return count;
}

static double shareOutside(const srCage* cage, const srSurface* surface) {
    srEmbedding embedding;
    assert_success(srCreateEmbedding(cage, surface->points, NULL, surface->pointCount, &embedding));
    double share = embedding.outsideCount / (double)surface->pointCount;
    srDestroyEmbedding(&embedding);
    return share;
}

static void spheres_get_the_nodes_asked_for_and_their_volume(void** state) {
    (void)state;
    const int32_t targets[] = {100, 300, 1000, 4000};
    srSurface surface = makeSphere(3, 2.0);
    for (int i = 0; i < SR_ARRAY_COUNT(targets); i++) {
        srCage cage;
        srMesherReport report;
        assert_success(mesh(&surface, targets[i], &cage, &report));
        checkCage(&cage, &report);
        checkSkinIsClosed(&cage);
        assert_near(cage.nodeCount / (double)targets[i], 1.0, 0.15);
        assert_int_equal(countPieces(&cage), 1);

        // between the sphere and one with the offset and a flattened part of a cube more
        double outer = 2.0 + 0.5 * report.spacing;
        assert_true(report.volume > 4.0 / 3.0 * PI * 8.0);
        assert_true(report.volume < 4.0 / 3.0 * PI * outer * outer * outer);
        assert_true(shareOutside(&cage, &surface) == 0.0);
        srDestroyCage(&cage);
    }
    srDestroySurface(&surface);
}

static void inside_out_sphere_is_the_same_sphere(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, -1.0);
    srCage cage;
    srMesherReport report;
    assert_success(mesh(&surface, 500, &cage, &report));
    checkCage(&cage, &report);
    assert_near(cage.nodeCount / 500.0, 1.0, 0.15);
    assert_true(report.volume > 4.0);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
}

static void thin_plate_of_any_direction_is_kept_whole(void** state) {
    (void)state;
    uint64_t seed = 61;
    for (int i = 0; i < 6; i++) {
        Soup soup = {0};
        const double lower[3] = {-1.0, -1.0, -0.0005}, size[3] = {2.0, 2.0, 0.001};
        addBox(&soup, lower, size);
        double turn = PI * srTestRandom(&seed), tilt = i == 0 ? 0.0 : PI * srTestRandom(&seed);
        for (int32_t v = 0; v < soup.pointCount; v++) {
            float* p = soup.points + 3 * v;
            double x = (double)p[0], y = (double)p[1], z = (double)p[2];
            double y2 = cos(tilt) * y - sin(tilt) * z;
            p[0] = (float)(cos(turn) * x - sin(turn) * y2);
            p[1] = (float)(sin(turn) * x + cos(turn) * y2);
            p[2] = (float)(sin(tilt) * y + cos(tilt) * z);
        }
        srSurface surface = makeSurface(&soup);
        srCage cage;
        srMesherReport report;
        assert_success(mesh(&surface, 300, &cage, &report));
        checkCage(&cage, &report);
        assert_int_equal(countPieces(&cage), 1);
        assert_near(cage.nodeCount / 300.0, 1.0, 0.15);
        // half of the slab that the offset makes, 0.72 cubes thick, under all four square metres
        assert_true(report.volume > 4.0 * 0.36 * report.spacing);
        srDestroyCage(&cage);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void separate_spheres_stay_separate_and_both_are_there(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 2, 0.5, 3.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srCage cage;
    srMesherReport report;
    assert_success(mesh(&surface, 800, &cage, &report));
    checkCage(&cage, &report);
    checkSkinIsClosed(&cage);
    assert_int_equal(countPieces(&cage), 2);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void sphere_with_a_hole_is_closed_over_it(void** state) {
    (void)state;
    srSurface surface = makeSphere(3, 1.0);
    int32_t all = surface.triangleCount, kept = 0;
    for (int32_t t = 0; t < all; t++) {
        if (surface.points[surface.triangles[t][0]].z < 0.8) {
            memcpy(surface.triangles[kept++], surface.triangles[t], sizeof(surface.triangles[t]));
        }
    }
    surface.triangleCount = kept;
    srCage cage;
    srMesherReport report;
    assert_success(mesh(&surface, 1000, &cage, &report));
    checkCage(&cage, &report);
    assert_int_equal(countPieces(&cage), 1);
    assert_near(cage.nodeCount / 1000.0, 1.0, 0.15);
    // the cap that is missing is 3 % of the sphere
    assert_true(report.volume > 0.97 * 4.0 / 3.0 * PI);
    srDestroyCage(&cage);
    surface.triangleCount = all;
    srDestroySurface(&surface);
}

static void what_encloses_nothing_is_refused(void** state) {
    (void)state;
    Soup plane = {0};
    for (int i = 0; i < 100; i++) {
        addPoint(&plane, i % 10, i / 10, 0.1 * (i % 3));
    }
    for (int i = 0; i < 81; i++) {
        int32_t corner = i / 9 * 10 + i % 9;
        addTriangle(&plane, corner, corner + 1, corner + 11);
        addTriangle(&plane, corner, corner + 11, corner + 10);
    }
    // every triangle there twice, both ways round
    Soup doubled = {0};
    addSphere(&doubled, 1, 1.0, 0.0, 0.0, 0.0);
    addSphere(&doubled, 1, -1.0, 0.0, 0.0, 0.0);
    Soup* soups[] = {&plane, &doubled};
    for (int i = 0; i < 2; i++) {
        srSurface surface = makeSurface(soups[i]);
        srCage cage = {0};
        srMesherReport report;
        assert_result(mesh(&surface, 500, &cage, &report), sr_errorNoInside);
        assert_null(cage.nodes);
        srDestroySurface(&surface);
        freeSoup(soups[i]);
    }
}

static void targets_out_of_range_are_refused(void** state) {
    (void)state;
    srSurface surface = makeSphere(1, 1.0);
    srCage cage;
    srMesherReport report;
    assert_result(mesh(&surface, 0, &cage, &report), sr_errorInvalidValue);
    assert_result(mesh(&surface, -5, &cage, &report), sr_errorInvalidValue);
    assert_result(mesh(&surface, INT32_MAX, &cage, &report), sr_errorInvalidValue);
    assert_success(mesh(&surface, 8, &cage, &report));
    checkCage(&cage, &report);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
}

static void specks_far_apart_neither_hang_nor_crash(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 0, 1e-3, 0.0, 0.0, 0.0);
    addSphere(&soup, 0, 1e-3, 1000.0, 1000.0, 1000.0);
    srSurface surface = makeSurface(&soup);
    srCage cage = {0};
    srMesherReport report;
    srResult result = mesh(&surface, 50, &cage, &report);
    assert_true(result == sr_success || result == sr_errorNoInside);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void shape_does_not_depend_on_size(void** state) {
    (void)state;
    // powers of two, so that the points are the same to the bit but for scale
    const int exponents[3] = {0, -80, 80};
    srCage cages[3];
    srMesherReport reports[3];
    for (int i = 0; i < 3; i++) {
        srSurface surface = makeSphere(2, ldexp(1.0, exponents[i]));
        assert_success(mesh(&surface, 400, &cages[i], &reports[i]));
        checkCage(&cages[i], &reports[i]);
        assert_int_equal(cages[i].nodeCount, cages[0].nodeCount);
        assert_int_equal(cages[i].cellCount, cages[0].cellCount);
        assert_near(ldexp(reports[i].spacing, -exponents[i]) / reports[0].spacing, 1.0, 1e-6);
        srDestroySurface(&surface);
    }
    for (int i = 0; i < 3; i++) {
        srDestroyCage(&cages[i]);
    }
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    srSurface surface = makeSphere(3, 1.0);
    srCage cages[3];
    const int32_t workerCounts[3] = {1, 2, 4};
    int32_t before = srParallel_GetWorkerCount();
    for (int run = 0; run < 3; run++) {
        srMesherReport report;
        srParallel_SetWorkerCount(workerCounts[run]);
        assert_success(mesh(&surface, 1000, &cages[run], &report));
        assert_int_equal(cages[run].nodeCount, cages[0].nodeCount);
        assert_int_equal(cages[run].cellCount, cages[0].cellCount);
        assert_memory_equal(cages[run].nodes, cages[0].nodes, sizeof(srVec3) * (size_t)cages[0].nodeCount);
        assert_memory_equal(cages[run].cells, cages[0].cells,
                            4 * sizeof(int32_t) * (size_t)cages[0].cellCount);
    }
    srParallel_SetWorkerCount(before);
    for (int run = 0; run < 3; run++) {
        srDestroyCage(&cages[run]);
    }
    srDestroySurface(&surface);
}

typedef struct Log {
    int calls;
    int cancelAt;
    float last;
} Log;

static bool listen(float fraction, void* context) {
    Log* log = context;
    assert_true(fraction >= log->last && fraction <= 1.0f);
    log->last = fraction;
    return ++log->calls != log->cancelAt;
}

static void progress_ascends_to_one_and_can_be_cancelled_at_any_call(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, 1.0);
    Log log = {.cancelAt = -1};
    srMesherSettings settings = {300, listen, &log};
    srCage cage;
    srMesherReport report;
    assert_success(srMeshSurface(&surface, &settings, &cage, &report));
    srDestroyCage(&cage);
    assert_true(log.last == 1.0f);
    assert_true(log.calls > 20);
    int calls = log.calls;
    for (int cancelAt = 1; cancelAt <= calls; cancelAt++) {
        log = (Log){.cancelAt = cancelAt};
        assert_result(srMeshSurface(&surface, &settings, &cage, &report), sr_errorCancelled);
        assert_int_equal(log.calls, cancelAt);
    }
    srDestroySurface(&surface);
}

static srResult meshAndDestroy(void* context) {
    srCage cage;
    srMesherReport report;
    SR_TRY(mesh(context, 30, &cage, &report));
    srDestroyCage(&cage);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(0, 1.0);
    srTestEveryAllocationFails(meshAndDestroy, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(spheres_get_the_nodes_asked_for_and_their_volume, srTestNothingLeaked),
        cmocka_unit_test_teardown(inside_out_sphere_is_the_same_sphere, srTestNothingLeaked),
        cmocka_unit_test_teardown(thin_plate_of_any_direction_is_kept_whole, srTestNothingLeaked),
        cmocka_unit_test_teardown(separate_spheres_stay_separate_and_both_are_there, srTestNothingLeaked),
        cmocka_unit_test_teardown(sphere_with_a_hole_is_closed_over_it, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_encloses_nothing_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(targets_out_of_range_are_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(specks_far_apart_neither_hang_nor_crash, srTestNothingLeaked),
        cmocka_unit_test_teardown(shape_does_not_depend_on_size, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(progress_ascends_to_one_and_can_be_cancelled_at_any_call,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/mesher", tests, NULL, NULL);
}
