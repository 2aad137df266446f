// SPDX-License-Identifier: GPL-3.0-or-later
//
// One line on stderr that says how far something is; silent unless stderr is a terminal.

#pragma once

#include <stdbool.h>

typedef struct srCliProgress {
    const char* doing;
    bool isShown;
    int percent; ///< What stands on the line; -1 for nothing.
} srCliProgress;

srCliProgress srCliBeginProgress(const char* doing);
void srCliProgress_Show(srCliProgress* progress, float fraction);

/// Clears the line.
void srCliProgress_End(srCliProgress* progress);
