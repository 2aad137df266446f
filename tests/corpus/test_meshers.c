// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two hundred damaged meshes for the thesis's way: whatever has an inside gets a cage, by TetGen or by the
// lattice, and nothing is left behind. The judge knows nothing of either.

// children that are left
#define _GNU_SOURCE

#include "corpus/corpus.h"
#include "mesh/filling.h"
#include "native/mesh/helper.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE_COUNT 200
#define NODE_COUNT 150

// What TetGen's cages may be off that number by: else the lattice makes them.
#define LARGEST_MISS 0.15

// What must not be, whoever made the cage; its size is a matter of the corpus's own test.
#define FATAL (sr_misfitIndex | sr_misfitLooseNode | sr_misfitFlatCell | sr_misfitFace)

typedef struct Tally {
    int32_t byTetgen;
    int32_t byLattice;
    int32_t nothing;
} Tally;

static int judge(const srCase* made, const srCage* cage) {
    float* nodes = malloc(3 * sizeof(float) * (size_t)cage->nodeCount);
    for (int32_t n = 0; n < cage->nodeCount; n++) {
        nodes[3 * n] = (float)cage->nodes[n].x;
        nodes[3 * n + 1] = (float)cage->nodes[n].y;
        nodes[3 * n + 2] = (float)cage->nodes[n].z;
    }
    srFitGoal goal = {
        &made->patient.skin, &made->patient.repaired, &made->patient.widest, NODE_COUNT, NULL, NULL, 0};
    srFitReport report;
    srJudgeFit(nodes, cage->nodeCount, &cage->cells[0][0], cage->cellCount, &goal, &made->limits, &report);
    free(nodes);
    return report.misfits;
}

static void tryCase(const srCase* made, Tally* tally) {
    const srSoup* skin = &made->patient.skin;
    srSurface surface;
    srSurfaceReport found;
    if (srCreateSurface(skin->points, skin->pointCount, skin->triangles, skin->triangleCount, &surface,
                        &found) != sr_success) {
        tally->nothing++;
        return;
    }
    srFillingSettings settings = {.route = sr_fillingTetgen,
                                  .lattice = {.targetNodeCount = NODE_COUNT},
                                  .limits = {helperPath, 10.0, 1000.0}};
    srMesh mesh;
    srFillingReport report;
    srResult result = srFillSurface(&surface, &settings, &mesh, &report);
    if (result == sr_success) {
        int misfits = judge(made, &mesh.cage) & FATAL;
        if (misfits != 0) {
            fail_msg("%s: misfits %d, %s", made->name, misfits, report.note);
        }
        assert_true((report.route == sr_fillingLattice) == report.isInstead);
        assert_true(strlen(report.note) > 10);
        if (report.route == sr_fillingTetgen &&
            fabs(mesh.cage.nodeCount / (double)NODE_COUNT - 1.0) > LARGEST_MISS) {
            fail_msg("%s: %d nodes by TetGen", made->name, mesh.cage.nodeCount);
        }
        tally->byTetgen += report.route == sr_fillingTetgen;
        tally->byLattice += report.route == sr_fillingLattice;
        srDestroyMesh(&mesh);
    } else if (result != sr_errorNoInside || made->expectation == sr_expectFit) {
        fail_msg("%s: %s", made->name, srGetErrorText());
    } else {
        tally->nothing++;
    }
    srDestroySurface(&surface);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void damaged_meshes_get_cages_and_leave_nothing_behind(void** state) {
    (void)state;
    needHelper();
    int32_t all = srCountCases(), damaged = 0, first = all;
    for (int32_t i = all - 1; i >= 0 && first == i + 1; i--) {
        srCase made = srMakeCase(i);
        bool isDamaged = made.family == sr_familyDamaged;
        first = isDamaged ? i : first;
        damaged += isDamaged;
        srDestroyCase(&made);
    }
    assert_true(damaged >= CASE_COUNT);
    Tally tally = {0, 0, 0};
    // where a program that is told nothing would write; in the common folder others do so too
    char empty[300], before[4096];
    srTestPath("empty", empty, sizeof(empty));
    assert_int_equal(mkdir(empty, 0700), 0);
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(empty), 0);
    int here = countFiles("."), there = countNamed("/tmp", "tetgen");
    for (int32_t i = 0; i < CASE_COUNT; i++) {
        srCase made = srMakeCase(first + (int32_t)((int64_t)i * damaged / CASE_COUNT));
        tryCase(&made, &tally);
        srDestroyCase(&made);
    }
    print_message("of %d: %d by TetGen, %d by the lattice, %d enclose nothing\n", CASE_COUNT, tally.byTetgen,
                  tally.byLattice, tally.nothing);
    assert_int_equal(countFiles("."), here);
    assert_int_equal(countNamed("/tmp", "tetgen"), there);
    assert_int_equal(chdir(before), 0);
    assert_true(tally.byTetgen > CASE_COUNT / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(damaged_meshes_get_cages_and_leave_nothing_behind, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("corpus/meshers", tests, NULL, NULL);
}
