// SPDX-License-Identifier: GPL-3.0-or-later
//
// A body is the zero of a blend of tapered limbs, contoured finely and thinned to the wanted number of
// vertices.

#include "bodies.h"

#include "core/arena.h"
#include "math/mat34.h"
#include "mesh/contour.h"
#include "mesh/decimate.h"
#include "mesh/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LIMBS 64
#define MOST_INFLUENCES 4
#define PI 3.14159265358979323846

// A bone with flesh around it.
typedef struct Limb {
    srVec3 from, to;
    double fromRadius, toRadius;
    double flatness; // how many times thinner along z
    int parent;
    double swing; // radians
} Limb;

typedef struct Plan {
    const char* name;
    int32_t vertexCount;
    Limb limbs[MOST_LIMBS];
    int limbCount;
    double blend; // how far limbs flow into one another
} Plan;

static int addLimb(Plan* plan, int parent, srVec3 from, srVec3 to, double fromRadius, double toRadius,
                   double flatness) {
    plan->limbs[plan->limbCount] = (Limb){from, to, fromRadius, toRadius, flatness, parent, 0.25};
    return plan->limbCount++;
}

// `count` limbs in a row from a to b, bent by `sag` along z.
static int addChain(Plan* plan, int parent, srVec3 a, srVec3 b, double sag, int count, double fromRadius,
                    double toRadius, double flatness) {
    srVec3 before = a;
    for (int i = 1; i <= count; i++) {
        double share = i / (double)count;
        srVec3 next = srMulAdd(a, share, srSub(b, a));
        next.z += sag * sin(PI * share);
        double r0 = fromRadius + (toRadius - fromRadius) * (i - 1) / count,
               r1 = fromRadius + (toRadius - fromRadius) * share;
        parent = addLimb(plan, parent, before, next, r0, r1, flatness);
        before = next;
    }
    return parent;
}

static srVec3 at(double x, double y, double z) {
    return (srVec3){x, y, z};
}

// 24 bones: spine 4, neck and head 2, arms 3 each, legs 3 each, ears 3 each
static void planBiped(Plan* plan, double girth, double limb, double ear, double flatness) {
    int hips = addChain(plan, -1, at(0, 0, 0), at(0, 0.9, 0), 0.0, 4, 0.3 * girth, 0.24 * girth, 1.0);
    int head = addChain(plan, hips, at(0, 1.0, 0), at(0, 1.5, 0), 0.0, 2, 0.14, 0.24, 1.0);
    for (int side = -1; side <= 1; side += 2) {
        addChain(plan, hips, at(0.24 * side, 0.85, 0), at(1.05 * side, 0.55, 0), 0.05, 3, 0.11 * limb,
                 0.07 * limb, 1.0);
        addChain(plan, 0, at(0.16 * side, -0.1, 0), at(0.3 * side, -1.1, 0), -0.05, 3, 0.15 * limb,
                 0.09 * limb, 1.0);
        addChain(plan, head, at(0.13 * side, 1.65, 0), at(0.45 * side, 1.65 + ear, 0), 0.1, 3, 0.08, 0.1,
                 flatness);
    }
}

static Plan makePlan(int index) {
    Plan plan = {.blend = 0.08};
    switch (index) {
    case 0:
        plan = (Plan){.name = "sack", .vertexCount = 700, .blend = 0.15};
        addChain(&plan, -1, at(0, 0, 0), at(0, 1.2, 0), 0.0, 2, 0.5, 0.3, 1.0);
        break;
    case 1:
        plan = (Plan){.name = "fish", .vertexCount = 1250, .blend = 0.1};
        addChain(&plan, -1, at(0, 0, 0), at(1.6, 0, 0), 0.0, 2, 0.32, 0.12, 1.6);
        addLimb(&plan, 1, at(1.6, 0, 0), at(2.1, 0, 0), 0.12, 0.4, 6.0);
        break;
    case 2:
        plan = (Plan){.name = "snake", .vertexCount = 3620, .blend = 0.03};
        addChain(&plan, -1, at(0, 0, 0), at(6.0, 0, 0), 0.9, 50, 0.16, 0.06, 1.0);
        break;
    case 3:
        plan.name = "biped";
        planBiped(&plan, 1.0, 1.0, 0.45, 2.0);
        break;
    case 4:
        plan.name = "stout biped";
        planBiped(&plan, 1.5, 1.2, 0.3, 1.0);
        break;
    case 5:
        plan.name = "thin biped";
        planBiped(&plan, 0.65, 0.6, 0.45, 2.0);
        break;
    case 6:
        plan.name = "hare";
        planBiped(&plan, 1.0, 0.9, 1.1, 4.0);
        break;
    case 7:
        plan = (Plan){.name = "ray", .vertexCount = 2000, .blend = 0.1};
        addLimb(&plan, -1, at(0, 0, 0), at(1.2, 0, 0), 0.35, 0.2, 3.0);
        addChain(&plan, 0, at(0.3, 0.3, 0), at(0.6, 1.4, 0), 0.1, 3, 0.4, 0.12, 8.0);
        addChain(&plan, 0, at(0.3, -0.3, 0), at(0.6, -1.4, 0), 0.1, 3, 0.4, 0.12, 8.0);
        addChain(&plan, 0, at(1.2, 0, 0), at(2.6, 0, 0), 0.0, 4, 0.1, 0.03, 1.0);
        break;
    case 8:
        plan = (Plan){.name = "ball", .vertexCount = 1500, .blend = 0.1};
        addLimb(&plan, -1, at(0, 0, 0), at(0, 0.4, 0), 0.6, 0.6, 1.0);
        addLimb(&plan, 0, at(0, 0.4, 0), at(0, 0.9, 0), 0.6, 0.5, 1.0);
        break;
    default:
        plan = (Plan){.name = "octopus", .vertexCount = 3000, .blend = 0.08};
        addLimb(&plan, -1, at(0, 0, 0), at(0, 0.5, 0), 0.35, 0.4, 1.0);
        for (int arm = 0; arm < 8; arm++) {
            double x = cos(arm * PI / 4), z = sin(arm * PI / 4);
            addChain(&plan, 0, at(0.3 * x, -0.1, 0.3 * z), at(1.5 * x, -0.5, 1.5 * z), 0.0, 3, 0.11, 0.04,
                     1.0);
        }
        break;
    }
    plan.vertexCount = plan.vertexCount != 0 ? plan.vertexCount : 2925;
    return plan;
}

// ---- skin
// -------------------------------------------------------------------------------------------------------

static double distanceToLimb(const Limb* limb, srVec3 x) {
    // seen through a space in which the limb is round
    srVec3 middle = srScale(0.5, srAdd(limb->from, limb->to));
    x.z = middle.z + (x.z - middle.z) * limb->flatness;
    srVec3 along = srSub(limb->to, limb->from);
    double t = srDot(srSub(x, limb->from), along) / fmax(srDot(along, along), 1e-12);
    t = fmin(fmax(t, 0.0), 1.0);
    double radius = limb->fromRadius + t * (limb->toRadius - limb->fromRadius);
    double distance = srDistance(x, srMulAdd(limb->from, t, along)) - radius;
    return distance / (1.0 + 0.5 * (limb->flatness - 1.0));
}

// The smooth minimum over all limbs.
static double fieldAt(const Plan* plan, srVec3 x) {
    double sum = 0.0;
    for (int i = 0; i < plan->limbCount; i++) {
        sum += exp(-fmin(distanceToLimb(&plan->limbs[i], x) / (0.3 * plan->blend), 300.0));
    }
    return sum > 0.0 ? -0.3 * plan->blend * log(sum) : 1.0;
}

static bool makeSkin(const Plan* plan, srArena* arena, srHull* outSkin) {
    srVec3 lower = {1e9, 1e9, 1e9}, upper = {-1e9, -1e9, -1e9};
    for (int i = 0; i < plan->limbCount; i++) {
        const Limb* limb = &plan->limbs[i];
        double r = 1.3 * fmax(limb->fromRadius, limb->toRadius) + plan->blend;
        lower = srMin(lower, srSub(srMin(limb->from, limb->to), at(r, r, r)));
        upper = srMax(upper, srAdd(srMax(limb->from, limb->to), at(r, r, r)));
    }
    srLattice lattice;
    srHull fine;
    srDecimateReport report;
    srVec3 extent = srSub(upper, lower);
    double spacing = cbrt(extent.x * extent.y * extent.z / 500000.0);
    if (!srMakeLattice(lower, upper, spacing, spacing, 1 << 22, &lattice)) {
        return false;
    }
    double* phi = SR_PUSH(arena, double, lattice.pointCount, "bench");
    for (int32_t p = 0; phi != NULL && p < lattice.pointCount; p++) {
        phi[p] = fieldAt(plan, srLattice_Point(&lattice, p));
    }
    // a closed surface of one piece has twice as many triangles as points, less four
    srDecimateSettings settings = {2 * plan->vertexCount - 4, NULL, NULL, false};
    return phi != NULL && srContourLattice(&lattice, phi, arena, &fine) == sr_success &&
           srDecimate(&fine, &settings, arena, outSkin, &report) == sr_success;
}

// ---- rig
// --------------------------------------------------------------------------------------------------------

// From the bone's own space, y along it.
static srMat34 restOf(const Limb* limb) {
    srVec3 y = srSub(limb->to, limb->from);
    y = srScale(1.0 / srLength(y), y);
    srVec3 aside = fabs(y.z) < 0.9 ? at(0, 0, 1) : at(1, 0, 0);
    srVec3 x = srCross(y, aside);
    x = srScale(1.0 / srLength(x), x);
    srVec3 z = srCross(x, y);
    return (srMat34){
        {{x.x, y.x, z.x, limb->from.x}, {x.y, y.y, z.y, limb->from.y}, {x.z, y.z, z.z, limb->from.z}}};
}

static void write16(const srMat34* matrix, float* out) {
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 4; row++) {
            out[4 * column + row] = row < 3 ? (float)matrix->m[row][column] : column == 3 ? 1.0f : 0.0f;
        }
    }
}

// The nearest limbs, by the inverse fourth power of the distance.
static void weigh(const Plan* plan, srVec3 x, int32_t* bones, float* weights) {
    double least[MOST_INFLUENCES];
    for (int i = 0; i < MOST_INFLUENCES; i++) {
        least[i] = 1e30;
        bones[i] = 0;
    }
    for (int32_t limb = 0; limb < plan->limbCount; limb++) {
        double distance =
            0.02 + srDistance(x, srNearestOnSegment(x, plan->limbs[limb].from, plan->limbs[limb].to));
        int place = MOST_INFLUENCES;
        while (place > 0 && distance < least[place - 1]) {
            place--;
        }
        for (int i = MOST_INFLUENCES - 1; i > place; i--) {
            least[i] = least[i - 1];
            bones[i] = bones[i - 1];
        }
        if (place < MOST_INFLUENCES) {
            least[place] = distance;
            bones[place] = limb;
        }
    }
    for (int i = 0; i < MOST_INFLUENCES; i++) {
        weights[i] = least[i] < 1e30 ? (float)pow(least[0] / least[i], 4.0) : 0.0f;
    }
}

static bool fillRig(const Plan* plan, const srHull* skin, srCharacterDef* def) {
    size_t vertexCount = (size_t)skin->pointCount, boneCount = (size_t)plan->limbCount;
    float* positions = malloc(3 * vertexCount * sizeof(float));
    int32_t* triangles = malloc(3 * (size_t)skin->triangleCount * sizeof(int32_t));
    int32_t* starts = malloc((vertexCount + 1) * sizeof(int32_t));
    int32_t* bones = malloc(MOST_INFLUENCES * vertexCount * sizeof(int32_t));
    float* weights = malloc(MOST_INFLUENCES * vertexCount * sizeof(float));
    float* rests = malloc(16 * boneCount * sizeof(float));
    float* lengths = malloc(boneCount * sizeof(float));
    int32_t* parents = malloc(boneCount * sizeof(int32_t));
    float* space = malloc(16 * sizeof(float));
    *def = srDefaultCharacterDef();
    def->skinPositions = positions, def->skinTriangles = triangles, def->weightStarts = starts;
    def->weightBones = bones, def->weightValues = weights, def->boneRests = rests, def->boneLengths = lengths;
    def->boneParents = parents, def->spaceToSkin = space;
    if (positions == NULL || triangles == NULL || starts == NULL || bones == NULL || weights == NULL ||
        rests == NULL || lengths == NULL || parents == NULL || space == NULL) {
        return false;
    }
    memcpy(triangles, skin->triangles, 3 * (size_t)skin->triangleCount * sizeof(int32_t));
    for (size_t v = 0; v < vertexCount; v++) {
        const double x[3] = {skin->points[v].x, skin->points[v].y, skin->points[v].z};
        for (int i = 0; i < 3; i++) {
            positions[3 * v + (size_t)i] = (float)x[i];
        }
        starts[v] = (int32_t)(MOST_INFLUENCES * v);
        weigh(plan, skin->points[v], bones + MOST_INFLUENCES * v, weights + MOST_INFLUENCES * v);
    }
    starts[vertexCount] = (int32_t)(MOST_INFLUENCES * vertexCount);
    for (size_t b = 0; b < boneCount; b++) {
        srMat34 rest = restOf(&plan->limbs[b]);
        write16(&rest, rests + 16 * b);
        lengths[b] = (float)srDistance(plan->limbs[b].from, plan->limbs[b].to);
        parents[b] = plan->limbs[b].parent;
    }
    memset(space, 0, 16 * sizeof(float));
    space[0] = space[5] = space[10] = space[15] = 1.0f;
    def->skinVertexCount = skin->pointCount;
    def->skinTriangleCount = skin->triangleCount;
    def->boneCount = plan->limbCount;
    def->spaceCount = 1;
    return true;
}

bool srBench_CreateBody(int index, srBenchBody* outBody) {
    Plan plan = makePlan(index);
    srHull skin;
    srArena* arena = srCreateArena(1 << 20);
    *outBody = (srBenchBody){.name = plan.name};
    bool isMade = arena != NULL && makeSkin(&plan, arena, &skin) && fillRig(&plan, &skin, &outBody->def);
    srVec3 lower = {1e9, 1e9, 1e9}, upper = {-1e9, -1e9, -1e9};
    for (int32_t p = 0; isMade && p < skin.pointCount; p++) {
        lower = srMin(lower, skin.points[p]);
        upper = srMax(upper, skin.points[p]);
    }
    outBody->size = (float)srDistance(lower, upper);
    srDestroyArena(arena);
    return isMade;
}

void srBench_DestroyBody(srBenchBody* body) {
    const srCharacterDef* def = &body->def;
    const void* arrays[] = {def->skinPositions, def->skinTriangles, def->weightStarts,
                            def->weightBones,   def->weightValues,  def->boneRests,
                            def->boneLengths,   def->boneParents,   def->spaceToSkin};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        free((void*)arrays[i]);
    }
    *body = (srBenchBody){0};
}

// ---- motion
// -----------------------------------------------------------------------------------------------------

static srMat34 turnAboutZ(double angle) {
    double c = cos(angle), s = sin(angle);
    return (srMat34){{{c, -s, 0.0, 0.0}, {s, c, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
}

// The root hops; chains of many bones swing each by less.
void srBench_MoveBody(const srBenchBody* body, float* outRows) {
    const srCharacterDef* def = &body->def;
    size_t rowSize = 16 * (2 + (size_t)def->boneCount);
    double swing = fmin(0.25, 2.5 / def->boneCount);
    srMat34 poses[MOST_LIMBS], identity = turnAboutZ(0.0);
    for (int row = 0; row < SR_BODY_FRAMES; row++) {
        float* out = outRows + (size_t)row * rowSize;
        double seconds = row / 24.0, ease = fmin(1.0, 2.0 * seconds);
        write16(&identity, out);
        write16(&identity, out + 16);
        for (int32_t b = 0; b < def->boneCount; b++) {
            srMat34 rest = srFromColumns16(def->boneRests + 16 * (size_t)b);
            double angle = b == 0 ? 0.0 : ease * swing * sin(2.0 * PI * 1.2 * seconds + 0.4 * b);
            srMat34 turned = turnAboutZ(angle), local = srMul34(&rest, &turned);
            int32_t parent = def->boneParents[b];
            if (parent == SR_NULL_INDEX) {
                local.m[1][3] += 0.06 * (double)body->size * ease * fabs(sin(2.0 * PI * 1.1 * seconds));
                poses[b] = local;
            } else {
                srMat34 parentRest = srFromColumns16(def->boneRests + 16 * (size_t)parent), back;
                srInvert34(&parentRest, &back);
                srMat34 moved = srMul34(&poses[parent], &back);
                poses[b] = srMul34(&moved, &local);
            }
            write16(&poses[b], out + 32 + 16 * (size_t)b);
        }
    }
}
