// SPDX-License-Identifier: GPL-3.0-or-later
//
// Primitives.

#include "corpus/shapes.h"

#include <math.h>

#define PI 3.14159265358979323846

// The point of face `axis`, side `side`, at u, v in 0 .. cuts; shared points are found again by welding.
static int32_t cubePoint(srSoup* soup, int axis, int side, int32_t u, int32_t v, int32_t cuts) {
    double x[3];
    x[axis] = side;
    x[(axis + 1) % 3] = 2.0 * u / cuts - 1.0;
    x[(axis + 2) % 3] = 2.0 * v / cuts - 1.0;
    return srSoup_AddPoint(soup, x[0], x[1], x[2]);
}

void srMakeCube(srSoup* soup, int32_t cuts) {
    srSoup loose = {0};
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, side = face % 2 == 0 ? -1 : 1;
        for (int32_t i = 0; i < cuts * cuts; i++) {
            int32_t u = i % cuts, v = i / cuts;
            int32_t a = cubePoint(&loose, axis, side, u, v, cuts);
            int32_t b = cubePoint(&loose, axis, side, u + 1, v, cuts);
            int32_t c = cubePoint(&loose, axis, side, u + 1, v + 1, cuts);
            int32_t d = cubePoint(&loose, axis, side, u, v + 1, cuts);
            srSoup_AddQuad(&loose, a, side > 0 ? b : d, c, side > 0 ? d : b);
        }
    }
    srSoup welded = srWeldSoup(&loose);
    srSoup_Append(soup, &welded);
    srFreeSoup(&welded);
    srFreeSoup(&loose);
}

// Rings of a shape around z, each given by radius and height, closed by a point at both ends.
typedef struct srRing {
    double radius;
    double height;
} srRing;

static void makeTurned(srSoup* soup, const srRing* rings, int32_t ringCount, double bottom, double top,
                       int32_t around) {
    int32_t first = srSoup_AddPoint(soup, 0.0, 0.0, bottom);
    for (int32_t i = 0; i < ringCount * around; i++) {
        double angle = 2.0 * PI * (i % around) / around;
        const srRing* ring = &rings[i / around];
        srSoup_AddPoint(soup, ring->radius * cos(angle), ring->radius * sin(angle), ring->height);
    }
    int32_t last = srSoup_AddPoint(soup, 0.0, 0.0, top);
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, ring = first + 1;
        srSoup_AddTriangle(soup, first, ring + next, ring + i);
        for (int32_t r = 0; r + 1 < ringCount; r++, ring += around) {
            srSoup_AddQuad(soup, ring + i, ring + next, ring + around + next, ring + around + i);
        }
        srSoup_AddTriangle(soup, last, ring + i, ring + next);
    }
}

void srMakeBall(srSoup* soup, int32_t around, int32_t down, double radius) {
    srRing rings[128];
    for (int32_t r = 0; r + 1 < down; r++) {
        double angle = PI * (r + 1) / down;
        rings[r] = (srRing){radius * sin(angle), -radius * cos(angle)};
    }
    makeTurned(soup, rings, down - 1, -radius, radius, around);
}

static void makePlainCube(srSoup* soup) {
    srMakeCube(soup, 1);
}

static void makeFineCube(srSoup* soup) {
    srMakeCube(soup, 8);
}

static void makeUvSphere(srSoup* soup) {
    srMakeBall(soup, 32, 16, 1.0);
}

static void makeCylinder(srSoup* soup) {
    const srRing rings[] = {{1.0, -1.0}, {1.0, 1.0}};
    makeTurned(soup, rings, 2, -1.0, 1.0, 32);
}

static void makeCone(srSoup* soup) {
    const srRing rings[] = {{1.0, -1.0}};
    makeTurned(soup, rings, 1, -1.0, 1.0, 32);
}

static void makeTorus(srSoup* soup) {
    const int32_t around = 48, across = 16;
    int32_t first = soup->pointCount;
    for (int32_t i = 0; i < around * across; i++) {
        double u = 2.0 * PI * (i / across) / around, v = 2.0 * PI * (i % across) / across;
        double radius = 1.0 + 0.3 * cos(v);
        srSoup_AddPoint(soup, radius * cos(u), radius * sin(u), 0.3 * sin(v));
    }
    for (int32_t i = 0; i < around * across; i++) {
        int32_t u = i / across, v = i % across, uNext = (u + 1) % around, vNext = (v + 1) % across;
        srSoup_AddQuad(soup, first + u * across + v, first + uNext * across + v,
                       first + uNext * across + vNext, first + u * across + vNext);
    }
}

static double icoFunction(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 1.0;
}

// a sphere of triangles without poles
static void makeIcoSphere(srSoup* soup) {
    srMakeIsosurface(soup, icoFunction, 1.1, 11);
}

static void makePlane(srSoup* soup) {
    const int32_t cuts = 10;
    for (int32_t i = 0; i < (cuts + 1) * (cuts + 1); i++) {
        srSoup_AddPoint(soup, 2.0 * (i % (cuts + 1)) / cuts - 1.0, 2.0 * (i / (cuts + 1)) / cuts - 1.0, 0.0);
    }
    for (int32_t i = 0; i < cuts * cuts; i++) {
        int32_t a = i / cuts * (cuts + 1) + i % cuts;
        srSoup_AddQuad(soup, a, a + 1, a + cuts + 2, a + cuts + 1);
    }
}

// a plane made solid, half a unit thick
static void makeSlab(srSoup* soup) {
    srSoup cube = {0};
    srMakeCube(&cube, 10);
    srSoup_Place(&cube, (double[]){1.0, 1.0, 0.25}, (double[]){0.0, 0.0, 0.0});
    srSoup_Append(soup, &cube);
    srFreeSoup(&cube);
}

// the same, thinner than a cell of any cage
static void makeCard(srSoup* soup) {
    srSoup cube = {0};
    srMakeCube(&cube, 10);
    srSoup_Place(&cube, (double[]){1.0, 1.0, 0.005}, (double[]){0.0, 0.0, 0.0});
    srSoup_Append(soup, &cube);
    srFreeSoup(&cube);
}

// a wall of 0.3 around a closed cavity
static void makeHollowBall(srSoup* soup) {
    srMakeBall(soup, 32, 16, 1.0);
    srSoup inner = {0};
    srMakeBall(&inner, 32, 16, 0.7);
    srSoup_Place(&inner, (double[]){-1.0, 1.0, 1.0}, (double[]){0.0, 0.0, 0.0});
    srSoup_Append(soup, &inner);
    srFreeSoup(&inner);
}

// a snowman of closed pieces that pass through each other, as characters are often modelled
static void makeOverlapping(srSoup* soup) {
    const double sizes[] = {0.8, 0.6, 0.4}, heights[] = {-0.9, 0.1, 0.85};
    for (int i = 0; i < 3; i++) {
        srSoup ball = {0};
        srMakeBall(&ball, 24, 12, sizes[i]);
        srSoup_Place(&ball, (double[]){1.0, 1.0, 1.0}, (double[]){0.05 * i, 0.0, heights[i]});
        srSoup_Append(soup, &ball);
        srFreeSoup(&ball);
    }
}

// ---- characters, as zeros of functions -------------------------------------------------------------------

static double toSegment(const double x[3], const double a[3], const double b[3]) {
    double t = 0.0, length2 = 0.0, distance2 = 0.0;
    for (int i = 0; i < 3; i++) {
        t += (x[i] - a[i]) * (b[i] - a[i]);
        length2 += (b[i] - a[i]) * (b[i] - a[i]);
    }
    t = fmin(fmax(t / length2, 0.0), 1.0);
    for (int i = 0; i < 3; i++) {
        double d = x[i] - a[i] - t * (b[i] - a[i]);
        distance2 += d * d;
    }
    return sqrt(distance2);
}

static double toBall(const double x[3], double cx, double cy, double cz, double rx, double ry, double rz) {
    double u = (x[0] - cx) / rx, v = (x[1] - cy) / ry, w = (x[2] - cz) / rz;
    return (sqrt(u * u + v * v + w * w) - 1.0) * fmin(rx, fmin(ry, rz));
}

// four fingers along y, 0.06 apart, and a thumb, on a flat palm
static double hand(const double x[3]) {
    double d = toBall(x, 0.0, -0.45, 0.0, 0.6, 0.55, 0.25);
    for (int finger = 0; finger < 4; finger++) {
        double along = -0.39 + 0.26 * finger;
        const double root[3] = {along, -0.3, 0.0}, tip[3] = {along, 0.75 + 0.06 * finger * (3 - finger), 0.0};
        d = fmin(d, toSegment(x, root, tip) - 0.1);
    }
    const double root[3] = {-0.3, -0.6, 0.0}, tip[3] = {-0.85, -0.1, 0.05};
    return fmin(d, toSegment(x, root, tip) - 0.12);
}

// a round head; a slit 0.08 high leads to a mouth
static double head(const double x[3]) {
    double skull = toBall(x, 0.0, 0.0, 0.0, 0.9, 0.8, 1.0);
    double cavity = toBall(x, 0.0, -0.25, -0.35, 0.35, 0.35, 0.18);
    double slit = fmax(fabs(x[2] + 0.35) - 0.04, fmax(fabs(x[0]) - 0.4, x[1] + 0.3));
    double nose = toBall(x, 0.0, -0.85, 0.0, 0.15, 0.2, 0.2);
    return fmax(fmin(skull, nose), -fmin(cavity, slit));
}

// two legs, 0.05 apart below a pelvis
static double thighs(const double x[3]) {
    const double leftHip[3] = {-0.3, 0.0, 0.6}, leftKnee[3] = {-0.305, 0.0, -0.9};
    const double rightHip[3] = {0.3, 0.0, 0.6}, rightKnee[3] = {0.305, 0.0, -0.9};
    double legs = fmin(toSegment(x, leftHip, leftKnee), toSegment(x, rightHip, rightKnee)) - 0.28;
    return fmin(legs, toBall(x, 0.0, 0.0, 0.75, 0.65, 0.4, 0.3));
}

static double fish(const double x[3]) {
    return toBall(x, 0.0, 0.0, 0.0, 0.9, 0.25, 0.4);
}

static void makeHand(srSoup* soup) {
    srMakeIsosurface(soup, hand, 1.04, 32);
}

static void makeHead(srSoup* soup) {
    srMakeIsosurface(soup, head, 1.1375, 26);
}

static void makeThighs(srSoup* soup) {
    srMakeIsosurface(soup, thighs, 1.26, 28);
}

// a fan of open triangles, from one point of the body outwards
static void addFin(srSoup* soup, const double root[3], const double along[3], const double out[3]) {
    int32_t centre = srSoup_AddPoint(soup, root[0], root[1], root[2]);
    int32_t last = -1;
    for (int i = 0; i <= 8; i++) {
        double t = i / 8.0, reach = 1.0 - 0.3 * sin(3.0 * PI * t);
        double x[3];
        for (int c = 0; c < 3; c++) {
            x[c] = root[c] + reach * ((2.0 * t - 1.0) * along[c] + out[c]);
        }
        int32_t next = srSoup_AddPoint(soup, x[0], x[1], x[2]);
        if (i > 0) {
            srSoup_AddTriangle(soup, centre, last, next);
        }
        last = next;
    }
}

static void makeFish(srSoup* soup) {
    srMakeIsosurface(soup, fish, 0.95, 20);
    addFin(soup, (double[]){0.8, 0.0, 0.0}, (double[]){0.0, 0.0, 0.5}, (double[]){0.5, 0.0, 0.0});
    addFin(soup, (double[]){0.0, 0.0, 0.3}, (double[]){0.4, 0.0, 0.0}, (double[]){0.1, 0.0, 0.4});
    addFin(soup, (double[]){-0.2, 0.2, -0.1}, (double[]){0.2, 0.0, 0.0}, (double[]){0.1, 0.4, -0.1});
}

static const srShape shapes[] = {
    {"cube", makePlainCube, true, false},
    {"fine cube", makeFineCube, true, false},
    {"uv sphere", makeUvSphere, true, false},
    {"round sphere", makeIcoSphere, true, false},
    {"cylinder", makeCylinder, true, false},
    {"cone", makeCone, true, false},
    {"torus", makeTorus, true, false},
    {"solid plane", makeSlab, true, false},
    {"hollow ball", makeHollowBall, true, false},
    {"overlapping balls", makeOverlapping, true, false},
    {"hand", makeHand, true, false},
    {"head with mouth", makeHead, true, false},
    {"thighs", makeThighs, true, false},
    {"fish with fins", makeFish, false, false},
    {"card", makeCard, true, false},
    {"plane", makePlane, false, true},
};

const srShape* srGetShapes(int32_t* outCount) {
    *outCount = (int32_t)(sizeof(shapes) / sizeof(shapes[0]));
    return shapes;
}

// ---- what is long and thin -------------------------------------------------------------------------------

static void makeRopeEnds(srSoup* soup) {
    srMakeBall(soup, 16, 9, 1.0); // an odd number of rings: none at height zero, where it is drawn apart
}

#define LONG_SHAPES(kind, make)                                                                              \
    {kind " 5", make, 5.0, false}, {kind " 10", make, 10.0, false}, {kind " 20", make, 20.0, false},         \
        {kind " 40", make, 40.0, false}, {kind " 5 tilted", make, 5.0, true},                                \
        {kind " 10 tilted", make, 10.0, true}, {kind " 20 tilted", make, 20.0, true}, {                      \
        kind " 40 tilted", make, 40.0, true                                                                  \
    }

static const srLongShape longShapes[] = {
    LONG_SHAPES("box", makePlainCube),
    LONG_SHAPES("rod", makeCylinder),
    LONG_SHAPES("rope", makeRopeEnds),
};

const srLongShape* srGetLongShapes(int32_t* outCount) {
    *outCount = (int32_t)(sizeof(longShapes) / sizeof(longShapes[0]));
    return longShapes;
}

void srTilt(float x[3]) {
    const double c = 0.86602540378443865, s = 0.5;
    double y = (double)x[1] * c - (double)x[2] * s, z = (double)x[1] * s + (double)x[2] * c;
    double turned = (double)x[0] * s + y * c;
    x[0] = (float)((double)x[0] * c - y * s);
    x[1] = (float)turned;
    x[2] = (float)z;
}

void srMakeLongShape(const srLongShape* shape, srSoup* soup) {
    shape->make(soup);
    for (int32_t p = 0; p < soup->pointCount; p++) {
        float* x = soup->points + 3 * (int64_t)p;
        x[2] += (float)(x[2] > 0.0F ? shape->ratio - 1.0 : 1.0 - shape->ratio);
        if (shape->isTilted) {
            srTilt(x);
        }
    }
}

// neighbouring finger tips, the two knees, the two lips
static const srApart aparts[] = {
    {"hand", {-0.13, 0.7, 0.0}, {0.13, 0.7, 0.0}, 1.2},
    {"hand", {0.13, 0.6, 0.0}, {0.39, 0.6, 0.0}, 1.0},
    {"thighs", {-0.2, 0.0, -0.7}, {0.2, 0.0, -0.7}, 1.6},
    {"thighs", {-0.2, 0.0, -0.3}, {0.2, 0.0, -0.3}, 1.0},
    {"head with mouth", {0.0, -0.6, -0.25}, {0.0, -0.6, -0.45}, 0.6},
};

const srApart* srGetAparts(int32_t* outCount) {
    *outCount = (int32_t)(sizeof(aparts) / sizeof(aparts[0]));
    return aparts;
}
