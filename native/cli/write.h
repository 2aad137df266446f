// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing a text file so that half of it never stands under its final name.

#pragma once

#include "cli/error.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct srCliWriter {
    const char* path; ///< Not owned.
    char* finalPath;  ///< Where a link leads to.
    char* partialPath;
    FILE* file; ///< To print to. Failures of printing are found by the commit.
} srCliWriter;

bool srCliOpenWriter(const char* path, srCliWriter* outWriter, srCliError* error);

/// Closes and moves the file to its name. After a failure nothing new is left on the disk.
bool srCliWriter_Commit(srCliWriter* writer, srCliError* error);
