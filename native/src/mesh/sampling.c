// SPDX-License-Identifier: GPL-3.0-or-later
//
// The lattice at the skin is sampled whole. What is larger is among its points; what is smaller is asked for
// point by point, where it is wanted.

#include "mesh/sampling.h"

#include "core/alloc.h"

#include <math.h>

// Deeper than this, in cubes of the lattice, cells have twice the size. The field is exact to two cubes.
#define DEEP 1.5

// How far around skin with detail cells have half the size, in cubes: beyond the cage's skin.
#define DETAIL_REACH 1.0

// From full to empty, in cubes. Of one cube flat sides along the axes give their volume exactly.
#define TRIAL_WIDTH 0.8
#define MEASURED_WIDTH 1.0

#define MEASURED_POINT_COUNT (1 << 17)

#define POINTS_PER_BLOCK 64
#define POINTS_PER_BATCH 2048

static double clampShare(double x) {
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

// Each point stands for half a cube, as far as it is inside: `width` cubes from full to empty.
static double sumInside(const srLattice* lattice, const double* phi, double width) {
    double sum = 0.0;
    for (int32_t p = 0; p < lattice->pointCount; p++) {
        sum += clampShare(0.5 - phi[p] / (width * lattice->spacing));
    }
    return 0.5 * sum * lattice->spacing * lattice->spacing * lattice->spacing;
}

static bool hasDetail(const srSampling* sampling) {
    const srSurface* surface = sampling->surface;
    for (int32_t p = 0; sampling->detail != NULL && p < surface->pointCount; p++) {
        if (sampling->detail[p] >= SR_LEAST_DETAIL) {
            return true;
        }
    }
    return false;
}

// Points of the finer lattice that are asked for.
typedef struct Asking {
    const srField* field;
    const srLattice* lattice;
    const int32_t* points;
    double* phi;
} Asking;

static void askRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Asking* asking = context;
    for (int32_t i = begin; i < end; i++) {
        int32_t point = asking->points[i];
        asking->phi[point] = srField_Value(asking->field, srLattice_Point(asking->lattice, point));
    }
}

// Corners and centre of a cube with a centre, if they are not known.
static int32_t listUnknown(const srGrading* grading, const int32_t cube[3], double* phi, int32_t* points,
                           int32_t count) {
    for (int corner = 0; corner < 9; corner++) {
        int32_t place[3];
        for (int axis = 0; axis < 3; axis++) {
            place[axis] = 2 * cube[axis] + (corner == 8 ? 1 : 2 * (corner >> axis & 1));
        }
        int32_t point = srGrading_PointAt(grading, place);
        if (isnan(phi[point])) {
            phi[point] = 0.0;
            points[count++] = point;
        }
    }
    return count;
}

// The last cubes of a row have no corner at their high end; they are far from everything.
static srResult askForDetail(const srField* field, const srGrading* grading, srArena* arena,
                             const srProgress* progress, double* phi) {
    int32_t level = grading->levelCount - 1, count = 0, cube[3];
    const int32_t* counts = grading->counts[level];
    int32_t* points = SR_PUSH(arena, int32_t, grading->lattice.pointCount, "points of detail");
    if (points == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    for (cube[2] = 0; cube[2] < counts[2] - 1; cube[2]++) {
        for (cube[1] = 0; cube[1] < counts[1] - 1; cube[1]++) {
            for (cube[0] = 0; cube[0] < counts[0] - 1; cube[0]++) {
                if (srGrading_HasCentre(grading, level, cube)) {
                    count = listUnknown(grading, cube, phi, points, count);
                }
            }
        }
    }
    Asking asking = {field, &grading->lattice, points, phi};
    return srParallelForWithProgress(askRange, count, POINTS_PER_BLOCK, POINTS_PER_BATCH, &asking, progress);
}

// A point of the lattice is a corner of the one with cubes of half the size.
static srResult spreadToFiner(const srLattice* lattice, const double* phi, const srGrading* grading,
                              srArena* arena, double** outPhi) {
    double* fine = SR_PUSH(arena, double, grading->lattice.pointCount, "distances");
    if (fine == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    for (int32_t p = 0; p < grading->lattice.pointCount; p++) {
        fine[p] = NAN;
    }
    for (int32_t p = 0; p < lattice->pointCount; p++) {
        int32_t cube = p / 2, odd = p & 1;
        const int32_t place[3] = {4 * (cube % lattice->nx) + 2 * odd,
                                  4 * (cube / lattice->nx % lattice->ny) + 2 * odd,
                                  4 * (cube / (lattice->nx * lattice->ny)) + 2 * odd};
        fine[srGrading_PointAt(grading, place)] = phi[p];
    }
    *outPhi = fine;
    return sr_success;
}

srResult srSampleScaffold(const srLattice* lattice, const srSampling* sampling, srArena* arena,
                          const srProgress* progress, srScaffold* outScaffold, double* outInsideVolume) {
    bool isFiner = !sampling->isAlike && hasDetail(sampling);
    srProgress first = srPartOfProgress(progress, 0.0, isFiner ? 0.5 : 0.9);
    srProgress asking = srPartOfProgress(progress, 0.5, 0.9), walking = srPartOfProgress(progress, 0.9, 1.0);
    double* phi = SR_PUSH(arena, double, lattice->pointCount, "distances");
    if (phi == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    SR_TRY(srField_Sample(sampling->field, lattice, phi, &first));
    *outInsideVolume = sumInside(lattice, phi, TRIAL_WIDTH);

    if (sampling->isAlike) {
        return srCreateScaffold(lattice, phi, sampling->reachShare * lattice->spacing, arena, &walking,
                                outScaffold);
    }

    // which cubes of which size
    srGrading grading;
    const srLattice finest = isFiner ? srLattice_Halve(lattice) : *lattice;
    SR_TRY(srCreateGrading(&finest, isFiner ? 3 : 2, arena, &grading));
    if (isFiner) {
        SR_TRY(spreadToFiner(lattice, phi, &grading, arena, &phi));
        srGrading_MarkSkin(&grading, 2, sampling->surface, sampling->detail, SR_LEAST_DETAIL,
                           DETAIL_REACH * lattice->spacing);
    }
    srGrading_MarkShallow(&grading, 1, phi, DEEP * lattice->spacing);
    srGrading_Close(&grading);
    if (isFiner) {
        SR_TRY(askForDetail(sampling->field, &grading, arena, &asking, phi));
    }
    return srCreateGradedScaffold(&grading, phi, sampling->reachShare, arena, &walking, outScaffold);
}

srResult srMeasureInside(const srField* field, srVec3 lower, srVec3 upper, const srProgress* progress,
                         double* outVolume, double* outSpacing) {
    srLattice lattice;
    double spacing = 0x1p-6 * srDistance(lower, upper);
    while (!srMakeLattice(lower, upper, field->halfThickness, spacing, MEASURED_POINT_COUNT, &lattice)) {
        spacing *= 1.1;
    }
    double* phi = SR_ALLOC(double, lattice.pointCount);
    if (phi == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    srResult result = srField_Sample(field, &lattice, phi, progress);
    if (result == sr_success) {
        *outVolume = sumInside(&lattice, phi, MEASURED_WIDTH);
        *outSpacing = spacing;
    }
    SR_FREE(phi, lattice.pointCount);
    return result;
}
