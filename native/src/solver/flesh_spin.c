// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells give a body no spin, but steps do: forces that are taken late, after places have moved on, brake it
// (docs/decisions/0017), and so does what a sweep leaves unsolved. What a substep gave or took is given back
// as one turn of all velocities of a piece, omega x (x - centre), which stretches nothing; and what rounding
// gave or took of straight motion as one move.
//
// With X the pose, p its velocity and x = X + u, the spin is sum m x x (p + w), less that of the mean. The
// part that is not of the pose alone,
//   sum m (x x w + u x p),
// does what the whole does, because the pose goes straight on; and it is exactly zero where nothing moves.

#include "solver/flesh_spin.h"

#include "core/alloc.h"
#include "core/roots.h"

#include <math.h>
#include <string.h>

#define LARGEST 1e15 // of what a motion may say; steps leave larger numbers out, and then nothing is foreseen
#define LEAST_SPREAD                                                                                         \
    1e-12 // of the cube of the mean moment of inertia: what is a line has no turn about itself

// Sums over nodes, by mass
typedef struct Sums {
    double mass;
    srVec3 p;
    srVec3 u;
    srVec3 x;
    srVec3 w;
    srVec3 spin;
    double moments[6]; // of x: xx, yy, zz, xy, yz, zx
} Sums;

// Likewise, of where those nodes are, what their velocities will be
typedef struct Foresight {
    srVec3 straight; // by themselves, and
    srVec3 w;        // as spin counts them
    srVec3 spin;
} Foresight;

// in units of the tuning's masses, and less what the pose alone has, so that zero is rest
typedef struct Momenta {
    srVec3 straight;
    srVec3 spin; // about the centre of mass
} Momenta;

// w += move + turn x (x - centre)
typedef struct Turn {
    bool isNone;
    srVec3 move;
    srVec3 turn;
    srVec3 centre;
} Turn;

struct srSpinScratch {
    int32_t pieceCount;
    int32_t seatCount;
    Sums* seats;
    Foresight* seatsAhead;
    Sums* sums; // of a piece, and so on
    Foresight* ahead;
    Momenta* foreseen;
    Turn* turns;
};

typedef struct Node {
    double mass;
    srVec3 p;
    srVec3 u;
    srVec3 x;
    srVec3 w;
} Node;

static int32_t countRanges(int32_t nodeCount) {
    return (nodeCount + SR_SPIN_RANGE - 1) / SR_SPIN_RANGE;
}

static int32_t joinNodes(const srFleshShape* shape, int32_t* roots) {
    srClearRoots(roots, shape->nodeCount);
    for (int32_t k = 0; k < 4 * shape->cellCount; ++k) {
        srJoinRoots(roots, shape->cells[k / 4][0], shape->cells[k / 4][k % 4]);
    }
    for (int32_t t = 0; shape->ties != NULL && t < shape->tieCount; ++t) {
        srJoinRoots(roots, shape->ties[t][0], shape->ties[t][1]);
    }
    // a root is the lowest of its piece, so its number is known before it is asked for
    int32_t pieceCount = 0;
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        int32_t root = srFindRoot(roots, i);
        roots[i] = root;
        pieceCount += root == i;
    }
    return pieceCount;
}

// Which seat of its range each node sums into: ranges one after the other, pieces as they come. `lastSeats`
// is room for a number a node.
static int32_t findSeats(const int32_t* roots, int32_t nodeCount, int32_t* lastSeats, srFleshPieces* out) {
    int32_t seatCount = 0;
    for (int32_t i = 0; i < nodeCount; ++i) {
        if (i % SR_SPIN_RANGE == 0) {
            out->rangeSeats[i / SR_SPIN_RANGE] = seatCount;
        }
        int32_t* last = &lastSeats[roots[i]];
        bool isNew = *last < out->rangeSeats[i / SR_SPIN_RANGE];
        *last = isNew ? seatCount++ : *last;
        out->seats[i] = *last;
    }
    out->rangeSeats[countRanges(nodeCount)] = seatCount;
    return seatCount;
}

srResult srCreateFleshPieces(const srFleshShape* shape, srFleshPieces* outPieces) {
    int32_t count = shape->nodeCount;
    srFleshPieces pieces = {.seats = SR_ALLOC(int32_t, count),
                            .rangeSeats = SR_ALLOC(int32_t, countRanges(count) + 1)};
    int32_t* roots = SR_ALLOC(int32_t, count);
    int32_t* numbers = SR_ALLOC(int32_t, count); // last seats, then pieces, of a root
    bool isComplete = pieces.rangeSeats != NULL &&
                      (count == 0 || (roots != NULL && numbers != NULL && pieces.seats != NULL));
    if (isComplete) {
        pieces.pieceCount = joinNodes(shape, roots);
        for (int32_t i = 0; i < count; ++i) {
            numbers[i] = SR_NULL_INDEX;
        }
        pieces.seatCount = findSeats(roots, count, numbers, &pieces);
        pieces.seatPieces = SR_ALLOC(int32_t, pieces.seatCount);
        isComplete = pieces.seatPieces != NULL || pieces.seatCount == 0;
    }
    for (int32_t i = 0, piece = 0; isComplete && i < count; ++i) {
        numbers[i] = roots[i] == i ? piece++ : SR_NULL_INDEX;
        pieces.seatPieces[pieces.seats[i]] = numbers[roots[i]];
    }
    SR_FREE(roots, count);
    SR_FREE(numbers, count);
    *outPieces = pieces;
    return isComplete ? sr_success : srFailOutOfMemory("the flesh");
}

void srDestroyFleshPieces(srFleshPieces* pieces, int32_t nodeCount) {
    SR_FREE(pieces->seats, nodeCount);
    SR_FREE(pieces->seatPieces, pieces->seatCount);
    SR_FREE(pieces->rangeSeats, countRanges(nodeCount) + 1);
    *pieces = (srFleshPieces){0};
}

srResult srCreateSpinScratch(const srFleshPieces* pieces, srSpinScratch** outScratch) {
    *outScratch = SR_ALLOC_ZERO(srSpinScratch, 1);
    if (*outScratch == NULL) {
        return srFailOutOfMemory("the simulation");
    }
    size_t pieceCount = (size_t)pieces->pieceCount;
    **outScratch = (srSpinScratch){
        .pieceCount = pieces->pieceCount,
        .seatCount = pieces->seatCount,
        .seats = SR_ALLOC_ZERO(Sums, pieces->seatCount),
        .seatsAhead = SR_ALLOC_ZERO(Foresight, pieces->seatCount),
        .sums = SR_ALLOC_ZERO(Sums, pieceCount),
        .ahead = SR_ALLOC_ZERO(Foresight, pieceCount),
        .foreseen = SR_ALLOC_ZERO(Momenta, pieceCount),
        .turns = SR_ALLOC_ZERO(Turn, pieceCount),
    };
    const srSpinScratch* scratch = *outScratch;
    bool isComplete =
        pieceCount == 0 || (scratch->seats != NULL && scratch->seatsAhead != NULL && scratch->sums != NULL &&
                            scratch->ahead != NULL && scratch->foreseen != NULL && scratch->turns != NULL);
    return isComplete ? sr_success : srFailOutOfMemory("the simulation");
}

void srDestroySpinScratch(srSpinScratch* scratch) {
    if (scratch != NULL) {
        SR_FREE(scratch->seats, scratch->seatCount);
        SR_FREE(scratch->seatsAhead, scratch->seatCount);
        SR_FREE(scratch->sums, scratch->pieceCount);
        SR_FREE(scratch->ahead, scratch->pieceCount);
        SR_FREE(scratch->foreseen, scratch->pieceCount);
        SR_FREE(scratch->turns, scratch->pieceCount);
        SR_FREE(scratch, 1);
    }
}

static srVec3 toVector(const float* row) {
    return (srVec3){(double)row[0], (double)row[1], (double)row[2]};
}

static bool readNode(const srSpinStep* step, int32_t i, Node* out) {
    double weight = (double)step->tuning->weights[i];
    const srFleshPieces* pieces = &step->rest->pieces;
    if (!(weight > 0.0) || !step->tuning->loosePieces[pieces->seatPieces[pieces->seats[i]]]) {
        return false;
    }
    srVec3 from = srToDouble(step->motion->from[i]);
    srVec3 way = srSub(srToDouble(step->motion->to[i]), from);
    size_t at = SR_ROW_FLOATS * (size_t)i;
    double toRest = (double)step->toRest;
    out->mass = (double)step->tuning->carries[i] / weight;
    out->p = srScale(toRest / step->tuning->dials.frameSeconds, way);
    out->u = toVector(step->starts + at);
    out->x = srMulAdd(out->u, toRest, srMulAdd(from, (double)step->fraction, way));
    out->w = toVector(step->velocities + at);
    return true;
}

static void addNode(const Node* node, Sums* sums) {
    double m = node->mass;
    srVec3 x = node->x;
    sums->mass += m;
    sums->p = srMulAdd(sums->p, m, node->p);
    sums->u = srMulAdd(sums->u, m, node->u);
    sums->x = srMulAdd(sums->x, m, x);
    sums->w = srMulAdd(sums->w, m, node->w);
    sums->spin = srMulAdd(sums->spin, m, srAdd(srCross(x, node->w), srCross(node->u, node->p)));
    srVec3 mx = srScale(m, x);
    const double products[6] = {mx.x * x.x, mx.y * x.y, mx.z * x.z, mx.x * x.y, mx.y * x.z, mx.z * x.x};
    for (int k = 0; k < 6; ++k) {
        sums->moments[k] += products[k];
    }
}

// adds `count` numbers of each seat to those of its piece, seat by seat
static void addSeats(const srSpinStep* step, const double* seats, double* sums, int32_t count) {
    const srFleshPieces* pieces = &step->rest->pieces;
    memset(sums, 0, (size_t)(count * pieces->pieceCount) * sizeof(double));
    for (int32_t seat = 0; seat < pieces->seatCount; ++seat) {
        for (int32_t k = 0; k < count; ++k) {
            sums[count * pieces->seatPieces[seat] + k] += seats[count * seat + k];
        }
    }
}

// about the centre of mass, of the sums with velocities of now or those that will be
static srVec3 findSpin(const Sums* sums, srVec3 w, srVec3 spin) {
    srVec3 mean = srAdd(srCross(sums->x, w), srCross(sums->u, sums->p));
    return srMulAdd(spin, sums->mass > 0.0 ? -1.0 / sums->mass : 0.0, mean);
}

// what a substep leaves of a node's velocity by damping alone
static double findKept(const srSpinStep* step, double carry) {
    if (step->earlier == NULL) {
        return 1.0 + (carry - 1.0) / step->tuning->theta;
    }
    // z^2 = carry (4 z - 1) / 3
    return (2.0 * carry + sqrt(fmax(4.0 * carry * carry - 3.0 * carry, 0.0))) / 3.0;
}

// What a node's velocity would be at the end of the substep if no other touched it
static srVec3 foreseeVelocity(const srSpinStep* step, int32_t i, double carry, srVec3 w) {
    if (step->earlier == NULL) {
        return srScale(findKept(step, carry), w);
    }
    srVec3 earlier = toVector(step->earlier + SR_ROW_FLOATS * (size_t)i);
    return srScale(carry / 3.0, srSub(srScale(4.0, w), earlier));
}

void srFlesh_GatherMomenta(const srSpinStep* step, int32_t begin, int32_t end) {
    const srFleshPieces* pieces = &step->rest->pieces;
    Sums* seats = step->scratch->seats;
    int32_t first = pieces->rangeSeats[begin / SR_SPIN_RANGE];
    memset(seats + first, 0, (size_t)(pieces->rangeSeats[countRanges(end)] - first) * sizeof(Sums));
    for (int32_t i = begin; i < end; ++i) {
        Node node;
        if (readNode(step, i, &node)) {
            addNode(&node, &seats[pieces->seats[i]]);
        }
    }
}

// What turns a body of these moments, about its centre, so that it has that spin more; zero if that is not
// to be told
static srVec3 findTurn(const Sums* sums, srVec3 centre, srVec3 spin) {
    const double* Q = sums->moments;
    double M = sums->mass;
    double xx = Q[0] - M * centre.x * centre.x, yy = Q[1] - M * centre.y * centre.y;
    double zz = Q[2] - M * centre.z * centre.z, xy = Q[3] - M * centre.x * centre.y;
    double yz = Q[4] - M * centre.y * centre.z, zx = Q[5] - M * centre.z * centre.x;
    srVec3 a = {yy + zz, -xy, -zx}, b = {-xy, zz + xx, -yz}, c = {-zx, -yz, xx + yy};
    srVec3 bc = srCross(b, c);
    double det = srDot(a, bc);
    double mean = (xx + yy + zz) / 3.0;
    srVec3 turn =
        srScale(1.0 / det, (srVec3){srDot(bc, spin), srDot(srCross(c, a), spin), srDot(srCross(a, b), spin)});
    bool isKnown = det > LEAST_SPREAD * mean * mean * mean && isfinite(srDot(turn, turn));
    return isKnown ? turn : (srVec3){0.0, 0.0, 0.0};
}

void srFlesh_FindTurns(const srSpinStep* step, bool isFirst) {
    srSpinScratch* scratch = step->scratch;
    addSeats(step, (const double*)scratch->seats, (double*)scratch->sums,
             (int32_t)(sizeof(Sums) / sizeof(double)));
    for (int32_t piece = 0; piece < scratch->pieceCount; ++piece) {
        const Sums* sums = &scratch->sums[piece];
        const Momenta* foreseen = &scratch->foreseen[piece];
        srVec3 missing = srSub(foreseen->spin, findSpin(sums, sums->w, sums->spin));
        srVec3 move = srScale(1.0 / sums->mass, srSub(foreseen->straight, sums->w));
        srVec3 centre = srScale(1.0 / sums->mass, sums->x);
        double size = srDot(missing, missing) + srDot(move, move);
        scratch->turns[piece] = (Turn){
            .isNone = isFirst || !(size > 0.0) || !isfinite(size),
            .move = move,
            .turn = findTurn(sums, centre, missing),
            .centre = centre,
        };
    }
}

static void turnNode(const srSpinStep* step, int32_t i, const Turn* turn, Node* node) {
    srVec3 away = srSub(node->x, turn->centre);
    srVec3 w = srAdd(node->w, srAdd(turn->move, srCross(turn->turn, away)));
    float* row = step->velocities + SR_ROW_FLOATS * (size_t)i;
    row[0] = (float)w.x;
    row[1] = (float)w.y;
    row[2] = (float)w.z;
    node->w = toVector(row);
}

static void foreseeNode(const srSpinStep* step, int32_t i, const Node* node, Foresight* sums) {
    double carry = (double)step->tuning->carries[i];
    // a step of second order takes two thirds of a load now, and what is left of the last
    double share = step->earlier == NULL ? 1.0 : 2.0 / 3.0;
    srVec3 load = {0.0, 0.0, 0.0};
    if (step->loads != NULL) {
        load = srScale(carry * step->tuning->h * (double)step->toRest, srToDouble(step->loads[i]));
    }
    double told = srDot(node->x, node->x) + srDot(node->p, node->p) + srDot(load, load);
    double m = told < LARGEST * LARGEST ? node->mass : (double)NAN;
    srVec3 alone = srMulAdd(foreseeVelocity(step, i, carry, node->w), share, load);
    srVec3 w = srMulAdd(load, findKept(step, carry), node->w);
    sums->straight = srMulAdd(sums->straight, m, alone);
    sums->w = srMulAdd(sums->w, m, w);
    sums->spin = srMulAdd(sums->spin, m, srAdd(srCross(node->x, w), srCross(node->u, node->p)));
}

void srFlesh_KeepMomenta(const srSpinStep* step, int32_t begin, int32_t end) {
    const srFleshPieces* pieces = &step->rest->pieces;
    Foresight* seats = step->scratch->seatsAhead;
    int32_t first = pieces->rangeSeats[begin / SR_SPIN_RANGE];
    memset(seats + first, 0, (size_t)(pieces->rangeSeats[countRanges(end)] - first) * sizeof(Foresight));
    for (int32_t i = begin; i < end; ++i) {
        Node node;
        if (readNode(step, i, &node)) {
            const Turn* turn = &step->scratch->turns[pieces->seatPieces[pieces->seats[i]]];
            if (!turn->isNone) {
                turnNode(step, i, turn, &node);
            }
            foreseeNode(step, i, &node, &seats[pieces->seats[i]]);
        }
    }
}

void srFlesh_ForeseeMomenta(const srSpinStep* step) {
    const int32_t count = (int32_t)(sizeof(Foresight) / sizeof(double));
    srSpinScratch* scratch = step->scratch;
    addSeats(step, (const double*)scratch->seatsAhead, (double*)scratch->ahead, count);
    for (int32_t piece = 0; piece < scratch->pieceCount; ++piece) {
        const Foresight* ahead = &scratch->ahead[piece];
        srVec3 spin = findSpin(&scratch->sums[piece], ahead->w, ahead->spin);
        scratch->foreseen[piece] = (Momenta){ahead->straight, spin};
    }
}
