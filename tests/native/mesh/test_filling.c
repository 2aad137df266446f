// SPDX-License-Identifier: GPL-3.0-or-later

// children that are left
#define _GNU_SOURCE

#include "mesh/filling.h"

#include "core/parallel.h"
#include "mesh/helper.h"
#include "mesh/quality.h"
#include "mesh/solids.h"

#include <errno.h>
#include <sys/wait.h>

static srSurface makeBody(void) {
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    for (int32_t p = 0; p < soup.pointCount; p++) {
        soup.points[3 * p] *= 2.0f;
    }
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static srFillingSettings settingsFor(int32_t target, const char* program) {
    return (srFillingSettings){
        .route = sr_fillingTetgen, .lattice = {.targetNodeCount = target}, .limits = {program, 1.5, 1000.0}};
}

static void assertGoodCage(const srCage* cage, const srSurface* surface, double tolerance) {
    double least, most, volume;
    assert_true(cage->cellCount > 0);
    srMeasureCells(cage, &least, &most, &volume);
    assert_true(least > 2.0);
    (void)surface;
    assert_near(volume, 2.0 * 4.18879, tolerance * 2.0 * 4.18879);
}

static void tetgen_makes_cages_of_the_wanted_size(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    const int32_t targets[] = {150, 600, 2500};
    for (int i = 0; i < 3; i++) {
        srFillingSettings settings = settingsFor(targets[i], helperPath);
        settings.limits.seconds = 30.0;
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(&surface, &settings, &mesh, &report));
        assert_int_equal(report.route, sr_fillingTetgen);
        assert_null(report.note);
        assert_true(report.conform.isOwnSurface);
        assert_near(mesh.cage.nodeCount, targets[i], 0.15 * targets[i]);
        assertGoodCage(&mesh.cage, &surface, 0.08);
        assert_true(report.conform.minDihedralDegrees > 8.0);
        srDestroyMesh(&mesh);
    }
    srDestroySurface(&surface);
}

static void coarse_or_crossing_skins_are_contoured(void** state) {
    (void)state;
    needHelper();
    for (int kind = 0; kind < 2; kind++) {
        Soup soup = {0};
        addSphere(&soup, kind == 0 ? 2 : 4, 1.0, 0.0, 0.0, 0.0);
        if (kind == 1) {
            addSphere(&soup, 4, 1.0, 0.6, 0.1, 0.0);
        }
        srSurface surface = makeSurface(&soup);
        srFillingSettings settings = settingsFor(500, helperPath);
        settings.limits.seconds = 30.0;
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(&surface, &settings, &mesh, &report));
        assert_int_equal(report.route, sr_fillingTetgen);
        assert_false(report.conform.isOwnSurface);
        assert_near(mesh.cage.nodeCount, 500, 75);
        srDestroyMesh(&mesh);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void cage_is_the_same_on_any_number_of_workers(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    srMesh meshes[2];
    for (int i = 0; i < 2; i++) {
        srFillingSettings settings = settingsFor(300, helperPath);
        settings.limits.seconds = 30.0;
        srFillingReport report;
        srParallel_SetWorkerCount(i == 0 ? 1 : 3);
        assert_success(srFillSurface(&surface, &settings, &meshes[i], &report));
        assert_int_equal(report.route, sr_fillingTetgen);
    }
    assert_int_equal(meshes[0].cage.nodeCount, meshes[1].cage.nodeCount);
    assert_memory_equal(meshes[0].cage.nodes, meshes[1].cage.nodes,
                        sizeof(srVec3) * (size_t)meshes[0].cage.nodeCount);
    srDestroyMesh(&meshes[0]);
    srDestroyMesh(&meshes[1]);
    srDestroySurface(&surface);
}

static void left_to_us_clean_skins_go_to_tetgen(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    srSurface clean = makeSurface(&soup);
    addSphere(&soup, 4, 1.0, 0.6, 0.1, 0.0);
    srSurface crossing = makeSurface(&soup);
    char killed[300];
    makeStandIn("killed", "kill -KILL $$", killed);
    const struct {
        const srSurface* surface;
        const char* program;
        srFillingRoute route;
        bool hasNote;
    } cases[] = {
        {&clean, helperPath, sr_fillingTetgen, false},
        {&clean, NULL, sr_fillingLattice, false},
        {&clean, killed, sr_fillingLattice, true},
        {&crossing, helperPath, sr_fillingLattice, false},
    };
    for (int i = 0; i < 4; i++) {
        srFillingSettings settings = settingsFor(300, cases[i].program);
        settings.limits.seconds = 30.0;
        settings.route = sr_fillingAutomatic;
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(cases[i].surface, &settings, &mesh, &report));
        assert_int_equal(report.route, cases[i].route);
        assert_int_equal(report.note != NULL, cases[i].hasNote);
        srDestroyMesh(&mesh);
    }
    srDestroySurface(&clean);
    srDestroySurface(&crossing);
    freeSoup(&soup);
}

static void bones_have_nodes(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    const srVec3 ends[4] = {{-1.5, 0.0, 0.0}, {1.5, 0.0, 0.0}, {0.0, 5.0, 0.0}, {0.0, 9.0, 0.0}};
    srFillingSettings settings = settingsFor(600, helperPath);
    settings.limits.seconds = 30.0;
    settings.spine = ends;
    settings.segmentCount = 2;
    srMesh mesh;
    srFillingReport report;
    assert_success(srFillSurface(&surface, &settings, &mesh, &report));
    assert_int_equal(report.route, sr_fillingTetgen);
    assert_true(report.conform.spineCount >= 5);
    int32_t count = 0;
    for (int32_t n = 0; n < mesh.cage.nodeCount; n++) {
        srVec3 x = mesh.cage.nodes[n];
        count += fabs(x.x) <= 1.5 && sqrt(x.y * x.y + x.z * x.z) < 0.1 * report.conform.edgeLength;
    }
    assert_true(count >= report.conform.spineCount);
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
}

static void painted_detail_makes_smaller_cells(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    float* detail = calloc((size_t)surface.pointCount, sizeof(float));
    for (int32_t p = 0; p < surface.pointCount; p++) {
        detail[p] = surface.points[p].x > 0.0 ? 1.0f : p % 7 == 0 ? (float)NAN : 0.0f;
    }
    srFillingSettings settings = settingsFor(1500, helperPath);
    settings.limits.seconds = 30.0;
    settings.detail = detail;
    srMesh mesh;
    srFillingReport report;
    assert_success(srFillSurface(&surface, &settings, &mesh, &report));
    assert_int_equal(report.route, sr_fillingTetgen);
    int32_t sides[2] = {0, 0};
    for (int32_t n = 0; n < mesh.cage.nodeCount; n++) {
        sides[mesh.cage.nodes[n].x > 0.0]++;
    }
    // half the size is eight times as many within and four times as many on the skin
    assert_true(sides[1] > 2.5 * sides[0] && sides[1] < 9.0 * sides[0]);
    srDestroyMesh(&mesh);
    free(detail);
    srDestroySurface(&surface);
}

static void lattice_answers_whatever_becomes_of_the_helper(void** state) {
    (void)state;
    static const struct {
        const char* line; // null: no program at all
        const char* word; // of the sentence
    } cases[] = {
        {NULL, "missing"},
        {"sleep 60", "too long"},
        {"kill -STOP $$", "too long"},
        {"kill -KILL $$", "killed"},
        {"exit 1", "memory"},
        {"exit 3", "fault"},
        {"echo hello", "no usable"},
        {"ulimit -v 6000; exec %s", "memory"},
        {"cat >/dev/null; kill -SEGV $$", "killed"},
    };
    srSurface surface = makeBody();
    int before = countFiles(".");
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        if (helperPath == NULL && cases[i].line != NULL && strchr(cases[i].line, '%') != NULL) {
            continue;
        }
        char path[300] = "/no/such/helper";
        if (cases[i].line != NULL) {
            makeStandIn("helper", cases[i].line, path);
        }
        srFillingSettings settings = settingsFor(300, path);
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(&surface, &settings, &mesh, &report));
        assert_int_equal(report.route, sr_fillingLattice);
        assert_non_null(report.note);
        assert_non_null(strstr(report.note, cases[i].word));
        assertGoodCage(&mesh.cage, &surface, 0.3);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
        srDestroyMesh(&mesh);
    }
    assert_int_equal(countFiles("."), before);
    srDestroySurface(&surface);
}

static void what_encloses_nothing_is_said(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addPoint(&soup, 0, 0, 0);
    addPoint(&soup, 1, 0, 0);
    addPoint(&soup, 0, 1, 0);
    addTriangle(&soup, 0, 1, 2);
    srSurface surface = makeSurface(&soup);
    srSolidSettings solid = srDefaultSolidSettings();
    solid.sheetThickness = 0.0;
    srFillingSettings settings = settingsFor(300, helperPath);
    settings.lattice.solid = &solid;
    srMesh mesh;
    srFillingReport report;
    assert_result(srFillSurface(&surface, &settings, &mesh, &report), sr_errorNoInside);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static bool stopAt(float fraction, void* context) {
    return fraction < *(float*)context;
}

static void caller_may_cancel_at_any_time(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    for (float at = 0.0f; at < 0.35f; at += 0.05f) {
        srFillingSettings settings = settingsFor(1000, helperPath);
        settings.limits.seconds = 30.0;
        settings.lattice.progress = stopAt;
        settings.lattice.progressContext = &at;
        srMesh mesh;
        srFillingReport report;
        assert_result(srFillSurface(&surface, &settings, &mesh, &report), sr_errorCancelled);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    srDestroySurface(&surface);
}

static srResult fillAndForget(void* context) {
    srFillingSettings settings = settingsFor(40, helperPath);
    settings.limits.seconds = 30.0;
    srMesh mesh;
    srFillingReport report;
    SR_TRY(srFillSurface(context, &settings, &mesh, &report));
    srDestroyMesh(&mesh);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srTestEveryAllocationFails(fillAndForget, &surface);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(tetgen_makes_cages_of_the_wanted_size, srTestNothingLeaked),
        cmocka_unit_test_teardown(coarse_or_crossing_skins_are_contoured, srTestNothingLeaked),
        cmocka_unit_test_teardown(cage_is_the_same_on_any_number_of_workers, srTestNothingLeaked),
        cmocka_unit_test_teardown(left_to_us_clean_skins_go_to_tetgen, srTestNothingLeaked),
        cmocka_unit_test_teardown(bones_have_nodes, srTestNothingLeaked),
        cmocka_unit_test_teardown(painted_detail_makes_smaller_cells, srTestNothingLeaked),
        cmocka_unit_test_teardown(lattice_answers_whatever_becomes_of_the_helper, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_encloses_nothing_is_said, srTestNothingLeaked),
        cmocka_unit_test_teardown(caller_may_cancel_at_any_time, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/filling", tests, NULL, NULL);
}
