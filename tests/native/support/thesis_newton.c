// SPDX-License-Identifier: GPL-3.0-or-later
//
// The judge: the same springs and volumes, the same floor and friction, solved exactly in small steps. Each
// step minimises, with b = 4/9 h^2 (BDF2; Bender et al. 2015; h^2, backward Euler's, where the floor breaks a
// node's past),
//   sum m |x - y|^2 / (2 b) + sum (|d| - L)^2 / (2 a_edge) + sum (V - V0)^2 / (2 a_cell)
// (of matter instead of springs what its cells store, thesis_matter.c) by Newton's method with the whole
// Hessian and conjugate gradients. What of the Hessian is the body's serves the next steps too, until a step
// shows that it is out of date. On the floor a node is held at its height while it is pressed down, with a
// force N; sideways Coulomb's friction holds it with mu N s / sqrt(s^2 + e^2) against its slip s, with e a
// creep of a millimetre a second. Plain C in double, nothing shared with what it judges.

#include "support/thesis.h"

#include "math/mat3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NEWTON_STEPS 40
#define AGREES 1e-6 // of the extent: Newton's next move would be about the square of this
#define FAST 1e-2   // what is left of a move by the next with a Hessian that is not out of date
#define MOST_REUSED 50
#define ROUNDED 1e-10 // a move so short tells nothing about the next
#define MOST_GRADIENT_STEPS 500
#define BENDING_STEPS 60
#define BENDING_TIME 0.1 // s

#define CREEP 1e-3 // m/s
#define MOST_SLIPS 50

typedef struct Judge {
    const srThesisScene* scene;
    int32_t nodeCount;
    double* b;        // of a node's step
    int8_t* unsteady; // steps for which a node's past is broken by the floor: backward Euler, b = h^2
    double h;
    int32_t (*cellEdges)[6];
    double* lengths;
    double* volumes;
    srVec3* x;
    srVec3* last;
    srVec3* lastLast;
    srVec3* velocities;
    srVec3* lastVelocities;
    srVec3* y;
    srVec3* gradient; // then the direction's right-hand side
    srVec3* direction;
    srVec3* residual;
    srVec3* search;
    srVec3* product;
    srVec3* preconditioned;
    srMat3* diagonal;
    srMat3* stiffness; // what of the diagonal is the body's
    srMat3* inverses;
    srMat3* across; // an edge: block of its lower node's row
    bool* isHeld;   // by the floor
    bool isFresh;   // the Hessian is of this place
    int age;        // else steps since it was
    double shrinks; // by so much did the last move but one with it
} Judge;

static const int PAIRS[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static double massOf(const Judge* judge, int32_t i) {
    return (double)judge->scene->shape.masses[i];
}

static int compareEdges(const void* a, const void* b) {
    const int32_t* x = a;
    const int32_t* y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void freeJudge(Judge* judge) {
    void* blocks[] = {judge->cellEdges, judge->lengths,  judge->volumes,        judge->x,
                      judge->last,      judge->lastLast, judge->velocities,     judge->lastVelocities,
                      judge->y,         judge->gradient, judge->direction,      judge->residual,
                      judge->search,    judge->product,  judge->preconditioned, judge->diagonal,
                      judge->inverses,  judge->across,   judge->isHeld,         judge->b,
                      judge->unsteady,  judge->stiffness};
    for (size_t k = 0; k < sizeof(blocks) / sizeof(blocks[0]); ++k) {
        free(blocks[k]);
    }
}

static double findVolume(const srVec3* x, const int32_t* n) {
    srVec3 a = srSub(x[n[1]], x[n[0]]);
    return srDot(a, srCross(srSub(x[n[2]], x[n[0]]), srSub(x[n[3]], x[n[0]]))) / 6.0;
}

static bool createJudge(const srThesisScene* scene, Judge* judge) {
    const srPbdShape* shape = &scene->shape;
    size_t n = (size_t)shape->nodeCount;
    *judge = (Judge){.scene = scene, .nodeCount = shape->nodeCount, .age = MOST_REUSED, .shrinks = 1.0};
    srVec3** vectors[] = {&judge->x,        &judge->last,           &judge->lastLast, &judge->velocities,
                          &judge->y,        &judge->lastVelocities, &judge->gradient, &judge->direction,
                          &judge->residual, &judge->search,         &judge->product,  &judge->preconditioned};
    bool isComplete = true;
    for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); ++k) {
        *vectors[k] = calloc(n, sizeof(srVec3));
        isComplete = isComplete && *vectors[k] != NULL;
    }
    judge->cellEdges = calloc((size_t)shape->cellCount, sizeof(*judge->cellEdges));
    judge->lengths = calloc((size_t)shape->edgeCount, sizeof(double));
    judge->volumes = calloc((size_t)shape->cellCount, sizeof(double));
    judge->diagonal = calloc(n, sizeof(srMat3));
    judge->stiffness = calloc(n, sizeof(srMat3));
    judge->inverses = calloc(n, sizeof(srMat3));
    judge->across = calloc((size_t)shape->edgeCount, sizeof(srMat3));
    judge->isHeld = calloc(n, sizeof(bool));
    judge->b = calloc(n, sizeof(double));
    judge->unsteady = calloc(n, 1);
    if (!isComplete || judge->cellEdges == NULL || judge->lengths == NULL || judge->volumes == NULL ||
        judge->diagonal == NULL || judge->inverses == NULL || judge->across == NULL ||
        judge->isHeld == NULL || judge->b == NULL || judge->unsteady == NULL || judge->stiffness == NULL) {
        return false;
    }
    for (int32_t j = 0; j < shape->edgeCount; ++j) {
        judge->lengths[j] = srDistance(shape->nodes[shape->edges[j][0]], shape->nodes[shape->edges[j][1]]);
    }
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        judge->volumes[cell] = findVolume(shape->nodes, shape->cells[cell]);
        for (int k = 0; k < 6; ++k) {
            int32_t a = shape->cells[cell][PAIRS[k][0]];
            int32_t b = shape->cells[cell][PAIRS[k][1]];
            const int32_t key[2] = {a < b ? a : b, a < b ? b : a};
            const int32_t* found =
                bsearch(key, shape->edges, (size_t)shape->edgeCount, sizeof(key), compareEdges);
            judge->cellEdges[cell][k] = (int32_t)((found - shape->edges[0]) / 2);
        }
    }
    for (size_t i = 0; i < n; ++i) {
        judge->x[i] = srToDouble(scene->starts[i]);
        judge->last[i] = judge->x[i];
    }
    return true;
}

static srVec3 mulVec(const srMat3* A, srVec3 v) {
    return (srVec3){A->m[0][0] * v.x + A->m[0][1] * v.y + A->m[0][2] * v.z,
                    A->m[1][0] * v.x + A->m[1][1] * v.y + A->m[1][2] * v.z,
                    A->m[2][0] * v.x + A->m[2][1] * v.y + A->m[2][2] * v.z};
}

static srMat3 findInverse(const srMat3* A) {
    srVec3 a = {A->m[0][0], A->m[0][1], A->m[0][2]};
    srVec3 b = {A->m[1][0], A->m[1][1], A->m[1][2]};
    srVec3 c = {A->m[2][0], A->m[2][1], A->m[2][2]};
    srVec3 u = srCross(b, c), v = srCross(c, a), w = srCross(a, b);
    double s = 1.0 / srDot(a, u);
    return (srMat3){{{s * u.x, s * v.x, s * w.x}, {s * u.y, s * v.y, s * w.y}, {s * u.z, s * v.z, s * w.z}}};
}

static void addOuter(srMat3* A, double scale, srVec3 u, srVec3 v) {
    const double p[3] = {scale * u.x, scale * u.y, scale * u.z};
    const double q[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 9; ++k) {
        A->m[k / 3][k % 3] += p[k / 3] * q[k % 3];
    }
}

// A += scale [v]x, or minus that if it is seen from the other node
static void addCrossMatrix(srMat3* A, double scale, srVec3 v) {
    A->m[0][1] -= scale * v.z;
    A->m[0][2] += scale * v.y;
    A->m[1][0] += scale * v.z;
    A->m[1][2] -= scale * v.x;
    A->m[2][0] -= scale * v.y;
    A->m[2][1] += scale * v.x;
}

static void addEdges(Judge* judge) {
    const srThesisScene* scene = judge->scene;
    for (int32_t j = 0; j < scene->shape.edgeCount; ++j) {
        int32_t a = scene->shape.edges[j][0];
        int32_t b = scene->shape.edges[j][1];
        double stiffness = 1.0 / (scene->dials.edgeCompliance * (double)scene->shape.edgeCompliances[j]);
        srVec3 d = srSub(judge->x[b], judge->x[a]);
        double length = srLength(d);
        srVec3 n = srScale(1.0 / length, d);
        double pull = stiffness * (length - judge->lengths[j]);
        judge->gradient[a] = srMulAdd(judge->gradient[a], -pull, n);
        judge->gradient[b] = srMulAdd(judge->gradient[b], pull, n);
        if (!judge->isFresh) {
            continue;
        }
        // along n the spring, across it what the tension holds
        srMat3 H = {{{0.0}}};
        for (int c = 0; c < 3; ++c) {
            H.m[c][c] = pull / length;
        }
        addOuter(&H, stiffness - pull / length, n, n);
        for (int k = 0; k < 9; ++k) {
            judge->stiffness[a].m[k / 3][k % 3] += H.m[k / 3][k % 3];
            judge->stiffness[b].m[k / 3][k % 3] += H.m[k / 3][k % 3];
            judge->across[j].m[k / 3][k % 3] -= H.m[k / 3][k % 3];
        }
    }
}

// With e_k = x_k - x_0 and g_1 = e_2 x e_3 / 6, ...: d g_1 / d x_2 = -[e_3]x / 6, and so on; rows and columns
// of node 0 are minus the sums of the others
static void addCells(Judge* judge) {
    const srPbdShape* shape = &judge->scene->shape;
    double stiffness = 1.0 / judge->scene->dials.volumeCompliance;
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        const int32_t* n = shape->cells[cell];
        srVec3 e[4] = {{0.0, 0.0, 0.0}};
        for (int k = 1; k < 4; ++k) {
            e[k] = srSub(judge->x[n[k]], judge->x[n[0]]);
        }
        srVec3 g[4];
        g[1] = srScale(1.0 / 6.0, srCross(e[2], e[3]));
        g[2] = srScale(1.0 / 6.0, srCross(e[3], e[1]));
        g[3] = srScale(1.0 / 6.0, srCross(e[1], e[2]));
        g[0] = srScale(-1.0, srAdd(g[1], srAdd(g[2], g[3])));
        double push = stiffness * (srDot(e[1], g[1]) - judge->volumes[cell]);
        for (int k = 0; k < 4; ++k) {
            judge->gradient[n[k]] = srMulAdd(judge->gradient[n[k]], push, g[k]);
        }
        if (!judge->isFresh) {
            continue;
        }
        // of the pairs 12, 13, 23: minus e_3, plus e_2, minus e_1; a row of node 0 with column k
        srVec3 turns[6] = {
            srSub(e[2], e[3]),  srSub(e[3], e[1]), srSub(e[1], e[2]), srScale(-1.0, e[3]), e[2],
            srScale(-1.0, e[1])};
        for (int k = 0; k < 4; ++k) {
            addOuter(&judge->stiffness[n[k]], stiffness, g[k], g[k]);
        }
        for (int k = 0; k < 6; ++k) {
            bool isAscending = n[PAIRS[k][0]] < n[PAIRS[k][1]];
            int first = PAIRS[k][isAscending ? 0 : 1];
            int second = PAIRS[k][isAscending ? 1 : 0];
            srMat3* H = &judge->across[judge->cellEdges[cell][k]];
            addOuter(H, stiffness, g[first], g[second]);
            addCrossMatrix(H, (isAscending ? 1.0 : -1.0) * push / 6.0, turns[k]);
        }
    }
}

// of cells of matter, what they store
static void addMatter(Judge* judge) {
    const srPbdShape* shape = &judge->scene->shape;
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        const int32_t* n = shape->cells[cell];
        srVec3 x[4], g[4], push[4];
        srMat3 blocks[4][4];
        for (int c = 0; c < 4; ++c) {
            x[c] = judge->x[n[c]];
        }
        double volume = srThesisFindGradients(shape->nodes, n, g);
        srThesisEvaluateCell(&judge->scene->matter, g, volume, x, push, judge->isFresh ? blocks : NULL);
        for (int c = 0; c < 4; ++c) {
            judge->gradient[n[c]] = srAdd(judge->gradient[n[c]], push[c]);
            for (int k = 0; judge->isFresh && k < 9; ++k) {
                judge->stiffness[n[c]].m[k / 3][k % 3] += blocks[c][c].m[k / 3][k % 3];
            }
        }
        for (int k = 0; judge->isFresh && k < 6; ++k) {
            bool isAscending = n[PAIRS[k][0]] < n[PAIRS[k][1]];
            int first = PAIRS[k][isAscending ? 0 : 1];
            int second = PAIRS[k][isAscending ? 1 : 0];
            srMat3* H = &judge->across[judge->cellEdges[cell][k]];
            for (int m = 0; m < 9; ++m) {
                H->m[m / 3][m % 3] += blocks[first][second].m[m / 3][m % 3];
            }
        }
    }
}

// and the Hessian, if it is to be fresh
static void findGradient(Judge* judge) {
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        judge->gradient[i] = srScale(massOf(judge, i) / judge->b[i], srSub(judge->x[i], judge->y[i]));
    }
    if (judge->isFresh) {
        memset(judge->across, 0, (size_t)judge->scene->shape.edgeCount * sizeof(srMat3));
        memset(judge->stiffness, 0, (size_t)judge->nodeCount * sizeof(srMat3));
        judge->age = 0;
    }
    if (judge->scene->isMatter) {
        addMatter(judge);
    } else {
        addEdges(judge);
        addCells(judge);
    }
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        judge->diagonal[i] = judge->stiffness[i];
        for (int c = 0; c < 3; ++c) {
            judge->diagonal[i].m[c][c] += massOf(judge, i) / judge->b[i];
        }
    }
}

// What holds a node's slip where its friction leads it: of the slip s that balances d (s - from) + force +
// mu N s / sqrt(s^2 + e^2), the factor of s. Of sticking it would be far too little at the slip before, and
// of slipping far too much; where the slip is that of before both are the same. By Newton's method, from
// below.
static double findHold(double most, double creep, double d, double target) {
    double slip = 0.0;
    double change = INFINITY;
    for (int k = 0; k < MOST_SLIPS && change > 1e-15 * slip; ++k) {
        double length = sqrt(slip * slip + creep * creep);
        double left = target - slip * (d + most / length);
        change = fmax(0.0, left / (d + most * creep * creep / (length * length * length)));
        slip += change;
    }
    return most / sqrt(slip * slip + creep * creep);
}

// What is below the floor is held by it, at its height
static void putOnFloor(Judge* judge) {
    const srPbdDials* dials = &judge->scene->dials;
    for (int32_t i = 0; dials->hasFloor && i < judge->nodeCount; ++i) {
        judge->isHeld[i] = judge->isHeld[i] || judge->x[i].y < dials->floorHeight;
        judge->x[i].y = judge->isHeld[i] ? dials->floorHeight : judge->x[i].y;
    }
}

// The floor lets go of what it would have to pull down; friction of the others: its force into the gradient,
// and what it adds to the Hessian
static void applyFloor(Judge* judge) {
    double friction = judge->scene->dials.friction;
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        srVec3* G = &judge->gradient[i];
        judge->isHeld[i] = judge->isHeld[i] && !(G->y < 0.0);
        if (!judge->isHeld[i]) {
            continue;
        }
        srVec3 slip = srSub(judge->x[i], judge->last[i]);
        srMat3* H = &judge->diagonal[i];
        double d = 0.5 * (H->m[0][0] + H->m[2][2]);
        double target = hypot(d * slip.x - G->x, d * slip.z - G->z);
        double hold = findHold(friction * G->y, CREEP * judge->h, d, target);
        G->x += hold * slip.x;
        G->z += hold * slip.z;
        H->m[0][0] += hold;
        H->m[2][2] += hold;
    }
}

// zero where a node may not move
static void mask(const Judge* judge, srVec3* v) {
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        if (!(massOf(judge, i) > 0.0)) {
            v[i] = (srVec3){0.0, 0.0, 0.0};
        } else if (judge->isHeld[i]) {
            v[i].y = 0.0;
        }
    }
}

static void multiply(const Judge* judge, const srVec3* v, srVec3* out) {
    const srPbdShape* shape = &judge->scene->shape;
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        out[i] = mulVec(&judge->diagonal[i], v[i]);
    }
    for (int32_t j = 0; j < shape->edgeCount; ++j) {
        int32_t a = shape->edges[j][0];
        int32_t b = shape->edges[j][1];
        srMat3 transposed = srTranspose3(&judge->across[j]);
        out[a] = srAdd(out[a], mulVec(&judge->across[j], v[b]));
        out[b] = srAdd(out[b], mulVec(&transposed, v[a]));
    }
    mask(judge, out);
}

static void precondition(const Judge* judge, const srVec3* v, srVec3* out) {
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        out[i] = mulVec(&judge->inverses[i], v[i]);
    }
    mask(judge, out);
}

static double dotAll(const Judge* judge, const srVec3* u, const srVec3* v) {
    double sum = 0.0;
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        sum += srDot(u[i], v[i]);
    }
    return sum;
}

static void addAll(const Judge* judge, srVec3* u, double scale, const srVec3* v) {
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        u[i] = srMulAdd(u[i], scale, v[i]);
    }
}

// direction = -H^-1 gradient, as far as the curvature is positive
static void findDirection(Judge* judge) {
    size_t bytes = (size_t)judge->nodeCount * sizeof(srVec3);
    memset(judge->direction, 0, bytes);
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        judge->inverses[i] = findInverse(&judge->diagonal[i]);
        judge->residual[i] = srScale(-1.0, judge->gradient[i]);
    }
    mask(judge, judge->residual);
    precondition(judge, judge->residual, judge->preconditioned);
    memcpy(judge->search, judge->preconditioned, bytes);
    double rho = dotAll(judge, judge->residual, judge->preconditioned);
    double first = rho;
    for (int k = 0; k < MOST_GRADIENT_STEPS && rho > 1e-16 * first; ++k) {
        multiply(judge, judge->search, judge->product);
        double curvature = dotAll(judge, judge->search, judge->product);
        if (!(curvature > 0.0)) {
            break;
        }
        addAll(judge, judge->direction, rho / curvature, judge->search);
        addAll(judge, judge->residual, -rho / curvature, judge->product);
        precondition(judge, judge->residual, judge->preconditioned);
        double next = dotAll(judge, judge->residual, judge->preconditioned);
        for (int32_t i = 0; i < judge->nodeCount; ++i) {
            judge->search[i] = srMulAdd(judge->preconditioned[i], next / rho, judge->search[i]);
        }
        rho = next;
    }
}

// How far the next move would go, in parts of the extent
static double foreseeMove(const Judge* judge, double longest) {
    return judge->isFresh ? longest * longest : longest * judge->shrinks;
}

static bool solveStep(Judge* judge) {
    double before = 0.0;
    judge->isFresh = ++judge->age > MOST_REUSED;
    for (int k = 0; k < MOST_NEWTON_STEPS; ++k) {
        putOnFloor(judge);
        findGradient(judge);
        applyFloor(judge);
        findDirection(judge);
        addAll(judge, judge->x, 1.0, judge->direction);
        double longest = 0.0;
        for (int32_t i = 0; i < judge->nodeCount; ++i) {
            longest = fmax(longest, srLength(judge->direction[i]) / judge->scene->extent);
        }
        judge->shrinks = before > ROUNDED && !judge->isFresh ? longest / before : judge->shrinks;
        if (longest < AGREES && foreseeMove(judge, longest) < AGREES * AGREES) {
            return true;
        }
        // moves that hardly shrink are those of another place
        judge->isFresh = k > 0 && (judge->isFresh || !(judge->shrinks < FAST));
        before = longest;
    }
    return false;
}

// The first step is backward Euler's: there is nothing before it
static void predict(Judge* judge, double h, bool isFirst) {
    srVec3 g = srToDouble(judge->scene->dials.gravity);
    judge->h = h;
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        srVec3 now = judge->x[i];
        srVec3 before = judge->last[i];
        srVec3 coast = srScale(1.0 / 3.0, srSub(srScale(4.0, now), before));
        srVec3 speed = srSub(srScale(8.0, judge->velocities[i]), srScale(2.0, judge->lastVelocities[i]));
        bool isRough = isFirst || judge->unsteady[i] > 0;
        judge->b[i] = (isRough ? 1.0 : 4.0 / 9.0) * h * h;
        srVec3 moved = isRough ? srMulAdd(now, h, judge->velocities[i]) : srMulAdd(coast, h / 9.0, speed);
        srVec3 y = srMulAdd(moved, judge->b[i], g);
        // begins where the forces of the step before would lead
        srVec3 pushed = srSub(now, judge->y[i]);
        judge->lastLast[i] = before;
        judge->last[i] = now;
        judge->y[i] = massOf(judge, i) > 0.0 ? y : now;
        judge->x[i] = massOf(judge, i) > 0.0 && !isFirst ? srAdd(y, pushed) : judge->y[i];
    }
}

static void findVelocities(Judge* judge, bool isFirst) {
    for (int32_t i = 0; i < judge->nodeCount; ++i) {
        srVec3 moved = srSub(judge->x[i], judge->last[i]);
        srVec3 movedBefore = srSub(judge->last[i], judge->lastLast[i]);
        if (judge->isHeld[i]) {
            judge->unsteady[i] = 3;
        }
        bool isRough = isFirst || judge->unsteady[i] > 0;
        judge->unsteady[i] = (int8_t)(judge->unsteady[i] - (judge->unsteady[i] > 0));
        srVec3 v = isRough ? moved : srScale(0.5, srSub(srScale(3.0, moved), movedBefore));
        judge->lastVelocities[i] = judge->velocities[i];
        judge->velocities[i] = srScale(1.0 / judge->h, v);
    }
}

// By proximal steps: each lets the body fall for a while and stops it
bool srThesisBend(const srThesisScene* scene, srVec3 pull, srVec3f* outPlaces) {
    Judge judge;
    bool isDone = createJudge(scene, &judge);
    for (int step = 1; isDone && step <= BENDING_STEPS; ++step) {
        double share = fmin(1.0, 2.0 * step / BENDING_STEPS);
        for (int32_t i = 0; i < judge.nodeCount; ++i) {
            bool isFree = massOf(&judge, i) > 0.0;
            judge.b[i] = BENDING_TIME * BENDING_TIME;
            judge.y[i] = isFree ? srMulAdd(judge.x[i], share * judge.b[i], pull) : judge.x[i];
        }
        isDone = solveStep(&judge);
    }
    for (int32_t i = 0; isDone && i < judge.nodeCount; ++i) {
        outPlaces[i] = srToFloat(judge.x[i]);
    }
    freeJudge(&judge);
    return isDone;
}

int32_t srThesisSolveExactly(const srThesisScene* scene, int32_t stepsAFrame, srVec3* outPath) {
    Judge judge;
    int32_t missedCount = -1;
    if (createJudge(scene, &judge)) {
        double h = scene->dials.frameSeconds / stepsAFrame;
        missedCount = 0;
        for (int32_t step = 0; step < stepsAFrame * scene->frameCount; ++step) {
            predict(&judge, h, step == 0);
            missedCount += !solveStep(&judge);
            findVelocities(&judge, step == 0);
            if ((step + 1) % stepsAFrame == 0) {
                size_t at = (size_t)(step / stepsAFrame) * (size_t)judge.nodeCount;
                memcpy(outPath + at, judge.x, (size_t)judge.nodeCount * sizeof(srVec3));
            }
        }
    }
    freeJudge(&judge);
    return missedCount;
}
