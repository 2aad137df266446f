// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is odd about a rig.

#include "cli/survey.h"

#include <math.h>
#include <string.h>

static void surveyMatrix(const float* m, srCliRigSurvey* survey) {
    double a[3][3];
    for (int column = 0; column < 3; ++column) {
        for (int row = 0; row < 3; ++row) {
            a[row][column] = (double)m[4 * column + row];
        }
    }
    double determinant = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    survey->mirroredMatrixCount += determinant < 0.0;
    survey->singularMatrixCount += !(fabs(determinant) > 0.0);
}

static void surveyLastRows(const srCliFloats* matrices, srCliRigSurvey* survey) {
    static const float wanted[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    for (size_t i = 0; i + 16 <= matrices->count; i += 16) {
        bool isAffine = true;
        for (size_t column = 0; column < 4; ++column) {
            isAffine = isAffine && fabsf(matrices->items[i + 4 * column + 3] - wanted[column]) <= 1e-6f;
        }
        survey->projectiveMatrixCount += !isAffine;
    }
}

static void surveyMatrices(const srCliRig* rig, srCliRigSurvey* survey) {
    for (int32_t bone = 0; bone < rig->boneCount; ++bone) {
        surveyMatrix(rig->boneRests.items + 16 * (size_t)bone, survey);
    }
    for (int32_t space = 0; space < rig->spaceCount; ++space) {
        surveyMatrix(rig->spaceToSkin.items + 16 * (size_t)space, survey);
    }
    size_t rowFloats = 16 * (size_t)srCliRig_GetRowLength(rig);
    for (size_t i = 0; rig->frameCount > 0 && i < rowFloats; i += 16) {
        surveyMatrix(rig->motion.items + i, survey);
    }
    surveyLastRows(&rig->boneRests, survey);
    surveyLastRows(&rig->spaceToSkin, survey);
    surveyLastRows(&rig->motion, survey);
    for (int32_t frame = 1; frame < rig->frameCount; ++frame) {
        const float* row = rig->motion.items + rowFloats * (size_t)frame;
        survey->stillFrameCount += memcmp(row, row - rowFloats, rowFloats * sizeof(float)) == 0;
    }
}

static bool surveyWeights(const srCliRig* rig, srCliRigSurvey* survey, srCliError* error) {
    char* hasWeight = srCliResize(NULL, (size_t)rig->boneCount + 1);
    if (hasWeight == NULL) {
        return srCliFailMemory(error);
    }
    memset(hasWeight, 0, (size_t)rig->boneCount + 1);
    for (int32_t v = 0; v < rig->vertexCount; ++v) {
        double sum = 0.0;
        for (int32_t i = rig->weightStarts.items[v]; i < rig->weightStarts.items[v + 1]; ++i) {
            sum += (double)rig->weightValues.items[i];
            hasWeight[rig->weightBones.items[i]] |= rig->weightValues.items[i] > 0.0f;
        }
        bool isWeighted = sum > 0.0;
        survey->unweightedVertexCount += !isWeighted;
        survey->unnormalizedVertexCount += isWeighted && fabs(sum - 1.0) > 1e-3;
    }
    for (int32_t bone = 0; bone < rig->boneCount; ++bone) {
        survey->weightlessBoneCount += !hasWeight[bone];
    }
    srCliResize(hasWeight, 0);
    return true;
}

bool srCliSurveyRig(const srCliRig* rig, srCliRigSurvey* outSurvey, srCliError* error) {
    *outSurvey = (srCliRigSurvey){0};
    for (int32_t bone = 0; bone < rig->boneCount; ++bone) {
        outSurvey->rootCount += rig->boneParents.items[bone] < 0;
        outSurvey->zeroLengthBoneCount += !(rig->boneLengths.items[bone] > 0.0f);
        outSurvey->looseBoneCount += rig->boneLooseTips.items[bone] > 0.0f;
    }
    surveyMatrices(rig, outSurvey);
    return surveyWeights(rig, outSurvey, error);
}
