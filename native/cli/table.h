// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tables for people: a heading, then a label and a value a line. And the escapes that a line for machines
// needs.

#pragma once

#include <stdint.h>

void srCliPrintHeading(const char* heading);

/// A count with its thousands apart; `remark` (nullable) is printed behind it when the count is not zero.
void srCliPrintCount(const char* label, int64_t count, const char* remark);

/// A value as `printf` would write it.
void srCliPrintValue(const char* label, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Prints text inside the quotes of JSON.
void srCliPrintJsonText(const char* text);
