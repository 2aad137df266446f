// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linear rigs of other handles than bones, through the public functions: points that are moved and turned,
// and the corners of a control cage that are only moved. Both are bones of no length with weights of their
// own.

#include "support/support.h"

#include "math/mat34.h"
#include "softrig/softrig.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 72
#define STOP 12 // the row from which all stands
#define MOST_HANDLES 8

typedef struct Rig {
    srTestScene scene; // whose bones are left out
    srCharacterDef def;
    int32_t handleCount;
    srVec3 handles[MOST_HANDLES];
    int32_t* starts;
    int32_t* bones;
    float* weights;
    float rests[16 * MOST_HANDLES];
    float lengths[MOST_HANDLES];
    int32_t parents[MOST_HANDLES];
    float world[16];
} Rig;

static void writeMatrix(const srMat34* A, float* out) {
    memset(out, 0, 16 * sizeof(float));
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 3; ++i) {
            out[4 * j + i] = (float)A->m[i][j];
        }
    }
    out[15] = 1.0f;
}

static srMat34 moveTo(srVec3 x) {
    return (srMat34){{{1, 0, 0, x.x}, {0, 1, 0, x.y}, {0, 0, 1, x.z}}};
}

static srVec3 vertexOf(const Rig* rig, int32_t v) {
    const float* x = rig->def.skinPositions + 3 * (size_t)v;
    return (srVec3){(double)x[0], (double)x[1], (double)x[2]};
}

// all handles on every vertex
static void makeRig(Rig* rig, int32_t handleCount, const srVec3* handles,
                    double (*weigh)(const Rig* rig, srVec3 x, int32_t handle)) {
    *rig = (Rig){.handleCount = handleCount};
    assert_true(srTestCreateBarScene(&rig->scene));
    rig->def = rig->scene.def;
    size_t vertexCount = (size_t)rig->def.skinVertexCount, entryCount = vertexCount * (size_t)handleCount;
    rig->starts = calloc(vertexCount + 1, sizeof(int32_t));
    rig->bones = calloc(entryCount, sizeof(int32_t));
    rig->weights = calloc(entryCount, sizeof(float));
    assert_true(rig->starts != NULL && rig->bones != NULL && rig->weights != NULL);
    for (int32_t k = 0; k < handleCount; ++k) {
        rig->handles[k] = handles[k];
        srMat34 rest = moveTo(handles[k]);
        writeMatrix(&rest, rig->rests + 16 * k);
        rig->parents[k] = -1;
    }
    for (int32_t v = 0; v < rig->def.skinVertexCount; ++v) {
        rig->starts[v + 1] = (v + 1) * handleCount;
        for (int32_t k = 0; k < handleCount; ++k) {
            rig->bones[v * handleCount + k] = k;
            rig->weights[v * handleCount + k] = (float)weigh(rig, vertexOf(rig, v), k);
        }
    }
    srMat34 identity = srIdentity34();
    writeMatrix(&identity, rig->world);
    rig->def.boneCount = handleCount;
    rig->def.spaceCount = 1;
    rig->def.spaceToSkin = rig->world;
    rig->def.boneRests = rig->rests;
    rig->def.boneLengths = rig->lengths;
    rig->def.boneParents = rig->parents;
    rig->def.boneLooseTips = NULL;
    rig->def.weightStarts = rig->starts;
    rig->def.weightBones = rig->bones;
    rig->def.weightValues = rig->weights;
}

static void freeRig(Rig* rig) {
    srTestDestroyScene(&rig->scene);
    free(rig->starts);
    free(rig->bones);
    free(rig->weights);
}

// shares that fall with the distance along the bar; one at the handle itself
static double weighPoint(const Rig* rig, srVec3 x, int32_t handle) {
    double sum = 0.0, own = 0.0;
    for (int32_t k = 0; k < rig->handleCount; ++k) {
        double away = fabs(x.y - rig->handles[k].y), share = 1.0 / (1e-6 + away * away);
        sum += share;
        own = k == handle ? share : own;
    }
    return own / sum;
}

// trilinear coordinates in the box whose corners the handles are
static double weighCorner(const Rig* rig, srVec3 x, int32_t handle) {
    srVec3 lower = rig->handles[0], upper = rig->handles[7];
    const double t[3] = {(x.x - lower.x) / (upper.x - lower.x), (x.y - lower.y) / (upper.y - lower.y),
                         (x.z - lower.z) / (upper.z - lower.z)};
    double weight = 1.0;
    for (int c = 0; c < 3; ++c) {
        weight *= handle >> c & 1 ? t[c] : 1.0 - t[c];
    }
    return weight;
}

// what the handles do at a row: `way` goes from 0 to 1 and stays
typedef srMat34 MoveFcn(int32_t handle, double way);

// the upper point goes aside and turns
static srMat34 movePoint(int32_t handle, double way) {
    double angle = handle == 2 ? 0.6 * way : 0.0, c = cos(angle), s = sin(angle);
    return (srMat34){{{c, -s, 0, handle * 0.15 * way}, {s, c, 0, 0}, {0, 0, 1, 0.2 * way}}};
}

// the upper corners go aside, each a little differently
static srMat34 moveCorner(int32_t handle, double way) {
    double up = handle >> 1 & 1;
    return moveTo((srVec3){up * 0.35 * way, up * 0.05 * (handle & 1) * way, 0.2 * way});
}

// M at a handle: out = there M back
static srMat34 moveAbout(const Rig* rig, int32_t handle, const srMat34* M) {
    srMat34 there = moveTo(rig->handles[handle]);
    srMat34 back = moveTo(srScale(-1.0, rig->handles[handle]));
    srMat34 half = srMul34(M, &back);
    return srMul34(&there, &half);
}

static srShotId startShot(const Rig* rig, MoveFcn* move, srCharacterId* outCharacter) {
    srShotDef def = srDefaultShotDef();
    srShotId shot;
    assert_success(srCreateCharacter(&rig->def, outCharacter));
    assert_success(srCharacter_Wait(*outCharacter, -1.0));
    def.character = *outCharacter;
    def.frameCount = FRAMES;
    assert_success(srCreateShot(&def, &shot));
    size_t rowFloats = 16 * (2 + (size_t)rig->handleCount);
    float* rows = malloc(sizeof(float) * rowFloats * FRAMES);
    assert_non_null(rows);
    for (int32_t row = 0; row < FRAMES; ++row) {
        float* out = rows + (size_t)row * rowFloats;
        memcpy(out, rig->world, sizeof(rig->world));
        memcpy(out + 16, rig->world, sizeof(rig->world));
        for (int32_t k = 0; k < rig->handleCount; ++k) {
            srMat34 moved = move(k, row < STOP ? (double)row / STOP : 1.0), rest = moveTo(rig->handles[k]);
            srMat34 about = moveAbout(rig, k, &moved), pose = srMul34(&about, &rest);
            writeMatrix(&pose, out + 32 + 16 * k);
        }
    }
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, (int64_t)(rowFloats * FRAMES), NULL));
    assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
    free(rows);
    return shot;
}

// the pose of the cage is the sum of handles, weight by weight
static void checkPrimary(const Rig* rig, MoveFcn* move, srCharacterId character, srShotId shot,
                         double (*weigh)(const Rig*, srVec3, int32_t)) {
    srCharacterReport report;
    assert_success(srCharacter_GetReport(character, &report));
    float* rest = malloc(12 * (size_t)report.nodeCount);
    float* posed = malloc(12 * (size_t)report.nodeCount);
    int32_t* cells = malloc(16 * (size_t)report.cellCount);
    assert_true(rest != NULL && posed != NULL && cells != NULL);
    assert_success(srCharacter_ReadCage(character, rest, report.nodeCount, cells, report.cellCount));
    assert_success(srShot_ReadNodes(shot, STOP + 1, true, posed, report.nodeCount));
    double worst = 0.0;
    for (int32_t i = 0; i < report.nodeCount; ++i) {
        srVec3 X = {(double)rest[3 * i], (double)rest[3 * i + 1], (double)rest[3 * i + 2]};
        srVec3 p = {(double)posed[3 * i], (double)posed[3 * i + 1], (double)posed[3 * i + 2]};
        srVec3 sum = {0.0, 0.0, 0.0};
        for (int32_t k = 0; k < rig->handleCount; ++k) {
            srMat34 moved = move(k, 1.0), about = moveAbout(rig, k, &moved);
            sum = srMulAdd(sum, weigh(rig, X, k), srMulPoint34(&about, X));
        }
        worst = fmax(worst, srDistance(sum, p));
    }
    print_message("the cage's pose is the handles' to %.1e; %d of %d nodes held\n", worst,
                  report.heldNodeCount, report.nodeCount);
    assert_true(worst < 1e-3); // weights below a ten-thousandth are left out
    free(rest);
    free(posed);
    free(cells);
}

static double measure(const Rig* rig, srShotId shot, int32_t frame) {
    float* offsets = malloc(12 * (size_t)rig->def.skinVertexCount);
    assert_non_null(offsets);
    assert_success(srShot_ReadOffsets(shot, frame, offsets, rig->def.skinVertexCount));
    double longest = 0.0;
    for (int32_t v = 0; v < rig->def.skinVertexCount; ++v) {
        const float* u = offsets + 3 * (size_t)v;
        longest = fmax(longest, sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])));
    }
    free(offsets);
    return longest;
}

static void checkRig(const Rig* rig, MoveFcn* move, double (*weigh)(const Rig*, srVec3, int32_t)) {
    srCharacterId character;
    srShotId shot = startShot(rig, move, &character);
    checkPrimary(rig, move, character, shot, weigh);
    for (int32_t complement = sr_complementBones; complement <= sr_complementNothing; ++complement) {
        srShotParams params = srDefaultShotParams();
        params.complement = complement;
        assert_success(srShot_SetParams(shot, &params));
        assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
        double most = 0.0;
        for (int32_t frame = STOP; frame < STOP + 12; ++frame) {
            most = fmax(most, measure(rig, shot, frame));
        }
        srShotStatus status;
        assert_success(srShot_GetStatus(shot, &status));
        print_message("complement %d: swings by %.1f mm, %.3f mm at the end, %d shapes\n", complement,
                      1e3 * most, 1e3 * measure(rig, shot, FRAMES), status.motionShapeCount);
        assert_true(status.result == sr_success && status.limitedNodeCount == 0);
        assert_true(most > 0.005 && most < 0.3); // of a bar of one metre
        assert_true(measure(rig, shot, FRAMES) < 0.05 * most);
    }
    assert_success(srDestroyShot(shot));
    assert_success(srDestroyCharacter(character));
}

static void points_are_handles(void** state) {
    (void)state;
    const srVec3 points[3] = {{0.125, 0.05, 0.125}, {0.125, 0.5, 0.125}, {0.125, 0.95, 0.125}};
    Rig rig;
    makeRig(&rig, 3, points, weighPoint);
    checkRig(&rig, movePoint, weighPoint);
    freeRig(&rig);
}

static void the_corners_of_a_control_cage_are_handles(void** state) {
    (void)state;
    srVec3 corners[8];
    for (int k = 0; k < 8; ++k) {
        corners[k] = (srVec3){k & 1 ? 0.35 : -0.1, k >> 1 & 1 ? 1.1 : -0.1, k >> 2 & 1 ? 0.35 : -0.1};
    }
    Rig rig;
    makeRig(&rig, 8, corners, weighCorner);
    checkRig(&rig, moveCorner, weighCorner);
    freeRig(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_handles),
        cmocka_unit_test(the_corners_of_a_control_cage_are_handles),
    };
    return cmocka_run_group_tests_name("api/handles", tests, NULL, srTestNothingLeaked);
}
