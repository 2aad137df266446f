// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/weld.h"

#include "mesh/soups.h"

static srWelded weld(const Soup* soup) {
    const srProgress nobody = {0};
    srSurface surface = makeSurface(soup);
    srWelded welded;
    assert_success(srWeldSurface(&surface, &nobody, &welded));
    srDestroySurface(&surface);
    return welded;
}

static void every_side_of_a_closed_mesh_has_a_mate(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    explode(&soup, 0.0);
    shuffleTriangles(&soup, 5);
    srWelded welded = weld(&soup);
    assert_int_equal(welded.triangleCount, 320);
    assert_int_equal(welded.weldedCount, 960 - 162);
    for (int32_t side = 0; side < 960; side++) {
        int32_t mate = welded.mates[side];
        assert_true(mate >= 0 && welded.mates[mate] == side);
        const int32_t *here = welded.triangles[side / 3], *there = welded.triangles[mate / 3];
        assert_int_equal(here[side % 3], there[(mate + 1) % 3]);
        assert_int_equal(here[(side + 1) % 3], there[mate % 3]);
    }
    srDestroyWelded(&welded);
    freeSoup(&soup);
}

static void zero_has_no_sign_and_near_is_not_the_same(void** state) {
    (void)state;
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 1.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 1.0, 0.0);
    addPoint(&soup, -0.0, -0.0, 0.0);
    addPoint(&soup, 1.0000001, 0.0, 0.0);
    addPoint(&soup, 0.0, 0.0, 1.0);
    addTriangle(&soup, 0, 1, 2);
    addTriangle(&soup, 3, 2, 5);
    addTriangle(&soup, 3, 4, 5);
    srWelded welded = weld(&soup);
    assert_int_equal(welded.weldedCount, 1);
    assert_int_equal(welded.mates[2], 3);
    assert_int_equal(welded.mates[0], SR_SIDE_ALONE);
    assert_int_equal(welded.mates[6], SR_SIDE_ALONE);
    srDestroyWelded(&welded);
    freeSoup(&soup);
}

static void an_edge_of_many_has_no_mates_but_is_found(void** state) {
    (void)state;
    enum {
        pages = 500
    };
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 0.0, 1.0);
    for (int p = 0; p < pages; p++) {
        int32_t tip = addPoint(&soup, cos(p * 0.01), sin(p * 0.01), 0.5);
        addTriangle(&soup, p % 2, 1 - p % 2, tip);
    }
    srWelded welded = weld(&soup);
    int32_t first, count;
    const srKeyed* sides = srFindSides(&welded, 3 * 77, 10, &first, &count);
    assert_int_equal(count, 10);
    sides = srFindSides(&welded, 3 * 77, 2 * pages, &first, &count);
    assert_int_equal(count, pages);
    for (int32_t i = first; i < first + count; i++) {
        assert_int_equal(sides[i].value % 3, 0);
        assert_int_equal(welded.mates[sides[i].value], SR_SIDE_SHARED);
    }
    srDestroyWelded(&welded);
    freeSoup(&soup);
}

// Counts of triangles kept, of those of the first part, and of sides without a mate
typedef struct Kept {
    int32_t all, first, loose;
} Kept;

static Kept keep(Soup* soup, int32_t firstCount) {
    srWelded welded = weld(soup);
    Kept kept = {.all = welded.triangleCount};
    for (int32_t t = 0; t < welded.triangleCount; t++) {
        kept.first += welded.sources[t] < firstCount;
        for (int side = 3 * t; side < 3 * t + 3; side++) {
            int32_t mate = welded.mates[side];
            kept.loose += mate < 0;
            assert_true(mate < 0 || welded.mates[mate] == side);
        }
    }
    assert_int_equal(welded.duplicateCount, soup->triangleCount - kept.all);
    srDestroyWelded(&welded);
    freeSoup(soup);
    return kept;
}

static void bodies_in_contact_keep_their_walls(void** state) {
    (void)state;
    const double size[3] = {1.0, 1.0, 1.0};
    for (int kind = 0; kind < 4; kind++) {
        Soup soup = {0};
        addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, size);
        addBox(&soup, (const double[3]){1.0, 0.0, 0.0}, size); // at a face
        addBox(&soup, (const double[3]){1.0, 1.0, 0.0}, size); // at a face of that, and at an edge
        flipSome(&soup, 0, kind & 1 ? 12 : 0, 1);
        flipSome(&soup, 12, kind & 2 ? 24 : 12, 1);
        Kept kept = keep(&soup, 12);
        assert_int_equal(kept.all, 36);
        assert_int_equal(kept.first, 12);
        assert_int_equal(kept.loose, 0);
    }
}

static void an_open_body_keeps_its_walls_too(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    soup.triangleCount -= 20; // a neck
    int32_t body = soup.triangleCount, first = soup.pointCount, wall = 60;
    // a patch of it is the floor of a pouch: its points, and others above
    for (int32_t v = 0; v < 2 * first; v++) {
        const float* p = soup.points + 3 * (v % first);
        double scale = v < first ? 1.0 : 1.1;
        addPoint(&soup, scale * (double)p[0], scale * (double)p[1], scale * (double)p[2]);
    }
    for (int32_t t = 0; t < wall; t++) {
        const int32_t c[3] = {soup.triangles[3 * t], soup.triangles[3 * t + 1], soup.triangles[3 * t + 2]};
        addTriangle(&soup, first + c[0], first + c[2], first + c[1]);
        addTriangle(&soup, 2 * first + c[0], 2 * first + c[1], 2 * first + c[2]);
        for (int side = 0; side < 3; side++) {
            int32_t from = c[side], to = c[(side + 1) % 3];
            bool isRim = true;
            for (int32_t k = 0; k < 3 * wall; k++) {
                int32_t next = k % 3 == 2 ? k - 2 : k + 1;
                isRim = isRim && !(soup.triangles[k] == to && soup.triangles[next] == from);
            }
            if (isRim) {
                addTriangle(&soup, first + from, first + to, 2 * first + to);
                addTriangle(&soup, first + from, 2 * first + to, 2 * first + from);
            }
        }
    }
    int32_t all = soup.triangleCount;
    Kept kept = keep(&soup, body);
    assert_int_equal(kept.all, all);
    assert_int_equal(kept.first, body);
    assert_true(kept.loose > 0 && kept.loose <= 60); // the neck's
}

static void copies_and_what_encloses_nothing_go(void** state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        Soup soup = {0};
        addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
        int32_t first = soup.triangleCount;
        if (kind < 2) { // given twice, or inside out
            addSphere(&soup, 3, kind == 0 ? 1.0 : -1.0, 0.0, 0.0, 0.0);
        } else if (kind == 2) { // half of it
            addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
            soup.triangleCount -= first / 2;
        } else { // some of its triangles, each for itself
            explode(&soup, 0.0);
            addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
        }
        Kept kept = keep(&soup, first);
        assert_int_equal(kept.all, first);
        assert_int_equal(kept.first, kind < 3 ? first : 0);
        assert_int_equal(kept.loose, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_side_of_a_closed_mesh_has_a_mate, srTestNothingLeaked),
        cmocka_unit_test_teardown(zero_has_no_sign_and_near_is_not_the_same, srTestNothingLeaked),
        cmocka_unit_test_teardown(an_edge_of_many_has_no_mates_but_is_found, srTestNothingLeaked),
        cmocka_unit_test_teardown(bodies_in_contact_keep_their_walls, srTestNothingLeaked),
        cmocka_unit_test_teardown(an_open_body_keeps_its_walls_too, srTestNothingLeaked),
        cmocka_unit_test_teardown(copies_and_what_encloses_nothing_go, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/weld", tests, NULL, NULL);
}
