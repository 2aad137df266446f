// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wide kernels of this room: cells (cells.h), rows of points (pointrows.h) and rows of a rig (rigrows.h),
// a table for each path of simd_path.h. Inner to cells.c, pointrows.c, rigrows.c and the files that make a
// table.

#pragma once

#include "solver/cells.h"
#include "solver/rigrows.h"

/// What a kernel of cells works on; blocks are given beside it. What a kernel does not need is null.
typedef struct srCellTask {
    const srCellLayout* layout;
    const srCellShapes* shapes;
    const srCellStretches* stretches;
    const srCellPosing* posing;
    const srCellTurns* turns;
    const double* points;
    double* forces; // rows that are added to
    const float* directions;
    float* products;
    double* partials; // one a chunk
    int32_t parity;   // of the chunks that are being worked on
} srCellTask;

/// What the functions on rows want is said with those who call them (pointrows.c, rigrows.h).
typedef struct srNewtonTable {
    void (*pose)(const srCellTask* task, int32_t begin, int32_t end);
    double (*evaluate)(const srCellTask* task, int32_t begin, int32_t end);
    void (*multiplyHessian)(const srCellTask* task, int32_t begin, int32_t end);
    double (*dotRows)(const float* x, const float* y, int32_t count);
    double (*dotPacked)(const float* x, const float* y, int32_t count);
    void (*turnRows)(const float* z, float beta, const float* diagonal, float* p, float* q, int32_t count);
    double (*advanceRows)(float alpha, const float* p, const float* q, float* d, float* r, int32_t count);
    void (*multiplyBones)(const srRigRows* rows, const double* x, double* y, int32_t begin, int32_t end);
    void (*multiplyBonesFloat)(const srRigRows* rows, const float* x, int32_t width, double* y, int32_t begin,
                               int32_t end);
    void (*subtractBones)(const srRigRows* rows, const double* y, double* x, int32_t begin, int32_t end);
} srNewtonTable;

extern const srNewtonTable srNewtonTableScalar, srNewtonTableAvx2, srNewtonTableAvx512, srNewtonTableNeon;

/// The table of the path that srGetSimdPath tells.
const srNewtonTable* srGetNewtonTable(void);
