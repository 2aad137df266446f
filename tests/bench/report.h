// SPDX-License-Identifier: GPL-3.0-or-later
//
// What every bench says and how: an aligned table for people, or with --json one object a line with the keys
// bench, case, metric, value, unit, goal, holds. Lives here: reporting. Does not: measuring.

#pragma once

#include <stdbool.h>

typedef struct srBenchReport srBenchReport;

/// Reads the arguments (none, or --json). Null when there is another one: then the usage was printed, and
/// main returns what `srBench_Close` answers for null. `bench` must outlive the report.
srBenchReport* srBench_Open(int argc, char** argv, const char* bench);

/// Takes `--only WORDS` out of the arguments, before srBench_Open: the words; null without.
const char* srBench_TakeOnly(int* argc, char** argv);

/// Whether a case is wanted: its name holds the words, or there are none.
bool srBench_IsWanted(const char* only, const char* caseName);

/// Adds a figure. `goal` is null, or "<= 3": one of <, <=, ==, >=, > and a number in the same unit; whether
/// the value meets it is decided here, and a value that is not finite meets none. A figure without unit has
/// "". All texts are copied.
void srBench_Add(srBenchReport* report, const char* caseName, const char* metric, double value,
                 const char* unit, const char* goal);

/// Prints the table and frees the report. The exit code of the program: 0 whether or not the goals are met
/// (who reads the figures judges them), 2 for a wrong use, be it of the program or, for a goal that cannot be
/// read, of this.
int srBench_Close(srBenchReport* report);
