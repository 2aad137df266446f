// SPDX-License-Identifier: GPL-3.0-or-later
//
// What has flat faces in several places along each axis gets about as many nodes as are wanted; or what it
// needs is told, and that is true. It falls into no more pieces than it has.

#include "corpus/shapes.h"
#include "mesh/mesher.h"
#include "support/support.h"

#include <math.h>

#define LARGEST_MISS 0.15
#define LARGEST_GROWTH 1.3
#define LEAST_ANGLE 9.0

// A cage that is so many times too large is a chain of cubes around the shape: few nodes are all it can have.
#define HOPELESS_GROWTH 8.0

// What overlaps by less of a cube may be parted.
#define DEEP_OVERLAP 0.25

typedef struct Made {
    int32_t nodeCount;
    srMesherReport report;
} Made;

static Made mesh(const srBarShape* shape, int32_t wanted) {
    Made made;
    srSoup soup = {0};
    srSurface surface;
    srSurfaceReport found;
    srMesh mesh;
    const srMesherSettings settings = {.targetNodeCount = wanted};
    srMakeBarShape(shape, &soup);
    assert_success(
        srCreateSurface(soup.points, soup.pointCount, soup.triangles, soup.triangleCount, &surface, &found));
    assert_success(srMeshSurface(&surface, &settings, &mesh, &made.report));
    made.nodeCount = mesh.cage.nodeCount;
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
    srFreeSoup(&soup);
    return made;
}

static double growthOf(const Made* made) {
    return made->report.volume / made->report.insideVolume;
}

static bool isMissed(const Made* made, int32_t wanted) {
    return fabs(made->nodeCount / (double)wanted - 1.0) > LARGEST_MISS;
}

// Where the cage keeps to the shape; else what it needs is told.
static void assertWhole(const srBarShape* shape, int32_t wanted, const Made* made) {
    bool isOne = shape->leastOverlap > DEEP_OVERLAP * made->report.spacing;
    if (made->report.leastNodeCount == 0 && isOne && made->report.pieceCount != shape->pieceCount) {
        fail_msg("%s: asked for %d, %d pieces", shape->name, wanted, made->report.pieceCount);
    }
}

static void assertMet(const srBarShape* shape, int32_t wanted) {
    Made made = mesh(shape, wanted);
    bool isLarge = growthOf(&made) > LARGEST_GROWTH;
    if (isMissed(&made, wanted) && growthOf(&made) < HOPELESS_GROWTH) {
        fail_msg("%s: %d nodes for %d", shape->name, made.nodeCount, wanted);
    }
    if ((made.report.leastNodeCount > 0) != (isLarge || isMissed(&made, wanted))) {
        fail_msg("%s: asked for %d, told %d, %.2f times as large", shape->name, wanted,
                 made.report.leastNodeCount, growthOf(&made));
    }
    assert_true(made.report.minDihedralDegrees > LEAST_ANGLE);
    assertWhole(shape, wanted, &made);
}

static void bars_have_about_as_many_nodes_and_pieces_as_are_wanted(void** state) {
    (void)state;
    const int32_t upright[] = {100, 231, 300, 500, 700, 1500}, tilted[] = {100, 300};
    int32_t count = 0;
    const srBarShape* shapes = srGetBarShapes(&count);
    for (int32_t i = 0; i < count; i++) {
        const int32_t* wanted = shapes[i].isTilted ? tilted : upright;
        int32_t wantedCount = shapes[i].isTilted ? SR_ARRAY_COUNT(tilted) : SR_ARRAY_COUNT(upright);
        for (int32_t n = 0; n < wantedCount; n++) {
            assertMet(&shapes[i], wanted[n]);
        }
    }
}

// Asked for so many, the cage keeps to the shape and has them, and nothing more is told.
static void what_bars_need_is_told_and_true(void** state) {
    (void)state;
    const int32_t wanted[] = {60, 150};
    int32_t count = 0, toldCount = 0;
    const srBarShape* shapes = srGetBarShapes(&count);
    for (int32_t i = 0; i < 2 * count; i += 3) {
        const srBarShape* shape = &shapes[i / 2];
        Made few = mesh(shape, wanted[i % 2]);
        int32_t least = few.report.leastNodeCount;
        if (least == 0) {
            continue;
        }
        Made enough = mesh(shape, least);
        if (isMissed(&enough, least) || growthOf(&enough) > LARGEST_GROWTH ||
            enough.report.leastNodeCount != 0) {
            fail_msg("%s: told %d, and again %d", shape->name, least, enough.report.leastNodeCount);
        }
        toldCount++;
    }
    assert_true(toldCount > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bars_have_about_as_many_nodes_and_pieces_as_are_wanted,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(what_bars_need_is_told_and_true, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("corpus/bars", tests, NULL, NULL);
}
