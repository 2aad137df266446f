// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a fuzz target is: a function that takes any bytes and must come back, and valid inputs to begin from.
// Each fuzz_<name>.c defines one; driver.c runs it with a mutation loop of its own, libfuzzer.c hands it to
// clang's. Whoever adds a reader of files adds its fuzz_read_<name>.c, and a line in coverage.sh: nothing
// else is needed. A target stops the program (srFuzzRequire) when a promise is broken; crashes, leaks and
// undefined behaviour are the sanitizers' part.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void srFuzzSeedFcn(const void* bytes, size_t size, void* context);

typedef struct srFuzzTarget {
    const char* name;

    /// True when the bytes were something that the code under test accepts: both ends must be met.
    bool (*run)(const uint8_t* bytes, size_t size);

    /// Hands over valid inputs, one after the other.
    void (*visitSeeds)(srFuzzSeedFcn* visit, void* context);

    const char* const* words; ///< What the format is made of; ends with null.
    size_t maxSize;           ///< Inputs grow no longer.
} srFuzzTarget;

/// The one target of this program.
extern const srFuzzTarget srFuzzTheTarget;

/// Ends the program with a sentence, as a sanitizer does, when a promise does not hold.
#define srFuzzRequire(holds) ((holds) ? (void)0 : srFuzzStop(#holds, __FILE__, __LINE__))
_Noreturn void srFuzzStop(const char* promise, const char* file, int line);
