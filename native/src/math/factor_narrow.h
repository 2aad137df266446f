// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inner to factor*.c: narrow panels as part of a factor (factor.h says what they are).

#pragma once

#include "math/factor.h"

/// Rounds the float panels again, where there are narrow ones.
void srRefillNarrow(srFactor* factor);
