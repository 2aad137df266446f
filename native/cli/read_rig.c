// SPDX-License-Identifier: GPL-3.0-or-later
//
// The plain format for bones, weights and motion that docs/rig-format.md describes, and that the add-on
// writes. Line by line; every number is checked against what it may be, so that a rig which was read is one.

#include "cli/files.h"

#include <string.h>

#define MAX_SPACES 10000
#define MAX_BONES 100000
#define MAX_FRAMES 1000000
#define MAX_FIRST_FRAME 100000000

typedef struct srRigReader {
    srCliText* text;
    srCliRig* rig;
    srCliError* error;
} srRigReader;

static bool expectLine(srRigReader* reader, const char* keyword) {
    srCliToken token = {.start = reader->text->at};
    char expected[32] = "'";
    strcat(strcat(expected, keyword), "'");
    if (srCliText_NextLine(reader->text) && srCliText_Next(reader->text, &token) &&
        srCliToken_Is(token, keyword)) {
        return true;
    }
    return srCliText_FailToken(reader->text, reader->error, expected, token);
}

static bool expectLineEnd(srRigReader* reader) {
    srCliToken token;
    return !srCliText_Next(reader->text, &token) ||
           srCliText_FailToken(reader->text, reader->error, "the end of the line", token);
}

static bool readInteger(srRigReader* reader, const char* what, int64_t lowest, int64_t highest,
                        int32_t* outValue) {
    int64_t value = 0;
    if (!srCliText_ReadInteger(reader->text, what, lowest, highest, &value, reader->error)) {
        return false;
    }
    *outValue = (int32_t)value;
    return true;
}

// a line of nothing but a keyword and a count
static bool readCount(srRigReader* reader, const char* keyword, int32_t highest, int32_t* outCount) {
    return expectLine(reader, keyword) && readInteger(reader, "a count", 0, highest, outCount) &&
           expectLineEnd(reader);
}

static bool readFloat(srRigReader* reader, const char* what, float lowest, float highest, float* outValue) {
    if (!srCliText_ReadFiniteFloats(reader->text, what, outValue, 1, reader->error)) {
        return false;
    }
    if (*outValue < lowest || *outValue > highest) {
        return srCliText_Fail(reader->text, reader->error, "Expected %s from %g to %g, found %g.", what,
                              (double)lowest, (double)highest, (double)*outValue);
    }
    return true;
}

static bool readMatrix(srRigReader* reader, srCliFloats* matrices) {
    float matrix[16];
    if (!srCliText_ReadFiniteFloats(reader->text, "a number of a matrix", matrix, 16, reader->error) ||
        !expectLineEnd(reader)) {
        return false;
    }
    return srCliFloats_Append(matrices, matrix, 16) || srCliFailMemory(reader->error);
}

static bool readHeader(srRigReader* reader) {
    int32_t version = 0;
    if (!expectLine(reader, "softrig-rig") || !readInteger(reader, "format version", 1, 1, &version) ||
        !expectLineEnd(reader) || !expectLine(reader, "fps")) {
        return false;
    }
    double* frameRate = &reader->rig->frameRate;
    if (!srCliText_ReadFiniteDouble(reader->text, "frames a second", frameRate, reader->error)) {
        return false;
    }
    if (*frameRate < 1.0 || *frameRate > 1000.0) {
        return srCliText_Fail(reader->text, reader->error,
                              "Expected frames a second from 1 to 1000, found %g.", *frameRate);
    }
    return expectLineEnd(reader);
}

static int32_t readHexDigit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool readName(srRigReader* reader) {
    srCliToken token;
    if (!srCliText_Next(reader->text, &token)) {
        return srCliText_FailToken(reader->text, reader->error, "the name of a bone", token);
    }
    int32_t start = (int32_t)reader->rig->names.count;
    for (size_t i = 0; i < token.length; ++i) {
        char byte = token.start[i];
        if (byte == '%') {
            int32_t high = i + 2 < token.length ? readHexDigit(token.start[i + 1]) : -1;
            int32_t low = i + 2 < token.length ? readHexDigit(token.start[i + 2]) : -1;
            if (high < 0 || low < 0 || high + low == 0) {
                return srCliText_FailToken(reader->text, reader->error, "a name with whole %XX", token);
            }
            byte = (char)(unsigned char)(16 * high + low);
            i += 2;
        }
        if (!srCliBytes_Append(&reader->rig->names, &byte, 1)) {
            return srCliFailMemory(reader->error);
        }
    }
    bool isKept = srCliBytes_Append(&reader->rig->names, "", 1) &&
                  srCliInts_Append(&reader->rig->nameStarts, &start, 1);
    return isKept || srCliFailMemory(reader->error);
}

static bool readBone(srRigReader* reader, int32_t bone) {
    srCliRig* rig = reader->rig;
    int32_t space = 0;
    int32_t parent = 0;
    float length = 0.0f;
    float loose = 0.0f;
    bool isRead =
        expectLine(reader, "bone") && readName(reader) &&
        readInteger(reader, "the bone's space", 0, rig->spaceCount - 1, &space) &&
        readInteger(reader, "the parent, which stands before its children,", -1, bone - 1, &parent) &&
        readFloat(reader, "the bone's length", 0.0f, 1e9f, &length) &&
        readFloat(reader, "the loose share", 0.0f, 1.0f, &loose) && readMatrix(reader, &rig->boneRests);
    if (!isRead) {
        return false;
    }
    bool isKept = srCliInts_Append(&rig->boneSpaces, &space, 1) &&
                  srCliInts_Append(&rig->boneParents, &parent, 1) &&
                  srCliFloats_Append(&rig->boneLengths, &length, 1) &&
                  srCliFloats_Append(&rig->boneLooseTips, &loose, 1);
    return isKept || srCliFailMemory(reader->error);
}

static bool readBones(srRigReader* reader) {
    srCliRig* rig = reader->rig;
    bool isRead = readCount(reader, "spaces", MAX_SPACES, &rig->spaceCount) &&
                  readCount(reader, "bones", MAX_BONES, &rig->boneCount);
    if (isRead && rig->spaceCount == 0 && rig->boneCount > 0) {
        isRead = srCliText_Fail(reader->text, reader->error, "Bones need at least one space.");
    }
    for (int32_t bone = 0; isRead && bone < rig->boneCount; ++bone) {
        isRead = readBone(reader, bone);
    }
    for (int32_t space = 0; isRead && space < rig->spaceCount; ++space) {
        isRead = expectLine(reader, "space") && readMatrix(reader, &rig->spaceToSkin);
    }
    return isRead;
}

static bool readVertexWeights(srRigReader* reader) {
    srCliRig* rig = reader->rig;
    int32_t count = 0;
    bool isRead = expectLine(reader, "v") && readInteger(reader, "a count", 0, rig->boneCount, &count);
    for (int32_t i = 0; isRead && i < count; ++i) {
        int32_t bone = 0;
        float weight = 0.0f;
        isRead = readInteger(reader, "a bone", 0, rig->boneCount - 1, &bone) &&
                 readFloat(reader, "a weight", 0.0f, 1e9f, &weight);
        if (isRead && rig->weightBones.count >= SR_CLI_MAX_COUNT) {
            isRead = srCliText_Fail(reader->text, reader->error, "More than %d weights.", SR_CLI_MAX_COUNT);
        }
        if (isRead && !(srCliInts_Append(&rig->weightBones, &bone, 1) &&
                        srCliFloats_Append(&rig->weightValues, &weight, 1))) {
            isRead = srCliFailMemory(reader->error);
        }
    }
    int32_t end = (int32_t)rig->weightBones.count;
    return isRead && expectLineEnd(reader) &&
           (srCliInts_Append(&rig->weightStarts, &end, 1) || srCliFailMemory(reader->error));
}

static bool readWeights(srRigReader* reader) {
    srCliRig* rig = reader->rig;
    int32_t zero = 0;
    if (!readCount(reader, "weights", SR_CLI_MAX_COUNT, &rig->vertexCount)) {
        return false;
    }
    bool isRead = srCliInts_Append(&rig->weightStarts, &zero, 1) || srCliFailMemory(reader->error);
    for (int32_t vertex = 0; isRead && vertex < rig->vertexCount; ++vertex) {
        isRead = readVertexWeights(reader);
    }
    return isRead;
}

static bool readMotion(srRigReader* reader) {
    srCliRig* rig = reader->rig;
    bool isRead =
        expectLine(reader, "frames") &&
        readInteger(reader, "the first frame", -MAX_FIRST_FRAME, MAX_FIRST_FRAME, &rig->firstFrame) &&
        readInteger(reader, "the number of frames", 0, MAX_FRAMES, &rig->frameCount) && expectLineEnd(reader);
    int64_t matrixCount = (int64_t)rig->frameCount * srCliRig_GetRowLength(rig);
    for (int64_t i = 0; isRead && i < matrixCount; ++i) {
        isRead = expectLine(reader, "m") && readMatrix(reader, &rig->motion);
    }
    return isRead;
}

bool srCliReadRig(srCliText* text, srCliRig* outRig, srCliError* error) {
    *outRig = (srCliRig){0};
    srRigReader reader = {.text = text, .rig = outRig, .error = error};
    bool isRead = readHeader(&reader) && readBones(&reader) && readWeights(&reader) && readMotion(&reader);
    if (isRead && srCliText_NextLine(text)) {
        isRead = srCliText_Fail(text, error, "There is more in the file than it announced.");
    }
    return isRead;
}
