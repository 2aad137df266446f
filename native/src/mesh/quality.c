// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dihedral angles and volumes.

#include "mesh/quality.h"

#define DEGREES_PER_RADIAN (180.0 / 3.14159265358979323846)

// The angle at the edge p q between the faces to r and to s. By atan2: right for flat angles as well.
static double dihedral(srVec3 p, srVec3 q, srVec3 r, srVec3 s) {
    srVec3 edge = srSub(q, p);
    srVec3 u = srCross(edge, srSub(r, p)), v = srCross(edge, srSub(s, p));
    return DEGREES_PER_RADIAN * atan2(srLength(srCross(u, v)), srDot(u, v));
}

// At the edge `e` of 0 to 5 of a cell.
static double dihedralOf(const srCage* cage, int32_t cell, int e) {
    static const int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                    {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    const int32_t* n = cage->cells[cell];
    return dihedral(cage->nodes[n[edges[e][0]]], cage->nodes[n[edges[e][1]]], cage->nodes[n[edges[e][2]]],
                    cage->nodes[n[edges[e][3]]]);
}

void srMeasureCells(const srCage* cage, double* outMinDihedralDegrees, double* outMaxDihedralDegrees,
                    double* outVolume) {
    *outMinDihedralDegrees = 180.0;
    *outMaxDihedralDegrees = 0.0;
    *outVolume = 0.0;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        *outVolume += srCellVolume(cage, cell);
        for (int e = 0; e < 6; e++) {
            double angle = dihedralOf(cage, cell, e);
            *outMinDihedralDegrees = fmin(*outMinDihedralDegrees, angle);
            *outMaxDihedralDegrees = fmax(*outMaxDihedralDegrees, angle);
        }
    }
}

void srCountDihedrals(const srCage* cage, int32_t* outCounts, int32_t binCount) {
    for (int32_t bin = 0; bin < binCount; bin++) {
        outCounts[bin] = 0;
    }
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        for (int e = 0; e < 6; e++) {
            double angle = dihedralOf(cage, cell, e);
            int32_t bin = (int32_t)(angle / 180.0 * binCount);
            outCounts[bin < 0 ? 0 : bin < binCount ? bin : binCount - 1]++;
        }
    }
}
