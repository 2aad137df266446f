// SPDX-License-Identifier: GPL-3.0-or-later
//
// Shapes: a cage from limbs, and the three scenes.

#include "support/thesis.h"

#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACINGS 160 // tried for a number of nodes

// cubes of a grid over the limbs
typedef struct Grid {
    srVec3 lower;
    double spacing;
    int32_t counts[3]; // of cubes
    int32_t cubeCount;
    bool* isInside; // a cube
    int32_t* nodes; // a corner of the grid: its node, or -1
} Grid;

static bool isInLimbs(const srThesisLimb* limbs, int32_t limbCount, double ground, srVec3 x) {
    for (int32_t k = 0; k < limbCount && x.y > ground; ++k) {
        srVec3 axis = srSub(limbs[k].b, limbs[k].a);
        double squared = srDot(axis, axis);
        double t = squared > 0.0 ? srDot(srSub(x, limbs[k].a), axis) / squared : 0.0;
        t = fmin(fmax(t, 0.0), 1.0);
        if (srDistance(x, srMulAdd(limbs[k].a, t, axis)) < limbs[k].radius) {
            return true;
        }
    }
    return false;
}

static void placeGrid(const srThesisLimb* limbs, int32_t limbCount, double spacing, Grid* grid) {
    srVec3 lower = limbs[0].a;
    srVec3 upper = limbs[0].a;
    for (int32_t k = 0; k < limbCount; ++k) {
        srVec3 r = {limbs[k].radius, limbs[k].radius, limbs[k].radius};
        lower = srMin(lower, srSub(srMin(limbs[k].a, limbs[k].b), r));
        upper = srMax(upper, srAdd(srMax(limbs[k].a, limbs[k].b), r));
    }
    srVec3 size = srSub(upper, lower);
    grid->lower = lower;
    grid->spacing = spacing;
    grid->counts[0] = (int32_t)ceil(size.x / spacing);
    grid->counts[1] = (int32_t)ceil(size.y / spacing);
    grid->counts[2] = (int32_t)ceil(size.z / spacing);
    grid->cubeCount = grid->counts[0] * grid->counts[1] * grid->counts[2];
}

static void findPlace(const int32_t counts[3], int32_t index, int32_t out[3]) {
    out[0] = index % counts[0];
    out[1] = index / counts[0] % counts[1];
    out[2] = index / counts[0] / counts[1];
}

// the cube beside another one, or -1; sides 0 to 5
static int32_t findBeside(const Grid* grid, int32_t cube, int side) {
    int32_t at[3];
    findPlace(grid->counts, cube, at);
    at[side / 2] += side % 2 == 0 ? 1 : -1;
    bool isIn = at[side / 2] >= 0 && at[side / 2] < grid->counts[side / 2];
    return isIn ? at[0] + grid->counts[0] * (at[1] + grid->counts[1] * at[2]) : -1;
}

// Keeps of the cubes inside those that hang together by faces with the first limb's first
static bool keepOnePiece(const srThesisLimb* limb, Grid* grid) {
    int32_t* open = malloc((size_t)grid->cubeCount * sizeof(int32_t));
    bool* isKept = calloc((size_t)grid->cubeCount, sizeof(bool));
    int32_t first = -1;
    double best = INFINITY;
    for (int32_t cube = 0; cube < grid->cubeCount; ++cube) {
        int32_t at[3];
        findPlace(grid->counts, cube, at);
        srVec3 x =
            srAdd(grid->lower, srScale(grid->spacing, (srVec3){at[0] + 0.5, at[1] + 0.5, at[2] + 0.5}));
        double away = srDistance(x, srScale(0.5, srAdd(limb->a, limb->b)));
        if (grid->isInside[cube] && away < best) {
            best = away;
            first = cube;
        }
    }
    int32_t openCount = 0;
    if (open != NULL && isKept != NULL && first >= 0) {
        open[openCount++] = first;
        isKept[first] = true;
        while (openCount > 0) {
            int32_t cube = open[--openCount];
            for (int side = 0; side < 6; ++side) {
                int32_t beside = findBeside(grid, cube, side);
                if (beside >= 0 && grid->isInside[beside] && !isKept[beside]) {
                    isKept[beside] = true;
                    open[openCount++] = beside;
                }
            }
        }
        memcpy(grid->isInside, isKept, (size_t)grid->cubeCount * sizeof(bool));
    }
    bool isDone = open != NULL && isKept != NULL && first >= 0;
    free(open);
    free(isKept);
    return isDone;
}

static int32_t findCorner(const Grid* grid, const int32_t at[3], int corner) {
    return at[0] + (corner & 1) +
           (grid->counts[0] + 1) *
               (at[1] + (corner >> 1 & 1) + (grid->counts[1] + 1) * (at[2] + (corner >> 2)));
}

// the cubes of a spacing; returns how many nodes they have, or -1
static int32_t fillGrid(const srThesisLimb* limbs, int32_t limbCount, double ground, double spacing,
                        Grid* grid) {
    placeGrid(limbs, limbCount, spacing, grid);
    int32_t cornerCount = (grid->counts[0] + 1) * (grid->counts[1] + 1) * (grid->counts[2] + 1);
    grid->isInside = calloc((size_t)grid->cubeCount, sizeof(bool));
    grid->nodes = malloc((size_t)cornerCount * sizeof(int32_t));
    if (grid->isInside == NULL || grid->nodes == NULL) {
        return -1;
    }
    for (int32_t cube = 0; cube < grid->cubeCount; ++cube) {
        int32_t at[3];
        findPlace(grid->counts, cube, at);
        srVec3 x = srAdd(grid->lower, srScale(spacing, (srVec3){at[0] + 0.5, at[1] + 0.5, at[2] + 0.5}));
        grid->isInside[cube] = isInLimbs(limbs, limbCount, ground, x);
    }
    if (!keepOnePiece(&limbs[0], grid)) {
        return -1;
    }
    memset(grid->nodes, -1, (size_t)cornerCount * sizeof(int32_t));
    int32_t nodeCount = 0;
    for (int32_t k = 0; k < 8 * grid->cubeCount; ++k) {
        if (grid->isInside[k / 8]) {
            int32_t at[3];
            findPlace(grid->counts, k / 8, at);
            int32_t* node = &grid->nodes[findCorner(grid, at, k % 8)];
            *node = *node < 0 ? nodeCount++ : *node;
        }
    }
    return nodeCount;
}

static void freeGrid(Grid* grid) {
    free(grid->isInside);
    free(grid->nodes);
    *grid = (Grid){0};
}

static bool makeCage(const Grid* grid, int32_t nodeCount, srCage* outCage) {
    // six cells around the diagonal from corner 0 to corner 7, which neighbours' faces agree with
    static const int PATHS[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    srVec3* nodes = malloc((size_t)nodeCount * sizeof(srVec3));
    int32_t (*cells)[4] = malloc(6 * (size_t)grid->cubeCount * sizeof(*cells));
    int32_t cellCount = 0;
    srResult result = sr_errorOutOfMemory;
    if (nodes != NULL && cells != NULL) {
        for (int32_t cube = 0; cube < grid->cubeCount; ++cube) {
            if (!grid->isInside[cube]) {
                continue;
            }
            int32_t at[3];
            findPlace(grid->counts, cube, at);
            int32_t corners[8];
            for (int c = 0; c < 8; ++c) {
                corners[c] = grid->nodes[findCorner(grid, at, c)];
                srVec3 x = {at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)};
                nodes[corners[c]] = srAdd(grid->lower, srScale(grid->spacing, x));
            }
            for (int p = 0; p < 6; ++p) {
                int32_t cell[4] = {corners[0], corners[PATHS[p][0]], corners[PATHS[p][1]], corners[7]};
                memcpy(cells[cellCount++], cell, sizeof(cell));
            }
        }
        result = srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, cellCount, outCage);
    }
    free(nodes);
    free(cells);
    return result == sr_success;
}

bool srThesisCreateCage(const srThesisLimb* limbs, int32_t limbCount, double ground, int32_t nodeCount,
                        srCage* outCage, double* outSpacing) {
    *outCage = (srCage){0};
    double volume = 0.0;
    for (int32_t k = 0; k < limbCount; ++k) {
        double r = limbs[k].radius;
        volume += 3.14 * r * r * (srDistance(limbs[k].a, limbs[k].b) + 4.0 / 3.0 * r);
    }
    double guess = cbrt(volume / nodeCount);
    int32_t nearest = INT32_MAX;
    for (int k = 0; k < SPACINGS; ++k) {
        Grid grid = {0};
        double spacing = guess * (0.8 + 0.9 * k / SPACINGS);
        int32_t found = fillGrid(limbs, limbCount, ground, spacing, &grid);
        freeGrid(&grid);
        if (found > 0 && abs(found - nodeCount) < nearest) {
            nearest = abs(found - nodeCount);
            *outSpacing = spacing;
        }
    }
    Grid grid = {0};
    int32_t found = nearest < INT32_MAX ? fillGrid(limbs, limbCount, ground, *outSpacing, &grid) : -1;
    bool isDone = found > 0 && makeCage(&grid, found, outCage);
    freeGrid(&grid);
    return isDone;
}

static srPbdDials sharedDials(void) {
    return (srPbdDials){
        .boneCompliance = -1.0,
        .stiffness = 1.0,
        .iterations = 1,
        .substeps = 1,
        .frameSeconds = 1.0 / FRAMES_A_SECOND,
    };
}

// a particle of 1 kg on a spring of length 1 to a wall, pulled out to 1.2: 10 rad/s
bool srThesisCreateSpring(srThesisScene* out) {
    static const srVec3 NODES[2] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    static const int32_t EDGES[1][2] = {{0, 1}};
    static const float MASSES[2] = {0.0f, 1.0f};
    *out = (srThesisScene){.name = "harmonic oscillator", .frameCount = 48, .shownNode = 1, .extent = 1.0};
    out->mostIterations = 1024;
    out->factorStride = 1;
    out->shape =
        (srPbdShape){.nodes = NODES, .nodeCount = 2, .edges = EDGES, .edgeCount = 1, .masses = MASSES};
    out->dials = sharedDials();
    out->dials.edgeCompliance = 0.01;
    out->starts = calloc(2, sizeof(srVec3f));
    if (out->starts != NULL) {
        out->starts[1].x = 1.2f;
    }
    return out->starts != NULL;
}

void srThesisFindSpring(const srThesisScene* scene, srVec3* outPath) {
    int32_t count = scene->shape.nodeCount;
    for (int32_t k = 0; k < count * scene->frameCount; ++k) {
        int32_t node = k % count;
        bool isFree = scene->shape.masses[node] > 0.0f;
        double away = isFree ? 0.2 * cos(10.0 * (k / count + 1) / FRAMES_A_SECOND) : 0.0;
        outPath[k] = srAdd(scene->shape.nodes[node], (srVec3){away, 0.0, 0.0});
    }
}

static bool takeCage(srThesisScene* scene) {
    const srCage* cage = &scene->cage;
    scene->masses = calloc((size_t)cage->nodeCount, sizeof(float));
    scene->edgeFactors = calloc((size_t)cage->edgeCount, sizeof(float));
    scene->starts = calloc((size_t)cage->nodeCount, sizeof(srVec3f));
    if (scene->masses == NULL || scene->edgeFactors == NULL || scene->starts == NULL) {
        return false;
    }
    srVec3 lower = cage->nodes[0];
    srVec3 upper = lower;
    for (int32_t i = 0; i < cage->nodeCount; ++i) {
        scene->masses[i] = 1.0f;
        scene->starts[i] = srToFloat(cage->nodes[i]);
        scene->shownNode = cage->nodes[i].y > cage->nodes[scene->shownNode].y ? i : scene->shownNode;
        lower = srMin(lower, cage->nodes[i]);
        upper = srMax(upper, cage->nodes[i]);
    }
    for (int32_t j = 0; j < cage->edgeCount; ++j) {
        scene->edgeFactors[j] = 1.0f;
    }
    srVec3 size = srSub(upper, lower);
    scene->extent = fmax(size.x, fmax(size.y, size.z));
    scene->shape = (srPbdShape){
        .nodes = cage->nodes,
        .nodeCount = cage->nodeCount,
        .edges = (const int32_t (*)[2])cage->edges,
        .edgeCount = cage->edgeCount,
        .cells = (const int32_t (*)[4])cage->cells,
        .cellCount = cage->cellCount,
        .masses = scene->masses,
        .edgeCompliances = scene->edgeFactors,
    };
    return true;
}

// 180 nodes of 1 kg, held at y = 0, pulled sideways and let go
bool srThesisCreateBeam(srThesisScene* out) {
    static const int32_t COUNTS[3] = {3, 8, 4};
    *out = (srThesisScene){.name = "cantilever beam", .frameCount = 48, .shownAxis = 0};
    out->judgeSteps = 1000; // fifty for one of twenty substeps
    out->mostIterations = 1024;
    out->factorStride = 1;
    if (srTestCreateBarCage(COUNTS, 0.1, &out->cage) != sr_success || !takeCage(out)) {
        return false;
    }
    for (int32_t i = 0; i < out->cage.nodeCount; ++i) {
        out->masses[i] = out->cage.nodes[i].y > 0.05 ? 1.0f : 0.0f;
    }
    out->dials = sharedDials();
    out->dials.edgeCompliance = 1e-4;
    out->dials.volumeCompliance = 3e-10;
    out->bend = (srVec3){6.0, 0.0, 0.0};
    return srThesisBend(out, out->bend, out->starts);
}

// A round body with two antennae and feet; softer the more upright an edge is; dropped from 0.3 m on a plane
// that leans, where it slides a little and sticks
bool srThesisCreateJello(int32_t nodeCount, srThesisScene* out) {
    static const srThesisLimb LIMBS[] = {
        {{0.0, 0.40, 0.0}, {0.0, 0.62, 0.0}, 0.36},    {{-0.16, 0.90, 0.0}, {-0.30, 1.18, 0.0}, 0.09},
        {{0.16, 0.90, 0.0}, {0.30, 1.18, 0.0}, 0.09},  {{-0.20, 0.10, 0.10}, {-0.20, 0.30, 0.0}, 0.15},
        {{0.20, 0.10, 0.10}, {0.20, 0.30, 0.0}, 0.15},
    };
    double spacing;
    *out = (srThesisScene){.name = "monster jello", .frameCount = 30, .shownAxis = 1};
    out->judgeSteps = 1000; // fifty for one of twenty substeps
    out->mostIterations = 256;
    out->factorStride = 3;
    if (!srThesisCreateCage(LIMBS, 5, 0.0, nodeCount, &out->cage, &spacing) || !takeCage(out)) {
        return false;
    }
    for (int32_t j = 0; j < out->cage.edgeCount; ++j) {
        srVec3 edge = srSub(out->cage.nodes[out->cage.edges[j][1]], out->cage.nodes[out->cage.edges[j][0]]);
        out->edgeFactors[j] = (float)(1.0 + edge.y * edge.y / srDot(edge, edge));
    }
    out->isSofterUpright = true;
    out->dials = sharedDials();
    out->dials.edgeCompliance = 4e-4;
    out->dials.volumeCompliance = 4e-10;
    out->dials.gravity = (srVec3f){1.5f, -9.7f, 0.0f};
    out->dials.hasFloor = true;
    out->dials.floorHeight = -0.3;
    out->dials.friction = 0.5;
    return true;
}

void srThesisDestroyScene(srThesisScene* scene) {
    srDestroyCage(&scene->cage);
    free(scene->masses);
    free(scene->edgeFactors);
    free(scene->starts);
    free(scene->fibres);
    *scene = (srThesisScene){0};
}

srVec3* srThesisAllocatePath(const srThesisScene* scene) {
    return calloc((size_t)scene->frameCount * (size_t)scene->shape.nodeCount, sizeof(srVec3));
}

double srThesisFindDistance(const srThesisScene* scene, const srVec3* path, const srVec3* other) {
    double sum = 0.0;
    double count = 0.0;
    for (int32_t i = 0; i < scene->shape.nodeCount; ++i) {
        for (int32_t frame = 0; scene->shape.masses[i] > 0.0f && frame < scene->frameCount; ++frame) {
            size_t at = (size_t)frame * (size_t)scene->shape.nodeCount + (size_t)i;
            sum += srDistance(path[at], other[at]);
            count += 1.0;
        }
    }
    return sum / count;
}

static srFamily* createFamily(const srThesisScene* scene, srFamilyMethod method, const srPbdDials* dials) {
    const srPbdShape* from = &scene->shape;
    srFamilyShape shape = {
        .nodes = from->nodes,
        .nodeCount = from->nodeCount,
        .cells = from->cells,
        .cellCount = from->cellCount,
        .edges = from->edges,
        .edgeCount = from->edgeCount,
        .masses = from->masses,
        .edgeFactors = from->edgeCompliances,
    };
    srFamilyDials tuned = {
        .matter = {.dampingRate = dials->dampingRate,
                   .frameSeconds = dials->frameSeconds,
                   .substeps = dials->substeps,
                   .sweeps = dials->iterations,
                   .floorNormal = {0.0, dials->hasFloor ? 1.0 : 0.0, 0.0},
                   .floorHeight = dials->floorHeight,
                   .friction = dials->friction},
        .gravity = dials->gravity,
        .published = dials,
    };
    srFamily* family = NULL;
    if (srCreateFamily(method, &shape, &family) == sr_success &&
        srFamily_Tune(family, &tuned) != sr_success) {
        srDestroyFamily(family);
        family = NULL;
    }
    return family;
}

double srThesisPlay(const srThesisScene* scene, srFamilyMethod method, const srPbdDials* dials,
                    srVec3* outPath) {
    srVec3f* x = calloc((size_t)scene->shape.nodeCount, sizeof(srVec3f));
    srFamily* family = x != NULL ? createFamily(scene, method, dials) : NULL;
    const srFamilyMotion motion = {0};
    double seconds = 0.0;
    if (family != NULL) {
        srFamily_Place(family, scene->starts, NULL);
    }
    for (int32_t frame = 0; family != NULL && frame < scene->frameCount; ++frame) {
        double start = srThesisSeconds();
        srFamily_StepFrame(family, &motion, NULL);
        seconds += srThesisSeconds() - start;
        srFamily_Read(family, NULL, x);
        for (int32_t i = 0; i < scene->shape.nodeCount; ++i) {
            outPath[(size_t)frame * (size_t)scene->shape.nodeCount + (size_t)i] = srToDouble(x[i]);
        }
    }
    srDestroyFamily(family);
    free(x);
    return seconds;
}
