// SPDX-License-Identifier: GPL-3.0-or-later
//
// The scenes by which position-based complementary dynamics was published (Halim 2023), in shapes of our own
// of the same sizes, and the judge of what moves in them: for tests and the bench. Needs no test framework.

#pragma once

#include "math/mat3.h"
#include "mesh/cage.h"
#include "solver/family.h"

#include <time.h>

#define FRAMES_A_SECOND 24.0

/// Seconds that this thread had of its core: what else the machine does spoils less.
static inline double srThesisSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// A limb of a body: all within `radius` of the line from `a` to `b`.
typedef struct srThesisLimb {
    srVec3 a;
    srVec3 b;
    double radius;
} srThesisLimb;

/// The union of limbs, without what is below y = `ground`, in cubes of six cells; in one piece, and of as
/// nearly `nodeCount` nodes as a spacing can be found for.
bool srThesisCreateCage(const srThesisLimb* limbs, int32_t limbCount, double ground, int32_t nodeCount,
                        srCage* outCage, double* outSpacing);

/// What a scene's body is made of where it is matter.
typedef struct srThesisMatter {
    double youngModulus; ///< Pa
    double poissonRatio;
    double density; ///< kg/m^3
    double lameMu;
    double lameLambda;
    srVec3 fibre;       ///< A direction in which shape is
    double fibreFactor; ///< times as stiff.
    double pull;        ///< Hz, to the pose.
} srThesisMatter;

/// One experiment: a shape, where its nodes start, and the dials that all methods share.
typedef struct srThesisScene {
    const char* name;
    srCage cage; ///< Zeroed where the shape needs none.
    srPbdShape shape;
    float* masses;      ///< Of the shape, or null.
    float* edgeFactors; ///< Likewise.
    srVec3f* starts;
    srPbdDials dials;
    int32_t frameCount;
    int32_t shownNode; ///< And axis: what the trajectory shows.
    int32_t shownAxis;
    double extent;          ///< Largest, at rest.
    int32_t judgeSteps;     ///< Of the exact solution, a frame; and half as many, to see what they leave.
    int32_t mostIterations; ///< That are tried.
    int32_t factorStride;   ///< Of the stiffness factors every so many is tried.
    srVec3 bend;            ///< An acceleration that bends it to where it starts.
    bool isSofterUpright;
    bool isMatter; ///< Cells of a material instead of springs and volumes:
    srThesisMatter matter;
    srVec3* fibres; ///< Of each cell, as srFleshShape has them.
} srThesisScene;

bool srThesisCreateSpring(srThesisScene* out);
bool srThesisCreateBeam(srThesisScene* out);
bool srThesisCreateJello(int32_t nodeCount, srThesisScene* out);
void srThesisDestroyScene(srThesisScene* scene);

/// Makes a created scene's body matter: as stiff as its springs and volumes are on the whole, as heavy, and
/// bent anew where it starts bent. The oscillator becomes a cell that its pose pulls back.
bool srThesisMakeMatter(srThesisScene* scene);

/// What a cell of matter stores; the gradient of that, and if asked for its Hessian.
double srThesisEvaluateCell(const srThesisMatter* matter, const srVec3 g[4], double volume, const srVec3 x[4],
                            srVec3 outForces[4], srMat3 outBlocks[4][4]);

/// Gradients of a cell's shape functions. Returns its volume.
double srThesisFindGradients(const srVec3* nodes, const int32_t corners[4], srVec3 outGradients[4]);

/// How our own fast solver is to play.
typedef struct srThesisQuality {
    int32_t substeps;
    int32_t sweeps;
    int32_t handleCount;
    srFleshIntegrator integrator;
    bool isAsArtistsGet;   ///< Fewer substeps than those where handles make them enough:
    int32_t substepsTaken; ///< so many.
} srThesisQuality;

/// Where all nodes are at the end of frames 1 to frameCount, frame after frame; null without memory.
srVec3* srThesisAllocatePath(const srThesisScene* scene);

/// The spring's analytic motion.
void srThesisFindSpring(const srThesisScene* scene, srVec3* outPath);

/// Mean distance over nodes that move and frames.
double srThesisFindDistance(const srThesisScene* scene, const srVec3* path, const srVec3* other);

/// All frames by a method of constraints. Returns the seconds that it had of its core; without memory the
/// path stays as it is.
double srThesisPlay(const srThesisScene* scene, srFamilyMethod method, const srPbdDials* dials,
                    srVec3* outPath);

/// All frames of matter by our own fast solver; returns the same.
double srThesisPlayMatter(const srThesisScene* scene, srThesisQuality* quality, srVec3* outPath);

/// By Newton's method (thesis_newton.c). Returns how many steps were not solved, or -1 without memory.
int32_t srThesisSolveExactly(const srThesisScene* scene, int32_t stepsAFrame, srVec3* outPath);

/// Where a steady pull (an acceleration) holds the nodes in balance.
bool srThesisBend(const srThesisScene* scene, srVec3 pull, srVec3f* outPlaces);
