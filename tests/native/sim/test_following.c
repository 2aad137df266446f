// SPDX-License-Identifier: GPL-3.0-or-later
//
// Followers: what the flesh does at a place is what a follower does there, in its own space; a rigid one does
// it as a whole.

#include "sim/following.h"

#include "core/parallel.h"
#include "sim/bake.h"
#include "sim/shots.h"

#include <stdio.h>
#include <string.h>

static srTestScene scene;
static srCharacter bar;
static float* moving;      // rows of a rig that shakes
static srSimulation* shot; // simulated to its end
static float* skinOffsets; // room
static float* ownOffsets;  // room for a follower of as many points as the skin

static const float IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
// scaled unevenly, mirrored, turned and moved away
static const float CROOKED[16] = {0, 2, 0, 0, 0.5f, 0, 0, 0, 0.25f, 0, -3, 0, 7, -5, 11, 1};

static int32_t pointCount(void) {
    return bar.embedding.pointCount;
}

static srVec3 readPoint(const float* points, int32_t i) {
    return (srVec3){(double)points[3 * i], (double)points[3 * i + 1], (double)points[3 * i + 2]};
}

static int prepareAll(void** state) {
    (void)state;
    if (!srTestCreateBarScene(&scene) || !srTestPrepareScene(&scene, &bar)) {
        return -1;
    }
    moving = makeRows(&scene, srTestShake);
    skinOffsets = makeOffsets(&bar);
    ownOffsets = makeOffsets(&bar);
    shot = startShot(&bar);
    writeAll(shot, moving);
    finish(shot);
    return 0;
}

static int forgetAll(void** state) {
    free(moving);
    free(skinOffsets);
    free(ownOffsets);
    srDestroySimulation(shot);
    srDestroyCharacterRest(&bar);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static srFollowing* follow(const float* restPositions, int32_t count, bool isRigid) {
    srFollowerDef def = {.restPositions = restPositions, .pointCount = count, .isRigid = isRigid};
    srFollowing* following = NULL;
    assert_success(srCreateFollowing(shot, &def, &following));
    return following;
}

static void writeStill(srFollowing* following, const float* object, const float* restToWorld) {
    float rows[FRAMES * SR_FOLLOWER_ROW_FLOATS];
    for (int32_t row = 0; row < FRAMES; ++row) {
        memcpy(rows + row * SR_FOLLOWER_ROW_FLOATS, object, 16 * sizeof(float));
        memcpy(rows + row * SR_FOLLOWER_ROW_FLOATS + 16, restToWorld, 16 * sizeof(float));
    }
    assert_success(srFollowing_WriteTape(following, FIRST_FRAME, FRAMES, rows));
}

// the rig is shaken well by then
#define BUSY_FRAME (FIRST_FRAME + 14)

static void what_lies_where_the_skin_lies_moves_as_the_skin_to_the_bit(void** state) {
    (void)state;
    srFollowing* following = follow(scene.def.skinPositions, pointCount(), false);
    writeStill(following, IDENTITY, IDENTITY);
    const double frames[] = {FIRST_FRAME - 3.0, BUSY_FRAME, BUSY_FRAME + 0.25, LAST_FRAME + 9.0};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(frames); ++i) {
        assert_success(srSimulation_ReadOffsets(shot, frames[i], skinOffsets));
        assert_success(srFollowing_ReadOffsets(following, frames[i], ownOffsets));
        assert_memory_equal(skinOffsets, ownOffsets, 12 * (size_t)pointCount());
    }
    assert_success(srSimulation_ReadOffsets(shot, BUSY_FRAME, skinOffsets));
    assert_true(largest(skinOffsets, pointCount()) > 0.005f);
    srDestroyFollowing(following);
}

static void offsets_are_in_the_followers_own_space(void** state) {
    (void)state;
    srFollowing* following = follow(scene.def.skinPositions, pointCount(), false);
    writeStill(following, CROOKED, IDENTITY);
    assert_success(srSimulation_ReadOffsets(shot, BUSY_FRAME, skinOffsets));
    assert_success(srFollowing_ReadOffsets(following, BUSY_FRAME, ownOffsets));
    srMat34 object = srFromColumns16(CROOKED);
    double worst = 0.0;
    for (int32_t i = 0; i < pointCount(); ++i) {
        srVec3f own = {ownOffsets[3 * i], ownOffsets[3 * i + 1], ownOffsets[3 * i + 2]};
        srVec3 inWorld = srMulVector34(&object, srToDouble(own));
        srVec3f expected = {skinOffsets[3 * i], skinOffsets[3 * i + 1], skinOffsets[3 * i + 2]};
        worst = fmax(worst, srDistance(inWorld, srToDouble(expected)));
    }
    // rounding of offsets of 0.1 to float, a few times
    assert_true(worst < srTestTolerance(1e-7));
    srDestroyFollowing(following);
}

static void rest_gives_exactly_nothing(void** state) {
    (void)state;
    srSimulation* still = startShot(&bar);
    float* rows = makeRows(&scene, srTestRest);
    writeAll(still, rows);
    finish(still);
    free(rows);
    for (int isRigid = 0; isRigid < 2; ++isRigid) {
        srFollowerDef def = {
            .restPositions = scene.def.skinPositions, .pointCount = pointCount(), .isRigid = isRigid == 1};
        srFollowing* following = NULL;
        assert_success(srCreateFollowing(still, &def, &following));
        writeStill(following, CROOKED, CROOKED);
        assert_success(srFollowing_ReadOffsets(following, LAST_FRAME, ownOffsets));
        assert_true(largest(ownOffsets, pointCount()) == 0.0f);
        srDestroyFollowing(following);
    }
    srDestroySimulation(still);
}

// of where a rigid motion, turned a little further about an axis, and the flesh put the points
static double sumSquares(const srVec3* from, const srVec3* to, const float* flesh, int axis, double angle) {
    srVec3 middle = {0, 0, 0};
    for (int32_t i = 0; i < pointCount(); ++i) {
        middle = srAdd(middle, srScale(1.0 / pointCount(), to[i]));
    }
    double sum = 0.0;
    for (int32_t i = 0; i < pointCount(); ++i) {
        srVec3 d = srSub(to[i], middle);
        srVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        srVec3 turned = srAdd(d, srScale(angle, srCross(axes[axis], d)));
        srVec3 goal = srAdd(from[i], readPoint(flesh, i));
        double apart = srDistance(srAdd(middle, turned), goal);
        sum += apart * apart;
    }
    return sum;
}

static void a_rigid_follower_moves_as_a_whole_and_as_near_to_the_flesh_as_it_can(void** state) {
    (void)state;
    srFollowing* soft = follow(scene.def.skinPositions, pointCount(), false);
    srFollowing* rigid = follow(scene.def.skinPositions, pointCount(), true);
    writeStill(soft, IDENTITY, IDENTITY);
    writeStill(rigid, IDENTITY, IDENTITY);
    assert_success(srFollowing_ReadOffsets(soft, BUSY_FRAME, skinOffsets));
    assert_success(srFollowing_ReadOffsets(rigid, BUSY_FRAME, ownOffsets));
    srVec3* from = malloc(sizeof(srVec3) * (size_t)pointCount());
    srVec3* to = malloc(sizeof(srVec3) * (size_t)pointCount());
    assert_true(from != NULL && to != NULL);
    for (int32_t i = 0; i < pointCount(); ++i) {
        from[i] = readPoint(scene.def.skinPositions, i);
        to[i] = srAdd(from[i], readPoint(ownOffsets, i));
    }
    double bent = 0.0;
    for (int32_t i = 0; i < pointCount(); ++i) {
        for (int32_t j = 0; j < i; ++j) {
            double before = srDistance(from[i], from[j]);
            assert_true(fabs(srDistance(to[i], to[j]) - before) < srTestTolerance(1e-6));
            double softly = srDistance(srAdd(from[i], readPoint(skinOffsets, i)),
                                       srAdd(from[j], readPoint(skinOffsets, j)));
            bent = fmax(bent, fabs(softly - before));
        }
    }
    assert_true(bent > 1e-3); // the flesh itself does bend, or this shows nothing
    double best = sumSquares(from, to, skinOffsets, 0, 0.0);
    for (int axis = 0; axis < 3; ++axis) {
        assert_true(sumSquares(from, to, skinOffsets, axis, 1e-3) > best);
        assert_true(sumSquares(from, to, skinOffsets, axis, -1e-3) > best);
    }
    free(from);
    free(to);
    srDestroyFollowing(soft);
    srDestroyFollowing(rigid);
}

// Where its own deformation turned it by half a turn, a rigid follower is still moved as a whole.
static void a_rigid_follower_is_turned_where_its_own_deformation_has_it(void** state) {
    (void)state;
    const float turned[16] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0.25f, 0, 0.25f, 1};
    srFollowing* rigid = follow(scene.def.skinPositions, pointCount(), true);
    writeStill(rigid, IDENTITY, turned);
    assert_success(srFollowing_ReadOffsets(rigid, BUSY_FRAME, ownOffsets));
    assert_true(largest(ownOffsets, pointCount()) > 0.001f);
    srMat34 posed = srFromColumns16(turned);
    for (int32_t i = 1; i < pointCount(); ++i) {
        srVec3 a = srMulPoint34(&posed, readPoint(scene.def.skinPositions, i));
        srVec3 b = srMulPoint34(&posed, readPoint(scene.def.skinPositions, i - 1));
        double after = srDistance(srAdd(a, readPoint(ownOffsets, i)), srAdd(b, readPoint(ownOffsets, i - 1)));
        assert_true(fabs(after - srDistance(a, b)) < srTestTolerance(1e-6));
    }
    srDestroyFollowing(rigid);
}

static void one_point_and_points_on_a_line_can_be_rigid(void** state) {
    (void)state;
    const float line[9] = {0.1f, 0.2f, 0.1f, 0.1f, 0.5f, 0.1f, 0.1f, 0.9f, 0.1f};
    float soft[9], rigid[9];
    for (int32_t count = 1; count <= 3; count += 2) {
        srFollowing* followers[2] = {follow(line, count, false), follow(line, count, true)};
        for (int i = 0; i < 2; ++i) {
            writeStill(followers[i], IDENTITY, IDENTITY);
            assert_success(srFollowing_ReadOffsets(followers[i], BUSY_FRAME, i == 0 ? soft : rigid));
            srDestroyFollowing(followers[i]);
        }
        for (int axis = 0; axis < 3; ++axis) {
            double softMean = 0.0, rigidMean = 0.0;
            for (int32_t i = 0; i < count; ++i) {
                softMean += (double)soft[3 * i + axis] / count;
                rigidMean += (double)rigid[3 * i + axis] / count;
            }
            assert_true(fabs(softMean - rigidMean) < srTestTolerance(1e-7));
        }
    }
}

static void points_far_off_and_points_that_are_no_place_do_no_harm(void** state) {
    (void)state;
    const float odd[15] = {0.1f, 0.5f, 0.1f,     NAN, 0,    0,    1e6f, -1e6f,
                           1e6f, 0.1f, INFINITY, 0,   0.1f, 0.6f, 0.1f};
    float offsets[15];
    assert_success(srSimulation_ReadOffsets(shot, BUSY_FRAME, skinOffsets));
    float bound = 4.0f * 3.0f * largest(skinOffsets, pointCount());
    for (int isRigid = 0; isRigid < 2; ++isRigid) {
        srFollowing* following = follow(odd, 5, isRigid == 1);
        writeStill(following, IDENTITY, IDENTITY);
        assert_success(srFollowing_ReadOffsets(following, BUSY_FRAME, offsets));
        for (int i = 0; i < 15; ++i) {
            assert_true(isfinite(offsets[i]));
        }
        for (int i = 0; i < 3; ++i) {
            assert_true(offsets[3 + i] == 0.0f && offsets[9 + i] == 0.0f);
        }
        assert_true(isRigid == 1 || largest(offsets, 5) < bound);
        assert_true(largest(offsets, 1) > 0.0f);
        srDestroyFollowing(following);
    }
}

static void an_object_without_size_gets_no_offsets(void** state) {
    (void)state;
    const float flat[16] = {0};
    for (int isRigid = 0; isRigid < 2; ++isRigid) {
        srFollowing* following = follow(scene.def.skinPositions, pointCount(), isRigid == 1);
        writeStill(following, flat, IDENTITY);
        assert_success(srFollowing_ReadOffsets(following, BUSY_FRAME, ownOffsets));
        assert_true(largest(ownOffsets, pointCount()) == 0.0f);
        srDestroyFollowing(following);
    }
}

static void frames_that_were_not_written_are_not_ready(void** state) {
    (void)state;
    float rows[3 * SR_FOLLOWER_ROW_FLOATS] = {0};
    for (int i = 0; i < 6; ++i) {
        memcpy(rows + 16 * i, IDENTITY, sizeof(IDENTITY));
    }
    srFollowing* following = follow(scene.def.skinPositions, pointCount(), false);
    memset(ownOffsets, 1, 12 * (size_t)pointCount());
    assert_result(srFollowing_ReadOffsets(following, FIRST_FRAME, ownOffsets), sr_errorNotReady);
    assert_true(largest(ownOffsets, pointCount()) == 0.0f);
    assert_result(srFollowing_WriteTape(following, FIRST_FRAME + 1, 1, rows), sr_errorInvalidValue);
    assert_success(srFollowing_WriteTape(following, FIRST_FRAME, 3, rows));
    assert_int_equal(srFollowing_GetRecordedCount(following), 3);
    assert_success(srFollowing_ReadOffsets(following, FIRST_FRAME + 2, ownOffsets));
    assert_result(srFollowing_ReadOffsets(following, FIRST_FRAME + 2.5, ownOffsets), sr_errorNotReady);
    // only what differs is another revision
    int32_t revision = srFollowing_GetRevision(following);
    assert_success(srFollowing_WriteTape(following, FIRST_FRAME + 1, 2, rows));
    assert_int_equal(srFollowing_GetRevision(following), revision);
    rows[0] = 2.0f;
    assert_success(srFollowing_WriteTape(following, FIRST_FRAME + 2, 1, rows));
    assert_int_equal(srFollowing_GetRevision(following), revision + 1);
    assert_success(srFollowing_WriteTape(following, FIRST_FRAME + 3, 3, rows));
    assert_int_equal(srFollowing_GetRevision(following), revision + 1);
    assert_int_equal(srFollowing_GetRecordedCount(following), 6);
    srDestroyFollowing(following);
}

static void the_number_of_workers_changes_no_bit(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    for (int isRigid = 0; isRigid < 2; ++isRigid) {
        for (int32_t workerCount = 1; workerCount <= 4; workerCount += 3) {
            srParallel_SetWorkerCount(workerCount);
            srFollowing* following = follow(scene.def.skinPositions, pointCount(), isRigid == 1);
            writeStill(following, CROOKED, CROOKED);
            float* room = workerCount == 1 ? skinOffsets : ownOffsets;
            assert_success(srFollowing_ReadOffsets(following, BUSY_FRAME + 0.5, room));
            srDestroyFollowing(following);
        }
        assert_memory_equal(skinOffsets, ownOffsets, 12 * (size_t)pointCount());
    }
    srParallel_SetWorkerCount(before);
}

static srResult startBake(srFollowing* following, const char* path, srBake** outBake) {
    srBakeDef def = {.path = path, .firstFrame = FIRST_FRAME, .frameCount = FRAMES, .samplesPerFrame = 1};
    return srCreateBake(shot, following, &def, outBake);
}

static void a_bake_holds_the_bits_that_are_read(void** state) {
    (void)state;
    char path[700];
    srTestPath("follower.pc2", path, sizeof(path));
    srFollowing* following = follow(scene.def.skinPositions, pointCount(), true);
    srBake* bake = NULL;
    // before its tape is written
    assert_success(startBake(following, path, &bake));
    assert_true(srJob_Wait(srBake_GetJob(bake), -1.0));
    assert_int_equal(srJob_GetResult(srBake_GetJob(bake)), sr_errorInvalidValue);
    srDestroyBakeWork(bake);

    writeStill(following, CROOKED, CROOKED);
    assert_success(startBake(following, path, &bake));
    assert_true(srJob_Wait(srBake_GetJob(bake), -1.0));
    assert_success(srJob_GetResult(srBake_GetJob(bake)));
    srDestroyBakeWork(bake);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 32, SEEK_SET), 0);
    for (int32_t row = 0; row < FRAMES; ++row) {
        assert_success(srFollowing_ReadOffsets(following, FIRST_FRAME + row, ownOffsets));
        assert_int_equal(fread(skinOffsets, 12, (size_t)pointCount(), file), pointCount());
        assert_memory_equal(skinOffsets, ownOffsets, 12 * (size_t)pointCount());
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    assert_int_equal(remove(path), 0);
    srDestroyFollowing(following);
}

static srResult followOnce(void* context) {
    srFollowerDef def = {
        .restPositions = scene.def.skinPositions, .pointCount = pointCount(), .isRigid = context != NULL};
    srFollowing* following = NULL;
    SR_TRY(srCreateFollowing(shot, &def, &following));
    float row[SR_FOLLOWER_ROW_FLOATS];
    memcpy(row, IDENTITY, sizeof(IDENTITY));
    memcpy(row + 16, IDENTITY, sizeof(IDENTITY));
    srResult result = srFollowing_WriteTape(following, FIRST_FRAME, 1, row);
    if (result == sr_success) {
        result = srFollowing_ReadOffsets(following, FIRST_FRAME, ownOffsets);
    }
    srDestroyFollowing(following);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(followOnce, NULL);
    srTestEveryAllocationFails(followOnce, &scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_where_the_skin_lies_moves_as_the_skin_to_the_bit),
        cmocka_unit_test(offsets_are_in_the_followers_own_space),
        cmocka_unit_test(rest_gives_exactly_nothing),
        cmocka_unit_test(a_rigid_follower_moves_as_a_whole_and_as_near_to_the_flesh_as_it_can),
        cmocka_unit_test(a_rigid_follower_is_turned_where_its_own_deformation_has_it),
        cmocka_unit_test(one_point_and_points_on_a_line_can_be_rigid),
        cmocka_unit_test(points_far_off_and_points_that_are_no_place_do_no_harm),
        cmocka_unit_test(an_object_without_size_gets_no_offsets),
        cmocka_unit_test(frames_that_were_not_written_are_not_ready),
        cmocka_unit_test(the_number_of_workers_changes_no_bit),
        cmocka_unit_test(a_bake_holds_the_bits_that_are_read),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/following", tests, prepareAll, forgetAll);
}
