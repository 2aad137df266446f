// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a Wavefront OBJ.

#include "read_text.h"

static const char* const words[] = {"v ", "f ", "vn ",  "vt ", "o ",   "\\\n", "//",
                                    "/",  "-1", "1e38", "nan", "\r\n", "#",    NULL};

static const char* const texts[] = {
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    "# a quad\no thing\nv 0 0 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3/1 -1\n",
    "f 1 2 3 \\\n4 5\r\nv 0 0 0\r\nv 1 0 0\rv 1 1 0\nv nan 1 0\nv 1e99 -.5 +2.\n",
    NULL,
};

static bool readMesh(srCliText* text, srCliError* error) {
    srCliMesh mesh;
    bool isRead = srCliReadObj(text, &mesh, error);
    return srFuzzEndMesh(&mesh, isRead);
}

static bool run(const uint8_t* bytes, size_t size) {
    return srFuzzReadText(readMesh, bytes, size);
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    srFuzzVisitTexts(texts, visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"read_obj", run, visitSeeds, words, 4096};
