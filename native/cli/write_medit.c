// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing a cage as a MEDIT .mesh in text form, with enough digits to be read back to the bit.

#include "cli/files.h"
#include "cli/write.h"

bool srCliWriteMedit(const char* path, const float* nodes, int32_t nodeCount, const int32_t* cells,
                     int32_t cellCount, srCliError* error) {
    srCliWriter writer;
    if (!srCliOpenWriter(path, &writer, error)) {
        return false;
    }
    fprintf(writer.file, "MeshVersionFormatted 1\nDimension 3\nVertices\n%d\n", nodeCount);
    for (int32_t i = 0; i < nodeCount; ++i) {
        const float* x = nodes + 3 * (size_t)i;
        fprintf(writer.file, "%.9g %.9g %.9g 0\n", (double)x[0], (double)x[1], (double)x[2]);
    }
    fprintf(writer.file, "Tetrahedra\n%d\n", cellCount);
    for (int32_t i = 0; i < cellCount; ++i) {
        const int32_t* c = cells + 4 * (size_t)i;
        fprintf(writer.file, "%d %d %d %d 0\n", c[0] + 1, c[1] + 1, c[2] + 1, c[3] + 1);
    }
    fputs("End\n", writer.file);
    return srCliWriter_Commit(&writer, error);
}
