// SPDX-License-Identifier: GPL-3.0-or-later
//
// Check, translate, call, return: weights.

#include "softrig/weights.h"

#include "api/check.h"
#include "api/registry.h"
#include "api/status.h"
#include "weights/biharmonic_job.h"

#include <string.h>

#define MOST_VALUES 500000000.0 // two gigabytes of weights

srWeightsDef srDefaultWeightsDef(void) {
    return (srWeightsDef){
        .structSize = sizeof(srWeightsDef),
        .targetNodeCount = 4000,
        .tolerance = 1e-4f,
        .largestHole = 0.2f,
        .sheetThickness = 0.01f,
    };
}

static srResult checkSkin(const srWeightsDef* def) {
    SR_CHECK_NOT_NULL(def->skinPositions);
    SR_CHECK_NOT_NULL(def->skinTriangles);
    SR_TRY(srCheckRange("skinVertexCount", def->skinVertexCount, 1, INT32_MAX / 4));
    SR_TRY(srCheckRange("skinTriangleCount", def->skinTriangleCount, 1, INT32_MAX / 4));
    SR_TRY(srCheckSize("skinPositions", def->skinPositions, 3 * (size_t)def->skinVertexCount));
    return srCheckIndices("skinTriangles", def->skinTriangles, 3 * (size_t)def->skinTriangleCount, 0,
                          def->skinVertexCount);
}

static srResult checkBones(const srWeightsDef* def) {
    SR_CHECK_NOT_NULL(def->points);
    SR_CHECK_NOT_NULL(def->pointColumns);
    SR_CHECK_NOT_NULL(def->elements);
    SR_TRY(srCheckRange("columnCount", def->columnCount, 1, 4096));
    SR_TRY(srCheckRange("pointCount", def->pointCount, 1, 1000000));
    SR_TRY(srCheckRange("elementCount", def->elementCount, 1, 1000000));
    SR_TRY(srCheckPlaces("points", def->points, 3 * (size_t)def->pointCount));
    SR_TRY(srCheckIndices("pointColumns", def->pointColumns, (size_t)def->pointCount, 0, def->columnCount));
    return srCheckIndices("elements", def->elements, 3 * (size_t)def->elementCount, 0, def->pointCount);
}

static srResult checkMirror(const srWeightsDef* def) {
    if (def->mirrorColumns == NULL) {
        return sr_success;
    }
    SR_TRY(srCheckIndices("mirrorColumns", def->mirrorColumns, (size_t)def->columnCount, SR_NULL_INDEX,
                          def->columnCount));
    for (int32_t j = 0; j < def->columnCount; ++j) {
        if (def->mirrorColumns[j] != SR_NULL_INDEX && def->mirrorColumns[def->mirrorColumns[j]] != j) {
            return srFail(sr_errorInvalidValue, "mirrorColumns[%d] is %d, whose own is %d.", j,
                          def->mirrorColumns[j], def->mirrorColumns[def->mirrorColumns[j]]);
        }
    }
    return sr_success;
}

srResult srStartWeights(const srWeightsDef* def, srWeightsId* outWeights) {
    SR_CHECK_STRUCT(def, "Begin with srDefaultWeightsDef().");
    SR_CHECK_NOT_NULL(outWeights);
    SR_TRY(checkSkin(def));
    SR_TRY(checkBones(def));
    SR_TRY(checkMirror(def));
    SR_TRY(srCheckRange("targetNodeCount", def->targetNodeCount, 50, 50000));
    SR_TRY(srCheckRange("tolerance", (double)def->tolerance, 0.99e-8, 0.1));
    SR_TRY(srCheckRange("largestHole", (double)def->largestHole, 0.0, 1e6));
    SR_TRY(srCheckRange("sheetThickness", (double)def->sheetThickness, 0.0, 1.0));
    if ((double)def->skinVertexCount * def->columnCount > MOST_VALUES) {
        return srFail(sr_errorTooLarge, "%d vertices times %d bones are too many weights.",
                      def->skinVertexCount, def->columnCount);
    }
    srWeighing* weighing = NULL;
    srRawId id;
    SR_TRY(srStartWeighing(def, &weighing));
    SR_TRY(srRegister(sr_kindWeights, weighing, NULL, &id));
    *outWeights = (srWeightsId){id.index1, id.generation};
    return sr_success;
}

srResult srWeights_GetStatus(srWeightsId weights, srJobStatus* outStatus) {
    SR_CHECK_NOT_NULL(outStatus);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindWeights, SR_RAW_ID(weights), &entry));
    srReadJobStatus(srWeighing_GetJob(srEntry_GetObject(entry)), outStatus);
    srRelease(entry);
    return sr_success;
}

srResult srWeights_Wait(srWeightsId weights, double seconds) {
    SR_TRY(srCheckSeconds(seconds));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindWeights, SR_RAW_ID(weights), &entry));
    srResult result = srWaitForJob(srWeighing_GetJob(srEntry_GetObject(entry)), seconds);
    srRelease(entry);
    return result;
}

srResult srWeights_GetReport(srWeightsId weights, srWeightsReport* outReport) {
    SR_CHECK_NOT_NULL(outReport);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindWeights, SR_RAW_ID(weights), &entry));
    srResult result = srWeighing_GetReport(srEntry_GetObject(entry), outReport);
    srRelease(entry);
    return result;
}

static srResult readValues(srWeighing* weighing, float* outValues, int32_t vertexCount, int32_t columnCount) {
    const float* values = NULL;
    int32_t vertices, columns;
    SR_TRY(srWeighing_GetValues(weighing, &values, &vertices, &columns));
    if (vertexCount != vertices || columnCount != columns) {
        return srFail(sr_errorInvalidValue,
                      "There are weights of %d vertices and %d bones, and room for %d and %d.", vertices,
                      columns, vertexCount, columnCount);
    }
    memcpy(outValues, values, (size_t)vertices * (size_t)columns * sizeof(float));
    return sr_success;
}

srResult srWeights_Read(srWeightsId weights, float* outValues, int32_t vertexCount, int32_t columnCount) {
    SR_CHECK_NOT_NULL(outValues);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindWeights, SR_RAW_ID(weights), &entry));
    srResult result = readValues(srEntry_GetObject(entry), outValues, vertexCount, columnCount);
    srRelease(entry);
    return result;
}

srResult srDestroyWeights(srWeightsId weights) {
    return srUnregister(sr_kindWeights, SR_RAW_ID(weights));
}
