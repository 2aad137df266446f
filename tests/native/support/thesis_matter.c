// SPDX-License-Identifier: GPL-3.0-or-later
//
// The scenes' bodies as matter, for our own fast solver: of a material as stiff as the springs and volumes
// that they are published with, and as heavy. And what the judge has to know of it: what a cell stores, with
// L = I + (root - 1) d d' along fibres d that are root^2 times as stiff,
//   mu V |(F - R) L|^2 + lambda V (det F - 1)^2 / 2,   R the rotation nearest to F L^2
// and its derivatives by hand, in double.

#include "support/thesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TURNS_AGREE 1e-14
#define MOST_TURNS 40
#define MOST_SLOW_TURNS 200
#define LARGEST_TURN 0.3 // that is taken of Newton's
#define FLAT 1e-3        // of the volume at rest: from here on cells are as good as inside out
#define LARGEST_POISSON 0.45
// Springs that are 1 + c^2 times as soft, c the cosine to the upright: what they resist a stretch upright
// with (the integral of c^4 / (1 + c^2)) over what they resist one across with (of 3/8 (1 - c^2)^2 / (1 +
// c^2))
#define UPRIGHT_FACTOR (0.118731 / 0.178097)

typedef double Matrix[3][3];

static inline double findCofactors(const Matrix A, Matrix out) {
    static const int NEXT[] = {1, 2, 0, 1};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int p = NEXT[i], q = NEXT[i + 1], r = NEXT[j], s = NEXT[j + 1];
            out[i][j] = A[p][r] * A[q][s] - A[p][s] * A[q][r];
        }
    }
    return A[0][0] * out[0][0] + A[0][1] * out[0][1] + A[0][2] * out[0][2];
}

static srVec3 mul(const Matrix A, srVec3 v) {
    return (srVec3){A[0][0] * v.x + A[0][1] * v.y + A[0][2] * v.z,
                    A[1][0] * v.x + A[1][1] * v.y + A[1][2] * v.z,
                    A[2][0] * v.x + A[2][1] * v.y + A[2][2] * v.z};
}

static void addOuter(Matrix A, double scale, srVec3 u, srVec3 v) {
    const double p[3] = {scale * u.x, scale * u.y, scale * u.z};
    const double q[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 9; ++k) {
        A[k / 3][k % 3] += p[k / 3] * q[k % 3];
    }
}

// The turn by which Q, turned by the axis between its columns and A's, comes nearest to A: Newton's where
// what A holds it with is positive in all directions, else a short one that way
static srVec3 findTurnTowards(const Matrix A, const Matrix Q) {
    srVec3 axis = {0.0, 0.0, 0.0};
    Matrix B = {{0.0}};
    for (int c = 0; c < 3; ++c) {
        srVec3 q = {Q[0][c], Q[1][c], Q[2][c]};
        srVec3 a = {A[0][c], A[1][c], A[2][c]};
        axis = srAdd(axis, srCross(q, a));
        addOuter(B, 0.5, a, q);
        addOuter(B, 0.5, q, a);
    }
    double along = B[0][0] + B[1][1] + B[2][2];
    Matrix G, n;
    for (int k = 0; k < 9; ++k) {
        G[k / 3][k % 3] = (k % 4 == 0 ? along : 0.0) - B[k / 3][k % 3];
    }
    double det = findCofactors((const double (*)[3])G, n);
    srVec3 slow = srScale(1.0 / (fabs(along) + 1e-9), axis);
    if (!(G[0][0] > 0.0 && n[2][2] > 0.0 && det > FLAT * along * along * along)) {
        return slow;
    }
    srVec3 turn = srScale(1.0 / det, mul((const double (*)[3])n, axis)); // symmetric
    return srLength(turn) < LARGEST_TURN ? turn : slow;
}

// Turns Q towards A again and again, by what of A lies between their columns: also of what is inside out
static void turnTowards(const Matrix A, Matrix Q) {
    const Matrix none = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    memcpy(Q, none, sizeof(Matrix));
    for (int k = 0; k < MOST_SLOW_TURNS; ++k) {
        srVec3 axis = findTurnTowards(A, (const double (*)[3])Q);
        double angle = srLength(axis);
        if (!(angle > TURNS_AGREE)) {
            return;
        }
        srVec3 n = srScale(1.0 / angle, axis);
        double co = cos(angle), si = sin(angle);
        for (int c = 0; c < 3; ++c) {
            srVec3 q = {Q[0][c], Q[1][c], Q[2][c]};
            srVec3 turned = srMulAdd(srScale(co, q), si, srCross(n, q));
            turned = srMulAdd(turned, (1.0 - co) * srDot(n, q), n);
            Q[0][c] = turned.x;
            Q[1][c] = turned.y;
            Q[2][c] = turned.z;
        }
    }
}

// Half of a matrix and of its inverse transposed, again and again: each time what is off becomes the square
// of it
static void findNearestRotation(const Matrix A, Matrix Q) {
    Matrix n;
    double det = findCofactors(A, n);
    if (!(det > FLAT)) {
        turnTowards(A, Q);
        return;
    }
    memcpy(Q, A, sizeof(Matrix));
    double change = 1.0;
    for (int k = 0; k < MOST_TURNS && change > TURNS_AGREE; ++k) {
        double share = 0.5 / det;
        change = 0.0;
        for (int m = 0; m < 9; ++m) {
            double q = Q[m / 3][m % 3];
            double next = 0.5 * q + share * n[m / 3][m % 3];
            change += (next - q) * (next - q);
            Q[m / 3][m % 3] = next;
        }
        det = findCofactors((const double (*)[3])Q, n);
    }
}

// L^2 v
static srVec3 stretch(const srThesisMatter* matter, srVec3 v) {
    return srMulAdd(v, (matter->fibreFactor - 1.0) * srDot(matter->fibre, v), matter->fibre);
}

// What a cell is and where it is, for its second derivatives
typedef struct Bent {
    const srThesisMatter* matter;
    double volume;
    Matrix R;
    Matrix turning; // (tr S I - S)^-1 of F L^2 = R S
    Matrix cofactors;
    srVec3 columns[3]; // of F
    double change;     // of the volume, in parts
} Bent;

// how R turns when B = F L^2 grows by e_j v': R [w]x, (tr S I - S) w = the axis of R' dB
static void turnBy(const Bent* bent, int j, srVec3 v, Matrix dR) {
    srVec3 u = {bent->R[j][0], bent->R[j][1], bent->R[j][2]}; // R' e_j
    srVec3 w = mul(bent->turning, srCross(v, u));
    for (int i = 0; i < 3; ++i) {
        srVec3 row = {bent->R[i][0], bent->R[i][1], bent->R[i][2]};
        srVec3 turned = srCross(row, w);
        dR[i][0] = turned.x;
        dR[i][1] = turned.y;
        dR[i][2] = turned.z;
    }
}

// dP when F grows by e_j g'
static void findChange(const Bent* bent, int j, srVec3 g, Matrix dP) {
    const srThesisMatter* matter = bent->matter;
    srVec3 v = stretch(matter, g); // L^2 g
    double shape = 2.0 * matter->lameMu * bent->volume;
    Matrix dR;
    turnBy(bent, j, v, dR);
    for (int i = 0; i < 3; ++i) {
        srVec3 row = {-dR[i][0], -dR[i][1], -dR[i][2]};
        srVec3 stretched = srScale(shape, stretch(matter, i == j ? srAdd(row, g) : row));
        dP[i][0] = stretched.x;
        dP[i][1] = stretched.y;
        dP[i][2] = stretched.z;
    }
    // of the cofactors C = [b x c, c x a, a x b]: F's columns a, b, c grow by g e_j
    double bulk = matter->lameLambda * bent->volume;
    const double along[3] = {g.x, g.y, g.z};
    double grown = bent->cofactors[j][0] * g.x + bent->cofactors[j][1] * g.y + bent->cofactors[j][2] * g.z;
    const srVec3 unit = {j == 0, j == 1, j == 2};
    for (int c = 0; c < 3; ++c) {
        int p = (c + 1) % 3, q = (c + 2) % 3;
        srVec3 turned = srAdd(srScale(along[p], srCross(unit, bent->columns[q])),
                              srScale(along[q], srCross(bent->columns[p], unit)));
        const double cofactor[3] = {turned.x, turned.y, turned.z};
        for (int i = 0; i < 3; ++i) {
            dP[i][c] += bulk * (grown * bent->cofactors[i][c] + bent->change * cofactor[i]);
        }
    }
}

static void findTurning(Bent* bent, const Matrix B) {
    Matrix S;
    for (int k = 0; k < 9; ++k) {
        int i = k / 3, j = k % 3;
        S[i][j] = bent->R[0][i] * B[0][j] + bent->R[1][i] * B[1][j] + bent->R[2][i] * B[2][j];
    }
    double trace = S[0][0] + S[1][1] + S[2][2];
    Matrix A, n;
    for (int k = 0; k < 9; ++k) {
        A[k / 3][k % 3] = (k % 4 == 0 ? trace : 0.0) - 0.5 * (S[k / 3][k % 3] + S[k % 3][k / 3]);
    }
    // what may turn over at any touch is taken as not turning: of Newton's method only the way to the end
    // depends on it, and in short steps inertia is nearly all of the matrix
    double det = findCofactors((const double (*)[3])A, n);
    bool isSteady = det > FLAT && trace > 0.0;
    for (int k = 0; k < 9; ++k) {
        bent->turning[k / 3][k % 3] = isSteady ? n[k / 3][k % 3] / det : 0.0; // symmetric
    }
}

static void findBlocks(const Bent* bent, const srVec3 g[4], srMat3 blocks[4][4]) {
    memset(blocks, 0, 16 * sizeof(srMat3));
    for (int k = 3; k < 12; ++k) {
        int column = k / 3, j = k % 3;
        Matrix dP;
        findChange(bent, j, g[column], dP);
        for (int row = 1; row < 4; ++row) {
            srVec3 push = mul((const double (*)[3])dP, g[row]);
            const double numbers[3] = {push.x, push.y, push.z};
            for (int i = 0; i < 3; ++i) {
                blocks[row][column].m[i][j] = numbers[i];
                blocks[0][column].m[i][j] -= numbers[i];
                blocks[row][0].m[i][j] -= numbers[i];
                blocks[0][0].m[i][j] += numbers[i];
            }
        }
    }
}

double srThesisEvaluateCell(const srThesisMatter* matter, const srVec3 g[4], double volume, const srVec3 x[4],
                            srVec3 outForces[4], srMat3 outBlocks[4][4]) {
    Bent bent = {.matter = matter, .volume = volume};
    Matrix F = {{0.0}};
    Matrix B = {{0.0}};
    Matrix P = {{0.0}};
    for (int c = 0; c < 4; ++c) {
        addOuter(F, 1.0, x[c], g[c]);
        addOuter(B, 1.0, x[c], stretch(matter, g[c]));
    }
    findNearestRotation((const double (*)[3])B, bent.R);
    bent.change = findCofactors((const double (*)[3])F, bent.cofactors) - 1.0;
    double energy = 0.5 * matter->lameLambda * volume * bent.change * bent.change;
    for (int i = 0; i < 3; ++i) {
        srVec3 row = {F[i][0] - bent.R[i][0], F[i][1] - bent.R[i][1], F[i][2] - bent.R[i][2]};
        srVec3 stretched = stretch(matter, row);
        energy += matter->lameMu * volume * srDot(row, stretched);
        const double numbers[3] = {stretched.x, stretched.y, stretched.z};
        for (int c = 0; c < 3; ++c) {
            P[i][c] = volume * (2.0 * matter->lameMu * numbers[c] +
                                matter->lameLambda * bent.change * bent.cofactors[i][c]);
        }
        bent.columns[i] = (srVec3){F[0][i], F[1][i], F[2][i]};
    }
    for (int c = 0; c < 4; ++c) {
        outForces[c] = mul((const double (*)[3])P, g[c]);
    }
    if (outBlocks != NULL) {
        findTurning(&bent, (const double (*)[3])B);
        findBlocks(&bent, g, outBlocks);
    }
    return energy;
}

double srThesisFindGradients(const srVec3* nodes, const int32_t corners[4], srVec3 outGradients[4]) {
    srVec3 e[3];
    for (int c = 0; c < 3; ++c) {
        e[c] = srSub(nodes[corners[c + 1]], nodes[corners[0]]);
    }
    srVec3 normals[3] = {srCross(e[1], e[2]), srCross(e[2], e[0]), srCross(e[0], e[1])};
    double sixVolumes = srDot(e[0], normals[0]);
    outGradients[0] = (srVec3){0.0, 0.0, 0.0};
    for (int c = 0; c < 3; ++c) {
        outGradients[c + 1] = srScale(1.0 / sixVolumes, normals[c]);
        outGradients[0] = srSub(outGradients[0], outGradients[c + 1]);
    }
    return sixVolumes / 6.0;
}

// a free cell instead of the particle, and the pull to the pose instead of the spring: 10 rad/s
static bool loosen(srThesisScene* scene) {
    static const srVec3 NODES[4] = {{1.0, 0.0, 0.0}, {1.1, 0.0, 0.0}, {1.0, 0.1, 0.0}, {1.0, 0.0, 0.1}};
    static const int32_t CELLS[1][4] = {{0, 1, 2, 3}};
    scene->shape = (srPbdShape){.nodes = NODES, .nodeCount = 4, .cells = CELLS, .cellCount = 1};
    scene->shownNode = 0;
    scene->masses = calloc(4, sizeof(float));
    scene->fibres = NULL;
    free(scene->starts);
    scene->starts = calloc(4, sizeof(srVec3f));
    for (int i = 0; scene->masses != NULL && scene->starts != NULL && i < 4; ++i) {
        scene->masses[i] = 1.0f;
        scene->starts[i] = srToFloat(NODES[i]);
        scene->starts[i].x += 0.2f;
    }
    scene->shape.masses = scene->masses;
    scene->matter.pull = 10.0 / (2.0 * 3.14159265358979323846);
    return scene->masses != NULL && scene->starts != NULL;
}

// Springs k of lengths L that point every way in a volume V are as stiff as mu = lambda = sum k L^2 / (15 V),
// and volumes add what lambda lacks
static void findModuli(srThesisScene* scene, double volume) {
    const srPbdShape* shape = &scene->shape;
    srThesisMatter* matter = &scene->matter;
    double sum = 0.0;
    for (int32_t j = 0; j < shape->edgeCount; ++j) {
        srVec3 edge = srSub(shape->nodes[shape->edges[j][1]], shape->nodes[shape->edges[j][0]]);
        sum += srDot(edge, edge) / (scene->dials.edgeCompliance * (double)shape->edgeCompliances[j]);
    }
    double mu = sum / (15.0 * volume);
    double lambda = mu + volume / shape->cellCount / scene->dials.volumeCompliance;
    double nu = fmin(lambda / (2.0 * (lambda + mu)), LARGEST_POISSON);
    matter->lameMu = mu;
    matter->lameLambda = mu * 2.0 * nu / (1.0 - 2.0 * nu);
    matter->poissonRatio = nu;
    matter->youngModulus = 2.0 * mu * (1.0 + nu);
}

bool srThesisMakeMatter(srThesisScene* scene) {
    srThesisMatter* matter = &scene->matter;
    *matter = (srThesisMatter){
        .youngModulus = 1e6, .density = 1000.0, .fibreFactor = 1.0, .fibre = {0.0, 1.0, 0.0}};
    scene->isMatter = true;
    if (scene->cage.nodeCount == 0) {
        return loosen(scene);
    }
    const srPbdShape* shape = &scene->shape;
    double volume = 0.0;
    double mass = 0.0;
    double* volumes = calloc((size_t)shape->nodeCount, sizeof(double));
    scene->fibres = calloc((size_t)shape->cellCount, sizeof(srVec3));
    if (volumes == NULL || scene->fibres == NULL) {
        free(volumes);
        return false;
    }
    matter->fibreFactor = scene->isSofterUpright ? UPRIGHT_FACTOR : 1.0;
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        srVec3 g[4];
        double own = srThesisFindGradients(shape->nodes, shape->cells[cell], g);
        volume += own;
        for (int c = 0; c < 4; ++c) {
            volumes[shape->cells[cell][c]] += 0.25 * own;
        }
        scene->fibres[cell] = srScale(scene->isSofterUpright ? matter->fibreFactor : 0.0, matter->fibre);
    }
    // as heavy as a kilogram a node, and what is held is held
    findModuli(scene, volume);
    matter->density = shape->nodeCount / volume;
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        scene->masses[i] = scene->masses[i] > 0.0f ? (float)(matter->density * volumes[i]) : 0.0f;
        mass += (double)scene->masses[i];
    }
    free(volumes);
    double pull = srLength(scene->bend);
    return mass > 0.0 && (pull == 0.0 || srThesisBend(scene, scene->bend, scene->starts));
}

static srFamily* createFamily(const srThesisScene* scene, const srThesisQuality* quality,
                              srFamilyDials* dials) {
    const srPbdShape* from = &scene->shape;
    float* holds = calloc((size_t)from->nodeCount, sizeof(float));
    for (int32_t i = 0; holds != NULL && i < from->nodeCount; ++i) {
        holds[i] = from->masses[i] > 0.0f ? 0.0f : 1.0f;
    }
    srFamilyShape shape = {
        .nodes = from->nodes,
        .nodeCount = from->nodeCount,
        .cells = from->cells,
        .cellCount = from->cellCount,
        .holds = holds,
        .fibres = scene->isSofterUpright ? scene->fibres : NULL,
        .handleCount = quality->handleCount,
    };
    dials->gravity = scene->dials.gravity;
    dials->matter = (srFleshDials){
        .youngModulus = scene->matter.youngModulus,
        .poissonRatio = scene->matter.poissonRatio,
        .density = scene->matter.density,
        .scale = 1.0,
        .frequency = scene->matter.pull,
        .frameSeconds = scene->dials.frameSeconds,
        .largestOffset = 10.0 * scene->extent,
        .substeps = quality->substeps,
        .sweeps = quality->sweeps,
        .poses = 1,
        .integrator = quality->integrator,
        .floorNormal = {0.0, scene->dials.hasFloor ? 1.0 : 0.0, 0.0},
        .floorHeight = scene->dials.floorHeight,
        .friction = scene->dials.friction,
    };
    srFamily* family = NULL;
    if (holds != NULL && srCreateFamily(sr_familyFlesh, &shape, &family) == sr_success &&
        srFamily_Tune(family, dials) != sr_success) {
        srDestroyFamily(family);
        family = NULL;
    }
    free(holds);
    return family;
}

// How many substeps artists get of the ten that are asked for, and what their steps damp is taken off: both
// follow from the slowest swing, which long substeps tell best
static bool tuneAsArtistsGet(srFamily* family, srFamilyDials* dials, int32_t asked) {
    srFleshDials kept = dials->matter;
    dials->matter.frameSeconds = 1.0;
    dials->matter.substeps = 1;
    dials->matter.frequency = 0.0;
    bool isDone = srFamily_Tune(family, dials) == sr_success;
    dials->matter = kept;
    double swing = isDone ? srFamily_FindFrequency(family) : 0.0;
    dials->matter.substeps = srFindSubstepsWithHandles(asked, swing, kept.frameSeconds);
    dials->matter.swing = sqrt(swing * swing + kept.frequency * kept.frequency);
    return isDone && srFamily_Tune(family, dials) == sr_success;
}

double srThesisPlayMatter(const srThesisScene* scene, srThesisQuality* quality, srVec3* outPath) {
    size_t count = (size_t)scene->shape.nodeCount;
    srVec3f* x = calloc(count, sizeof(srVec3f));
    srVec3f* pose = calloc(count, sizeof(srVec3f));
    srVec3f* jump = calloc(count, sizeof(srVec3f));
    srFamilyDials dials = {0};
    srFamily* family =
        x != NULL && pose != NULL && jump != NULL ? createFamily(scene, quality, &dials) : NULL;
    double seconds = 0.0;
    bool isReady = family != NULL;
    if (isReady && quality->isAsArtistsGet) {
        isReady = tuneAsArtistsGet(family, &dials, quality->substeps);
        quality->substepsTaken = dials.matter.substeps;
    }
    if (isReady) {
        for (size_t i = 0; i < count; ++i) {
            pose[i] = srToFloat(scene->shape.nodes[i]);
        }
        srFamily_Place(family, scene->starts, pose);
    }
    srPrimaryMotion primary = {pose, pose, jump, NULL};
    const srFamilyMotion motion = {&primary, NULL};
    for (int32_t frame = 0; isReady && frame < scene->frameCount; ++frame) {
        double start = srThesisSeconds();
        srFamily_StepFrame(family, &motion, NULL);
        seconds += srThesisSeconds() - start;
        srFamily_Read(family, pose, x);
        for (size_t i = 0; i < count; ++i) {
            outPath[(size_t)frame * count + i] = srToDouble(x[i]);
        }
    }
    srDestroyFamily(family);
    free(x);
    free(pose);
    free(jump);
    return seconds;
}
