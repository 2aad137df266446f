// SPDX-License-Identifier: GPL-3.0-or-later
//
// Object File Format: `OFF`, the counts, a vertex a line, a polygon a line. What a line holds beyond
// coordinates or corners (normals, colours) is passed over; polygons are cut into fans. The first word may
// be missing, or stuck to the first count as some writers leave it.

#include "cli/files.h"

#include <string.h>

typedef struct srOffReader {
    srCliText* text;
    srCliMesh* mesh;
    srCliError* error;
} srOffReader;

static bool skipHeader(srOffReader* reader) {
    srCliText* text = reader->text;
    if (!srCliText_NextLine(text)) {
        return srCliText_Fail(text, reader->error, "The file is empty.");
    }
    srCliText start = *text;
    srCliToken token;
    srCliText_Next(text, &token);
    size_t prefix = 0;
    while (prefix < token.length && strchr("STCN", token.start[prefix]) != NULL) {
        prefix += 1;
    }
    bool hasWord = token.length >= prefix + 3 && memcmp(token.start + prefix, "OFF", 3) == 0;
    if (!hasWord) {
        *text = start;
        return true;
    }
    if (token.length > prefix + 3) {
        text->at = token.start + prefix + 3;
        return true;
    }
    start = *text;
    if (srCliText_Next(text, &token)) {
        *text = start;
        return srCliToken_Is(token, "BINARY") ? srCliText_Fail(text, reader->error, "A binary OFF file.")
                                              : true;
    }
    return srCliText_NextLine(text) || srCliText_Fail(text, reader->error, "The counts are missing.");
}

static bool nextLine(srOffReader* reader, const char* what, int64_t index, int64_t count) {
    return srCliText_NextLine(reader->text) ||
           srCliText_Fail(reader->text, reader->error, "The file ends after %lld of %lld %s.",
                          (long long)index, (long long)count, what);
}

static bool readVertices(srOffReader* reader, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        if (!nextLine(reader, "vertices", i, count)) {
            return false;
        }
        float point[3];
        for (int32_t c = 0; c < 3; ++c) {
            if (!srCliText_ReadFloat(reader->text, "a coordinate", &point[c], reader->error)) {
                return false;
            }
        }
        if (!srCliMesh_AddPoint(reader->mesh, point, reader->text, reader->error)) {
            return false;
        }
    }
    return true;
}

static bool readFace(srOffReader* reader, int64_t vertexCount) {
    int64_t cornerCount = 0;
    if (!srCliText_ReadInteger(reader->text, "a number of corners", 3, SR_CLI_MAX_COUNT, &cornerCount,
                               reader->error)) {
        return false;
    }
    int32_t triangle[3] = {0};
    for (int64_t i = 0; i < cornerCount; ++i) {
        int64_t vertex = 0;
        if (!srCliText_ReadInteger(reader->text, "a vertex", 0, vertexCount - 1, &vertex, reader->error)) {
            return false;
        }
        triangle[1] = i >= 3 ? triangle[2] : triangle[1];
        triangle[i < 2 ? i : 2] = (int32_t)vertex;
        if (i >= 2 && !srCliMesh_AddTriangle(reader->mesh, triangle, reader->text, reader->error)) {
            return false;
        }
    }
    return true;
}

bool srCliReadOff(srCliText* text, srCliMesh* outMesh, srCliError* error) {
    *outMesh = (srCliMesh){0};
    srOffReader reader = {.text = text, .mesh = outMesh, .error = error};
    int64_t vertexCount = 0;
    int64_t faceCount = 0;
    bool isRead =
        skipHeader(&reader) &&
        srCliText_ReadInteger(text, "the number of vertices", 1, SR_CLI_MAX_COUNT, &vertexCount, error) &&
        srCliText_ReadInteger(text, "the number of faces", 0, SR_CLI_MAX_COUNT, &faceCount, error) &&
        readVertices(&reader, vertexCount);
    for (int64_t i = 0; isRead && i < faceCount; ++i) {
        isRead = nextLine(&reader, "faces", i, faceCount) && readFace(&reader, vertexCount);
    }
    return isRead;
}
