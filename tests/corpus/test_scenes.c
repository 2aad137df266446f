// SPDX-License-Identifier: GPL-3.0-or-later
//
// The meshes of the corpus are what they say, and cases are run so that nothing a case does ends the run.

#include "corpus/corpus.h"
#include "corpus/shapes.h"
#include "support/support.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void shapes_are_closed_or_say_so(void** state) {
    (void)state;
    int32_t count = 0;
    const srShape* shapes = srGetShapes(&count);
    for (int32_t i = 0; i < count; i++) {
        srSoup soup = {0};
        shapes[i].make(&soup);
        assert_true(soup.triangleCount > 10 || strcmp(shapes[i].name, "cube") == 0);
        if (srSoup_IsClosed(&soup) != shapes[i].isClosed) {
            fail_msg("%s", shapes[i].name);
        }
        assert_in_range((int)srSoup_GetSize(&soup), 1, 5);
        srFreeSoup(&soup);
    }
    assert_true(count >= 14);
}

static void welding_makes_a_surface_whole_again(void** state) {
    (void)state;
    srSoup cube = {0}, loose = {0};
    srMakeCube(&cube, 3);
    for (int32_t t = 0; t < cube.triangleCount; t++) {
        int32_t corners[3];
        for (int c = 0; c < 3; c++) {
            double x[3];
            srSoup_GetCorner(&cube, t, c, x);
            corners[c] = srSoup_AddPoint(&loose, x[0], x[1], x[2]);
        }
        srSoup_AddTriangle(&loose, corners[0], corners[1], corners[2]);
        srSoup_AddTriangle(&loose, corners[0], corners[2], corners[1]);
        srSoup_AddTriangle(&loose, corners[0], corners[0], corners[1]);
    }
    assert_false(srSoup_IsClosed(&loose));
    srSoup welded = srWeldSoup(&loose);
    assert_int_equal(welded.triangleCount, cube.triangleCount);
    srFreeSoup(&welded);
    srFreeSoup(&loose);
    srFreeSoup(&cube);
}

static bool areSame(const srSoup* a, const srSoup* b) {
    return a->pointCount == b->pointCount && a->triangleCount == b->triangleCount &&
           memcmp(a->points, b->points, 3 * sizeof(float) * (size_t)a->pointCount) == 0 &&
           memcmp(a->triangles, b->triangles, 3 * sizeof(int32_t) * (size_t)a->triangleCount) == 0;
}

// What is repaired is closed, but where a hole is larger than any that is closed: then it lacks triangles
// too.
static bool isGoal(const srSoup* repaired, const srSoup* whole) {
    return srSoup_IsClosed(repaired) || repaired->triangleCount < whole->triangleCount;
}

static void damage_hurts_is_reproducible_and_leaves_a_goal(void** state) {
    (void)state;
    int32_t damageCount = 0;
    const srDamage* damages = srGetDamages(&damageCount);
    srSoup ball = {0};
    srMakeBall(&ball, 24, 12, 1.0);
    for (int32_t d = 0; d < damageCount; d++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            srPatient first = srCreatePatient(&ball, seed), second = srCreatePatient(&ball, seed);
            damages[d].inflict(&first);
            damages[d].inflict(&second);
            if (!areSame(&first.skin, &second.skin) || areSame(&first.skin, &ball) ||
                !isGoal(&first.repaired, &ball) || !srSoup_IsClosed(&first.widest)) {
                fail_msg("%s, seed %d", damages[d].name, (int)seed);
            }
            srDestroyPatient(&first);
            srDestroyPatient(&second);
        }
    }
    srFreeSoup(&ball);
    assert_true(damageCount >= 20);
}

static void there_are_five_hundred_damaged_cases_of_all_sorts(void** state) {
    (void)state;
    int32_t damaged = 0, nothing = 0;
    for (int32_t i = 0; i < srCountCases(); i++) {
        // making all of them takes a while; all that are not damaged and a few of the rest tell as much
        if (i >= 110 && i % 40 != 0 && i != srCountCases() - 1) {
            damaged++;
            continue;
        }
        srCase made = srMakeCase(i);
        damaged += made.family == sr_familyDamaged;
        nothing += made.expectation == sr_expectNothing;
        assert_true(made.wantedNodes >= 50 && made.name[0] != 0 && made.patient.skin.triangleCount > 0);
        srDestroyCase(&made);
    }
    assert_true(damaged >= 500);
    assert_true(nothing >= 3);
}

static void crashHere(const srCase* testCase, srVerdict* verdict) {
    (void)testCase;
    (void)verdict;
    raise(SIGKILL);
}

static void spinHere(const srCase* testCase, srVerdict* verdict) {
    (void)testCase;
    for (volatile int64_t* count = (volatile int64_t*)&verdict->seconds;;) {
        ++*count;
    }
}

static void answerHere(const srCase* testCase, srVerdict* verdict) {
    verdict->outcome = sr_outcomeFits;
    verdict->seconds = testCase->wantedNodes;
}

static void a_crash_and_a_hang_are_outcomes(void** state) {
    (void)state;
    const srCase testCase = {.expectation = sr_expectFit, .wantedNodes = 77};
    assert_int_equal(srRunApart(crashHere, &testCase, 10).outcome, sr_outcomeCrash);
    assert_int_equal(srRunApart(spinHere, &testCase, 1).outcome, sr_outcomeHang);
    srVerdict answer = srRunApart(answerHere, &testCase, 10);
    assert_int_equal(answer.outcome, sr_outcomeFits);
    assert_true(answer.isAsExpected);
    assert_near(answer.seconds, 77.0, 0.0);
}

static void what_is_refused_says_why(void** state) {
    (void)state;
    srCase testCase = srMakeCase(0);
    testCase.wantedNodes = 3;
    srVerdict verdict = srRunCase(&testCase);
    assert_int_equal(verdict.outcome, sr_outcomeRefused);
    assert_false(verdict.isAsExpected);
    assert_true(strlen(verdict.text) > 20);
    srDestroyCase(&testCase);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_closed_or_say_so),
        cmocka_unit_test(welding_makes_a_surface_whole_again),
        cmocka_unit_test(damage_hurts_is_reproducible_and_leaves_a_goal),
        cmocka_unit_test(there_are_five_hundred_damaged_cases_of_all_sorts),
        cmocka_unit_test(a_crash_and_a_hang_are_outcomes),
        cmocka_unit_test(what_is_refused_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
