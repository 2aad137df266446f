// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the program asks the operating system: is this a terminal, may this path be written, was the program
// interrupted. The only file of the program that includes headers beyond the C library's.

#pragma once

#include "cli/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/// Longer paths are refused.
#define SR_CLI_PATH_SIZE 4096
#define SR_CLI_PARTIAL_ENDING ".partial"

/// Where a path leads, so that two can be compared that are spelled differently or are links.
typedef struct srCliPlace {
    bool isThere;
    bool hasFolder;
    uint64_t file[2]; ///< If it is there.
    uint64_t folder[2];
    char name[256]; ///< Within the folder.
} srCliPlace;

/// What must not be overwritten: inputs, and outputs with their partial files.
typedef struct srCliKept {
    srCliPlace places[8];
    int count;
} srCliKept;

bool srCliIsTerminal(FILE* stream);

/// Null is passed over.
void srCliKeepInput(srCliKept* kept, const char* path);

/// The file and the partial file that it is written through.
void srCliKeepOutput(srCliKept* kept, const char* path);

/// Refuses what should not be replaced, by the file or by its partial file: a folder, a device, a file
/// without a folder to stand in, whatever is kept.
bool srCliCheckOutput(const char* path, const srCliKept* kept, srCliError* error);

/// Makes the last folder of the path unless it is there.
bool srCliMakeFolder(const char* path, bool* outIsNew, srCliError* error);

/// The path that a link leads to in the end, or the path itself. Leaves errno on failure.
bool srCliResolve(const char* path, char outPath[SR_CLI_PATH_SIZE]);

/// The path of a file beside this program; empty when that cannot be told.
void srCliFindBeside(const char* name, char outPath[SR_CLI_PATH_SIZE]);

/// Creates or empties a plain file, through no link. Null with errno on failure.
FILE* srCliCreateFile(const char* path);

/// Moves a whole file over another plain file, whose permissions are kept, or to a new name. Leaves errno on
/// failure.
bool srCliReplaceFile(const char* wholePath, const char* path);

/// From now on an interrupt (Ctrl-C) or a request to end only raises a flag.
void srCliCatchInterrupts(void);
bool srCliWasInterrupted(void);
