// SPDX-License-Identifier: GPL-3.0-or-later
//
// A swing under x'' + rate x' + omega^2 x = 0 shrinks as exp(-rate t / 2). Beyond rate = 2 omega it would
// creep back, later and not sooner.

#include "sim/dials.h"

#include <math.h>

#define PI 3.14159265358979323846
#define LOGARITHM_OF_50 3.912023005428146
// of the frequency that a stiffness belongs to: what swings freely of a bar and of a tail swings 1.9 and 1.4
// times as fast as the dial says, stiffness and pull together
#define ELASTIC_SHARE 1.25

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

double srFindSwingFrequency(const srBodySettings* settings) {
    double pull = (double)settings->params.frequency;
    srMaterial material = srFindMaterial(settings);
    double atOne = srYoungModulusForSize(1.0, material.density, settings->size);
    return sqrt(pull * pull + ELASTIC_SHARE * ELASTIC_SHARE * material.youngModulus / atOne);
}
