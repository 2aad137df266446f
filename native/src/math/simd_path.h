// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which instructions the kernels of this process use. Chosen once, by what the processor can do; all paths
// give the same bits (simd.h), so the choice is about time alone.

#pragma once

#include <stdbool.h>

typedef enum srSimdPath {
    sr_simdScalar,
    sr_simdAvx2,
    sr_simdNeon,
    sr_simdAvx512, ///< Kernels that gain nothing from it take AVX2.
} srSimdPath;

#define SR_SIMD_PATH_COUNT 4

/// The path that kernels take. Thread-safe.
srSimdPath srGetSimdPath(void);

/// Whether this build has the path and this processor can run it.
bool srHasSimdPath(srSimdPath path);

/// For tests and benches: all calls that begin afterwards take this path. False, and nothing changes, when it
/// is not there.
bool srForceSimdPath(srSimdPath path);

/// A name for reports: "scalar", "avx2", "neon", "avx512".
const char* srGetSimdPathName(srSimdPath path);
