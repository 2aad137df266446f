// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "solver/flesh.h"
static inline srResult srCreateFleshPatches(const srFleshShape* s, const srFleshRest* r, srFleshPatches** o){(void)s;(void)r;*o=NULL;return sr_success;}
static inline void srDestroyFleshPatches(srFleshPatches* c){(void)c;}
