// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a MEDIT mesh.

#include "read_text.h"

static const char* const words[] = {"MeshVersionFormatted",
                                    "Dimension",
                                    "Vertices",
                                    "Tetrahedra",
                                    "Triangles",
                                    "End",
                                    "1 2 3 4",
                                    "100000000",
                                    "-1",
                                    "nan",
                                    "#",
                                    NULL};

static const char* const texts[] = {
    "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 "
    "2 3 4 0\nEnd\n",
    "MeshVersionFormatted 2 Dimension 3 Vertices 5 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 1 1 1 7 Triangles 1 1 2 3 "
    "0 "
    "Tetrahedra 2 1 2 3 4 0 2 3 4 5 -1",
    NULL,
};

static bool readMesh(srCliText* text, srCliError* error) {
    srCliMesh mesh;
    bool isRead = srCliReadMedit(text, &mesh, error);
    return srFuzzEndMesh(&mesh, isRead);
}

static bool run(const uint8_t* bytes, size_t size) {
    return srFuzzReadText(readMesh, bytes, size);
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    srFuzzVisitTexts(texts, visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"read_medit", run, visitSeeds, words, 4096};
