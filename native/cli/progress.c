// SPDX-License-Identifier: GPL-3.0-or-later
//
// The progress line.

#include "cli/progress.h"

#include "cli/system.h"

#include <stdio.h>

srCliProgress srCliBeginProgress(const char* doing) {
    return (srCliProgress){.doing = doing, .isShown = srCliIsTerminal(stderr), .percent = -1};
}

void srCliProgress_Show(srCliProgress* progress, float fraction) {
    int percent = (int)(100.0f * fraction);
    if (progress->isShown && percent != progress->percent) {
        fprintf(stderr, "\r%s %3d %%", progress->doing, percent);
        fflush(stderr);
        progress->percent = percent;
    }
}

void srCliProgress_End(srCliProgress* progress) {
    if (progress->percent >= 0) {
        fputs("\r\033[K", stderr);
        progress->percent = -1;
    }
}
