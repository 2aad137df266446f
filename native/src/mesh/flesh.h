// SPDX-License-Identifier: GPL-3.0-or-later
//
// How many parts of the flesh a tetrahedron holds: parts that do not hang together within it, like two
// fingers side by side. It is seen on a finer grid within the tetrahedron, from nearest points of the skin
// alone, so that neither the fineness of the skin's triangles nor the width of the gap matters: none at all
// is a gap too. Sheets have no inside of their own to tell them by: what is within reach of one is of its
// part.

#pragma once

#include "mesh/contacts.h"
#include "mesh/field.h"
#include "mesh/scaffold.h"
#include "mesh/walls.h"

/// Samples in a tetrahedron: the places i/4, j/4, k/4, l/4 in weights of its corners.
#define SR_SAMPLE_COUNT 35
#define SR_SAMPLE_STEPS 4

/// At most as many parts in a tetrahedron; the rest counts as of the last.
#define SR_MAX_LABELS 8

typedef enum srSampleKind {
    sr_sampleNone,   ///< Outside.
    sr_sampleFringe, ///< Outside, but so near that thin flesh beside it may hold no sample.
    sr_sampleInside,
    sr_sampleDeep, ///< Inside of overlapping flesh, deep enough to make it one.
} srSampleKind;

typedef struct srFleshSample {
    srVec3 point;
    srVec3 foot;   ///< The nearest point of the skin.
    srVec3 out;    ///< The direction out of the flesh there; a unit.
    srVec3 anchor; ///< Of what flesh the sample is: a place within it.
    double distance;
    double spacing;   ///< Of the samples around.
    int32_t triangle; ///< Of the skin, with the foot; not where `isSheet`.
    int32_t piece;    ///< Of the skin, within which the anchor is; `SR_NULL_INDEX` where that is not known.
    bool isSheet;     ///< The foot is on a sheet, or on what the sheet's thickness makes of it.
    bool isDouble;    ///< The skin winds twice around it.
    srSampleKind kind;
} srFleshSample;

/// What the flesh is known by.
typedef struct srFleshSource {
    const srField* field; ///< Of srMakeContactField.
    const srContacts* contacts;
    const uint8_t* torn; ///< Nullable. By point of the scaffold: where flesh is one wherever the skin goes
                         ///< on, because ways through it, being straight, tore it.
} srFleshSource;

/// Arrays live in the arena that made them. Only tetrahedra are sampled in which skin faces skin.
typedef struct srFlesh {
    srFleshSample* samples;
    int32_t sampleCount;
    int32_t* places; ///< Of each tetrahedron of the scaffold among the sampled ones, or `SR_NULL_INDEX`.
    int32_t (*tetSamples)[SR_SAMPLE_COUNT];
    int8_t (*labels)[SR_SAMPLE_COUNT]; ///< The part that a sample is of; -1 for none.
    uint8_t* labelCounts;
    int32_t tetCount; ///< Sampled ones.
    srWalls walls;    ///< By which ways through the flesh were asked for; none without sampled tetrahedra.
} srFlesh;

SR_MUST_USE srResult srCreateFlesh(const srScaffold* scaffold, const srFleshSource* source, srArena* arena,
                                   const srProgress* progress, srFlesh* outFlesh);

/// The sample with these steps from corners 0, 1, 2; the rest is from corner 3.
int srFindSample(const int steps[3]);

/// The steps of a sample from all four corners.
void srGetSampleSteps(int sample, int outSteps[4]);

/// How far a point is from the skin around a sample's foot, taken as a disk.
double srFleshSample_Distance(const srFleshSample* sample, srVec3 point, double radius);
