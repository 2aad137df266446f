// SPDX-License-Identifier: GPL-3.0-or-later
//
// A shot that goes on from a file is, to the bit, the shot that never stopped; and a file of another shot, or
// one that is damaged anywhere, gives nothing wrong.

#define _DEFAULT_SOURCE // syscall

#include "support/support.h"

#include "core/thread.h"
#include "sim/bake.h"
#include "sim/cache.h"
#include "sim/checkpoint.h"
#include "sim/controls.h"
#include "support/scenes.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES 37
#define FIRST_FRAME -3
#define PATH_SIZE 700

static srTestScene scene;
static srCharacter character;
static char path[PATH_SIZE];
static char kept[PATH_SIZE];

// bytes that may still be written; negative is no limit
static _Atomic(int64_t) roomOnDisk = -1;

// stands before the C library's, so that a disk can be full
ssize_t write(int descriptor, const void* bytes, size_t size) {
    int64_t room = atomic_load(&roomOnDisk);
    if (room >= 0 && descriptor > 2) {
        size = (int64_t)size < room ? size : (size_t)room;
        if (size == 0) {
            errno = ENOSPC;
            return -1;
        }
        atomic_store(&roomOnDisk, room - (int64_t)size);
    }
    return syscall(SYS_write, descriptor, bytes, size);
}

static int prepareBar(void** state) {
    (void)state;
    srTestPath("shot.pc2", path, sizeof(path));
    srTestPath("shot.pc2.resume", kept, sizeof(kept));
    return srTestCreateBarScene(&scene) && srTestPrepareScene(&scene, &character) ? 0 : -1;
}

static int forgetBar(void** state) {
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static int removeFiles(void** state) {
    (void)state;
    atomic_store(&roomOnDisk, -1);
    unlink(path);
    unlink(kept);
    return 0;
}

static srShotDef makeDef(int32_t solver, int32_t loop) {
    srShotDef def = {.firstFrame = FIRST_FRAME, .frameCount = FRAMES, .frameRate = SR_TEST_FRAME_RATE};
    def.params = (srShotParams){
        .structSize = sizeof(srShotParams),
        .frequency = 2.0f,
        .settleFrames = 24.0f,
        .poissonRatio = 0.45f,
        .density = 1000.0f,
        .substeps = 4,
        .solver = solver,
        .loop = loop,
    };
    return def;
}

static srSimulation* startShot(const srShotDef* def, srTestMotion motion) {
    srSimulation* simulation = NULL;
    assert_success(srCreateSimulation(&character, def, &simulation));
    size_t rowFloatCount = (size_t)srTestScene_GetRowFloatCount(&scene);
    float* rows = malloc(sizeof(float) * rowFloatCount * FRAMES);
    assert_non_null(rows);
    srTestScene_WriteRows(&scene, motion, 0, FRAMES, rows);
    assert_success(srSimulation_WriteTape(simulation, FIRST_FRAME, FRAMES, rows, NULL));
    free(rows);
    return simulation;
}

static srResult bakeFrames(srSimulation* simulation, const char* checkpointPath, int32_t first,
                           int32_t count) {
    srBakeDef def = {.path = path,
                     .firstFrame = first,
                     .frameCount = count,
                     .checkpointPath = checkpointPath,
                     .samplesPerFrame = 1};
    srBake* bake = NULL;
    assert_success(srCreateBake(simulation, NULL, &def, &bake));
    assert_true(srJob_Wait(srBake_GetJob(bake), -1.0));
    srResult result = srJob_GetResult(srBake_GetJob(bake));
    srDestroyBakeWork(bake);
    return result;
}

static unsigned char* readFile(const char* name, size_t* outSize) {
    *outSize = 0;
    FILE* file = fopen(name, "rb");
    if (file == NULL) {
        return NULL;
    }
    unsigned char* bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *outSize = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static void writeBytes(const char* name, const unsigned char* bytes, size_t size) {
    FILE* file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// the bake of a shot that nothing ever interrupted
static unsigned char* bakeAtOnce(const srShotDef* def, size_t* outSize) {
    srSimulation* simulation = startShot(def, srTestShake);
    assert_success(bakeFrames(simulation, NULL, FIRST_FRAME, FRAMES));
    srDestroySimulation(simulation);
    unsigned char* bytes = readFile(path, outSize);
    assert_non_null(bytes);
    unlink(path);
    return bytes;
}

static void assertBake(const unsigned char* expected, size_t size) {
    size_t gotSize = 0;
    unsigned char* got = readFile(path, &gotSize);
    assert_non_null(got);
    assert_int_equal(gotSize, size);
    assert_memory_equal(got, expected, size);
    free(got);
}

// how many rows the file gives a shot that has none
static int32_t restoredFrom(const srShotDef* def, srTestMotion motion) {
    srSimulation* simulation = startShot(def, motion);
    srCheckpoint* checkpoint = NULL;
    assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
    int32_t rowCount = srCheckpoint_GetRowCount(checkpoint);
    srCloseCheckpoint(checkpoint, false);
    srDestroySimulation(simulation);
    return rowCount;
}

// leaves a file with the first rows of a shot
static void keepRows(const srShotDef* def, int32_t rowCount) {
    srSimulation* simulation = startShot(def, srTestShake);
    assert_success(bakeFrames(simulation, kept, FIRST_FRAME, rowCount));
    srDestroySimulation(simulation);
    unlink(path);
}

static void a_bake_goes_on_with_the_same_bytes_from_any_row(void** state) {
    (void)state;
    for (int32_t solver = sr_solverXpbd; solver <= sr_solverFlesh; ++solver) {
        srShotDef def = makeDef(solver, sr_loopNone);
        size_t size = 0;
        unsigned char* expected = bakeAtOnce(&def, &size);
        const int32_t counts[] = {1, 7, 8, 9, 16, FRAMES - 1};
        for (int32_t i = 0; i < SR_ARRAY_COUNT(counts); ++i) {
            keepRows(&def, counts[i]);
            srSimulation* simulation = startShot(&def, srTestShake);
            assert_success(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES));
            assertBake(expected, size);
            size_t keptSize = 0;
            assert_null(readFile(kept, &keptSize));
            srDestroySimulation(simulation);
        }
        free(expected);
    }
}

static void what_is_kept_is_not_simulated_again(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    keepRows(&def, FRAMES - 1);
    srSimulation* simulation = startShot(&def, srTestShake);
    srCheckpoint* checkpoint = NULL;
    assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
    srShotStatus status;
    srSimulation_GetStatus(simulation, &status);
    assert_int_equal(srCheckpoint_GetRowCount(checkpoint), FRAMES - 1);
    assert_true(status.readyFrameCount >= FRAMES - 1);
    srCloseCheckpoint(checkpoint, false);

    // hashes of the state: those of a shot that was simulated through
    srSimulation* other = startShot(&def, srTestShake);
    for (int32_t frame = FIRST_FRAME; frame < FIRST_FRAME + FRAMES; ++frame) {
        uint64_t hashes[2];
        assert_success(srSimulation_WaitFrame(simulation, frame, -1.0));
        assert_success(srSimulation_WaitFrame(other, frame, -1.0));
        assert_success(srSimulation_GetHash(simulation, frame, &hashes[0]));
        assert_success(srSimulation_GetHash(other, frame, &hashes[1]));
        assert_true(hashes[0] == hashes[1]);
    }
    srDestroySimulation(other);
    srDestroySimulation(simulation);
}

static void a_killed_bake_goes_on(void** state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); // starts no thread in a process that was forked from several
#endif
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    size_t size = 0;
    unsigned char* expected = bakeAtOnce(&def, &size);
    // another process of ours dies in the middle, without a chance to tidy up
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        srSimulation* simulation = startShot(&def, srTestShake);
        srCheckpoint* checkpoint = NULL;
        if (srOpenCheckpoint(simulation, kept, &checkpoint) == sr_success) {
            for (int32_t row = 0; row < 21; ++row) {
                if (srSimulation_WaitFrame(simulation, FIRST_FRAME + row, -1.0) != sr_success ||
                    srCheckpoint_Add(checkpoint) != sr_success) {
                    _exit(1);
                }
            }
        }
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(restoredFrom(&def, srTestShake), 21);
    srSimulation* simulation = startShot(&def, srTestShake);
    assert_success(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES));
    assertBake(expected, size);
    srDestroySimulation(simulation);
    free(expected);
}

static void rows_of_another_motion_are_taken_up_to_the_first_that_differs(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    keepRows(&def, 20);
    // of the shake the first row is that of rest
    assert_int_equal(restoredFrom(&def, srTestRest), 1);
    // and what followed was dropped
    assert_int_equal(restoredFrom(&def, srTestShake), 1);
}

static void rows_of_other_dials_rates_and_solvers_are_dropped(void** state) {
    (void)state;
    for (int32_t change = 0; change < 4; ++change) {
        srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
        keepRows(&def, 12);
        assert_int_equal(restoredFrom(&def, srTestShake), 12);
        if (change == 0) {
            def.params.settleFrames = 25.0f;
        } else if (change == 1) {
            def.frameRate = 25.0;
        } else if (change == 2) {
            def.params.solver = sr_solverFlesh;
        } else {
            def.params.loop = sr_loopLastIsFirst;
        }
        assert_int_equal(restoredFrom(&def, srTestShake), 0);
    }
}

static void other_controls_keep_the_rows_before_them(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    keepRows(&def, 20);
    srSimulation* simulation = startShot(&def, srTestShake);
    srFrameControls controls = srMakeDefaultControls();
    controls.isCut = true;
    srSimulation_WriteControls(simulation, FIRST_FRAME + 11, 1, &controls, NULL);
    srCheckpoint* checkpoint = NULL;
    assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
    assert_int_equal(srCheckpoint_GetRowCount(checkpoint), 11);
    srCloseCheckpoint(checkpoint, false);
    srDestroySimulation(simulation);
}

static void a_longer_range_goes_on_too(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    keepRows(&def, 20);
    def.frameCount = FRAMES + 100;
    assert_int_equal(restoredFrom(&def, srTestShake), 20);
}

static void a_loop_comes_back_whole_with_its_seam(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopFirstFollowsLast);
    def.params.substeps = 100; // so long a way round that the file is read before its end
    size_t size = 0;
    unsigned char* expected = bakeAtOnce(&def, &size);
    keepRows(&def, 10);
    srSimulation* simulation = startShot(&def, srTestShake);
    assert_success(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES));
    assertBake(expected, size);
    srDestroySimulation(simulation);
    free(expected);

    keepRows(&def, 10);
    simulation = startShot(&def, srTestShake);
    srCheckpoint* checkpoint = NULL;
    assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
    srShotStatus status;
    srSimulation_GetStatus(simulation, &status);
    assert_true(status.loopRounds > 0 && status.loopSeam > 0.0f);
    srCloseCheckpoint(checkpoint, false);
    srDestroySimulation(simulation);
}

static void damage_anywhere_costs_the_rows_behind_it_and_nothing_else(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    size_t size = 0;
    unsigned char* expected = bakeAtOnce(&def, &size);
    keepRows(&def, 20);
    size_t keptSize = 0;
    unsigned char* bytes = readFile(kept, &keptSize);
    assert_non_null(bytes);
    uint64_t seed = 29;
    for (int32_t trial = 0; trial < 40; ++trial) {
        unsigned char* damaged = malloc(keptSize);
        assert_non_null(damaged);
        memcpy(damaged, bytes, keptSize);
        size_t place = (size_t)(srTestRandom(&seed) * (double)keptSize);
        bool isCut = trial % 2 == 0;
        damaged[place] ^= (unsigned char)(1u << (trial % 8));
        writeBytes(kept, damaged, isCut ? place : keptSize);
        free(damaged);
        srSimulation* simulation = startShot(&def, srTestShake);
        srCheckpoint* checkpoint = NULL;
        assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
        assert_true(srCheckpoint_GetRowCount(checkpoint) < 20);
        srCloseCheckpoint(checkpoint, false);
        assert_success(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES));
        assertBake(expected, size);
        srDestroySimulation(simulation);
    }
    free(bytes);
    free(expected);
}

static void a_full_disk_keeps_the_old_bake_and_the_rows_and_goes_on(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    size_t size = 0;
    unsigned char* expected = bakeAtOnce(&def, &size);
    writeBytes(path, (const unsigned char*)"old", 3);
    srSimulation* simulation = startShot(&def, srTestShake);
    assert_success(srSimulation_WaitFrame(simulation, FIRST_FRAME + FRAMES - 1, -1.0));
    atomic_store(&roomOnDisk, 30000); // for some rows of the checkpoint
    assert_result(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES), sr_errorFile);
    assert_non_null(strstr(srGetErrorText(), "No space left"));
    atomic_store(&roomOnDisk, -1);
    assertBake((const unsigned char*)"old", 3);
    int32_t rowCount = restoredFrom(&def, srTestShake);
    assert_true(rowCount > 0 && rowCount < FRAMES);
    assert_success(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES));
    assertBake(expected, size);
    srDestroySimulation(simulation);
    free(expected);
}

static void two_bakes_do_not_share_a_checkpoint(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    srSimulation* simulation = startShot(&def, srTestShake);
    srCheckpoint* checkpoint = NULL;
    assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
    assert_result(bakeFrames(simulation, kept, FIRST_FRAME, FRAMES), sr_errorFile);
    assert_non_null(strstr(srGetErrorText(), "being written already"));
    srCloseCheckpoint(checkpoint, false);
    srDestroySimulation(simulation);
}

static void dials_that_change_before_anything_is_ready_do_not_get_into_the_file(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    srSimulation* simulation = startShot(&def, srTestShake);
    srCheckpoint* checkpoint = NULL;
    assert_success(srOpenCheckpoint(simulation, kept, &checkpoint));
    srShotParams params = def.params;
    params.frequency = 3.0f;
    srSimulation_SetParams(simulation, &params);
    assert_success(srSimulation_WaitFrame(simulation, FIRST_FRAME, -1.0));
    assert_result(srCheckpoint_Add(checkpoint), sr_errorCancelled);
    srCloseCheckpoint(checkpoint, false);
    assert_int_equal(restoredFrom(&def, srTestShake), 0);
    srDestroySimulation(simulation);
}

static void a_chunk_keeps_all_rows_up_to_its_end(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    size_t size = 0;
    unsigned char* expected = bakeAtOnce(&def, &size);
    srSimulation* simulation = startShot(&def, srTestShake);
    assert_success(bakeFrames(simulation, kept, FIRST_FRAME + 10, 5));
    srDestroySimulation(simulation);
    size_t rowSize = 12 * (size_t)character.embedding.pointCount;
    size_t chunkSize = 0;
    unsigned char* chunk = readFile(path, &chunkSize);
    assert_non_null(chunk);
    assert_int_equal(chunkSize, 32 + 5 * rowSize);
    assert_memory_equal(chunk + 32, expected + 32 + 10 * rowSize, 5 * rowSize);
    free(chunk);
    assert_int_equal(restoredFrom(&def, srTestShake), 15);
    free(expected);
}

static srResult goOn(void* context) {
    srCheckpoint* checkpoint = NULL;
    SR_TRY(srOpenCheckpoint(context, kept, &checkpoint));
    srCloseCheckpoint(checkpoint, false);
    return bakeFrames(context, kept, FIRST_FRAME, FRAMES - 1);
}

static srResult createAndGoOn(void* context) {
    srSimulation* simulation = context;
    srBakeDef def = {.path = path,
                     .firstFrame = FIRST_FRAME,
                     .frameCount = FRAMES - 1,
                     .checkpointPath = kept,
                     .samplesPerFrame = 1};
    srBake* bake = NULL;
    SR_TRY(srCreateBake(simulation, NULL, &def, &bake));
    bool isDone = srJob_Wait(srBake_GetJob(bake), -1.0);
    srResult result = isDone ? srJob_GetResult(srBake_GetJob(bake)) : sr_errorInternal;
    srDestroyBakeWork(bake);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srShotDef def = makeDef(sr_solverXpbd, sr_loopNone);
    srSimulation* simulation = startShot(&def, srTestShake);
    assert_success(srSimulation_WaitFrame(simulation, FIRST_FRAME + FRAMES - 1, -1.0));
    assert_success(goOn(simulation));
    srTestEveryAllocationFails(createAndGoOn, simulation);
    srDestroySimulation(simulation);
}

#define TEST(name) cmocka_unit_test_setup(name, removeFiles)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_bake_goes_on_with_the_same_bytes_from_any_row),
        TEST(what_is_kept_is_not_simulated_again),
        TEST(a_killed_bake_goes_on),
        TEST(rows_of_another_motion_are_taken_up_to_the_first_that_differs),
        TEST(rows_of_other_dials_rates_and_solvers_are_dropped),
        TEST(other_controls_keep_the_rows_before_them),
        TEST(a_longer_range_goes_on_too),
        TEST(a_loop_comes_back_whole_with_its_seam),
        TEST(damage_anywhere_costs_the_rows_behind_it_and_nothing_else),
        TEST(a_full_disk_keeps_the_old_bake_and_the_rows_and_goes_on),
        TEST(two_bakes_do_not_share_a_checkpoint),
        TEST(dials_that_change_before_anything_is_ready_do_not_get_into_the_file),
        TEST(a_chunk_keeps_all_rows_up_to_its_end),
        TEST(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/checkpoint", tests, prepareBar, forgetBar);
}
