// SPDX-License-Identifier: GPL-3.0-or-later
//
// What follows a verb on the command line: options from a table, and operands.

#pragma once

#include "cli/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum srCliOptionKind {
    sr_cliOptionFlag = 0,    ///< `bool`, set to true.
    sr_cliOptionText = 1,    ///< `const char*`
    sr_cliOptionInteger = 2, ///< `int32_t`
    sr_cliOptionNumber = 3,  ///< `float`, finite.
} srCliOptionKind;

typedef struct srCliOption {
    const char* name; ///< With its dashes.
    srCliOptionKind kind;
    void* target; ///< Untouched when the option is not given.
} srCliOption;

typedef struct srCliOptions {
    const srCliOption* options;
    int optionCount;
    const char** operands; ///< Filled.
    int operandCapacity;
    int operandCount; ///< Filled.
} srCliOptions;

/// Takes `--name VALUE`, `--name=VALUE`, `-o VALUE`; everything behind `--` is an operand. `arguments` start
/// behind the verb.
bool srCliParseOptions(srCliOptions* options, int argumentCount, char** arguments, srCliError* error);
