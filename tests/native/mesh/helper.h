// SPDX-License-Identifier: GPL-3.0-or-later
//
// The helper program around TetGen, and programs that stand in for it and do something else.

#pragma once

#include "mesh/tetgen.h"
#include "support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The one of this build, or of another machine's build (SR_TEST_TETGEN: a program, or a script around an
// emulator).
#if defined(SR_TETGEN_PROGRAM)
static const char* helperPath = SR_TETGEN_PROGRAM;
#else
static const char* helperPath = NULL;
#define SR_TETGEN_IS_1_5_0 0
#endif

// Leaves the test where the helper is not built; fails it where CI is set, since there a skip is a failure.
static inline void needHelper(void) {
    helperPath = getenv("SR_TEST_TETGEN") != NULL ? getenv("SR_TEST_TETGEN") : helperPath;
    if (helperPath == NULL) {
        const char* ci = getenv("CI");
        if (ci != NULL && ci[0] != '\0') {
            fail_msg("softrig-tetgen is not built, for want of TetGen's source, and CI is set");
        }
        print_message(
            "skipped: softrig-tetgen is not built, for want of TetGen's source (./softrig brings it)\n");
        skip();
    }
}

// What a folder holds that has a part in its name: a run leaves nothing behind.
static inline int countNamed(const char* path, const char* part) {
    int count = 0;
    DIR* folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += strstr(entry->d_name, part) != NULL;
    }
    closedir(folder);
    return count;
}

static inline int countFiles(const char* path) {
    return countNamed(path, "");
}

// A script in place of the helper; %s in the line is the real one.
static inline void makeStandIn(const char* name, const char* line, char path[300]) {
    srTestPath(name, path, 300);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\n", file);
    const char* place = strstr(line, "%s");
    if (place != NULL) {
        fprintf(file, "%.*s%s%s\n", (int)(place - line), line, helperPath, place + 2);
    } else {
        fprintf(file, "%s\n", line);
    }
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
}
