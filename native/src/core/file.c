// SPDX-License-Identifier: GPL-3.0-or-later
//
// The partial file is locked while its writer lives, and renamed before the lock goes: so neither a second
// writer nor a stale partial file can get under the final name.

// realpath is an extension of POSIX in some systems' headers
#define _XOPEN_SOURCE 700

#include "core/file.h"

#include "core/alloc.h"
#include "core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
    return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

// Answers errno; EEXIST is something there that is not a plain file
static int checkPlain(int descriptor) {
    struct stat info;
    if (fstat(descriptor, &info) != 0) {
        return errno;
    }
    return S_ISREG(info.st_mode) ? 0 : EEXIST;
}

// Opens and locks a file, through no link and waiting for no reader of a pipe. Answers errno; EWOULDBLOCK is
// another writer
static int openLocked(const char* path, int access, int* outDescriptor) {
    for (int32_t i = 0; i < MAX_OPEN_TRIES; i++) {
        int descriptor = open(path, access | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (descriptor < 0) {
            return errno;
        }
        int code = checkPlain(descriptor);
        if (code != 0) {
            close(descriptor);
            return code;
        }
        // a file system without locks has to do without
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(descriptor);
            return EWOULDBLOCK;
        }
        // between open and lock another writer may have renamed it: then this is a finished file, not ours to
        // cut
        if (isStillNamed(descriptor, path)) {
            *outDescriptor = descriptor;
            return 0;
        }
        close(descriptor);
    }
    return EWOULDBLOCK;
}

// `inTheWay` is what was opened on behalf of `path`
static srResult failToOpen(const char* path, const char* inTheWay, int code) {
    if (code == EWOULDBLOCK) {
        return srFail(sr_errorFile, "Could not write %s: it is being written already.", path);
    }
    if (code == EEXIST || code == ELOOP || code == ENXIO) {
        return srFail(sr_errorFile, "Could not write %s: %s is in the way and is not a plain file.", path,
                      inTheWay);
    }
    return failSystem("create", path, code);
}

// What stands under the final name: a plain file, with its permissions, or nothing. Anything else stays
static srResult findTarget(const char* path, bool* outIsThere, mode_t* outMode) {
    struct stat info;
    *outIsThere = lstat(path, &info) == 0;
    if (!*outIsThere) {
        return errno == ENOENT ? sr_success : failSystem("write", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return srFail(sr_errorFile, "Could not write %s: it is there already and is not a plain file.", path);
    }
    *outMode = info.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    return sr_success;
}

// Where the bytes are to stand: a link is followed, so that it stays a link
static srResult resolveTarget(const char* path, char outPath[PATH_MAX]) {
    struct stat info;
    if (path[0] == '\0') {
        return srFail(sr_errorFile, "Could not write a file: its path is empty.");
    }
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        return realpath(path, outPath) != NULL ? sr_success : failSystem("follow the link", path, errno);
    }
    if (strlen(path) >= PATH_MAX) {
        return failSystem("create", path, ENAMETOOLONG);
    }
    memcpy(outPath, path, strlen(path) + 1);
    return sr_success;
}

srResult srOpenFileWriter(const char* path, srFileWriter** outWriter) {
    char target[PATH_MAX];
    bool isThere = false;
    mode_t mode = 0;
    SR_TRY(resolveTarget(path, target));
    SR_TRY(findTarget(target, &isThere, &mode));
    srFileWriter* writer = allocWriter(target);
    if (writer == NULL) {
        return srFailOutOfMemory("writing a file");
    }
    int code = openLocked(writer->partial, O_WRONLY, &writer->descriptor);
    if (code != 0) {
        srResult result = failToOpen(path, writer->partial, code);
        freeWriter(writer);
        return result;
    }
    if (ftruncate(writer->descriptor, 0) != 0) {
        code = errno;
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

// Moves the partial file to its final name, with the permissions of the file that it replaces where the file
// system has any
static srResult moveOver(srFileWriter* writer) {
    bool isThere = false;
    mode_t mode = 0;
    SR_TRY(findTarget(writer->path, &isThere, &mode));
    int code = isThere ? fchmod(writer->descriptor, mode) : 0;
    (void)code;
    return rename(writer->partial, writer->path) == 0 ? sr_success : failSystem("write", writer->path, errno);
}

srResult srFileWriter_Commit(srFileWriter* writer) {
    flushBuffer(writer);
    if (writer->failure == 0 && fsync(writer->descriptor) != 0) {
        writer->failure = errno;
    }
    srResult result =
        writer->failure == 0 ? moveOver(writer) : failSystem("write", writer->path, writer->failure);
    if (result != sr_success) {
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

struct srRecordFile {
    int descriptor;
    int64_t size; // of what is whole
    size_t pathSize;
    char* path;
};

static void freeRecordFile(srRecordFile* file) {
    SR_FREE(file->path, file->pathSize);
    SR_FREE(file, 1);
}

static srRecordFile* allocRecordFile(const char* path) {
    srRecordFile* file = SR_ALLOC_ZERO(srRecordFile, 1);
    if (file == NULL) {
        return NULL;
    }
    file->pathSize = strlen(path) + 1;
    file->path = SR_ALLOC(char, file->pathSize);
    if (file->path == NULL) {
        freeRecordFile(file);
        return NULL;
    }
    memcpy(file->path, path, file->pathSize);
    return file;
}

srResult srOpenRecordFile(const char* path, srRecordFile** outFile) {
    srRecordFile* file = allocRecordFile(path);
    if (file == NULL) {
        return srFailOutOfMemory("writing a file");
    }
    int code = openLocked(path, O_RDWR, &file->descriptor);
    if (code != 0) {
        srResult result = failToOpen(path, path, code);
        freeRecordFile(file);
        return result;
    }
    *outFile = file;
    return sr_success;
}

bool srRecordFile_Read(srRecordFile* file, void* outBytes, size_t size) {
    size_t doneSize = 0;
    while (doneSize < size) {
        ssize_t got = pread(file->descriptor, (char*)outBytes + doneSize, size - doneSize,
                            (off_t)(file->size + (int64_t)doneSize));
        if (got > 0) {
            doneSize += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return false;
        }
    }
    file->size += (int64_t)size;
    return true;
}

srResult srRecordFile_Cut(srRecordFile* file, int64_t size) {
    SR_ASSERT(size <= file->size);
    if (ftruncate(file->descriptor, (off_t)size) != 0) {
        return failSystem("write", file->path, errno);
    }
    file->size = size;
    return sr_success;
}

int64_t srRecordFile_GetSize(const srRecordFile* file) {
    return file->size;
}

srResult srRecordFile_Append(srRecordFile* file, const void* bytes, size_t size) {
    int code = lseek(file->descriptor, (off_t)file->size, SEEK_SET) < 0 ? errno : 0;
    code = code == 0 ? writeAll(file->descriptor, bytes, size) : code;
    if (code != 0) {
        // the disk may be full: half a record helps nobody
        int cut = ftruncate(file->descriptor, (off_t)file->size);
        (void)cut;
        return failSystem("write", file->path, code);
    }
    file->size += (int64_t)size;
    return sr_success;
}

void srRecordFile_Close(srRecordFile* file, bool isDone) {
    if (file == NULL) {
        return;
    }
    if (isDone || file->size == 0) {
        unlink(file->path);
    }
    close(file->descriptor);
    freeRecordFile(file);
}
