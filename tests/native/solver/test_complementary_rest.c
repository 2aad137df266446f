// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing the complementary solver: rigs that fight back, materials that are nothing, memory that is gone;
// and what finds back to rest.

#include "bone_bar.h"

static const int32_t BAR[3] = {2, 6, 2};
static const double SPACING = 0.2;

// what a rig may be like: all give a motion that is finite, orthogonal, and ends in rest
static void checkRig(Flesh* f, double mostOverlap) {
    assert_success(srCreateComplementaryRest(&f->shape, &f->rest));
    assert_success(srCreateComplementaryTuning(&f->rest, &f->tuning));
    srComplementaryDials dials = fleshDials();
    tuneFlesh(f, &dials);
    resetFlesh(f);
    double worst = 0.0;
    int innerCount = 0;
    for (int frame = 1; frame <= 12; ++frame) {
        shakeFlesh(f, frame, 0.1, 0.0);
        stepFlesh(f);
        worst = fmax(worst, findOverlap(f));
        innerCount += f->stats.innerCount;
    }
    print_message("%d bones, %d rows: J' M D u %.1e at most, %d products a frame\n", f->boneCount,
                  f->rest.rows.rowCount, worst, innerCount / 12);
    assert_near(worst, 0.0, mostOverlap);
    assert_true(longestOffset(f) < 1.0);
    for (int frame = 0; frame < 600; ++frame) {
        stepFlesh(f);
    }
    assert_true(isZeroBits(f));
}

static void bones_of_equal_weights_count_once(void** state) {
    (void)state;
    Flesh f;
    shapeFlesh(&f, BAR, SPACING, 2, hold_axis);
    weighAlike(&f, 0.0);
    checkRig(&f, 1e-8);
    assert_int_equal(f.rest.rows.rowCount, 2); // a line is held: along it, and as a whole
    freeFlesh(&f);
}

static void a_bone_without_weight_or_hold_has_no_rows(void** state) {
    (void)state;
    Flesh f;
    shapeFlesh(&f, BAR, SPACING, 2, hold_axis);
    for (int32_t e = 0; e < f.starts[f.cage.nodeCount]; ++e) {
        f.weights[e] = f.bones[e] == 1 ? 0.0 : 1.0;
    }
    f.weights[f.starts[f.cage.nodeCount] - 1] = 1e-200; // hardly any
    checkRig(&f, 1e-8);
    assert_true(f.rest.rows.rowCount >= 2 && f.rest.rows.rowCount <= 3);
    freeFlesh(&f);
}

static void two_hundred_bones_work(void** state) {
    (void)state;
    Flesh f;
    const int32_t counts[3] = {3, 60, 3};
    shapeFlesh(&f, counts, 0.05, 200, hold_axis); // four nodes across are held
    checkRig(&f, 1e-8);
    assert_true(f.rest.rows.rowCount > 100);
    freeFlesh(&f);
}

// Each node on a dozen bones or more, so that most of what a bone can do others can together.
static void spreadWeights(Flesh* f, double length, int32_t most) {
    int32_t last = f->boneCount - most;
    size_t count = (size_t)most * (size_t)f->cage.nodeCount;
    free(f->bones);
    free(f->weights);
    f->shape.weights.bones = f->bones = calloc(count, sizeof(int32_t));
    f->shape.weights.weights = f->weights = calloc(count, sizeof(double));
    assert_true(f->bones != NULL && f->weights != NULL);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        srVec3 x = f->cage.nodes[i];
        double at = (x.y + 0.3 * x.x - 0.2 * x.z) / length * f->boneCount - 0.5, sum = 0.0;
        int32_t first = (int32_t)fmin(fmax(at - 0.5 * most, 0.0), last);
        f->starts[i + 1] = most * (i + 1);
        for (int32_t k = 0; k < most; ++k) {
            double away = (first + k - at) / (0.25 * most);
            f->bones[most * i + k] = first + k;
            sum += f->weights[most * i + k] = exp(-away * away);
        }
        for (int32_t k = 0; k < most; ++k) {
            f->weights[most * i + k] /= sum;
        }
    }
}

static void shapeOverlapping(Flesh* f, const int32_t counts[3], int32_t most) {
    shapeFlesh(f, counts, 0.05, 200, hold_all);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        f->holds[i] = 0.5 + 0.4 * sin(1.7 * i);
    }
    spreadWeights(f, 0.05 * counts[1], most);
}

static void two_hundred_bones_that_overlap_work(void** state) {
    (void)state;
    Flesh f;
    const int32_t counts[3] = {3, 60, 3};
    shapeOverlapping(&f, counts, 12);
    checkRig(&f, 1e-12);
    assert_true(f.rest.rows.rowCount > 700 && f.rest.rows.remainderCount > 0);

    // painted as far as one can paint, it is still prepared
    float* factors = malloc(sizeof(float) * (size_t)(f.cage.nodeCount + f.cage.cellCount));
    assert_non_null(factors);
    for (int32_t k = 0; k < f.cage.nodeCount + f.cage.cellCount; ++k) {
        factors[k] = (float)pow(10.0, 2.0 * sin(2.3 * k));
    }
    srComplementaryDials dials = fleshDials();
    dials.nodeMasses = factors;
    dials.cellStiffnesses = factors + f.cage.nodeCount;
    tuneFlesh(&f, &dials);
    free(factors);
    freeFlesh(&f);
}

// The worst of all rows of J' M D as they are published, none left out: of its product with u, in parts of
// the row's length and that of u.
static double findPublishedOverlap(const Flesh* f) {
    double worst = 0.0, length = 1e-300;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        length += srDot(f->state.offsets[i], f->state.offsets[i]);
    }
    double (*sums)[4][4] =
        calloc((size_t)f->boneCount, sizeof(*sums)); // three products, and the row's square
    assert_non_null(sums);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        srVec3 X = f->cage.nodes[i], u = f->state.offsets[i];
        const double columns[4] = {X.x, X.y, X.z, 1.0};
        for (int32_t e = f->starts[i]; e < f->starts[i + 1]; ++e) {
            for (int c = 0; c < 4; ++c) {
                double value = f->weights[e] * f->rest.nodeVolumes[i] * f->holds[i] * columns[c];
                double* sum = sums[f->bones[e]][c];
                sum[0] += value * u.x;
                sum[1] += value * u.y;
                sum[2] += value * u.z;
                sum[3] += value * value;
            }
        }
    }
    for (int32_t r = 0; r < 4 * f->boneCount; ++r) {
        const double* sum = sums[r / 4][r % 4];
        double size = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        worst = sum[3] > 0.0 ? fmax(worst, size / sqrt(sum[3] * length)) : worst;
    }
    free(sums);
    return worst;
}

static void two_hundred_bones_are_obeyed_for_ten_thousand_frames(void** state) {
    (void)state;
    Flesh f;
    const int32_t counts[3] = {2, 30, 2};
    shapeOverlapping(&f, counts, 60);
    prepareFlesh(&f);
    srComplementaryDials dials = fleshDials();
    dials.tolerance = 1e-2;
    tuneFlesh(&f, &dials);
    double worst = 0.0, own = 0.0, longest = 0.0;
    int innerCount = 0;
    for (int frame = 1; frame <= 10000; ++frame) {
        shakeFlesh(&f, frame, 0.1, 0.0);
        for (int32_t k = 0; k < f.boneCount; ++k) {
            srMat34 turn = bendAbout((srVec3){0.05, 0.0075 * k, 0.0}, 0.3 * sin(0.05 * k + 0.4 * frame));
            f.maps[k] = srMul34(&f.maps[k], &turn);
        }
        stepFlesh(&f);
        assert_int_equal(f.stats.missedCount, 0);
        innerCount += f.stats.innerCount;
        longest = fmax(longest, longestOffset(&f));
        worst = fmax(worst, findPublishedOverlap(&f));
        own = fmax(own, f.stats.orthogonality);
    }
    print_message(
        "%d rows, %d of them what is left of others: J' M D u %.1e at most, as reported %.1e, longest %.4f, "
        "%d products a frame\n",
        f.rest.rows.rowCount, f.rest.rows.remainderCount, worst, own, longest, innerCount / 10000);
    assert_true(worst < 1e-8 && own < 1e-8);
    assert_true(longest > 1e-3 && longest < 1.0);
    assert_true(f.rest.rows.remainderCount > 10);
    freeFlesh(&f);
}

static void one_bone_for_all_and_a_bone_of_no_size_work(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 1, hold_axis);
    assert_int_equal(f.rest.rows.rowCount, 2);
    for (int frame = 1; frame <= 24; ++frame) {
        f.maps[0] = frame < 12 ? shift(0.0, 0.01 * frame, 0.0) : (srMat34){{{0, 0, 0, 0.1}, {0}, {0}}};
        stepFlesh(&f);
        assert_true(longestOffset(&f) <= 10.001);
    }
    freeFlesh(&f);
}

static void no_mass_and_no_stiffness_have_a_defined_result(void** state) {
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        Flesh f;
        makeFlesh(&f, BAR, SPACING, 2, hold_axis);
        srComplementaryDials dials = fleshDials();
        dials.material = srMakeMaterial(kind == 0 ? 2e4 : 0.0, 0.3, kind == 1 ? 1000.0 : 0.0);
        tuneFlesh(&f, &dials);
        for (int frame = 1; frame <= 24; ++frame) {
            shakeFlesh(&f, frame, 0.1, 0.5);
            stepFlesh(&f);
            assert_true(longestOffset(&f) <= 10.001);
        }
        freeFlesh(&f);
    }
}

static srResult prepareAll(void* context) {
    Flesh* f = context;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    SR_TRY(srCreateComplementaryRest(&f->shape, &rest));
    srResult result = srCreateComplementaryTuning(&rest, &tuning);
    if (result == sr_success) {
        srComplementaryDials dials = fleshDials();
        result = srComplementaryTuning_Set(&tuning, &rest, &dials);
        result = result == sr_success ? srComplementaryTuning_Set(&tuning, &rest, &dials) : result;
        srDestroyComplementaryTuning(&rest, &tuning);
    }
    srDestroyComplementaryRest(&rest);
    return result;
}

static void every_allocation_may_fail(void** state) {
    (void)state;
    Flesh f;
    const int32_t small[3] = {2, 2, 2};
    shapeFlesh(&f, small, 0.3, 2, hold_axis);
    weighAlike(&f, 1e-6); // what is left of rows is found too
    srCage cage = f.cage; // its bytes are the library's: handed over for the while
    srVec3* nodes = malloc(sizeof(srVec3) * (size_t)cage.nodeCount);
    int32_t (*cells)[4] = malloc(sizeof(*cells) * (size_t)cage.cellCount);
    memcpy(nodes, cage.nodes, sizeof(srVec3) * (size_t)cage.nodeCount);
    memcpy(cells, cage.cells, sizeof(*cells) * (size_t)cage.cellCount);
    f.shape.nodes = nodes;
    f.shape.cells = (const int32_t (*)[4])cells;
    srDestroyCage(&f.cage);
    srTestEveryAllocationFails(prepareAll, &f);
    free(nodes);
    free(cells);
    freeFlesh(&f);
}

static void a_cell_without_volume_is_refused(void** state) {
    (void)state;
    Flesh f;
    shapeFlesh(&f, BAR, SPACING, 2, hold_axis);
    f.cage.cells[3][1] = f.cage.cells[3][0];
    assert_result(srCreateComplementaryRest(&f.shape, &f.rest), sr_errorBadMesh);
    f.shape.cellCount = 0;
    assert_result(srCreateComplementaryRest(&f.shape, &f.rest), sr_errorBadMesh);
    freeFlesh(&f);
}

// After jumps and turns of the rig that nobody keyed as a cut.
static void flesh_of_any_material_finds_back_from_a_jump(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 6, 2};
    const srElasticModel models[3] = {sr_elasticCorotated, sr_elasticNeoHookean, sr_elasticStVenantKirchhoff};
    for (int round = 0; round < 18; ++round) {
        uint64_t seed = 100 + (uint64_t)round;
        Flesh f;
        makeFlesh(&f, counts, 0.2, 2, hold_axis);
        srComplementaryDials dials = srDefaultComplementaryDials();
        dials.model = models[round % 3];
        dials.material = srMakeMaterial(2e4, round < 9 ? 0.3 : 0.45, 1000.0);
        dials.poseCorrection = 1.0;
        dials.frequency = 2.0;
        dials.dampingRate = 8.0;
        dials.frameSeconds = FRAME_SECONDS;
        dials.largestOffset = 1.2;
        tuneFlesh(&f, &dials);
        for (int frame = 0; frame < 20; ++frame) {
            srMat34 turn = bendAbout((srVec3){0.2, 0.6, 0.2}, 2.5 * srTestRandom(&seed));
            f.maps[0] = shift(3.0 * srTestRandom(&seed), 0.0, 2.0 * srTestRandom(&seed));
            f.maps[1] = srMul34(&f.maps[0], &turn);
            stepFlesh(&f);
        }
        assert_true(longestOffset(&f) > 0.05);
        f.maps[0] = f.maps[1] = srIdentity34();
        for (int frame = 0; frame < 480; ++frame) {
            stepFlesh(&f);
        }
        assert_true(longestOffset(&f) < 1e-6);
        freeFlesh(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bones_of_equal_weights_count_once),
        cmocka_unit_test(a_bone_without_weight_or_hold_has_no_rows),
        cmocka_unit_test(two_hundred_bones_work),
        cmocka_unit_test(two_hundred_bones_that_overlap_work),
        cmocka_unit_test(two_hundred_bones_are_obeyed_for_ten_thousand_frames),
        cmocka_unit_test(one_bone_for_all_and_a_bone_of_no_size_work),
        cmocka_unit_test(no_mass_and_no_stiffness_have_a_defined_result),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_cell_without_volume_is_refused),
        cmocka_unit_test(flesh_of_any_material_finds_back_from_a_jump),
    };
    return cmocka_run_group_tests_name("solver/complementary_rest", tests, NULL, srTestNothingLeaked);
}
