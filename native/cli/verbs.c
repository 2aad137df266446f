// SPDX-License-Identifier: GPL-3.0-or-later
//
// How every verb says that it failed.

#include "cli/verbs.h"

#include <stdio.h>

int srCliReportFailure(const char* verb, const char* sentence) {
    fprintf(stderr, "softrig %s: %s\n", verb, sentence);
    return SR_CLI_EXIT_FAILED;
}

int srCliReportUsage(const char* verb, const char* sentence) {
    fprintf(stderr, "softrig %s: %s\nTry: softrig %s --help\n", verb, sentence, verb);
    return SR_CLI_EXIT_USAGE;
}
