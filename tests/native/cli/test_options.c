// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command line.

#include "support/support.h"

#include "cli/options.h"

#include <string.h>

typedef struct srParsed {
    bool flag;
    const char* text;
    int32_t integer;
    float number;
    const char* operand;
    int operandCount;
    srCliError error;
} srParsed;

// splits the line at blanks; `''` is an empty argument
static bool parseLine(const char* line, srParsed* outParsed) {
    *outParsed = (srParsed){0};
    const srCliOption table[] = {
        {"--flag", sr_cliOptionFlag, &outParsed->flag},
        {"-o", sr_cliOptionText, &outParsed->text},
        {"--integer", sr_cliOptionInteger, &outParsed->integer},
        {"--number", sr_cliOptionNumber, &outParsed->number},
    };
    static char copy[256];
    char* arguments[32];
    int count = 0;
    snprintf(copy, sizeof(copy), "%s", line);
    for (char* at = strtok(copy, " "); at != NULL; at = strtok(NULL, " ")) {
        arguments[count++] = strcmp(at, "''") == 0 ? at + 2 : at;
    }
    srCliOptions options = {table, SR_ARRAY_COUNT(table), &outParsed->operand, 1, 0};
    bool isParsed = srCliParseOptions(&options, count, arguments, &outParsed->error);
    outParsed->operandCount = options.operandCount;
    return isParsed;
}

static void options_and_operands_may_stand_in_any_order(void** state) {
    (void)state;
    static const char* const lines[] = {
        "--flag -o out --integer -7 --number 1.5 mesh",
        "mesh --number=1.5 --integer=-7 -o out --flag",
        "-o=out --integer -7 mesh --flag --number 15e-1",
        "--flag --number 1.5 --integer -7 -o out -- mesh",
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(lines); ++i) {
        srParsed parsed;
        if (!parseLine(lines[i], &parsed)) {
            fail_msg("%s: %s", lines[i], parsed.error.text);
        }
        assert_true(parsed.flag);
        assert_string_equal(parsed.text, "out");
        assert_int_equal(parsed.integer, -7);
        assert_true(parsed.number >= 1.5f && parsed.number <= 1.5f);
        assert_int_equal(parsed.operandCount, 1);
        assert_string_equal(parsed.operand, "mesh");
    }
}

static void behind_two_dashes_everything_is_an_operand(void** state) {
    (void)state;
    srParsed parsed;
    assert_true(parseLine("-- --flag", &parsed));
    assert_false(parsed.flag);
    assert_string_equal(parsed.operand, "--flag");
    assert_true(parseLine("-", &parsed));
    assert_string_equal(parsed.operand, "-");
}

static void what_cannot_be_understood_is_named(void** state) {
    (void)state;
    static const struct {
        const char* line;
        const char* part;
    } faults[] = {
        {"--what", "'--what'"},
        {"--fla", "'--fla'"},
        {"--flags", "'--flags'"},
        {"--flag=1", "takes no value"},
        {"-o", "-o wants a value"},
        {"-o ''", "not empty"},
        {"--integer", "wants a value"},
        {"--integer 1.5", "'1.5'"},
        {"--integer ''", "whole number"},
        {"--integer 9999999999", "'9999999999'"},
        {"--integer 99999999999999999999999", "whole number"},
        {"--number x", "'x'"},
        {"--number ''", "a number"},
        {"--number nan", "'nan'"},
        {"--number inf", "'inf'"},
        {"--number 1e99", "'1e99'"},
        {"--number 1.5mm", "'1.5mm'"},
        {"one two", "'two'"},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(faults); ++i) {
        srParsed parsed;
        assert_false(parseLine(faults[i].line, &parsed));
        if (strstr(parsed.error.text, faults[i].part) == NULL) {
            fail_msg("%s: %s", faults[i].line, parsed.error.text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_may_stand_in_any_order),
        cmocka_unit_test(behind_two_dashes_everything_is_an_operand),
        cmocka_unit_test(what_cannot_be_understood_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
