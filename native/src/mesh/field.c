// SPDX-License-Identifier: GPL-3.0-or-later
//
// One value, and many. A grid is halved again and again: a part that is wholly far from the surface is filled
// at once, so the cost is that of the points near it. Winding numbers, the dearest, are asked for only where
// the sign cannot be known from a point nearby.

#include "mesh/field.h"

#include <math.h>

// Edge of a block in cubes, and blocks between two looks at the progress: about 10 ms of work on one core
#define BLOCK_EDGE 4
#define BATCH_SIZE 16

// A part with no edge longer than this is taken point by point.
#define LEAF_EDGE 2

// Winding numbers this near to a whole number speak for their surroundings, see isKnown.
#define CLEAR_WINDING 0.05

// Rounding must not let two points see each other through a triangle.
#define ALMOST_ONE 0.999

srField srMakeField(const srSolid* solid, double offset) {
    return (srField){.bvh = solid->shellTree,
                     .offset = offset,
                     .sheets = solid->sheetTree,
                     .halfThickness = solid->halfThickness,
                     .isRepaired = true,
                     .isWatertight = solid->isWatertight};
}

static double distanceGuessed(const srBvh* bvh, srVec3 point, int32_t* triangle1) {
    if (bvh == NULL) {
        return HUGE_VAL;
    }
    int32_t triangle = *triangle1 - 1;
    double distance = srBvh_DistanceGuessed(bvh, point, &triangle, NULL);
    *triangle1 = triangle + 1;
    return distance;
}

// Whether the sign at the memory's point is that at a point `step` from it with surface at `distance`. Where
// the surface is closed: nothing is crossed on the way from one to the other. Where it is open: the winding
// number is harmonic off the surface, and where 0 <= w <= 1, Harnack's inequality bounds it within r = half
// the distance to the surface by (1 + r) / (1 - r)^2 = 6 times its value (or that of 1 - w) at the centre:
// from below 0.05 it cannot reach one half.
static bool isKnown(const srField* field, const srFieldMemory* memory, double step, double distance) {
    if (!memory->isClear) {
        return false;
    }
    return field->isWatertight ? step < ALMOST_ONE * fmax(memory->distance, distance)
                               : step <= 0.5 * memory->distance;
}

static bool isClear(const srField* field, double winding) {
    double nearest = field->isWatertight ? floor(winding + 0.5) : winding > 0.5 ? 1.0 : winding < -0.5 ? -1.0 : 0.0;
    return fabs(winding - nearest) < CLEAR_WINDING;
}

static double signOf(const srField* field, const srFieldMemory* memory) {
    bool isInside = (field->isRepaired ? memory->winding : fabs(memory->winding)) > 0.5;
    return isInside ? -1.0 : 1.0;
}

static void remember(const srField* field, srVec3 point, double distance, srFieldMemory* memory) {
    memory->point = point;
    memory->distance = distance;
    memory->winding = srBvh_WindingNumber(field->bvh, point);
    memory->isClear = isClear(field, memory->winding);
}

// -1 inside, 1 outside; `distance` is that of the point.
static double signAt(const srField* field, srVec3 point, double distance, srFieldMemory* memory) {
    if (field->bvh == NULL) {
        return 1.0;
    }
    if (!isKnown(field, memory, srDistance(point, memory->point), distance)) {
        remember(field, point, distance, memory);
    }
    return signOf(field, memory);
}

// The one sign in all of a ball whose centre is farther than its radius from the surface; 0 when that cannot
// be told.
static double signInBall(const srField* field, srVec3 centre, double radius, double distance,
                         srFieldMemory* memory) {
    if (field->isWatertight || field->bvh == NULL) {
        return signAt(field, centre, distance, memory);
    }
    if (!isKnown(field, memory, srDistance(centre, memory->point) + radius, distance)) {
        remember(field, centre, distance, memory);
    }
    bool isOne = isKnown(field, memory, srDistance(centre, memory->point) + radius, distance);
    return isOne ? signOf(field, memory) : 0.0;
}

double srField_ValueNear(const srField* field, srVec3 point, srFieldMemory* memory) {
    double distance = distanceGuessed(field->bvh, point, &memory->triangle1);
    double phi = signAt(field, point, distance, memory) * distance;
    if (field->sheets != NULL) {
        phi = fmin(phi, distanceGuessed(field->sheets, point, &memory->sheet1) - field->halfThickness);
    }
    return phi - field->offset;
}

double srField_Value(const srField* field, srVec3 point) {
    srFieldMemory memory = {0};
    return srField_ValueNear(field, point, &memory);
}

// grids

// Cells of a grid: those of a box hold a point at their low corner, those of a lattice one in the middle too.
typedef struct Sampling {
    const srField* field;
    srVec3 origin;
    double spacing;
    int32_t counts[3];
    double band;
    bool hasMiddles;
    double* phi;
    int32_t blocksX, blocksY;
} Sampling;

typedef struct Part {
    int32_t begin[3];
    int32_t end[3];
} Part;

static srVec3 placeOf(const Sampling* sampling, double i, double j, double k) {
    return srMulAdd(sampling->origin, sampling->spacing, (srVec3){i, j, k});
}

static void setCell(const Sampling* sampling, int32_t i, int32_t j, int32_t k, double corner, double middle) {
    int64_t cell = ((int64_t)k * sampling->counts[1] + j) * sampling->counts[0] + i;
    if (sampling->hasMiddles) {
        sampling->phi[2 * cell] = corner;
        sampling->phi[2 * cell + 1] = middle;
    } else {
        sampling->phi[cell] = corner;
    }
}

static void fillPart(const Sampling* sampling, const Part* part, double value) {
    for (int32_t k = part->begin[2]; k < part->end[2]; k++) {
        for (int32_t j = part->begin[1]; j < part->end[1]; j++) {
            for (int32_t i = part->begin[0]; i < part->end[0]; i++) {
                setCell(sampling, i, j, k, value, value);
            }
        }
    }
}

static void takePoints(const Sampling* sampling, const Part* part, srFieldMemory* memory) {
    const srField* field = sampling->field;
    for (int32_t k = part->begin[2]; k < part->end[2]; k++) {
        for (int32_t j = part->begin[1]; j < part->end[1]; j++) {
            for (int32_t i = part->begin[0]; i < part->end[0]; i++) {
                double corner = srField_ValueNear(field, placeOf(sampling, i, j, k), memory);
                double middle = 0.0;
                if (sampling->hasMiddles) {
                    middle = srField_ValueNear(field, placeOf(sampling, i + 0.5, j + 0.5, k + 0.5), memory);
                }
                setCell(sampling, i, j, k, corner, middle);
            }
        }
    }
}

// Fills the part when all of it is far from the level set.
static bool fillIfFar(const Sampling* sampling, const Part* part, srFieldMemory* memory) {
    const srField* field = sampling->field;
    double overhang = sampling->hasMiddles ? 0.5 : 0.0, middle[3], half[3];
    for (int axis = 0; axis < 3; axis++) {
        half[axis] = 0.5 * (part->end[axis] - 1 - part->begin[axis] + overhang);
        middle[axis] = part->begin[axis] + half[axis];
    }
    srVec3 centre = placeOf(sampling, middle[0], middle[1], middle[2]);
    double radius = sampling->spacing * srLength((srVec3){half[0], half[1], half[2]});
    double far = radius + sampling->band + fabs(field->offset);
    double distance = distanceGuessed(field->bvh, centre, &memory->triangle1);
    if (distance < far) {
        return false;
    }
    double sign = signInBall(field, centre, radius, distance, memory);
    if (sign == 0.0) {
        return false;
    }
    double phi = sign * (distance - radius);
    if (sign > 0.0 && field->sheets != NULL) {
        double sheet = distanceGuessed(field->sheets, centre, &memory->sheet1) - field->halfThickness;
        if (sheet < far) {
            return false;
        }
        phi = fmin(phi, sheet - radius);
    }
    fillPart(sampling, part, phi - field->offset);
    return true;
}

static void samplePart(const Sampling* sampling, const Part* part, srFieldMemory* memory) {
    int longest = 0;
    for (int axis = 1; axis < 3; axis++) {
        if (part->end[axis] - part->begin[axis] > part->end[longest] - part->begin[longest]) {
            longest = axis;
        }
    }
    int32_t edge = part->end[longest] - part->begin[longest];
    if (edge <= 0 || fillIfFar(sampling, part, memory)) {
        return;
    }
    if (edge <= LEAF_EDGE) {
        takePoints(sampling, part, memory);
        return;
    }
    Part low = *part, high = *part;
    low.end[longest] = high.begin[longest] = part->begin[longest] + edge / 2;
    samplePart(sampling, &low, memory);
    samplePart(sampling, &high, memory);
}

void srField_SampleBox(const srField* field, const srSampleBox* box, double* outPhi) {
    const Sampling sampling = {.field = field,
                               .origin = box->origin,
                               .spacing = box->spacing,
                               .counts = {box->nx, box->ny, box->nz},
                               .band = box->band,
                               .phi = outPhi};
    const Part whole = {{0, 0, 0}, {box->nx, box->ny, box->nz}};
    srFieldMemory memory = {0};
    samplePart(&sampling, &whole, &memory);
}

static void sampleBlocks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Sampling* sampling = context;
    for (int32_t block = begin; block < end; block++) {
        const int32_t at[3] = {block % sampling->blocksX, block / sampling->blocksX % sampling->blocksY,
                               block / sampling->blocksX / sampling->blocksY};
        Part part;
        for (int axis = 0; axis < 3; axis++) {
            int32_t rest = sampling->counts[axis] - BLOCK_EDGE * at[axis];
            part.begin[axis] = BLOCK_EDGE * at[axis];
            part.end[axis] = part.begin[axis] + (rest < BLOCK_EDGE ? rest : BLOCK_EDGE);
        }
        srFieldMemory memory = {0};
        samplePart(sampling, &part, &memory);
    }
}

srResult srField_Sample(const srField* field, const srLattice* lattice, double* outPhi,
                        const srProgress* progress) {
    Sampling sampling = {.field = field,
                         .origin = lattice->origin,
                         .spacing = lattice->spacing,
                         .counts = {lattice->nx, lattice->ny, lattice->nz},
                         .band = 2.0 * lattice->spacing,
                         .hasMiddles = true,
                         .phi = outPhi};
    sampling.blocksX = (lattice->nx + BLOCK_EDGE - 1) / BLOCK_EDGE;
    sampling.blocksY = (lattice->ny + BLOCK_EDGE - 1) / BLOCK_EDGE;
    int32_t blocksZ = (lattice->nz + BLOCK_EDGE - 1) / BLOCK_EDGE;
    int32_t blockCount = sampling.blocksX * sampling.blocksY * blocksZ;
    return srParallelForWithProgress(sampleBlocks, blockCount, 1, BATCH_SIZE, &sampling, progress);
}
