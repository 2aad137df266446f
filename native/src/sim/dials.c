// SPDX-License-Identifier: GPL-3.0-or-later
//
// A swing under x'' + rate x' + omega^2 x = 0 shrinks as exp(-rate t / 2). Beyond rate = 2 omega it would
// creep back, later and not sooner.

#include "sim/dials.h"

#include "solver/complementary.h"

#include <math.h>

#define PI 3.14159265358979323846
#define LOGARITHM_OF_50 3.912023005428146
#define OF_SLOWEST 0.96 // of the decay: quicker swings make a seventh of the first peak
#define OF_A_LONG_SUBSTEP 5
#define SURELY_SWINGING                                                                                      \
    0.6 // of a swing's frequency: with so much of critical damping it hardly has a second peak

srMaterial srFindMaterial(const srBodySettings* settings) {
    const srShotParams* params = &settings->params;
    double density = (double)params->density;
    double young = params->youngModulus > 0.0f
                       ? (double)params->youngModulus
                       : srYoungModulusForSize((double)params->frequency, density, settings->size);
    return srMakeMaterial(young, (double)params->poissonRatio, density);
}

static double findAskedRate(const srBodySettings* settings) {
    return 2.0 * LOGARITHM_OF_50 * settings->frameRate / (double)settings->params.settleFrames;
}

double srFindDampingRate(const srBodySettings* settings) {
    double criticalRate = 2.0 * (2.0 * PI * (double)settings->params.frequency);
    return fmin(findAskedRate(settings), criticalRate);
}

double srFindStopDampingRate(const srBodySettings* settings, double swingFrequency) {
    double slowest = fmax((double)settings->params.frequency, SURELY_SWINGING * swingFrequency);
    return fmin(OF_SLOWEST * findAskedRate(settings), 2.0 * (2.0 * PI * slowest));
}

double srFindSwingFrequency(const srBodySettings* settings, double pullShare, double elasticShare) {
    double pull = (double)settings->params.frequency;
    srMaterial material = srFindMaterial(settings);
    double atOne = srYoungModulusForSize(1.0, material.density, settings->size);
    double usual = srMakeMaterial(atOne, (double)SR_USUAL_POISSON, material.density).shearModulus;
    return sqrt(pullShare * pull * pull + elasticShare * material.shearModulus / usual);
}

int32_t srFindLongSubsteps(int32_t asked) {
    if (asked <= 0) {
        return srDefaultComplementaryDials().substeps;
    }
    return (asked + OF_A_LONG_SUBSTEP - 1) / OF_A_LONG_SUBSTEP;
}

// the formula is of second order
double srFindTolerance(int32_t longSubsteps) {
    srComplementaryDials usual = srDefaultComplementaryDials();
    double longer = (double)usual.substeps / (double)longSubsteps;
    return longer < 1.0 ? usual.tolerance * longer * longer : usual.tolerance;
}
