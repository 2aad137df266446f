// SPDX-License-Identifier: GPL-3.0-or-later
//
// Shapes of crossing boxes: flat faces in several places along each axis, which meet planes of a lattice one
// after the other as its spacing changes.

#include "corpus/shapes.h"

#include <math.h>

// Half as long as it is along each axis, and where its middle is.
typedef struct srBox {
    double half[3];
    double middle[3];
} srBox;

static void makeBoxes(srSoup* soup, const srBox* boxes, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        srSoup box = {0};
        srMakeCube(&box, 1);
        srSoup_Place(&box, boxes[i].half, boxes[i].middle);
        srSoup_Append(soup, &box);
        srFreeSoup(&box);
    }
}

#define MAKE_BOXES(soup, boxes) makeBoxes(soup, boxes, (int32_t)(sizeof(boxes) / sizeof(boxes[0])))

static void makeJack(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.2, 0.2}, {0.0, 0.0, 0.0}},
                           {{0.2, 1.0, 0.2}, {0.0, 0.0, 0.0}},
                           {{0.2, 0.2, 1.0}, {0.0, 0.0, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

static void makeThinJack(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.1, 0.1}, {0.0, 0.0, 0.0}},
                           {{0.1, 1.0, 0.1}, {0.0, 0.0, 0.0}},
                           {{0.1, 0.1, 1.0}, {0.0, 0.0, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

static void makeCrossingBoxes(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.5, 0.25}, {0.0, 0.0, 0.0}}, {{0.25, 1.0, 0.5}, {0.0, 0.0, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

static void makeFrame(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.1, 0.1}, {0.0, 0.0, 0.9}},
                           {{1.0, 0.1, 0.1}, {0.0, 0.0, -0.9}},
                           {{0.1, 0.1, 1.0}, {0.9, 0.0, 0.0}},
                           {{0.1, 0.1, 1.0}, {-0.9, 0.0, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

static void makeComb(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.1, 0.15}, {0.0, 0.0, 0.5}},    {{0.1, 0.1, 0.6}, {-0.9, 0.0, -0.05}},
                           {{0.1, 0.1, 0.6}, {-0.45, 0.0, -0.05}}, {{0.1, 0.1, 0.6}, {0.0, 0.0, -0.05}},
                           {{0.1, 0.1, 0.6}, {0.45, 0.0, -0.05}},  {{0.1, 0.1, 0.6}, {0.9, 0.0, -0.05}}};
    MAKE_BOXES(soup, boxes);
}

static void makeCross(srSoup* soup) {
    const srBox boxes[] = {{{0.2, 0.2, 1.0}, {0.0, 0.0, 0.0}}, {{0.7, 0.2, 0.2}, {0.0, 0.0, 0.3}}};
    MAKE_BOXES(soup, boxes);
}

static void makeH(srSoup* soup) {
    const srBox boxes[] = {{{0.2, 0.2, 1.0}, {-0.6, 0.0, 0.0}},
                           {{0.2, 0.2, 1.0}, {0.6, 0.0, 0.0}},
                           {{0.7, 0.2, 0.2}, {0.0, 0.0, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

static void makeT(srSoup* soup) {
    const srBox boxes[] = {{{0.2, 0.2, 1.0}, {0.0, 0.0, 0.0}}, {{0.8, 0.2, 0.2}, {0.0, 0.0, 0.8}}};
    MAKE_BOXES(soup, boxes);
}

static void makeTable(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.7, 0.1}, {0.0, 0.0, 0.5}},
                           {{0.1, 0.1, 0.55}, {0.85, 0.55, 0.0}},
                           {{0.1, 0.1, 0.55}, {-0.85, 0.55, 0.0}},
                           {{0.1, 0.1, 0.55}, {0.85, -0.55, 0.0}},
                           {{0.1, 0.1, 0.55}, {-0.85, -0.55, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

static void makeStairs(srSoup* soup) {
    const srBox boxes[] = {{{1.0, 0.4, 0.15}, {0.0, 0.0, -0.6}},
                           {{0.75, 0.4, 0.2}, {0.25, 0.0, -0.3}},
                           {{0.5, 0.4, 0.2}, {0.5, 0.0, 0.0}},
                           {{0.25, 0.4, 0.2}, {0.75, 0.0, 0.3}}};
    MAKE_BOXES(soup, boxes);
}

static void makeTwoCubes(srSoup* soup) {
    const srBox boxes[] = {{{0.3, 0.3, 0.3}, {-0.7, 0.0, 0.0}}, {{0.3, 0.3, 0.3}, {0.7, 0.0, 0.0}}};
    MAKE_BOXES(soup, boxes);
}

// a torus, its tube an eighth of it
static void makeRing(srSoup* soup) {
    const int32_t around = 64, across = 12;
    const double turn = 2.0 * 3.14159265358979323846;
    int32_t first = soup->pointCount;
    for (int32_t i = 0; i < around * across; i++) {
        double u = turn * (i / across) / around, v = turn * (i % across) / across;
        double radius = 1.0 + 0.12 * cos(v);
        srSoup_AddPoint(soup, radius * cos(u), radius * sin(u), 0.12 * sin(v));
    }
    for (int32_t i = 0; i < around * across; i++) {
        int32_t u = i / across, v = i % across, uNext = (u + 1) % around, vNext = (v + 1) % across;
        srSoup_AddQuad(soup, first + u * across + v, first + uNext * across + v,
                       first + uNext * across + vNext, first + u * across + vNext);
    }
}

#define UPRIGHT_AND_TILTED(name, make, pieces, overlap)                                                      \
    {name, make, false, pieces, overlap}, {                                                                  \
        name " tilted", make, true, pieces, overlap                                                          \
    }

static const srBarShape shapes[] = {
    UPRIGHT_AND_TILTED("jack", makeJack, 1, 0.4),
    UPRIGHT_AND_TILTED("thin jack", makeThinJack, 1, 0.2),
    UPRIGHT_AND_TILTED("crossing boxes", makeCrossingBoxes, 1, 0.5),
    UPRIGHT_AND_TILTED("frame", makeFrame, 1, 0.2),
    UPRIGHT_AND_TILTED("comb", makeComb, 1, 0.2),
    UPRIGHT_AND_TILTED("cross", makeCross, 1, 0.4),
    UPRIGHT_AND_TILTED("H", makeH, 1, 0.3),
    UPRIGHT_AND_TILTED("T", makeT, 1, 0.4),
    UPRIGHT_AND_TILTED("table", makeTable, 1, 0.15),
    UPRIGHT_AND_TILTED("stairs", makeStairs, 1, 0.05),
    UPRIGHT_AND_TILTED("two cubes", makeTwoCubes, 2, HUGE_VAL),
    UPRIGHT_AND_TILTED("ring", makeRing, 1, HUGE_VAL),
};

const srBarShape* srGetBarShapes(int32_t* outCount) {
    *outCount = (int32_t)(sizeof(shapes) / sizeof(shapes[0]));
    return shapes;
}

void srMakeBarShape(const srBarShape* shape, srSoup* soup) {
    shape->make(soup);
    for (int32_t p = 0; shape->isTilted && p < soup->pointCount; p++) {
        srTilt(soup->points + 3 * (int64_t)p);
    }
}
