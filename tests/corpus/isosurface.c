// SPDX-License-Identifier: GPL-3.0-or-later
//
// The zero of a function by marching tetrahedra: six a cube, all around its diagonal, so that neighbours
// agree on every face. The surface is closed and manifold; points on one edge of the lattice are made one by
// welding.

#include "corpus/shapes.h"

#include <stdlib.h>

typedef struct srGrid {
    srShapeFcn* function;
    double size;
    int32_t count;
    double* values;
} srGrid;

static void cornerOf(const srGrid* grid, const int32_t at[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = grid->size * (2.0 * at[i] / grid->count - 1.0);
    }
}

static double valueAt(const srGrid* grid, const int32_t at[3]) {
    int64_t side = grid->count + 1;
    return grid->values[(at[2] * side + at[1]) * side + at[0]];
}

static void fill(srGrid* grid) {
    int32_t side = grid->count + 1;
    grid->values = srCorpusAlloc(NULL, (int64_t)side * side * side, sizeof(double));
    for (int32_t i = 0; i < side * side * side; i++) {
        const int32_t at[3] = {i % side, i / side % side, i / (side * side)};
        double x[3];
        cornerOf(grid, at, x);
        double value = grid->function(x);

        // a point of the lattice is never on the surface, and never so near that triangles beside it have no
        // area when their corners are stored as floats
        double least = 0.1 * grid->size / grid->count;
        grid->values[i] = value < 0.0 ? (value < -least ? value : -least) : (value > least ? value : least);
    }
}

// Where the edge from a lattice point inside to one outside is cut. Reads the two always in that order, so
// that all tetrahedra around the edge find the same bits.
static int32_t cut(const srGrid* grid, srSoup* soup, const int32_t inside[3], const int32_t outside[3]) {
    double p[3], q[3], x[3];
    cornerOf(grid, inside, p);
    cornerOf(grid, outside, q);
    double a = valueAt(grid, inside), b = valueAt(grid, outside), t = a / (a - b);
    for (int i = 0; i < 3; i++) {
        x[i] = p[i] + t * (q[i] - p[i]);
    }
    return srSoup_AddPoint(soup, x[0], x[1], x[2]);
}

// `corners` has positive volume.
static void march(const srGrid* grid, srSoup* soup, const int32_t corners[4][3]) {
    const int32_t* in[4];
    const int32_t* out[4];
    int inCount = 0, outCount = 0, parity = 0;
    for (int c = 0; c < 4; c++) {
        if (valueAt(grid, corners[c]) < 0.0) {
            // how many of those outside stand before: whether the order is turned
            parity += outCount;
            in[inCount++] = corners[c];
        } else {
            out[outCount++] = corners[c];
        }
    }
    if (inCount == 0 || outCount == 0) {
        return;
    }
    bool isTurned = parity % 2 != 0;
    if (inCount == 2) {
        int32_t a = cut(grid, soup, in[0], out[0]), b = cut(grid, soup, in[0], out[1]);
        int32_t c = cut(grid, soup, in[1], out[1]), d = cut(grid, soup, in[1], out[0]);
        srSoup_AddQuad(soup, a, isTurned ? d : b, c, isTurned ? b : d);
        return;
    }
    int32_t t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = inCount == 1 ? cut(grid, soup, in[0], out[i]) : cut(grid, soup, in[i], out[0]);
    }
    srSoup_AddTriangle(soup, t[0], t[isTurned ? 2 : 1], t[isTurned ? 1 : 2]);
}

void srMakeIsosurface(srSoup* soup, srShapeFcn* function, double size, int32_t count) {
    // paths from corner 0 to corner 7 of a cube, one axis after the other
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    srGrid grid = {function, size, count, NULL};
    srSoup loose = {0};
    fill(&grid);
    for (int32_t i = 0; i < count * count * count; i++) {
        const int32_t cube[3] = {i % count, i / count % count, i / (count * count)};
        for (int o = 0; o < 6; o++) {
            int32_t corners[4][3] = {{cube[0], cube[1], cube[2]}};
            for (int c = 1; c < 4; c++) {
                for (int axis = 0; axis < 3; axis++) {
                    corners[c][axis] = corners[c - 1][axis] + (orders[o][c - 1] == axis);
                }
            }
            if (o >= 3) {
                // an odd order of axes turns the path round
                for (int axis = 0; axis < 3; axis++) {
                    int32_t swapped = corners[1][axis];
                    corners[1][axis] = corners[2][axis];
                    corners[2][axis] = swapped;
                }
            }
            march(&grid, &loose, (const int32_t (*)[3])corners);
        }
    }
    srSoup welded = srWeldSoup(&loose);
    srSoup_Append(soup, &welded);
    srFreeSoup(&welded);
    srFreeSoup(&loose);
    free(grid.values);
}
