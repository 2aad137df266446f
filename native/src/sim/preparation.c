// SPDX-License-Identifier: GPL-3.0-or-later
//
// The thread that prepares a character, and what it was given.

#include "sim/preparation.h"

#include "core/alloc.h"
#include "sim/character_file.h"

struct srPreparation {
    srSource source;
    srCharacter character;
    srJob* job;
};

static srResult prepareInThread(srJob* job, void* context) {
    srPreparation* preparation = context;
    srResult result = srPrepareCharacter(&preparation->source, job, &preparation->character);
    srDestroySource(&preparation->source);
    return result;
}

srResult srStartPreparation(const srCharacterDef* def, srPreparation** outPreparation) {
    srPreparation* preparation = SR_ALLOC_ZERO(srPreparation, 1);
    if (preparation == NULL) {
        return srFailOutOfMemory("a character");
    }
    srResult result = srCopySource(def, &preparation->source);
    if (result == sr_success) {
        result = srStartJob(prepareInThread, preparation, &preparation->job);
    }
    if (result != sr_success) {
        srDestroyPreparation(preparation);
        return result;
    }
    *outPreparation = preparation;
    return sr_success;
}

static srResult haveIt(srJob* job, void* context) {
    (void)job;
    (void)context;
    return sr_success;
}

srResult srOpenPreparation(const void* bytes, size_t byteCount, srPreparation** outPreparation) {
    srPreparation* preparation = SR_ALLOC_ZERO(srPreparation, 1);
    if (preparation == NULL) {
        return srFailOutOfMemory("a character");
    }
    srResult result = srReadCharacterFile(bytes, byteCount, &preparation->character);
    if (result == sr_success) {
        result = srStartJob(haveIt, preparation, &preparation->job);
    }
    if (result != sr_success) {
        srDestroyPreparation(preparation);
        return result;
    }
    srJob_Wait(preparation->job, -1.0);
    *outPreparation = preparation;
    return sr_success;
}

static void release(void* context) {
    srPreparation* preparation = context;
    srDestroyCharacterRest(&preparation->character);
    srDestroySource(&preparation->source);
    SR_FREE(preparation, 1);
}

void srDestroyPreparation(srPreparation* preparation) {
    if (preparation != NULL && preparation->job != NULL) {
        srAbandonJob(preparation->job, release);
    } else if (preparation != NULL) {
        release(preparation);
    }
}

srJob* srPreparation_GetJob(srPreparation* preparation) {
    return preparation->job;
}

srResult srPreparation_GetCharacter(srPreparation* preparation, srCharacter** outCharacter) {
    SR_TRY(srJob_GetResult(preparation->job));
    *outCharacter = &preparation->character;
    return sr_success;
}
