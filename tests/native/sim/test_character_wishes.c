// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a caller may wish of the inside of a skin, and what the report says of it.

#include "support/support.h"

#include "mesh/touching.h"
#include "sim/character.h"
#include "softrig/softrig.h"

#define TEXT_SIZE 400

static srCharacterReport prepare(const Soup* soup, srCharacterDef def) {
    srSource source;
    srCharacter character;
    def.skinPositions = soup->points;
    def.skinVertexCount = soup->pointCount;
    def.skinTriangles = soup->triangles;
    def.skinTriangleCount = soup->triangleCount;
    def.targetNodeCount = 400;
    assert_success(srCopySource(&def, &source));
    assert_success(srPrepareCharacter(&source, NULL, &character));
    srCharacterReport report = character.report;
    srDestroyCharacterRest(&character);
    srDestroySource(&source);
    return report;
}

// A ball without its cap above z = 0.8: a hole of diameter 1.2 in bounds of diagonal 3.3.
static void addBowl(Soup* soup) {
    addSphere(soup, 4, 1.0, 0.0, 0.0, 0.0);
    int32_t kept = 0;
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        const int32_t* c = soup->triangles + 3 * t;
        bool isCap = true;
        for (int corner = 0; corner < 3; corner++) {
            isCap = isCap && soup->points[3 * c[corner] + 2] > 0.8f;
        }
        if (!isCap) {
            memmove(soup->triangles + 3 * kept++, c, 3 * sizeof(int32_t));
        }
    }
    soup->triangleCount = kept;
}

static void holes_are_closed_up_to_the_wish(void** state) {
    (void)state;
    Soup soup = {0};
    srCharacterDef def = srDefaultCharacterDef();
    addBowl(&soup);
    def.largestHole = 0.6f;
    srCharacterReport closed = prepare(&soup, def);
    assert_int_equal(closed.closedHoleCount, 1);
    assert_int_equal(closed.openRimCount, 0);
    def.largestHole = 0.1f;
    srCharacterReport open = prepare(&soup, def);
    assert_int_equal(open.closedHoleCount, 0);
    assert_int_equal(open.openRimCount, 1);
    freeSoup(&soup);
}

static void hollows_stay_or_are_filled(void** state) {
    (void)state;
    Soup soup = {0};
    srCharacterDef def = srDefaultCharacterDef();
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    int32_t first = soup.triangleCount;
    addSphere(&soup, 4, 0.6, 0.0, 0.0, 0.0);
    for (int32_t t = first; t < soup.triangleCount; t++) {
        int32_t* c = soup.triangles + 3 * t;
        int32_t swap = c[0];
        c[0] = c[1];
        c[1] = swap;
    }
    srCharacterReport hollow = prepare(&soup, def);
    assert_int_equal(hollow.cavityCount, 1);
    def.fillsHollows = true;
    srCharacterReport filled = prepare(&soup, def);
    assert_int_equal(filled.cavityCount, 0);
    assert_int_equal(filled.swallowedPatchCount, 1);
    // 1 - 0.6^3
    assert_near((double)(hollow.insideVolume / filled.insideVolume), 0.784, 0.04);
    freeSoup(&soup);
}

static void fingers_that_all_but_touch_stay_apart_or_are_joined(void** state) {
    (void)state;
    Soup soup = {0};
    srCharacterDef def = srDefaultCharacterDef();
    addHand(&soup, 3, 0.05);
    srCharacterReport apart = prepare(&soup, def);
    assert_int_equal(apart.cagePieceCount, 1);
    assert_true(apart.copyCount > 0);
    def.joinsTouching = true;
    srCharacterReport joined = prepare(&soup, def);
    assert_int_equal(joined.cagePieceCount, 1);
    assert_int_equal(joined.copyCount, 0);
    freeSoup(&soup);
}

// The sentence that preparing fails with, into the caller's memory; an empty one when it does not fail
static void failToPrepare(const Soup* soup, char text[TEXT_SIZE]) {
    srCharacterDef def = srDefaultCharacterDef();
    srSource source;
    srCharacter character;
    def.skinPositions = soup->points;
    def.skinVertexCount = soup->pointCount;
    def.skinTriangles = soup->triangles;
    def.skinTriangleCount = soup->triangleCount;
    assert_success(srCopySource(&def, &source));
    srResult result = srPrepareCharacter(&source, NULL, &character);
    snprintf(text, TEXT_SIZE, "%s", result != sr_success ? srGetErrorText() : "");
    assert_true(result == sr_success || result == sr_errorBadMesh || result == sr_errorNoInside);
    srDestroyCharacterRest(&character);
    srDestroySource(&source);
}

static void numbers_that_cannot_hold_the_shape_are_told_of(void** state) {
    (void)state;
    static const double places[] = {0.0, 1e4, 1e7, 1e20};
    char text[TEXT_SIZE];
    for (int place = 0; place < 4; place++) {
        Soup soup = {0};
        addSphere(&soup, 4, 0.3, places[place], 0.0, 0.0);
        failToPrepare(&soup, text);
        assert_int_equal(strstr(text, "cannot hold its shape") != NULL, place >= 2);
        assert_int_equal(text[0] != 0, place >= 2);
        freeSoup(&soup);
    }
    // what fails for a reason of its own keeps its sentence, far away or not
    float flat[] = {1e4f, 0.0f, 0.0f, 1e4f, 1.0f, 0.0f, 1e4f, 2.0f, 0.0f};
    int32_t corners[] = {0, 1, 2};
    Soup line = {.points = flat, .pointCount = 3, .triangles = corners, .triangleCount = 1};
    failToPrepare(&line, text);
    assert_non_null(strstr(text, "has an area"));
}

static void reports_count_every_cell_once_in_each_histogram(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    srCharacterReport report = prepare(&soup, srDefaultCharacterDef());
    int32_t angles = 0, aspects = 0;
    for (int bin = 0; bin < SR_DIHEDRAL_BINS; bin++) {
        angles += report.dihedralCounts[bin];
    }
    for (int bin = 0; bin < SR_ASPECT_BINS; bin++) {
        aspects += report.aspectCounts[bin];
    }
    assert_int_equal(angles, 6 * report.cellCount);
    assert_int_equal(aspects, report.cellCount);
    assert_true(report.cellSize > 0.0f && report.volume >= report.insideVolume);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(holes_are_closed_up_to_the_wish, srTestNothingLeaked),
        cmocka_unit_test_teardown(hollows_stay_or_are_filled, srTestNothingLeaked),
        cmocka_unit_test_teardown(fingers_that_all_but_touch_stay_apart_or_are_joined, srTestNothingLeaked),
        cmocka_unit_test_teardown(numbers_that_cannot_hold_the_shape_are_told_of, srTestNothingLeaked),
        cmocka_unit_test_teardown(reports_count_every_cell_once_in_each_histogram, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("sim/character_wishes", tests, NULL, NULL);
}
