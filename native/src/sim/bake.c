// SPDX-License-Identifier: GPL-3.0-or-later
//
// PC2 as Blender's Mesh Cache modifier reads it: a header of 32 bytes, then rows of float32 xyz.
// Little-endian, as all machines that the library is built for are.

#include "sim/bake.h"

#include "core/alloc.h"
#include "core/file.h"
#include "sim/checkpoint.h"

#include <string.h>

#define WAIT_SECONDS 0.02 // between looks at the cancel flag

struct srBake {
    srSimulation* simulation;
    srFollowing* following; // null: the skin
    char* path;
    size_t pathSize;
    char* checkpointPath; // null is none
    size_t checkpointPathSize;
    int32_t firstFrame;
    int32_t frameCount;
    int32_t samplesPerFrame;
    float* row;
    size_t rowFloatCount;
    srJob* job;
};

typedef struct Pc2Header {
    char signature[12];
    int32_t version;
    int32_t pointCount;
    float startFrame;
    float sampleRate;
    int32_t sampleCount;
} Pc2Header;

// a frame that could not be simulated shows the plain pose, which nobody wants in a file
static srResult checkFrame(const srBake* bake, int32_t frame) {
    srFrameStats stats;
    bool isThere = srSimulation_GetFrameStats(bake->simulation, frame, &stats) == sr_success;
    if (!isThere || stats.result == sr_success) {
        return sr_success; // when it went again, reading tells
    }
    return srFail(stats.result, "Frame %d could not be simulated: %s", frame,
                  stats.result == sr_errorOutOfMemory
                      ? "memory is gone. Take a smaller cage or fewer frames."
                      : "these settings are no material. Change softness, volume or weight.");
}

// of the tapes that have to be written before a frame can be baked
static int32_t getRecordedCount(const srBake* bake) {
    srShotStatus status;
    srSimulation_GetStatus(bake->simulation, &status);
    int32_t count =
        bake->following != NULL ? srFollowing_GetRecordedCount(bake->following) : status.recordedFrameCount;
    return count < status.recordedFrameCount ? count : status.recordedFrameCount;
}

// either only grows, so the sum tells of both
static int32_t getRevision(const srBake* bake) {
    int32_t revision = srSimulation_GetRevision(bake->simulation);
    return bake->following != NULL ? revision + srFollowing_GetRevision(bake->following) : revision;
}

static srResult readOffsets(const srBake* bake, double frame) {
    return bake->following != NULL ? srFollowing_ReadOffsets(bake->following, frame, bake->row)
                                   : srSimulation_ReadOffsets(bake->simulation, frame, bake->row);
}

// `sr_errorNotReady` is what a bake answers that is still at work; it never fails with it
static srResult waitForFrame(srBake* bake, srJob* job, int32_t frame) {
    for (;;) {
        if (srJob_IsCancelled(job)) {
            return srFail(sr_errorCancelled, "The bake was cancelled.");
        }
        if (frame - srSimulation_GetFirstFrame(bake->simulation) >= getRecordedCount(bake)) {
            return srFail(sr_errorInvalidValue, "Frame %d is not recorded.", frame);
        }
        if (srSimulation_WaitFrame(bake->simulation, frame, WAIT_SECONDS) == sr_success) {
            return checkFrame(bake, frame);
        }
    }
}

static srResult writeHeader(const srBake* bake, srFileWriter* writer) {
    Pc2Header header = {
        .signature = "POINTCACHE2",
        .version = 1,
        .pointCount = (int32_t)(bake->rowFloatCount / 3),
        .startFrame = 0.0f,
        .sampleRate = 1.0f / (float)bake->samplesPerFrame,
        .sampleCount = (bake->frameCount - 1) * bake->samplesPerFrame + 1,
    };
    return srFileWriter_Write(writer, &header, sizeof(header));
}

static srResult bakeSample(srBake* bake, double frame, srFileWriter* writer, int32_t revision) {
    srResult result = readOffsets(bake, frame);
    if (result != sr_success || revision != getRevision(bake)) {
        return srFail(sr_errorCancelled, "The shot changed while it was being baked. Bake it again.");
    }
    return srFileWriter_Write(writer, bake->row, bake->rowFloatCount * sizeof(float));
}

// a frame of the file with the samples that lead to it, which need it
static srResult bakeFrame(srBake* bake, int32_t frame, srFileWriter* writer, int32_t revision) {
    int32_t leading = frame > bake->firstFrame ? bake->samplesPerFrame - 1 : 0;
    for (int32_t i = leading; i > 0; --i) {
        double between = (double)frame - (double)i / (double)bake->samplesPerFrame;
        SR_TRY(bakeSample(bake, between, writer, revision));
    }
    return bakeSample(bake, (double)frame, writer, revision);
}

// waits for a frame, which goes to the checkpoint if it is the next there
static srResult awaitFrame(srBake* bake, srJob* job, int32_t frame, srCheckpoint* checkpoint) {
    int32_t shotFirst = srSimulation_GetFirstFrame(bake->simulation);
    int32_t shotLast = shotFirst + srSimulation_GetFrameCount(bake->simulation) - 1;
    bool isWithin = frame >= shotFirst && frame <= shotLast;
    SR_TRY(waitForFrame(bake, job, isWithin ? frame : shotLast)); // those around a loop are of a whole round
    bool isNext = checkpoint != NULL && srCheckpoint_GetRowCount(checkpoint) == frame - shotFirst;
    return isNext && isWithin ? srCheckpoint_Add(checkpoint) : sr_success;
}

// how many frames of the shot come to the checkpoint before the file's first can be written
static int32_t countKeptBefore(const srBake* bake) {
    int32_t leading = bake->firstFrame - srSimulation_GetFirstFrame(bake->simulation);
    return leading >= 0 ? leading : srSimulation_GetFrameCount(bake->simulation);
}

static srResult writeRows(srBake* bake, srJob* job, srFileWriter* writer, srCheckpoint* checkpoint) {
    int32_t revision = getRevision(bake);
    int32_t keptCount = checkpoint != NULL ? countKeptBefore(bake) : 0;
    float allCount = (float)(keptCount + bake->frameCount);
    for (int32_t i = 0; i < keptCount; ++i) {
        SR_TRY(awaitFrame(bake, job, srSimulation_GetFirstFrame(bake->simulation) + i, checkpoint));
        srJob_SetProgress(job, (float)(i + 1) / allCount);
    }
    for (int32_t i = 0; i < bake->frameCount; ++i) {
        SR_TRY(awaitFrame(bake, job, bake->firstFrame + i, checkpoint));
        SR_TRY(bakeFrame(bake, bake->firstFrame + i, writer, revision));
        srJob_SetProgress(job, (float)(keptCount + i + 1) / allCount);
    }
    return sr_success;
}

static srResult writeFile(srBake* bake, srJob* job, srCheckpoint* checkpoint) {
    srFileWriter* writer = NULL;
    SR_TRY(srOpenFileWriter(bake->path, &writer));
    srResult result = writeHeader(bake, writer);
    if (result == sr_success) {
        result = writeRows(bake, job, writer, checkpoint);
    }
    if (result != sr_success) {
        srFileWriter_Abandon(writer);
        return result;
    }
    return srFileWriter_Commit(writer);
}

static bool isWholeShot(const srBake* bake) {
    int32_t first = srSimulation_GetFirstFrame(bake->simulation);
    int32_t end = first + srSimulation_GetFrameCount(bake->simulation);
    return bake->firstFrame <= first && bake->firstFrame + bake->frameCount >= end;
}

static srResult work(srJob* job, void* context) {
    srBake* bake = context;
    srCheckpoint* checkpoint = NULL;
    if (bake->checkpointPath != NULL) {
        SR_TRY(srOpenCheckpoint(bake->simulation, bake->checkpointPath, &checkpoint));
    }
    srResult result = writeFile(bake, job, checkpoint);
    srCloseCheckpoint(checkpoint, result == sr_success && isWholeShot(bake));
    return result;
}

static srResult startBake(srBake* bake, const srBakeDef* def) {
    bake->path = SR_ALLOC(char, bake->pathSize);
    bake->row = SR_ALLOC(float, bake->rowFloatCount);
    if (bake->path == NULL || bake->row == NULL) {
        return srFailOutOfMemory("a bake");
    }
    memcpy(bake->path, def->path, bake->pathSize);
    if (def->checkpointPath != NULL) {
        bake->checkpointPathSize = strlen(def->checkpointPath) + 1;
        bake->checkpointPath = SR_ALLOC(char, bake->checkpointPathSize);
        if (bake->checkpointPath == NULL) {
            return srFailOutOfMemory("a bake");
        }
        memcpy(bake->checkpointPath, def->checkpointPath, bake->checkpointPathSize);
    }
    return srStartJob(work, bake, &bake->job);
}

srResult srCreateBake(srSimulation* simulation, srFollowing* following, const srBakeDef* def,
                      srBake** outBake) {
    int32_t pointCount = following != NULL ? srFollowing_GetPointCount(following)
                                           : srSimulation_GetCharacter(simulation)->embedding.pointCount;
    srBake* bake = SR_ALLOC_ZERO(srBake, 1);
    if (bake == NULL) {
        return srFailOutOfMemory("a bake");
    }
    *bake = (srBake){
        .simulation = simulation,
        .following = following,
        .pathSize = strlen(def->path) + 1,
        .firstFrame = def->firstFrame,
        .frameCount = def->frameCount,
        .samplesPerFrame = def->samplesPerFrame,
        .rowFloatCount = 3 * (size_t)pointCount,
    };
    srResult result = startBake(bake, def);
    if (result != sr_success) {
        srDestroyBakeWork(bake);
        return result;
    }
    *outBake = bake;
    return sr_success;
}

void srDestroyBakeWork(srBake* bake) {
    if (bake == NULL) {
        return;
    }
    srDestroyJob(bake->job);
    SR_FREE(bake->path, bake->pathSize);
    SR_FREE(bake->checkpointPath, bake->checkpointPathSize);
    SR_FREE(bake->row, bake->rowFloatCount);
    SR_FREE(bake, 1);
}

srJob* srBake_GetJob(srBake* bake) {
    return bake->job;
}
