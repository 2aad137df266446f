// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the program's fallible functions leave behind: one sentence for people. They return false with it.

#pragma once

#include <stdbool.h>

typedef struct srCliError {
    char text[640];
} srCliError;

/// Writes the sentence as `printf` would and returns false, so that a caller can return the call itself.
bool srCliFail(srCliError* error, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// The sentence for an allocation that was refused; returns false.
bool srCliFailMemory(srCliError* error);

/// The sentence that the library left for this thread, behind what was being done; returns false.
bool srCliFailLibrary(srCliError* error, const char* doing);
