// SPDX-License-Identifier: GPL-3.0-or-later
//
// Put before every line of TetGen by the compiler: what differs between C libraries, replaced by our own, so
// that the same surface gives the same cells everywhere.

#pragma once

#include <math.h>
#include <stdlib.h>

int srPortableRandom();
void srPortableSeed(unsigned seed);
double srPortableCos(double angle);
double srPortableAcos(double cosine);

#define rand srPortableRandom
#define srand srPortableSeed
#define cos srPortableCos
#define acos srPortableAcos
