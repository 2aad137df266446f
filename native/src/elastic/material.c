// SPDX-License-Identifier: GPL-3.0-or-later
//
// Formulas of material.h.

#include "elastic/material.h"

// chosen on the sample character: ears, tail and belly swing as one with the pull to the pose, neither as
// jelly nor as wood
#define WAVE_CROSSINGS_PER_SWING 0.95

#define LOCKING_POISSON 0.45
#define CUBE_ROOT_STEPS 60 // a third less each, until it is near: enough from 1e-9 to 1e9
#define LARGEST_POISSON (0.5 * SR_LARGEST_LAMBDA / (1.0 + SR_LARGEST_LAMBDA)) // there is no larger lambda

double srYoungModulusForSize(double frequency, double density, double size) {
    double waveSpeed = WAVE_CROSSINGS_PER_SWING * frequency * size;
    return density * waveSpeed * waveSpeed;
}

srMaterial srMakeMaterial(double youngModulus, double poissonRatio, double density) {
    return (srMaterial){
        .youngModulus = youngModulus,
        .shearModulus = youngModulus / (2.0 * (1.0 + poissonRatio)),
        .bulkModulus = youngModulus / (3.0 * (1.0 - 2.0 * poissonRatio)),
        .density = density,
    };
}

double srLameLambda(const srMaterial* material) {
    double lambda = material->bulkModulus - 2.0 / 3.0 * material->shearModulus;
    double most = SR_LARGEST_LAMBDA * material->shearModulus;
    return lambda < most ? lambda : most;
}

double srFindCellLambda(const srMaterial* material, srElasticModel model) {
    double lambda = srLameLambda(material), mu = material->shearModulus;
    double most = 2.0 * LOCKING_POISSON / (1.0 - 2.0 * LOCKING_POISSON) * mu;
    if (model == sr_elasticArap || lambda <= most) {
        return model == sr_elasticArap ? 0.0 : lambda;
    }
    double poisson = lambda / (2.0 * (lambda + mu));
    double share = (poisson - LOCKING_POISSON) / (LARGEST_POISSON - LOCKING_POISSON);
    return most + share * (mu - most);
}

// Newton's method from above, where it only falls; a root of 1 is exact. Not the system's, which may differ.
static double findCubeRoot(double x) {
    double root = x > 1.0 ? x : 1.0;
    for (int step = 0; step < CUBE_ROOT_STEPS; ++step) {
        root -= (root * root * root - x) / (3.0 * root * root);
    }
    return root;
}

double srFindSwell(srElasticModel model, double pressure) {
    double longer = findCubeRoot(1.0 + pressure);
    switch (model) {
    case sr_elasticCorotated:
        return 3.0 * (longer - 1.0);
    case sr_elasticNeoHookean:
        return pressure;
    case sr_elasticStVenantKirchhoff:
        return 1.5 * (longer * longer - 1.0);
    default:
        return 0.0;
    }
}

double srEdgeStiffness(const srMaterial* material, double edgeLength, double edgeVolume) {
    return 5.0 * material->youngModulus * edgeVolume / (edgeLength * edgeLength);
}

double srVolumeCompliance(const srMaterial* material, double cellVolume) {
    return 36.0 * cellVolume / material->bulkModulus;
}

double srBondStiffness(const srMaterial* material, double hold, double nodeVolume, double boneDistance) {
    return material->shearModulus * nodeVolume / (boneDistance * boneDistance) * hold / (1.0 - hold);
}
