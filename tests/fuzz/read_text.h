// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the targets of the program's readers share. The promise of each: it reads something whole, or it fails
// with a sentence; the sort of the file is told without harm.

#pragma once

#include "cli/files.h"
#include "target.h"

#include <string.h>

/// Reads, requires that what was read is sound, frees.
typedef bool srFuzzReadFcn(srCliText* text, srCliError* error);

static inline bool srFuzzReadText(srFuzzReadFcn* read, const uint8_t* bytes, size_t size) {
    srCliText text;
    srCliError error = {{0}};
    bool isRead = srCliOpenTextBytes("some.file", bytes, size, &text, &error);
    if (isRead) {
        srCliDetectKind(&text);
        isRead = read(&text, &error);
    }
    srCliText_Close(&text);
    srFuzzRequire(isRead ? error.text[0] == 0 : strlen(error.text) > 10);
    return isRead;
}

static inline void srFuzzRequireInRange(const srCliInts* indices, int32_t count) {
    for (size_t i = 0; i < indices->count; i++) {
        srFuzzRequire(indices->items[i] >= 0 && indices->items[i] < count);
    }
}

static inline void srFuzzVisitTexts(const char* const* texts, srFuzzSeedFcn* visit, void* context) {
    for (; *texts != NULL; texts++) {
        visit(*texts, strlen(*texts), context);
    }
}

/// Requires that a mesh is sound, whether it was read whole or not; frees it.
static inline bool srFuzzEndMesh(srCliMesh* mesh, bool isRead) {
    if (isRead) {
        srFuzzRequireInRange(&mesh->triangles, srCliMesh_GetPointCount(mesh));
        srFuzzRequireInRange(&mesh->cells, srCliMesh_GetPointCount(mesh));
    }
    srFuzzRequire(mesh->points.count % 3 == 0 && mesh->triangles.count % 3 == 0 &&
                  mesh->cells.count % 4 == 0);
    srCliMesh_Free(mesh);
    return isRead;
}
