// SPDX-License-Identifier: GPL-3.0-or-later
//
// Loading a text file and taking it apart into tokens and numbers.

#include "cli/text.h"

#include "cli/memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)1 << 16)

static bool readStream(FILE* file, const char* path, srCliBytes* bytes, srCliError* error) {
    char* chunk = srCliResize(NULL, CHUNK_BYTES);
    if (chunk == NULL) {
        return srCliFailMemory(error);
    }
    bool isRead = true;
    size_t count = 0;
    while (isRead && (count = fread(chunk, 1, CHUNK_BYTES, file)) > 0) {
        if (bytes->count + count >= SR_CLI_MAX_FILE_BYTES) {
            isRead = srCliFail(error, "%s: The file is larger than 2 GiB.", path);
        } else if (!srCliBytes_Append(bytes, chunk, count)) {
            isRead = srCliFailMemory(error);
        }
    }
    if (isRead && ferror(file)) {
        isRead = srCliFail(error, "%s: The file could not be read: %s.", path, strerror(errno));
    }
    srCliResize(chunk, 0);
    return isRead;
}

// ends the bytes with a zero, refuses others, and hands them over
static bool adoptBytes(const char* path, srCliBytes* bytes, srCliText* outText, srCliError* error) {
    size_t size = bytes->count;
    if (!srCliBytes_Append(bytes, "", 1)) {
        return srCliFailMemory(error);
    }
    *outText = (srCliText){.path = path, .bytes = bytes->items, .size = size};
    *bytes = (srCliBytes){0};
    srCliText_Rewind(outText);
    const char* zero = memchr(outText->bytes, 0, size);
    if (zero == NULL) {
        return true;
    }
    for (const char* byte = outText->bytes; byte < zero; ++byte) {
        outText->line += *byte == '\n';
    }
    return srCliText_Fail(outText, error, "A zero byte: this is not a text file.");
}

bool srCliReadBytes(const char* path, srCliBytes* outBytes, srCliError* error) {
    *outBytes = (srCliBytes){0};
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return srCliFail(error, "%s: The file could not be opened: %s.", path, strerror(errno));
    }
    bool isRead = readStream(file, path, outBytes, error);
    fclose(file);
    return isRead;
}

bool srCliOpenText(const char* path, srCliText* outText, srCliError* error) {
    *outText = (srCliText){.path = path};
    srCliBytes bytes;
    bool isRead = srCliReadBytes(path, &bytes, error) && adoptBytes(path, &bytes, outText, error);
    srCliBytes_Free(&bytes);
    return isRead;
}

bool srCliOpenTextBytes(const char* path, const void* bytes, size_t size, srCliText* outText,
                        srCliError* error) {
    *outText = (srCliText){.path = path};
    srCliBytes copy = {0};
    bool isRead = srCliBytes_Append(&copy, bytes, size) || srCliFailMemory(error);
    isRead = isRead && adoptBytes(path, &copy, outText, error);
    srCliBytes_Free(&copy);
    return isRead;
}

void srCliText_Close(srCliText* text) {
    srCliResize(text->bytes, 0);
    *text = (srCliText){0};
}

void srCliText_Rewind(srCliText* text) {
    bool hasMark = text->size >= 3 && memcmp(text->bytes, "\xEF\xBB\xBF", 3) == 0;
    text->at = text->bytes + (hasMark ? 3 : 0);
    text->line = 1;
    text->isLineBegun = false;
}

// bytes of the line end at `at`: LF, CR LF or a lone CR; 0 when there is none
static size_t measureLineEnd(const char* at) {
    if (at[0] == '\r') {
        return at[1] == '\n' ? 2 : 1;
    }
    return at[0] == '\n' ? 1 : 0;
}

// goes to the next line if this one has nothing left
static bool passLineEnd(srCliText* text) {
    size_t lineEnd = measureLineEnd(text->at);
    if (lineEnd == 0) {
        return false;
    }
    text->at += lineEnd;
    text->line += 1;
    text->isLineBegun = false;
    return true;
}

static bool isBlank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\v' || byte == '\f';
}

static void skipBlanks(srCliText* text) {
    for (;;) {
        if (isBlank(*text->at)) {
            text->at += 1;
        } else if (text->joinsLines && *text->at == '\\' && measureLineEnd(text->at + 1) > 0) {
            text->at += 1 + measureLineEnd(text->at + 1);
            text->line += 1;
        } else {
            return;
        }
    }
}

static void skipToLineEnd(srCliText* text) {
    while (*text->at != 0 && measureLineEnd(text->at) == 0) {
        text->at += 1;
    }
}

static bool isTokenEnd(const srCliText* text, const char* at) {
    bool isJoin = text->joinsLines && *at == '\\' && measureLineEnd(at + 1) > 0;
    return *at == 0 || isBlank(*at) || measureLineEnd(at) > 0 || isJoin;
}

static bool nextInLine(srCliText* text, srCliToken* outToken) {
    skipBlanks(text);
    *outToken = (srCliToken){.start = text->at, .length = 0};
    if (*text->at == '#') {
        skipToLineEnd(text);
    }
    while (!isTokenEnd(text, text->at)) {
        text->at += 1;
    }
    outToken->length = *outToken->start == '#' ? 0 : (size_t)(text->at - outToken->start);
    text->isLineBegun = text->isLineBegun || outToken->length > 0;
    return outToken->length > 0;
}

bool srCliText_Next(srCliText* text, srCliToken* outToken) {
    while (!nextInLine(text, outToken)) {
        if (!text->isStream || !passLineEnd(text)) {
            return false;
        }
    }
    return true;
}

void srCliText_SkipLine(srCliText* text) {
    srCliToken token;
    while (nextInLine(text, &token)) {
    }
}

bool srCliText_NextLine(srCliText* text) {
    if (text->isLineBegun) {
        srCliText_SkipLine(text);
    }
    for (;;) {
        srCliText start = *text;
        srCliToken token;
        if (nextInLine(text, &token)) {
            *text = start;
            return true;
        }
        if (!passLineEnd(text)) {
            return false;
        }
    }
}

bool srCliToken_Is(srCliToken token, const char* word) {
    return token.length == strlen(word) && memcmp(token.start, word, token.length) == 0;
}

bool srCliText_ReadFloat(srCliText* text, const char* what, float* outValue, srCliError* error) {
    srCliToken token;
    if (!srCliText_Next(text, &token)) {
        return srCliText_FailToken(text, error, what, token);
    }
    char* end = NULL;
    float value = strtof(token.start, &end);
    if (end != token.start + token.length) {
        return srCliText_FailToken(text, error, what, token);
    }
    *outValue = value;
    return true;
}

static bool failNotFinite(const srCliText* text, const char* what, srCliError* error) {
    return srCliText_Fail(text, error, "Expected %s, found a number that is not finite.", what);
}

bool srCliText_ReadFiniteDouble(srCliText* text, const char* what, double* outValue, srCliError* error) {
    srCliToken token;
    if (!srCliText_Next(text, &token)) {
        return srCliText_FailToken(text, error, what, token);
    }
    char* end = NULL;
    double value = strtod(token.start, &end);
    if (end != token.start + token.length) {
        return srCliText_FailToken(text, error, what, token);
    }
    if (!isfinite(value)) {
        return failNotFinite(text, what, error);
    }
    *outValue = value;
    return true;
}

bool srCliText_ReadFiniteFloats(srCliText* text, const char* what, float* outValues, int32_t count,
                                srCliError* error) {
    for (int32_t i = 0; i < count; ++i) {
        float value = 0.0f;
        if (!srCliText_ReadFloat(text, what, &value, error)) {
            return false;
        }
        if (!isfinite(value)) {
            return failNotFinite(text, what, error);
        }
        outValues[i] = value;
    }
    return true;
}

const char* srCliParseInteger(const char* start, const char* end, int64_t* outValue) {
    bool isNegative = start < end && *start == '-';
    const char* at = start + (start < end && (*start == '-' || *start == '+'));
    const char* firstDigit = at;
    int64_t value = 0;
    while (at < end && *at >= '0' && *at <= '9') {
        if (at - firstDigit >= 18) {
            return NULL;
        }
        value = 10 * value + (*at - '0');
        at += 1;
    }
    *outValue = isNegative ? -value : value;
    return at > firstDigit ? at : NULL;
}

bool srCliText_ReadInteger(srCliText* text, const char* what, int64_t lowest, int64_t highest,
                           int64_t* outValue, srCliError* error) {
    srCliToken token;
    if (!srCliText_Next(text, &token)) {
        return srCliText_FailToken(text, error, what, token);
    }
    int64_t value = 0;
    const char* end = token.start + token.length;
    if (srCliParseInteger(token.start, end, &value) != end) {
        return srCliText_FailToken(text, error, what, token);
    }
    if (value < lowest || value > highest) {
        return srCliText_Fail(text, error, "Expected %s from %lld to %lld, found %lld.", what,
                              (long long)lowest, (long long)highest, (long long)value);
    }
    *outValue = value;
    return true;
}

bool srCliText_Fail(const srCliText* text, srCliError* error, const char* format, ...) {
    char sentence[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    return srCliFail(error, "%.300s:%lld: %s", text->path, (long long)text->line, sentence);
}

bool srCliText_FailToken(const srCliText* text, srCliError* error, const char* what, srCliToken token) {
    if (token.length == 0) {
        const char* where = *text->at == 0 ? "the file ends" : "the line ends";
        return srCliText_Fail(text, error, "Expected %s, but %s here.", what, where);
    }
    char shown[41] = {0};
    size_t length = token.length < sizeof(shown) ? token.length : sizeof(shown) - 1;
    for (size_t i = 0; i < length; ++i) {
        bool isPlain = token.start[i] >= ' ' && token.start[i] <= '~';
        shown[i] = '?';
        if (isPlain) {
            shown[i] = token.start[i];
        }
    }
    return srCliText_Fail(text, error, "Expected %s, found '%s%s'.", what, shown,
                          length < token.length ? "..." : "");
}
