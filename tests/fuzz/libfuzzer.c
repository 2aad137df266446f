// SPDX-License-Identifier: GPL-3.0-or-later
//
// The door that clang's libFuzzer comes in by. It brings main, mutations and coverage.

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    if (size <= srFuzzTheTarget.maxSize) {
        srFuzzTheTarget.run(bytes, size);
    }
    return 0;
}
