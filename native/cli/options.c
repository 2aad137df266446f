// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parsing the command line by a table.

#include "cli/options.h"

#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// the option whose name is the first `length` bytes of the argument
static const srCliOption* findOption(const srCliOptions* options, const char* argument, size_t length) {
    for (int i = 0; i < options->optionCount; ++i) {
        const char* name = options->options[i].name;
        if (strlen(name) == length && memcmp(name, argument, length) == 0) {
            return &options->options[i];
        }
    }
    return NULL;
}

static bool readInteger(const srCliOption* option, const char* value, srCliError* error) {
    int64_t number = 0;
    const char* end = value + strlen(value);
    bool isNumber = end > value && srCliParseInteger(value, end, &number) == end;
    if (!isNumber || number < INT32_MIN || number > INT32_MAX) {
        return srCliFail(error, "%s wants a whole number, not '%.60s'.", option->name, value);
    }
    *(int32_t*)option->target = (int32_t)number;
    return true;
}

static bool readNumber(const srCliOption* option, const char* value, srCliError* error) {
    char* end = NULL;
    float number = strtof(value, &end);
    if (end == value || *end != 0 || !isfinite(number)) {
        return srCliFail(error, "%s wants a number, not '%.60s'.", option->name, value);
    }
    *(float*)option->target = number;
    return true;
}

static bool storeValue(const srCliOption* option, const char* value, srCliError* error) {
    switch (option->kind) {
    case sr_cliOptionInteger:
        return readInteger(option, value, error);
    case sr_cliOptionNumber:
        return readNumber(option, value, error);
    case sr_cliOptionText:
        if (value[0] == 0) {
            return srCliFail(error, "%s wants a value that is not empty.", option->name);
        }
        *(const char**)option->target = value;
        return true;
    case sr_cliOptionFlag:
        break;
    }
    return srCliFail(error, "%s takes no value.", option->name);
}

// one option; answers how many arguments it used, or 0 after a failure
static int parseOption(const srCliOptions* options, char** arguments, int left, srCliError* error) {
    const char* argument = arguments[0];
    const char* equals = strchr(argument, '=');
    size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    const srCliOption* option = findOption(options, argument, length);
    if (option == NULL) {
        srCliFail(error, "There is no option '%.60s'.", argument);
        return 0;
    }
    if (equals != NULL) {
        return storeValue(option, equals + 1, error) ? 1 : 0;
    }
    if (option->kind == sr_cliOptionFlag) {
        *(bool*)option->target = true;
        return 1;
    }
    if (left < 2) {
        srCliFail(error, "%s wants a value.", option->name);
        return 0;
    }
    return storeValue(option, arguments[1], error) ? 2 : 0;
}

bool srCliParseOptions(srCliOptions* options, int argumentCount, char** arguments, srCliError* error) {
    bool takesOptions = true;
    options->operandCount = 0;
    for (int i = 0; i < argumentCount;) {
        const char* argument = arguments[i];
        int used = 1;
        if (takesOptions && strcmp(argument, "--") == 0) {
            takesOptions = false;
        } else if (takesOptions && argument[0] == '-' && argument[1] != 0) {
            used = parseOption(options, arguments + i, argumentCount - i, error);
        } else if (options->operandCount < options->operandCapacity) {
            options->operands[options->operandCount++] = argument;
        } else {
            return srCliFail(error, "'%.60s' is one argument too many.", argument);
        }
        if (used == 0) {
            return false;
        }
        i += used;
    }
    return true;
}
