// SPDX-License-Identifier: GPL-3.0-or-later
//
// A shot: one character over one range of frames. Its rig's motion is written on the tape; a thread of the
// library simulates ahead of whoever looks, into an ordered cache of frames; offsets for the skin are read
// from there, at any frame, in any order. All functions may be called from any thread.

#pragma once

#include "softrig/base.h"
#include "softrig/character.h"
#include "softrig/id.h"

/// How the flesh behaves. Every field may change at any time (`srShot_SetParams`).
typedef struct srShotParams {
    size_t structSize; ///< Set by `srDefaultShotParams`.

    float
        frequency; ///< Hz, 0.1 to 50: how fast free flesh swings about the pose; softer is lower. Default 2.
    float settleFrames;   ///< Frames, 1 to 10,000, until a swing is below 2 % of its first peak. Default 24.
    float youngModulus;   ///< Pa, 0 to 1e9. 0 (the default) chooses it from frequency and size, so that one
                          ///< setting is right for a mouse and for a dinosaur.
    float poissonRatio;   ///< 0 to 0.5: how strongly volume is kept. Default 0.45.
    float density;        ///< kg/m^3, 1 to 100,000. Default 1,000.
    float poseCorrection; ///< 0 to 1. 0 (the default): a held pose is left exactly as it is; 1: elasticity
                          ///< pulls to the modelled shape too.
    int32_t solver;       ///< One of srSolver. Default sr_solverComplementary.
    int32_t substeps; ///< How finely a frame is divided, 1 to 100. Default 10. More is more exact and slower.
                      ///< The complementary solver takes one step of each five begun, and its tolerance
                      ///< goes with them. The fast one takes three of ten, or more where flesh swings
                      ///< quickly or is hardly damped: then up to ten, however few are asked for. The first
                      ///< takes them all, and is stiffer with more.
    float restGravity[3]; ///< m/s^2 in skin space: the gravity that the modelled shape already yields to, so
                          ///< that it does not sag twice. Default 0: the shape was modelled weightless.
    int32_t loop;         ///< One of srLoop. Default sr_loopNone.
    int32_t complement;   ///< One of srComplement. Default sr_complementAutomatic. Only the complementary
                          ///< solver knows it. Likewise:
    int32_t material;     ///< One of srMaterialKind. Default sr_materialKindRigid.
    float fibreStiffness; ///< 0.01 to 100: how many times as stiff flesh is along its bones as across them,
                          ///< as muscle is. Default 1: alike in all directions. Beyond 30 it counts as 30,
                          ///< and as less in flesh so stiff that steps do not solve it. Only the fast solver
                          ///< knows it, for bones that the character was prepared with. Likewise:
    float stretchLimit;   ///< Nothing in the flesh gets longer than so many times its length in the pose, but
                          ///< for a few hundredths when it is jerked; it may get shorter. 1 to 10, or 0 (the
                          ///< default) for no limit.
    int32_t swings;       ///< One of srSwings. Default sr_swingsFade.
} srShotParams;

/// What moves the flesh.
typedef enum srSolver {
    sr_solverXpbd = 0,  ///< Edges and volumes, position-based.
    sr_solverFlesh = 1, ///< The fast one: shape and volume of each cell together, from physical material.
    sr_solverComplementary = 2, ///< Elastodynamics orthogonal to what the rig could do by itself.
} srSolver;

/// What the complementary solver leaves to the animation: motion of this kind it does not add to what is held
/// (by bones, by the hold map, in the core), however the flesh is pushed.
typedef enum srComplement {
    sr_complementAutomatic = 0, ///< Bones, or without any bone the recorded motion.
    sr_complementBones = 1,     ///< Whatever the bones could do.
    sr_complementMotion = 2,  ///< What is recorded: affine motion of the whole, and the fewest shapes (32 at
                              ///< most) that its deformation over the range consists of but for a hundredth.
                              ///< Known when the whole range is recorded; until then affine motion alone, and
                              ///< any change of the recording simulates the whole range anew. Without bones
                              ///< the core is held: the deepest tenth of the flesh, less and less up to two
                              ///< fifths.
    sr_complementNothing = 3, ///< Nothing: the flesh is drawn to its pose, and painted holds draw harder.
} srComplement;

/// How flesh resists being stretched, beside `youngModulus` and `poissonRatio`. Small deformations are the
/// same for all.
typedef enum srMaterialKind {
    sr_materialKindRigid = 0, ///< As rigid as possible (ARAP). The only one that leaves held poses alone: for
                              ///< the others `poseCorrection` counts as 1.
    sr_materialKindCorotated = 1,  ///< The same, and each cell resists a change of volume by itself.
    sr_materialKindNeoHookean = 2, ///< Stable neo-Hookean: rubber.
    sr_materialKindStVenantKirchhoff =
        3, ///< The stiffer the more it is stretched; yields when it is crushed.
} srMaterialKind;

/// How long swings of the fast solver last, beside what `settleFrames` asks for.
typedef enum srSwings {
    sr_swingsFade = 0, ///< Quick ones fade sooner. Calm whatever the flesh is, and of least cost.
    sr_swingsLast = 1, ///< Quick ones last longer (BDF2: a fifth of that fading). Flesh much stiffer than the
                       ///< add-on's tissues, that hardly settles, may build up a swing.
    sr_swingsKeep = 2, ///< Nothing is lost but what `settleFrames` takes (forces in the middle of substeps,
                       ///< solved by twelve sweeps): some twenty times the cost.
} srSwings;

/// Whether the range is played round and round.
typedef enum srLoop {
    sr_loopNone = 0,
    sr_loopLastIsFirst = 1, ///< The last frame shows the pose of the first again (it may stand elsewhere).
    sr_loopFirstFollowsLast = 2, ///< The first frame is the one after the last.
} srLoop;

SR_API srShotParams srDefaultShotParams(void);

typedef struct srShotDef {
    size_t structSize;       ///< Set by `srDefaultShotDef`.
    srCharacterId character; ///< Must be ready.
    int32_t firstFrame;
    int32_t frameCount; ///< 1 to 1,000,000.
    double frameRate;   ///< Frames a second, 1 to 1,000; fractions are fine.
    srShotParams params;
    const float* skinToObject; ///< 16: from skin space to that of the object whose vertices the skin's
                               ///< offsets are added to, where that is another: see "skin space" in
                               ///< character.h. Copied. Null (the default): the same space.
} srShotDef;

SR_API srShotDef srDefaultShotDef(void);

typedef struct srShotStatus {
    int32_t firstFrame;
    int32_t frameCount;
    int32_t recordedFrameCount; ///< From the first frame on, without a gap.
    int32_t readyFrameCount;    ///< Likewise: what can be shown.
    bool isRunning;             ///< The worker is busy.
    int32_t limitedNodeCount;   ///< How often a node had to be held within the character's size (teleports,
                                ///< broken rigs).
    float simulationSeconds;    ///< Time spent on the ready frames since the last restart.
    float loopSeam;           ///< Of a loop: the largest jump of an offset where it closes, as a share of the
                              ///< character's size. Zero while not known and without a loop.
    int32_t loopRounds;       ///< Rounds that it took.
    srResult result;          ///< `sr_success`, or why the flesh keeps to its pose at the last ready frame.
    bool hasProvisional;      ///< `srShot_ReadProvisional` has an answer, for a frame that is not ready.
    int32_t provisionalFrame; ///< Which; 0 when there is none.
    int32_t motionShapeCount; ///< Of sr_complementMotion: how many shapes were found; zero while not known.
    float motionShapesLeft;   ///< What of the recorded deformation they leave out, as a share of it.
} srShotStatus;

/// Makes an empty tape and cache. `sr_errorNotReady` while the character is being prepared.
SR_API srResult srCreateShot(const srShotDef* def, srShotId* outShot);

/// Stops the worker and frees everything. Bakes of the shot that still run are cancelled.
SR_API srResult srDestroyShot(srShotId shot);

/// Writes recorded motion for `rowCount` frames from `firstFrame` on. A row is (1 + spaceCount + boneCount)
/// matrices: skin space to world; each armature object to world; each bone to its armature in the pose
/// (Blender's `pose_bone.matrix`). `floatCount` is that times 16 times `rowCount`, as a check. Rows are
/// compared with what is on the tape; simulation starts anew from the first that differs, and
/// `outFirstChangedFrame` (nullable) names it: `firstFrame + rowCount` when none does.
/// `sr_errorNotFinite` names the first bad matrix; then nothing was written. Rows must follow what is
/// recorded without a gap.
SR_API srResult srShot_WriteTape(srShotId shot, int32_t firstFrame, int32_t rowCount, const float* matrices,
                                 int64_t floatCount, int32_t* outFirstChangedFrame);

/// The skin is moved by something else than bones as well (lattices, shape keys, dual quaternions, bendy
/// bones, caches): what `srShot_WriteSkin` records counts from now on. `restPositions` are those that the
/// character was prepared from.
SR_API srResult srShot_FollowSkin(srShotId shot, const float* restPositions, int32_t vertexCount);

/// Writes where the deformed skin is, in skin space, for `rowCount` frames from `firstFrame` on, anywhere in
/// the range: 3 floats a vertex; `floatCount` is for all frames. Write them before the same frames of the
/// tape, or what is simulated of these is simulated again. Frames that were never written are moved by the
/// rig alone. The cage goes with the skin; what bones do counts on for holding, turning and travel.
/// Simulation starts anew from the first frame that differs, as with `srShot_WriteTape`.
SR_API srResult srShot_WriteSkin(srShotId shot, int32_t firstFrame, int32_t rowCount, const float* positions,
                                 int64_t floatCount, int32_t* outFirstChangedFrame);

/// What the artist keys beside the rig. Units are the world's: metres where one unit is one metre.
typedef struct srFrameControls {
    size_t structSize; ///< Set by `srDefaultFrameControls`.
    float gravity[3];  ///< m/s^2 in the world, up to 1e6. Default 0.
    float wind[3];     ///< Velocity of the air in m/s in the world, up to 1e4. Default 0.
    float windGusts;   ///< 0 to 1: how much the wind swells and drops. Default 0.
    float travelFelt; ///< 0 to 1: how much of the travel and turning of the character's root the flesh feels;
                      ///< at 0 it only feels what the rest of the body does. Default 1.
    float pressure;   ///< -0.9 to 10: by how much of itself the flesh wants to be larger than it is. Only the
                      ///< complementary solver knows it, and only above Poisson's ratio 0. Default 0.
    bool isCut; ///< The rig jumps between the frame before and this one: the flesh goes along as if nothing
                ///< had happened. Default false.
} srFrameControls;

SR_API srFrameControls srDefaultFrameControls(void);

/// Writes controls for `rowCount` frames from `firstFrame` on, anywhere in the range, before or after the
/// rig's motion is recorded. Frames that were never written have the default. Simulation starts anew from the
/// first that differs, named by `outFirstChangedFrame` (nullable; `firstFrame + rowCount` when none does).
SR_API srResult srShot_WriteControls(srShotId shot, int32_t firstFrame, int32_t rowCount,
                                     const srFrameControls* controls, int32_t* outFirstChangedFrame);

/// Changes how the flesh behaves, and simulates the range anew when anything differs.
SR_API srResult srShot_SetParams(srShotId shot, const srShotParams* params);

SR_API srResult srShot_GetStatus(srShotId shot, srShotStatus* outStatus);

/// Waits until `frame` is ready, at most `seconds` (negative: for ever). Frames outside of the range count as
/// their nearest one. `sr_errorNotReady` when time ran out or when the frame is not recorded.
SR_API srResult srShot_WaitFrame(srShotId shot, int32_t frame, double seconds);

/// The offset of each skin vertex at `frame`, in skin space or, with `skinToObject`, in the object's: 3
/// floats a vertex. Between frames it is interpolated linearly; outside of the range the nearest frame is
/// held, of a loop the nearest one of the round before or to come. When the frame is not ready all offsets
/// are written as zero and the answer is `sr_errorNotReady`.
SR_API srResult srShot_ReadOffsets(srShotId shot, double frame, float* outOffsets, int32_t vertexCount);

/// Asks for a provisional frame where somebody looks: before it goes on, the worker plays a few frames up to
/// `frame` with the settings of now, from a state that it kept from earlier ones. It shows in a moment about
/// what the frame will be; frames that are simulated do not depend on it. Of several wishes the last counts;
/// a frame that is ready or not recorded is not made. `sr_errorInvalidValue` outside of the range.
SR_API srResult srShot_AskProvisional(srShotId shot, int32_t frame);

/// As `srShot_ReadOffsets`, of the provisional frame that is there (`srShotStatus.provisionalFrame`). It goes
/// when anything that the shot is simulated from changes. Else zeros and `sr_errorNotReady`.
SR_API srResult srShot_ReadProvisional(srShotId shot, int32_t frame, float* outOffsets, int32_t vertexCount);

/// World positions of the cage's nodes at a whole frame of the range, 3 floats a node: where the rig puts
/// them if `primary`, else where the simulation has them.
SR_API srResult srShot_ReadNodes(srShotId shot, int32_t frame, bool primary, float* outNodes,
                                 int32_t nodeCount);

/// What it took to simulate a frame.
typedef struct srFrameStats {
    int32_t limitedNodeCount; ///< Nodes that had to be held within the character's size.
    int32_t iterationCount;   ///< Of the solver, all steps of the frame together.
    float residual; ///< What the solver left, relative to where the frame began; 0 where it does not
                    ///< iterate towards a tolerance.
    float seconds;
    srResult result; ///< `sr_success`, or why the flesh keeps to its pose at this frame.
} srFrameStats;

/// Of a whole frame of the range that is ready.
SR_API srResult srShot_GetFrameStats(srShotId shot, int32_t frame, srFrameStats* outStats);

/// A hash over the bits of the whole state at `frame`. Equal for equal input, on any number of workers.
SR_API srResult srShot_GetStateHash(srShotId shot, int32_t frame, uint64_t* outHash);
