// SPDX-License-Identifier: GPL-3.0-or-later
//
// Clean shapes for the corpus: the primitives that a modelling program offers, and parts of characters that
// nearly touch themselves. All but the long ones are about two units large, around the origin, and seen
// counter-clockwise from outside; all are closed but for the sheets, which are said to be.

#pragma once

#include "corpus/soup.h"

typedef struct srShape {
    const char* name;
    void (*make)(srSoup* soup);
    bool isClosed;   ///< Else it has open sheets.
    bool isAllSheet; ///< Nothing of it encloses anything.
} srShape;

/// All of them, with their number.
const srShape* srGetShapes(int32_t* outCount);

/// Rods, ropes with round ends and boxes, many times as long as thick: along an axis, and tilted.
typedef struct srLongShape {
    const char* name;
    void (*make)(srSoup* soup); ///< Two units large.
    double ratio;               ///< Of length to thickness.
    bool isTilted;              ///< Off all axes.
} srLongShape;

const srLongShape* srGetLongShapes(int32_t* outCount);

/// The shape, drawn out to its length.
void srMakeLongShape(const srLongShape* shape, srSoup* soup);

/// Bars and boxes that cross, rings and pairs: along the axes, and tilted.
typedef struct srBarShape {
    const char* name;
    void (*make)(srSoup* soup); ///< Along the axes.
    bool isTilted;              ///< Off all axes.
    int32_t pieceCount;         ///< Which it falls into.
    double leastOverlap;        ///< By which boxes that are one piece overlap at least.
} srBarShape;

const srBarShape* srGetBarShapes(int32_t* outCount);

/// The shape, tilted if it is.
void srMakeBarShape(const srBarShape* shape, srSoup* soup);

/// A point, turned by thirds of a right angle about z and about x.
void srTilt(float x[3]);

void srMakeCube(srSoup* soup, int32_t cuts);
void srMakeBall(srSoup* soup, int32_t around, int32_t down, double radius);

/// The zero of a function, by tetrahedra of a lattice of `count` cubes a side over -size .. size; below zero
/// is inside.
typedef double srShapeFcn(const double x[3]);
void srMakeIsosurface(srSoup* soup, srShapeFcn* function, double size, int32_t count);

/// Two places on one shape that lie beside each other but are far apart through the flesh.
typedef struct srApart {
    const char* shape;
    double a[3]; ///< In the flesh, a little below the skin.
    double b[3];
    double leastPath; ///< Through the flesh.
} srApart;

const srApart* srGetAparts(int32_t* outCount);
