// SPDX-License-Identifier: GPL-3.0-or-later
//
// Limits are constraints without compliance that are solved where they are violated and left alone elsewhere:
//   lambda = -C / sum of w_a |grad_a C|^2,   u_a += w_a grad_a C lambda
// one after another. C is the length of a tie, or the volume of a cell, less its bound; both are measured by
// the pose of the substep, and computed alike with and without offsets, so that u = 0 is within all bounds.
//
// The floor comes last, so that it is kept exactly. What its nodes slide along it in the substep is taken
// back by at most friction times the depth that they were lifted from: that is Coulomb's law, because depth
// and slide are both force times the same number.

#include "solver/flesh_limits.h"

#include <math.h>
#include <string.h>

#define NODES_PER_RANGE 512
#define PASSES 8 // of ties and volumes: an end pulls through as many of them
#define LARGEST_FRICTION 1e6

static double clampTo(double x, double low, double high) {
    return x > low ? (x < high ? x : high) : low; // a NaN gives the low end
}

static bool hasFloor(const srFleshDials* dials) {
    return dials->floorNormal.x != 0.0 || dials->floorNormal.y != 0.0 || dials->floorNormal.z != 0.0;
}

bool srFleshDials_HasLimits(const srFleshDials* dials) {
    return dials->leastLength > 0.0 || dials->mostLength > 0.0 || dials->leastVolume > 0.0 ||
           dials->mostVolume > 0.0 || hasFloor(dials);
}

// zero stays zero: no limit
static double atLeastOne(double most) {
    return most > 0.0 ? clampTo(most, 1.0, 1e6) : 0.0;
}

void srFleshDials_ClampLimits(srFleshDials* dials) {
    dials->leastLength = clampTo(dials->leastLength, 0.0, 1.0);
    dials->leastVolume = clampTo(dials->leastVolume, 0.0, 1.0);
    dials->mostLength = atLeastOne(dials->mostLength);
    dials->mostVolume = atLeastOne(dials->mostVolume);
    dials->friction = clampTo(dials->friction, 0.0, LARGEST_FRICTION);
    double length = srLength(dials->floorNormal);
    bool isFloor = length > 0.0 && isfinite(length) && isfinite(dials->floorHeight);
    dials->floorNormal = isFloor ? srScale(1.0 / length, dials->floorNormal) : (srVec3){0.0, 0.0, 0.0};
}

static srVec3f readRow(const float* rows, int32_t place) {
    return (srVec3f){rows[place], rows[place + 1], rows[place + 2]};
}

static void moveRow(float* rows, int32_t place, float scale, srVec3f direction) {
    rows[place] += scale * direction.x;
    rows[place + 1] += scale * direction.y;
    rows[place + 2] += scale * direction.z;
}

// from row a to row b, of the pose and of what is on top of it
static srVec3f findEdge(const srLimitStep* step, int32_t a, int32_t b, srVec3f* outPosed) {
    *outPosed = srSubF(readRow(step->poseRows, b), readRow(step->poseRows, a));
    return srAddF(*outPosed, srSubF(readRow(step->ends, b), readRow(step->ends, a)));
}

// the bound that x is beyond; x itself when it is within both
static float findBound(float x, float least, float most) {
    return x < least ? least : most > 0.0f && x > most ? most : x;
}

static void keepTie(const srLimitStep* step, const int32_t nodes[2]) {
    const srFleshDials* dials = &step->tuning->dials;
    int32_t a = SR_ROW_FLOATS * nodes[0];
    int32_t b = SR_ROW_FLOATS * nodes[1];
    srVec3f posed;
    srVec3f edge = findEdge(step, a, b, &posed);
    float length = srLengthF(edge);
    float whole = srLengthF(posed);
    float bound = findBound(length, (float)dials->leastLength * whole, (float)dials->mostLength * whole);
    float weight = step->ends[a + 3] + step->ends[b + 3];
    if (bound == length || !(weight > 0.0f) || !(length > 0.0f)) {
        return;
    }
    float scale = (length - bound) / (weight * length);
    moveRow(step->ends, a, step->ends[a + 3] * scale, edge);
    moveRow(step->ends, b, -step->ends[b + 3] * scale, edge);
}

static void keepTieChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srLimitStep* step = context;
    const srFleshRest* rest = step->rest;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        for (int32_t t = rest->tieChunks.starts[chunk]; t < rest->tieChunks.starts[chunk + 1]; ++t) {
            keepTie(step, rest->ties[t]);
        }
    }
}

static void keepVolume(const srLimitStep* step, const srCellBlock* block, int lane) {
    const srFleshDials* dials = &step->tuning->dials;
    srVec3f e[3], posed[3], g[4];
    for (int c = 0; c < 3; ++c) {
        e[c] = findEdge(step, block->places[0][lane], block->places[c + 1][lane], &posed[c]);
    }
    g[1] = srCrossF(e[1], e[2]);
    g[2] = srCrossF(e[2], e[0]);
    g[3] = srCrossF(e[0], e[1]);
    g[0] = srScaleF(-1.0f, srAddF(srAddF(g[1], g[2]), g[3]));
    float whole = srDotF(posed[0], srCrossF(posed[1], posed[2]));
    float side = whole < 0.0f ? -1.0f : 1.0f; // what the pose turns inside out stays so
    whole *= side;
    float volume = side * srDotF(e[0], g[1]);
    float bound = findBound(volume, (float)dials->leastVolume * whole, (float)dials->mostVolume * whole);
    float weighted = 0.0f;
    for (int c = 0; c < 4; ++c) {
        weighted += step->ends[block->places[c][lane] + 3] * srDotF(g[c], g[c]);
    }
    if (bound == volume || !(weighted > 0.0f)) {
        return;
    }
    float lambda = side * (bound - volume) / weighted;
    for (int c = 0; c < 4; ++c) {
        int32_t place = block->places[c][lane];
        moveRow(step->ends, place, step->ends[place + 3] * lambda, g[c]);
    }
}

static void keepVolumeChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srLimitStep* step = context;
    const srFleshRest* rest = step->rest;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        for (int32_t b = rest->batches.starts[chunk]; b < rest->batches.starts[chunk + 1]; ++b) {
            for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
                if (rest->volumes[b].V[lane] > 0.0f) {
                    keepVolume(step, &rest->blocks[b], lane);
                }
            }
        }
    }
}

// even chunks share no node with one another, nor do odd ones (chunks.h)
static void forAllChunks(srLimitStep* step, srRangeFcn* body, const int32_t* starts, int32_t chunkCount) {
    for (step->parity = 0; step->parity < 2; ++step->parity) {
        if (step->isShared) {
            srForChunks(body, starts, chunkCount, step->parity, step);
        } else {
            body(0, (chunkCount - step->parity + 1) / 2, 0, step);
        }
    }
}

static srVec3f findEnd(const srLimitStep* step, int32_t place) {
    srVec3f row = readRow(step->rows, place);
    srVec3f start = readRow(step->starts, place);
    return step->beyond == 1.0f ? row : srMulAddF(start, step->beyond, srSubF(row, start));
}

static void findEndRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srLimitStep* step = context;
    for (int32_t i = begin; i < end; ++i) {
        int32_t place = SR_ROW_FLOATS * i;
        srVec3f u = findEnd(step, place);
        memcpy(step->ends + place, &u, sizeof(u));
        step->ends[place + 3] = step->rows[place + 3];
    }
}

// out of the floor, in rest units
static void keepAboveFloor(const srLimitStep* step, int32_t i) {
    const srFleshDials* dials = &step->tuning->dials;
    int32_t place = SR_ROW_FLOATS * i;
    srVec3f normal = srToFloat(dials->floorNormal);
    srVec3f from = step->motion->from[i];
    srVec3f line = srSubF(step->motion->to[i], from);
    srVec3f pose = srScaleF(step->toRest, srMulAddF(from, step->endFraction, line));
    srVec3f u = readRow(step->ends, place);
    float depth = step->toRest * (float)dials->floorHeight - srDotF(srAddF(pose, u), normal);
    if (!(depth > 0.0f) || !(step->ends[place + 3] > 0.0f)) {
        return;
    }
    srVec3f moved = srMulAddF(srSubF(u, readRow(step->starts, place)),
                              step->toRest * (step->endFraction - step->beginFraction), line);
    srVec3f slid = srMulAddF(moved, -srDotF(moved, normal), normal);
    float length = srLengthF(slid);
    float held = (float)dials->friction * depth;
    float share = length > held ? held / length : 1.0f;
    moveRow(step->ends, place, depth, normal);
    moveRow(step->ends, place, -share, slid);
}

static void finishRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srLimitStep* step = context;
    bool isFloor = hasFloor(&step->tuning->dials);
    for (int32_t i = begin; i < end; ++i) {
        int32_t place = SR_ROW_FLOATS * i;
        if (isFloor) {
            keepAboveFloor(step, i);
        }
        srVec3f before = findEnd(step, place);
        srVec3f after = readRow(step->ends, place);
        if (before.x != after.x || before.y != after.y || before.z != after.z) {
            moveRow(step->rows, place, 1.0f / step->beyond, srSubF(after, before));
        }
    }
}

void srFlesh_KeepLimits(srLimitStep* step) {
    const srFleshRest* rest = step->rest;
    const srFleshDials* dials = &step->tuning->dials;
    int32_t rangeSize = step->isShared ? NODES_PER_RANGE : rest->nodeCount;
    bool hasTies = rest->tieChunks.chunkCount > 0 && (dials->leastLength > 0.0 || dials->mostLength > 0.0);
    bool hasVolumes = dials->leastVolume > 0.0 || dials->mostVolume > 0.0;
    srParallelFor(findEndRange, rest->nodeCount, rangeSize, step);
    for (int pass = 0; pass < PASSES && (hasTies || hasVolumes); ++pass) {
        if (hasTies) {
            forAllChunks(step, keepTieChunks, rest->tieChunks.starts, rest->tieChunks.chunkCount);
        }
        if (hasVolumes) {
            forAllChunks(step, keepVolumeChunks, rest->batches.starts, rest->batches.chunkCount);
        }
    }
    srParallelFor(finishRange, rest->nodeCount, rangeSize, step);
}
