// SPDX-License-Identifier: GPL-3.0-or-later
//
// Printing tables to stdout.

#include "cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LABEL_WIDTH 30
#define COUNT_WIDTH 12

void srCliPrintHeading(const char* heading) {
    printf("%s\n", heading);
}

void srCliPrintCount(const char* label, int64_t count, const char* remark) {
    char digits[32];
    char grouped[48];
    snprintf(digits, sizeof(digits), "%lld", (long long)count);
    size_t length = strlen(digits);
    size_t used = 0;
    for (size_t i = 0; i < length; ++i) {
        bool isGap = i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-';
        if (isGap) {
            grouped[used++] = ',';
        }
        grouped[used++] = digits[i];
    }
    grouped[used] = 0;
    bool hasRemark = remark != NULL && count != 0;
    printf("  %-*s%*s%s%s\n", LABEL_WIDTH, label, COUNT_WIDTH, grouped, hasRemark ? "  " : "",
           hasRemark ? remark : "");
}

void srCliPrintValue(const char* label, const char* format, ...) {
    char value[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    printf("  %-*s%*s\n", LABEL_WIDTH, label, COUNT_WIDTH, value);
}

void srCliPrintJsonText(const char* text) {
    for (const char* at = text; *at != 0; ++at) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\') {
            printf("\\%c", byte);
        } else if (byte < 0x20) {
            printf("\\u%04x", (unsigned)byte);
        } else {
            putchar(byte);
        }
    }
}
