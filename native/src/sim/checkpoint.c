// SPDX-License-Identifier: GPL-3.0-or-later
//
// A header, then a record a row: its head, offsets, the state at every checkpoint row, all under one hash.

#include "sim/checkpoint.h"

#include "core/alloc.h"
#include "core/file.h"
#include "core/hash.h"
#include "sim/cache.h"

#include <string.h>

#define MAGIC "SOFTRIG RESUME\n"
#define VERSION 1
#define LARGEST_OFFSET 1e30f

typedef struct FileHeader {
    char magic[16];
    int32_t version;
    int32_t nodeCount;
    uint64_t stateSize;
} FileHeader;

// without holes
typedef struct RecordHead {
    uint64_t hash; // of all that follows, to the record's end
    uint64_t sourceHash;
    uint64_t stateHash;
    int32_t row;
    int32_t limitedNodeCount;
    int32_t iterationCount;
    int32_t result;
    float residual;
    float seconds;
    float loopSeam;
    int32_t loopRounds;
} RecordHead;

_Static_assert(sizeof(RecordHead) == 56, "a hole would be hashed");

struct srCheckpoint {
    srSimulation* simulation;
    srRecordFile* file;
    int32_t edition;
    int32_t rowCount;
    FileHeader header;
    size_t offsetsSize;
    unsigned char* bytes; // one record, the largest
    size_t byteCount;
    srRowRecord record; // its arrays lie in `bytes`
};

static size_t sizeOfRecord(const srCheckpoint* checkpoint, int32_t row) {
    bool hasState = srFindCheckpoint(row) == row;
    return sizeof(RecordHead) + checkpoint->offsetsSize +
           (hasState ? (size_t)checkpoint->header.stateSize : 0);
}

static uint64_t hashRecord(const srCheckpoint* checkpoint, size_t size) {
    const size_t from = sizeof(uint64_t);
    return srHashBlock(checkpoint->bytes + from, size - from);
}

static bool areSane(const srVec3f* offsets, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const srVec3f* offset = &offsets[i];
        if (!(fabsf(offset->x) < LARGEST_OFFSET && fabsf(offset->y) < LARGEST_OFFSET &&
              fabsf(offset->z) < LARGEST_OFFSET)) {
            return false;
        }
    }
    return true;
}

// the next row of the file into the record; null behind the last whole one
static const srRowRecord* readRow(void* context) {
    srCheckpoint* checkpoint = context;
    srRowRecord* record = &checkpoint->record;
    int32_t row = checkpoint->rowCount;
    size_t size = sizeOfRecord(checkpoint, row);
    RecordHead head;
    if (!srRecordFile_Read(checkpoint->file, checkpoint->bytes, size)) {
        return NULL;
    }
    memcpy(&head, checkpoint->bytes, sizeof(head));
    if (head.hash != hashRecord(checkpoint, size) || head.row != row ||
        !areSane(record->offsets, checkpoint->header.nodeCount)) {
        return NULL;
    }
    record->sourceHash = head.sourceHash;
    record->stateHash = head.stateHash;
    record->loopSeam = head.loopSeam;
    record->loopRounds = head.loopRounds;
    record->stats = (srFrameStats){
        .limitedNodeCount = head.limitedNodeCount,
        .iterationCount = head.iterationCount,
        .residual = head.residual,
        .seconds = head.seconds,
        .result = (srResult)head.result,
    };
    checkpoint->rowCount += 1;
    return record;
}

static srResult beginAnew(srCheckpoint* checkpoint) {
    SR_TRY(srRecordFile_Cut(checkpoint->file, 0));
    return srRecordFile_Append(checkpoint->file, &checkpoint->header, sizeof(checkpoint->header));
}

static srResult cutBehind(srCheckpoint* checkpoint, int32_t rowCount) {
    int64_t size = (int64_t)sizeof(FileHeader);
    for (int32_t row = 0; row < rowCount; ++row) {
        size += (int64_t)sizeOfRecord(checkpoint, row);
    }
    checkpoint->rowCount = rowCount;
    return srRecordFile_Cut(checkpoint->file, size);
}

static srResult restore(srCheckpoint* checkpoint) {
    FileHeader found;
    bool isOurs = srRecordFile_Read(checkpoint->file, &found, sizeof(found)) &&
                  memcmp(&found, &checkpoint->header, sizeof(found)) == 0;
    if (!isOurs) {
        SR_TRY(beginAnew(checkpoint));
    }
    int32_t rowCount = 0;
    uint64_t sourceHash = 0; // not the record's own: reading writes over that
    SR_TRY(srSimulation_Restore(checkpoint->simulation, readRow, checkpoint, &rowCount, &checkpoint->edition,
                                &sourceHash));
    checkpoint->record.sourceHash = sourceHash;
    return cutBehind(checkpoint, rowCount);
}

static srResult open(srCheckpoint* checkpoint, const char* path) {
    const srCharacter* character = srSimulation_GetCharacter(checkpoint->simulation);
    srRowRecord* record = &checkpoint->record;
    SR_TRY(srSimulation_GetStateSize(checkpoint->simulation, &record->stateSize));
    checkpoint->header = (FileHeader){
        .magic = MAGIC,
        .version = VERSION,
        .nodeCount = character->cage.nodeCount,
        .stateSize = record->stateSize,
    };
    checkpoint->offsetsSize = (size_t)checkpoint->header.nodeCount * sizeof(srVec3f);
    checkpoint->byteCount = sizeOfRecord(checkpoint, 0);
    checkpoint->bytes = SR_ALLOC_ZERO(unsigned char, checkpoint->byteCount);
    if (checkpoint->bytes == NULL) {
        return srFailOutOfMemory("a bake");
    }
    record->offsets = (srVec3f*)(void*)(checkpoint->bytes + sizeof(RecordHead));
    record->state = checkpoint->bytes + sizeof(RecordHead) + checkpoint->offsetsSize;
    SR_TRY(srOpenRecordFile(path, &checkpoint->file));
    return restore(checkpoint);
}

srResult srOpenCheckpoint(srSimulation* simulation, const char* path, srCheckpoint** outCheckpoint) {
    srCheckpoint* checkpoint = SR_ALLOC_ZERO(srCheckpoint, 1);
    if (checkpoint == NULL) {
        return srFailOutOfMemory("a bake");
    }
    checkpoint->simulation = simulation;
    srResult result = open(checkpoint, path);
    if (result != sr_success) {
        srCloseCheckpoint(checkpoint, false);
        return result;
    }
    *outCheckpoint = checkpoint;
    return sr_success;
}

int32_t srCheckpoint_GetRowCount(const srCheckpoint* checkpoint) {
    return checkpoint->rowCount;
}

srResult srCheckpoint_Add(srCheckpoint* checkpoint) {
    srRowRecord* record = &checkpoint->record;
    int32_t row = checkpoint->rowCount;
    SR_TRY(srSimulation_SaveRow(checkpoint->simulation, row, checkpoint->edition, record));
    size_t size = sizeOfRecord(checkpoint, row);
    RecordHead head = {
        .sourceHash = record->sourceHash,
        .stateHash = record->stateHash,
        .row = row,
        .limitedNodeCount = record->stats.limitedNodeCount,
        .iterationCount = record->stats.iterationCount,
        .result = (int32_t)record->stats.result,
        .residual = record->stats.residual,
        .seconds = record->stats.seconds,
        .loopSeam = record->loopSeam,
        .loopRounds = record->loopRounds,
    };
    memcpy(checkpoint->bytes, &head, sizeof(head));
    head.hash = hashRecord(checkpoint, size);
    memcpy(checkpoint->bytes, &head, sizeof(head));
    SR_TRY(srRecordFile_Append(checkpoint->file, checkpoint->bytes, size));
    checkpoint->rowCount += 1;
    return sr_success;
}

void srCloseCheckpoint(srCheckpoint* checkpoint, bool isDone) {
    if (checkpoint == NULL) {
        return;
    }
    srRecordFile_Close(checkpoint->file, isDone);
    SR_FREE(checkpoint->bytes, checkpoint->byteCount);
    SR_FREE(checkpoint, 1);
}
