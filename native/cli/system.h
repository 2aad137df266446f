// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the program asks the operating system: is this a terminal, may this path be written, was the program
// interrupted. The only file of the program that includes headers beyond the C library's.

#pragma once

#include "cli/error.h"

#include <stdbool.h>
#include <stdio.h>

bool srCliIsTerminal(FILE* stream);

/// Refuses what should not be replaced: a folder, a device, a file without a folder to stand in, one of the
/// inputs (null entries are passed over).
bool srCliCheckOutput(const char* path, const char* const* inputs, int inputCount, srCliError* error);

/// Makes the last folder of the path unless it is there.
bool srCliMakeFolder(const char* path, srCliError* error);

/// From now on an interrupt (Ctrl-C) or a request to end only raises a flag.
void srCliCatchInterrupts(void);
bool srCliWasInterrupted(void);
