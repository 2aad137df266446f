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

// Winding numbers this near to a whole number are as good as that.
#define CLEAR_WINDING 0.05

// How far winding numbers may go from a whole one before their surroundings are asked anew: with the tree's
// error still on the same side of 1/2
#define SAFE_WINDING 0.3
#define WINDING_ERROR 0.005

// Rims that are looked at one by one for a value near an opening
#define MAX_RIM_COUNT 4096

#define PI 3.14159265358979323846

// Rounding must not let two points see each other through a triangle.
#define ALMOST_ONE 0.999

srField srMakeField(const srSolid* solid, double offset) {
    return (srField){.bvh = solid->shellTree,
                     .offset = offset,
                     .sheets = solid->sheetTree,
                     .halfThickness = solid->halfThickness,
                     .rims = solid->rims,
                     .rimCount = solid->rimCount,
                     .isRepaired = true,
                     .isWatertight = solid->isWatertight};
}

static double findNearest(const srBvh* bvh, srVec3 point, int32_t* triangle1, srVec3* outNearest) {
    if (bvh == NULL) {
        return HUGE_VAL;
    }
    int32_t triangle = *triangle1 - 1;
    double distance = srBvh_DistanceGuessed(bvh, point, &triangle, outNearest);
    *triangle1 = triangle + 1;
    return distance;
}

static double distanceGuessed(const srBvh* bvh, srVec3 point, int32_t* triangle1) {
    return findNearest(bvh, point, triangle1, NULL);
}

// Where the surface is open, the winding number is harmonic off it. Let u be w or 1 - w with 0 <= u <= 1. By
// Harnack's inequality u grows, within a share r of the distance to the surface, by (1 + r) / (1 - r)^2 at
// most. The share within which it grows by `factor` = K at most:
//   (1 + r) / (1 - r)^2 = K,   r = (2 K + 1 - sqrt(8 K + 1)) / (2 K)
static double shareOfGrowth(double factor) {
    double r = (2.0 * factor + 1.0 - sqrt(8.0 * factor + 1.0)) / (2.0 * factor);
    return r > 0.0 ? r : 0.0;
}

// Length of the gradient of the winding number, by Biot and Savart's law over the rims of the surface: a rim
// from a to b (seen from the point) gives
//   1 / (4 pi) (a x b) (|a| + |b|) / (|a| |b| (|a| |b| + a . b))
static double windingSlope(const srField* field, srVec3 point) {
    srVec3 sum = {0};
    for (int32_t i = 0; i < field->rimCount; i++) {
        srVec3 a = srSub(field->rims[i].from, point), b = srSub(field->rims[i].to, point);
        double la = srLength(a), lb = srLength(b), lalb = la * lb;
        double below = lalb * (lalb + srDot(a, b));
        sum = below > 0.0 ? srMulAdd(sum, (la + lb) / below, srCross(a, b)) : sum;
    }
    return srLength(sum) / (4.0 * PI);
}

// The inside ends in an opening where w = 1/2, without a triangle. How far away that is, by the slope of w;
// at most the distance to the triangles. Up to CLEAR_WINDING nothing is said. With many rims the answer is
// that for the axis of a round opening instead, where the distance to the rim times |1 - 2 w| is that to the
// lid.
static double distanceToLid(const srField* field, srVec3 point, double winding, double distance) {
    double u = fmin(winding, 1.0 - winding);
    if (!(u > CLEAR_WINDING)) {
        return distance;
    }
    double part = fabs(1.0 - 2.0 * winding);
    if (field->rimCount == 0 || field->rimCount > MAX_RIM_COUNT) {
        return part / (1.0 - 2.0 * CLEAR_WINDING) * distance;
    }
    // from 0.1 to CLEAR_WINDING it gives way to the distance, so that there is no jump
    double share = fmin((u - CLEAR_WINDING) / CLEAR_WINDING, 1.0);
    double slope = windingSlope(field, point);
    double lid = 0.5 * part < slope * distance ? 0.5 * part / slope : distance;
    return distance + share * (lid - distance);
}

// Within which share of the distance the sign stays the same and, where it matters, u below CLEAR_WINDING.
static double shareKnown(const srField* field, double winding) {
    double whole = field->isWatertight ? floor(winding + 0.5) : fmin(floor(fabs(winding) + 0.5), 1.0);
    double u = fabs((field->isWatertight ? winding : fabs(winding)) - whole);
    if (field->isWatertight) {
        return u < CLEAR_WINDING ? 1.0 : 0.0;
    }
    return shareOfGrowth((field->isRepaired ? CLEAR_WINDING : SAFE_WINDING) / (u + WINDING_ERROR));
}

// Whether the sign at the memory's point is that at a point `step` from it with surface at `distance`. Where
// the surface is closed: when nothing is crossed on the way from one to the other.
static bool isKnown(const srField* field, const srFieldMemory* memory, double step, double distance) {
    double reach = field->isWatertight ? fmax(memory->distance, distance) : memory->distance;
    return step < ALMOST_ONE * memory->share * reach;
}

static double signOf(const srField* field, const srFieldMemory* memory) {
    bool isInside = (field->isRepaired ? memory->winding : fabs(memory->winding)) > 0.5;
    return isInside ? -1.0 : 1.0;
}

static void remember(const srField* field, srVec3 point, double distance, srFieldMemory* memory) {
    memory->point = point;
    memory->distance = distance;
    memory->winding = srBvh_WindingNumber(field->bvh, point);
    memory->share = shareKnown(field, memory->winding);
}

// Makes the memory's sign that of a point at distance d; whether it had to ask.
static bool bringNear(const srField* field, srVec3 point, double distance, srFieldMemory* memory) {
    bool wasKnown = isKnown(field, memory, srDistance(point, memory->point), distance);
    if (!wasKnown) {
        remember(field, point, distance, memory);
    }
    return !wasKnown;
}

// s d of a point at distance d.
static double signedDistance(const srField* field, srVec3 point, double distance, srFieldMemory* memory) {
    if (field->bvh == NULL) {
        return distance;
    }
    bool isNew = bringNear(field, point, distance, memory);
    if (isNew && field->isRepaired && !field->isWatertight) {
        distance = distanceToLid(field, point, memory->winding, distance);
    }
    return signOf(field, memory) * distance;
}

// The one sign in all of a ball whose centre is farther than its radius from the surface; 0 when that cannot
// be told.
static double signInBall(const srField* field, srVec3 centre, double radius, double distance,
                         srFieldMemory* memory) {
    if (field->bvh == NULL) {
        return 1.0;
    }
    if (field->isWatertight) {
        return signedDistance(field, centre, distance, memory) < 0.0 ? -1.0 : 1.0;
    }
    if (!isKnown(field, memory, srDistance(centre, memory->point) + radius, distance)) {
        remember(field, centre, distance, memory);
    }
    bool isOne = isKnown(field, memory, srDistance(centre, memory->point) + radius, distance);
    return isOne ? signOf(field, memory) : 0.0;
}

// Distances from a point to triangles and to sheets
typedef struct Reach {
    srVec3 point;
    double distance;
    double sheet;
} Reach;

static double evaluate(const srField* field, srVec3 point, srFieldMemory* memory, Reach* outReach) {
    double distance = distanceGuessed(field->bvh, point, &memory->triangle1);
    double sheet = distanceGuessed(field->sheets, point, &memory->sheet1);
    *outReach = (Reach){point, distance, sheet};
    double phi = signedDistance(field, point, distance, memory);
    return fmin(phi, sheet - field->halfThickness) - field->offset;
}

srFieldLook srField_Look(const srField* field, srVec3 point, srFieldMemory* memory) {
    srFieldLook look = {.nearest = point, .sheetNearest = point};
    look.distance = findNearest(field->bvh, point, &memory->triangle1, &look.nearest);
    look.sheetDistance = findNearest(field->sheets, point, &memory->sheet1, &look.sheetNearest);
    look.isInside = look.sheetDistance < field->halfThickness;
    if (field->bvh != NULL) {
        bringNear(field, point, look.distance, memory);
        look.isInside |= signOf(field, memory) < 0.0 && look.distance > 0.0;
    }
    look.triangle = memory->triangle1 - 1;
    look.winding = memory->winding;
    return look;
}

double srField_ValueNear(const srField* field, srVec3 point, srFieldMemory* memory) {
    Reach reach;
    return evaluate(field, point, memory, &reach);
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

// As evaluate, or a bound where the last point's reach says that this one is far.
static double valueAt(const Sampling* sampling, srVec3 point, srFieldMemory* memory, Reach* reach) {
    const srField* field = sampling->field;
    double step = srDistance(point, reach->point), far = sampling->band + fabs(field->offset);
    double distance = reach->distance - step, sheet = reach->sheet - step - field->halfThickness;
    bool isFar = distance >= far && sheet >= far && field->bvh != NULL &&
                 isKnown(field, memory, srDistance(point, memory->point), distance);
    if (!isFar) {
        return evaluate(field, point, memory, reach);
    }
    return fmin(signOf(field, memory) * distance, sheet) - field->offset;
}

static void takePoints(const Sampling* sampling, const Part* part, srFieldMemory* memory) {
    Reach reach = {.distance = 0.0};
    for (int32_t k = part->begin[2]; k < part->end[2]; k++) {
        for (int32_t j = part->begin[1]; j < part->end[1]; j++) {
            for (int32_t i = part->begin[0]; i < part->end[0]; i++) {
                double corner = valueAt(sampling, placeOf(sampling, i, j, k), memory, &reach);
                double middle = 0.0;
                if (sampling->hasMiddles) {
                    middle = valueAt(sampling, placeOf(sampling, i + 0.5, j + 0.5, k + 0.5), memory, &reach);
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
