// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangles over points, as an artist's mesh is: what the corpus is made of. Memory is the C library's own,
// so that the library's byte count tells of the library alone; running out of it ends the program.

#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct srSoup {
    float* points; ///< 3 a point.
    int32_t pointCount;
    int32_t pointCapacity;
    int32_t* triangles; ///< 3 points each.
    int32_t triangleCount;
    int32_t triangleCapacity;
} srSoup;

int32_t srSoup_AddPoint(srSoup* soup, double x, double y, double z);
void srSoup_AddTriangle(srSoup* soup, int32_t a, int32_t b, int32_t c);

/// Two triangles, a b c and a c d.
void srSoup_AddQuad(srSoup* soup, int32_t a, int32_t b, int32_t c, int32_t d);

/// All of another behind what is there.
void srSoup_Append(srSoup* soup, const srSoup* other);

srSoup srCopySoup(const srSoup* soup);

/// Accepts a zeroed soup, and zeroes it.
void srFreeSoup(srSoup* soup);

/// Scales each axis, then moves.
void srSoup_Place(srSoup* soup, const double scale[3], const double offset[3]);

/// Bounds of the finite points that triangles use; false when there are none.
bool srSoup_GetBounds(const srSoup* soup, double lower[3], double upper[3]);

/// Diagonal of the bounds, 0 without any.
double srSoup_GetSize(const srSoup* soup);

/// Corner `c` of a triangle.
void srSoup_GetCorner(const srSoup* soup, int32_t triangle, int c, double out[3]);

/// Every edge belongs to two triangles, which run along it in opposite ways.
bool srSoup_IsClosed(const srSoup* soup);

/// A copy in which points at one place are one, without triangles that have a corner twice, no area, a number
/// that is not finite, or stand there already.
srSoup srWeldSoup(const srSoup* soup);

/// A reproducible random number in [0, 1); the state is any non-zero number.
double srSoupRandom(uint64_t* state);

/// For all files here: memory or the end of the program.
void* srCorpusAlloc(void* block, int64_t count, int64_t size);
