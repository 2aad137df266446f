// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whole characters through the public interface, as a host has them prepared: by size, and of a folder.

#pragma once

#include "report.h"

#include <stdbool.h>

/// Made-up characters of 3,000 to 300,000 triangles on two workers: time, memory, cancel, same bits, and the
/// stored file.
void srBenchWhole(srBenchReport* report);

/// Every OBJ and OFF file of a folder, by name. False, with a sentence on stderr, when there is no folder.
bool srBenchFolder(srBenchReport* report, const char* folder);

/// The argument of --data, taken out of the arguments; null when there is none.
const char* srTakeDataFolder(int* argumentCount, char** arguments);
