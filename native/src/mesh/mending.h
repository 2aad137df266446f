// SPDX-License-Identifier: GPL-3.0-or-later
//
// A cage whose skin goes on where its cells do not is made once more. There thin flesh fell between the
// points of the lattice, or ways through it, which are straight, left it where it is bent, and it was taken
// for parts that touch. Inner to the mesher.

#pragma once

#include "mesh/trial.h"

/// Puts a trial of the same lattice that is torn less in the place of a torn one, if there is one that is no
/// worse otherwise; what is not torn stays as it is. The trial is split. Nothing more is tried once it took
/// that much work (srTrial_Work), nor with a crowd of pieces.
SR_MUST_USE srResult srMendTears(const srMeshing* meshing, double mostWork, const srProgress* progress,
                                 srTrial* trial);
