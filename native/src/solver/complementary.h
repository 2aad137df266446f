// SPDX-License-Identifier: GPL-3.0-or-later
//
// Complementary dynamics (Zhang, Bang, Levin, Jacobson 2020): elastodynamics of the cage, kept orthogonal to
// whatever the rig could have done by itself, so that physics never fights the pose. Index arrays, not
// meshes.
//
// Each substep minimises, over the secondary motion u,
//   1/2 u'(M/h^2 + alpha M/h + k) u - u' load + sum over cells mu V |F(p + u) - Q S|^2   with   C u = 0,
// and what patches of cells store of their volume; C the rows of J' M D (rigrows.h), S the stretch of the
// posed cell (cells.h). The quadratic part and the
// Laplacian of the cells make a constant matrix A, the same for x, y and z, factored beforehand; it is the
// preconditioner of an inexact Newton method that goes on until the residual is below a tolerance. The
// residual is |P g| / |P g at the last offsets|, g the gradient, P the projection onto C g = 0.
//
// symbols: p primary, u offset, w its velocity, h substep (2/3 of it with BDF2), alpha damping, k floor, t
// lateness (settle.h)

#pragma once

#include "core/error.h"
#include "elastic/material.h"
#include "math/mat3.h"
#include "math/solve.h"
#include "math/thin.h"
#include "math/vec3.h"
#include "solver/cells.h"
#include "solver/rigrows.h"
#include "solver/settle.h"

#include <stdint.h>

/// What never changes, in rest units. Owns its arrays.
typedef struct srComplementaryRest {
    int32_t nodeCount;
    int32_t cellCount;
    double size;         ///< Of the box around all nodes, corner to corner.
    double* nodeVolumes; ///< A quarter of each cell's volume to each corner.
    srCellLayout layout;
    srMat3* inverses; ///< B of each cell (cells.h), in the caller's order; likewise:
    double* volumes;
    int32_t (*corners)[4];
    int32_t (*entries)[10]; ///< Where each pair of corners stands in the matrix.
    srCsc pattern;          ///< Lower triangle of A, with values of no meaning.
    int32_t* order;         ///< In which to eliminate.
    srRigRows rows;
    bool* isFixed; ///< Of each node; null where none is.
    int32_t fixedCount;
    int32_t* fixedNodes; ///< In rising order.
} srComplementaryRest;

/// All arrays are copied. Cells must have positive volume. Nodes that are numbered near their neighbours
/// (cage.h) let more workers work.
typedef struct srComplementaryShape {
    const srVec3* nodes;
    int32_t nodeCount;
    const int32_t (*cells)[4];
    int32_t cellCount;
    srRigWeights weights;
    const double* holds;   ///< D: 0 to 1, or of any unit.
    const bool* isFixed;   ///< Nodes with u = 0, to the bit, whatever pulls; null for none. Rows are of the
                           ///< others: what does not move needs no constraint.
    const double* vectors; ///< Null: rows of the rig. Else rows of this space (srCreateSpaceRows),
    int32_t vectorCount;   ///< orthonormal by the volumes of nodes; of none no rows.
} srComplementaryShape;

SR_MUST_USE srResult srCreateComplementaryRest(const srComplementaryShape* shape,
                                               srComplementaryRest* outRest);

/// Accepts a zeroed rest.
void srDestroyComplementaryRest(srComplementaryRest* rest);

/// Material and dials, in world units.
typedef struct srComplementaryDials {
    srMaterial material;
    srElasticModel model;
    double scale;          ///< World units a rest unit.
    bool isMirrored;       ///< The world sees the rest shape in a mirror, in which its x turns round.
    double frequency;      ///< Hz of the pull to the pose.
    double dampingRate;    ///< alpha, 1/s: a swing shrinks as exp(-alpha t / 2).
    double swingFrequency; ///< Hz of the swing of which that shall be true as it is shown, whatever the steps
                           ///< (settle.h); 0: alpha is taken as it is, by the plain formula.
    double poseCorrection; ///< c: 0 keeps the posed shape, 1 goes back to the modelled one. Other models than
                           ///< ARAP know 1 alone.
    double frameSeconds;
    double largestOffset; ///< Offsets are held within this.
    srVec3 gravity;       ///< Every node is pulled by m (gravity - R restGravity), R the turn of the posed
    srVec3
        restGravity; ///< cells around it: nothing for the shape as it was modelled. Zero for plain gravity.
    int32_t substeps;
    srIntegrator integrator;
    double tolerance;             ///< The residual at which a substep is done; with a swing frequency less,
                                  ///< if else it were what is unsolved that decides when a swing ends.
    int32_t newtonLimit;          ///< Steps of Newton's method a substep at most,
    int32_t innerLimit;           ///< and products with the Hessian.
    const float* cellStiffnesses; ///< Factors, one a cell; null is 1. Copied; likewise:
    const float* cellPoissons; ///< Poisson's ratio, one a cell, 0 to 0.5; null is the material's. Likewise:
    const float* nodePulls;    ///< Factors of the pull, one a node; likewise:
    const float* nodeMasses;   ///< of the mass,
    const float* nodeDampings; ///< and of the damping.
} srComplementaryDials;

/// BDF2, two substeps, tolerance 2e-2 (docs/decisions/0041), 20 and 200 steps; all else zero.
srComplementaryDials srDefaultComplementaryDials(void);

/// The dials spread over nodes and cells, and the factor. Owns its arrays.
typedef struct srComplementaryTuning {
    srComplementaryDials dials;
    double h;              ///< Of the implicit formula: 2/3 of a substep with BDF2.
    double lateness;       ///< 1: the plain formula (settle.h).
    double dampingRate;    ///< alpha that the formula is given.
    double dampingStep;    ///< 2/3 of a substep with BDF2: what damping takes for a step.
    double diagonalLength; ///< Of the diagonal of A.
    double restEnergy;     ///< Of what materials other than ARAP sum up at rest, before it cancels.
    double* masses;        ///< M
    double* drags;         ///< alpha M / h
    double* diagonal;      ///< M/h^2 + alpha M/h + k
    float* diagonalF;
    srCellShapes shapes;
    srCsc A;
    struct srCholesky* cholesky;
    srFactor factor;
    srThin responses; ///< A^-1 C'; zeroed without rows.
    double* schur;    ///< The factor of C A^-1 C'; null without rows.
} srComplementaryTuning;

/// Room for the tuning of a rest, and the symbolic half of the factor.
SR_MUST_USE srResult srCreateComplementaryTuning(const srComplementaryRest* rest,
                                                 srComplementaryTuning* outTuning);
void srDestroyComplementaryTuning(const srComplementaryRest* rest, srComplementaryTuning* tuning);

/// Sets all dials: a numeric factorisation. `sr_errorInvalidValue` for a pose correction that the model does
/// not know. After a failure it may only be set again or destroyed.
SR_MUST_USE srResult srComplementaryTuning_Set(srComplementaryTuning* tuning, const srComplementaryRest* rest,
                                               const srComplementaryDials* dials);

/// The square of a swing's frequency, in parts of that of the dials: what the pull to the pose makes of it,
/// and what the flesh's own stiffness does.
typedef struct srComplementarySwing {
    double pull;
    double elastic;
} srComplementarySwing;

/// About that of the swings which begin when all flesh is pushed along an axis, as by a stop; zero where none
/// moves. `nodes` as they were prepared, in the dials' world; of the dials those of material, pull and size
/// count, and the frequency must be positive. The tuning is then to be set anew.
SR_MUST_USE srResult srFindComplementarySwing(const srComplementaryRest* rest, const srVec3* nodes,
                                              const srComplementaryDials* dials,
                                              srComplementaryTuning* tuning, srComplementarySwing* outSwing);

/// What moves, a number of points each; all zero at rest. The arrays are the caller's, and hold the end of
/// the last frame on entry and of the new one on return.
typedef struct srComplementaryState {
    srVec3* offsets;           ///< u
    srVec3* velocities;        ///< w
    srVec3* earlierOffsets[2]; ///< u one and two substeps ago.
    srVec3* earlierVelocities; ///< w one substep ago.
    void* scratch;             ///< At a multiple of 64; of no meaning between frames.
    srVec3* accelerations;     ///< What pulled at u at the last substep, over M, but for damping; may be null
                               ///< where the plain formula is taken.
} srComplementaryState;

/// Bytes of scratch for a step.
size_t srComplementary_GetScratchSize(const srComplementaryRest* rest, const srComplementaryTuning* tuning);

/// The rig's motion over one frame. All arrays one entry a node.
typedef struct srComplementaryMotion {
    const srVec3* from;         ///< p at the last frame, relative to the same origin as `to`.
    const srVec3* to;           ///< p at this frame.
    const srVec3* velocityJump; ///< How much the rig's velocity differs from that of the frame before.
    const srVec3* forces;       ///< In newtons, over the whole frame; null for none.
    const srMat3* turns; ///< How the rig turned the flesh from the last frame to this one: damping acts on
                         ///< what u does against that. Rotations; null for none.
    double pressure; ///< By how much of itself flesh wants to be larger: above -1, up to 1,000. Flesh whose
                     ///< Poisson's ratio is 0 everywhere does not feel it.
} srComplementaryMotion;

/// What a frame took, all substeps together. A residual is zero when its forces are below 1e-14 of what the
/// diagonal of A makes of the distance to the origin, or of the cage's size: those are rounding.
typedef struct srComplementaryStats {
    double residual;        ///< The largest at the end of a substep.
    double orthogonality;   ///< Of the last substep: |C u| of the worst row, with unit rows and |u|.
    int32_t newtonCount;    ///< Steps of Newton's method.
    int32_t innerCount;     ///< Products with the Hessian, each with a solve.
    int32_t evaluateCount;  ///< Gradients.
    int32_t curvatureCount; ///< How often the Hessian was not positive.
    int32_t missedCount;    ///< Substeps that ended above the tolerance.
    bool isLimited;         ///< Offsets were brought within the largest one.
    bool isSkipped;         ///< The rig's motion was not finite: all motion was taken out instead.
} srComplementaryStats;

/// One frame. Allocates nothing; no input gives a NaN.
void srComplementary_StepFrame(const srComplementaryRest* rest, const srComplementaryTuning* tuning,
                               const srComplementaryMotion* motion, srComplementaryState* state,
                               srComplementaryStats* outStats);
