// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/solid.h"

#include "mesh/soups.h"

#include "core/parallel.h"

#include <time.h>

static const srVec3 origin = {0.0, 0.0, 0.0};

// the icosphere of 3 levels lies up to 0.7 % within its sphere
#define SPHERE_MARGIN 0.02

static bool inSphere(srVec3 p) {
    return srLength(p) < 1.0;
}

static void checkSphere(const Soup* soup, srSolidReport* outReport) {
    srSolid solid = makeSolid(soup, NULL, outReport);
    checkInside(&solid, inSphere, 1.5, SPHERE_MARGIN, 1.0, origin);
    srDestroySolid(&solid);
}

static Soup makeSphereSoup(void) {
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    return soup;
}

static void what_is_whole_needs_no_repair(void** state) {
    (void)state;
    Soup soup = makeSphereSoup();
    srSolidReport report;
    checkSphere(&soup, &report);
    const srSolidReport expected = {.patchCount = 1, .pieceCount = 1, .isWatertight = true};
    assert_memory_equal(&report, &expected, sizeof(report));
    srSolid solid = makeSolid(&soup, NULL, NULL);
    // the polyhedron's own, a little less than the sphere's
    assert_near(solid.volume, 4.15, 0.04);
    assert_near(solid.area, 12.5, 0.1);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static void faces_may_point_anywhere(void** state) {
    (void)state;
    srSolidReport report;
    // all, many, few
    for (int32_t step = 1; step < 40; step = 3 * step + 1) {
        Soup soup = makeSphereSoup();
        flipSome(&soup, 0, soup.triangleCount, step);
        checkSphere(&soup, &report);
        assert_int_equal(report.turnedPatchCount, step == 1);
        assert_int_equal(report.flippedTriangleCount, step == 1 ? 0 : (soup.triangleCount + step - 1) / step);
        assert_true(report.isWatertight);
        freeSoup(&soup);
    }
}

static void doubles_count_once_whichever_way_they_face(void** state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        Soup soup = makeSphereSoup();
        int32_t count = soup.triangleCount;
        for (int32_t t = 0; t < count; t += kind == 2 ? 5 : 1) {
            const int32_t* c = soup.triangles + 3 * t;
            int32_t a = c[0], b = c[1], d = c[2];
            addTriangle(&soup, b, kind == 1 ? a : d, kind == 1 ? d : a);
        }
        srSolidReport report;
        int32_t added = soup.triangleCount - count;
        checkSphere(&soup, &report);
        assert_int_equal(report.duplicateCount, added);
        freeSoup(&soup);
    }
}

static void points_at_the_same_place_are_one(void** state) {
    (void)state;
    Soup soup = makeSphereSoup();
    int32_t shared = soup.pointCount;
    explode(&soup, 0.0);
    srSolidReport report;
    checkSphere(&soup, &report);
    assert_int_equal(report.weldedPointCount, soup.pointCount - shared);
    assert_int_equal(report.patchCount, 1);
    assert_true(report.isWatertight);
    freeSoup(&soup);
}

static void loose_triangles_around_a_place_enclose_it(void** state) {
    (void)state;
    srSolidReport report;
    for (int kind = 0; kind < 3; kind++) {
        Soup soup = makeSphereSoup();
        if (kind == 1) {
            flipAll(&soup);
        } else if (kind == 2) {
            flipSome(&soup, 3, soup.triangleCount, 20);
        }
        explode(&soup, 0.02);
        srSolid solid = makeSolid(&soup, NULL, &report);
        // near gaps the winding number is what it likes
        checkInside(&solid, inSphere, 1.5, 0.06, 1.0, origin);
        assert_int_equal(report.patchCount, soup.triangleCount);
        assert_int_equal(report.sheetCount, 0);
        assert_false(report.isWatertight);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static bool inTwoSpheres(srVec3 p) {
    return srLength(p) < 1.0 || srDistance(p, (srVec3){0.9, 0.2, 0.0}) < 0.6;
}

static void overlapping_pieces_are_joined(void** state) {
    (void)state;
    for (int inward = 0; inward < 4; inward++) {
        Soup soup = {0};
        addSphere(&soup, 3, inward & 1 ? -1.0 : 1.0, 0.0, 0.0, 0.0);
        addSphere(&soup, 3, inward & 2 ? -0.6 : 0.6, 0.9, 0.2, 0.0);
        srSolidReport report;
        srSolid solid = makeSolid(&soup, NULL, &report);
        checkInside(&solid, inTwoSpheres, 1.7, SPHERE_MARGIN, 1.0, origin);
        assert_int_equal(report.pieceCount, 2);
        assert_int_equal(report.turnedPatchCount, (inward & 1) + (inward >> 1));
        assert_int_equal(report.cavityCount + report.swallowedCount, 0);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static bool inSecondSphere(srVec3 p) {
    return srDistance(p, (srVec3){0.9, 0.2, 0.0}) < 0.6;
}

static void a_piece_can_be_taken_alone(void** state) {
    (void)state;
    const srProgress nobody = {0};
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 3, -0.6, 0.9, 0.2, 0.0);
    srSolid solid = makeSolid(&soup, NULL, NULL), piece;
    assert_success(srTakePiece(&solid, 1, &nobody, &piece));
    checkInside(&piece, inSecondSphere, 1.7, SPHERE_MARGIN, 1.0, origin);
    assert_near(piece.volume, 4.15 * 0.216, 0.01);
    assert_true(piece.shells.lower.x > 0.29);
    assert_result(srTakePiece(&solid, 2, &nobody, &(srSolid){0}), sr_errorNoInside);
    srDestroySolid(&piece);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static bool inHollowSphere(srVec3 p) {
    return srLength(p) < 1.0 && srDistance(p, (srVec3){0.1, 0.0, 0.0}) > 0.5;
}

static bool inPiercedSphere(srVec3 p) {
    return srLength(p) < 1.0 && srDistance(p, (srVec3){0.52, 0.0, 0.0}) > 0.5;
}

static bool inBulgingSphere(srVec3 p) {
    return srLength(p) < 1.0 || srDistance(p, (srVec3){0.52, 0.0, 0.0}) < 0.5;
}

// A sphere and one of half its size so far from its middle
static void requireCavityWhereItFacesOtherwise(double x, InsideFcn* inHollow, InsideFcn* inFilled,
                                               bool isSwallowed) {
    for (int kind = 0; kind < 5; kind++) {
        // outer and inner: + -, - +, + +, - -, and + - filled
        Soup soup = {0};
        addSphere(&soup, 4, kind == 1 || kind == 3 ? -1.0 : 1.0, 0.0, 0.0, 0.0);
        addSphere(&soup, 4, kind == 0 || kind == 3 || kind == 4 ? -0.5 : 0.5, x, 0.0, 0.0);
        srSolidSettings settings = srDefaultSolidSettings();
        settings.fillsCavities = kind == 4;
        srSolidReport report;
        srSolid solid = makeSolid(&soup, &settings, &report);
        checkInside(&solid, kind < 2 ? inHollow : inFilled, 1.5, SPHERE_MARGIN, 1.0, origin);
        assert_int_equal(report.cavityCount, kind < 2);
        assert_int_equal(report.swallowedCount, kind >= 2 && isSwallowed);
        assert_int_equal(report.pieceCount, kind < 2 || isSwallowed ? 1 : 2);
        assert_int_equal(report.turnedPatchCount, kind == 4 ? 1 : kind & 1 ? 2 : 0);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static void a_shell_within_is_a_cavity_if_it_faces_the_other_way(void** state) {
    (void)state;
    requireCavityWhereItFacesOtherwise(0.1, inHollowSphere, inSphere, true);
}

static bool inOnion(srVec3 p) {
    int shell = (int)floor((1.2 - srLength(p)) / 0.2);
    return shell >= 1 && shell % 2 == 1;
}

static bool inBoxes(srVec3 p) {
    double x = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
    return x < 1.0 && (x > 0.7 || x < 0.4);
}

static void addNest(Soup* soup, int depth, bool isOfBoxes, bool isTurned) {
    for (int s = 0; s < depth; s++) {
        double size = isOfBoxes ? 1.0 - 0.3 * s : 1.0 - 0.2 * s;
        int32_t first = soup->triangleCount;
        if (isOfBoxes) {
            addBox(soup, (double[3]){-size, -size, -size}, (double[3]){2 * size, 2 * size, 2 * size});
        } else {
            addSphere(soup, 4, size, 0.0, 0.0, 0.0);
        }
        flipSome(soup, first, (s + isTurned) % 2 == 1 ? soup->triangleCount : first, 1);
    }
}

static void what_lies_in_a_hollow_is_flesh_again_at_any_depth(void** state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        Soup soup = {0};
        bool isOfBoxes = kind >= 2, isTurned = kind % 2 == 1;
        addNest(&soup, isOfBoxes ? 3 : 5, isOfBoxes, isTurned);
        srSolidReport report;
        srSolid solid = makeSolid(&soup, NULL, &report);
        checkInside(&solid, isOfBoxes ? inBoxes : inOnion, 1.5, SPHERE_MARGIN, 1.0, origin);
        assert_int_equal(report.cavityCount, isOfBoxes ? 1 : 2);
        assert_int_equal(report.pieceCount, isOfBoxes ? 2 : 3);
        assert_int_equal(report.swallowedCount, 0);
        assert_int_equal(report.turnedPatchCount, isTurned ? report.patchCount : 0);
        double ball = 4.0 / 3.0 * 3.14159265358979 * (1.0 - 0.512 + 0.216 - 0.064 + 0.008);
        double boxes = 8.0 * (1.0 - 0.343 + 0.064);
        assert_near(solid.volume, isOfBoxes ? boxes : ball, isOfBoxes ? 1e-6 : 0.01 * ball);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static bool inStuddedHollow(srVec3 p) {
    double r = srLength(p);
    return (r < 1.0 && r > 0.7) || srDistance(p, (srVec3){0.75, 0.0, 0.0}) < 0.2 ||
           (fabs(p.z) < 0.05 && fabs(p.x) < 0.3 && fabs(p.y) < 0.3);
}

// A stud that is half in the wall, and a sheet that hangs free.
static void a_hollow_swallows_neither_studs_nor_sheets(void** state) {
    (void)state;
    Soup soup = {0};
    addNest(&soup, 1, false, false);
    addSphere(&soup, 4, -0.7, 0.0, 0.0, 0.0);
    addSphere(&soup, 4, 0.2, 0.75, 0.0, 0.0);
    int32_t a = addPoint(&soup, -0.3, -0.3, 0.0), b = addPoint(&soup, 0.3, -0.3, 0.0);
    int32_t c = addPoint(&soup, 0.3, 0.3, 0.0), d = addPoint(&soup, -0.3, 0.3, 0.0);
    addTriangle(&soup, a, b, c);
    addTriangle(&soup, a, c, d);
    srSolidSettings settings = srDefaultSolidSettings();
    settings.sheetThickness = 0.1 / (2.0 * sqrt(3.0));
    srSolidReport report;
    srSolid solid = makeSolid(&soup, &settings, &report);
    checkInside(&solid, inStuddedHollow, 1.5, 0.06, 1.0, origin);
    assert_int_equal(report.cavityCount, 1);
    assert_int_equal(report.swallowedCount, 0);
    assert_int_equal(report.sheetCount, 1);
    assert_int_equal(report.pieceCount, 3);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

// A fiftieth of it lies outside: a hollow is one still, and what faces as the outer one does is flesh there.
static void a_shell_that_pokes_out_a_little_is_a_cavity_too(void** state) {
    (void)state;
    requireCavityWhereItFacesOtherwise(0.52, inPiercedSphere, inBulgingSphere, false);
}

static bool isSmallHole(srVec3 p) {
    return p.z > 0.985;
}

static bool isUpperHalf(srVec3 p) {
    return p.z > 0.02;
}

static bool inLowerHalf(srVec3 p) {
    return srLength(p) < 1.0 && p.z < 0.0;
}

static void small_holes_are_closed(void** state) {
    (void)state;
    for (int inward = 0; inward < 2; inward++) {
        Soup soup = {0};
        addSphere(&soup, 3, inward ? -1.0 : 1.0, 0.0, 0.0, 0.0);
        removeWhere(&soup, isSmallHole);
        srSolidReport report;
        srSolid solid = makeSolid(&soup, NULL, &report);
        // the cap cuts off what is above it
        checkInside(&solid, inSphere, 1.5, 0.06, 1.0, origin);
        assert_int_equal(report.closedHoleCount, 1);
        assert_int_equal(report.openRimCount, 0);
        assert_true(report.isWatertight);
        srDestroySolid(&solid);

        const srSolidSettings none = {.sheetThickness = 0.01};
        solid = makeSolid(&soup, &none, &report);
        checkInside(&solid, inSphere, 1.5, 0.06, 1.0, origin);
        assert_int_equal(report.closedHoleCount, 0);
        assert_int_equal(report.openRimCount, 1);
        assert_false(report.isWatertight);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static void a_large_hole_has_a_flat_lid_for_a_flat_rim(void** state) {
    (void)state;
    for (int inward = 0; inward < 2; inward++) {
        Soup soup = {0};
        addSphere(&soup, 3, inward ? -1.0 : 1.0, 0.0, 0.0, 0.0);
        removeWhere(&soup, isUpperHalf);
        srSolidReport report;
        srSolid solid = makeSolid(&soup, NULL, &report);
        // the rim is a zigzag of half an edge about z = 0.05
        checkInside(&solid, inLowerHalf, 1.5, 0.1, 1.0, origin);
        assert_int_equal(report.openRimCount, 1);
        assert_int_equal(report.sheetCount, 0);

        // no jump in the lid: halfway down, the way to it is what it looks
        srField field = srMakeField(&solid, 0.0);
        double before = srField_Value(&field, (srVec3){0.0, 0.0, -0.3});
        for (double z = -0.3; z < 0.5; z += 1e-3) {
            double phi = srField_Value(&field, (srVec3){0.05, 0.1, z});
            // the distance changes as one goes; what stands for it by the slope may be steeper, no cliff
            assert_true(fabs(phi - before) < 0.006 || z == -0.3);
            before = phi;
        }
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static void addGrid(Soup* soup, int32_t n, bool isTurnedBack) {
    int32_t first = soup->pointCount;
    for (int32_t i = 0; i < n * n; i++) {
        addPoint(soup, 2.0 * (i % n) / (n - 1) - 1.0, 2.0 * (i / n) / (n - 1) - 1.0, 0.0);
    }
    for (int32_t i = 0; i < (n - 1) * (n - 1); i++) {
        int32_t a = first + i / (n - 1) * n + i % (n - 1), b = a + 1, c = a + n, d = c + 1;
        addTriangle(soup, a, isTurnedBack ? d : b, isTurnedBack ? b : d);
        addTriangle(soup, a, isTurnedBack ? c : d, isTurnedBack ? d : c);
    }
}

// 0.1 of a size of sqrt(8)
static bool inSlab(srVec3 p) {
    double x = fmax(fabs(p.x) - 1.0, 0.0), y = fmax(fabs(p.y) - 1.0, 0.0);
    return x * x + y * y + p.z * p.z < 0.02;
}

static void a_sheet_becomes_a_slab(void** state) {
    (void)state;
    srSolidSettings settings = srDefaultSolidSettings();
    settings.sheetThickness = 0.1;
    // one side, some faces turned, both sides, both sides with other points (nothing to weld)
    for (int kind = 0; kind < 4; kind++) {
        Soup soup = {0};
        addGrid(&soup, 9, false);
        if (kind == 1) {
            flipSome(&soup, 0, soup.triangleCount, 3);
        } else if (kind >= 2) {
            addGrid(&soup, kind == 2 ? 9 : 12, true);
        }
        srSolidReport report;
        srSolid solid = makeSolid(&soup, &settings, &report);
        checkInside(&solid, inSlab, 1.3, 0.01, 1.0, origin);
        assert_int_equal(report.sheetCount, kind == 3 ? 2 : 1);
        srDestroySolid(&solid);

        // and nothing else is inside when sheets get no thickness
        settings.sheetThickness = 0.0;
        srSurface surface = makeSurface(&soup);
        const srProgress nobody = {0};
        assert_result(srCreateSolid(&surface, &settings, &nobody, &solid, NULL), sr_errorNoInside);
        srDestroySurface(&surface);
        settings.sheetThickness = 0.1;
        freeSoup(&soup);
    }
}

static void one_triangle_has_an_inside_if_it_gets_a_thickness(void** state) {
    (void)state;
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 3.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 4.0, 0.0);
    addTriangle(&soup, 0, 1, 2);
    srSolid solid = makeSolid(&soup, NULL, NULL);
    srField field = srMakeField(&solid, 0.0);
    assert_near(srField_Value(&field, (srVec3){1.0, 1.0, 0.0}), -0.025, 1e-12);
    assert_near(srField_Value(&field, (srVec3){1.0, 1.0, -2.0}), 1.975, 1e-12);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static void a_strip_with_one_side_is_a_sheet(void** state) {
    (void)state;
    Soup soup = {0};
    const int32_t n = 60;
    for (int32_t i = 0; i < n; i++) {
        double t = 2.0 * 3.14159265358979323846 * i / n;
        for (int side = -1; side <= 1; side += 2) {
            double r = 1.0 + side * 0.3 * cos(0.5 * t);
            addPoint(&soup, r * cos(t), r * sin(t), side * 0.3 * sin(0.5 * t));
        }
    }
    for (int32_t i = 0; i < n; i++) {
        bool isLast = i == n - 1;
        int32_t a = 2 * i, b = a + 1, c = isLast ? 1 : a + 2, d = isLast ? 0 : a + 3;
        addTriangle(&soup, a, c, b);
        addTriangle(&soup, b, c, d);
    }
    srSolidReport report;
    srSolid solid = makeSolid(&soup, NULL, &report);
    assert_true(report.oneSidedEdgeCount > 0);
    assert_int_equal(report.sheetCount, 1);
    srField field = srMakeField(&solid, 0.0);
    uint64_t seed = 5;
    for (int i = 0; i < 500; i++) {
        srVec3 p = randomPoint(&seed, 1.4);
        double distance = srBvh_Distance(solid.sheetTree, p, NULL);
        assert_near(srField_Value(&field, p), distance - solid.halfThickness, 1e-15);
    }
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static bool inSphereWithFin(srVec3 p) {
    double x = fmax(fabs(p.x - 1.25) - 0.75, 0.0), y = fmax(fabs(p.y) - 0.4, 0.0);
    // 0.05 of the size
    return srLength(p) < 1.0 || x * x + y * y + p.z * p.z < 0.092 * 0.092;
}

static void a_fin_on_a_body_gets_a_thickness(void** state) {
    (void)state;
    Soup soup = makeSphereSoup();
    int32_t first = addPoint(&soup, 0.5, -0.4, 0.0);
    addPoint(&soup, 2.0, -0.4, 0.0);
    addPoint(&soup, 2.0, 0.4, 0.0);
    addPoint(&soup, 0.5, 0.4, 0.0);
    addTriangle(&soup, first, first + 1, first + 2);
    addTriangle(&soup, first, first + 2, first + 3);
    srSolidSettings settings = srDefaultSolidSettings();
    settings.sheetThickness = 0.05;
    srSolidReport report;
    srSolid solid = makeSolid(&soup, &settings, &report);
    assert_near(solid.halfThickness, 0.092, 0.015);
    checkInside(&solid, inSphereWithFin, 2.3, 0.04, 1.0, origin);
    assert_int_equal(report.sheetCount, 1);
    assert_int_equal(report.thickenedTriangleCount, 2);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static bool inLongBox(srVec3 p) {
    return p.x > -1.0 && p.x < 1.0 && fabs(p.y) < 0.5 && fabs(p.z) < 0.5;
}

// A corner at a place where there is one before is that one.
static void mergeCorners(Soup* soup) {
    for (int32_t corner = 0; corner < 3 * soup->triangleCount; corner++) {
        int32_t first = 0;
        while (memcmp(soup->points + 3 * first, soup->points + 3 * soup->triangles[corner], 12) != 0) {
            first++;
        }
        soup->triangles[corner] = first;
    }
}

static void walls_within_flesh_bound_nothing(void** state) {
    (void)state;
    const double left[3] = {-1.0, -0.5, -0.5}, right[3] = {0.0, -0.5, -0.5}, size[3] = {1.0, 1.0, 1.0};
    // two boxes back to back share a wall, which is there twice; whichever is inside out; as one mesh, or two
    for (int kind = 0; kind < 8; kind++) {
        Soup soup = {0};
        bool isOne = kind >= 4;
        addBox(&soup, left, size);
        addBox(&soup, right, size);
        flipSome(&soup, 0, kind & 1 ? 12 : 0, 1);
        flipSome(&soup, 12, kind & 2 ? 24 : 12, 1);
        if (isOne) {
            mergeCorners(&soup);
        }
        srSolidReport report;
        srSolid solid = makeSolid(&soup, NULL, &report);
        checkInside(&solid, inLongBox, 1.2, 0.01, 1.0, origin);
        assert_int_equal(report.duplicateCount, isOne ? 2 : 0);
        assert_int_equal(report.swallowedCount, isOne ? 1 : 0);
        assert_int_equal(report.pieceCount, isOne ? 1 : 2);
        assert_near(isOne ? 2.0 : solid.volume, 2.0, 1e-6);
        for (int32_t t = 0; t < 24 && !isOne; t++) {
            assert_int_equal(solid.turns[t], (t < 12 ? kind & 1 : kind >> 1 & 1) ? -1 : 1);
            assert_int_equal(solid.trianglePieces[t], t >= 12);
        }
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
}

static bool inCross(srVec3 p) {
    double x = fabs(p.x), y = fabs(p.y), z = fabs(p.z);
    return (x < 0.3) + (y < 0.3) + (z < 0.3) >= 2 && fmax(x, fmax(y, z)) < 0.9;
}

// A box with one on each of its sides: nothing of it looks out.
static void a_body_among_others_that_touch_it_is_flesh(void** state) {
    (void)state;
    Soup soup = {0};
    for (int b = 0; b < 7; b++) {
        double lower[3] = {-0.3, -0.3, -0.3};
        lower[b % 3] += b < 6 ? b < 3 ? -0.6 : 0.6 : 0.0;
        addBox(&soup, lower, (const double[3]){0.6, 0.6, 0.6});
    }
    srSolidReport report;
    srSolid solid = makeSolid(&soup, NULL, &report);
    checkInside(&solid, inCross, 1.0, 0.01, 1.0, origin);
    assert_int_equal(report.pieceCount, 7);
    assert_int_equal(report.swallowedCount, 0);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static void a_thin_box_is_as_thick_as_a_sheet(void** state) {
    (void)state;
    const double lower[3] = {-1.0, -1.0, -0.001}, size[3] = {2.0, 2.0, 0.002};
    Soup soup = {0};
    addBox(&soup, lower, size);
    srSolidReport report;
    srSolid solid = makeSolid(&soup, NULL, &report);
    srField field = srMakeField(&solid, 0.0);
    assert_int_equal(report.thinCount, 1);
    assert_near(srField_Value(&field, (srVec3){0.1, 0.2, 0.1}), 0.099 - solid.halfThickness, 1e-7);
    assert_true(srField_Value(&field, origin) < -0.9 * solid.halfThickness);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

static void odd_points_and_flat_triangles_change_nothing(void** state) {
    (void)state;
    Soup soup = makeSphereSoup();
    for (int i = 0; i < 3000; i++) {
        int32_t nan = addPoint(&soup, (double)NAN, 0.0, i % 3);
        int32_t inf = addPoint(&soup, 0.0, HUGE_VAL, 0.0);
        int32_t far = addPoint(&soup, 9.0, 9.0, 9.0);
        addTriangle(&soup, i % 100, nan, inf);
        addTriangle(&soup, i % 100, i % 100, far);
    }
    srSolidReport report;
    checkSphere(&soup, &report);
    assert_true(report.isWatertight);
    freeSoup(&soup);
}

static void size_and_place_do_not_matter(void** state) {
    (void)state;
    const double scales[] = {1e-30, 1e-6, 1e-3, 1e3, 1e6, 1e30};
    for (int i = 0; i < SR_ARRAY_COUNT(scales); i++) {
        Soup soup = makeSphereSoup();
        moveSoup(&soup, scales[i], origin);
        srSolid solid = makeSolid(&soup, NULL, NULL);
        checkInside(&solid, inSphere, 1.5, SPHERE_MARGIN, scales[i], origin);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
    // ten thousand sizes away a float still tells a few hundredths of an edge
    Soup soup = makeSphereSoup();
    const srVec3 far = {2e4, -3e4, 1e4};
    moveSoup(&soup, 1.0, far);
    srSolid solid = makeSolid(&soup, NULL, NULL);
    checkInside(&solid, inSphere, 1.5, 0.03, 1.0, far);
    srDestroySolid(&solid);
    freeSoup(&soup);
}

// everything at once: a body with a hole, a hollow, a second piece, a fin
static Soup makeMess(void) {
    Soup soup = {0};
    addSphere(&soup, 3, -1.0, 0.0, 0.0, 0.0);
    removeWhere(&soup, isSmallHole);
    addSphere(&soup, 2, 0.4, 0.1, 0.0, 0.0);
    addSphere(&soup, 2, 0.5, 0.9, 0.4, 0.3);
    flipSome(&soup, 5, soup.triangleCount, 11);
    int32_t first = addPoint(&soup, -0.5, 0.0, 0.0);
    addPoint(&soup, -2.0, 0.0, 0.3);
    addPoint(&soup, -2.0, 0.8, 0.0);
    addTriangle(&soup, first, first + 1, first + 2);
    return soup;
}

static void order_and_pose_of_the_mesh_do_not_matter(void** state) {
    (void)state;
    Soup soup = makeMess(), other = makeMess();
    shuffleTriangles(&other, 31);
    // a quarter turn about z and a doubling: exact in float
    for (int32_t v = 0; v < other.pointCount; v++) {
        float* p = other.points + 3 * v;
        float x = p[0];
        p[0] = -2.0f * p[1];
        p[1] = 2.0f * x;
        p[2] = 2.0f * p[2];
    }
    srSolidReport report, otherReport;
    srSolid solid = makeSolid(&soup, NULL, &report), otherSolid = makeSolid(&other, NULL, &otherReport);
    assert_memory_equal(&report, &otherReport, sizeof(report));
    assert_int_equal(report.cavityCount, 1);
    assert_int_equal(report.sheetCount, 1);
    assert_int_equal(report.closedHoleCount, 1);
    srField field = srMakeField(&solid, 0.01), otherField = srMakeField(&otherSolid, 0.02);
    uint64_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        srVec3 p = randomPoint(&seed, 2.0);
        double phi = srField_Value(&field, p);
        double turned = srField_Value(&otherField, (srVec3){-2.0 * p.y, 2.0 * p.x, 2.0 * p.z});
        // sums in another order
        assert_near(0.5 * turned, phi, 1e-6);
    }
    srDestroySolid(&solid);
    srDestroySolid(&otherSolid);
    freeSoup(&soup);
    freeSoup(&other);
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    Soup soup = makeMess();
    const int32_t workers[] = {1, 2, 4};
    double first[300];
    int32_t before = srParallel_GetWorkerCount();
    for (int w = 0; w < SR_ARRAY_COUNT(workers); w++) {
        srParallel_SetWorkerCount(workers[w]);
        srSolid solid = makeSolid(&soup, NULL, NULL);
        srField field = srMakeField(&solid, 0.0);
        uint64_t seed = 8;
        for (int i = 0; i < SR_ARRAY_COUNT(first); i++) {
            double phi = srField_Value(&field, randomPoint(&seed, 2.0));
            first[i] = w == 0 ? phi : first[i];
            assert_memory_equal(&phi, &first[i], sizeof(phi));
        }
        srDestroySolid(&solid);
    }
    srParallel_SetWorkerCount(before);
    freeSoup(&soup);
}

static void settings_that_mean_nothing_are_refused(void** state) {
    (void)state;
    srSurface surface = makeSphere(1, 1.0);
    const srProgress nobody = {0};
    const srSolidSettings wrong[] = {{.largestHole = -1.0},
                                     {.largestHole = (double)NAN},
                                     {.sheetThickness = 2.0},
                                     {.sheetThickness = -1.0}};
    for (int i = 0; i < SR_ARRAY_COUNT(wrong); i++) {
        assert_result(srCreateSolid(&surface, &wrong[i], &nobody, &(srSolid){0}, NULL), sr_errorInvalidValue);
    }
    srDestroySurface(&surface);
}

// The longest time between two looks at the progress is the time until a cancel is heard. The processor's
// time, which others on the machine do not change.
typedef struct Watch {
    double last;
    double longest;
    float fraction;
    int callsLeft;
} Watch;

static bool watchProgress(float fraction, void* context) {
    Watch* watch = context;
    double now = (double)clock() / CLOCKS_PER_SEC;
    watch->longest = watch->last > 0.0 ? fmax(watch->longest, now - watch->last) : 0.0;
    watch->last = now;
    assert_true(fraction >= watch->fraction - 1e-6f && fraction <= 1.0f);
    watch->fraction = fraction;
    return watch->callsLeft-- > 0;
}

static void a_cancel_is_heard_at_every_look(void** state) {
    (void)state;
    Soup soup = makeMess();
    srSurface surface = makeSurface(&soup);
    const srSolidSettings settings = srDefaultSolidSettings();
    bool isDone = false;
    for (int calls = 0; !isDone; calls++) {
        Watch watch = {.callsLeft = calls};
        const srProgress progress = {watchProgress, &watch, 0.0f, 1.0f};
        srSolid solid = {0};
        srResult result = srCreateSolid(&surface, &settings, &progress, &solid, NULL);
        isDone = result == sr_success;
        assert_true(isDone || result == sr_errorCancelled);
        srDestroySolid(&solid);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void a_large_mesh_hears_a_cancel_within_50_ms(void** state) {
    (void)state;
    Soup soup = {0};
#if defined(SR_ENABLE_ASSERT)
    const int attempts = 1;
    addSphere(&soup, 5, 1.0, 0.0, 0.0, 0.0); // checks take long: 20,480 triangles, and no promise
#else
    const int attempts = 4;
    addSphere(&soup, 7, 1.0, 0.0, 0.0, 0.0); // 327,680 triangles
#endif
    srSurface surface = makeSurface(&soup);
    const srSolidSettings settings = srDefaultSolidSettings();
    double longest = HUGE_VAL;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(1); // the processor's time is summed over workers
    // the least of a few tries: others on the machine still empty the caches
    for (int attempt = 0; attempt < attempts && longest > 0.05; attempt++) {
        Watch watch = {.callsLeft = INT32_MAX};
        const srProgress progress = {watchProgress, &watch, 0.0f, 1.0f};
        srSolid solid;
        assert_success(srCreateSolid(&surface, &settings, &progress, &solid, NULL));
        longest = fmin(longest, watch.longest);
        srDestroySolid(&solid);
    }
    srParallel_SetWorkerCount(before);
    print_message("longest time without a look: %.1f ms\n", 1e3 * longest);
#if !defined(SR_ENABLE_ASSERT)
    assert_true(longest <= 0.05);
#endif
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static srResult createAndDestroy(void* context) {
    const srProgress nobody = {0};
    const srSolidSettings settings = srDefaultSolidSettings();
    srSolid solid, piece;
    SR_TRY(srCreateSolid(context, &settings, &nobody, &solid, NULL));
    srResult result = srTakePiece(&solid, 0, &nobody, &piece);
    if (result == sr_success) {
        srDestroySolid(&piece);
    }
    srDestroySolid(&solid);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = makeMess();
    // an open shell too, for its rims
    addBox(&soup, (const double[3]){3.0, 0.0, 0.0}, (const double[3]){1.0, 1.0, 1.0});
    soup.triangleCount -= 2;
    srSurface surface = makeSurface(&soup);
    srTestEveryAllocationFails(createAndDestroy, &surface);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_whole_needs_no_repair, srTestNothingLeaked),
        cmocka_unit_test_teardown(faces_may_point_anywhere, srTestNothingLeaked),
        cmocka_unit_test_teardown(doubles_count_once_whichever_way_they_face, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_at_the_same_place_are_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(loose_triangles_around_a_place_enclose_it, srTestNothingLeaked),
        cmocka_unit_test_teardown(overlapping_pieces_are_joined, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_piece_can_be_taken_alone, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_shell_within_is_a_cavity_if_it_faces_the_other_way, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_lies_in_a_hollow_is_flesh_again_at_any_depth, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_hollow_swallows_neither_studs_nor_sheets, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_shell_that_pokes_out_a_little_is_a_cavity_too, srTestNothingLeaked),
        cmocka_unit_test_teardown(small_holes_are_closed, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_large_hole_has_a_flat_lid_for_a_flat_rim, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_sheet_becomes_a_slab, srTestNothingLeaked),
        cmocka_unit_test_teardown(one_triangle_has_an_inside_if_it_gets_a_thickness, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_strip_with_one_side_is_a_sheet, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_fin_on_a_body_gets_a_thickness, srTestNothingLeaked),
        cmocka_unit_test_teardown(walls_within_flesh_bound_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_body_among_others_that_touch_it_is_flesh, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_thin_box_is_as_thick_as_a_sheet, srTestNothingLeaked),
        cmocka_unit_test_teardown(odd_points_and_flat_triangles_change_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(size_and_place_do_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(order_and_pose_of_the_mesh_do_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(settings_that_mean_nothing_are_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_cancel_is_heard_at_every_look, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_large_mesh_hears_a_cancel_within_50_ms, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/solid", tests, NULL, NULL);
}
