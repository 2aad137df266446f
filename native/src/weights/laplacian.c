// SPDX-License-Identifier: GPL-3.0-or-later
//
// One block a cell.

#include "weights/laplacian.h"

// Six volumes times the gradient of a corner's hat function is the area vector of the opposite face, twice,
// pointing to the corner; so L_ij = n_i . n_j / (36 V).
static void faceVectors(const srCage* cage, int32_t cell, srVec3 n[4]) {
    const int32_t* corners = cage->cells[cell];
    srVec3 a = cage->nodes[corners[0]];
    srVec3 ab = srSub(cage->nodes[corners[1]], a), ac = srSub(cage->nodes[corners[2]], a);
    srVec3 ad = srSub(cage->nodes[corners[3]], a);
    n[1] = srCross(ac, ad);
    n[2] = srCross(ad, ab);
    n[3] = srCross(ab, ac);
    n[0] = srScale(-1.0, srAdd(n[1], srAdd(n[2], n[3])));
}

void srFillLaplacian(const srCage* cage, srTriplet* outTriplets) {
    srTriplet* next = outTriplets;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        const int32_t* corners = cage->cells[cell];
        srVec3 n[4];
        faceVectors(cage, cell, n);
        double scale = 1.0 / (36.0 * srCellVolume(cage, cell));
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b <= a; b++) {
                bool isLower = corners[a] >= corners[b];
                *next++ = (srTriplet){
                    .row = isLower ? corners[a] : corners[b],
                    .column = isLower ? corners[b] : corners[a],
                    .value = scale * srDot(n[a], n[b]),
                };
            }
        }
    }
}
