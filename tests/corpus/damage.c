// SPDX-License-Identifier: GPL-3.0-or-later

#include "corpus/damage.h"

#include "corpus/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

srPatient srCreatePatient(const srSoup* shape, uint64_t seed) {
    srPatient patient = {.skin = srCopySoup(shape),
                         .repaired = srCopySoup(shape),
                         .random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
    if (srSoup_IsClosed(shape)) {
        patient.widest = srCopySoup(shape);
    }
    for (int warmUp = 0; warmUp < 4; warmUp++) {
        srSoupRandom(&patient.random);
    }
    return patient;
}

void srDestroyPatient(srPatient* patient) {
    srFreeSoup(&patient->skin);
    srFreeSoup(&patient->repaired);
    srFreeSoup(&patient->widest);
}

// ---- helpers ---------------------------------------------------------------------------------------------

static double between(srPatient* patient, double low, double high) {
    return low + (high - low) * srSoupRandom(&patient->random);
}

static int32_t pick(srPatient* patient, int32_t count) {
    return count > 0 ? (int32_t)(count * srSoupRandom(&patient->random)) : 0;
}

static void centreOf(const srSoup* soup, int32_t triangle, double out[3]) {
    double x[3];
    out[0] = out[1] = out[2] = 0.0;
    for (int c = 0; c < 3; c++) {
        srSoup_GetCorner(soup, triangle, c, x);
        for (int i = 0; i < 3; i++) {
            out[i] += x[i] / 3.0;
        }
    }
}

static double distance(const double a[3], const double b[3]) {
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

// A random place of the skin and a reach around it, as a share of the size.
typedef struct srPatch {
    double centre[3];
    double reach;
} srPatch;

static srPatch pickPatch(srPatient* patient, double share) {
    srPatch patch;
    centreOf(&patient->skin, pick(patient, patient->skin.triangleCount), patch.centre);
    patch.reach = share * srSoup_GetSize(&patient->repaired);
    return patch;
}

static bool isInPatch(const srSoup* soup, int32_t triangle, const srPatch* patch) {
    double centre[3];
    centreOf(soup, triangle, centre);
    return distance(centre, patch->centre) < patch->reach;
}

static void flip(srSoup* soup, int32_t triangle) {
    int32_t* corners = soup->triangles + 3 * (int64_t)triangle;
    int32_t swapped = corners[1];
    corners[1] = corners[2];
    corners[2] = swapped;
}

static void addCopy(srSoup* soup, int32_t triangle, bool isFlipped) {
    const int32_t* c = soup->triangles + 3 * (int64_t)triangle;
    int32_t corners[3] = {c[0], c[1], c[2]};
    srSoup_AddTriangle(soup, corners[0], corners[isFlipped ? 2 : 1], corners[isFlipped ? 1 : 2]);
}

static void removeTriangle(srSoup* soup, int32_t triangle) {
    memmove(soup->triangles + 3 * (int64_t)triangle, soup->triangles + 3 * (int64_t)--soup->triangleCount,
            3 * sizeof(int32_t));
}

// Skin, repaired and widest are scaled and moved alike, each rounded as floats are.
static void placeAll(srPatient* patient, const double scale[3], const double offset[3]) {
    srSoup_Place(&patient->skin, scale, offset);
    srSoup_Place(&patient->repaired, scale, offset);
    srSoup_Place(&patient->widest, scale, offset);
}

static double sizeOf(const srPatient* patient) {
    return srSoup_GetSize(&patient->repaired);
}

// ---- triangles that are missing, turned or there twice ---------------------------------------------------

// Diagonals of holes up to this share of the size are closed if nothing else is asked for.
#define CLOSED_HOLE 0.2

// Removes the triangles in the patch, but for eight that are left of a mesh; the diagonal of what went.
static double cutPatch(srSoup* soup, const srPatch* patch) {
    double lower[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, upper[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    bool isCut = false;
    for (int32_t t = soup->triangleCount - 1; t >= 0; t--) {
        if (soup->triangleCount <= 8 || !isInPatch(soup, t, patch)) {
            continue;
        }
        for (int c = 0; c < 3; c++) {
            double x[3];
            srSoup_GetCorner(soup, t, c, x);
            for (int i = 0; i < 3; i++) {
                lower[i] = fmin(lower[i], x[i]);
                upper[i] = fmax(upper[i], x[i]);
            }
        }
        removeTriangle(soup, t);
        isCut = true;
    }
    return isCut ? distance(lower, upper) : 0.0;
}

// Where triangles are as large as faces of a cube, a hole is larger than any that is closed: what is repaired
// has it too, and ends where the winding number of the rest says.
static void makeHoles(srPatient* patient) {
    int32_t count = 1 + pick(patient, 5);
    for (int32_t hole = 0; hole < count; hole++) {
        srPatch patch = pickPatch(patient, between(patient, 0.02, 0.1));
        if (cutPatch(&patient->skin, &patch) > CLOSED_HOLE * sizeOf(patient)) {
            cutPatch(&patient->repaired, &patch);
        }
    }
}

static void loseTriangles(srPatient* patient) {
    int32_t count = (int32_t)(between(patient, 0.01, 0.05) * patient->skin.triangleCount);
    for (int32_t i = 0; i < count; i++) {
        removeTriangle(&patient->skin, pick(patient, patient->skin.triangleCount));
    }
}

static void flipSome(srPatient* patient) {
    double share = between(patient, 0.02, 0.1);
    for (int32_t t = 0; t < patient->skin.triangleCount; t++) {
        if (srSoupRandom(&patient->random) < share) {
            flip(&patient->skin, t);
        }
    }
}

static void flipPatch(srPatient* patient) {
    srPatch patch = pickPatch(patient, between(patient, 0.05, 0.12));
    for (int32_t t = 0; t < patient->skin.triangleCount; t++) {
        if (isInPatch(&patient->skin, t, &patch)) {
            flip(&patient->skin, t);
        }
    }
}

static void turnInsideOut(srPatient* patient) {
    for (int32_t t = 0; t < patient->skin.triangleCount; t++) {
        flip(&patient->skin, t);
    }
}

static void doubleSome(srPatient* patient) {
    double share = between(patient, 0.05, 1.0);
    for (int32_t t = patient->skin.triangleCount - 1; t >= 0; t--) {
        if (srSoupRandom(&patient->random) < share) {
            addCopy(&patient->skin, t, false);
        }
    }
}

// a patch that is there both ways round: two sheets in one place
static void addCoincidentSheet(srPatient* patient) {
    srPatch patch = pickPatch(patient, between(patient, 0.04, 0.1));
    for (int32_t t = patient->skin.triangleCount - 1; t >= 0; t--) {
        if (isInPatch(&patient->skin, t, &patch)) {
            addCopy(&patient->skin, t, true);
        }
    }
}

// the whole skin once more, a hair away
static void doubleSkin(srPatient* patient) {
    srSoup copy = srCopySoup(&patient->skin);
    double step = between(patient, 0.0, 1e-4) * sizeOf(patient);
    srSoup_Place(&copy, (double[]){1.0, 1.0, 1.0}, (double[]){step, -step, 0.5 * step});
    srSoup_Append(&patient->skin, &copy);
    srFreeSoup(&copy);
}

static void unweld(srPatient* patient) {
    srSoup loose = {0};
    for (int32_t t = 0; t < patient->skin.triangleCount; t++) {
        int32_t corners[3];
        for (int c = 0; c < 3; c++) {
            double x[3];
            srSoup_GetCorner(&patient->skin, t, c, x);
            corners[c] = srSoup_AddPoint(&loose, x[0], x[1], x[2]);
        }
        srSoup_AddTriangle(&loose, corners[0], corners[1], corners[2]);
    }
    srFreeSoup(&patient->skin);
    patient->skin = loose;
}

// every triangle a little away from its neighbours
static void crack(srPatient* patient) {
    unweld(patient);
    double step = between(patient, 1e-5, 2e-3) * sizeOf(patient);
    for (int64_t i = 0; i < 3 * (int64_t)patient->skin.pointCount; i++) {
        patient->skin.points[i] += (float)between(patient, -step, step);
    }
}

// ---- shapes that pass through themselves -----------------------------------------------------------------

static void movePatch(srSoup* soup, const srPatch* patch, const double way[3]) {
    for (int32_t p = 0; p < soup->pointCount; p++) {
        float* x = soup->points + 3 * (int64_t)p;
        const double place[3] = {(double)x[0], (double)x[1], (double)x[2]};
        double share = 1.0 - distance(place, patch->centre) / patch->reach;
        for (int i = 0; i < 3 && share > 0.0; i++) {
            x[i] += (float)(share * way[i]);
        }
    }
}

// a bump pushed into the flesh, in places through the other side; the shape itself changes
// Turns what faces inward: then hollows count as flesh too.
static void fillHollows(srSoup* soup) {
    int32_t* roots = srCorpusAlloc(NULL, soup->pointCount, sizeof(int32_t));
    double* volumes = srCorpusAlloc(NULL, soup->pointCount, sizeof(double));
    for (int32_t p = 0; p < soup->pointCount; p++) {
        roots[p] = p;
        volumes[p] = 0.0;
    }
    for (bool isChanged = true; isChanged;) {
        isChanged = false;
        for (int64_t i = 0; i < 3 * (int64_t)soup->triangleCount; i++) {
            int32_t* root = &roots[soup->triangles[i]];
            int32_t other = roots[soup->triangles[i / 3 * 3 + (i + 1) % 3]];
            isChanged = isChanged || other < *root;
            *root = other < *root ? other : *root;
        }
    }
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        double a[3], b[3], c[3];
        srSoup_GetCorner(soup, t, 0, a);
        srSoup_GetCorner(soup, t, 1, b);
        srSoup_GetCorner(soup, t, 2, c);
        volumes[roots[soup->triangles[3 * (int64_t)t]]] += a[0] * (b[1] * c[2] - b[2] * c[1]) +
                                                           a[1] * (b[2] * c[0] - b[0] * c[2]) +
                                                           a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        if (volumes[roots[soup->triangles[3 * (int64_t)t]]] < 0.0) {
            flip(soup, t);
        }
    }
    free(roots);
    free(volumes);
}

// A hollow that comes through its own outside cannot be told from a piece that overlaps and is inside out: it
// may be flesh.
static void pushThrough(srPatient* patient) {
    double lower[3], upper[3], way[3];
    srPatch patch = pickPatch(patient, between(patient, 0.1, 0.2));
    srSoup_GetBounds(&patient->repaired, lower, upper);
    for (int i = 0; i < 3; i++) {
        way[i] = between(patient, 0.3, 0.9) * (0.5 * (lower[i] + upper[i]) - patch.centre[i]);
    }
    movePatch(&patient->skin, &patch, way);
    movePatch(&patient->repaired, &patch, way);
    movePatch(&patient->widest, &patch, way);
    fillHollows(&patient->widest);
}

static void shakeVertices(srPatient* patient) {
    double step = between(patient, 1e-3, 0.01) * sizeOf(patient);
    for (int64_t i = 0; i < 3 * (int64_t)patient->skin.pointCount; i++) {
        patient->skin.points[i] += (float)between(patient, -step, step);
    }
}

static void addSpikes(srPatient* patient) {
    int32_t count = 1 + pick(patient, 3);
    double size = sizeOf(patient), lower[3], upper[3];
    srSoup_GetBounds(&patient->repaired, lower, upper);
    for (int32_t spike = 0; spike < count; spike++) {
        int32_t p = pick(patient, patient->skin.pointCount);
        float* x = patient->skin.points + 3 * (int64_t)p;
        float before[3] = {x[0], x[1], x[2]};
        for (int i = 0; i < 3; i++) {
            double centre = 0.5 * (lower[i] + upper[i]);
            x[i] += (float)(between(patient, 0.3, 1.2) * ((double)x[i] - centre) +
                            between(patient, -0.1, 0.1) * size);
        }
        for (int32_t w = 0; w < patient->widest.pointCount; w++) {
            float* y = patient->widest.points + 3 * (int64_t)w;
            if (memcmp(y, before, sizeof(before)) == 0) {
                memcpy(y, x, sizeof(before));
            }
        }
    }
}

// ---- pieces ----------------------------------------------------------------------------------------------

static srSoup makePiece(srPatient* patient, double share, double away) {
    double lower[3], upper[3], offset[3], radius = share * sizeOf(patient);
    srSoup ball = {0};
    srMakeBall(&ball, 8, 5, 1.0);
    srSoup_GetBounds(&patient->repaired, lower, upper);
    for (int i = 0; i < 3; i++) {
        offset[i] = between(patient, lower[i], upper[i]);
    }
    int axis = pick(patient, 3);
    offset[axis] = upper[axis] + radius + away * sizeOf(patient);
    srSoup_Place(&ball, (double[]){radius, radius, radius}, offset);
    return ball;
}

// crumbs that a cage may leave out
static void addCrumbs(srPatient* patient) {
    int32_t count = 1 + pick(patient, 8);
    for (int32_t i = 0; i < count; i++) {
        srSoup ball = makePiece(patient, between(patient, 0.001, 0.01), between(patient, 0.05, 0.3));
        srSoup_Append(&patient->skin, &ball);
        srSoup_Append(&patient->widest, &ball);
        srFreeSoup(&ball);
    }
}

// a piece that is as much a part of the character as the rest
static void addIsland(srPatient* patient) {
    srSoup ball = makePiece(patient, between(patient, 0.12, 0.3), between(patient, 0.05, 0.3));
    srSoup_Append(&patient->skin, &ball);
    srSoup_Append(&patient->repaired, &ball);
    if (patient->widest.triangleCount > 0) {
        srSoup_Append(&patient->widest, &ball);
    }
    srFreeSoup(&ball);
}

// ---- triangles and points that say nothing ---------------------------------------------------------------

// each chosen triangle is cut from a corner to a point that all but lies on the edge beside another corner
static void cutSlivers(srPatient* patient) {
    int32_t count = patient->skin.triangleCount;
    for (int32_t t = 0; t < count; t++) {
        if (srSoupRandom(&patient->random) > 0.3) {
            continue;
        }
        double a[3], b[3], share = pow(10.0, between(patient, -7.0, -3.0));
        srSoup_GetCorner(&patient->skin, t, 0, a);
        srSoup_GetCorner(&patient->skin, t, 1, b);
        int32_t middle = srSoup_AddPoint(&patient->skin, a[0] + share * (b[0] - a[0]),
                                         a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]));
        int32_t* corners = patient->skin.triangles + 3 * (int64_t)t;
        int32_t first = corners[0], third = corners[2];
        corners[0] = middle;
        srSoup_AddTriangle(&patient->skin, first, middle, third);
    }
}

static void addZeroAreas(srPatient* patient) {
    int32_t count = 1 + pick(patient, 50), pointCount = patient->skin.pointCount;
    for (int32_t i = 0; i < count; i++) {
        int32_t a = pick(patient, pointCount), b = pick(patient, pointCount);
        srSoup_AddTriangle(&patient->skin, a, i % 3 == 0 ? a : b, i % 2 == 0 ? a : b);
    }
}

// In a mesh of a few triangles each vertex carries too much of the shape: there they come in addition.
static void addNanVertices(srPatient* patient) {
    static const float values[] = {NAN, INFINITY, -INFINITY};
    int32_t count = 1 + pick(patient, 3);
    for (int32_t i = 0; i < count; i++) {
        int32_t p = pick(patient, patient->skin.pointCount);
        if (patient->skin.pointCount < 100) {
            p = srSoup_AddPoint(&patient->skin, 0.0, 0.0, 0.0);
            srSoup_AddTriangle(&patient->skin, p, 0, 1);
        }
        patient->skin.points[3 * (int64_t)p + pick(patient, 3)] = values[pick(patient, 3)];
    }
}

static void addIsolatedVertices(srPatient* patient) {
    int32_t count = 1 + pick(patient, 30);
    double reach = pow(10.0, between(patient, 0.0, 6.0)) * sizeOf(patient);
    for (int32_t i = 0; i < count; i++) {
        double bad = pick(patient, 4) == 0 ? (double)NAN : 0.0;
        srSoup_AddPoint(&patient->skin, between(patient, -reach, reach) + bad,
                        between(patient, -reach, reach), between(patient, -reach, reach));
    }
}

static void shuffleTriangles(srPatient* patient) {
    for (int32_t t = patient->skin.triangleCount - 1; t > 0; t--) {
        int32_t other = pick(patient, t + 1), *a = patient->skin.triangles + 3 * (int64_t)t;
        int32_t *b = patient->skin.triangles + 3 * (int64_t)other, kept[3];
        memcpy(kept, a, sizeof(kept));
        memcpy(a, b, sizeof(kept));
        memcpy(b, kept, sizeof(kept));
    }
}

// ---- places and scales -----------------------------------------------------------------------------------

static void scaleAll(srPatient* patient, double exponent) {
    double s = pow(10.0, exponent);
    placeAll(patient, (double[]){s, s, s}, (double[]){0.0, 0.0, 0.0});
}

static void makeHuge(srPatient* patient) {
    scaleAll(patient, between(patient, 2.0, 9.0));
}

static void makeTiny(srPatient* patient) {
    scaleAll(patient, between(patient, -9.0, -2.0));
}

// at most two thousand sizes away: floats there are still a hundredth of a cell apart
static void moveFar(srPatient* patient) {
    double away = pow(10.0, between(patient, 1.0, 3.3)) * sizeOf(patient);
    placeAll(patient, (double[]){1.0, 1.0, 1.0},
             (double[]){away * between(patient, -1.0, 1.0), away, away * between(patient, -1.0, 1.0)});
}

static void stretch(srPatient* patient) {
    placeAll(patient, (double[]){1.0, between(patient, 0.4, 1.0), between(patient, 1.0, 4.0)},
             (double[]){0.0, 0.0, 0.0});
}

static void inflictSeveral(srPatient* patient);

static const srDamage damages[] = {
    {"holes", makeHoles},
    {"lost triangles", loseTriangles},
    {"flipped triangles", flipSome},
    {"flipped patch", flipPatch},
    {"inside out", turnInsideOut},
    {"doubled triangles", doubleSome},
    {"coincident sheets", addCoincidentSheet},
    {"double skin", doubleSkin},
    {"unwelded", unweld},
    {"cracks", crack},
    {"self-intersection", pushThrough},
    {"shaken", shakeVertices},
    {"spikes", addSpikes},
    {"crumbs", addCrumbs},
    {"island", addIsland},
    {"slivers", cutSlivers},
    {"zero areas", addZeroAreas},
    {"NaN vertices", addNanVertices},
    {"isolated vertices", addIsolatedVertices},
    {"shuffled", shuffleTriangles},
    {"huge", makeHuge},
    {"tiny", makeTiny},
    {"far away", moveFar},
    {"stretched", stretch},
    {"several", inflictSeveral},
};

enum {
    damageCount = sizeof(damages) / sizeof(damages[0])
};

static void inflictSeveral(srPatient* patient) {
    int32_t count = 2 + pick(patient, 3);
    for (int32_t i = 0; i < count; i++) {
        damages[pick(patient, damageCount - 1)].inflict(patient);
    }
}

const srDamage* srGetDamages(int32_t* outCount) {
    *outCount = damageCount;
    return damages;
}

// ---- nothing ---------------------------------------------------------------------------------------------

static void makeOneTriangle(srSoup* soup) {
    srSoup_AddPoint(soup, 0.0, 0.0, 0.0);
    srSoup_AddPoint(soup, 1.0, 0.0, 0.2);
    srSoup_AddPoint(soup, 0.0, 1.0, 0.1);
    srSoup_AddTriangle(soup, 0, 1, 2);
}

static void makeBothSides(srSoup* soup) {
    makeOneTriangle(soup);
    srSoup_AddTriangle(soup, 0, 2, 1);
}

static void makeNeedle(srSoup* soup) {
    for (int i = 0; i < 3; i++) {
        srSoup_AddPoint(soup, i, 0.0, 0.0);
    }
    srSoup_AddTriangle(soup, 0, 1, 2);
}

static void makeOnePoint(srSoup* soup) {
    srMakeCube(soup, 2);
    srSoup_Place(soup, (double[]){0.0, 0.0, 0.0}, (double[]){1.0, 2.0, 3.0});
}

static void makeAllNan(srSoup* soup) {
    srMakeCube(soup, 2);
    for (int32_t i = 0; i < 3 * soup->pointCount; i++) {
        soup->points[i] = NAN;
    }
}

static void makeFlatCube(srSoup* soup) {
    srMakeCube(soup, 4);
    srSoup_Place(soup, (double[]){1.0, 1.0, 0.0}, (double[]){0.0, 0.0, 0.0});
}

static void makeScattered(srSoup* soup) {
    uint64_t random = 5;
    for (int i = 0; i < 30; i++) {
        double x[3];
        for (int c = 0; c < 3; c++) {
            x[c] = srSoupRandom(&random);
        }
        for (int c = 0; c < 3; c++) {
            srSoup_AddPoint(soup, x[0] + 0.02 * (c == 1), x[1] + 0.02 * (c == 2), x[2]);
        }
        srSoup_AddTriangle(soup, 3 * i, 3 * i + 1, 3 * i + 2);
    }
}

static const srNothing nothings[] = {
    {"one triangle", makeOneTriangle, true, false},
    {"one triangle, both sides", makeBothSides, true, false},
    {"three points in a row", makeNeedle, false, false},
    {"all points in one place", makeOnePoint, false, false},
    {"no point is finite", makeAllNan, false, false},
    {"a cube pressed flat", makeFlatCube, true, false},
    {"scattered triangles", makeScattered, true, true},
};

const srNothing* srGetNothings(int32_t* outCount) {
    *outCount = (int32_t)(sizeof(nothings) / sizeof(nothings[0]));
    return nothings;
}
