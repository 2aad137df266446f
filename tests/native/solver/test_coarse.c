// SPDX-License-Identifier: GPL-3.0-or-later
//
// The coarse correction against finite elements: what it leaves of a residual, no handle sees any more; where
// the character stands does not matter to it; bent bodies stay calm.

#include "flesh_body.h"

#include "solver/coarse.h"
#include "solver/fem.h"

static const int32_t BAR[3] = {2, 8, 2};

typedef struct Correction {
    FleshBody body;
    srCoarseScratch scratch;
    float* predicted;
    float* forces;
    float* rows;
    float* poseRows;
} Correction;

static float* makeRows(const FleshBody* body) {
    size_t bytes = (16 * (size_t)body->rest.rowCount + 63) / 64 * 64;
    float* rows = aligned_alloc(64, bytes);
    assert_non_null(rows);
    memset(rows, 0, bytes);
    return rows;
}

static void createCorrection(Correction* c, float hold) {
    fleshCreate(&c->body, BAR, 0.125, hold, 6);
    srFleshDials dials = fleshDials(2e5, 0.3);
    fleshTune(&c->body, &dials);
    assert_true(srCoarse_IsReady(c->body.tuning.coarse));
    assert_success(srCreateCoarseScratch(c->body.rest.coarse, &c->scratch));
    float** rows[4] = {&c->predicted, &c->forces, &c->rows, &c->poseRows};
    for (int k = 0; k < 4; ++k) {
        *rows[k] = makeRows(&c->body);
    }
    for (int32_t i = 0; i < c->body.cage.nodeCount; ++i) {
        srVec3f X = srToFloat(c->body.cage.nodes[i]);
        memcpy(c->poseRows + 4 * (size_t)i, &X, sizeof(X));
        c->rows[4 * (size_t)i + 3] = c->body.tuning.weights[i];
    }
}

static void destroyCorrection(Correction* c) {
    srDestroyCoarseScratch(&c->scratch);
    free(c->predicted);
    free(c->forces);
    free(c->rows);
    free(c->poseRows);
    fleshDestroy(&c->body);
}

static void correct(Correction* c) {
    srCoarseStep step = {
        .coarse = c->body.tuning.coarse,
        .rest = c->body.rest.coarse,
        .scratch = &c->scratch,
        .predicted = c->predicted,
        .forces = c->forces,
        .rows = c->rows,
    };
    srCoarse_Pose(&step, c->poseRows);
    srCoarse_RestrictBlocks(0, srCoarse_GetBlockCount(step.rest), 0, &step);
    srCoarse_Solve(&step);
    srCoarse_ProlongBlocks(0, srCoarse_GetBlockCount(step.rest), 0, &step);
}

// The residual that handles see, largest of all: Q' (M (y - u) - h^2 K u), in mass units
static double findSeen(const Correction* c, const Fem* fem) {
    const FleshBody* body = &c->body;
    const srCoarseRest* coarse = body->rest.coarse;
    size_t count = 3 * (size_t)(uint32_t)body->cage.nodeCount;
    double* u = calloc(2 * count, sizeof(double));
    double* sums = calloc(12 * (size_t)(uint32_t)coarse->handleCount, sizeof(double));
    assert_true(u != NULL && sums != NULL);
    for (size_t k = 0; k < count; ++k) {
        u[k] = (double)c->rows[4 * (k / 3) + k % 3];
    }
    srCsc_MulAdd(u + count, &fem->K, u);
    double step = body->tuning.theta * body->tuning.h;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        double w = (double)body->tuning.weights[i];
        for (int32_t e = coarse->starts[i]; w > 0.0 && e < coarse->starts[i + 1]; ++e) {
            int32_t handle = coarse->entries[e].handle;
            for (int k = 0; k < 12; ++k) {
                size_t at = 3 * (size_t)i + (size_t)(k % 3);
                double away = (double)c->predicted[4 * i + k % 3] - u[at];
                double r = away / w - step * step / body->tuning.massUnit * u[count + at];
                double place =
                    (double)coarse->places[4 * i + k / 3] - (double)coarse->centres[4 * handle + k / 3];
                sums[12 * handle + k] += (double)coarse->entries[e].weight * place * r;
            }
        }
    }
    double largest = 0.0;
    for (int32_t k = 0; k < 12 * coarse->handleCount; ++k) {
        largest = fmax(largest, fabs(sums[k]));
    }
    free(u);
    free(sums);
    return largest;
}

static void what_is_left_no_handle_sees(void** state) {
    (void)state;
    Correction c;
    createCorrection(&c, 1.0f);
    const FleshBody* body = &c.body;
    bool* isHeld = calloc((size_t)(uint32_t)body->cage.nodeCount, sizeof(bool));
    double* moduli = calloc(2 * (size_t)(uint32_t)body->cage.cellCount, sizeof(double));
    assert_true(isHeld != NULL && moduli != NULL);
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        isHeld[i] = body->holds[i] > 0.5f;
        c.predicted[4 * i] =
            isHeld[i] ? 0.0f : 1e-5f * (float)(body->cage.nodes[i].y * body->cage.nodes[i].y);
        c.predicted[4 * i + 1] = isHeld[i] ? 0.0f : 5e-6f * (float)sin(9.0 * body->cage.nodes[i].x);
        // so little that regions hardly turn with it; nothing was solved yet: u = y, and the force is that of
        // finite elements
        memcpy(c.rows + 4 * (size_t)i, c.predicted + 4 * (size_t)i, 3 * sizeof(float));
    }
    for (int32_t k = 0; k < body->cage.cellCount; ++k) {
        moduli[k] = 2e5 / 2.6;
        moduli[body->cage.cellCount + k] = 2e5 * 0.3 / (1.3 * 0.4);
    }
    Fem fem;
    femCreate(&body->cage, isHeld, moduli, moduli + body->cage.cellCount, 1000.0, &fem);
    size_t count = 3 * (size_t)(uint32_t)body->cage.nodeCount;
    double* u = calloc(2 * count, sizeof(double));
    assert_non_null(u);
    for (size_t k = 0; k < count; ++k) {
        u[k] = (double)c.rows[4 * (k / 3) + k % 3];
    }
    srCsc_MulAdd(u + count, &fem.K, u);
    double step = body->tuning.theta * body->tuning.h;
    for (size_t k = 0; k < count; ++k) {
        c.forces[4 * (k / 3) + k % 3] = (float)(-step * step / body->tuning.massUnit * u[count + k]);
    }
    double before = findSeen(&c, &fem);
    correct(&c);
    double after = findSeen(&c, &fem);
    print_message("handles see %.3e before, %.3e after\n", before, after);
    // sums of floats, and a ten-millionth on the diagonal
    assert_true(before > 1e-6 && after < 2e-5 * before);
    femDestroy(&fem);
    free(u);
    free(isHeld);
    free(moduli);
    destroyCorrection(&c);
}

static void a_turned_character_is_corrected_in_its_own_frame(void** state) {
    (void)state;
    Correction a, b;
    createCorrection(&a, 1.0f);
    createCorrection(&b, 1.0f);
    float cosine = (float)cos(1.1), sine = (float)sin(1.1);
    uint64_t seed = 4;
    for (int32_t i = 0; i < a.body.cage.nodeCount; ++i) {
        float* rows[3][2] = {{a.predicted, b.predicted}, {a.forces, b.forces}, {a.poseRows, b.poseRows}};
        for (int k = 0; k < 3; ++k) {
            float* x = rows[k][0] + 4 * (size_t)i;
            float* y = rows[k][1] + 4 * (size_t)i;
            for (int axis = 0; k < 2 && axis < 3; ++axis) {
                x[axis] = (float)(srTestRandom(&seed) - 0.5);
            }
            y[0] = cosine * x[0] - sine * x[1];
            y[1] = sine * x[0] + cosine * x[1];
            y[2] = x[2];
        }
    }
    correct(&a);
    correct(&b);
    for (int32_t i = 0; i < a.body.cage.nodeCount; ++i) {
        const float* x = a.rows + 4 * (size_t)i;
        srVec3 turned = {(double)(cosine * x[0] - sine * x[1]), (double)(sine * x[0] + cosine * x[1]),
                         (double)x[2]};
        srVec3 moved = {(double)b.rows[4 * i], (double)b.rows[4 * i + 1], (double)b.rows[4 * i + 2]};
        // moves of about 1, of which the small matrix makes some hundred times a float's rounding
        assert_near(srDistance(turned, moved), 0.0, 1e-4);
    }
    destroyCorrection(&a);
    destroyCorrection(&b);
}

// The lower end is held, the upper half turned by `degrees` about an axis across, with a round bend between.
static void bend(FleshBody* body, double degrees) {
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 X = body->cage.nodes[i];
        double t = fmin(fmax((X.y - 0.35) / 0.3, 0.0), 1.0);
        double angle = degrees / 57.29577951 * t * t * (3.0 - 2.0 * t);
        double y = X.y - 0.5, z = X.z - 0.125;
        srVec3 p = {X.x, 0.5 + y * cos(angle) - z * sin(angle), 0.125 + y * sin(angle) + z * cos(angle)};
        body->from[i] = body->to[i] = srToFloat(p);
        float speed = body->holds[i] > 0.5f ? 0.0f : 0.2f * (float)X.y;
        body->state.velocities[i] = (srVec3f){speed, 0.0f, speed};
    }
}

// A small matrix of the shape at rest answers what stretches a bent body as if it only bent it, and throws
// it.
static void a_bent_body_swings_out(void** state) {
    (void)state;
    for (int32_t k = 0; k < 4; ++k) {
        FleshBody body;
        fleshCreate(&body, BAR, 0.125, 1.0f, SR_USUAL_HANDLES);
        srFleshDials dials = fleshDials(k % 2 == 0 ? 1e4 : 5e4, 0.45);
        dials.substeps = 3;
        dials.largestOffset = 2.0;
        dials.dampingRate = 7.8;
        dials.frequency = 2.0;
        fleshTune(&body, &dials);
        bend(&body, k < 2 ? 60.0 : 120.0);
        double first = 0.0, sixth = 0.0;
        int32_t heldCount = 0;
        for (int32_t frame = 0; frame < 144; ++frame) {
            heldCount += fleshStep(&body);
            double largest = fleshLargest(&body);
            first = frame < 24 ? fmax(first, largest) : first;
            sixth = frame >= 120 ? fmax(sixth, largest) : sixth;
        }
        print_message("kicked: %.4f m in the first second, %.1e in the sixth\n", first, sixth);
        assert_true(first > 1e-3 && first < 0.1 && sixth < 0.01 * first && heldCount == 0);
        fleshDestroy(&body);
    }
}

static void what_holds_fast_stays(void** state) {
    (void)state;
    Correction c;
    createCorrection(&c, 1.0f);
    for (int32_t i = 0; i < 4 * c.body.cage.nodeCount; ++i) {
        c.predicted[i] = i % 4 == 0 ? 0.1f : 0.0f;
    }
    correct(&c);
    double largest = 0.0;
    for (int32_t i = 0; i < c.body.cage.nodeCount; ++i) {
        double x = (double)c.rows[4 * i];
        assert_true(c.body.holds[i] < 0.5f || (x == 0.0 && c.rows[4 * i + 1] == 0.0f));
        largest = fmax(largest, fabs(x));
    }
    assert_true(largest > 0.01);
    destroyCorrection(&c);
}

static srResult makeCoarse(void* context) {
    const FleshBody* body = context;
    srCoarse* coarse = NULL;
    srCoarseScratch scratch = {0};
    srResult result = srCreateCoarse(body->rest.coarse, &coarse);
    if (result == sr_success) {
        result = srCreateCoarseScratch(body->rest.coarse, &scratch);
    }
    srDestroyCoarseScratch(&scratch);
    srDestroyCoarse(body->rest.coarse, coarse);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.125, 1.0f, 6);
    srTestEveryAllocationFails(makeCoarse, &body);
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_no_handle_sees),
        cmocka_unit_test(a_turned_character_is_corrected_in_its_own_frame),
        cmocka_unit_test(a_bent_body_swings_out),
        cmocka_unit_test(what_holds_fast_stays),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("solver/coarse", tests, NULL, srTestNothingLeaked);
}
