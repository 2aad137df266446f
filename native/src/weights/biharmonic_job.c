// SPDX-License-Identifier: GPL-3.0-or-later
//
// One table of a definition's arrays serves copying and freeing.

#include "weights/biharmonic_job.h"

#include "core/alloc.h"
#include "weights/biharmonic_skin.h"

#include <string.h>

struct srWeighing {
    srWeightsDef def; // its arrays are our own
    float* values;
    srWeightsReport report;
    srJob* job;
};

typedef struct ArrayField {
    const void** pointer;
    size_t count;
    size_t elementSize;
} ArrayField;

#define ARRAY_FIELD_COUNT 6

static void listArrays(srWeightsDef* def, ArrayField fields[ARRAY_FIELD_COUNT]) {
    const ArrayField all[ARRAY_FIELD_COUNT] = {
        {(const void**)&def->skinPositions, 3 * (size_t)def->skinVertexCount, sizeof(float)},
        {(const void**)&def->skinTriangles, 3 * (size_t)def->skinTriangleCount, sizeof(int32_t)},
        {(const void**)&def->points, 3 * (size_t)def->pointCount, sizeof(float)},
        {(const void**)&def->pointColumns, (size_t)def->pointCount, sizeof(int32_t)},
        {(const void**)&def->elements, 3 * (size_t)def->elementCount, sizeof(int32_t)},
        {(const void**)&def->mirrorColumns, (size_t)def->columnCount, sizeof(int32_t)},
    };
    memcpy(fields, all, sizeof(all));
}

static bool copyArrays(srWeightsDef* def) {
    ArrayField fields[ARRAY_FIELD_COUNT];
    bool isWhole = true;
    listArrays(def, fields);
    for (int f = 0; f < ARRAY_FIELD_COUNT; f++) {
        const void* from = *fields[f].pointer;
        void* copy = from != NULL ? srAlloc(fields[f].count, fields[f].elementSize) : NULL;
        if (copy != NULL) {
            memcpy(copy, from, fields[f].count * fields[f].elementSize);
        }
        isWhole = isWhole && (from == NULL || copy != NULL);
        *fields[f].pointer = copy;
    }
    return isWhole;
}

static void freeArrays(srWeightsDef* def) {
    ArrayField fields[ARRAY_FIELD_COUNT];
    listArrays(def, fields);
    for (int f = 0; f < ARRAY_FIELD_COUNT; f++) {
        srFree((void*)*fields[f].pointer, fields[f].count, fields[f].elementSize);
        *fields[f].pointer = NULL;
    }
}

static size_t countValues(const srWeightsDef* def) {
    return (size_t)def->skinVertexCount * (size_t)def->columnCount;
}

static bool reportToJob(float fraction, void* context) {
    srJob_SetProgress(context, fraction);
    return !srJob_IsCancelled(context);
}

static srResult weighInThread(srJob* job, void* context) {
    srWeighing* weighing = context;
    srProgress progress = {.report = reportToJob, .context = job, .from = 0.0f, .to = 1.0f};
    srResult result = srWeighSkin(&weighing->def, &progress, weighing->values, &weighing->report);
    freeArrays(&weighing->def);
    return result == sr_errorCancelled ? srFail(result, "Computing weights was cancelled.") : result;
}

srResult srStartWeighing(const srWeightsDef* def, srWeighing** outWeighing) {
    srWeighing* weighing = SR_ALLOC_ZERO(srWeighing, 1);
    if (weighing == NULL) {
        return srFailOutOfMemory("weights");
    }
    weighing->def = *def;
    bool isWhole = copyArrays(&weighing->def);
    weighing->values = SR_ALLOC_ZERO(float, countValues(def));
    srResult result = isWhole && weighing->values != NULL ? sr_success : srFailOutOfMemory("weights");
    if (result == sr_success) {
        result = srStartJob(weighInThread, weighing, &weighing->job);
    }
    if (result != sr_success) {
        srDestroyWeighing(weighing);
        return result;
    }
    *outWeighing = weighing;
    return sr_success;
}

static void release(void* context) {
    srWeighing* weighing = context;
    freeArrays(&weighing->def);
    SR_FREE(weighing->values, countValues(&weighing->def));
    SR_FREE(weighing, 1);
}

void srDestroyWeighing(srWeighing* weighing) {
    if (weighing != NULL && weighing->job != NULL) {
        srAbandonJob(weighing->job, release);
    } else if (weighing != NULL) {
        release(weighing);
    }
}

srJob* srWeighing_GetJob(srWeighing* weighing) {
    return weighing->job;
}

srResult srWeighing_GetValues(srWeighing* weighing, const float** outValues, int32_t* outVertexCount,
                              int32_t* outColumnCount) {
    SR_TRY(srJob_GetResult(weighing->job));
    *outValues = weighing->values;
    *outVertexCount = weighing->def.skinVertexCount;
    *outColumnCount = weighing->def.columnCount;
    return sr_success;
}

srResult srWeighing_GetReport(srWeighing* weighing, srWeightsReport* outReport) {
    SR_TRY(srJob_GetResult(weighing->job));
    *outReport = weighing->report;
    return sr_success;
}
