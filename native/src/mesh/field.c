// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sampling in small blocks of cubes. Inside a block most points far from the surface take their sign from one
// that was computed.

#include "mesh/field.h"

#include <math.h>

// Edge of a block in cubes, and blocks between two looks at the progress: about 2 ms of work on one core.
#define BLOCK_EDGE 4
#define BATCH_SIZE 4

// Winding numbers this near to a whole number speak for their surroundings, see canCopy.
#define CLEAR_WINDING 0.05

typedef struct Sample {
    srVec3 point;
    double distance;
    double winding;
    int32_t triangle;
    bool isClear;
} Sample;

static double signOf(double winding) {
    return fabs(winding) > 0.5 ? -1.0 : 1.0;
}

static Sample takeSample(const srField* field, srVec3 point, int32_t guess) {
    Sample sample = {.point = point, .triangle = guess};
    sample.distance = srBvh_DistanceGuessed(field->bvh, point, &sample.triangle, NULL);
    sample.winding = srBvh_WindingNumber(field->bvh, point);
    double nearest = fabs(sample.winding) > 0.5 ? 1.0 : 0.0;
    sample.isClear = fabs(fabs(sample.winding) - nearest) < CLEAR_WINDING;
    return sample;
}

double srField_Value(const srField* field, srVec3 point) {
    Sample sample = takeSample(field, point, SR_NULL_INDEX);
    return signOf(sample.winding) * sample.distance - field->offset;
}

// The winding number is harmonic off the surface. Where 0 <= w <= 1, Harnack's inequality bounds it within r
// = half the distance to the surface by (1 + r) / (1 - r)^2 = 6 times its value (or that of 1 - w) at the
// centre: from below 0.05 it cannot reach one half, even where the surface is open.
static bool canCopy(const Sample* sample, double step, double farEnough) {
    return sample->isClear && step <= 0.5 * sample->distance && sample->distance - step >= farEnough;
}

typedef struct Sampling {
    const srField* field;
    const srLattice* lattice;
    double* phi;
    int32_t blocksX, blocksY;
} Sampling;

static int32_t atMost(int32_t value, int32_t limit) {
    return value < limit ? value : limit;
}

static void samplePoint(const Sampling* sampling, int32_t point, Sample* known) {
    const srLattice* lattice = sampling->lattice;
    double offset = sampling->field->offset;
    srVec3 position = srLattice_Point(lattice, point);
    double step = srDistance(position, known->point);
    double distance = known->distance - step;
    if (!canCopy(known, step, offset + 2.0 * lattice->spacing)) {
        *known = takeSample(sampling->field, position, known->triangle);
        distance = known->distance;
    }
    sampling->phi[point] = signOf(known->winding) * distance - offset;
}

static void sampleBlock(const Sampling* sampling, int32_t block) {
    const srLattice* lattice = sampling->lattice;
    int32_t i0 = BLOCK_EDGE * (block % sampling->blocksX);
    int32_t j0 = BLOCK_EDGE * (block / sampling->blocksX % sampling->blocksY);
    int32_t k0 = BLOCK_EDGE * (block / (sampling->blocksX * sampling->blocksY));
    double half = 0.5 * BLOCK_EDGE;
    srVec3 cubes = {i0 + half, j0 + half, k0 + half};
    Sample known =
        takeSample(sampling->field, srMulAdd(lattice->origin, lattice->spacing, cubes), SR_NULL_INDEX);
    for (int32_t k = k0; k < atMost(k0 + BLOCK_EDGE, lattice->nz); k++) {
        for (int32_t j = j0; j < atMost(j0 + BLOCK_EDGE, lattice->ny); j++) {
            int32_t row = (k * lattice->ny + j) * lattice->nx;
            for (int32_t point = 2 * (row + i0); point < 2 * (row + atMost(i0 + BLOCK_EDGE, lattice->nx));
                 point++) {
                samplePoint(sampling, point, &known);
            }
        }
    }
}

static void sampleRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t block = begin; block < end; block++) {
        sampleBlock(context, block);
    }
}

srResult srField_Sample(const srField* field, const srLattice* lattice, double* outPhi,
                        const srProgress* progress) {
    Sampling sampling = {.field = field, .lattice = lattice, .phi = outPhi};
    sampling.blocksX = (lattice->nx + BLOCK_EDGE - 1) / BLOCK_EDGE;
    sampling.blocksY = (lattice->ny + BLOCK_EDGE - 1) / BLOCK_EDGE;
    int32_t blocksZ = (lattice->nz + BLOCK_EDGE - 1) / BLOCK_EDGE;
    int32_t blockCount = sampling.blocksX * sampling.blocksY * blocksZ;
    return srParallelForWithProgress(sampleRange, blockCount, 1, BATCH_SIZE, &sampling, progress);
}
