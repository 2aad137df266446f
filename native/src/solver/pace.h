// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether the next part of a step is shared among workers. A core that somebody else uses makes a shared part
// wait for it; so both ways are timed. What sharing wins pays for losses, up to a little: a worker that is
// interrupted once is no reason to go without it. What it lost beyond that is earned back alone before it is
// tried again. The clock chooses who computes, never what.

#pragma once

#include <stdbool.h>

typedef struct srPace {
    double aloneSeconds; ///< The best of lately; 0 before the first.
    double debtSeconds;  ///< Time to be spent alone; below zero, what sharing may lose.
    double startSeconds;
    int sharedCount; ///< Parts since the last one alone.
    bool isShared;
} srPace;

/// What to do with little things between parts, which are not timed.
bool srPace_IsForSharing(const srPace* pace);

/// Begins a part. False: the calling thread does it by itself.
bool srPace_Begin(srPace* pace);
void srPace_End(srPace* pace);
