// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which cell of a cage holds a point: a uniform grid of boxes that list the cells they meet.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

typedef struct srCellGrid srCellGrid;

/// `cage` must outlive the grid.
SR_MUST_USE srResult srCreateCellGrid(const srCage* cage, srCellGrid** outGrid);

/// Accepts null.
void srDestroyCellGrid(srCellGrid* grid);

/// The cell that holds a finite point, with the point's barycentric weights; `SR_NULL_INDEX` when none does.
/// Of several (on a shared face) the one where the smallest weight is largest, then the one of lowest index.
/// Thread-safe.
int32_t srCellGrid_Find(const srCellGrid* grid, srVec3 point, double outWeights[4]);

/// For a point outside: of the cells that meet at `foot`, the nearest place of the cage's skin, the one in
/// which the squares of the point's weights sum to the least; ties go to the lowest index. `SR_NULL_INDEX`
/// only when no cell is at `foot`. Thread-safe.
int32_t srCellGrid_FindAt(const srCellGrid* grid, srVec3 foot, srVec3 point, double outWeights[4]);

/// Barycentric weights of any point in a cell; they sum to one to rounding.
void srFindBarycentric(const srCage* cage, int32_t cell, srVec3 point, double outWeights[4]);
