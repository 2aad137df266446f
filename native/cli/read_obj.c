// SPDX-License-Identifier: GPL-3.0-or-later
//
// Wavefront OBJ: `v` and `f` are read, polygons are cut into fans, everything else is passed over. Faces may
// stand before the vertices they name, so the highest index is checked at the end.

#include "cli/files.h"

typedef struct srObjReader {
    srCliText* text;
    srCliMesh* mesh;
    srCliError* error;
    int32_t highestVertex; ///< Named by any face.
    int64_t highestLine;   ///< Where.
} srObjReader;

static bool readVertex(srObjReader* reader) {
    float point[3];
    for (int32_t i = 0; i < 3; ++i) {
        if (!srCliText_ReadFloat(reader->text, "a coordinate", &point[i], reader->error)) {
            return false;
        }
    }
    return srCliMesh_AddPoint(reader->mesh, point, reader->text, reader->error);
}

// what follows the vertex in `v/vt/vn`: at most two slashes, with whole numbers or nothing behind them
static bool isCornerTail(const char* at, const char* end) {
    for (int32_t slash = 0; slash < 2 && at < end; ++slash) {
        if (*at != '/') {
            return false;
        }
        at += 1;
        int64_t unused = 0;
        const char* behind = srCliParseInteger(at, end, &unused);
        at = behind != NULL ? behind : at;
    }
    return at == end;
}

static bool readCorner(srObjReader* reader, srCliToken token, int32_t* outVertex) {
    const char* end = token.start + token.length;
    int64_t number = 0;
    const char* behind = srCliParseInteger(token.start, end, &number);
    if (behind == NULL || !isCornerTail(behind, end)) {
        return srCliText_FailToken(reader->text, reader->error, "a corner of a face", token);
    }
    int64_t vertex = number > 0 ? number - 1 : srCliMesh_GetPointCount(reader->mesh) + number;
    if (number == 0 || vertex < 0 || vertex >= SR_CLI_MAX_COUNT) {
        return srCliText_Fail(reader->text, reader->error, "There is no vertex %lld.", (long long)number);
    }
    *outVertex = (int32_t)vertex;
    if (*outVertex > reader->highestVertex) {
        reader->highestVertex = *outVertex;
        reader->highestLine = reader->text->line;
    }
    return true;
}

static bool readFace(srObjReader* reader) {
    int32_t triangle[3] = {0};
    int32_t cornerCount = 0;
    srCliToken token;
    while (srCliText_Next(reader->text, &token)) {
        int32_t vertex = 0;
        if (!readCorner(reader, token, &vertex)) {
            return false;
        }
        if (cornerCount >= 3) {
            triangle[1] = triangle[2];
        }
        triangle[cornerCount < 2 ? cornerCount : 2] = vertex;
        cornerCount += 1;
        if (cornerCount >= 3 && !srCliMesh_AddTriangle(reader->mesh, triangle, reader->text, reader->error)) {
            return false;
        }
    }
    if (cornerCount < 3) {
        return srCliText_Fail(reader->text, reader->error, "A face needs at least 3 corners.");
    }
    return true;
}

static bool checkWhole(srObjReader* reader) {
    int32_t pointCount = srCliMesh_GetPointCount(reader->mesh);
    if (pointCount == 0) {
        return srCliText_Fail(reader->text, reader->error, "There are no vertices: is this an OBJ file?");
    }
    if (reader->highestVertex >= pointCount) {
        reader->text->line = reader->highestLine;
        return srCliText_Fail(reader->text, reader->error, "There is no vertex %d; the file has %d.",
                              reader->highestVertex + 1, pointCount);
    }
    return true;
}

bool srCliReadObj(srCliText* text, srCliMesh* outMesh, srCliError* error) {
    *outMesh = (srCliMesh){0};
    srObjReader reader = {.text = text, .mesh = outMesh, .error = error, .highestVertex = -1};
    text->joinsLines = true;
    while (srCliText_NextLine(text)) {
        srCliToken keyword;
        srCliText_Next(text, &keyword);
        bool isRead = true;
        if (srCliToken_Is(keyword, "v")) {
            isRead = readVertex(&reader);
        } else if (srCliToken_Is(keyword, "f")) {
            isRead = readFace(&reader);
        }
        if (!isRead) {
            return false;
        }
    }
    return checkWhole(&reader);
}
