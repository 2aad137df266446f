// SPDX-License-Identifier: GPL-3.0-or-later
//
// The checker's own geometry: exact signs, distances, winding numbers and volumes with honest errors.

#include "corpus/measure.h"

#include "corpus/shapes.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 Wide;

// Six times the volume in whole numbers, which need 128 bits.
static int signOfIntegers(const float* p[4]) {
    Wide m[3][3];
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 3; i++) {
            m[r][i] = (int64_t)p[r + 1][i] - (int64_t)p[0][i];
        }
    }
    Wide volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                  m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                  m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return (volume > 0) - (volume < 0);
}

static void signs_are_those_of_whole_numbers(void** state) {
    (void)state;
    uint64_t random = 3;
    int counts[3] = {0};
    for (int run = 0; run < 20000; run++) {
        float p[4][3];
        for (int c = 0; c < 4; c++) {
            for (int i = 0; i < 3; i++) {
                p[c][i] = (float)(int32_t)(0x1000000 * (srSoupRandom(&random) - 0.5));
            }
        }
        // all but flat: d on the plane of the others, give or take one
        for (int i = 0; i < 3 && run % 2 == 0; i++) {
            p[3][i] = p[1][i] + p[2][i] - p[0][i] + (float)((run / 2 + i) % 3 - 1) * (float)(run % 4 == 0);
        }
        const float* corners[4] = {p[0], p[1], p[2], p[3]};
        for (int i = 0; i < 12; i++) {
            // what does not fit into a float any more would not be a whole number
            p[i / 3][i % 3] = fmaxf(fminf(p[i / 3][i % 3], 0x1p24f), -0x1p24f);
        }
        int sign = srSignOfVolume(p[0], p[1], p[2], p[3]);
        assert_int_equal(sign, signOfIntegers(corners));
        assert_int_equal(srSignOfVolume(p[1], p[0], p[2], p[3]), -sign);
        counts[sign + 1]++;
    }
    assert_true(counts[0] > 1000 && counts[1] > 1000 && counts[2] > 1000);
}

static void a_cube_winds_once_around_its_inside(void** state) {
    (void)state;
    srSoup cube = {0};
    srMakeCube(&cube, 3);
    srScan scan = srCreateScan(&cube);
    // the sum of 108 angles, each to rounding
    assert_near(srScan_Winding(&scan, (double[]){0.3, -0.2, 0.9}), 1.0, 1e-12);
    assert_near(srScan_Winding(&scan, (double[]){0.3, -0.2, 1.1}), 0.0, 1e-12);
    assert_true(srScan_IsInside(&scan, (double[]){0.999, 0.999, 0.999}));
    srDestroyScan(&scan);
    srFreeSoup(&cube);
}

static void rays_and_angles_agree_on_what_is_inside(void** state) {
    (void)state;
    int32_t count = 0, insideCount = 0;
    const srShape* shapes = srGetShapes(&count);
    uint64_t random = 21;
    for (int32_t i = 0; i < count; i++) {
        srSoup soup = {0};
        shapes[i].make(&soup);
        srScan scan = srCreateScan(&soup);
        assert_int_equal(scan.isClosed, shapes[i].isClosed);
        for (int run = 0; run < 40; run++) {
            double x[3];
            for (int c = 0; c < 3; c++) {
                x[c] = 2.0 * srSoupRandom(&random) - 1.0;
            }
            bool isInside = srScan_IsInside(&scan, x);
            insideCount += isInside;
            assert_int_equal(isInside, fabs(srScan_Winding(&scan, x)) > 0.5);
        }
        srDestroyScan(&scan);
        srFreeSoup(&soup);
    }
    assert_in_range(insideCount, 100, 40 * count - 100);
}

static void distances_to_a_cube_are_right_beside_faces_edges_and_corners(void** state) {
    (void)state;
    srSoup cube = {0};
    srMakeCube(&cube, 4);
    srScan scan = srCreateScan(&cube);
    uint64_t random = 9;
    for (int run = 0; run < 2000; run++) {
        double x[3], outside2 = 0.0, inside = HUGE_VAL, nearest[3];
        int32_t triangle = -1;
        for (int i = 0; i < 3; i++) {
            x[i] = 4.0 * srSoupRandom(&random) - 2.0;
            double beyond = fmax(fabs(x[i]) - 1.0, 0.0);
            outside2 += beyond * beyond;
            inside = fmin(inside, 1.0 - fabs(x[i]));
        }
        double expected = outside2 > 0.0 ? sqrt(outside2) : inside;
        assert_near(srScan_Distance(&scan, x, &triangle, nearest), expected, 1e-12);
        assert_in_range(triangle, 0, cube.triangleCount - 1);
        assert_near(srScan_Distance(&scan, nearest, NULL, NULL), 0.0, 1e-12);
    }
    srDestroyScan(&scan);
    srFreeSoup(&cube);
}

// By the divergence theorem; right for a closed surface that does not pass through itself.
static double volumeOf(const srSoup* soup) {
    double sum = 0.0;
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        double a[3], b[3], c[3];
        srSoup_GetCorner(soup, t, 0, a);
        srSoup_GetCorner(soup, t, 1, b);
        srSoup_GetCorner(soup, t, 2, c);
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6.0;
}

static void volumes_are_within_their_errors(void** state) {
    (void)state;
    int32_t count = 0, tested = 0;
    const srShape* shapes = srGetShapes(&count);
    for (int32_t i = 0; i < count; i++) {
        if (!shapes[i].isClosed || strcmp(shapes[i].name, "overlapping balls") == 0) {
            continue;
        }
        srSoup soup = {0};
        shapes[i].make(&soup);
        double volume = volumeOf(&soup);
        srEstimate closed = srEstimateClosedVolume(&soup, 7);
        // three standard errors, which say little of themselves after eight replicas, and the rounding of
        // sums
        assert_near(closed.value, volume, 4.0 * closed.error + 1e-6 * volume);
        assert_true(closed.error < 0.01 * volume);
        if (soup.triangleCount < 2500) {
            srScan scan = srCreateScan(&soup);
            srEstimate open = srEstimateOpenVolume(&scan, 7);
            assert_near(open.value, volume, 4.0 * open.error + 1e-6 * volume);
            assert_true(open.error < 0.03 * volume);
            srDestroyScan(&scan);
        }
        srFreeSoup(&soup);
        tested++;
    }
    assert_true(tested >= 10);
}

static void what_overlaps_is_counted_once_and_a_cavity_not_at_all(void** state) {
    (void)state;
    srSoup soup = {0}, second = {0};
    srMakeCube(&soup, 2);
    srMakeCube(&second, 2);
    srSoup_Place(&second, (double[]){1.0, 1.0, 1.0}, (double[]){1.0, 0.0, 0.0});
    srSoup_Append(&soup, &second);
    srEstimate both = srEstimateClosedVolume(&soup, 3);
    assert_near(both.value, 12.0, 1e-5);

    // the second turned round and smaller
    srFreeSoup(&soup);
    srMakeCube(&soup, 2);
    srSoup_Place(&second, (double[]){-0.5, 0.5, 0.5}, (double[]){0.5, 0.0, 0.0});
    srSoup_Append(&soup, &second);
    srEstimate hollow = srEstimateClosedVolume(&soup, 3);
    assert_near(hollow.value, 7.0, 4.0 * hollow.error + 1e-5);
    srFreeSoup(&soup);
    srFreeSoup(&second);
}

static void a_sheet_gets_a_thickness_and_a_solid_none(void** state) {
    (void)state;
    srSoup cube = {0}, sheet = {0};
    srMakeCube(&cube, 4);
    srScan scan = srCreateScan(&cube);
    assert_near(srEstimateThinVolume(&scan, 0.2, 5).value, 0.0, 0.0);
    srDestroyScan(&scan);

    // a square of 2 x 2, both sides, 0.1 each: 0.8, and half a cylinder at the four edges
    int32_t count = 0;
    const srShape* shapes = srGetShapes(&count);
    assert_string_equal(shapes[count - 1].name, "plane");
    shapes[count - 1].make(&sheet);
    scan = srCreateScan(&sheet);
    srEstimate thin = srEstimateThinVolume(&scan, 0.2, 5);
    assert_near(thin.value, 0.8 + 8.0 * 0.5 * 3.14159265 * 0.01, 4.0 * thin.error);
    srDestroyScan(&scan);
    srFreeSoup(&cube);
    srFreeSoup(&sheet);
}

static void points_are_picked_evenly_by_area(void** state) {
    (void)state;
    srSoup slab = {0};
    srMakeCube(&slab, 3);
    srSoup_Place(&slab, (double[]){1.0, 1.0, 0.25}, (double[]){0.0, 0.0, 0.0});
    srScan scan = srCreateScan(&slab);
    double* areas = srSumAreas(&scan);
    uint64_t random = 77;
    int onTop = 0;
    for (int i = 0; i < 4000; i++) {
        double x[3];
        srPickPoint(&scan, areas, &random, x);
        assert_near(srScan_Distance(&scan, x, NULL, NULL), 0.0, 1e-12);
        onTop += fabs(x[2]) > 0.2499;
    }
    // two faces of 4 among 12 of area; three standard deviations of 4000 throws are 0.022
    assert_near(onTop / 4000.0, 8.0 / 12.0, 0.022);
    free(areas);
    srDestroyScan(&scan);
    srFreeSoup(&slab);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_are_those_of_whole_numbers),
        cmocka_unit_test(a_cube_winds_once_around_its_inside),
        cmocka_unit_test(rays_and_angles_agree_on_what_is_inside),
        cmocka_unit_test(distances_to_a_cube_are_right_beside_faces_edges_and_corners),
        cmocka_unit_test(volumes_are_within_their_errors),
        cmocka_unit_test(what_overlaps_is_counted_once_and_a_cavity_not_at_all),
        cmocka_unit_test(a_sheet_gets_a_thickness_and_a_solid_none),
        cmocka_unit_test(points_are_picked_evenly_by_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
