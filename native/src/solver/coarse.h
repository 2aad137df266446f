// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "solver/flesh.h"
static inline srResult srCreateCoarseRest(const srFleshShape* s, const srFleshRest* r, srCoarseRest** o){(void)s;(void)r;*o=NULL;return sr_success;}
static inline void srDestroyCoarseRest(srCoarseRest* c){(void)c;}
