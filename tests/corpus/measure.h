// SPDX-License-Identifier: GPL-3.0-or-later
//
// The checker's own geometry, by the plainest means there are: no tree, no grid, every triangle for every
// question. Nothing of it is shared with the library.

#pragma once

#include "corpus/soup.h"

/// The sign of the volume of a tetrahedron with corners in single precision, exactly: 1, 0 or -1.
int srSignOfVolume(const float a[3], const float b[3], const float c[3], const float d[3]);

/// Triangles with spheres around them, so that far ones are passed over. Keeps the soup's pointer.
typedef struct srScan {
    const srSoup* soup;
    double (*spheres)[4]; ///< Centre and radius.
    int32_t* triangles;   ///< Those that are finite and have three corners.
    int32_t count;
    bool isClosed;
    double size;
} srScan;

srScan srCreateScan(const srSoup* soup);

/// Accepts a zeroed scan.
void srDestroyScan(srScan* scan);

/// The distance to the nearest triangle; which one, and where on it, unless null. Infinite without any.
double srScan_Distance(const srScan* scan, const double x[3], int32_t* outTriangle, double outNearest[3]);

/// The solid angle of all triangles over 4 pi, by the formula of van Oosterom and Strackee (1983).
double srScan_Winding(const srScan* scan, const double x[3]);

/// The surface winds more than half around the point, in either sense. For a closed one by counting what a
/// ray crosses, which is much faster.
bool srScan_IsInside(const srScan* scan, const double x[3]);

/// In which share of all directions skin is seen from a point, whichever way it faces: from 200 rays.
double srScan_Cover(const srScan* scan, const double x[3]);

typedef struct srEstimate {
    double value;
    double error; ///< One standard error.
} srEstimate;

/// The volume that a closed surface winds around, in either sense, from rays along z through jittered
/// squares: where a ray is inside follows from the signs of what it crosses.
srEstimate srEstimateClosedVolume(const srSoup* soup, uint64_t seed);

/// The same for any soup, from jittered points.
srEstimate srEstimateOpenVolume(const srScan* scan, uint64_t seed);

/// The volume that walls and sheets must be given to be `thickness` strong.
srEstimate srEstimateThinVolume(const srScan* scan, double thickness, uint64_t seed);

/// A point on a triangle, evenly by area over the soup. `areas` is what srSumAreas gave.
double* srSumAreas(const srScan* scan);
int32_t srPickPoint(const srScan* scan, const double* areas, uint64_t* random, double out[3]);
