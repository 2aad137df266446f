// SPDX-License-Identifier: GPL-3.0-or-later
//
// Walking through spacings from those that are surely too coarse. Copies only add to a cage, so one that is
// too large without any is passed over before they are made, and most are.

#include "mesh/least.h"

#include <math.h>

// The first spacing, in means of thickness (twice the volume over the area), and how many finer ones follow
#define FIRST_SPACING 4.0
#define STEP 1.06
#define STEP_COUNT 40

bool srTrial_IsLarger(const srMeshing* meshing, const srTrial* trial, double growth) {
    double least = srTrial_LeastVolume(meshing, trial);
    return meshing->solid.sheets.triangleCount == 0 && least > 0.0 && srTrial_Volume(trial) > growth * least;
}

static srResult tryLattice(const srMeshing* meshing, const srLeastLimits* limits, const srProgress* progress,
                           srTrial* trial, bool* outIsFit) {
    srProgress plain = srPartOfProgress(progress, 0.0, 0.5), copying = srPartOfProgress(progress, 0.5, 1.0);
    *outIsFit = false;
    SR_TRY(srTrial_Run(meshing, &plain, trial));
    if (trial->cells.cellCount == 0 || srTrial_IsLarger(meshing, trial, SR_LIMIT_OF_GROWTH)) {
        return sr_success;
    }
    SR_TRY(srTrial_Split(meshing, &copying, trial));
    *outIsFit = trial->cells.cellCount > 0 && trial->pieceCount <= limits->mostPieces &&
                !srTrial_IsLarger(meshing, trial, SR_LIMIT_OF_GROWTH);
    return sr_success;
}

static double countCubes(const srMeshing* meshing, double spacing) {
    srVec3 cubes = srScale(1.0 / spacing, srSub(meshing->upper, meshing->lower));
    return (cubes.x + 1.0) * (cubes.y + 1.0) * (cubes.z + 1.0);
}

srResult srFindLeast(const srMeshing* meshing, const srLeastLimits* limits, const srProgress* progress,
                     srTrial* outTrial) {
    double thickness = 2.0 * meshing->solid.volume / meshing->solid.area;
    double spacing = fmin(FIRST_SPACING * thickness, 0.5 * meshing->surface->size), work = 0.0, nodes = 0.0;
    int latticeCount = meshing->settings->detail == NULL ? 4 : 1;
    *outTrial = (srTrial){0};
    for (int step = 0; step < STEP_COUNT * latticeCount; step++) {
        if (!(nodes < limits->mostNodes && work < limits->mostWork &&
              countCubes(meshing, spacing) < limits->mostCubes)) {
            break;
        }
        srProgress part = srPartOfProgress(progress, step / (double)(STEP_COUNT * latticeCount),
                                           (step + 1) / (double)(STEP_COUNT * latticeCount));
        int shiftedAxis = step % latticeCount == 0 ? SR_NOT_SHIFTED : step % latticeCount - 1;
        srTrial trial = srStartTrial(spacing, shiftedAxis);
        bool isFit = false;
        srResult result = tryLattice(meshing, limits, &part, &trial, &isFit);
        bool isFinest = trial.spacing > spacing;
        work += srTrial_Work(&trial);
        nodes = fmax(nodes, trial.cells.nodeCount);
        if (isFit) {
            *outTrial = trial;
            return sr_success;
        }
        srDestroyTrial(&trial);
        if (result != sr_success || isFinest) {
            return result;
        }
        spacing /= step % latticeCount == latticeCount - 1 ? STEP : 1.0;
    }
    return sr_success;
}
