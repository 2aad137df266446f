// SPDX-License-Identifier: GPL-3.0-or-later
//
// The helpers that are not shapes: comparing, leaks, failing allocations, files.

#include "support/support.h"

#include "core/alloc.h"
#include "core/job.h"
#include "core/parallel.h"
#include "math/simd_path.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FAILING_ALLOCATIONS 1000000
#define MAX_PATH 512

// Before main, so before anybody asks: SR_TEST_SIMD=off runs a whole test program on the scalar path,
// SR_TEST_FILTER=*WORD* only those of its tests that have the word in their names.
__attribute__((constructor)) static void obeyEnvironment(void) {
    const char* choice = getenv("SR_TEST_SIMD");
    if (choice != NULL && strcmp(choice, "off") == 0) {
        srForceSimdPath(sr_simdScalar);
    }
    const char* filter = getenv("SR_TEST_FILTER");
    if (filter != NULL && filter[0] != '\0') {
        cmocka_set_test_filter(filter);
    }
}

void srTestExpect(srResult actual, srResult expected, const char* what, const char* file, int line) {
    if (actual != expected) {
        print_error("%s: %s (%s), expected %s\n", what, srGetResultName(actual), srGetErrorText(),
                    srGetResultName(expected));
        _fail(file, line);
    }
    if (expected != sr_success && srGetErrorText()[0] == '\0') {
        print_error("%s: %s without a sentence\n", what, srGetResultName(actual));
        _fail(file, line);
    }
}

double srTestTolerance(double tolerance) {
    const char* scale = getenv("SR_TOL_SCALE");
    return scale != NULL && scale[0] != '\0' ? tolerance * strtod(scale, NULL) : tolerance;
}

void srTestNear(double actual, double expected, double tolerance, const char* what, const char* file,
                int line) {
    double residual = fabs(actual - expected);
    double allowed = srTestTolerance(tolerance);
    // not the other way round: a NaN must fail
    if (!(residual <= allowed)) {
        print_error("%s is %.17g, expected %.17g: residual %.3g, allowed %.3g\n", what, actual, expected,
                    residual, allowed);
        _fail(file, line);
    }
}

int srTestNothingLeaked(void** state) {
    (void)state;
    srAlloc_FailAt(0, false);
    srJoinAbandonedJobs(true);
    srParallel_Stop();
    size_t byteCount = srAlloc_GetByteCount();
    if (byteCount != 0) {
        print_error("the library still holds %zu bytes\n", byteCount);
        return -1;
    }
    return 0;
}

double srTestRandom(uint64_t* state) {
    // xorshift64*, of which the upper 53 bits are good
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 11) / 9007199254740992.0;
}

static void doNothing(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)begin;
    (void)end;
    (void)worker;
    (void)context;
}

// True when the run met the failure; then all that is asked of it is checked
static bool meetsFailure(srResult (*body)(void* context), void* context, int64_t n, bool forever) {
    size_t bytesBefore = srAlloc_GetByteCount();
    int64_t countBefore = srAlloc_GetCount();
    srSetErrorText("");
    srAlloc_FailAt(n, forever);
    srResult result = body(context);
    srJoinAbandonedJobs(true);
    srAlloc_FailAt(0, false);

    bool isMet = srAlloc_GetCount() - countBefore >= n;
    srResult expected = isMet ? sr_errorOutOfMemory : sr_success;
    if (result != expected) {
        fail_msg("allocation %lld failing%s: %s (%s), expected %s", (long long)n,
                 forever ? " and all after it" : "", srGetResultName(result), srGetErrorText(),
                 srGetResultName(expected));
    }
    if (isMet && srGetErrorText()[0] == '\0') {
        fail_msg("allocation %lld failing: no sentence", (long long)n);
    }
    if (srAlloc_GetByteCount() != bytesBefore) {
        fail_msg("allocation %lld failing%s: %zu bytes before, %zu after", (long long)n,
                 forever ? " and all after it" : "", bytesBefore, srAlloc_GetByteCount());
    }
    return isMet;
}

void srTestEveryAllocationFails(srResult (*body)(void* context), void* context) {
    srParallelFor(doNothing, 2, 1, NULL);
    int64_t n = 1;
    while (n < MAX_FAILING_ALLOCATIONS && meetsFailure(body, context, n, false)) {
        meetsFailure(body, context, n, true);
        n++;
    }
    if (n == 1) {
        fail_msg("the call allocates nothing, so this test shows nothing");
    }
    if (n == MAX_FAILING_ALLOCATIONS) {
        fail_msg("the call allocates more than %d times", MAX_FAILING_ALLOCATIONS);
    }
}

static char folder[MAX_PATH];

static void removeFolder(void) {
    DIR* directory = opendir(folder);
    if (directory == NULL) {
        return;
    }
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char path[2 * MAX_PATH];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        // the two entries that are folders stay, which is what is wanted
        unlink(path);
    }
    closedir(directory);
    rmdir(folder);
}

void srTestPath(const char* name, char* outPath, size_t pathSize) {
    if (folder[0] == '\0') {
        const char* parent = getenv("TMPDIR");
        snprintf(folder, sizeof(folder), "%s/softrig-test-XXXXXX", parent != NULL ? parent : "/tmp");
        if (mkdtemp(folder) == NULL) {
            folder[0] = '\0';
            fail_msg("no folder for temporary files");
        }
        atexit(removeFolder);
    }
    int length = snprintf(outPath, pathSize, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= pathSize) {
        fail_msg("no room for the path of %s", name);
    }
}
