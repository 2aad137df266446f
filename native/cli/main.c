// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command line program: which verb, is the library the right one, and a clean end.

#include "cli/system.h"
#include "cli/verbs.h"

#include "softrig/softrig.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: softrig VERB [arguments]\n"
    "\n"
    "  info [FILE]      the library's version; what a mesh or rig file holds\n"
    "  prepare MESH     fits a cage of tetrahedra to a skin\n"
    "  simulate MESH    simulates a skin with a recorded rig, writes a point cache\n"
    "\n"
    "softrig VERB --help tells the rest. Exit codes: 0 fine, 1 failed, 2 wrong command line.\n";

static int runVerb(const char* verb, int argumentCount, char** arguments) {
    if (strcmp(verb, "info") == 0) {
        return srCliRunInfo(argumentCount, arguments);
    }
    if (strcmp(verb, "prepare") == 0) {
        return srCliRunPrepare(argumentCount, arguments);
    }
    if (strcmp(verb, "simulate") == 0) {
        return srCliRunSimulate(argumentCount, arguments);
    }
    if (strcmp(verb, "help") == 0 || strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
        fputs(usage, stdout);
        return SR_CLI_EXIT_FINE;
    }
    fprintf(stderr, "softrig: There is no verb '%.60s'.\n\n%s", verb, usage);
    return SR_CLI_EXIT_USAGE;
}

int main(int argumentCount, char** arguments) {
    if (argumentCount < 2) {
        fputs(usage, stderr);
        return SR_CLI_EXIT_USAGE;
    }
    srAbiInfo abi = srGetAbiInfo();
    if (abi.abiVersion != SR_ABI_VERSION) {
        fprintf(stderr, "softrig: The library speaks ABI %d, this program %d: install both from one build.\n",
                abi.abiVersion, SR_ABI_VERSION);
        return SR_CLI_EXIT_FAILED;
    }
    srCliCatchInterrupts();
    int exitCode = runVerb(arguments[1], argumentCount - 2, arguments + 2);
    srShutdown();
    if (fflush(stdout) != 0 && exitCode == SR_CLI_EXIT_FINE) {
        fputs("softrig: The output could not be written.\n", stderr);
        exitCode = SR_CLI_EXIT_FAILED;
    }
    return exitCode;
}
