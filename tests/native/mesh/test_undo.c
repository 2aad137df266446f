// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/undo.h"

#include "mesh/decimate.h"
#include "mesh/hulls.h"

#include <math.h>

// A ball that is being thinned, and what it was.
typedef struct Ball {
    srArena* arena;
    srHull first;
    srCollapse collapse;
} Ball;

static Ball makeBall(const Soup* soup, const srSurface* surface) {
    size_t pointCount = (size_t)soup->pointCount, triangleCount = (size_t)soup->triangleCount;
    Ball ball = {.arena = srCreateArena(1 << 20), .first = hullOfSurface(surface)};
    srCollapse* c = &ball.collapse;
    c->pointCount = soup->pointCount;
    c->triangleCount = c->aliveCount = soup->triangleCount;
    c->points = SR_PUSH(ball.arena, srVec3, pointCount, "test");
    c->triangles = srArena_Push(ball.arena, triangleCount, sizeof(int32_t[3]), "test");
    c->quadrics = SR_PUSH(ball.arena, srQuadric, pointCount, "test");
    c->starts = SR_PUSH(ball.arena, int32_t, pointCount + 1, "test");
    c->around = SR_PUSH(ball.arena, int32_t, 3 * triangleCount, "test");
    c->isLocked = SR_PUSH(ball.arena, uint8_t, pointCount, "test");
    c->isCareful = SR_PUSH(ball.arena, uint8_t, pointCount, "test");
    assert_success(srCreateCollapseLog(soup->triangleCount, ball.arena, &c->log));
    memcpy(c->points, ball.first.points, pointCount * sizeof(srVec3));
    memcpy(c->triangles, ball.first.triangles, triangleCount * sizeof(int32_t[3]));
    memset(c->quadrics, 0, pointCount * sizeof(srQuadric));
    memset(c->isCareful, 0, pointCount);
    for (int32_t p = 0; p < c->pointCount; p++) {
        srQuadric_AddPoint(&c->quadrics[p], c->points[p], 1.0);
    }
    srCollapse_ClearLog(c);
    return ball;
}

// Passes over all edges, in the order of triangles. Returns how many collapsed.
static int32_t collapseAll(srCollapse* c, int passes) {
    int32_t count = 0;
    for (int pass = 0; pass < passes; pass++) {
        srCollapse_LinkPoints(c);
        for (int32_t t = 0; t < c->triangleCount; t++) {
            for (int e = 0; e < 3 && srCollapse_IsThere(c, t); e++) {
                count += srCollapse_Try(c, c->triangles[t][e], c->triangles[t][(e + 1) % 3]);
            }
        }
    }
    return count;
}

static int32_t countCrossings(const Ball* ball) {
    const srCollapse* c = &ball->collapse;
    srHull hull = {c->points, c->pointCount, c->triangles, c->triangleCount};
    int32_t count;
    assert_success(srCountCrossings(&hull, false, 1000, ball->arena, NULL, &count));
    return count;
}

static void what_does_not_cross_is_left_alone(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    Ball ball = makeBall(&soup, &surface);
    int32_t undoneCount, count = collapseAll(&ball.collapse, 3);
    assert_true(count > 200);
    assert_int_equal(ball.collapse.aliveCount, soup.triangleCount - 2 * count);
    assert_success(srCollapse_Mend(&ball.collapse, ball.arena, &undoneCount));
    assert_int_equal(undoneCount, 0);
    assert_int_equal(ball.collapse.aliveCount, soup.triangleCount - 2 * count);
    srDestroyArena(ball.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// Everything at a point that is pulled through the whole ball, and what was done to its triangles later.
static void what_crosses_is_taken_back_to_the_bit(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    for (int32_t which = 0; which < 200; which += 7) {
        Ball ball = makeBall(&soup, &surface);
        srCollapse* c = &ball.collapse;
        int32_t undoneCount, count = collapseAll(c, 2);
        srCollapseStep* step = &c->log.steps[which];
        c->points[step->a] = srScale(-1.5, c->points[step->a]);
        bool wasThere = false;
        for (int32_t t = 0; t < c->triangleCount; t++) {
            const int32_t* n = c->triangles[t];
            wasThere = wasThere || (n[0] >= 0 && (n[0] == step->a || n[1] == step->a || n[2] == step->a));
        }
        assert_success(srCollapse_Mend(c, ball.arena, &undoneCount));
        assert_true(undoneCount > 0 || !wasThere);
        assert_true(undoneCount < count / 2);
        assert_true(!wasThere || c->isCareful[step->a]);
        assert_int_equal(c->aliveCount, soup.triangleCount - 2 * (count - undoneCount));
        assert_int_equal(countCrossings(&ball), 0);
        srDestroyArena(ball.arena);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// If nothing that was done may stay, the surface is what it was.
static void taking_all_back_gives_the_first_surface(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    Ball ball = makeBall(&soup, &surface);
    srCollapse* c = &ball.collapse;
    srQuadric* quadrics = SR_PUSH(ball.arena, srQuadric, c->pointCount, "test");
    memcpy(quadrics, c->quadrics, (size_t)c->pointCount * sizeof(srQuadric));
    int32_t undoneCount, count = collapseAll(c, 3);
    for (int32_t i = 0; i < count; i++) {
        int32_t a = c->log.steps[i].a;
        // everything through everything: each pulled across the middle, by its own way
        c->points[a] = srScale(-1.0 - 0.001 * i, ball.first.points[a]);
        for (int32_t k = i + 1; k < count; k++) {
            if (c->log.steps[k].a == a) {
                c->log.steps[k].place = c->points[a];
            }
        }
    }
    assert_success(srCollapse_Mend(c, ball.arena, &undoneCount));
    assert_int_equal(undoneCount, count);
    assert_memory_equal(c->points, ball.first.points, (size_t)c->pointCount * sizeof(srVec3));
    assert_memory_equal(c->triangles, ball.first.triangles, (size_t)c->triangleCount * sizeof(int32_t[3]));
    assert_memory_equal(c->quadrics, quadrics, (size_t)c->pointCount * sizeof(srQuadric));
    srDestroyArena(ball.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_does_not_cross_is_left_alone, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_crosses_is_taken_back_to_the_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(taking_all_back_gives_the_first_surface, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/undo", tests, NULL, NULL);
}
