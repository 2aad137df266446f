// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows are printed as JSON at once, so that a bench that dies has said what it knew; for the table they are
// kept until the widths are known.

#include "report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 96
#define MAX_ROWS 1000
#define USAGE_ERROR 2

enum {
    column_case,
    column_metric,
    column_value,
    column_unit,
    column_goal,
    column_holds,
    column_count
};

static const char* const headings[column_count] = {"case", "metric", "value", "unit", "goal", "holds"};

typedef struct srBenchRow {
    char cells[column_count][TEXT_SIZE];
} srBenchRow;

struct srBenchReport {
    const char* bench;
    bool isJson;
    bool isMisused;
    int rowCount;
    srBenchRow rows[MAX_ROWS];
};

typedef enum srVerdict {
    verdict_none,
    verdict_fails,
    verdict_holds
} srVerdict;

srBenchReport* srBench_Open(int argc, char** argv, const char* bench) {
    bool isJson = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc > 1 && !isJson) {
        fprintf(stderr, "usage: bench_%s [--json]\n", bench);
        return NULL;
    }
    srBenchReport* report = calloc(1, sizeof(srBenchReport));
    if (report == NULL) {
        fprintf(stderr, "bench_%s: no memory for its report\n", bench);
        return NULL;
    }
    report->bench = bench;
    report->isJson = isJson;
    return report;
}

const char* srBench_TakeOnly(int* argc, char** argv) {
    const char* only = NULL;
    int kept = 1;
    for (int a = 1; a < *argc; a++) {
        if (strcmp(argv[a], "--only") == 0 && a + 1 < *argc) {
            only = argv[++a];
        } else {
            argv[kept++] = argv[a];
        }
    }
    *argc = kept;
    return only;
}

bool srBench_IsWanted(const char* only, const char* caseName) {
    return only == NULL || strstr(caseName, only) != NULL;
}

// False when the goal cannot be read
static bool judge(double value, const char* goal, srVerdict* outVerdict) {
    *outVerdict = verdict_none;
    if (goal == NULL) {
        return true;
    }
    size_t size = strspn(goal, "<>=");
    char* end = NULL;
    double limit = strtod(goal + size, &end);
    if (end == goal + size || *end != '\0') {
        return false;
    }
    bool holds = false;
    if (size == 1 && goal[0] == '<') {
        holds = value < limit;
    } else if (size == 1 && goal[0] == '>') {
        holds = value > limit;
    } else if (size == 2 && strncmp(goal, "<=", 2) == 0) {
        holds = value <= limit;
    } else if (size == 2 && strncmp(goal, ">=", 2) == 0) {
        holds = value >= limit;
    } else if (size == 2 && strncmp(goal, "==", 2) == 0) {
        holds = value == limit;
    } else {
        return false;
    }
    *outVerdict = holds && isfinite(value) ? verdict_holds : verdict_fails;
    return true;
}

static void printJsonText(const char* key, const char* text) {
    printf("\"%s\": ", key);
    if (text == NULL) {
        printf("null");
        return;
    }
    putchar('"');
    for (const unsigned char* byte = (const unsigned char*)text; *byte != 0; byte++) {
        if (*byte == '"' || *byte == '\\') {
            printf("\\%c", *byte);
        } else if (*byte < 0x20) {
            printf("\\u%04x", *byte);
        } else {
            putchar(*byte);
        }
    }
    putchar('"');
}

static void printJson(const char* bench, const char* const texts[4], double value, srVerdict verdict) {
    putchar('{');
    printJsonText("bench", bench);
    printf(", ");
    printJsonText("case", texts[0]);
    printf(", ");
    printJsonText("metric", texts[1]);
    // JSON knows no infinity and no NaN
    if (isfinite(value)) {
        printf(", \"value\": %.9g, ", value);
    } else {
        printf(", \"value\": null, ");
    }
    printJsonText("unit", texts[2]);
    printf(", ");
    printJsonText("goal", texts[3]);
    printf(", \"holds\": %s}\n", verdict == verdict_none    ? "null"
                                 : verdict == verdict_holds ? "true"
                                                            : "false");
    fflush(stdout);
}

static void keepRow(srBenchReport* report, const char* const texts[4], double value, srVerdict verdict) {
    if (report->rowCount == MAX_ROWS) {
        report->isMisused = true;
        return;
    }
    srBenchRow* row = &report->rows[report->rowCount++];
    snprintf(row->cells[column_case], TEXT_SIZE, "%s", texts[0]);
    snprintf(row->cells[column_metric], TEXT_SIZE, "%s", texts[1]);
    snprintf(row->cells[column_value], TEXT_SIZE, "%.4g", value);
    snprintf(row->cells[column_unit], TEXT_SIZE, "%s", texts[2]);
    snprintf(row->cells[column_goal], TEXT_SIZE, "%s", texts[3] != NULL ? texts[3] : "");
    snprintf(row->cells[column_holds], TEXT_SIZE, "%s",
             verdict == verdict_none    ? ""
             : verdict == verdict_holds ? "yes"
                                        : "NO");
}

void srBench_Add(srBenchReport* report, const char* caseName, const char* metric, double value,
                 const char* unit, const char* goal) {
    srVerdict verdict = verdict_none;
    if (!judge(value, goal, &verdict)) {
        fprintf(stderr, "bench_%s: the goal \"%s\" cannot be read\n", report->bench, goal);
        report->isMisused = true;
    }
    const char* const texts[4] = {caseName, metric, unit, goal};
    if (report->isJson) {
        printJson(report->bench, texts, value, verdict);
    } else {
        keepRow(report, texts, value, verdict);
    }
}

static void printLine(const char* const cells[column_count], const int widths[column_count]) {
    // no blanks at the end of a line
    int last = column_count - 1;
    while (last > 0 && cells[last][0] == '\0') {
        last--;
    }
    for (int c = 0; c <= last; c++) {
        printf(c == column_value ? "%*s" : "%-*s", c == last && c != column_value ? 0 : widths[c], cells[c]);
        fputs(c == last ? "\n" : "  ", stdout);
    }
}

static void printTable(const srBenchReport* report) {
    int widths[column_count];
    for (int c = 0; c < column_count; c++) {
        widths[c] = (int)strlen(headings[c]);
        for (int r = 0; r < report->rowCount; r++) {
            int width = (int)strlen(report->rows[r].cells[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    printf("bench %s\n\n", report->bench);
    printLine(headings, widths);
    for (int r = 0; r < report->rowCount; r++) {
        const char* cells[column_count];
        for (int c = 0; c < column_count; c++) {
            cells[c] = report->rows[r].cells[c];
        }
        printLine(cells, widths);
    }
}

int srBench_Close(srBenchReport* report) {
    if (report == NULL) {
        return USAGE_ERROR;
    }
    if (!report->isJson) {
        printTable(report);
    }
    int exitCode = report->isMisused ? USAGE_ERROR : 0;
    free(report);
    return exitCode;
}
