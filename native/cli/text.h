// SPDX-License-Identifier: GPL-3.0-or-later
//
// A text file in memory, read token by token with the line number at hand. All readers stand on it, so what
// hostile bytes can do is decided here: line ends of all systems, no zero bytes, a limit on the size,
// numbers that do not depend on the locale (the program never calls `setlocale`).

#pragma once

#include "cli/error.h"
#include "cli/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Larger files are refused.
#define SR_CLI_MAX_FILE_BYTES ((size_t)1 << 31)

typedef struct srCliText {
    const char* path; ///< For messages; not owned.
    char* bytes;      ///< Ends with a zero behind `size`; holds no other.
    size_t size;
    const char* at;   ///< Next byte to read.
    int64_t line;     ///< Line of `at`, from 1.
    bool isLineBegun; ///< A token of this line was taken.
    bool isStream;    ///< Tokens are taken across lines.
    bool joinsLines;  ///< A backslash at the end of a line continues it.
} srCliText;

typedef struct srCliToken {
    const char* start;
    size_t length;
} srCliToken;

/// Reads the bytes of a whole file, whatever they are. Free them also after a failure.
bool srCliReadBytes(const char* path, srCliBytes* outBytes, srCliError* error);

/// Reads a whole file. Close it also after a failure.
bool srCliOpenText(const char* path, srCliText* outText, srCliError* error);

/// The same from memory; the bytes are copied.
bool srCliOpenTextBytes(const char* path, const void* bytes, size_t size, srCliText* outText,
                        srCliError* error);

void srCliText_Close(srCliText* text);

/// Goes back to the start, behind a byte order mark if there is one.
void srCliText_Rewind(srCliText* text);

/// The next token of this line (in a stream: of the file). False when there is none. A `#` at the start of a
/// token begins a comment.
bool srCliText_Next(srCliText* text, srCliToken* outToken);

/// Goes to the next line that holds a token, past the rest of this one if it was begun. False at the end.
bool srCliText_NextLine(srCliText* text);

/// Leaves the rest of this line unread.
void srCliText_SkipLine(srCliText* text);

bool srCliToken_Is(srCliToken token, const char* word);

/// Reads a token as a number. `what` names it in the sentence of a failure. Too large numbers are infinite,
/// `nan` and `inf` are read: whoever needs finite ones checks.
bool srCliText_ReadFloat(srCliText* text, const char* what, float* outValue, srCliError* error);

/// The same at double precision, and fails on what is not finite.
bool srCliText_ReadFiniteDouble(srCliText* text, const char* what, double* outValue, srCliError* error);

/// As `srCliText_ReadFloat`, and fails on what is not finite.
bool srCliText_ReadFiniteFloats(srCliText* text, const char* what, float* outValues, int32_t count,
                                srCliError* error);

/// Reads a whole number within a range, both ends included.
bool srCliText_ReadInteger(srCliText* text, const char* what, int64_t lowest, int64_t highest,
                           int64_t* outValue, srCliError* error);

/// Parses the leading whole number of `[start, end)`. Answers behind it, or null when there is none or when
/// it needs more than 18 digits.
const char* srCliParseInteger(const char* start, const char* end, int64_t* outValue);

/// "path:line: sentence"; returns false.
bool srCliText_Fail(const srCliText* text, srCliError* error, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/// "path:line: expected what, found 'token'"; returns false. A token that was not there has length zero.
bool srCliText_FailToken(const srCliText* text, srCliError* error, const char* what, srCliToken token);
