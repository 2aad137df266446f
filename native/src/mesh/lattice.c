// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the lattice's points lie and which is next to which.

#include "mesh/lattice.h"

// Cubes from the middle of the box to one side.
static double halfCount(double extent, double margin, double spacing) {
    return ceil((0.5 * extent + margin) / spacing) + 2.0;
}

static void fillSteps(srLattice* lattice) {
    const int32_t strides[3] = {1, lattice->nx, lattice->nx * lattice->ny};
    for (int axis = 0; axis < 3; axis++) {
        for (int kind = 0; kind < 2; kind++) {
            lattice->neighbourSteps[kind][2 * axis] = 2 * strides[axis];
            lattice->neighbourSteps[kind][2 * axis + 1] = -2 * strides[axis];
        }
    }

    // a centre's own cube has the low corners, a corner's own cube the high centre
    for (int bits = 0; bits < 8; bits++) {
        int32_t cubes[2] = {0, 0};
        for (int axis = 0; axis < 3; axis++) {
            bool positive = (bits >> axis & 1) != 0;
            cubes[0] -= positive ? 0 : strides[axis];
            cubes[1] += positive ? strides[axis] : 0;
        }
        lattice->neighbourSteps[0][SR_FIRST_SHORT + bits] = 2 * cubes[0] + 1;
        lattice->neighbourSteps[1][SR_FIRST_SHORT + bits] = 2 * cubes[1] - 1;
    }
}

bool srMakeLattice(srVec3 lower, srVec3 upper, double margin, double spacing, int32_t maxPointCount,
                   srLattice* outLattice) {
    srVec3 extent = srSub(upper, lower), middle = srScale(0.5, srAdd(lower, upper));
    double x = halfCount(extent.x, margin, spacing);
    double y = halfCount(extent.y, margin, spacing);
    double z = halfCount(extent.z, margin, spacing);
    if (!(16.0 * x * y * z <= (double)maxPointCount)) {
        return false;
    }
    srLattice lattice = {
        .spacing = spacing, .nx = 2 * (int32_t)x, .ny = 2 * (int32_t)y, .nz = 2 * (int32_t)z};
    lattice.origin = srMulAdd(middle, -spacing, (srVec3){x, y, z});
    lattice.pointCount = 2 * lattice.nx * lattice.ny * lattice.nz;
    fillSteps(&lattice);
    *outLattice = lattice;
    return true;
}

bool srLattice_Pad(srLattice* lattice, int32_t share, int32_t maxPointCount) {
    const int32_t counts[3] = {lattice->nx, lattice->ny, lattice->nz};
    int32_t padded[3];
    double points = 2.0;
    for (int axis = 0; axis < 3; axis++) {
        padded[axis] = (counts[axis] + 2 * share - 1) / (2 * share) * (2 * share);
        points *= padded[axis];
    }
    if (!(points <= (double)maxPointCount)) {
        return false;
    }
    const srVec3 more = {padded[0] - counts[0], padded[1] - counts[1], padded[2] - counts[2]};
    lattice->origin = srMulAdd(lattice->origin, -0.5 * lattice->spacing, more);
    lattice->nx = padded[0];
    lattice->ny = padded[1];
    lattice->nz = padded[2];
    lattice->pointCount = 2 * lattice->nx * lattice->ny * lattice->nz;
    fillSteps(lattice);
    return true;
}

bool srLattice_Shift(srLattice* lattice, int axis, int32_t maxPointCount) {
    const int32_t more[3] = {axis == 0, axis == 1, axis == 2};
    const int32_t counts[3] = {lattice->nx + more[0], lattice->ny + more[1], lattice->nz + more[2]};
    if (!(2.0 * counts[0] * counts[1] * counts[2] <= (double)maxPointCount)) {
        return false;
    }
    lattice->origin = srMulAdd(lattice->origin, -0.5 * lattice->spacing, (srVec3){more[0], more[1], more[2]});
    lattice->nx = counts[0];
    lattice->ny = counts[1];
    lattice->nz = counts[2];
    lattice->pointCount = 2 * lattice->nx * lattice->ny * lattice->nz;
    fillSteps(lattice);
    return true;
}

srLattice srLattice_Halve(const srLattice* lattice) {
    srLattice half = *lattice;
    half.spacing = 0.5 * lattice->spacing;
    half.nx = 2 * lattice->nx;
    half.ny = 2 * lattice->ny;
    half.nz = 2 * lattice->nz;
    half.pointCount = 8 * lattice->pointCount;
    fillSteps(&half);
    return half;
}

srVec3 srLattice_Point(const srLattice* lattice, int32_t point) {
    int32_t cube = point / 2;
    double shift = (point & 1) != 0 ? 0.5 : 0.0;
    srVec3 cubes = {cube % lattice->nx + shift, cube / lattice->nx % lattice->ny + shift,
                    cube / (lattice->nx * lattice->ny) + shift};
    return srMulAdd(lattice->origin, lattice->spacing, cubes);
}

srVec3 srLattice_Step(const srLattice* lattice, int direction) {
    double step[3] = {0.0, 0.0, 0.0};
    if (direction < SR_FIRST_SHORT) {
        step[direction / 2] = (direction & 1) != 0 ? -1.0 : 1.0;
    } else {
        for (int axis = 0; axis < 3; axis++) {
            step[axis] = ((direction - SR_FIRST_SHORT) >> axis & 1) != 0 ? 0.5 : -0.5;
        }
    }
    return srScale(lattice->spacing, (srVec3){step[0], step[1], step[2]});
}

int srFindDirection(const int offset[3]) {
    for (int axis = 0; axis < 3; axis++) {
        if (offset[axis] == 2 || offset[axis] == -2) {
            return 2 * axis + (offset[axis] < 0);
        }
    }
    return SR_FIRST_SHORT + (offset[0] > 0) + 2 * (offset[1] > 0) + 4 * (offset[2] > 0);
}
