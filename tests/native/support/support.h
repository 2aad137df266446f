// SPDX-License-Identifier: GPL-3.0-or-later
//
// What all native tests share: cmocka with what it needs before it, the check that every byte came back,
// tolerances that can be switched off to see true residuals (SR_TOL_SCALE=0), files that go away, and small
// shapes.

#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka must come after the four above
#include <cmocka.h>

#include "core/error.h"

#include <stdio.h>

#define SR_ARRAY_COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/// Fails the test when a call did not succeed, and shows its sentence.
#define assert_success(call)                                                                                 \
    do {                                                                                                     \
        srResult srTestResult = (call);                                                                      \
        if (srTestResult != sr_success) {                                                                    \
            fail_msg("%s: %s (%s)", #call, srGetErrorText(), srGetResultName(srTestResult));                 \
        }                                                                                                    \
    } while (0)

/// Fails the test when a call did not answer `expected`, or left no sentence for people.
#define assert_result(call, expected) srTestExpect((call), (expected), #call, __FILE__, __LINE__)
void srTestExpect(srResult actual, srResult expected, const char* what, const char* file, int line);

/// A tolerance times the environment's SR_TOL_SCALE: 0 makes every comparison fail that is not exact, and so
/// prints true residuals.
double srTestTolerance(double tolerance);

/// Fails when the two differ by more than the tolerance, or one of them is not finite.
#define assert_near(actual, expected, tolerance)                                                             \
    srTestNear((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
void srTestNear(double actual, double expected, double tolerance, const char* what, const char* file,
                int line);

/// A teardown for cmocka: stops the pool and fails when the library still holds bytes.
int srTestNothingLeaked(void** state);

/// A reproducible random number in [0, 1); the state is any non-zero number.
double srTestRandom(uint64_t* state);

/// Runs `body` with the n-th allocation failing for n = 1, 2, ... until it no longer meets the failure; each
/// time with that one alone and then with all after it too. Every failing run must answer
/// `sr_errorOutOfMemory` with a sentence and leave no byte behind; the last must succeed; there must be an
/// allocation at all. The pool of workers is started before, because a loop that cannot have it does without.
void srTestEveryAllocationFails(srResult (*body)(void* context), void* context);

/// A path for a file of that name in a folder of this process's own, which is removed with its files at exit.
void srTestPath(const char* name, char* outPath, size_t pathSize);

/// A closed sphere of triangles, seen counter-clockwise from outside: a subdivided icosahedron, 20 * 4^levels
/// triangles. Free both with free().
void srTestSphere(int32_t levels, float radius, float** outPoints, int32_t* outPointCount,
                  int32_t** outTriangles, int32_t* outTriangleCount);
