// SPDX-License-Identifier: GPL-3.0-or-later
//
// Gravity: g - R g0, with R the turn of the flesh around a node and g0 the gravity that the shape was
// modelled under, both as a change of the modelled shape sees them: nothing at rest, the other way upside
// down.
//
// Wind: the pressure of air of velocity v on a face with unit normal n, 1/2 rho (v.n) |v.n|, along n: pushed
// on the windward side, sucked on the lee. Gusts vary v along itself as one travelling wave of smooth noise.

#include "sim/forces.h"

#include "core/alloc.h"
#include "rig/turns.h"

#include <math.h>

#define AIR_DENSITY 1.2          // kg / m^3
#define LARGEST_ACCELERATION 1e6 // of wind; what is lighter than air is not blown to infinity
#define SMALLEST_SIZE 1e-6

srResult srCreateForces(const srCharacter* character, srForces* outForces) {
    int32_t nodeCount = character->cage.nodeCount;
    *outForces = (srForces){.nodeCount = nodeCount};
    outForces->accelerations = SR_ALLOC(srVec3f, nodeCount);
    outForces->turns = SR_ALLOC(srMat3, nodeCount);
    srResult result = outForces->accelerations != NULL && outForces->turns != NULL
                          ? srCreateBoundary(&character->cage, &outForces->skin)
                          : srFailOutOfMemory("the forces");
    if (result != sr_success) {
        srDestroyForces(outForces);
    }
    return result;
}

void srDestroyForces(srForces* forces) {
    srDestroyBoundary(&forces->skin);
    SR_FREE(forces->accelerations, forces->nodeCount);
    SR_FREE(forces->turns, forces->nodeCount);
    *forces = (srForces){0};
}

static srVec3 toVector(const float v[3]) {
    return (srVec3){(double)v[0], (double)v[1], (double)v[2]};
}

static void addGravity(srForces* forces, const srCharacter* character, const srForcesFrame* frame) {
    srVec3 gravity = toVector(frame->controls->gravity);
    srVec3 modelled = toVector(frame->restGravity);
    bool turns = srLength(modelled) > 0.0;
    if (turns) {
        srTurnNodes(&character->weights, frame->maps, forces->turns);
    }
    for (int32_t i = 0; i < forces->nodeCount; ++i) {
        srVec3 felt = turns ? srSub(gravity, srTurnVector(&forces->turns[i], modelled)) : gravity;
        forces->accelerations[i] = srToFloat(felt);
    }
}

// a fixed number in [-1, 1] for a place on the line of whole numbers
static double hashToUnit(int64_t cell) {
    uint64_t h = (uint64_t)cell * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return (double)(h >> 11) * 0x1p-52 - 1.0;
}

// smooth noise on a line, in [-1, 1]; no library trigonometry, so that all machines agree
static double noiseAt(double x) {
    double floored = floor(x);
    double t = x - floored;
    double blend = t * t * (3.0 - 2.0 * t);
    double a = hashToUnit((int64_t)floored);
    double b = hashToUnit((int64_t)floored + 1);
    return a + (b - a) * blend;
}

// the air's velocity at a place
static srVec3 findAir(const srForcesFrame* frame, srVec3 wind, double speed, srVec3 place) {
    double size = frame->size > SMALLEST_SIZE ? frame->size : SMALLEST_SIZE;
    double along = srDot(wind, place) / speed - speed * frame->seconds;
    return srScale(1.0 + (double)frame->controls->windGusts * noiseAt(fmod(along / size, 0x1p40)), wind);
}

static void addWind(srForces* forces, const srCharacter* character, const srForcesFrame* frame,
                    double speed) {
    srVec3 wind = toVector(frame->controls->wind);
    double massScale = frame->density * frame->volumeScale;
    for (int32_t f = 0; f < forces->skin.faceCount; ++f) {
        const int32_t* corners = forces->skin.faces[f];
        srVec3 a = frame->places[corners[0]];
        srVec3 toB = srSub(frame->places[corners[1]], a);
        srVec3 toC = srSub(frame->places[corners[2]], a);
        srVec3 doubled = srCross(toB, toC);
        double doubledArea = srLength(doubled);
        if (!(doubledArea > 0.0)) {
            continue;
        }
        srVec3 air = findAir(frame, wind, speed, a);
        double through = srDot(air, doubled) / doubledArea;
        // a third of the face's force to each corner; |doubled| = 2 areas
        srVec3 push = srScale(0.5 * AIR_DENSITY * through * fabs(through) / 6.0, doubled);
        for (int c = 0; c < 3; ++c) {
            double mass = massScale * (double)character->body.nodeVolumes[corners[c]];
            double length = srLength(push);
            double most = LARGEST_ACCELERATION * mass;
            double share = !(mass > 0.0) ? 0.0 : length > most ? most / length / mass : 1.0 / mass;
            srVec3f* sum = &forces->accelerations[corners[c]];
            *sum = srToFloat(srMulAdd(srToDouble(*sum), share, push));
        }
    }
}

static bool isFiniteVector(srVec3f v) {
    float sum = v.x + v.y + v.z;
    return sum - sum == 0.0f;
}

const srVec3f* srForces_Find(srForces* forces, const srCharacter* character, const srForcesFrame* frame) {
    double speed = srLength(toVector(frame->controls->wind));
    bool falls =
        srLength(toVector(frame->controls->gravity)) > 0.0 || srLength(toVector(frame->restGravity)) > 0.0;
    if (!falls && !(speed > 0.0)) {
        return NULL;
    }
    addGravity(forces, character, frame);
    if (speed > 0.0) {
        addWind(forces, character, frame, speed);
    }
    for (int32_t i = 0; i < forces->nodeCount; ++i) {
        if (!isFiniteVector(forces->accelerations[i])) {
            forces->accelerations[i] = (srVec3f){0.0f, 0.0f, 0.0f};
        }
    }
    return forces->accelerations;
}
