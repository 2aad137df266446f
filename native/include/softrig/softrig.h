// SPDX-License-Identifier: GPL-3.0-or-later
//
// The whole contract of Softrig in one include.

#pragma once

#include "softrig/bake.h"
#include "softrig/base.h"
#include "softrig/character.h"
#include "softrig/follower.h"
#include "softrig/id.h"
#include "softrig/shot.h"
#include "softrig/weights.h"
