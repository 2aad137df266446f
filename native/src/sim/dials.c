// SPDX-License-Identifier: GPL-3.0-or-later
//
// A swing under x'' + rate x' + omega^2 x = 0 shrinks as exp(-rate t / 2). Beyond rate = 2 omega it would
// creep back, later and not sooner.

#include "sim/dials.h"

#define PI 3.14159265358979323846
#define LOGARITHM_OF_50 3.912023005428146

srMaterial srFindMaterial(const srBodySettings* settings) {
    const srShotParams* params = &settings->params;
    double density = (double)params->density;
    double young = params->youngModulus > 0.0f
                       ? (double)params->youngModulus
                       : srYoungModulusForSize((double)params->frequency, density, settings->size);
    return srMakeMaterial(young, (double)params->poissonRatio, density);
}

double srFindDampingRate(const srBodySettings* settings) {
    const srShotParams* params = &settings->params;
    double rate = 2.0 * LOGARITHM_OF_50 * settings->frameRate / (double)params->settleFrames;
    double criticalRate = 2.0 * (2.0 * PI * (double)params->frequency);
    return rate < criticalRate ? rate : criticalRate;
}
