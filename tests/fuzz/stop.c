// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a target ends when a promise is broken.

#include "target.h"

#include <stdio.h>
#include <stdlib.h>

void srFuzzStop(const char* promise, const char* file, int line) {
    fprintf(stderr, "%s:%d: a promise is broken: %s\n", file, line, promise);
    abort();
}
