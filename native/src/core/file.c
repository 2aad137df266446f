// SPDX-License-Identifier: GPL-3.0-or-later
//
// The partial file is locked while its writer lives, and renamed before the lock goes: so neither a second
// writer nor a stale partial file can get under the final name.

#include "core/file.h"

#include "core/alloc.h"
#include "core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE 65536
#define MAX_OPEN_TRIES 100

struct srFileWriter {
    int descriptor;
    int failure; // errno of the first write that failed; zero is none
    size_t pathSize;
    size_t partialSize;
    char* path;
    char* partial;
    size_t used;
    unsigned char buffer[BUFFER_SIZE];
};

static const char partialSuffix[] = ".partial";

static srResult failSystem(const char* action, const char* path, int code) {
    char reason[128];
    if (strerror_r(code, reason, sizeof(reason)) != 0) {
        snprintf(reason, sizeof(reason), "error %d", code);
    }
    return srFail(sr_errorFile, "Could not %s %s: %s.", action, path, reason);
}

static void freeWriter(srFileWriter* writer) {
    SR_FREE(writer->path, writer->pathSize);
    SR_FREE(writer->partial, writer->partialSize);
    SR_FREE(writer, 1);
}

static srFileWriter* allocWriter(const char* path) {
    srFileWriter* writer = SR_ALLOC(srFileWriter, 1);
    if (writer == NULL) {
        return NULL;
    }
    writer->descriptor = -1;
    writer->failure = 0;
    writer->used = 0;
    writer->pathSize = strlen(path) + 1;
    writer->partialSize = writer->pathSize + sizeof(partialSuffix) - 1;
    writer->path = SR_ALLOC(char, writer->pathSize);
    writer->partial = SR_ALLOC(char, writer->partialSize);
    if (writer->path == NULL || writer->partial == NULL) {
        freeWriter(writer);
        return NULL;
    }
    memcpy(writer->path, path, writer->pathSize);
    memcpy(writer->partial, path, writer->pathSize - 1);
    memcpy(writer->partial + writer->pathSize - 1, partialSuffix, sizeof(partialSuffix));
    return writer;
}

static bool isStillNamed(int descriptor, const char* path) {
    struct stat opened;
    struct stat named;
    return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

// Opens and locks the partial file. Answers errno; EWOULDBLOCK is another writer
static int openPartial(srFileWriter* writer) {
    for (int32_t i = 0; i < MAX_OPEN_TRIES; i++) {
        int descriptor = open(writer->partial, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor < 0) {
            return errno;
        }
        // a file system without locks has to do without
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(descriptor);
            return EWOULDBLOCK;
        }
        // between open and lock another writer may have renamed it: then this is a finished file, not ours to
        // cut
        if (isStillNamed(descriptor, writer->partial)) {
            writer->descriptor = descriptor;
            return 0;
        }
        close(descriptor);
    }
    return EWOULDBLOCK;
}

static int truncatePartial(const srFileWriter* writer) {
    struct stat info;
    if (fstat(writer->descriptor, &info) != 0) {
        return errno;
    }
    return S_ISREG(info.st_mode) && ftruncate(writer->descriptor, 0) != 0 ? errno : 0;
}

srResult srOpenFileWriter(const char* path, srFileWriter** outWriter) {
    srFileWriter* writer = allocWriter(path);
    if (writer == NULL) {
        return srFailOutOfMemory("writing a file");
    }
    int code = openPartial(writer);
    if (code != 0) {
        freeWriter(writer);
        return code == EWOULDBLOCK
                   ? srFail(sr_errorFile, "Could not write %s: it is being written already.", path)
                   : failSystem("create", path, code);
    }
    code = truncatePartial(writer);
    if (code != 0) {
        srFileWriter_Abandon(writer);
        return failSystem("write", path, code);
    }
    *outWriter = writer;
    return sr_success;
}

// Writes all bytes to the descriptor. Answers errno
static int writeAll(int descriptor, const unsigned char* bytes, size_t size) {
    size_t doneSize = 0;
    while (doneSize < size) {
        ssize_t written = write(descriptor, bytes + doneSize, size - doneSize);
        if (written > 0) {
            doneSize += (size_t)written;
        } else if (written == 0) {
            return EIO;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static void flushBuffer(srFileWriter* writer) {
    if (writer->failure == 0) {
        writer->failure = writeAll(writer->descriptor, writer->buffer, writer->used);
    }
    writer->used = 0;
}

srResult srFileWriter_Write(srFileWriter* writer, const void* bytes, size_t size) {
    if (size > BUFFER_SIZE - writer->used) {
        flushBuffer(writer);
    }
    if (writer->failure == 0 && size > BUFFER_SIZE) {
        writer->failure = writeAll(writer->descriptor, bytes, size);
    } else if (writer->failure == 0 && size > 0) {
        memcpy(writer->buffer + writer->used, bytes, size);
        writer->used += size;
    }
    return writer->failure == 0 ? sr_success : failSystem("write", writer->path, writer->failure);
}

// Brings the new name to the disk. The file is whole and in place already, so a failure here is no failure
static void syncFolder(char* path) {
    char* slash = strrchr(path, '/');
    const char* folder = slash == path ? "/" : slash != NULL ? path : ".";
    if (slash != NULL) {
        *slash = '\0';
    }
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
}

srResult srFileWriter_Commit(srFileWriter* writer) {
    flushBuffer(writer);
    if (writer->failure == 0 && fsync(writer->descriptor) != 0) {
        writer->failure = errno;
    }
    if (writer->failure == 0 && rename(writer->partial, writer->path) != 0) {
        writer->failure = errno;
    }
    if (writer->failure != 0) {
        srResult result = failSystem("write", writer->path, writer->failure);
        srFileWriter_Abandon(writer);
        return result;
    }
    close(writer->descriptor);
    syncFolder(writer->path);
    freeWriter(writer);
    return sr_success;
}

void srFileWriter_Abandon(srFileWriter* writer) {
    if (writer != NULL) {
        unlink(writer->partial);
        close(writer->descriptor);
        freeWriter(writer);
    }
}
