// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tetrahedra of the lattice: for each two cubes that share a face, four between the two centres and an
// edge of that face.

#include "mesh/contour.h"

#include "mesh/field.h"

#include <math.h>
#include <string.h>

#define MAX_POINT_COUNT (1 << 23)

// A point of the surface keeps so far from the ends of its edge, in edges: no triangle is without area.
#define LEAST_SHARE 0.08

// One edge that the zero crosses, and its point of the surface.
typedef struct Crossing {
    int64_t key; // lower end times directions plus direction, plus one; zero is empty
    int32_t point;
} Crossing;

typedef struct Contour {
    const srLattice* lattice;
    const double* phi;
    srHull hull;
    int32_t pointCapacity;
    int32_t triangleCapacity;
    Crossing* table; // open addressing
    size_t mask;
    bool isCounting;
} Contour;

// ---- the lattice's tetrahedra
// ---------------------------------------------------------------------------------

typedef void TetFcn(Contour* contour, const int32_t tet[4]);

static int32_t cornerOf(const srLattice* lattice, const int32_t at[3]) {
    return 2 * ((at[2] * lattice->ny + at[1]) * lattice->nx + at[0]);
}

// Around the face between a cube and the next one along `axis`.
static void visitFace(Contour* contour, const int32_t cube[3], int axis, TetFcn* visit) {
    static const int around[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    const srLattice* lattice = contour->lattice;
    int32_t next[3] = {cube[0], cube[1], cube[2]};
    next[axis]++;
    int32_t first = cornerOf(lattice, cube) + 1, second = cornerOf(lattice, next) + 1, corners[5];
    for (int i = 0; i < 5; i++) {
        int32_t at[3] = {next[0], next[1], next[2]};
        at[(axis + 1) % 3] += around[i][0];
        at[(axis + 2) % 3] += around[i][1];
        corners[i] = cornerOf(lattice, at);
    }
    for (int i = 0; i < 4; i++) {
        const int32_t tet[4] = {first, second, corners[i], corners[i + 1]};
        visit(contour, tet);
    }
}

static bool hasSignChange(const Contour* contour, const int32_t cube[3]) {
    const srLattice* lattice = contour->lattice;
    bool isInside = contour->phi[cornerOf(lattice, cube)] < 0.0;
    // all that the twelve tetrahedra of three faces touch
    for (int32_t z = 0; z < 2; z++) {
        for (int32_t y = 0; y < 2; y++) {
            for (int32_t x = 0; x < 2; x++) {
                const int32_t at[3] = {cube[0] + x, cube[1] + y, cube[2] + z};
                int32_t corner = cornerOf(lattice, at);
                if ((contour->phi[corner] < 0.0) != isInside ||
                    (contour->phi[corner + 1] < 0.0) != isInside) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void visitAll(Contour* contour, TetFcn* visit) {
    const srLattice* lattice = contour->lattice;
    int32_t cube[3];
    for (cube[2] = 0; cube[2] + 1 < lattice->nz; cube[2]++) {
        for (cube[1] = 0; cube[1] + 1 < lattice->ny; cube[1]++) {
            for (cube[0] = 0; cube[0] + 1 < lattice->nx; cube[0]++) {
                for (int axis = 0; axis < 3 && hasSignChange(contour, cube); axis++) {
                    visitFace(contour, cube, axis, visit);
                }
            }
        }
    }
}

// ---- points and triangles
// -------------------------------------------------------------------------------------

static size_t slotOf(const Contour* contour, int64_t key) {
    size_t slot = (size_t)((uint64_t)key * 0x9e3779b97f4a7c15u >> 20) & contour->mask;
    while (contour->table[slot].key != 0 && contour->table[slot].key != key) {
        slot = (slot + 1) & contour->mask;
    }
    return slot;
}

// Where the zero is between an inside and an outside point of the lattice.
static int32_t pointBetween(Contour* contour, int32_t inside, int32_t outside) {
    int32_t low = inside < outside ? inside : outside, high = inside < outside ? outside : inside;
    int64_t key = (int64_t)low * contour->lattice->pointCount + high + 1;
    Crossing* crossing = &contour->table[slotOf(contour, key)];
    if (crossing->key == 0) {
        double from = contour->phi[inside], to = contour->phi[outside];
        double share = from / (from - to);
        share = share > LEAST_SHARE ? share : LEAST_SHARE;
        share = share < 1.0 - LEAST_SHARE ? share : 1.0 - LEAST_SHARE;
        srVec3 a = srLattice_Point(contour->lattice, inside), b = srLattice_Point(contour->lattice, outside);
        *crossing = (Crossing){key, contour->hull.pointCount};
        contour->hull.points[contour->hull.pointCount++] = srMulAdd(a, share, srSub(b, a));
    }
    return crossing->point;
}

static void addTriangle(Contour* contour, int32_t a, int32_t b, int32_t c, bool isTurned) {
    int32_t* triangle = contour->hull.triangles[contour->hull.triangleCount++];
    triangle[0] = a;
    triangle[1] = isTurned ? c : b;
    triangle[2] = isTurned ? b : c;
}

// Whether the corners in this order have a volume below zero: then triangles by this order face inwards.
static bool isTurned(const srLattice* lattice, const int32_t t[4]) {
    srVec3 a = srLattice_Point(lattice, t[0]);
    srVec3 ab = srSub(srLattice_Point(lattice, t[1]), a), ac = srSub(srLattice_Point(lattice, t[2]), a),
           ad = srSub(srLattice_Point(lattice, t[3]), a);
    return srDot(ab, srCross(ac, ad)) < 0.0;
}

// Corners inside first. Returns how many.
static int sortCorners(const Contour* contour, const int32_t tet[4], int32_t out[4]) {
    int insideCount = 0, outsideCount = 0;
    for (int c = 0; c < 4; c++) {
        bool isInside = contour->phi[tet[c]] < 0.0;
        out[isInside ? insideCount++ : 3 - outsideCount++] = tet[c];
    }
    return insideCount;
}

static void countTet(Contour* contour, const int32_t tet[4]) {
    int32_t sorted[4];
    int insideCount = sortCorners(contour, tet, sorted);
    contour->triangleCapacity += insideCount == 2 ? 2 : insideCount == 1 || insideCount == 3 ? 1 : 0;
}

static void marchTet(Contour* contour, const int32_t tet[4]) {
    int32_t t[4];
    int insideCount = sortCorners(contour, tet, t);
    if (insideCount == 0 || insideCount == 4) {
        return;
    }
    bool turned = isTurned(contour->lattice, t);
    if (insideCount == 2) {
        int32_t a = pointBetween(contour, t[0], t[2]), b = pointBetween(contour, t[0], t[3]),
                c = pointBetween(contour, t[1], t[3]), d = pointBetween(contour, t[1], t[2]);
        addTriangle(contour, a, b, c, turned);
        addTriangle(contour, a, c, d, turned);
        return;
    }
    bool isInside = insideCount == 1;
    int32_t lone = isInside ? t[0] : t[3], points[3];
    for (int i = 0; i < 3; i++) {
        int32_t end = t[isInside ? i + 1 : i];
        points[i] = isInside ? pointBetween(contour, lone, end) : pointBetween(contour, end, lone);
    }
    addTriangle(contour, points[0], points[1], points[2], turned);
}

static srResult allocate(Contour* contour, srArena* arena, Crossing** outTable, size_t* outTableSize) {
    // a closed surface has half as many points as triangles, and two more for each piece
    contour->pointCapacity = contour->triangleCapacity / 2 + contour->triangleCapacity / 4 + 8;
    size_t size = 64;
    while (size < 2 * (size_t)contour->pointCapacity) {
        size *= 2;
    }
    contour->hull.points = SR_PUSH(arena, srVec3, contour->pointCapacity, "contour");
    contour->hull.triangles =
        srArena_Push(arena, (size_t)contour->triangleCapacity + 1, sizeof(int32_t[3]), "contour");
    *outTable = SR_PUSH(arena, Crossing, size, "crossed edges");
    *outTableSize = size;
    bool isThere = contour->hull.points != NULL && contour->hull.triangles != NULL && *outTable != NULL;
    return isThere ? sr_success : srFailOutOfMemory("the surface of the cage");
}

srResult srContourLattice(const srLattice* lattice, const double* phi, srArena* arena, srHull* outHull) {
    Contour contour = {.lattice = lattice, .phi = phi};
    size_t size;
    *outHull = (srHull){0};
    visitAll(&contour, countTet);
    if (contour.triangleCapacity == 0) {
        return sr_success;
    }
    SR_TRY(allocate(&contour, arena, &contour.table, &size));
    memset(contour.table, 0, size * sizeof(Crossing));
    contour.mask = size - 1;
    visitAll(&contour, marchTet);
    *outHull = contour.hull;
    return sr_success;
}

srResult srContourSolid(const srSolid* solid, double spacing, double offset, const srProgress* progress,
                        srArena* arena, srHull* outHull) {
    const srSurface* first = solid->shells.triangleCount > 0 ? &solid->shells : &solid->sheets;
    const srSurface* second = solid->sheets.triangleCount > 0 ? &solid->sheets : &solid->shells;
    srVec3 lower = srMin(first->lower, second->lower), upper = srMax(first->upper, second->upper);
    srLattice lattice;
    while (!srMakeLattice(lower, upper, solid->halfThickness + (offset + 1.0) * spacing, spacing,
                          MAX_POINT_COUNT, &lattice)) {
        spacing *= 1.1;
    }
    double* phi = SR_PUSH(arena, double, lattice.pointCount, "distances");
    if (phi == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    srField field = srMakeField(solid, offset * spacing);
    SR_TRY(srField_Sample(&field, &lattice, phi, progress));
    return srContourLattice(&lattice, phi, arena, outHull);
}
