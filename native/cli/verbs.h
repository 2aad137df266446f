// SPDX-License-Identifier: GPL-3.0-or-later
//
// The program's verbs. Each takes what follows it on the command line and answers the program's exit code.

#pragma once

/// Exit codes.
#define SR_CLI_EXIT_FINE 0
#define SR_CLI_EXIT_FAILED 1
#define SR_CLI_EXIT_USAGE 2

int srCliRunInfo(int argumentCount, char** arguments);
int srCliRunPrepare(int argumentCount, char** arguments);
int srCliRunSimulate(int argumentCount, char** arguments);

/// Prints "softrig VERB: sentence" on stderr and answers the failing exit code.
int srCliReportFailure(const char* verb, const char* sentence);

/// The same for a wrong command line, with where to find help.
int srCliReportUsage(const char* verb, const char* sentence);
