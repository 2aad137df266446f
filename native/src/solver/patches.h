// SPDX-License-Identifier: GPL-3.0-or-later
//
// Volumes of patches. A volume that each cell keeps by itself locks a cage when it is nearly or wholly
// constant: there are more cells than motions. So beyond Poisson's ratio 0.45 patches of up to eight
// neighbouring cells, which do not overlap, keep most of it. Inner to flesh.h.

#pragma once

#include "solver/flesh.h"

struct srFleshPatches {
    srPatch* patches; ///< In the order of solving.
    int32_t patchCount;
    srChunks chunks;
};

SR_MUST_USE srResult srCreateFleshPatches(const srFleshShape* shape, const srFleshRest* rest,
                                          srFleshPatches** outPatches);
void srDestroyFleshPatches(srFleshPatches* patches);
