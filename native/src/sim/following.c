// SPDX-License-Identifier: GPL-3.0-or-later
//
// Offsets of points that are not the skin's. Those of a soft follower are the flesh's, brought to its points
// as they are brought to the skin's, and turned into its own space.
//
// A rigid one goes with the nearest rigid motion. Its points p_i, where its own deformation has them, would
// go to p_i + u_i; with d_i = p_i - p and e_i = d_i + u_i - u about the means p and u, the rotation R that
// makes sum |R d_i - e_i|^2 smallest is the one nearest to H = sum e_i d_i' (Kabsch 1976), and the offsets
// are u + (R - I) d_i. Where points lie on one line R is not unique, nor does it matter: none is off that
// line.

#include "sim/following.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "math/rotation.h"
#include "sim/passenger.h"

#include <string.h>

struct srFollowing {
    srSimulation* simulation;
    srBlend blend;
    srVec3* restPoints; // of a rigid one only
    int32_t pointCount;
    int32_t rowCount; // of the shot

    srMutex* lock; // guards all below; taken before the shot's
    srPassenger passenger;
    float* rows;
    int32_t recordedCount;
    int32_t revision;
};

static srVec3* copyPoints(const float* positions, int32_t pointCount) {
    srVec3* points = SR_ALLOC(srVec3, pointCount);
    for (int32_t i = 0; points != NULL && i < pointCount; ++i) {
        const float* x = positions + 3 * (size_t)i;
        points[i] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }
    return points;
}

static srResult embed(srFollowing* following, const srCage* cage, const srVec3* points) {
    srEmbedding embedding;
    SR_TRY(srCreateEmbedding(cage, points, NULL, following->pointCount, &embedding));
    srResult result = srCreateBlend(cage, &embedding, points, &following->blend);
    srDestroyEmbedding(&embedding);
    return result;
}

static srResult fill(srFollowing* following, const srFollowerDef* def) {
    const srCage* cage = &srSimulation_GetCharacter(following->simulation)->cage;
    following->restPoints = copyPoints(def->restPositions, def->pointCount);
    following->rows = SR_ALLOC(float, (size_t)SR_FOLLOWER_ROW_FLOATS*(size_t)following->rowCount);
    following->lock = srCreateMutex();
    if (following->restPoints == NULL || following->rows == NULL || following->lock == NULL) {
        return srFailOutOfMemory("a follower");
    }
    SR_TRY(embed(following, cage, following->restPoints));
    if (!def->isRigid) {
        SR_FREE(following->restPoints, following->pointCount);
        following->restPoints = NULL;
    }
    return srCreatePassenger(&following->blend, &following->passenger);
}

srResult srCreateFollowing(srSimulation* simulation, const srFollowerDef* def, srFollowing** outFollowing) {
    srFollowing* following = SR_ALLOC_ZERO(srFollowing, 1);
    if (following == NULL) {
        return srFailOutOfMemory("a follower");
    }
    following->simulation = simulation;
    following->pointCount = def->pointCount;
    following->rowCount = srSimulation_GetFrameCount(simulation);
    srResult result = fill(following, def);
    if (result != sr_success) {
        srDestroyFollowing(following);
        return result;
    }
    *outFollowing = following;
    return sr_success;
}

void srDestroyFollowing(srFollowing* following) {
    if (following == NULL) {
        return;
    }
    srDestroyPassenger(&following->passenger);
    srDestroyBlend(&following->blend);
    SR_FREE(following->restPoints, following->pointCount);
    SR_FREE(following->rows, (size_t)SR_FOLLOWER_ROW_FLOATS * (size_t)following->rowCount);
    srDestroyMutex(following->lock);
    SR_FREE(following, 1);
}

srSimulation* srFollowing_GetSimulation(const srFollowing* following) {
    return following->simulation;
}

int32_t srFollowing_GetPointCount(const srFollowing* following) {
    return following->pointCount;
}

static const float* getRow(const srFollowing* following, int32_t row) {
    return following->rows + (size_t)SR_FOLLOWER_ROW_FLOATS * (size_t)row;
}

static void writeLocked(srFollowing* following, int32_t firstRow, int32_t rowCount, const float* rows) {
    int32_t end = firstRow + rowCount;
    int32_t overCount = (end < following->recordedCount ? end : following->recordedCount) - firstRow;
    size_t rowSize = SR_FOLLOWER_ROW_FLOATS * sizeof(float);
    float* kept = following->rows + (size_t)SR_FOLLOWER_ROW_FLOATS * (size_t)firstRow;
    if (memcmp(kept, rows, rowSize * (size_t)overCount) != 0) {
        following->revision += 1;
    }
    memcpy(kept, rows, rowSize * (size_t)rowCount);
    following->recordedCount = end > following->recordedCount ? end : following->recordedCount;
}

srResult srFollowing_WriteTape(srFollowing* following, int32_t firstFrame, int32_t rowCount,
                               const float* rows) {
    srResult result = sr_success;
    int32_t firstRow = firstFrame - srSimulation_GetFirstFrame(following->simulation);
    srLock(following->lock);
    if (firstRow > following->recordedCount) {
        result =
            srFail(sr_errorInvalidValue, "Frame %d does not follow the %d written ones of this follower.",
                   firstFrame, following->recordedCount);
    } else {
        writeLocked(following, firstRow, rowCount, rows);
    }
    srUnlock(following->lock);
    return result;
}

int32_t srFollowing_GetRecordedCount(srFollowing* following) {
    srLock(following->lock);
    int32_t count = following->recordedCount;
    srUnlock(following->lock);
    return count;
}

int32_t srFollowing_GetRevision(srFollowing* following) {
    srLock(following->lock);
    int32_t revision = following->revision;
    srUnlock(following->lock);
    return revision;
}

static srVec3 readOffset(const float* offsets, int32_t i) {
    const float* u = offsets + 3 * (size_t)i;
    return (srVec3){(double)u[0], (double)u[1], (double)u[2]};
}

static bool isPlace(srVec3 x) {
    return isfinite(x.x) && isfinite(x.y) && isfinite(x.z);
}

typedef struct RigidMotion {
    srMat34 restToWorld;
    srVec3 middle; // of the points, in the world
    srVec3 shift;  // of the middle
    srMat3 turn;   // R - I
} RigidMotion;

// false when nothing moves
static bool findMeans(const srFollowing* following, const float* offsets, RigidMotion* motion) {
    int32_t count = 0;
    bool moves = false;
    motion->middle = motion->shift = (srVec3){0.0, 0.0, 0.0};
    for (int32_t i = 0; i < following->pointCount; ++i) {
        if (isPlace(following->restPoints[i])) {
            srVec3 u = readOffset(offsets, i);
            motion->middle =
                srAdd(motion->middle, srMulPoint34(&motion->restToWorld, following->restPoints[i]));
            motion->shift = srAdd(motion->shift, u);
            moves = moves || u.x != 0.0 || u.y != 0.0 || u.z != 0.0;
            ++count;
        }
    }
    if (count > 0) {
        motion->middle = srScale(1.0 / count, motion->middle);
        motion->shift = srScale(1.0 / count, motion->shift);
    }
    return moves;
}

static void findTurn(const srFollowing* following, const float* offsets, RigidMotion* motion) {
    srMat3 H = {{{0}}};
    for (int32_t i = 0; i < following->pointCount; ++i) {
        if (!isPlace(following->restPoints[i])) {
            continue;
        }
        srVec3 p = srMulPoint34(&motion->restToWorld, following->restPoints[i]);
        srVec3 d = srSub(p, motion->middle);
        srVec3 e = srAdd(d, srSub(readOffset(offsets, i), motion->shift));
        const double rows[3] = {e.x, e.y, e.z}, columns[3] = {d.x, d.y, d.z};
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
                H.m[r][c] += rows[r] * columns[c];
            }
        }
    }
    motion->turn = srFindRotation(&H);
    for (int i = 0; i < 3; ++i) {
        motion->turn.m[i][i] -= 1.0;
    }
}

// offsets are the flesh's, in the world, and become the follower's, in its own space
static void makeRigid(const srFollowing* following, const float* row, const srMat34* toLocal,
                      float* offsets) {
    RigidMotion motion = {.restToWorld = srFromColumns16(row + 16)};
    if (!findMeans(following, offsets, &motion)) {
        return;
    }
    findTurn(following, offsets, &motion);
    const srMat3* T = &motion.turn;
    for (int32_t i = 0; i < following->pointCount; ++i) {
        if (!isPlace(following->restPoints[i])) {
            continue;
        }
        srVec3 d = srSub(srMulPoint34(&motion.restToWorld, following->restPoints[i]), motion.middle);
        srVec3 turned = {T->m[0][0] * d.x + T->m[0][1] * d.y + T->m[0][2] * d.z,
                         T->m[1][0] * d.x + T->m[1][1] * d.y + T->m[1][2] * d.z,
                         T->m[2][0] * d.x + T->m[2][1] * d.y + T->m[2][2] * d.z};
        srVec3f local = srMakeSaneOffset(srMulVector34(toLocal, srAdd(motion.shift, turned)));
        memcpy(offsets + 3 * (size_t)i, &local, sizeof(local));
    }
}

static void bringToPoints(void* context, int32_t row, const srVec3f* nodeOffsets, float* outOffsets) {
    const srFollowing* following = context;
    const float* matrices = getRow(following, row);
    srMat34 object = srFromColumns16(matrices), toLocal;
    srInvert34(&object, &toLocal);
    if (following->restPoints == NULL) {
        srPassenger_Bring(&following->passenger, &toLocal, nodeOffsets, outOffsets);
        return;
    }
    const srMat34 inWorld = srIdentity34();
    srPassenger_Bring(&following->passenger, &inWorld, nodeOffsets, outOffsets);
    makeRigid(following, matrices, &toLocal, outOffsets);
}

static srReader makeReader(srFollowing* following) {
    return (srReader){
        .bring = bringToPoints,
        .context = following,
        .rowCount = following->recordedCount,
        .floatCount = 3 * (size_t)following->pointCount,
        .laterOffsets = following->passenger.laterOffsets,
    };
}

srResult srFollowing_ReadOffsets(srFollowing* following, double frame, float* outOffsets) {
    srLock(following->lock);
    const srReader reader = makeReader(following);
    srResult result = srSimulation_ReadFor(following->simulation, frame, &reader, outOffsets);
    srUnlock(following->lock);
    return result;
}

srResult srFollowing_ReadProvisional(srFollowing* following, int32_t frame, float* outOffsets) {
    srLock(following->lock);
    const srReader reader = makeReader(following);
    srResult result = srSimulation_ReadProvisionalFor(following->simulation, frame, &reader, outOffsets);
    srUnlock(following->lock);
    return result;
}
