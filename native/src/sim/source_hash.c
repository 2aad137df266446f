// SPDX-License-Identifier: GPL-3.0-or-later
//
// Field by field where a struct has holes: what stands in them is nobody's.

#include "sim/source_hash.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "sim/character_file.h"

#define PARAMS_END (offsetof(srShotParams, swings) + sizeof(int32_t))

_Static_assert(sizeof(srShotParams) - PARAMS_END < sizeof(size_t) &&
                   offsetof(srShotParams, swings) == offsetof(srShotParams, loop) + 5 * sizeof(int32_t),
               "a new dial has to be hashed, and no hole");
_Static_assert(offsetof(srFrameControls, isCut) == sizeof(size_t) + 9 * sizeof(float),
               "a new control has to be hashed");

static srResult hashCharacter(const srCharacter* character, uint64_t* outHash) {
    size_t size = srGetCharacterFileSize(character);
    unsigned char* bytes = SR_ALLOC(unsigned char, size);
    if (bytes == NULL) {
        return srFailOutOfMemory("a bake");
    }
    srWriteCharacterFile(character, bytes);
    *outHash = srHashBlock(bytes, size);
    SR_FREE(bytes, size);
    return sr_success;
}

uint64_t srHashSourceRow(uint64_t hash, const srShotSource* source, int32_t row) {
    const srFrameControls* controls = &source->controls.rows[row];
    const size_t start = offsetof(srFrameControls, gravity);
    unsigned char isCut = controls->isCut ? 1 : 0;
    hash = srHashBytes(hash, srTape_GetRow(&source->tape, row),
                       (size_t)source->tape.rowFloatCount * sizeof(float));
    const srVec3f* nodes = srTape_GetNodes(&source->tape, row);
    if (nodes != NULL) {
        hash = srHashBytes(hash, nodes, (size_t)source->tape.nodeCount * sizeof(srVec3f));
    }
    hash = srHashBytes(hash, (const char*)controls + start, offsetof(srFrameControls, isCut) - start);
    return srHashBytes(hash, &isCut, sizeof(isCut));
}

srResult srHashShotSource(const srShotSource* source, uint64_t* outHash) {
    uint64_t characterHash = 0;
    SR_TRY(hashCharacter(source->character, &characterHash));
    const srShotDef* def = &source->def;
    const size_t start = offsetof(srShotParams, frequency);
    srVersion version = {SR_VERSION_MAJOR, SR_VERSION_MINOR, SR_VERSION_PATCH};
    uint64_t hash = srHashBytes(SR_HASH_SEED, &version, sizeof(version));
    hash = srHashBytes(hash, &characterHash, sizeof(characterHash));
    hash = srHashBytes(hash, (const char*)&def->params + start, PARAMS_END - start);
    hash = srHashBytes(hash, &def->frameRate, sizeof(def->frameRate));
    if (srShotSource_NeedsAllRows(source)) {
        hash = srHashBytes(hash, &def->frameCount, sizeof(def->frameCount));
        for (int32_t row = 0; row < source->tape.recordedCount; ++row) {
            hash = srHashSourceRow(hash, source, row);
        }
    }
    *outHash = hash;
    return sr_success;
}
