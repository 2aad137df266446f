// SPDX-License-Identifier: GPL-3.0-or-later
//
// Soft flesh from physical material: one block a cell that holds shape and volume together, eight cells at a
// time. The secondary motion u on top of a prescribed primary motion p, as in xpbd.h, and with its shape of
// interface: rest, tuning, state, one step a frame. Index arrays, not meshes.
//
// Shape is measured against the posed cell, so that u = 0 is at rest in every held pose, to the bit. Within a
// frame that pose is taken at the middle of each of `poses` equal parts.
//
// symbols: p primary, u offset, w its velocity, h substep, F deformation gradient, R its rotation

#pragma once

#include "core/error.h"
#include "math/vec3.h"
#include "solver/batches.h"
#include "solver/solver_kernels.h"
#include "solver/xpbd.h"

#include <stdint.h>

typedef struct srFleshPatches srFleshPatches;
typedef struct srCoarseRest srCoarseRest;
typedef struct srCoarse srCoarse;

/// Volumes of eight cells, in rest units.
typedef struct srCellVolumes {
    alignas(32) float V[SR_LANES_PER_BLOCK];
} srCellVolumes;

/// Along what eight cells resist stretch more than across, by the square of `root`: unit vectors, and roots
/// of 1 where there is none. A cell stores mu V |(F - R) L|^2 with L = I + (root - 1) d d', and R is what
/// makes that least. Its gradients are those of the shape functions times L, so that the block solves F L.
typedef struct srCellFibres {
    alignas(32) float d[3][SR_LANES_PER_BLOCK];
    float root[SR_LANES_PER_BLOCK];
} srCellFibres;

/// What hangs together, by cells or ties, is a piece. Sums over pieces go by ranges of nodes: in each range a
/// piece has a seat of its own (flesh_spin.h). Owns its arrays.
typedef struct srFleshPieces {
    int32_t pieceCount;
    int32_t seatCount;
    int32_t* seats;      ///< Of each node.
    int32_t* seatPieces; ///< Whose seat it is.
    int32_t* rangeSeats; ///< A range's first seat; and `seatCount`.
} srFleshPieces;

/// What never changes, in rest units (skin space). Owns its arrays.
typedef struct srFleshRest {
    int32_t nodeCount;
    int32_t rowCount;   ///< Nodes, and one row a chunk that lanes without a cell name.
    float* nodeVolumes; ///< A quarter of each cell's volume to each corner.
    float* holds;       ///< 0 to 1; 1 follows the rig exactly.
    float* boneDistances;
    srBatches batches;
    int32_t* evenStarts;    ///< First nodes of the even chunks, whose nodes lie one behind the other, and
                            ///< nodeCount.
    srCellBlock* blocks;    ///< A block a batch.
    srCellVolumes* volumes; ///< Likewise.
    srCellFibres* fibres;   ///< Likewise; null when all cells are alike in all directions.
    int32_t (*ties)[2];     ///< In the order of solving.
    srChunks tieChunks;
    srFleshPieces pieces;
    srFleshPatches* patches;
    srCoarseRest* coarse; ///< Null when there is no coarse correction.
} srFleshRest;

typedef struct srFleshShape {
    const srVec3* nodes;
    int32_t nodeCount;
    const int32_t (*cells)[4]; ///< What has no positive volume, or names a node twice, counts as no cell.
    int32_t cellCount;
    const float* holds;
    const float* boneDistances;
    const srVec3* fibres; ///< Of each cell a direction, as long as what resists stretch along it is times as
                          ///< stiff (below 1 softer; zero is none), or null.
    const int32_t (*ties)[2]; ///< Two nodes each, whose distance has limits (srFleshDials); or null.
    int32_t tieCount;
    int32_t handleCount; ///< Smooth handles of the coarse correction; 0 is none.
} srFleshShape;

/// Handles that artists get: as many as bring the first frequency of a slender body within 3 %
/// (docs/decisions/0048).
#define SR_USUAL_HANDLES 12

/// Likewise the viscosity, of a frame: quick swings fade as under it, as far as substeps can give it.
#define SR_USUAL_VISCOSITY 0.06

/// Copies what it keeps. `sr_errorBadMesh` when an index is out of range or a number is not finite.
SR_MUST_USE srResult srCreateFleshRest(const srFleshShape* shape, srFleshRest* outRest);

/// The gradient of a shape function as it was before fibres: L^-1 g.
static inline void srUnstretch(const srCellFibres* fibres, int lane, float g[3]) {
    float root = fibres->root[lane];
    float along = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        along += fibres->d[axis][lane] * g[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        g[axis] += (1.0f / root - 1.0f) * along * fibres->d[axis][lane];
    }
}

/// Accepts a zeroed rest.
void srDestroyFleshRest(srFleshRest* rest);

typedef enum srFleshIntegrator {
    sr_fleshTheta, ///< Forces at a share of the substep; needs no past.
    sr_fleshBdf2,  ///< Second order; damps what the dials say, without viscosity. Remembers a substep. What
                   ///< one sweep leaves unsolved may feed a swing (docs/decisions/0036); several sweeps do
                   ///< not.
} srFleshIntegrator;

/// Material and dials, as a step needs them. Maps are one factor a cell of the shape, or null for 1
/// everywhere (of damping and of the pull: one a node); they are read by srFleshTuning_Set alone.
typedef struct srFleshDials {
    double youngModulus; ///< Pa
    double poissonRatio; ///< 0 to 0.5
    double density;      ///< kg/m^3
    const float* stiffnessMap;
    const float* poissonMap; ///< Poisson's ratios themselves, not factors.
    const float* densityMap;
    const float* dampingMap; ///< Factors of the damping rate, one a node.
    const float* pullMap;    ///< Factors of the pull to the pose (of its stiffness), one a node.
    double scale;            ///< World units a rest unit.
    bool isMirrored;         ///< The world sees the rest shape in a mirror.
    double frequency;        ///< Hz of the pull to the pose.
    double dampingRate; ///< 1/s: a swing shrinks as exp(-dampingRate t / 2). Below zero it is taken off what
                        ///< the steps damp by themselves, as far as that is safe.
    double swing;     ///< Hz, of flesh its slowest swing: what steps damp that by themselves is taken off the
                      ///< rate. Zero takes nothing off, and then few steps damp quick swings more.
    double viscosity; ///< s: damps a swing of frequency f by the share pi f viscosity of critical. From 0.4 h
                      ///< to h, h the substep. With several sweeps from 0, which keeps energy; but from 0.2 h
                      ///< where patches keep volume, and from 0.4 h where flesh is too stiff for the sweeps.
    double poseCorrection; ///< 0 to 1.
    double frameSeconds;
    double largestOffset; ///< Offsets are held within this, in world units.
    int32_t substeps;
    int32_t sweeps; ///< Of all cells in a substep. More than 1 goes without the coarse correction, towards
                    ///< the exact solution of the substep; for a result, substeps are the better buy.
    int32_t poses;  ///< Parts of a frame, each with its own pose; 1 to `substeps`.
    srFleshIntegrator integrator;
    double leastLength;  ///< Ties grow no shorter than this share (0 to 1) of their length in the pose,
    double mostLength;   ///< and no longer than this one (at least 1); zero is no limit. Likewise
    double leastVolume;  ///< cells, whose volume may so swell but not collapse,
    double mostVolume;   ///< or the other way.
    srVec3 floorNormal;  ///< Of a plane, in the world; zero is none.
    double floorHeight;  ///< No free node sinks below x . floorNormal = floorHeight, x as the motion has it.
    double friction;     ///< Coulomb's coefficient on the floor.
    double mostUnsolved; ///< What a sweep may leave unsolved of a cell that maps make stiffer or lighter than
                         ///< most; beyond, as much less contrast. Zero is no limit, nor one of what fibres
                         ///< make stiff, which else is ten.
    bool isUncompensated; ///< What one sweep leaves too soft is not made up for.
} srFleshDials;

/// Where in a substep of one sweep forces are taken, without viscosity. What one sweep leaves unsolved may
/// feed a swing; taken this late, forces damp more than that, by beam trials over softness, Poisson's ratio
/// and with the coarse correction. At 0.6 the nearly incompressible ones blow up.
#define SR_LEAST_THETA 0.7

/// Likewise of several sweeps where patches keep volume: taken just in the middle, what keeps a volume
/// exactly turns its error round in every substep, and feeds it; at 0.55 it still throws what is bent.
#define SR_PATCHED_THETA 0.6

/// That and viscosity: a share theta of the step damps as much as a viscosity of (2 theta - 1) h. With BDF2
/// the implicit step is 2/3 of the substep, and so is that of its first.
double srFleshDials_FindTheta(const srFleshDials* dials);

/// The dials spread over nodes and cells. Owns its arrays.
typedef struct srFleshTuning {
    srFleshDials dials;
    double h;             ///< The substep.
    double theta;         ///< Where in the substep forces are taken: 1/2 its middle, 1 its end. Later than by
                          ///< the dials alone where several sweeps are not enough for forces in the middle.
    double massUnit;      ///< What inverse masses are relative to.
    float* weights;       ///< Inverse mass, pull to the pose and damping included; 0 follows the rig exactly.
    float* carries;       ///< What the pull to the pose and the damping leave of a predicted move.
    float* pulls;         ///< What the pull to the pose takes of an offset.
    srCellBlock* blocks;  ///< As the rest's, along axes of their own (see srCellMaterial).
    srCellFibres* fibres; ///< Likewise; null when the rest has none.
    srCellMaterial* materials;
    srCellForceMaterial* forceMaterials; ///< Only with coarse correction.
    srCoarse* coarse;
    float* easedMaps; ///< Stiffness of all cells, then density: where contrast is more than sweeps solve.
    float* patchCompliances; ///< Of volumes that patches keep; negative where they keep none.
    bool hasPatches;
    bool* loosePieces; ///< None of whose nodes is held or pulled.
    bool hasLoosePieces;
    bool isLoose; ///< All pieces are.
} srFleshTuning;

/// Room for the tuning of a rest.
SR_MUST_USE srResult srCreateFleshTuning(const srFleshRest* rest, srFleshTuning* outTuning);
void srDestroyFleshTuning(const srFleshRest* rest, srFleshTuning* tuning);

/// Spreads the dials over nodes and cells. Out of range values are taken as the nearest end of it.
SR_MUST_USE srResult srFleshTuning_Set(srFleshTuning* tuning, const srFleshRest* rest,
                                       const srFleshDials* dials);

/// Substeps (1 to 64) that this material would need for first frequencies within 5 % of converged ones, by
/// how soft one sweep of its cells is; the dials' own number does not matter.
int32_t srFleshTuning_ChooseSubsteps(const srFleshTuning* tuning, const srFleshRest* rest);

/// In a frame; quicker ones look like slower ones.
#define SR_MOST_SWINGS_SHOWN 0.5

/// How many substeps are enough where there are handles, which carry what sweeps do not, if ten are asked
/// for: three, and as many more as give a swing of that `frequency` (Hz, of elasticity alone) thirteen; with
/// which first frequencies are within a twentieth of converged. What swings more often in a frame than
/// frames can show gets all: with few, what they leave unsolved keeps slender flesh moving for ever. Of fewer
/// or more that are asked for, as large a part; but a swing gets thirteen, and one too quick for frames ten a
/// frame, however few are asked for: with fewer, steps damp what frames show, and stiff flesh heats.
int32_t srFindSubstepsWithHandles(int32_t asked, double frequency, double frameSeconds);

/// How many times as quick as the body mostly is the quickest of its cells are by their maps (a factor each,
/// or null for 1); 1 of maps that are the same everywhere.
double srFleshRest_FindContrast(const srFleshRest* rest, const float* stiffnessMap, const float* densityMap);

/// Hz of the slowest swing of what is tuned, as far as the smooth handles of the coarse correction can follow
/// it: rather a little too fast. Zero without them. For a tuning without damping, one of whose substeps is
/// about a swing long or longer: swings that differ little in a substep cannot be told apart.
double srFleshTuning_FindFrequency(const srFleshTuning* tuning, const srFleshRest* rest);

/// What a step works in. Owns its arrays.
typedef struct srFleshScratch srFleshScratch;

/// Whether any volume is to be kept by patches: beyond Poisson's ratio 0.45, or wherever a map may say so.
bool srFleshDials_WantPatches(const srFleshDials* dials);

/// Room for steps with these dials; later dials may ask for no more sweeps, pose correction, BDF2, limits or
/// patches if these had none.
SR_MUST_USE srResult srCreateFleshScratch(const srFleshRest* rest, const srFleshDials* dials,
                                          srFleshScratch** outScratch);
void srDestroyFleshScratch(srFleshScratch* scratch);

/// What moves. Arrays are the caller's, and hold the last frame on entry and the new one on return: a frame
/// depends on them and on nothing that an earlier one left in the scratch.
typedef struct srFleshState {
    srVec3f* offsets;           ///< u, world units
    srVec3f* velocities;        ///< w, world units a second
    srVec3f* earlierOffsets;    ///< u and
    srVec3f* earlierVelocities; ///< w a substep earlier. For BDF2 alone; else they may be null.
    double pastSeconds; ///< How much earlier. Zero, or another than the substep of now, begins anew: so put
                        ///< zero where the motion is cut.
    srFleshScratch* scratch;
} srFleshState;

/// One frame. `loads` are further accelerations of the nodes (world units / s^2; gravity, wind) or null.
/// Returns how many nodes had to be held within `largestOffset`. Allocates nothing; no input gives a NaN.
int32_t srFlesh_StepFrame(const srFleshRest* rest, const srFleshTuning* tuning, const srPrimaryMotion* motion,
                          const srVec3f* loads, srFleshState* state);
