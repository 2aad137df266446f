// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dihedral angles and volumes.

#include "mesh/quality.h"

#include <string.h>

#define DEGREES_PER_RADIAN (180.0 / 3.14159265358979323846)

// The angle at the edge p q between the faces to r and to s. By atan2: right for flat angles as well.
static double dihedral(srVec3 p, srVec3 q, srVec3 r, srVec3 s) {
    srVec3 edge = srSub(q, p);
    srVec3 u = srCross(edge, srSub(r, p)), v = srCross(edge, srSub(s, p));
    return DEGREES_PER_RADIAN * atan2(srLength(srCross(u, v)), srDot(u, v));
}

static const int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};

static double dihedralOf(const srCage* cage, int32_t cell, int e) {
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

// inner radius r = 3 V / A; outer R = |a2 (b x c) + b2 (c x a) + c2 (a x b)| / (12 V), a b c from one corner
static double aspectOf(const srCage* cage, int32_t cell) {
    const int32_t* n = cage->cells[cell];
    srVec3 a = srSub(cage->nodes[n[1]], cage->nodes[n[0]]);
    srVec3 b = srSub(cage->nodes[n[2]], cage->nodes[n[0]]);
    srVec3 c = srSub(cage->nodes[n[3]], cage->nodes[n[0]]);
    srVec3 ab = srCross(a, b), bc = srCross(b, c), ca = srCross(c, a);
    double sixVolumes = srDot(a, bc);
    double areas = srLength(ab) + srLength(bc) + srLength(ca) + srLength(srAdd(srAdd(ab, bc), ca));
    srVec3 sum = srScale(srDot(a, a), bc);
    sum = srMulAdd(sum, srDot(b, b), ca);
    sum = srMulAdd(sum, srDot(c, c), ab);
    double outer = srLength(sum) / (2.0 * sixVolumes);
    return 3.0 * (sixVolumes / areas) / outer;
}

static int clampIndex(double value, int count) {
    return value >= count ? count - 1 : value > 0.0 ? (int)value : 0;
}

void srCountDihedrals(const srCage* cage, int32_t* outCounts, int32_t binCount) {
    memset(outCounts, 0, (size_t)binCount * sizeof(int32_t));
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        for (int e = 0; e < 6; e++) {
            outCounts[clampIndex(dihedralOf(cage, cell, e) / 180.0 * binCount, binCount)]++;
        }
    }
}

void srCountAspects(const srCage* cage, int32_t* outCounts, int32_t binCount) {
    memset(outCounts, 0, (size_t)binCount * sizeof(int32_t));
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        outCounts[clampIndex(binCount * aspectOf(cage, cell), binCount)]++;
    }
}
