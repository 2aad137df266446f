// SPDX-License-Identifier: GPL-3.0-or-later

// children that are left
#define _GNU_SOURCE

#include "mesh/filling.h"

#include "core/parallel.h"
#include "mesh/helper.h"
#include "mesh/quality.h"
#include "mesh/solids.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
        assert_int_equal(report.conform.skin, sr_skinTaken);
        assert_near(mesh.cage.nodeCount, targets[i], 0.15 * targets[i]);
        assertGoodCage(&mesh.cage, &surface, 0.08);
        assert_true(report.conform.minDihedralDegrees > 8.0);
        srDestroyMesh(&mesh);
    }
    srDestroySurface(&surface);
}

// Three plates of twelve triangles each: no lattice of so many nodes is thin enough for them.
static void thin_plates_of_few_triangles_keep_their_volume(void** state) {
    (void)state;
    needHelper();
    const int32_t targets[] = {300, 1000, 4000};
    for (int i = 0; i < SR_ARRAY_COUNT(targets); i++) {
        Soup soup = {0};
        for (int plate = 0; plate < 3; plate++) {
            addBox(&soup, (double[3]){3.0 * plate, 0.4 * plate, 0.5 * plate}, (double[3]){2.0, 2.0, 0.06});
        }
        srSurface surface = makeSurface(&soup);
        srFillingSettings settings = settingsFor(targets[i], helperPath);
        const srSolidSettings exact = {.largestHole = 0.2, .sheetThickness = 0.0};
        settings.route = sr_fillingAutomatic;
        settings.limits.seconds = 30.0;
        settings.lattice.solid = &exact;
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(&surface, &settings, &mesh, &report));
        assert_int_equal(report.route, sr_fillingTetgen);
        assert_non_null(strstr(report.note, "smaller triangles"));
        assert_near(mesh.cage.nodeCount, targets[i], 0.15 * targets[i]);
        assert_near(report.conform.insideVolume, 3.0 * 0.24, 1e-6);
        double growth = sumVolumes(&mesh.cage) / (3.0 * 0.24); // nodes are moved out of flat cells
        assert_true(growth > 0.97 && growth < (targets[i] < 1000 ? 1.3 : 1.1));
        srDestroyMesh(&mesh);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
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
        assert_int_equal(report.conform.skin, kind == 0 ? sr_skinCoarse : sr_skinCrossing);
        assert_near(mesh.cage.nodeCount, 500, 75);
        const double ball = 4.18879, inside = report.conform.insideVolume;
        assert_true(kind == 0 ? inside > 0.95 * ball && inside < ball : inside > 1.3 * ball);
        assert_true(inside <= report.conform.volume);
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

// What a skin may be like, each with the word by which the report tells it.
typedef enum Skin {
    skinClean,
    skinOpen,
    skinSheet,
    skinCoarse,
    skinPinched,
    skinCrossing,
} Skin;

static srSurface makeSkin(Skin skin) {
    Soup soup = {0};
    addSphere(&soup, skin == skinCoarse ? 2 : 4, 1.0, 0.0, 0.0, 0.0);
    if (skin == skinOpen) {
        soup.triangleCount /= 2;
    } else if (skin == skinSheet) {
        int32_t a = addPoint(&soup, 3, 0, 0), b = addPoint(&soup, 4, 0, 0), c = addPoint(&soup, 3, 1, 0);
        addTriangle(&soup, a, b, c);
    } else if (skin == skinPinched) {
        // turned about its first point, which both have
        int32_t pointCount = soup.pointCount, triangleCount = soup.triangleCount;
        for (int32_t p = 0; p < pointCount; p++) {
            const float *x = soup.points + 3 * (size_t)p, *centre = soup.points;
            addPoint(&soup, 2.0 * (double)centre[0] - (double)x[0], 2.0 * (double)centre[1] - (double)x[1],
                     2.0 * (double)centre[2] - (double)x[2]);
        }
        for (int32_t i = 0; i < triangleCount; i++) {
            const int32_t* t = soup.triangles + 3 * (size_t)i;
            int32_t corners[3];
            for (int c = 0; c < 3; c++) {
                corners[c] = t[c] == 0 ? 0 : pointCount + t[c];
            }
            addTriangle(&soup, corners[0], corners[2], corners[1]);
        }
    } else if (skin == skinCrossing) {
        addSphere(&soup, 4, 1.0, 0.6, 0.1, 0.0);
    }
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static void report_says_who_made_the_cage_and_why(void** state) {
    (void)state;
    needHelper();
    char killed[300], stalled[300];
    makeStandIn("killed", "kill -KILL $$", killed);
    makeStandIn("stalled", "sleep 60", stalled);
    const struct {
        Skin skin;
        srFillingRoute wanted;
        const char* program;
        srFillingRoute made;
        const char* word;
    } cases[] = {
        {skinClean, sr_fillingAutomatic, helperPath, sr_fillingTetgen, "closed, fine"},
        {skinClean, sr_fillingAutomatic, NULL, sr_fillingLattice, "missing"},
        {skinClean, sr_fillingAutomatic, "/no/such/helper", sr_fillingLattice, "missing"},
        {skinClean, sr_fillingAutomatic, killed, sr_fillingLattice, "killed"},
        {skinClean, sr_fillingAutomatic, stalled, sr_fillingLattice, "too long"},
        {skinOpen, sr_fillingAutomatic, helperPath, sr_fillingLattice, "skin is open"},
        {skinSheet, sr_fillingAutomatic, helperPath, sr_fillingLattice, "as thin as a sheet"},
        {skinCoarse, sr_fillingAutomatic, helperPath, sr_fillingLattice, "too few triangles"},
        {skinPinched, sr_fillingAutomatic, helperPath, sr_fillingLattice, "meet at edges or points"},
        {skinCrossing, sr_fillingAutomatic, helperPath, sr_fillingLattice, "crosses itself"},
        {skinClean, sr_fillingTetgen, helperPath, sr_fillingTetgen, "kept its triangles"},
        {skinCoarse, sr_fillingTetgen, helperPath, sr_fillingTetgen, "as the skin has too few triangles"},
        {skinCrossing, sr_fillingTetgen, helperPath, sr_fillingTetgen, "as it touches or crosses itself"},
        {skinClean, sr_fillingTetgen, NULL, sr_fillingLattice, "missing"},
        {skinClean, sr_fillingLattice, helperPath, sr_fillingLattice, "was asked for"},
    };
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        srSurface surface = makeSkin(cases[i].skin);
        srFillingSettings settings = settingsFor(300, cases[i].program);
        settings.limits.seconds = cases[i].program == stalled ? 0.5 : 30.0;
        settings.route = cases[i].wanted;
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(&surface, &settings, &mesh, &report));
        if (report.route != cases[i].made || strstr(report.note, cases[i].word) == NULL) {
            fail_msg("case %d: %s", i, report.note);
        }
        assert_true(report.isInstead == (report.route == sr_fillingLattice && i < SR_ARRAY_COUNT(cases) - 1));
        srDestroyMesh(&mesh);
        srDestroySurface(&surface);
    }
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
        assert_non_null(strstr(report.note, cases[i].word));
        assertGoodCage(&mesh.cage, &surface, 0.3);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
        srDestroyMesh(&mesh);
    }
    assert_int_equal(countFiles("."), before);
    srDestroySurface(&surface);
}

// The first runs are well, but may be off the wanted count; those after them are killed.
static void what_a_killed_helper_gave_before_is_taken_if_it_is_good(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    char path[300], counter[300], line[900];
    srTestPath("runs", counter, sizeof(counter));
    int32_t byTetgen = 0;
    for (int alive = 1; alive <= 4; alive++) {
        snprintf(line, sizeof(line), "echo >>'%s'; [ $(wc -l <'%s') -le %d ] || kill -KILL $$; exec %%s",
                 counter, counter, alive);
        makeStandIn("mortal", line, path);
        srFillingSettings settings = settingsFor(150, path);
        settings.limits.seconds = 30.0;
        srMesh mesh;
        srFillingReport report;
        assert_success(srFillSurface(&surface, &settings, &mesh, &report));
        print_message("%d runs: %d nodes. %s\n", alive, mesh.cage.nodeCount, report.note);
        if (report.route == sr_fillingTetgen) {
            assert_near(mesh.cage.nodeCount, 150, 0.15 * 150);
            byTetgen++;
        } else {
            assert_non_null(strstr(report.note, "killed"));
            assertGoodCage(&mesh.cage, &surface, 0.5);
        }
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        srDestroyMesh(&mesh);
        remove(counter);
    }
    assert_true(byTetgen >= 1 && byTetgen <= 3);
    srDestroySurface(&surface);
}

// No room on any disk, no temporary folder, and the folder it works in is gone.
static void helper_needs_no_disk(void** state) {
    (void)state;
    needHelper();
    srSurface surface = makeBody();
    char gone[300];
    srTestPath("gone", gone, sizeof(gone));
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit nothing = {0, 0};
        bool isSo = mkdir(gone, 0700) == 0 && chdir(gone) == 0 && rmdir(gone) == 0 &&
                    setenv("TMPDIR", "/no/such/folder", 1) == 0 && setrlimit(RLIMIT_FSIZE, &nothing) == 0;
        srFillingSettings settings = settingsFor(300, helperPath);
        settings.limits.seconds = 30.0;
        srMesh mesh;
        srFillingReport report;
        bool isMade = isSo && srFillSurface(&surface, &settings, &mesh, &report) == sr_success &&
                      report.route == sr_fillingTetgen;
        _exit(isMade ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
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
        cmocka_unit_test_teardown(thin_plates_of_few_triangles_keep_their_volume, srTestNothingLeaked),
        cmocka_unit_test_teardown(coarse_or_crossing_skins_are_contoured, srTestNothingLeaked),
        cmocka_unit_test_teardown(cage_is_the_same_on_any_number_of_workers, srTestNothingLeaked),
        cmocka_unit_test_teardown(report_says_who_made_the_cage_and_why, srTestNothingLeaked),
        cmocka_unit_test_teardown(bones_have_nodes, srTestNothingLeaked),
        cmocka_unit_test_teardown(painted_detail_makes_smaller_cells, srTestNothingLeaked),
        cmocka_unit_test_teardown(lattice_answers_whatever_becomes_of_the_helper, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_a_killed_helper_gave_before_is_taken_if_it_is_good,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(helper_needs_no_disk, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_encloses_nothing_is_said, srTestNothingLeaked),
        cmocka_unit_test_teardown(caller_may_cancel_at_any_time, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/filling", tests, NULL, NULL);
}
