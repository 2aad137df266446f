// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing a surface as OBJ: vertices in their order, triangles.

#include "cli/files.h"
#include "cli/write.h"

bool srCliWriteObj(const char* path, const float* points, int32_t pointCount, const int32_t* triangles,
                   int32_t triangleCount, srCliError* error) {
    srCliWriter writer;
    if (!srCliOpenWriter(path, &writer, error)) {
        return false;
    }
    for (int32_t i = 0; i < pointCount; ++i) {
        const float* x = points + 3 * (size_t)i;
        fprintf(writer.file, "v %.9g %.9g %.9g\n", (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int32_t i = 0; i < triangleCount; ++i) {
        const int32_t* t = triangles + 3 * (size_t)i;
        fprintf(writer.file, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    return srCliWriter_Commit(&writer, error);
}
