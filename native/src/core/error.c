// SPDX-License-Identifier: GPL-3.0-or-later
//
// Result codes' names and the thread's one sentence. The sentence lives in thread-local storage of a fixed
// size, so that saying "memory is gone" needs no memory.

#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char errorText[SR_ERROR_TEXT_SIZE];

const char* srGetResultName(srResult result) {
    switch (result) {
    case sr_success:
        return "sr_success";
    case sr_errorNullArgument:
        return "sr_errorNullArgument";
    case sr_errorStructSize:
        return "sr_errorStructSize";
    case sr_errorInvalidValue:
        return "sr_errorInvalidValue";
    case sr_errorNotFinite:
        return "sr_errorNotFinite";
    case sr_errorStaleId:
        return "sr_errorStaleId";
    case sr_errorOutOfMemory:
        return "sr_errorOutOfMemory";
    case sr_errorTooLarge:
        return "sr_errorTooLarge";
    case sr_errorBadMesh:
        return "sr_errorBadMesh";
    case sr_errorNoInside:
        return "sr_errorNoInside";
    case sr_errorNotReady:
        return "sr_errorNotReady";
    case sr_errorCancelled:
        return "sr_errorCancelled";
    case sr_errorFile:
        return "sr_errorFile";
    case sr_errorDependency:
        return "sr_errorDependency";
    case sr_errorInternal:
        return "sr_errorInternal";
    case sr_errorBadFile:
        return "sr_errorBadFile";
    }
    return "unknown result";
}

const char* srGetErrorText(void) {
    return errorText;
}

// The first byte of the UTF-8 character that a cut at `size` would split, or `size`
static size_t wholeCharacters(const char* text, size_t size) {
    size_t start = size;
    while (start > 0 && ((unsigned char)text[start] & 0xc0) == 0x80) {
        start--;
    }
    return start;
}

void srSetErrorText(const char* text) {
    size_t size = 0;
    while (size < SR_ERROR_TEXT_SIZE && text[size] != '\0') {
        size++;
    }
    if (size == SR_ERROR_TEXT_SIZE) {
        size = wholeCharacters(text, SR_ERROR_TEXT_SIZE - 1);
    }
    memmove(errorText, text, size);
    errorText[size] = '\0';
}

srResult srFail(srResult result, const char* format, ...) {
    // apart from errorText, which may be an argument, and one longer, so that srSetErrorText sees where the
    // cut falls
    char text[SR_ERROR_TEXT_SIZE + 1];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    srSetErrorText(length < 0 ? format : text);
    return result;
}

srResult srFailOutOfMemory(const char* what) {
    return srFail(sr_errorOutOfMemory, "There is not enough memory for %s.", what);
}

#if defined(SR_ENABLE_ASSERT)
void srAssertFailed(const char* condition, const char* file, int line) {
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
#endif
