// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bar on bones, for tests of the complementary solver: cage, weights, hold map, motion. Memory is the C
// library's own, so that the library's byte count tells of the library alone.

#pragma once

#include "support/support.h"

#include "math/mat34.h"
#include "solver/complementary.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FRAME_SECONDS (1.0 / 24.0)

typedef enum HoldKind {
    hold_axis, // what is near the bar's axis
    hold_all,
    hold_none,
} HoldKind;

typedef struct Flesh {
    srCage cage;
    int32_t boneCount;
    int32_t* starts;
    int32_t* bones;
    double* weights;
    double* holds;
    srMat34* maps; // of the next frame
    srVec3* places[3];
    srVec3* jump;
    const srMat3* turns; // null for none; the caller's
    double pressure;
    srVec3* arrays[6];
    void* scratch;
    srComplementaryShape shape;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    srComplementaryState state;
    srComplementaryStats stats;
} Flesh;

static inline double smoothStep(double t) {
    t = fmin(fmax(t, 0.0), 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// bones one after the other along y
static inline void weighFlesh(Flesh* f, double length) {
    int32_t count = 0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        double at = fmin(fmax(f->cage.nodes[i].y / length * f->boneCount - 0.5, 0.0), f->boneCount - 1.0);
        int32_t k = at >= f->boneCount - 1.0 ? f->boneCount - 1 : (int32_t)at;
        double share = smoothStep(at - k);
        f->starts[i] = count;
        f->bones[count] = k;
        f->weights[count++] = 1.0 - share;
        if (share > 0.0) {
            f->bones[count] = k + 1;
            f->weights[count++] = share;
        }
    }
    f->starts[f->cage.nodeCount] = count;
}

// every node on bones 0 and 1, which differ by that much
static inline void weighAlike(Flesh* f, double difference) {
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        f->starts[i + 1] = 2 * (i + 1);
        f->bones[2 * i] = 0, f->bones[2 * i + 1] = 1;
        f->weights[2 * i] = 0.5, f->weights[2 * i + 1] = 0.5 + difference * sin(7.0 * i);
    }
}

static inline void placeFlesh(const Flesh* f, srVec3* out) {
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        out[i] = (srVec3){0.0, 0.0, 0.0};
        for (int32_t e = f->starts[i]; e < f->starts[i + 1]; ++e) {
            out[i] = srMulAdd(out[i], f->weights[e], srMulPoint34(&f->maps[f->bones[e]], f->cage.nodes[i]));
        }
    }
}

static inline srComplementaryDials fleshDials(void) {
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = srMakeMaterial(2e4 / 1.3, 0.0, 1000.0);
    dials.frequency = 0.5;
    dials.dampingRate = 2.0 * log(50.0) * 24.0 / 24.0;
    dials.largestOffset = 10.0;
    dials.substeps = 1;
    dials.tolerance = 1e-6;
    dials.newtonLimit = 60;
    dials.innerLimit = 2000;
    return dials;
}

static inline void tuneFlesh(Flesh* f, const srComplementaryDials* dials) {
    assert_success(srComplementaryTuning_Set(&f->tuning, &f->rest, dials));
    free(f->scratch);
    f->scratch = aligned_alloc(64, srComplementary_GetScratchSize(&f->rest, &f->tuning));
    assert_non_null(f->scratch);
    f->state.scratch = f->scratch;
}

static inline void resetFlesh(Flesh* f) {
    for (int k = 0; k < 6; ++k) {
        memset(f->arrays[k], 0, sizeof(srVec3) * (size_t)f->cage.nodeCount);
    }
    for (int32_t k = 0; k < f->boneCount; ++k) {
        f->maps[k] = srIdentity34();
    }
    for (int k = 0; k < 3; ++k) {
        placeFlesh(f, f->places[k]);
    }
}

// room for everything about a cage and its bones, all of it zero
static inline void allocateFlesh(Flesh* f, int32_t boneCount) {
    f->boneCount = boneCount;
    size_t n = (size_t)f->cage.nodeCount;
    f->starts = calloc(n + 1, sizeof(int32_t));
    f->bones = calloc(2 * n, sizeof(int32_t));
    f->weights = calloc(2 * n, sizeof(double));
    f->holds = calloc(n, sizeof(double));
    f->maps = calloc((size_t)boneCount, sizeof(srMat34));
    f->jump = calloc(n, sizeof(srVec3));
    for (int k = 0; k < 3; ++k) {
        f->places[k] = calloc(n, sizeof(srVec3));
    }
    for (int k = 0; k < 6; ++k) {
        f->arrays[k] = calloc(n, sizeof(srVec3));
    }
    f->state = (srComplementaryState){f->arrays[0], f->arrays[1], {f->arrays[2], f->arrays[3]},
                                      f->arrays[4], NULL,         f->arrays[5]};
    f->shape = (srComplementaryShape){
        .nodes = f->cage.nodes,
        .nodeCount = f->cage.nodeCount,
        .cells = (const int32_t (*)[4])f->cage.cells,
        .cellCount = f->cage.cellCount,
        .weights = {f->starts, f->bones, f->weights, boneCount},
        .holds = f->holds,
    };
}

// all but rest and tuning
static inline void shapeFlesh(Flesh* f, const int32_t counts[3], double spacing, int32_t boneCount,
                              HoldKind kind) {
    *f = (Flesh){0};
    assert_success(srTestCreateBarCage(counts, spacing, &f->cage));
    allocateFlesh(f, boneCount);
    weighFlesh(f, counts[1] * spacing);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        srVec3 x = f->cage.nodes[i];
        double away = fmax(fabs(x.x / spacing - 0.5 * counts[0]), fabs(x.z / spacing - 0.5 * counts[2]));
        f->holds[i] = kind == hold_all ? 1.0 : kind == hold_none ? 0.0 : away < 0.6 ? 1.0 - 0.3 * away : 0.0;
    }
    resetFlesh(f);
}

// rest and tuning of what was shaped
static inline void prepareFlesh(Flesh* f) {
    assert_success(srCreateComplementaryRest(&f->shape, &f->rest));
    assert_success(srCreateComplementaryTuning(&f->rest, &f->tuning));
    srComplementaryDials dials = fleshDials();
    tuneFlesh(f, &dials);
}

static inline void makeFlesh(Flesh* f, const int32_t counts[3], double spacing, int32_t boneCount,
                             HoldKind kind) {
    shapeFlesh(f, counts, spacing, boneCount, kind);
    prepareFlesh(f);
}

static inline void freeFlesh(Flesh* f) {
    srDestroyComplementaryTuning(&f->rest, &f->tuning);
    srDestroyComplementaryRest(&f->rest);
    srDestroyCage(&f->cage);
    void* blocks[] = {f->starts,    f->bones,     f->weights,   f->holds,     f->maps,      f->jump,
                      f->places[0], f->places[1], f->places[2], f->arrays[0], f->arrays[1], f->arrays[2],
                      f->arrays[3], f->arrays[4], f->arrays[5], f->scratch};
    for (int k = 0; k < SR_ARRAY_COUNT(blocks); ++k) {
        free(blocks[k]);
    }
}

// a frame to where the maps are now; forces may be null
static inline void stepFleshPulled(Flesh* f, const srVec3* forces) {
    srVec3* oldest = f->places[2];
    f->places[2] = f->places[1];
    f->places[1] = f->places[0];
    f->places[0] = oldest;
    placeFlesh(f, f->places[0]);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        srVec3 now = srSub(f->places[0][i], f->places[1][i]),
               before = srSub(f->places[1][i], f->places[2][i]);
        f->jump[i] = srScale(1.0 / FRAME_SECONDS, srSub(now, before));
    }
    srComplementaryMotion motion = {f->places[1], f->places[0], f->jump, forces, f->turns, f->pressure};
    srComplementary_StepFrame(&f->rest, &f->tuning, &motion, &f->state, &f->stats);
}

static inline void stepFlesh(Flesh* f) {
    stepFleshPulled(f, NULL);
}

static inline srMat34 shift(double x, double y, double z) {
    return (srMat34){{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}}};
}

// about the z axis through a point of the y axis of the bar's middle
static inline srMat34 bendAbout(srVec3 at, double angle) {
    double c = cos(angle), s = sin(angle);
    return (srMat34){
        {{c, -s, 0, at.x - c * at.x + s * at.y}, {s, c, 0, at.y - s * at.x - c * at.y}, {0, 0, 1, 0}}};
}

static inline srMat34 twistAbout(srVec3 at, double angle) {
    double c = cos(angle), s = sin(angle);
    return (srMat34){
        {{c, 0, s, at.x - c * at.x - s * at.z}, {0, 1, 0, 0}, {-s, 0, c, at.z + s * at.x - c * at.z}}};
}

// all bones to and fro, the last one bending as well
static inline void shakeFlesh(Flesh* f, int frame, double amplitude, double bend) {
    double phase = 2.0 * PI * 2.0 * frame * FRAME_SECONDS;
    srMat34 move = shift(amplitude * sin(phase), 0.0, 0.3 * amplitude * sin(0.7 * phase));
    for (int32_t k = 0; k < f->boneCount; ++k) {
        srMat34 turn = bendAbout((srVec3){0.2, 0.6, 0.0}, k > 0 ? bend * sin(0.9 * phase) : 0.0);
        f->maps[k] = srMul34(&move, &turn);
    }
}

static inline double longestOffset(const Flesh* f) {
    double longest = 0.0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        double length = srLength(f->state.offsets[i]);
        longest = length <= longest ? longest : length; // a NaN stays
    }
    return longest;
}

static inline bool isZeroBits(const Flesh* f) {
    bool isZero = true;
    for (int k = 0; k < 2; ++k) {
        const unsigned char* bytes = (const unsigned char*)f->arrays[k];
        for (size_t b = 0; b < sizeof(srVec3) * (size_t)f->cage.nodeCount; ++b) {
            isZero = isZero && bytes[b] == 0;
        }
    }
    return isZero;
}

// of which block, and so of which patch, each cell is
static inline int32_t* findPatches(const Flesh* f) {
    int32_t* patches = calloc((size_t)f->cage.cellCount, sizeof(int32_t));
    for (int32_t place = 0; place < SR_BLOCK_LANES * f->rest.layout.blockCount; ++place) {
        if (f->rest.layout.cells[place] != SR_NULL_INDEX) {
            patches[f->rest.layout.cells[place]] = place / SR_BLOCK_LANES;
        }
    }
    return patches;
}

// of cells that `isWanted`; null for all
static inline double volumeOfFlesh(const Flesh* f, const bool* isWanted) {
    double volume = 0.0;
    for (int32_t cell = 0; cell < f->cage.cellCount; ++cell) {
        srVec3 x[4];
        for (int c = 0; c < 4; ++c) {
            int32_t i = f->cage.cells[cell][c];
            x[c] = srAdd(f->places[0][i], f->state.offsets[i]);
        }
        double own = srDot(srSub(x[1], x[0]), srCross(srSub(x[2], x[0]), srSub(x[3], x[0]))) / 6.0;
        volume += isWanted == NULL || isWanted[cell] ? own : 0.0;
    }
    return volume;
}

// the worst of J' M D u, J as the rig has it, in parts of what it would be with the longest u everywhere
static inline double findOverlap(const Flesh* f) {
    double worst = 0.0, longest = longestOffset(f);
    for (int32_t k = 0; k < f->boneCount; ++k) {
        double sums[4][3] = {{0.0}}, size = 1e-300;
        for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
            for (int32_t e = f->starts[i]; e < f->starts[i + 1]; ++e) {
                srVec3 X = f->cage.nodes[i], u = f->state.offsets[i];
                double share = f->bones[e] == k ? f->weights[e] * f->rest.nodeVolumes[i] * f->holds[i] : 0.0;
                const double columns[4] = {X.x, X.y, X.z, 1.0};
                for (int c = 0; c < 4; ++c) {
                    sums[c][0] += share * columns[c] * u.x;
                    sums[c][1] += share * columns[c] * u.y;
                    sums[c][2] += share * columns[c] * u.z;
                }
                size += share * longest;
            }
        }
        for (int c = 0; c < 12; ++c) {
            worst = fmax(worst, fabs(sums[c / 3][c % 3]) / size);
        }
    }
    return worst;
}
