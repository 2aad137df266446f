// SPDX-License-Identifier: GPL-3.0-or-later
//
// What holds for every solver behind the one face: a state is nothing but its bytes, zero bytes are rest,
// turning turns all of it.

#include "support/support.h"

#include "core/alloc.h"
#include "sim/body.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 12

typedef struct Kind {
    int32_t solver;
    int32_t swings;
} Kind;

static const Kind KINDS[] = {
    {sr_solverXpbd, sr_swingsFade},  {sr_solverFlesh, sr_swingsFade},         {sr_solverFlesh, sr_swingsLast},
    {sr_solverFlesh, sr_swingsKeep}, {sr_solverComplementary, sr_swingsFade},
};

static srTestScene scene;
static srCharacter bar;

static int prepareAll(void** state) {
    (void)state;
    return srTestCreateBarScene(&scene) && srTestPrepareScene(&scene, &bar) ? 0 : -1;
}

static int forgetAll(void** state) {
    srDestroyCharacterRest(&bar);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static srBodySettings makeSettings(void) {
    srBodySettings settings = {.frameRate = 24.0, .scale = 1.0, .size = (double)bar.report.size};
    settings.params = (srShotParams){
        .structSize = sizeof(srShotParams),
        .frequency = 2.0f,
        .settleFrames = 24.0f,
        .poissonRatio = 0.45f,
        .density = 1000.0f,
        .substeps = 4,
    };
    return settings;
}

typedef struct Moving {
    srBody body;
    void* state;
    srVec3* places;
    srVec3* jumps;
    srVec3f* offsets;
} Moving;

static void begin(Kind kind, Moving* m) {
    srBodySettings settings = makeSettings();
    settings.params.solver = kind.solver;
    settings.params.swings = kind.swings;
    size_t nodeCount = (size_t)bar.cage.nodeCount;
    assert_success(srCreateBody(&bar, &settings.params, &m->body));
    assert_success(srBody_Tune(&m->body, &settings));
    m->state = srAllocZero(1, srBody_GetStateSize(&m->body));
    m->places = malloc(nodeCount * sizeof(srVec3));
    m->jumps = calloc(nodeCount, sizeof(srVec3));
    m->offsets = calloc(nodeCount, sizeof(srVec3f));
    assert_true(m->state != NULL && m->places != NULL && m->jumps != NULL && m->offsets != NULL);
    memcpy(m->places, bar.cage.nodes, nodeCount * sizeof(srVec3));
}

static void end(Moving* m) {
    srFree(m->state, 1, srBody_GetStateSize(&m->body));
    srDestroyBody(&m->body);
    free(m->places);
    free(m->jumps);
    free(m->offsets);
}

// the rig stands; at frame 0 it was pushed
static srNodeMotion makeMotion(Moving* m, int32_t frame) {
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        m->jumps[i] = (srVec3){frame == 0 ? -1.0 : 0.0, 0.0, 0.0};
    }
    return (srNodeMotion){.from = m->places, .to = m->places, .velocityJump = m->jumps};
}

static void step(Moving* m, int32_t frame) {
    srNodeMotion motion = makeMotion(m, frame);
    srFrameStats stats;
    srBody_Step(&m->body, &motion, m->state, &stats);
}

static int32_t stepProvisionally(Moving* m, int32_t frame) {
    srNodeMotion motion = makeMotion(m, frame);
    motion.isProvisional = true;
    srFrameStats stats = {0};
    srBody_Step(&m->body, &motion, m->state, &stats);
    return stats.iterationCount;
}

static float largest(const Moving* m) {
    float most = 0.0f;
    srBody_ReadOffsets(&m->body, m->state, m->offsets);
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        most = fmaxf(most, srLengthF(m->offsets[i]));
    }
    return most;
}

static void zero_bytes_are_rest_and_stay_it(void** state) {
    (void)state;
    for (int32_t s = 0; s < SR_ARRAY_COUNT(KINDS); ++s) {
        Moving m;
        begin(KINDS[s], &m);
        for (int32_t frame = 1; frame < FRAMES; ++frame) {
            step(&m, frame);
            assert_true(largest(&m) == 0.0f);
        }
        end(&m);
    }
}

static void a_copy_of_the_state_goes_on_with_the_same_bits(void** state) {
    (void)state;
    for (int32_t s = 0; s < SR_ARRAY_COUNT(KINDS); ++s) {
        Moving a;
        Moving b;
        begin(KINDS[s], &a);
        begin(KINDS[s], &b);
        size_t size = srBody_GetStateSize(&a.body);
        for (int32_t frame = 0; frame < FRAMES; ++frame) {
            memcpy(b.state, a.state, size);
            step(&a, frame);
            step(&b, frame);
            assert_memory_equal(a.state, b.state, size);
            assert_true(frame > 0 || largest(&a) > 1e-3f);
            step(&b, 5); // what it did elsewhere does not matter
        }
        end(&a);
        end(&b);
    }
}

static void a_provisional_step_goes_about_there_for_less_and_leaves_nothing_behind(void** state) {
    (void)state;
    for (int32_t s = 0; s < SR_ARRAY_COUNT(KINDS); ++s) {
        Moving right;
        Moving other;
        begin(KINDS[s], &right);
        begin(KINDS[s], &other);
        size_t size = srBody_GetStateSize(&right.body);
        int32_t provisionalCount = 0;
        int32_t rightCount = 0;
        float farthest = 0.0f;
        float apart = 0.0f;
        for (int32_t frame = 0; frame < FRAMES; ++frame) {
            memcpy(other.state, right.state, size);
            provisionalCount += stepProvisionally(&other, frame);
            srBody_ReadOffsets(&other.body, other.state, other.offsets);
            memcpy(other.state, right.state, size);
            srNodeMotion motion = makeMotion(&right, frame);
            srFrameStats stats = {0};
            srBody_Step(&right.body, &motion, right.state, &stats);
            rightCount += stats.iterationCount;
            farthest = fmaxf(farthest, largest(&right));
            for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
                apart = fmaxf(apart, srLengthF(srSubF(right.offsets[i], other.offsets[i])));
            }
            step(&other, frame);
            assert_memory_equal(other.state, right.state, size);
        }
        print_message("solver %d: %.4f of %.4f apart, %d of %d iterations\n", KINDS[s].solver, (double)apart,
                      (double)farthest, provisionalCount, rightCount);
        // the rows that a provisional frame leaves out before it are worth half of the motion
        assert_true(apart < 0.15f * farthest);
        bool isNewton = KINDS[s].solver == sr_solverComplementary;
        assert_true(isNewton ? 4 * provisionalCount < 3 * rightCount : provisionalCount == rightCount);
        end(&right);
        end(&other);
    }
}

static void four_quarter_turns_are_none(void** state) {
    (void)state;
    srMat3* turns = malloc((size_t)bar.cage.nodeCount * sizeof(srMat3));
    assert_non_null(turns);
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        turns[i] = (srMat3){{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
    }
    for (int32_t s = 0; s < SR_ARRAY_COUNT(KINDS); ++s) {
        Moving m;
        begin(KINDS[s], &m);
        size_t size = srBody_GetStateSize(&m.body);
        void* before = malloc(size);
        assert_non_null(before);
        for (int32_t frame = 0; frame < 3; ++frame) {
            step(&m, frame);
        }
        largest(&m);
        srVec3f tip = m.offsets[bar.cage.nodeCount - 1];
        memcpy(before, m.state, size);
        srBody_Turn(&m.body, turns, m.state);
        largest(&m);
        srVec3f turned = m.offsets[bar.cage.nodeCount - 1];
        assert_true(turned.x == -tip.y && turned.y == tip.x && turned.z == tip.z);
        for (int quarter = 0; quarter < 3; ++quarter) {
            srBody_Turn(&m.body, turns, m.state);
        }
        assert_memory_equal(before, m.state, size);
        free(before);
        end(&m);
    }
    free(turns);
}

// The farthest that the flesh goes after a push sideways, and the longest that an edge gets, as shares.
static float pushSideways(const srShotParams* params, float* outLongest) {
    Moving m;
    begin((Kind){sr_solverFlesh, sr_swingsFade}, &m);
    srBodySettings settings = makeSettings();
    settings.params = *params;
    assert_success(srBody_Tune(&m.body, &settings));
    float farthest = 0.0f;
    *outLongest = 0.0f;
    for (int32_t frame = 0; frame < 12; ++frame) {
        for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
            m.jumps[i] = (srVec3){0.0, frame == 0 ? -4.0 : 0.0, 0.0};
        }
        srNodeMotion motion = {.from = m.places, .to = m.places, .velocityJump = m.jumps};
        srFrameStats stats;
        srBody_Step(&m.body, &motion, m.state, &stats);
        farthest = fmaxf(farthest, largest(&m));
        for (int32_t j = 0; j < bar.cage.edgeCount; ++j) {
            const int32_t* n = bar.cage.edges[j];
            srVec3 posed = srSub(bar.cage.nodes[n[1]], bar.cage.nodes[n[0]]);
            srVec3 change = srSub(srToDouble(m.offsets[n[1]]), srToDouble(m.offsets[n[0]]));
            *outLongest = fmaxf(*outLongest, (float)(srLength(srAdd(posed, change)) / srLength(posed)));
        }
    }
    end(&m);
    return farthest;
}

static void fibres_stiffen_a_body_along_its_bones_and_a_limit_keeps_it_from_stretching(void** state) {
    (void)state;
    srShotParams params = makeSettings().params;
    params.solver = sr_solverFlesh;
    float longest[3];
    float plain = pushSideways(&params, &longest[0]);
    params.fibreStiffness = 1.0f; // and not given are the same
    assert_true(pushSideways(&params, &longest[1]) == plain && longest[1] == longest[0]);
    params.fibreStiffness = 10.0f;
    float stiff = pushSideways(&params, &longest[1]);
    params.fibreStiffness = 0.1f;
    float soft = pushSideways(&params, &longest[1]);
    print_message("farthest %.4f, with fibres of ten %.4f, of a tenth %.4f\n", (double)plain, (double)stiff,
                  (double)soft);
    assert_true(stiff < 0.9f * plain && soft > 1.01f * plain);
    params.fibreStiffness = 1.0f;
    params.stretchLimit = 1.02f;
    pushSideways(&params, &longest[2]);
    print_message("edges up to %.4f, limited %.4f\n", (double)longest[0], (double)longest[2]);
    assert_true(longest[0] > 1.06f && longest[2] < 1.05f);
}

static srResult makeBody(void* context) {
    srBody body;
    srBodySettings settings = makeSettings();
    settings.params.fibreStiffness = 2.0f;
    settings.params.stretchLimit = 1.1f;
    const Kind* kind = context;
    settings.params.solver = kind->solver;
    settings.params.swings = kind->swings;
    srResult result = srCreateBody(&bar, &settings.params, &body);
    if (result == sr_success) {
        result = srBody_Tune(&body, &settings);
        srDestroyBody(&body);
    }
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    for (int32_t s = 0; s < SR_ARRAY_COUNT(KINDS); ++s) {
        Kind kind = KINDS[s];
        srTestEveryAllocationFails(makeBody, &kind);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_are_rest_and_stay_it),
        cmocka_unit_test(a_copy_of_the_state_goes_on_with_the_same_bits),
        cmocka_unit_test(a_provisional_step_goes_about_there_for_less_and_leaves_nothing_behind),
        cmocka_unit_test(four_quarter_turns_are_none),
        cmocka_unit_test(fibres_stiffen_a_body_along_its_bones_and_a_limit_keeps_it_from_stretching),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/body", tests, prepareAll, forgetAll);
}
