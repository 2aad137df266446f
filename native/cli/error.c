// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing sentences of failure.

#include "cli/error.h"

#include "softrig/base.h"

#include <stdarg.h>
#include <stdio.h>

bool srCliFail(srCliError* error, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);

    // names and paths of others must not steer the terminal
    for (char* byte = error->text; *byte != 0; ++byte) {
        bool isControl = (unsigned char)*byte < ' ' || *byte == 0x7F;
        *byte = isControl ? '?' : *byte;
    }
    return false;
}

bool srCliFailMemory(srCliError* error) {
    return srCliFail(error, "Out of memory.");
}

bool srCliFailLibrary(srCliError* error, const char* doing) {
    return srCliFail(error, "%s failed: %s", doing, srGetErrorText());
}
