// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a linear rig can do by itself, as rows C of a constraint C u = 0: with J the constant Jacobian of
// linear blend skinning, w_ik [X_i; 1] for bone k, these are the rows of J' M D (M masses, D the hold map),
// the same for x, y and z. Rows that depend on others (bones with the same weights, bones that hold nothing)
// are left out. Of those that nearly do, less than 1e-4 of their length being left, what is left stands as
// rows of its own, at right angles with all others: so a product with any row that was left out is zero too.
// Lives here: the rows, their choice, products with them. Does not: who must obey them.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

#define SR_RIG_PIECE 512

/// Weights of nodes on bones, sparse: node i owns entries starts[i] .. starts[i + 1] - 1.
typedef struct srRigWeights {
    const int32_t* starts;
    const int32_t* bones;
    const double* weights;
    int32_t boneCount;
} srRigWeights;

/// Bone k has the nodes of entries starts[k] .. starts[k + 1] - 1, and four candidate rows: [X; 1] in
/// coordinates of its own, about the centre of what it holds, each of unit length in the metric of 1 / M.
/// Owns its arrays.
typedef struct srRigRows {
    int32_t nodeCount;
    int32_t boneCount;
    int32_t rowCount;       ///< Candidates that were taken, and behind them
    int32_t remainderCount; ///< what is left of others.
    int32_t entryCount;
    int32_t* starts; ///< boneCount + 1
    int32_t* nodes;  ///< an entry; of a bone in rising order
    int32_t*
        pieceStarts; ///< Of each piece of SR_RIG_PIECE nodes and each bone: its first entry; and the ends.
    double (*values)[4]; ///< an entry, of the four candidates
    float (*valuesF)[4];
    int32_t (*places)[4]; ///< Of a bone's candidates among the rows; SR_NULL_INDEX for what is left out.
    double* remainders;   ///< Dense unit vectors, one after the other.
    double* lengths;      ///< Of the rows, in the plain metric.
    double* gram;         ///< The factor of C C', as srFactorSmall leaves it; null without rows.
} srRigRows;

/// `masses` and `holds` one a node; bones without a node that has all of mass, hold and weight have no rows.
SR_MUST_USE srResult srCreateRigRows(const srVec3* nodes, const double* masses, const double* holds,
                                     int32_t nodeCount, const srRigWeights* weights, srRigRows* outRows);

/// Rows of another space than the rig's: of `vectorCount` vectors (one number a node each, one after the
/// other, at best orthonormal in the metric M) the rows v' M D, taken four by four as if they were a bone's.
/// A vector of which hardly anything is held has no row, and those that depend on others have none.
SR_MUST_USE srResult srCreateSpaceRows(const double* vectors, int32_t vectorCount, const double* masses,
                                       const double* holds, int32_t nodeCount, srRigRows* outRows);

/// Accepts zeroed rows.
void srDestroyRigRows(srRigRows* rows);

/// y = C x: `x` rows of x, y, z, 0 a node, `y` likewise a row of C.
void srRigRows_Multiply(const srRigRows* rows, const double* x, double* y);

/// y = C x for x of three floats a node.
void srRigRows_MultiplyFloat(const srRigRows* rows, const float* x, double* y);

/// |C' (C C')^-1 C x|^2, x of rows of four floats: by how much the square of its length is larger than that
/// of the nearest x with C x = 0.
double srRigRows_MeasureRange(const srRigRows* rows, const float* x, double* scratch);

/// Writes row `row` of C as a dense vector, one number a node.
void srRigRows_GetRow(const srRigRows* rows, int32_t row, double* outValues);

/// How many rows of four numbers scratch has.
int32_t srRigRows_GetScratchRowCount(const srRigRows* rows);

/// x -= C' (C C')^-1 C x: the nearest x with C x = 0.
void srRigRows_Project(const srRigRows* rows, double* x, double* scratch);

/// Likewise; returns the product of what becomes of x with y, which may be x. `nodeCount` is that of x, as
/// rows of nothing have none; `partials` has room for a number a piece.
double srRigRows_ProjectAndDot(const srRigRows* rows, double* x, const double* y, int32_t nodeCount,
                               double* scratch, double* partials);
