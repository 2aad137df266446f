// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells of several sizes, seen through the mesher.

#include "mesh/sampling.h"

#include "core/parallel.h"
#include "mesh/boundary.h"
#include "mesh/mesher.h"
#include "mesh/solids.h"

typedef struct Input {
    srSurface surface;
    float* detail;
    int32_t target;
    srMesh mesh;
    srMesherReport report;
} Input;

static Input makeBall(int32_t target) {
    Input input = {.surface = makeSphere(4, 1.0), .target = target};
    input.detail = calloc((size_t)input.surface.pointCount, sizeof(float));
    return input;
}

static void freeInput(Input* input) {
    srDestroyMesh(&input->mesh);
    srDestroySurface(&input->surface);
    free(input->detail);
}

// On the side where x is larger.
static void paintHalf(Input* input, float value) {
    for (int32_t p = 0; p < input->surface.pointCount; p++) {
        input->detail[p] = input->surface.points[p].x > 0.0 ? value : 0.0f;
    }
}

static srResult meshInput(void* context) {
    Input* input = context;
    const srMesherSettings settings = {.targetNodeCount = input->target, .detail = input->detail};
    return srMeshSurface(&input->surface, &settings, &input->mesh, &input->report);
}

static srResult meshAndDestroy(void* context) {
    SR_TRY(meshInput(context));
    srDestroyMesh(&((Input*)context)->mesh);
    return sr_success;
}

// Of edges near the skin, with both ends on one side of x.
static double meanEdge(const srCage* cage, double side) {
    double sum = 0.0;
    int32_t count = 0;
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        srVec3 a = cage->nodes[cage->edges[e][0]], b = cage->nodes[cage->edges[e][1]];
        if (side * a.x > 0.3 && side * b.x > 0.3 && srLength(a) > 0.8 && srLength(b) > 0.8) {
            sum += srDistance(a, b);
            count++;
        }
    }
    assert_true(count > 0);
    return sum / count;
}

static double measure(Soup* soup) {
    srSurface surface = makeSurface(soup);
    const srSolidSettings settings = srDefaultSolidSettings();
    const srProgress nobody = {0};
    srSolid solid;
    double volume = 0.0, spacing = 0.0;
    assert_success(srCreateSolid(&surface, &settings, &nobody, &solid, NULL));
    srField field = srMakeField(&solid, 0.0);
    assert_success(srMeasureInside(&field, surface.lower, surface.upper, &nobody, &volume, &spacing));
    assert_true(spacing > 0.0 && spacing < surface.size / 16.0);
    srDestroySolid(&solid);
    srDestroySurface(&surface);
    return volume;
}

// Skins that cross within the flesh take a little away: less than a cage may fall short.
static void what_overlaps_is_measured_once(void** state) {
    (void)state;
    const double lower[3] = {-1.0, -1.0, -1.0}, size[3] = {2.0, 2.0, 2.0};
    const double steps[] = {0.0, 1e-4, 0.5, 1.3};
    for (int i = 0; i < SR_ARRAY_COUNT(steps); i++) {
        const double moved[3] = {-1.0 + steps[i], -1.0, -1.0 + 0.5 * steps[i]};
        double shared = 2.0 * (2.0 - steps[i]) * (2.0 - 0.5 * steps[i]);
        Soup soup = {0};
        addBox(&soup, lower, size);
        addBox(&soup, moved, size);
        double share = measure(&soup) / (16.0 - shared);
        assert_true(share > 0.975 && share < 1.005);
        freeSoup(&soup);
    }
    Soup balls = {0};
    addSphere(&balls, 4, 1.0, 0.0, 0.0, 0.0);
    addSphere(&balls, 4, 1.0, 1.0, 0.0, 0.0);
    // two caps of height 1/2 are in both
    double ball = 4.0 / 3.0 * 3.14159265, cap = 3.14159265 * 0.25 * 2.5 / 3.0;
    double share = measure(&balls) / (2.0 * ball - 2.0 * cap);
    assert_true(share > 0.975 && share < 1.005);
    freeSoup(&balls);
}

static void painted_detail_halves_cells_there_and_keeps_the_count(void** state) {
    (void)state;
    const int32_t targets[] = {3000, 8000};
    for (int i = 0; i < SR_ARRAY_COUNT(targets); i++) {
        Input input = makeBall(targets[i]);
        paintHalf(&input, 1.0f);
        assert_success(meshInput(&input));
        assert_true(fabs(input.mesh.cage.nodeCount / (double)targets[i] - 1.0) < 0.15);
        assert_near(meanEdge(&input.mesh.cage, -1.0) / meanEdge(&input.mesh.cage, 1.0), 2.0, 0.25);
        // decision 22
        assert_true(input.report.minDihedralDegrees > 8.0 && input.report.maxDihedralDegrees < 168.0);
        assert_near(input.report.volume / (4.0 / 3.0 * 3.14159265), 1.08, 0.08);
        assert_int_equal(input.report.pieceCount, 1);
        freeInput(&input);
    }
}

static void detail_below_a_half_or_not_a_number_changes_no_bit(void** state) {
    (void)state;
    const float values[] = {0.0f, 0.49f, NAN, -3.0f};
    Input inputs[SR_ARRAY_COUNT(values)];
    for (int i = 0; i < SR_ARRAY_COUNT(values); i++) {
        inputs[i] = makeBall(500);
        paintHalf(&inputs[i], values[i]);
        assert_success(meshInput(&inputs[i]));
        assert_int_equal(inputs[i].mesh.cage.nodeCount, inputs[0].mesh.cage.nodeCount);
        assert_memory_equal(inputs[i].mesh.cage.nodes, inputs[0].mesh.cage.nodes,
                            sizeof(srVec3) * (size_t)inputs[0].mesh.cage.nodeCount);
    }
    for (int i = 0; i < SR_ARRAY_COUNT(values); i++) {
        freeInput(&inputs[i]);
    }
}

static void detail_everywhere_is_as_none(void** state) {
    (void)state;
    Input none = makeBall(3000), all = makeBall(3000);
    for (int32_t p = 0; p < all.surface.pointCount; p++) {
        all.detail[p] = 1.0f;
    }
    assert_success(meshInput(&none));
    assert_success(meshInput(&all));
    assert_near(meanEdge(&all.mesh.cage, 1.0) / meanEdge(&none.mesh.cage, 1.0), 1.0, 0.06);
    freeInput(&none);
    freeInput(&all);
}

static void deep_cells_are_twice_as_large_and_none_at_the_skin(void** state) {
    (void)state;
    Input input = makeBall(12000);
    assert_success(meshInput(&input));
    const srCage* cage = &input.mesh.cage;
    double h = input.report.spacing;
    int32_t largeCount = 0;
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        srVec3 a = cage->nodes[cage->edges[e][0]], b = cage->nodes[cage->edges[e][1]];
        if (srDistance(a, b) > 1.5 * h) {
            largeCount++;
            assert_true(srLength(a) < 1.0 - h && srLength(b) < 1.0 - h);
        }
    }
    assert_true(largeCount > 100);
    // all of one size would take more: two points a cube and some three nodes a square of the skin
    double alike = 2.0 * 4.18879 / (h * h * h) + 3.0 * 12.5664 / (h * h);
    assert_true(cage->nodeCount < 0.85 * alike);
    assert_true(input.report.minDihedralDegrees > 9.5 && input.report.maxDihedralDegrees < 164.8);
    freeInput(&input);
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    const int32_t workerCounts[3] = {1, 2, 4};
    int32_t before = srParallel_GetWorkerCount();
    Input inputs[3];
    for (int run = 0; run < 3; run++) {
        inputs[run] = makeBall(2000);
        paintHalf(&inputs[run], 1.0f);
        srParallel_SetWorkerCount(workerCounts[run]);
        assert_success(meshInput(&inputs[run]));
        assert_int_equal(inputs[run].mesh.cage.nodeCount, inputs[0].mesh.cage.nodeCount);
        assert_memory_equal(inputs[run].mesh.cage.nodes, inputs[0].mesh.cage.nodes,
                            sizeof(srVec3) * (size_t)inputs[0].mesh.cage.nodeCount);
    }
    srParallel_SetWorkerCount(before);
    for (int run = 0; run < 3; run++) {
        freeInput(&inputs[run]);
    }
}

// A mirrored skin, modelled with triangles the other way round as a mirror does, gets the mirrored nodes.
static void mirrored_shapes_get_mirrored_cages(void** state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        Input inputs[2];
        for (int side = 0; side < 2; side++) {
            Soup soup = {0};
            addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
            for (int32_t p = 0; p < soup.pointCount; p++) {
                float* x = soup.points + 3 * p;
                x[0] *= 1.0f + 0.4f * x[2];
                x[1] *= 0.8f - 0.3f * x[0];
            }
            for (int32_t p = 0; p < soup.pointCount && side == 1; p++) {
                soup.points[3 * p + axis] = -soup.points[3 * p + axis];
            }
            inputs[side] = (Input){.surface = makeSurface(&soup), .target = 1200};
            inputs[side].detail = calloc((size_t)soup.pointCount, sizeof(float));
            for (int32_t p = 0; p < soup.pointCount; p++) {
                inputs[side].detail[p] = p < soup.pointCount / 3 ? 1.0f : 0.0f;
            }
            freeSoup(&soup);
            assert_success(meshInput(&inputs[side]));
        }
        srCage *cage = &inputs[0].mesh.cage, *mirror = &inputs[1].mesh.cage;
        assert_int_equal(cage->nodeCount, mirror->nodeCount);
        for (int32_t n = 0; n < mirror->nodeCount; n++) {
            double* x = axis == 0   ? &mirror->nodes[n].x
                        : axis == 1 ? &mirror->nodes[n].y
                                    : &mirror->nodes[n].z;
            *x = -*x;
        }
        int32_t offCount = 0;
        for (int32_t n = 0; n < cage->nodeCount; n++) {
            double nearest = HUGE_VAL;
            for (int32_t m = 0; m < mirror->nodeCount; m++) {
                nearest = fmin(nearest, srDistance(cage->nodes[n], mirror->nodes[m]));
            }
            // rounding of the box's middle; and where flesh is thin, points go onto the skin one after the
            // other
            offCount += nearest > 1e-6;
            assert_true(nearest < 0.5 * inputs[0].report.spacing);
        }
        assert_true(offCount <= cage->nodeCount / 200);
        freeInput(&inputs[0]);
        freeInput(&inputs[1]);
    }
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Input input = {.surface = makeSphere(2, 1.0), .target = 150};
    input.detail = calloc((size_t)input.surface.pointCount, sizeof(float));
    paintHalf(&input, 1.0f);
    srTestEveryAllocationFails(meshAndDestroy, &input);
    srDestroySurface(&input.surface);
    free(input.detail);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_overlaps_is_measured_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(painted_detail_halves_cells_there_and_keeps_the_count, srTestNothingLeaked),
        cmocka_unit_test_teardown(detail_below_a_half_or_not_a_number_changes_no_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(detail_everywhere_is_as_none, srTestNothingLeaked),
        cmocka_unit_test_teardown(deep_cells_are_twice_as_large_and_none_at_the_skin, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(mirrored_shapes_get_mirrored_cages, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/sampling", tests, NULL, NULL);
}
