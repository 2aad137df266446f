// SPDX-License-Identifier: GPL-3.0-or-later
//
// Characters without bones, and what is left to their animation: the space of what was recorded, or nothing.
// A round body with a tail whose belly is keyed, on an object that goes and stops.

#include "support/support.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "sim/cache.h"
#include "sim/holds.h"
#include "sim/motion_space.h"
#include "sim/primary.h"
#include "sim/simulation.h"
#include "sim/skin_follower.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 72
#define MOST_TRIES 40
#define STOP 12  // the row at which the object stands
#define KEYED 40 // the row from which the belly is keyed
#define BELLY 0.15f

static srTestScene scene;
static srCharacter bare;
static float* rows;
static float* skins;

static size_t floatCount(void) {
    return 3 * (size_t)bare.embedding.pointCount;
}

// how far a vertex of the skin goes with the key, at most 1
static float bellyAt(const float* x) {
    float away = (x[0] * x[0] + (x[1] + 0.5f) * (x[1] + 0.5f) + x[2] * x[2]) / 0.16f;
    return away < 1.0f ? (1.0f - away) * (1.0f - away) : 0.0f;
}

static float keyAt(int32_t row) {
    return row < KEYED ? 0.0f : row < KEYED + 3 ? (float)(row - KEYED + 1) / 3.0f : 1.0f;
}

static void writeSkin(float key, float* out) {
    memcpy(out, scene.def.skinPositions, sizeof(float) * floatCount());
    for (size_t i = 0; i < floatCount() && key != 0.0f; i += 3) {
        out[i + 1] -= key * BELLY * bellyAt(scene.def.skinPositions + i);
    }
}

static void writeRow(float x, float* out) {
    memset(out, 0, 16 * sizeof(float));
    for (int c = 0; c < 4; ++c) {
        out[5 * c] = 1.0f;
    }
    out[14] = x;
}

static int prepareAll(void** state) {
    (void)state;
    srSource source;
    if (!srTestCreateTailScene(&scene)) {
        return -1;
    }
    srCharacterDef def = scene.def;
    def.boneCount = def.spaceCount = 0;
    def.boneRests = def.boneLengths = def.boneLooseTips = def.spaceToSkin = def.weightValues = NULL;
    def.boneParents = def.weightStarts = def.weightBones = NULL;
    if (srCopySource(&def, &source) != sr_success) {
        return -1;
    }
    bool isMade = srPrepareCharacter(&source, NULL, &bare) == sr_success;
    srDestroySource(&source);
    if (!isMade) {
        return -1;
    }
    rows = malloc(sizeof(float) * 16 * FRAMES);
    skins = malloc(sizeof(float) * floatCount() * FRAMES);
    for (int32_t row = 0; rows != NULL && skins != NULL && row < FRAMES; ++row) {
        writeRow(row < STOP ? (float)row / STOP : 1.0f, rows + 16 * (size_t)row);
        writeSkin(keyAt(row), skins + (size_t)row * floatCount());
    }
    return rows != NULL && skins != NULL ? 0 : -1;
}

static int forgetAll(void** state) {
    free(rows);
    free(skins);
    srDestroyCharacterRest(&bare);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static srShotDef makeDef(int32_t complement) {
    srShotDef def = {.firstFrame = 1, .frameCount = FRAMES, .frameRate = SR_TEST_FRAME_RATE};
    def.params = srDefaultShotParams();
    def.params.complement = complement;
    return def;
}

static srSimulation* startShot(int32_t complement) {
    srShotDef def = makeDef(complement);
    srSimulation* simulation = NULL;
    assert_success(srCreateSimulation(&bare, &def, &simulation));
    assert_success(srSimulation_FollowSkin(simulation, scene.def.skinPositions));
    return simulation;
}

static void writeSkins(srSimulation* simulation, int32_t row, int32_t count) {
    assert_success(
        srSimulation_WriteSkin(simulation, 1 + row, count, skins + (size_t)row * floatCount(), NULL));
}

static void writeTape(srSimulation* simulation, int32_t row, int32_t count) {
    assert_success(srSimulation_WriteTape(simulation, 1 + row, count, rows + 16 * (size_t)row, NULL));
}

static srSimulation* runShot(int32_t complement) {
    srSimulation* simulation = startShot(complement);
    writeSkins(simulation, 0, FRAMES);
    writeTape(simulation, 0, FRAMES);
    return simulation;
}

static uint64_t hashOf(srSimulation* simulation, int32_t row) {
    uint64_t hash = 0;
    assert_success(srSimulation_WaitFrame(simulation, 1 + row, -1.0));
    assert_success(srSimulation_GetHash(simulation, 1 + row, &hash));
    return hash;
}

static uint64_t hashOfLast(srSimulation* simulation) {
    return hashOf(simulation, FRAMES - 1);
}

// largest offsets of the skin at a row, of the body's vertices and of the tail's tip, as shares of the size
typedef struct Swing {
    double body;
    double tail;
} Swing;

static Swing measure(srSimulation* simulation, int32_t row) {
    float* offsets = malloc(sizeof(float) * floatCount());
    assert_non_null(offsets);
    hashOf(simulation, row);
    assert_success(srSimulation_ReadOffsets(simulation, 1 + row, offsets));
    Swing swing = {0.0, 0.0};
    for (size_t i = 0; i < floatCount(); i += 3) {
        double x = (double)offsets[i], y = (double)offsets[i + 1], z = (double)offsets[i + 2];
        double length = sqrt(x * x + y * y + z * z) / (double)bare.report.size;
        assert_true(isfinite(length));
        float place = scene.def.skinPositions[i];
        swing.body = place < 0.4f ? fmax(swing.body, length) : swing.body;
        swing.tail = place > 1.3f ? fmax(swing.tail, length) : swing.tail;
    }
    free(offsets);
    return swing;
}

static Swing measureMost(srSimulation* simulation, int32_t first, int32_t end) {
    Swing most = {0.0, 0.0};
    for (int32_t row = first; row < end; ++row) {
        Swing now = measure(simulation, row);
        most = (Swing){fmax(most.body, now.body), fmax(most.tail, now.tail)};
    }
    return most;
}

// the tape and the space of all of it
typedef struct Fitted {
    srTape tape;
    srMotionSpace space;
} Fitted;

static bool always(void* context) {
    (void)context;
    return true;
}

static bool never(void* context) {
    (void)context;
    return false;
}

static void recordAll(Fitted* fitted) {
    srSkinFollower* follower = NULL;
    assert_success(srCreateTape(FRAMES, 16, &fitted->tape));
    srTape_Write(&fitted->tape, 0, FRAMES, rows);
    assert_success(srTape_KeepNodes(&fitted->tape, bare.cage.nodeCount));
    assert_success(srCreateSkinFollower(&bare, scene.def.skinPositions, &follower));
    for (int32_t row = 0; row < FRAMES; ++row) {
        srTape_WriteNodes(&fitted->tape, row,
                          srSkinFollower_Place(follower, skins + (size_t)row * floatCount()));
    }
    srDestroySkinFollower(follower);
    assert_success(srCreateMotionSpace(&bare, &fitted->space));
}

static void freeFitted(Fitted* fitted) {
    srDestroyMotionSpace(&fitted->space);
    srDestroyTape(&fitted->tape);
}

// the component of places (or offsets) along a vector of the space, squared, and what the space leaves of
// them
static double measureLeft(const srSpan* span, const double* masses, const srVec3* places, int32_t count) {
    double left = 0.0;
    double* x = malloc(sizeof(double) * (size_t)span->nodeCount);
    assert_non_null(x);
    for (int c = 0; c < 3; ++c) {
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            const double columns[3] = {places[i].x, places[i].y, places[i].z};
            x[i] = columns[c];
        }
        for (int32_t k = 0; k < count; ++k) {
            const double* vector = span->vectors + (size_t)k * (size_t)span->nodeCount;
            double share = 0.0;
            for (int32_t i = 0; i < span->nodeCount; ++i) {
                share += masses[i] * vector[i] * x[i];
            }
            for (int32_t i = 0; i < span->nodeCount; ++i) {
                x[i] -= share * vector[i];
            }
        }
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            left += masses[i] * x[i] * x[i];
        }
    }
    free(x);
    return left;
}

static void the_space_spans_what_was_recorded(void** state) {
    (void)state;
    Fitted fitted;
    recordAll(&fitted);
    const srSpan* span = &fitted.space.span;
    assert_int_equal(span->vectorCount, 4); // before the fit: affine motion
    assert_true(srMotionSpace_Fit(&fitted.space, &bare, &fitted.tape, always, NULL));
    size_t n = (size_t)bare.cage.nodeCount;
    double *masses = malloc(sizeof(double) * n), left = 0.0, whole = 0.0;
    srVec3* places = malloc(sizeof(srVec3) * n);
    srMat34 maps[1];
    assert_true(masses != NULL && places != NULL);
    srCage_LumpVolumes(&bare.cage, masses);
    for (int32_t row = 0; row < FRAMES; ++row) {
        srPlacePrimary(&bare, &fitted.tape, row, maps, places);
        left += measureLeft(span, masses, places, span->vectorCount);
        whole += measureLeft(span, masses, places, span->fixedCount);
    }
    print_message("%d shapes leave %.1e, as stated %.1e\n", srSpan_CountShapes(span), sqrt(left / whole),
                  span->left);
    assert_int_equal(srSpan_CountShapes(span), 1); // one key moves along one direction
    assert_true(sqrt(left / whole) <= 0.01);
    free(masses);
    free(places);
    freeFitted(&fitted);
}

static void a_fit_that_is_given_up_leaves_affine_motion(void** state) {
    (void)state;
    Fitted fitted;
    recordAll(&fitted);
    uint64_t affine = fitted.space.hash;
    assert_true(srMotionSpace_Fit(&fitted.space, &bare, &fitted.tape, always, NULL));
    uint64_t whole = fitted.space.hash;
    assert_true(whole != affine);
    srMotionSpace_Forget(&fitted.space);
    assert_false(srMotionSpace_Fit(&fitted.space, &bare, &fitted.tape, never, NULL));
    assert_true(fitted.space.hash == affine && !fitted.space.isFitted);
    assert_true(srMotionSpace_Fit(&fitted.space, &bare, &fitted.tape, always, NULL));
    assert_true(fitted.space.hash == whole);
    freeFitted(&fitted);
}

// offsets of a checkpoint's row in double, as the solver has them
static void copyOffsets(srSimulation* simulation, int32_t row, srVec3* outOffsets) {
    srRowRecord record = {0};
    size_t n = (size_t)bare.cage.nodeCount;
    assert_success(srSimulation_GetStateSize(simulation, &record.stateSize));
    hashOf(simulation, row);
    record.offsets = malloc(sizeof(srVec3f) * n);
    record.state = malloc(record.stateSize);
    assert_true(record.offsets != NULL && record.state != NULL);
    assert_success(srSimulation_SaveRow(simulation, row, srSimulation_GetEdition(simulation), &record));
    memcpy(outOffsets, record.state, sizeof(srVec3) * n);
    free(record.offsets);
    free(record.state);
}

// the largest share of the offsets that held flesh has along a vector of the space: v' M D u
static double findOverlap(const srSpan* span, const double* masses, const double* holds, const srVec3* u) {
    double worst = 0.0, length = 0.0;
    for (int32_t i = 0; i < span->nodeCount; ++i) {
        length += masses[i] * srDot(u[i], u[i]);
    }
    for (int32_t k = 0; k < span->vectorCount; ++k) {
        const double* vector = span->vectors + (size_t)k * (size_t)span->nodeCount;
        srVec3 sum = {0.0, 0.0, 0.0};
        double own = 0.0;
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            sum = srMulAdd(sum, masses[i] * holds[i] * vector[i], u[i]);
            own += masses[i] * holds[i] * vector[i] * holds[i] * vector[i];
        }
        worst = fmax(worst, srLength(sum) / sqrt(own * length));
    }
    return worst;
}

static void what_was_keyed_is_kept_where_it_is_left_to_the_animation(void** state) {
    (void)state;
    Fitted fitted;
    recordAll(&fitted);
    assert_true(srMotionSpace_Fit(&fitted.space, &bare, &fitted.tape, always, NULL));
    size_t n = (size_t)bare.cage.nodeCount;
    double *masses = malloc(sizeof(double) * n), *holds = NULL;
    srVec3* u = malloc(sizeof(srVec3) * n);
    assert_true(masses != NULL && u != NULL);
    srCage_LumpVolumes(&bare.cage, masses);
    assert_success(srCreateCoreHolds(&bare.cage, &holds));
    double worst[2] = {0.0, 0.0};
    for (int kind = 0; kind < 2; ++kind) {
        srSimulation* simulation = runShot(kind == 0 ? sr_complementMotion : sr_complementNothing);
        for (int32_t row = 0; row < FRAMES; ++row) {
            if (row > STOP && srFindCheckpoint(row) == row) {
                copyOffsets(simulation, row, u);
                worst[kind] = fmax(worst[kind], findOverlap(&fitted.space.span, masses, holds, u));
            }
        }
        srDestroySimulation(simulation);
    }
    print_message("along what was recorded: %.1e, and with nothing left to it %.2f\n", worst[0], worst[1]);
    assert_true(worst[0] < 1e-8);
    assert_true(worst[1] > 0.1);
    free(masses);
    free(u);
    SR_FREE(holds, n);
    freeFitted(&fitted);
}

static void without_bones_the_core_goes_with_the_object_and_the_rest_swings(void** state) {
    (void)state;
    srSimulation* simulation = startShot(sr_complementAutomatic);
    writeTape(simulation, 0, FRAMES);
    Swing most = measureMost(simulation, STOP, FRAMES), last = measure(simulation, FRAMES - 1);
    double core = 0.0;
    float* primary = malloc(sizeof(float) * 3 * (size_t)bare.cage.nodeCount);
    float* moved = malloc(sizeof(float) * 3 * (size_t)bare.cage.nodeCount);
    assert_true(primary != NULL && moved != NULL);
    for (int32_t row = 0; row < FRAMES; ++row) {
        assert_success(srSimulation_ReadNodes(simulation, 1 + row, true, primary));
        assert_success(srSimulation_ReadNodes(simulation, 1 + row, false, moved));
        srVec3 sum = {0.0, 0.0, 0.0};
        int32_t count = 0;
        for (int32_t i = 0; i < bare.cage.nodeCount; ++i) {
            if (srLength(bare.cage.nodes[i]) < 0.2) {
                const float *a = moved + 3 * i, *b = primary + 3 * i;
                sum =
                    srAdd(sum, (srVec3){(double)(a[0] - b[0]), (double)(a[1] - b[1]), (double)(a[2] - b[2])});
                count += 1;
            }
        }
        assert_true(count > 0);
        core = fmax(core, srLength(sum) / count / (double)bare.report.size);
    }
    print_message("after the stop: body %.2f %%, tail %.2f %%, core %.2f %%; left %.3f %%\n",
                  100.0 * most.body, 100.0 * most.tail, 100.0 * core, 100.0 * fmax(last.body, last.tail));
    assert_true(most.body > 0.02 && most.tail > 0.03 && most.tail < 0.3);
    assert_true(core < 0.005);
    assert_true(last.body < 0.003 && last.tail < 0.003);
    free(primary);
    free(moved);
    srDestroySimulation(simulation);
}

static void with_nothing_left_to_the_animation_all_floats_and_comes_back(void** state) {
    (void)state;
    srSimulation* simulation = startShot(sr_complementNothing);
    writeTape(simulation, 0, FRAMES);
    Swing most = measureMost(simulation, STOP, FRAMES), last = measure(simulation, FRAMES - 1);
    assert_near(most.tail / most.body, 1.0, 0.02); // as one
    assert_true(most.body > 0.02 && most.body < 0.2);
    assert_true(last.body < 0.003 && last.tail < 0.003);
    assert_true(measure(simulation, 0).body == 0.0);
    srDestroySimulation(simulation);
}

static void how_many_shapes_there_are_is_told_when_all_is_recorded(void** state) {
    (void)state;
    srSimulation* simulation = startShot(sr_complementAutomatic);
    srShotStatus status;
    writeSkins(simulation, 0, FRAMES);
    writeTape(simulation, 0, FRAMES - 1);
    hashOf(simulation, FRAMES - 2);
    srSimulation_GetStatus(simulation, &status);
    assert_int_equal(status.motionShapeCount, 0);
    writeTape(simulation, FRAMES - 1, 1);
    hashOfLast(simulation);
    srSimulation_GetStatus(simulation, &status);
    assert_int_equal(status.motionShapeCount, 1);
    assert_true(status.motionShapesLeft <= 0.01f);
    srDestroySimulation(simulation);
}

static void pieces_and_repeats_give_the_bits_of_a_recording_at_once(void** state) {
    (void)state;
    srSimulation* simulation = runShot(sr_complementMotion);
    uint64_t expected = hashOfLast(simulation), early = hashOf(simulation, 20);
    int32_t revision = srSimulation_GetRevision(simulation);
    writeSkins(simulation, 0, FRAMES);
    writeTape(simulation, 0, FRAMES);
    assert_int_equal(srSimulation_GetRevision(simulation), revision);
    srDestroySimulation(simulation);

    simulation = startShot(sr_complementMotion);
    for (int32_t row = 0; row < FRAMES; row += 9) {
        writeSkins(simulation, row, 9);
        writeTape(simulation, row, 9);
        hashOf(simulation, row + 4);
    }
    assert_true(hashOfLast(simulation) == expected);

    // where the object goes is no shape: another end leaves the frames before it as they were
    float other[16];
    writeRow(1.5f, other);
    assert_success(srSimulation_WriteTape(simulation, FRAMES, 1, other, NULL));
    assert_true(hashOfLast(simulation) != expected);
    assert_true(hashOf(simulation, 20) == early);
    writeTape(simulation, FRAMES - 1, 1);
    assert_true(hashOfLast(simulation) == expected);

    // another shape at the end is another space for all
    float* skin = malloc(sizeof(float) * floatCount());
    assert_non_null(skin);
    memcpy(skin, skins, sizeof(float) * floatCount());
    for (size_t i = 0; i < floatCount(); i += 3) {
        skin[i + 2] += 0.2f * skin[i] * skin[i];
    }
    assert_success(srSimulation_WriteSkin(simulation, FRAMES, 1, skin, NULL));
    assert_true(hashOfLast(simulation) != expected);
    assert_true(hashOf(simulation, 20) != early);
    writeSkins(simulation, FRAMES - 1, 1);
    assert_true(hashOfLast(simulation) == expected);
    free(skin);
    srDestroySimulation(simulation);
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    uint64_t alone = 0;
    for (int32_t workerCount = 1; workerCount <= 8; ++workerCount) {
        int32_t busyCount = 0;
        for (int try = 0; try < MOST_TRIES && busyCount < 2; ++try) {
            uint64_t counts[64] = {0};
            srParallel_Stop();
            srParallel_SetWorkerCount(workerCount);
            srSimulation* simulation = runShot(sr_complementMotion);
            uint64_t hash = hashOfLast(simulation);
            srDestroySimulation(simulation);
            alone = workerCount == 1 ? hash : alone;
            assert_true(hash == alone);
            busyCount = workerCount == 1 ? 2 : 0;
            for (int32_t w = 0; w < srParallel_GetBlockCounts(counts, 64); ++w) {
                busyCount += counts[w] > 0;
            }
        }
        assert_true(busyCount >= 2);
    }
    srParallel_Stop();
    srParallel_SetWorkerCount(before);
}

static void broken_recordings_stay_finite_and_are_got_over(void** state) {
    (void)state;
    enum {
        first = 16,
        count = 12
    };
    float* torn = malloc(sizeof(float) * 16 * FRAMES);
    float* skin = malloc(sizeof(float) * floatCount());
    assert_true(torn != NULL && skin != NULL);
    memcpy(torn, rows, sizeof(float) * 16 * FRAMES);
    for (int32_t k = 0; k < count; ++k) {
        float* row = torn + 16 * (size_t)(first + k);
        const float scales[count] = {0.0f,    -1.0f, 1e-8f, 1e6f, 1.0f, 1.0f,
                                     -0.001f, 1.0f,  0.0f,  3.0f, 1.0f, 1.0f};
        for (int c = 0; c < 3; ++c) {
            row[5 * c] = scales[k];
        }
        row[5] = k == 5 ? 0.0f : row[5];
        row[13] = k == 4 || k == 10 ? 1e7f : 0.0f;
    }
    for (int32_t complement = sr_complementMotion; complement <= sr_complementNothing; ++complement) {
        srSimulation* simulation = startShot(complement);
        writeSkins(simulation, 0, KEYED);
        uint64_t seed = 3;
        for (int32_t k = 0; k < count; k += 2) {
            for (size_t i = 0; i < floatCount(); ++i) {
                float amount = k == 2 ? 1e8f : k == 4 ? 0.0f : (float)(srTestRandom(&seed) - 0.5);
                skin[i] = amount * skins[i];
            }
            assert_success(srSimulation_WriteSkin(simulation, 1 + first + k, 1, skin, NULL));
        }
        assert_success(srSimulation_WriteTape(simulation, 1, FRAMES, torn, NULL));
        Swing last = {0.0, 0.0};
        for (int32_t row = 0; row < FRAMES; ++row) {
            last = measure(simulation, row);
            srFrameStats stats;
            assert_success(srSimulation_GetFrameStats(simulation, 1 + row, &stats));
            assert_true(isfinite(stats.residual));
        }
        print_message("%d: %.4f and %.4f left\n", complement, last.body, last.tail);
        assert_true(last.body < 0.01 && last.tail < 0.01);
        srDestroySimulation(simulation);
    }
    free(torn);
    free(skin);
}

static void a_loop_closes_over_its_space(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_complementMotion);
    def.params.loop = sr_loopFirstFollowsLast;
    def.frameCount = 24;
    srSimulation* simulation = NULL;
    assert_success(srCreateSimulation(&bare, &def, &simulation));
    assert_success(srSimulation_FollowSkin(simulation, scene.def.skinPositions));
    float* skin = malloc(sizeof(float) * floatCount());
    assert_non_null(skin);
    float row[16];
    writeRow(0.0f, row);
    for (int32_t k = 0; k < 24; ++k) {
        writeSkin(0.5f + 0.5f * sinf(0.2618f * (float)k), skin);
        assert_success(srSimulation_WriteSkin(simulation, 1 + k, 1, skin, NULL));
        assert_success(srSimulation_WriteTape(simulation, 1 + k, 1, row, NULL));
    }
    assert_success(srSimulation_WaitFrame(simulation, 24, -1.0));
    srShotStatus status;
    srSimulation_GetStatus(simulation, &status);
    assert_int_equal(status.motionShapeCount, 1);
    assert_true(status.loopRounds >= 1 && status.loopSeam <= 1e-4f);
    free(skin);
    srDestroySimulation(simulation);
}

static srResult createOnce(void* context) {
    (void)context;
    srMotionSpace space;
    double* holds;
    SR_TRY(srCreateMotionSpace(&bare, &space));
    srDestroyMotionSpace(&space);
    SR_TRY(srCreateCoreHolds(&bare.cage, &holds));
    SR_FREE(holds, bare.cage.nodeCount);
    return sr_success;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(createOnce, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_space_spans_what_was_recorded),
        cmocka_unit_test(a_fit_that_is_given_up_leaves_affine_motion),
        cmocka_unit_test(what_was_keyed_is_kept_where_it_is_left_to_the_animation),
        cmocka_unit_test(without_bones_the_core_goes_with_the_object_and_the_rest_swings),
        cmocka_unit_test(with_nothing_left_to_the_animation_all_floats_and_comes_back),
        cmocka_unit_test(how_many_shapes_there_are_is_told_when_all_is_recorded),
        cmocka_unit_test(pieces_and_repeats_give_the_bits_of_a_recording_at_once),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(broken_recordings_stay_finite_and_are_got_over),
        cmocka_unit_test(a_loop_closes_over_its_space),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/motion_space", tests, prepareAll, forgetAll);
}
