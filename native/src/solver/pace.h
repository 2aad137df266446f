// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether the next part of a step is shared among workers. A core that somebody else uses makes a shared part
// wait for it; so both ways are timed, and what sharing lost is earned back alone before it is tried again.
// The clock chooses who computes, never what.

#pragma once

#include <stdbool.h>

typedef struct srPace {
    double aloneSeconds; ///< The best of lately; 0 before the first.
    double debtSeconds;  ///< Time to be spent alone.
    double startSeconds;
    bool isShared;
} srPace;

/// Begins a part. False: the calling thread does it by itself.
bool srPace_Begin(srPace* pace);
void srPace_End(srPace* pace);
