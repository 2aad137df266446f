// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as an OFF file.

#include "read_text.h"

static const char* const words[] = {"OFF", "COFF", "BINARY", "3 ",   "4 ", "100000000", "-1",
                                    "nan", "inf",  "0x1p3",  "\r\n", "#",  NULL};

static const char* const texts[] = {
    "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n",
    "# quads\nSTCNOFF 4 1\n0 0 0 255 0 0\n1 0 0\n1 1 0\n0 1 0\n\n4 0 1 2 3 0.5 0.5\n",
    "3 1\n0 0 0\n1 0 0\n0 1 nan\n3 0 1 2",
    NULL,
};

static bool readMesh(srCliText* text, srCliError* error) {
    srCliMesh mesh;
    bool isRead = srCliReadOff(text, &mesh, error);
    return srFuzzEndMesh(&mesh, isRead);
}

static bool run(const uint8_t* bytes, size_t size) {
    return srFuzzReadText(readMesh, bytes, size);
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    srFuzzVisitTexts(texts, visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"read_off", run, visitSeeds, words, 4096};
