// SPDX-License-Identifier: GPL-3.0-or-later
//
// The operating system's part of the program, POSIX.

// realpath is an extension of POSIX in some systems' headers
#define _XOPEN_SOURCE 700

#include "cli/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t wasInterrupted = 0;

bool srCliIsTerminal(FILE* stream) {
    return isatty(fileno(stream)) != 0;
}

bool srCliResolve(const char* path, char outPath[SR_CLI_PATH_SIZE]) {
    struct stat info;
    char target[PATH_MAX];
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        if (realpath(path, target) == NULL) {
            return false;
        }
        path = target;
    }
    if (strlen(path) >= SR_CLI_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(outPath, path, strlen(path) + 1);
    return true;
}

void srCliFindBeside(const char* name, char outPath[SR_CLI_PATH_SIZE]) {
    ssize_t length = readlink("/proc/self/exe", outPath, SR_CLI_PATH_SIZE - 1);
    size_t end = length > 0 ? (size_t)length : 0;
    while (end > 0 && outPath[end - 1] != '/') {
        end--;
    }
    outPath[end] = '\0';
    if (end == 0 || end + strlen(name) >= SR_CLI_PATH_SIZE) {
        outPath[0] = '\0';
        return;
    }
    memcpy(outPath + end, name, strlen(name) + 1);
}

static void noteFile(const struct stat* info, uint64_t outFile[2]) {
    outFile[0] = (uint64_t)info->st_dev;
    outFile[1] = (uint64_t)info->st_ino;
}

static srCliPlace findPlace(const char* path) {
    srCliPlace place = {0};
    struct stat info;
    char folder[SR_CLI_PATH_SIZE] = ".";
    const char* slash = strrchr(path, '/');
    const char* name = slash != NULL ? slash + 1 : path;
    size_t folderLength = (size_t)(name - path);
    place.isThere = stat(path, &info) == 0;
    if (place.isThere) {
        noteFile(&info, place.file);
    }
    if (folderLength >= sizeof(folder) || strlen(name) >= sizeof(place.name)) {
        return place;
    }
    if (folderLength > 0) {
        memcpy(folder, path, folderLength);
        folder[folderLength] = 0;
    }
    memcpy(place.name, name, strlen(name) + 1);
    place.hasFolder = stat(folder, &info) == 0 && S_ISDIR(info.st_mode);
    if (place.hasFolder) {
        noteFile(&info, place.folder);
    }
    return place;
}

static bool arePairsEqual(const uint64_t a[2], const uint64_t b[2]) {
    return a[0] == b[0] && a[1] == b[1];
}

static bool isSamePlace(const srCliPlace* a, const srCliPlace* b) {
    bool isSameFile = a->isThere && b->isThere && arePairsEqual(a->file, b->file);
    bool isSameName =
        a->hasFolder && b->hasFolder && arePairsEqual(a->folder, b->folder) && strcmp(a->name, b->name) == 0;
    return isSameFile || isSameName;
}

static void keep(srCliKept* kept, const char* path) {
    int room = (int)(sizeof(kept->places) / sizeof(kept->places[0]));
    if (kept->count < room) {
        kept->places[kept->count++] = findPlace(path);
    }
}

void srCliKeepInput(srCliKept* kept, const char* path) {
    if (path != NULL) {
        keep(kept, path);
    }
}

// file and partial file as they will be written; false with errno when there is no such path
static bool nameFiles(const char* path, char outTarget[SR_CLI_PATH_SIZE],
                      char outPartial[SR_CLI_PATH_SIZE + sizeof(SR_CLI_PARTIAL_ENDING)]) {
    if (!srCliResolve(path, outTarget)) {
        return false;
    }
    size_t length = strlen(outTarget);
    memcpy(outPartial, outTarget, length);
    memcpy(outPartial + length, SR_CLI_PARTIAL_ENDING, sizeof(SR_CLI_PARTIAL_ENDING));
    return true;
}

void srCliKeepOutput(srCliKept* kept, const char* path) {
    char target[SR_CLI_PATH_SIZE];
    char partial[SR_CLI_PATH_SIZE + sizeof(SR_CLI_PARTIAL_ENDING)];
    if (nameFiles(path, target, partial)) {
        keep(kept, target);
        keep(kept, partial);
    }
}

static bool checkPlace(const char* path, const srCliKept* kept, srCliError* error) {
    struct stat info;
    srCliPlace place = findPlace(path);
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return srCliFail(error, "%.500s: It is there already and is not a plain file.", path);
    }
    for (int i = 0; i < kept->count; ++i) {
        if (isSamePlace(&place, &kept->places[i])) {
            return srCliFail(error, "%.500s: It is also an input or another output and would be overwritten.",
                             path);
        }
    }
    return place.hasFolder || srCliFail(error, "%.500s: There is no such folder to write to.", path);
}

bool srCliCheckOutput(const char* path, const srCliKept* kept, srCliError* error) {
    struct stat info;
    char target[SR_CLI_PATH_SIZE];
    char partial[SR_CLI_PATH_SIZE + sizeof(SR_CLI_PARTIAL_ENDING)];
    bool isPath = nameFiles(path, target, partial);
    bool isThere = isPath && lstat(target, &info) == 0;
    bool isNew = isPath && !isThere && errno == ENOENT && path[0] != 0 && path[strlen(path) - 1] != '/';
    if (!isThere && !isNew) {
        return srCliFail(error, "%.500s: It cannot be written: %s.", path, strerror(errno));
    }
    return checkPlace(target, kept, error) && checkPlace(partial, kept, error);
}

FILE* srCliCreateFile(const char* path) {
    struct stat info;
    // not waiting for a reader where somebody left a pipe
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
        return NULL;
    }
    int code = fstat(descriptor, &info) != 0 ? errno : S_ISREG(info.st_mode) ? 0 : EEXIST;
    FILE* file = NULL;
    if (code == 0) {
        file = ftruncate(descriptor, 0) == 0 ? fdopen(descriptor, "wb") : NULL;
        code = errno;
    }
    if (file == NULL) {
        close(descriptor);
        errno = code;
    }
    return file;
}

bool srCliReplaceFile(const char* wholePath, const char* path) {
    struct stat old;
    if (lstat(path, &old) == 0) {
        if (!S_ISREG(old.st_mode)) {
            errno = EEXIST;
            return false;
        }
        // where the file system has permissions
        int code = chmod(wholePath, old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
        (void)code;
    }
    return rename(wholePath, path) == 0;
}

bool srCliMakeFolder(const char* path, bool* outIsNew, srCliError* error) {
    *outIsNew = mkdir(path, 0777) == 0;
    if (*outIsNew) {
        return true;
    }
    struct stat existing;
    int reason = errno;
    if (reason == EEXIST && stat(path, &existing) == 0 && S_ISDIR(existing.st_mode)) {
        return true;
    }
    return srCliFail(error, "%s: The folder could not be made: %s.", path, strerror(reason));
}

static void noteInterrupt(int signalNumber) {
    (void)signalNumber;
    wasInterrupted = 1;
}

void srCliCatchInterrupts(void) {
    struct sigaction action = {.sa_handler = noteInterrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool srCliWasInterrupted(void) {
    return wasInterrupted != 0;
}
