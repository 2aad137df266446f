// SPDX-License-Identifier: GPL-3.0-or-later
//
// MEDIT .mesh, text form: vertices and tetrahedra are read, other sections are passed over. The format does
// not care for lines. Indices count from 1; each row ends with a reference number that means nothing here.

#include "cli/files.h"

typedef struct srMeditReader {
    srCliText* text;
    srCliMesh* mesh;
    srCliError* error;
    bool hasVertices;
    bool hasCells;
} srMeditReader;

static bool readCount(srMeditReader* reader, const char* what, int64_t* outCount) {
    return srCliText_ReadInteger(reader->text, what, 0, SR_CLI_MAX_COUNT, outCount, reader->error);
}

static bool readReference(srMeditReader* reader) {
    int64_t unused = 0;
    return srCliText_ReadInteger(reader->text, "a reference number", INT32_MIN, INT32_MAX, &unused,
                                 reader->error);
}

static bool readVertices(srMeditReader* reader) {
    int64_t count = 0;
    if (reader->hasVertices) {
        return srCliText_Fail(reader->text, reader->error, "A second section of vertices.");
    }
    if (!readCount(reader, "the number of vertices", &count)) {
        return false;
    }
    for (int64_t i = 0; i < count; ++i) {
        float point[3];
        bool isRead = srCliText_ReadFiniteFloats(reader->text, "a coordinate", point, 3, reader->error) &&
                      readReference(reader) &&
                      srCliMesh_AddPoint(reader->mesh, point, reader->text, reader->error);
        if (!isRead) {
            return false;
        }
    }
    reader->hasVertices = true;
    return true;
}

static bool readCell(srMeditReader* reader) {
    int32_t corners[4];
    for (int32_t c = 0; c < 4; ++c) {
        int64_t number = 0;
        if (!srCliText_ReadInteger(reader->text, "a vertex", 1, srCliMesh_GetPointCount(reader->mesh),
                                   &number, reader->error)) {
            return false;
        }
        corners[c] = (int32_t)(number - 1);
    }
    return readReference(reader) &&
           (srCliInts_Append(&reader->mesh->cells, corners, 4) || srCliFailMemory(reader->error));
}

static bool readCells(srMeditReader* reader) {
    int64_t count = 0;
    if (!reader->hasVertices || reader->hasCells) {
        return srCliText_Fail(reader->text, reader->error,
                              "One section of tetrahedra must follow that of the vertices.");
    }
    bool isRead = readCount(reader, "the number of tetrahedra", &count);
    for (int64_t i = 0; isRead && i < count; ++i) {
        isRead = readCell(reader);
    }
    reader->hasCells = true;
    return isRead;
}

static bool readDimension(srMeditReader* reader) {
    int64_t unused = 0;
    return srCliText_ReadInteger(reader->text, "the dimension", 3, 3, &unused, reader->error);
}

static bool isWord(srCliToken token) {
    char first = token.start[0];
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

// one section; those that are not known are passed over up to the next word
static bool readSection(srMeditReader* reader, srCliToken keyword) {
    if (srCliToken_Is(keyword, "Dimension")) {
        return readDimension(reader);
    }
    if (srCliToken_Is(keyword, "Vertices")) {
        return readVertices(reader);
    }
    if (srCliToken_Is(keyword, "Tetrahedra")) {
        return readCells(reader);
    }
    if (!isWord(keyword)) {
        return srCliText_FailToken(reader->text, reader->error, "the name of a section", keyword);
    }
    for (;;) {
        srCliText before = *reader->text;
        srCliToken token;
        if (!srCliText_Next(reader->text, &token)) {
            return true;
        }
        if (isWord(token)) {
            *reader->text = before;
            return true;
        }
    }
}

static bool readHeader(srMeditReader* reader) {
    srCliToken token;
    if (!srCliText_Next(reader->text, &token) || !srCliToken_Is(token, "MeshVersionFormatted")) {
        return srCliText_FailToken(reader->text, reader->error, "'MeshVersionFormatted'", token);
    }
    int64_t unused = 0;
    return srCliText_ReadInteger(reader->text, "the version", 1, 4, &unused, reader->error);
}

bool srCliReadMedit(srCliText* text, srCliMesh* outMesh, srCliError* error) {
    *outMesh = (srCliMesh){0};
    srMeditReader reader = {.text = text, .mesh = outMesh, .error = error};
    text->isStream = true;
    bool isRead = readHeader(&reader);
    srCliToken keyword;
    while (isRead && srCliText_Next(text, &keyword) && !srCliToken_Is(keyword, "End")) {
        isRead = readSection(&reader, keyword);
    }
    if (isRead && outMesh->cells.count == 0) {
        isRead = srCliText_Fail(text, error, "There are no tetrahedra.");
    }
    return isRead;
}
