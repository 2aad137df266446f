// SPDX-License-Identifier: GPL-3.0-or-later
//
// Regular bars for the solver, and the bones, weights and motions of characters.

#include "support/scenes.h"

#include "core/alloc.h"
#include "math/mat34.h"
#include "mesh/boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define HALF_SECOND 12 // rows

static int32_t latticeIndex(const int32_t counts[3], int32_t i, int32_t j, int32_t k) {
    return (k * (counts[1] + 1) + j) * (counts[0] + 1) + i;
}

// the six cells of a cube around its diagonal, one for each order of the axes
static void writeCube(const int32_t counts[3], const int32_t corner[3], int32_t (*outCells)[4]) {
    static const int ORDERS[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; ++order) {
        int32_t at[3] = {corner[0], corner[1], corner[2]};
        outCells[order][0] = latticeIndex(counts, at[0], at[1], at[2]);
        for (int step = 0; step < 3; ++step) {
            at[ORDERS[order][step]] += 1;
            outCells[order][step + 1] = latticeIndex(counts, at[0], at[1], at[2]);
        }
    }
}

srResult srTestCreateBarCage(const int32_t counts[3], double spacing, srCage* outCage) {
    int32_t nodeCount = (counts[0] + 1) * (counts[1] + 1) * (counts[2] + 1);
    int32_t cellCount = 6 * counts[0] * counts[1] * counts[2];
    srVec3* nodes = malloc((size_t)nodeCount * sizeof(srVec3));
    int32_t (*cells)[4] = malloc((size_t)cellCount * sizeof(*cells));
    srResult result = sr_errorOutOfMemory;
    if (nodes != NULL && cells != NULL) {
        for (int32_t index = 0; index < nodeCount; ++index) {
            int32_t i = index % (counts[0] + 1);
            int32_t j = index / (counts[0] + 1) % (counts[1] + 1);
            int32_t k = index / (counts[0] + 1) / (counts[1] + 1);
            nodes[index] = (srVec3){spacing * i, spacing * j, spacing * k};
        }
        for (int32_t cube = 0; cube < cellCount / 6; ++cube) {
            int32_t corner[3] = {cube % counts[0], cube / counts[0] % counts[1],
                                 cube / counts[0] / counts[1]};
            writeCube(counts, corner, cells + 6 * (size_t)cube);
        }
        result = srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, cellCount, outCage);
    }
    free(nodes);
    free(cells);
    return result;
}

static srResult createRest(srTestBody* body, double spacing, float* holds, float* distances) {
    if (holds == NULL || distances == NULL) {
        return sr_errorOutOfMemory;
    }
    const srCage* cage = &body->cage;
    for (int32_t i = 0; i < cage->nodeCount; ++i) {
        holds[i] = cage->nodes[i].y < 0.5 * spacing ? 1.0f : 0.0f;
    }
    srXpbdShape shape = {
        .nodes = cage->nodes,
        .nodeCount = cage->nodeCount,
        .edges = (const int32_t (*)[2])cage->edges,
        .edgeCount = cage->edgeCount,
        .cells = (const int32_t (*)[4])cage->cells,
        .cellCount = cage->cellCount,
        .holds = holds,
        .boneDistances = distances,
    };
    SR_TRY(srCreateXpbdRest(&shape, &body->rest));
    return srCreateXpbdTuning(&body->rest, &body->tuning);
}

static bool allocateState(srTestBody* body) {
    size_t nodeCount = (size_t)body->cage.nodeCount;
    srVec3f** arrays[] = {&body->state.offsets,  &body->state.velocities,
                          &body->state.previous, &body->state.primary,
                          &body->from,           &body->to,
                          &body->velocityJump};
    bool isComplete = true;
    for (size_t array = 0; array < sizeof(arrays) / sizeof(arrays[0]); ++array) {
        *arrays[array] = calloc(nodeCount, sizeof(srVec3f));
        isComplete = isComplete && *arrays[array] != NULL;
    }
    for (size_t i = 0; isComplete && i < nodeCount; ++i) {
        body->from[i] = srToFloat(body->cage.nodes[i]);
        body->to[i] = body->from[i];
    }
    return isComplete;
}

srResult srTestCreateBody(const int32_t counts[3], double spacing, srTestBody* outBody) {
    *outBody = (srTestBody){0};
    SR_TRY(srTestCreateBarCage(counts, spacing, &outBody->cage));
    float* holds = calloc((size_t)outBody->cage.nodeCount, sizeof(float));
    float* distances = calloc((size_t)outBody->cage.nodeCount, sizeof(float));
    srResult result = createRest(outBody, spacing, holds, distances);
    if (result == sr_success && !allocateState(outBody)) {
        result = sr_errorOutOfMemory;
    }
    free(holds);
    free(distances);
    if (result != sr_success) {
        srTestDestroyBody(outBody);
        return result;
    }
    srXpbdDials dials = srTestDials(outBody);
    srTestBody_Tune(outBody, &dials);
    return sr_success;
}

void srTestDestroyBody(srTestBody* body) {
    srDestroyXpbdTuning(&body->rest, &body->tuning);
    srDestroyXpbdRest(&body->rest);
    srDestroyCage(&body->cage);
    free(body->state.offsets);
    free(body->state.velocities);
    free(body->state.previous);
    free(body->state.primary);
    free(body->from);
    free(body->to);
    free(body->velocityJump);
    *body = (srTestBody){0};
}

srXpbdDials srTestDials(const srTestBody* body) {
    srVec3 lower = body->cage.nodes[0];
    srVec3 upper = lower;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        lower = srMin(lower, body->cage.nodes[i]);
        upper = srMax(upper, body->cage.nodes[i]);
    }
    double size = srDistance(lower, upper);
    return (srXpbdDials){
        .material = srMakeMaterial(srYoungModulusForSize(2.0, 1000.0, size), 0.45, 1000.0),
        .scale = 1.0,
        .frequency = 2.0,
        .dampingRate = 2.0 * log(50.0) * SR_TEST_FRAME_RATE / 24.0,
        .frameSeconds = 1.0 / SR_TEST_FRAME_RATE,
        .largestOffset = size,
        .substeps = 10,
    };
}

void srTestBody_Tune(srTestBody* body, const srXpbdDials* dials) {
    srXpbdTuning_Set(&body->tuning, &body->rest, dials);
}

int32_t srTestBody_Step(srTestBody* body) {
    srPrimaryMotion motion = {body->from, body->to, body->velocityJump, NULL};
    return srXpbd_StepFrame(&body->rest, &body->tuning, &motion, &body->state);
}

void srTestBody_Shake(srTestBody* body, int32_t frame, double amplitude, double hertz) {
    double frameSeconds = body->tuning.dials.frameSeconds;
    double places[3];
    for (int back = 0; back < 3; ++back) {
        places[back] = amplitude * sin(2.0 * PI * hertz * frameSeconds * (frame - back));
    }
    float jump = (float)((places[0] - 2.0 * places[1] + places[2]) / frameSeconds);
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 x = body->cage.nodes[i];
        body->from[i] = srToFloat((srVec3){x.x + places[1], x.y, x.z});
        body->to[i] = srToFloat((srVec3){x.x + places[0], x.y, x.z});
        body->velocityJump[i] = (srVec3f){jump, 0.0f, 0.0f};
    }
}

static void writeMatrix(const srMat34* A, float* outColumns) {
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 3; ++i) {
            outColumns[4 * j + i] = (float)A->m[i][j];
        }
        outColumns[4 * j + 3] = j == 3 ? 1.0f : 0.0f;
    }
}

static srMat34 moveBy(double x, double y, double z) {
    return (srMat34){{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}}};
}

// a turn about the z axis
static srMat34 turn(double angle) {
    double c = cos(angle);
    double s = sin(angle);
    return (srMat34){{{c, -s, 0, 0}, {s, c, 0, 0}, {0, 0, 1, 0}}};
}

// all arrays of a scene but the skin and the cage; two weights a vertex
static bool allocateRig(srTestScene* scene, int32_t boneCount) {
    srCharacterDef* def = &scene->def;
    size_t vertexCount = (size_t)def->skinVertexCount;
    def->boneCount = boneCount;
    def->spaceCount = 1;
    def->boneRests = calloc(16 * (size_t)boneCount, sizeof(float));
    def->boneLengths = calloc((size_t)boneCount, sizeof(float));
    def->boneParents = calloc((size_t)boneCount, sizeof(int32_t));
    def->boneLooseTips = calloc((size_t)boneCount, sizeof(float));
    def->spaceToSkin = calloc(16, sizeof(float));
    def->weightStarts = calloc(vertexCount + 1, sizeof(int32_t));
    def->weightBones = calloc(2 * vertexCount, sizeof(int32_t));
    def->weightValues = calloc(2 * vertexCount, sizeof(float));
    if (def->boneRests == NULL || def->boneLengths == NULL || def->boneParents == NULL ||
        def->boneLooseTips == NULL || def->spaceToSkin == NULL || def->weightStarts == NULL ||
        def->weightBones == NULL || def->weightValues == NULL) {
        return false;
    }
    srMat34 identity = srIdentity34();
    writeMatrix(&identity, (float*)def->spaceToSkin);
    writeMatrix(&identity, scene->placement);
    for (size_t v = 0; v <= vertexCount; ++v) {
        ((int32_t*)def->weightStarts)[v] = (int32_t)(2 * v);
    }
    return true;
}

static void setBone(srTestScene* scene, int32_t bone, srMat34 rest, float length, float looseTip) {
    writeMatrix(&rest, (float*)scene->def.boneRests + 16 * (size_t)bone);
    ((float*)scene->def.boneLengths)[bone] = length;
    ((int32_t*)scene->def.boneParents)[bone] = bone - 1;
    ((float*)scene->def.boneLooseTips)[bone] = looseTip;
}

// `place` counts bones along the chain: 0.3 is seven tenths of bone 0 and three of bone 1
static void setWeights(srTestScene* scene, int32_t vertex, double place) {
    int32_t last = scene->def.boneCount - 1;
    double clamped = place < 0.0 ? 0.0 : place > last ? last : place;
    int32_t bone = clamped < last ? (int32_t)clamped : last - 1;
    int32_t* bones = (int32_t*)scene->def.weightBones + 2 * (size_t)vertex;
    float* values = (float*)scene->def.weightValues + 2 * (size_t)vertex;
    bones[0] = bone;
    bones[1] = bone + 1;
    values[1] = (float)(clamped - bone);
    values[0] = 1.0f - values[1];
}

static bool copyBar(const srCage* cage, const srBoundary* boundary, srCharacterDef* def) {
    float* nodes = calloc(3 * (size_t)cage->nodeCount, sizeof(float));
    float* skin = calloc(3 * (size_t)cage->nodeCount, sizeof(float));
    int32_t* cells = calloc(4 * (size_t)cage->cellCount, sizeof(int32_t));
    int32_t* triangles = calloc(3 * (size_t)boundary->faceCount, sizeof(int32_t));
    def->cageNodes = nodes;
    def->skinPositions = skin;
    def->cageCells = cells;
    def->skinTriangles = triangles;
    if (nodes == NULL || skin == NULL || cells == NULL || triangles == NULL) {
        return false;
    }
    for (int32_t i = 0; i < cage->nodeCount; ++i) {
        srVec3f x = srToFloat(cage->nodes[i]);
        memcpy(nodes + 3 * (size_t)i, &x, sizeof(x));
        memcpy(skin + 3 * (size_t)i, &x, sizeof(x));
    }
    memcpy(cells, cage->cells, 4 * (size_t)cage->cellCount * sizeof(int32_t));
    memcpy(triangles, boundary->faces, 3 * (size_t)boundary->faceCount * sizeof(int32_t));
    def->cageNodeCount = cage->nodeCount;
    def->cageCellCount = cage->cellCount;
    def->skinVertexCount = cage->nodeCount;
    def->skinTriangleCount = boundary->faceCount;
    return true;
}

bool srTestCreateBarScene(srTestScene* outScene) {
    static const int32_t COUNTS[3] = {2, 8, 2};
    *outScene = (srTestScene){.def = srDefaultCharacterDef()};
    srCage cage = {0};
    srBoundary boundary = {0};
    bool isComplete = srTestCreateBarCage(COUNTS, 0.125, &cage) == sr_success &&
                      srCreateBoundary(&cage, &boundary) == sr_success &&
                      copyBar(&cage, &boundary, &outScene->def) && allocateRig(outScene, 2);
    if (isComplete) {
        setBone(outScene, 0, moveBy(0.125, 0.0, 0.125), 0.5f, 0.0f);
        setBone(outScene, 1, moveBy(0.125, 0.5, 0.125), 0.5f, 0.0f);
        for (int32_t v = 0; v < cage.nodeCount; ++v) {
            setWeights(outScene, v, 0.5 + 4.0 * (cage.nodes[v].y - 0.5));
        }
    }
    srDestroyBoundary(&boundary);
    srDestroyCage(&cage);
    if (!isComplete) {
        srTestDestroyScene(outScene);
    }
    return isComplete;
}

#define RING_COUNT 40 // between the two poles
#define RING_SIZE 20

// the outline that is turned about the x axis: share 0 is the back of the body, 1 the tip of the tail
static void outline(double share, double* outX, double* outRadius) {
    const double body = 0.5;
    const double tail = 0.12;
    const double tip = 1.5;
    double neck = sqrt(body * body - tail * tail);
    if (share < 0.5) {
        double angle = PI * (1.0 - 2.0 * share) + 2.0 * share * asin(tail / body);
        *outX = body * cos(angle);
        *outRadius = body * sin(angle);
        return;
    }
    double along = 2.0 * share - 1.0;
    double round = along > 0.9 ? (along - 0.9) / 0.1 : 0.0;
    *outX = neck + along * (tip - neck);
    *outRadius = tail * sqrt(1.0 - round * round);
}

static void writeRings(float* points, int32_t* triangles) {
    int32_t last = RING_COUNT * RING_SIZE + 1;
    for (int32_t v = 0; v <= last; ++v) {
        int32_t ring = v == 0 ? 0 : v == last ? RING_COUNT + 1 : (v - 1) / RING_SIZE + 1;
        double angle = 2.0 * PI * ((v - 1) % RING_SIZE) / RING_SIZE;
        double x;
        double radius;
        outline((double)ring / (RING_COUNT + 1), &x, &radius);
        float* point = points + 3 * (size_t)v;
        point[0] = (float)x;
        point[1] = (float)(radius * cos(angle));
        point[2] = (float)(radius * sin(angle));
    }
    int32_t* t = triangles;
    for (int32_t s = 0; s < RING_SIZE; ++s) {
        int32_t next = (s + 1) % RING_SIZE;
        int32_t back[3] = {0, 1 + next, 1 + s};
        int32_t front[3] = {last, last - RING_SIZE + s, last - RING_SIZE + next};
        memcpy(t, back, sizeof(back));
        memcpy(t + 3, front, sizeof(front));
        t += 6;
        for (int32_t ring = 0; ring + 1 < RING_COUNT; ++ring) {
            int32_t a = 1 + ring * RING_SIZE;
            int32_t b = a + RING_SIZE;
            int32_t quad[6] = {a + s, a + next, b + s, a + next, b + next, b + s};
            memcpy(t, quad, sizeof(quad));
            t += 6;
        }
    }
}

bool srTestCreateTailScene(srTestScene* outScene) {
    *outScene = (srTestScene){.def = srDefaultCharacterDef()};
    srCharacterDef* def = &outScene->def;
    def->targetNodeCount = 300;
    def->skinVertexCount = RING_COUNT * RING_SIZE + 2;
    def->skinTriangleCount = 2 * RING_COUNT * RING_SIZE;
    float* points = calloc(3 * (size_t)def->skinVertexCount, sizeof(float));
    int32_t* triangles = calloc(3 * (size_t)def->skinTriangleCount, sizeof(int32_t));
    def->skinPositions = points;
    def->skinTriangles = triangles;
    if (points == NULL || triangles == NULL || !allocateRig(outScene, 4)) {
        srTestDestroyScene(outScene);
        return false;
    }
    writeRings(points, triangles);
    setBone(outScene, 0, moveBy(0.0, -0.25, 0.0), 0.5f, 0.0f);
    for (int32_t bone = 1; bone < 4; ++bone) {
        srMat34 place = moveBy(0.3 + 0.4 * (bone - 1), 0.0, 0.0);
        srMat34 alongX = turn(-0.5 * PI);
        setBone(outScene, bone, srMul34(&place, &alongX), 0.4f, 0.6f);
    }
    for (int32_t v = 0; v < def->skinVertexCount; ++v) {
        double x = (double)points[3 * (size_t)v];
        double place = (x - 0.3) / 0.4 + 0.5;
        setWeights(outScene, v, x < 0.3 ? (x - 0.1) / 0.4 : place);
    }
    return true;
}

bool srTestPrepareScene(const srTestScene* scene, srCharacter* outCharacter) {
    srSource source;
    if (srCopySource(&scene->def, &source) != sr_success) {
        return false;
    }
    bool isMade = srPrepareCharacter(&source, NULL, outCharacter) == sr_success;
    srDestroySource(&source);
    return isMade;
}

void srTestDestroyScene(srTestScene* scene) {
    const srCharacterDef* def = &scene->def;
    const void* arrays[] = {def->skinPositions, def->skinTriangles, def->weightStarts, def->weightBones,
                            def->weightValues,  def->boneRests,     def->boneLengths,  def->boneParents,
                            def->boneLooseTips, def->spaceToSkin,   def->cageNodes,    def->cageCells};
    for (size_t array = 0; array < sizeof(arrays) / sizeof(arrays[0]); ++array) {
        free((void*)arrays[array]);
    }
    *scene = (srTestScene){0};
}

int32_t srTestScene_GetRowFloatCount(const srTestScene* scene) {
    return 16 * (1 + scene->def.spaceCount + scene->def.boneCount);
}

// what a motion does to a bone in the armature's space, at a row
static srMat34 moveBone(const srTestScene* scene, srTestMotion motion, int32_t bone, int32_t row) {
    double share = row < HALF_SECOND ? (double)row / HALF_SECOND : 1.0;
    if (motion == srTestShake) {
        return moveBy(0.1 * share * sin(2.0 * PI * 2.0 * row / SR_TEST_FRAME_RATE), 0.0, 0.0);
    }
    if (motion == srTestStop) {
        return moveBy(share, 0.0, 0.0);
    }
    if (motion == srTestBend && bone == scene->def.boneCount - 1) {
        srMat34 rest = srFromColumns16(scene->def.boneRests + 16 * (size_t)bone);
        srMat34 turned = turn(0.5 * PI * share);
        srMat34 there = moveBy(rest.m[0][3], rest.m[1][3], rest.m[2][3]);
        srMat34 back = moveBy(-rest.m[0][3], -rest.m[1][3], -rest.m[2][3]);
        srMat34 about = srMul34(&turned, &back);
        return srMul34(&there, &about);
    }
    return srIdentity34();
}

void srTestScene_WriteRows(const srTestScene* scene, srTestMotion motion, int32_t firstRow, int32_t rowCount,
                           float* outRows) {
    for (int32_t row = firstRow; row < firstRow + rowCount; ++row) {
        memcpy(outRows, scene->placement, sizeof(scene->placement));
        float* next = outRows + 16;
        for (int32_t space = 0; space < scene->def.spaceCount; ++space, next += 16) {
            memcpy(next, scene->placement, sizeof(scene->placement));
        }
        for (int32_t bone = 0; bone < scene->def.boneCount; ++bone, next += 16) {
            srMat34 rest = srFromColumns16(scene->def.boneRests + 16 * (size_t)bone);
            srMat34 move = moveBone(scene, motion, bone, row);
            srMat34 pose = srMul34(&move, &rest);
            writeMatrix(&pose, next);
        }
        outRows = next;
    }
}
