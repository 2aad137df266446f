// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing beside the final name and moving over it.

#include "cli/write.h"

#include "cli/memory.h"

#include <errno.h>
#include <string.h>

bool srCliOpenWriter(const char* path, srCliWriter* outWriter, srCliError* error) {
    static const char ending[] = ".partial";
    size_t length = strlen(path);
    char* partialPath = srCliResize(NULL, length + sizeof(ending));
    if (partialPath == NULL) {
        return srCliFailMemory(error);
    }
    memcpy(partialPath, path, length);
    memcpy(partialPath + length, ending, sizeof(ending));
    FILE* file = fopen(partialPath, "wb");
    if (file == NULL) {
        srCliResize(partialPath, 0);
        return srCliFail(error, "%s: The file could not be written: %s.", path, strerror(errno));
    }
    *outWriter = (srCliWriter){.path = path, .partialPath = partialPath, .file = file};
    return true;
}

bool srCliWriter_Commit(srCliWriter* writer, srCliError* error) {
    errno = 0;
    bool isWritten = ferror(writer->file) == 0;
    isWritten = fclose(writer->file) == 0 && isWritten;
    isWritten = isWritten && rename(writer->partialPath, writer->path) == 0;
    if (!isWritten) {
        const char* reason = errno != 0 ? strerror(errno) : "the disk did not take it";
        srCliFail(error, "%s: The file could not be written: %s.", writer->path, reason);
        remove(writer->partialPath);
    }
    srCliResize(writer->partialPath, 0);
    *writer = (srCliWriter){0};
    return isWritten;
}
