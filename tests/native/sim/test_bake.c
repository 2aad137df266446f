// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bake writes what reading gives, to the bit; and a bake that does not end well leaves the old file.

#define _DEFAULT_SOURCE // syscall

#include "support/support.h"

#include "core/hash.h"
#include "core/thread.h"
#include "sim/bake.h"
#include "support/scenes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES 20
#define FIRST_FRAME -3
#define PATH_SIZE 700
#define HEADER_SIZE 32
#define MOST_TRIES 50

static srTestScene scene;
static srCharacter character;

static int prepareBar(void** state) {
    (void)state;
    return srTestCreateBarScene(&scene) && srTestPrepareScene(&scene, &character) ? 0 : -1;
}

static int forgetBar(void** state) {
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

// what happens to the shot while the bake writes for the first time; null is nothing
static _Atomic(srSimulation*) shotToDisturb;

static srShotParams otherDials(void) {
    return (srShotParams){
        .frequency = 3.0f, .settleFrames = 24.0f, .poissonRatio = 0.3f, .density = 1000.0f, .substeps = 4};
}

// stands before the C library's, so that a test can be in the middle of a bake
ssize_t write(int descriptor, const void* bytes, size_t size) {
    srSimulation* simulation = atomic_exchange(&shotToDisturb, NULL);
    if (simulation != NULL) {
        srShotParams params = otherDials();
        srShotStatus status;
        srSimulation_SetParams(simulation, &params);
        srSimulation_GetStatus(simulation, &status);
        // all frames are ready again before the bake looks at the next one
        int32_t last = status.firstFrame + status.frameCount - 1;
        while (srSimulation_WaitFrame(simulation, last, -1.0) != sr_success) {
            srYield();
        }
    }
    return syscall(SYS_write, descriptor, bytes, size);
}

static int32_t loop = sr_loopNone; // of the shots to come

// a shaken bar of which `recordedCount` of `frameCount` frames are on the tape
static srSimulation* startLongShot(int32_t frameCount, int32_t recordedCount, int32_t substeps) {
    srShotDef def = {.firstFrame = FIRST_FRAME, .frameCount = frameCount, .frameRate = SR_TEST_FRAME_RATE};
    def.params = (srShotParams){
        .structSize = sizeof(srShotParams),
        .frequency = 2.0f,
        .settleFrames = 24.0f,
        .poissonRatio = 0.45f,
        .density = 1000.0f,
        .substeps = substeps,
        .loop = loop,
    };
    srSimulation* simulation = NULL;
    assert_success(srCreateSimulation(&character, &def, &simulation));
    size_t rowFloatCount = (size_t)srTestScene_GetRowFloatCount(&scene);
    float* rows = malloc(sizeof(float) * rowFloatCount * (size_t)frameCount);
    assert_non_null(rows);
    srTestScene_WriteRows(&scene, srTestShake, 0, frameCount, rows);
    assert_success(srSimulation_WriteTape(simulation, FIRST_FRAME, recordedCount, rows, NULL));
    free(rows);
    return simulation;
}

static srSimulation* startShot(int32_t recordedCount, int32_t substeps) {
    return startLongShot(FRAMES, recordedCount, substeps);
}

static srBake* startBake(srSimulation* simulation, const char* path, int32_t firstFrame, int32_t frameCount) {
    srBakeDef def = {.path = path, .firstFrame = firstFrame, .frameCount = frameCount, .samplesPerFrame = 1};
    srBake* bake = NULL;
    assert_success(srCreateBake(simulation, NULL, &def, &bake));
    return bake;
}

static srResult endOf(srBake* bake) {
    assert_true(srJob_Wait(srBake_GetJob(bake), -1.0));
    return srJob_GetResult(srBake_GetJob(bake));
}

// the whole file; null when there is none
static unsigned char* readFile(const char* path, size_t* outSize) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    unsigned char* bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *outSize = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void writeOldFile(const char* path) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs("old", file) >= 0);
    fclose(file);
}

static void assertOldFile(const char* path) {
    size_t size = 0;
    unsigned char* bytes = readFile(path, &size);
    assert_non_null(bytes);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "old", 3);
    free(bytes);
    char partial[PATH_SIZE + 16];
    snprintf(partial, sizeof(partial), "%s.partial", path);
    assert_null(readFile(partial, &size));
}

static int32_t readInt(const unsigned char* bytes) {
    return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24);
}

static void the_file_holds_what_reading_gives(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("whole.pc2", path, sizeof(path));
    writeOldFile(path);
    srSimulation* simulation = startShot(FRAMES, 4);
    srBake* bake = startBake(simulation, path, FIRST_FRAME + 2, FRAMES - 5);
    assert_success(endOf(bake));
    srDestroyBakeWork(bake);

    size_t size = 0;
    unsigned char* bytes = readFile(path, &size);
    assert_non_null(bytes);
    int32_t pointCount = character.embedding.pointCount;
    size_t rowSize = 12 * (size_t)pointCount;
    assert_int_equal(size, HEADER_SIZE + (FRAMES - 5) * rowSize);
    assert_memory_equal(bytes, "POINTCACHE2\0", 12);
    assert_int_equal(readInt(bytes + 12), 1);
    assert_int_equal(readInt(bytes + 16), pointCount);
    float startAndRate[2];
    memcpy(startAndRate, bytes + 20, sizeof(startAndRate));
    assert_true(startAndRate[0] == 0.0f && startAndRate[1] == 1.0f);
    assert_int_equal(readInt(bytes + 28), FRAMES - 5);
    float* offsets = malloc(rowSize);
    assert_non_null(offsets);
    float sum = 0.0f;
    for (int32_t row = 0; row < FRAMES - 5; ++row) {
        assert_success(srSimulation_ReadOffsets(simulation, FIRST_FRAME + 2 + row, offsets));
        assert_memory_equal(bytes + HEADER_SIZE + (size_t)row * rowSize, offsets, rowSize);
        sum += offsets[3 * pointCount - 3] * offsets[3 * pointCount - 3];
    }
    assert_true(sum > 0.0f);
    free(offsets);
    free(bytes);
    srDestroySimulation(simulation);
}

static void samples_between_frames_are_what_reading_gives(void** state) {
    (void)state;
    enum {
        SAMPLES = 4,
        BAKED = 6,
        ROWS = (BAKED - 1) * SAMPLES + 1
    };
    char path[PATH_SIZE];
    srTestPath("samples.pc2", path, sizeof(path));
    srSimulation* simulation = startShot(FRAMES, 4);
    srBakeDef def = {
        .path = path, .firstFrame = FIRST_FRAME + 7, .frameCount = BAKED, .samplesPerFrame = SAMPLES};
    srBake* bake = NULL;
    assert_success(srCreateBake(simulation, NULL, &def, &bake));
    assert_success(endOf(bake));
    srDestroyBakeWork(bake);

    size_t size = 0;
    unsigned char* bytes = readFile(path, &size);
    assert_non_null(bytes);
    size_t rowSize = 12 * (size_t)character.embedding.pointCount;
    assert_int_equal(size, HEADER_SIZE + ROWS * rowSize);
    float rate;
    memcpy(&rate, bytes + 24, sizeof(rate));
    assert_true(rate == 0.25f);
    assert_int_equal(readInt(bytes + 28), ROWS);
    float* offsets = malloc(rowSize);
    assert_non_null(offsets);
    for (int32_t row = 0; row < ROWS; ++row) {
        double frame = (double)def.firstFrame + (double)row / SAMPLES;
        assert_success(srSimulation_ReadOffsets(simulation, frame, offsets));
        assert_memory_equal(bytes + HEADER_SIZE + (size_t)row * rowSize, offsets, rowSize);
    }
    free(offsets);
    free(bytes);
    srDestroySimulation(simulation);
}

// the shot's own frame that stands where a loop's margin is
static double findInRound(double frame) {
    double period = loop == sr_loopLastIsFirst ? FRAMES - 1 : FRAMES;
    return frame < FIRST_FRAME ? frame + period : frame > FIRST_FRAME + FRAMES - 1 ? frame - period : frame;
}

// Offsets at a share of the way from a whole frame to the next, each where the round has it
static void mixInRound(srSimulation* simulation, int32_t frame, float share, float* outOffsets) {
    size_t floatCount = 3 * (size_t)character.embedding.pointCount;
    float* later = malloc(sizeof(float) * floatCount);
    assert_non_null(later);
    assert_success(srSimulation_ReadOffsets(simulation, findInRound(frame), outOffsets));
    assert_success(srSimulation_ReadOffsets(simulation, findInRound(frame + 1), later));
    for (size_t i = 0; i < floatCount; ++i) {
        outOffsets[i] = outOffsets[i] * (1.0f - share) + later[i] * share;
    }
    free(later);
}

static void assertMargin(srSimulation* simulation) {
    size_t rowSize = 12 * (size_t)character.embedding.pointCount;
    float *offsets = malloc(rowSize), *expected = malloc(rowSize);
    assert_true(offsets != NULL && expected != NULL);
    const int32_t last = FIRST_FRAME + FRAMES - 1;
    const struct {
        double asked;
        int32_t frame;
        float share;
    } cases[] = {{FIRST_FRAME - 0.25, FIRST_FRAME - 1, 0.75f},
                 {FIRST_FRAME - 1.0, FIRST_FRAME - 1, 0.0f},
                 {FIRST_FRAME - 9.5, FIRST_FRAME - 1, 0.0f},
                 {last + 0.5, last, 0.5f},
                 {last + 1.0, last + 1, 0.0f},
                 {last + 9.5, last + 1, 0.0f}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        assert_success(srSimulation_ReadOffsets(simulation, cases[i].asked, offsets));
        if (cases[i].share > 0.0f) {
            mixInRound(simulation, cases[i].frame, cases[i].share, expected);
        } else {
            assert_success(srSimulation_ReadOffsets(simulation, findInRound(cases[i].frame), expected));
        }
        assert_memory_equal(offsets, expected, rowSize);
    }
    // it moves there: a shutter that opens before the first frame sees it
    assert_success(srSimulation_ReadOffsets(simulation, FIRST_FRAME, expected));
    assert_success(srSimulation_ReadOffsets(simulation, FIRST_FRAME - 0.25, offsets));
    assert_memory_not_equal(offsets, expected, rowSize);
    free(offsets);
    free(expected);
}

static void assertFileHasMargin(srSimulation* simulation, const char* checkpointPath) {
    enum {
        SAMPLES = 4,
        ROWS = (FRAMES + 1) * SAMPLES + 1
    };
    char path[PATH_SIZE];
    srTestPath("loop.pc2", path, sizeof(path));
    srBakeDef def = {.path = path,
                     .firstFrame = FIRST_FRAME - 1,
                     .frameCount = FRAMES + 2,
                     .samplesPerFrame = SAMPLES,
                     .checkpointPath = checkpointPath};
    srBake* bake = NULL;
    assert_success(srCreateBake(simulation, NULL, &def, &bake));
    assert_success(endOf(bake));
    srDestroyBakeWork(bake);
    size_t size = 0, rowSize = 12 * (size_t)character.embedding.pointCount;
    unsigned char* bytes = readFile(path, &size);
    float* offsets = malloc(rowSize);
    assert_true(bytes != NULL && offsets != NULL);
    assert_int_equal(size, HEADER_SIZE + ROWS * rowSize);
    for (int32_t row = 0; row < ROWS; ++row) {
        double frame = (double)def.firstFrame + (double)row / SAMPLES;
        assert_success(srSimulation_ReadOffsets(simulation, frame, offsets));
        assert_memory_equal(bytes + HEADER_SIZE + (size_t)row * rowSize, offsets, rowSize);
    }
    free(offsets);
    free(bytes);
}

static void around_a_loop_lie_the_rounds_before_and_to_come(void** state) {
    (void)state;
    const int32_t loops[] = {sr_loopLastIsFirst, sr_loopFirstFollowsLast};
    for (int i = 0; i < 2; ++i) {
        loop = loops[i];
        srSimulation* simulation = startShot(FRAMES, 4);
        assert_int_equal(srSimulation_GetMargin(simulation), 1);
        assertFileHasMargin(simulation, NULL); // which waits for the whole round
        assertMargin(simulation);
        srDestroySimulation(simulation);

        char kept[PATH_SIZE];
        srTestPath("loop.resume", kept, sizeof(kept));
        simulation = startShot(FRAMES, 4);
        assertFileHasMargin(simulation, kept);
        FILE* left = fopen(kept, "rb");
        assert_null(left); // all of the shot is baked
        srDestroySimulation(simulation);
    }
    loop = sr_loopNone;
}

static void around_other_shots_their_ends_are_held(void** state) {
    (void)state;
    srSimulation* simulation = startShot(FRAMES, 4);
    assert_int_equal(srSimulation_GetMargin(simulation), 0);
    assert_success(srSimulation_WaitFrame(simulation, FIRST_FRAME + FRAMES - 1, -1.0));
    size_t rowSize = 12 * (size_t)character.embedding.pointCount;
    float *offsets = malloc(rowSize), *expected = malloc(rowSize);
    assert_true(offsets != NULL && expected != NULL);
    for (int32_t i = 0; i < 2; ++i) {
        int32_t end = i == 0 ? FIRST_FRAME : FIRST_FRAME + FRAMES - 1;
        assert_success(srSimulation_ReadOffsets(simulation, end, expected));
        assert_success(srSimulation_ReadOffsets(simulation, end + (i == 0 ? -0.5 : 0.5), offsets));
        assert_memory_equal(offsets, expected, rowSize);
    }
    free(offsets);
    free(expected);
    srDestroySimulation(simulation);
}

static void a_frame_that_is_not_recorded_fails_the_bake_and_keeps_the_old_file(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("gap.pc2", path, sizeof(path));
    writeOldFile(path);
    srSimulation* simulation = startShot(FRAMES / 2, 4);
    srBake* bake = startBake(simulation, path, FIRST_FRAME, FRAMES);
    // not sr_errorNotReady: that is what who waits is told while it runs
    assert_result(endOf(bake), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "7 is not recorded"));
    srDestroyBakeWork(bake);
    assertOldFile(path);
    srDestroySimulation(simulation);
}

// How a bake ends that is disturbed when a share of it is done; tried again when a busy machine lets it end
// before
static srResult disturb(const char* path, float share, void (*how)(srSimulation* simulation, srBake* bake)) {
    srResult result = sr_success;
    for (int try = 0; try < MOST_TRIES && result == sr_success; ++try) {
        writeOldFile(path);
        srSimulation* simulation = startShot(FRAMES, 100);
        srBake* bake = startBake(simulation, path, FIRST_FRAME, FRAMES);
        while (srJob_GetProgress(srBake_GetJob(bake)) < share) {
            srYield();
        }
        how(simulation, bake);
        result = endOf(bake);
        srDestroyBakeWork(bake);
        srDestroySimulation(simulation);
    }
    return result;
}

static void changeDials(srSimulation* simulation, srBake* bake) {
    (void)bake;
    srShotParams params = otherDials();
    srSimulation_SetParams(simulation, &params);
}

static void cancel(srSimulation* simulation, srBake* bake) {
    (void)simulation;
    srJob_Cancel(srBake_GetJob(bake));
}

static void dials_that_change_in_the_middle_fail_the_bake(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("changed.pc2", path, sizeof(path));
    assert_result(disturb(path, 0.3f, changeDials), sr_errorCancelled);
    assert_non_null(strstr(srGetErrorText(), "changed while it was being baked"));
    assertOldFile(path);
}

// Nothing but the count of changes tells that the frames behind the change are not those before it
static void frames_that_are_ready_again_are_not_the_frames_that_were(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("again.pc2", path, sizeof(path));
    writeOldFile(path);
    // so many that the first of several writes comes in the middle
    int32_t frameCount = 3 * 65536 / (12 * character.embedding.pointCount);
    srSimulation* simulation = startLongShot(frameCount, frameCount, 1);
    assert_success(srSimulation_WaitFrame(simulation, FIRST_FRAME + frameCount - 1, -1.0));
    atomic_store(&shotToDisturb, simulation);
    srBake* bake = startBake(simulation, path, FIRST_FRAME, frameCount);
    srResult result = endOf(bake);
    assert_null(atomic_load(&shotToDisturb));
    assert_result(result, sr_errorCancelled);
    assert_non_null(strstr(srGetErrorText(), "changed while it was being baked"));
    srDestroyBakeWork(bake);
    srDestroySimulation(simulation);
    assertOldFile(path);
}

static void a_cancelled_bake_keeps_the_old_file(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("cancelled.pc2", path, sizeof(path));
    for (int when = 0; when < 2; ++when) {
        assert_result(disturb(path, 0.5f * (float)when, cancel), sr_errorCancelled);
        assert_non_null(strstr(srGetErrorText(), "cancelled"));
        assertOldFile(path);
    }
}

// the file's hash, or zero without one
static uint64_t hashFile(const char* path) {
    size_t size = 0;
    unsigned char* bytes = readFile(path, &size);
    uint64_t hash = bytes != NULL ? srHashBytes(SR_HASH_SEED, bytes, size) : 0;
    free(bytes);
    return hash;
}

static void a_file_never_mixes_two_states_of_a_shot(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("mixed.pc2", path, sizeof(path));
    srSimulation* simulation = startShot(FRAMES, 4);
    srShotParams params = {
        .frequency = 2.0f, .settleFrames = 24.0f, .poissonRatio = 0.45f, .density = 1000.0f};
    uint64_t hashes[2];
    for (int32_t which = 0; which < 2; ++which) {
        params.substeps = 1 + which;
        srSimulation_SetParams(simulation, &params);
        srBake* bake = startBake(simulation, path, FIRST_FRAME, FRAMES);
        assert_success(endOf(bake));
        srDestroyBakeWork(bake);
        hashes[which] = hashFile(path);
    }
    uint64_t seed = 71;
    for (int32_t trial = 0; trial < 60; ++trial) {
        srBake* bake = startBake(simulation, path, FIRST_FRAME, FRAMES);
        double end = srGetSeconds() + 4e-4 * srTestRandom(&seed);
        while (srGetSeconds() < end) {
            srYield();
        }
        params.substeps = 1 + trial % 2;
        srSimulation_SetParams(simulation, &params);
        srResult result = endOf(bake);
        assert_true(result == sr_success || result == sr_errorCancelled);
        uint64_t hash = hashFile(path);
        assert_true(hash == hashes[0] || hash == hashes[1]);
        srDestroyBakeWork(bake);
    }
    srDestroySimulation(simulation);
}

static void a_folder_that_is_not_there_is_a_file_error_with_the_path(void** state) {
    (void)state;
    char path[PATH_SIZE];
    srTestPath("no such folder/x.pc2", path, sizeof(path));
    srSimulation* simulation = startShot(FRAMES, 1);
    srBake* bake = startBake(simulation, path, FIRST_FRAME, FRAMES);
    assert_result(endOf(bake), sr_errorFile);
    assert_non_null(strstr(srGetErrorText(), "no such folder"));
    srDestroyBakeWork(bake);
    srDestroySimulation(simulation);
}

static srResult bakeAll(void* context) {
    char path[PATH_SIZE];
    srTestPath("memory.pc2", path, sizeof(path));
    srBakeDef def = {.path = path, .firstFrame = FIRST_FRAME, .frameCount = FRAMES, .samplesPerFrame = 1};
    srBake* bake = NULL;
    SR_TRY(srCreateBake(context, NULL, &def, &bake));
    srResult result = endOf(bake);
    srDestroyBakeWork(bake);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srSimulation* simulation = startShot(FRAMES, 1);
    assert_success(srSimulation_WaitFrame(simulation, FIRST_FRAME + FRAMES - 1, -1.0));
    srTestEveryAllocationFails(bakeAll, simulation);
    srDestroySimulation(simulation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_holds_what_reading_gives),
        cmocka_unit_test(samples_between_frames_are_what_reading_gives),
        cmocka_unit_test(around_a_loop_lie_the_rounds_before_and_to_come),
        cmocka_unit_test(around_other_shots_their_ends_are_held),
        cmocka_unit_test(a_frame_that_is_not_recorded_fails_the_bake_and_keeps_the_old_file),
        cmocka_unit_test(dials_that_change_in_the_middle_fail_the_bake),
        cmocka_unit_test(frames_that_are_ready_again_are_not_the_frames_that_were),
        cmocka_unit_test(a_file_never_mixes_two_states_of_a_shot),
        cmocka_unit_test(a_cancelled_bake_keeps_the_old_file),
        cmocka_unit_test(a_folder_that_is_not_there_is_a_file_error_with_the_path),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/bake", tests, prepareBar, forgetBar);
}
