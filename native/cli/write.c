// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing beside the final name and moving over it.

#include "cli/write.h"

#include "cli/memory.h"
#include "cli/system.h"

#include <errno.h>
#include <string.h>

// the two parts as one text that is the caller's to free; null without memory
static char* join(const char* a, const char* b) {
    size_t length = strlen(a);
    char* joined = srCliResize(NULL, length + strlen(b) + 1);
    if (joined != NULL) {
        memcpy(joined, a, length);
        memcpy(joined + length, b, strlen(b) + 1);
    }
    return joined;
}

static void forget(srCliWriter* writer) {
    srCliResize(writer->finalPath, 0);
    srCliResize(writer->partialPath, 0);
    *writer = (srCliWriter){0};
}

bool srCliOpenWriter(const char* path, srCliWriter* outWriter, srCliError* error) {
    char target[SR_CLI_PATH_SIZE];
    if (!srCliResolve(path, target)) {
        return srCliFail(error, "%s: The file could not be written: %s.", path, strerror(errno));
    }
    srCliWriter writer = {.path = path};
    writer.finalPath = join(target, "");
    writer.partialPath = join(target, SR_CLI_PARTIAL_ENDING);
    if (writer.finalPath == NULL || writer.partialPath == NULL) {
        forget(&writer);
        return srCliFailMemory(error);
    }
    writer.file = srCliCreateFile(writer.partialPath);
    if (writer.file == NULL) {
        srCliFail(error, "%s: The file could not be written: %s.", path, strerror(errno));
        forget(&writer);
        return false;
    }
    *outWriter = writer;
    return true;
}

bool srCliWriter_Commit(srCliWriter* writer, srCliError* error) {
    errno = 0;
    bool isWritten = ferror(writer->file) == 0;
    isWritten = fclose(writer->file) == 0 && isWritten;
    isWritten = isWritten && srCliReplaceFile(writer->partialPath, writer->finalPath);
    if (!isWritten) {
        const char* reason = errno != 0 ? strerror(errno) : "the disk did not take it";
        srCliFail(error, "%s: The file could not be written: %s.", writer->path, reason);
        remove(writer->partialPath);
    }
    forget(writer);
    return isWritten;
}
