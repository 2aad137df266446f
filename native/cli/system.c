// SPDX-License-Identifier: GPL-3.0-or-later
//
// The operating system's part of the program, POSIX.

#include "cli/system.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t wasInterrupted = 0;

bool srCliIsTerminal(FILE* stream) {
    return isatty(fileno(stream)) != 0;
}

bool srCliCheckOutput(const char* path, const char* const* inputs, int inputCount, srCliError* error) {
    struct stat output;
    if (stat(path, &output) != 0) {
        bool isNew = errno == ENOENT && path[0] != 0 && path[strlen(path) - 1] != '/';
        return isNew || srCliFail(error, "%s: It cannot be written: %s.", path, strerror(errno));
    }
    if (!S_ISREG(output.st_mode)) {
        return srCliFail(error, "%s: It is there already and is not a plain file.", path);
    }
    for (int i = 0; i < inputCount; ++i) {
        struct stat input;
        bool isThere = inputs[i] != NULL && stat(inputs[i], &input) == 0;
        if (isThere && input.st_dev == output.st_dev && input.st_ino == output.st_ino) {
            return srCliFail(error, "%s: It is also an input and would be overwritten.", path);
        }
    }
    return true;
}

bool srCliMakeFolder(const char* path, srCliError* error) {
    if (mkdir(path, 0777) == 0) {
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
