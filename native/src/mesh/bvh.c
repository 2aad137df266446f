// SPDX-License-Identifier: GPL-3.0-or-later
//
// Building the tree (surface area heuristic over a few bins) and finding the nearest point with it. The top
// is split on the calling thread, which looks at the progress; the subtrees below are built in parallel.

#include "mesh/bvh.h"

#include "core/alloc.h"
#include "mesh/bvh_nodes.h"
#include "mesh/nearest.h"
#include "mesh/winding.h"

// Triangles of a leaf
#define LEAF_SIZE 4
#define BIN_COUNT 12

// Triangles of a subtree that one worker builds, and subtrees between two looks at the progress: some 5 ms
#define SUBTREE_SIZE 4096
#define SUBTREE_BATCH 2

// Nodes of a block that is measured, and between two looks at the progress
#define NODE_BLOCK 512
#define NODE_BATCH (1 << 14)

static srBox emptyBox(void) {
    return (srBox){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
}

static void growBox(srBox* box, srVec3 p) {
    box->lower = srMin(box->lower, p);
    box->upper = srMax(box->upper, p);
}

static void growByTriangle(srBox* box, const srBvhTriangle* t) {
    growBox(box, t->a);
    growBox(box, t->b);
    growBox(box, t->c);
}

static double halfArea(const srBox* box) {
    srVec3 d = srSub(box->upper, box->lower);
    return d.x * d.y + d.y * d.z + d.z * d.x;
}

static srVec3 centroid(const srBvhTriangle* t) {
    return srScale(1.0 / 3.0, srAdd(t->a, srAdd(t->b, t->c)));
}

static double component(srVec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// building

typedef struct Split {
    int axis;
    double lower;
    double scale; // bins per length
    int bin;      // the first that goes to the right
} Split;

static int binOf(const Split* split, const srBvhTriangle* t) {
    int bin = (int)((component(centroid(t), split->axis) - split->lower) * split->scale);
    return bin < 0 ? 0 : bin >= BIN_COUNT ? BIN_COUNT - 1 : bin;
}

// Cost of every cut between bins; takes the cheapest.
static bool chooseBin(const srBvhTriangle* triangles, int32_t count, Split* split) {
    srBox boxes[BIN_COUNT];
    int32_t counts[BIN_COUNT] = {0};
    for (int bin = 0; bin < BIN_COUNT; bin++) {
        boxes[bin] = emptyBox();
    }
    for (int32_t t = 0; t < count; t++) {
        int bin = binOf(split, &triangles[t]);
        counts[bin]++;
        growByTriangle(&boxes[bin], &triangles[t]);
    }
    double best = HUGE_VAL;
    for (int cut = 1; cut < BIN_COUNT; cut++) {
        srBox left = emptyBox(), right = emptyBox();
        int32_t leftCount = 0;
        for (int bin = 0; bin < BIN_COUNT; bin++) {
            srBox* side = bin < cut ? &left : &right;
            side->lower = srMin(side->lower, boxes[bin].lower);
            side->upper = srMax(side->upper, boxes[bin].upper);
            leftCount += bin < cut ? counts[bin] : 0;
        }
        if (leftCount == 0 || leftCount == count) {
            continue;
        }
        double cost = leftCount * halfArea(&left) + (count - leftCount) * halfArea(&right);
        if (cost < best) {
            best = cost;
            split->bin = cut;
        }
    }
    return best < HUGE_VAL;
}

static int32_t partition(srBvhTriangle* triangles, int32_t count, const Split* split) {
    int32_t left = 0, right = count;
    while (left < right) {
        if (binOf(split, &triangles[left]) < split->bin) {
            left++;
        } else {
            srBvhTriangle swap = triangles[left];
            triangles[left] = triangles[--right];
            triangles[right] = swap;
        }
    }
    return left;
}

// How many of the triangles go to the first child; they are brought to the front.
static int32_t splitTriangles(srBvhTriangle* triangles, int32_t count, int depth) {
    srBox centers = emptyBox();
    for (int32_t t = 0; t < count; t++) {
        growBox(&centers, centroid(&triangles[t]));
    }
    srVec3 extent = srSub(centers.upper, centers.lower);
    int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
    Split split = {.axis = axis, .lower = component(centers.lower, axis)};
    split.scale = BIN_COUNT / component(extent, axis);
    if (depth >= SR_BVH_DEPTH_OF_SAH || !isfinite(split.scale) || !chooseBin(triangles, count, &split)) {
        return count / 2;
    }
    return partition(triangles, count, &split);
}

// A subtree over n triangles owns 2 n - 1 places and has its root in the lowest: the first child's place
// follows its own, the second child's follows from how many triangles the first has. So subtrees are built on
// their own, in any order, into places that do not depend on it.
typedef struct Link {
    int32_t second; // place of the second child; of a leaf, SR_NULL_INDEX
    int32_t first;  // leaf: its first triangle
    int32_t count;
} Link;

// A part of the tree to be built: its triangles, and the first of its places.
typedef struct Part {
    int32_t place;
    int32_t first;
    int32_t count;
    int32_t depth;
} Part;

typedef struct Build {
    srBvh* bvh;
    Link* links;
    int32_t linkCount;
    Part* parts; // what hangs below the top
    int32_t partCount;
    int32_t partCapacity;
} Build;

static void splitPart(const Build* build, Part part, Part outParts[2]) {
    int32_t leftCount = splitTriangles(&build->bvh->triangles[part.first], part.count, part.depth);
    outParts[0] = (Part){part.place + 1, part.first, leftCount, part.depth + 1};
    outParts[1] =
        (Part){part.place + 2 * leftCount, part.first + leftCount, part.count - leftCount, part.depth + 1};
    build->links[part.place] = (Link){.second = outParts[1].place};
}

static void buildPart(const Build* build, Part part) {
    if (part.count <= LEAF_SIZE) {
        build->links[part.place] = (Link){SR_NULL_INDEX, part.first, part.count};
        return;
    }
    Part parts[2];
    splitPart(build, part, parts);
    buildPart(build, parts[0]);
    buildPart(build, parts[1]);
}

static void buildParts(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Build* build = context;
    for (int32_t i = begin; i < end; i++) {
        buildPart(build, build->parts[i]);
    }
}

static srResult splitTop(Build* build, const srProgress* progress) {
    Part stack[SR_BVH_STACK_SIZE];
    int32_t top = 0;
    stack[top++] = (Part){0, 0, build->bvh->triangleCount, 0};
    while (top > 0) {
        Part part = stack[--top];
        if (part.count <= SUBTREE_SIZE) {
            build->parts[build->partCount++] = part;
            continue;
        }
        SR_TRY(srReportProgress(progress, (double)part.first / build->bvh->triangleCount));
        Part parts[2];
        splitPart(build, part, parts);
        stack[top++] = parts[1];
        stack[top++] = parts[0];
    }
    return sr_success;
}

static int32_t countNodes(const Build* build) {
    int32_t stack[SR_BVH_STACK_SIZE], top = 0, count = 0;
    stack[top++] = 0;
    while (top > 0) {
        int32_t place = stack[--top];
        count++;
        if (build->links[place].second != SR_NULL_INDEX) {
            stack[top++] = build->links[place].second;
            stack[top++] = place + 1;
        }
    }
    return count;
}

// A second child that waits for its place in the final order, and the parent that shall know it
typedef struct Waiting {
    int32_t place;
    int32_t parent;
} Waiting;

static void orderNodes(const Build* build) {
    srBvhNode* nodes = build->bvh->nodes;
    Waiting stack[SR_BVH_STACK_SIZE];
    int32_t top = 0, count = 0;
    stack[top++] = (Waiting){0, SR_NULL_INDEX};
    while (top > 0) {
        Waiting next = stack[--top];
        if (next.parent != SR_NULL_INDEX) {
            nodes[next.parent].index = count;
        }
        int32_t place = next.place;
        for (; build->links[place].second != SR_NULL_INDEX; place++) {
            stack[top++] = (Waiting){build->links[place].second, count};
            nodes[count++] = (srBvhNode){.count = 0};
        }
        nodes[count++] = (srBvhNode){.index = build->links[place].first, .count = build->links[place].count};
    }
}

// measuring: leaves in parallel, then what joins them, children before parents

static float roundDown(double x) {
    float y = (float)x;
    return (double)y > x ? nextafterf(y, -HUGE_VALF) : y;
}

static float roundUp(double x) {
    float y = (float)x;
    return (double)y < x ? nextafterf(y, HUGE_VALF) : y;
}

static void measureLeaves(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    srBvh* bvh = context;
    for (int32_t i = begin; i < end; i++) {
        srBvhNode* node = &bvh->nodes[i];
        if (node->count == 0) {
            continue;
        }
        srBox box = emptyBox();
        for (int32_t t = node->index; t < node->index + node->count; t++) {
            growByTriangle(&box, &bvh->triangles[t]);
        }
        const double lower[3] = {box.lower.x, box.lower.y, box.lower.z};
        const double upper[3] = {box.upper.x, box.upper.y, box.upper.z};
        for (int axis = 0; axis < 3; axis++) {
            node->lower[axis] = roundDown(lower[axis]);
            node->upper[axis] = roundUp(upper[axis]);
        }
        srSumMoments(&bvh->triangles[node->index], node->count, &bvh->moments[i]);
    }
}

static void joinChildren(srBvh* bvh, int32_t index) {
    srBvhNode* node = &bvh->nodes[index];
    const srBvhNode *one = &bvh->nodes[index + 1], *two = &bvh->nodes[node->index];
    for (int axis = 0; axis < 3; axis++) {
        node->lower[axis] = one->lower[axis] < two->lower[axis] ? one->lower[axis] : two->lower[axis];
        node->upper[axis] = one->upper[axis] > two->upper[axis] ? one->upper[axis] : two->upper[axis];
    }
    srBox box = {{(double)node->lower[0], (double)node->lower[1], (double)node->lower[2]},
                 {(double)node->upper[0], (double)node->upper[1], (double)node->upper[2]}};
    srJoinMoments(&bvh->moments[index + 1], &bvh->moments[node->index], &box, &bvh->moments[index]);
}

static srResult measureNodes(srBvh* bvh, const srProgress* progress) {
    srProgress leaves = srPartOfProgress(progress, 0.0, 0.7), rest = srPartOfProgress(progress, 0.7, 1.0);
    SR_TRY(srParallelForWithProgress(measureLeaves, bvh->nodeCount, NODE_BLOCK, NODE_BATCH, bvh, &leaves));
    for (int32_t i = bvh->nodeCount - 1; i >= 0; i--) {
        if (i % NODE_BATCH == 0) {
            SR_TRY(srReportProgress(&rest, 1.0 - (double)i / bvh->nodeCount));
        }
        if (bvh->nodes[i].count == 0) {
            joinChildren(bvh, i);
        }
    }
    return sr_success;
}

static srResult buildTree(srBvh* bvh, const srProgress* progress) {
    srResult result = sr_success;
    srProgress above = srPartOfProgress(progress, 0.0, 0.3);
    srProgress below = srPartOfProgress(progress, 0.3, 0.7);
    srProgress measuring = srPartOfProgress(progress, 0.7, 1.0);
    Build build = {.bvh = bvh, .linkCount = 2 * bvh->triangleCount};
    // on each level the parts that are split share the triangles
    build.partCapacity = SR_BVH_STACK_SIZE * (bvh->triangleCount / SUBTREE_SIZE) + 1;
    build.links = SR_ALLOC(Link, build.linkCount);
    build.parts = SR_ALLOC(Part, build.partCapacity);
    if (build.links == NULL || build.parts == NULL) {
        result = srFailOutOfMemory("the tree over the surface");
        goto cleanup;
    }
    SR_TRY_CLEANUP(splitTop(&build, &above));
    SR_TRY_CLEANUP(srParallelForWithProgress(buildParts, build.partCount, 1, SUBTREE_BATCH, &build, &below));
    SR_TRY_CLEANUP(srReportProgress(&measuring, 0.0));
    bvh->nodeCount = countNodes(&build);
    bvh->nodes = SR_ALLOC(srBvhNode, bvh->nodeCount);
    bvh->moments = SR_ALLOC(srMoments, bvh->nodeCount);
    if (bvh->nodes == NULL || bvh->moments == NULL) {
        result = srFailOutOfMemory("the tree over the surface");
        goto cleanup;
    }
    orderNodes(&build);
    SR_TRY_CLEANUP(measureNodes(bvh, &measuring));

cleanup:
    SR_FREE(build.links, build.linkCount);
    SR_FREE(build.parts, build.partCapacity);
    return result;
}

static void copyTriangles(const srSurface* surface, srBvh* bvh) {
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* corners = surface->triangles[t];
        bvh->triangles[t] = (srBvhTriangle){surface->points[corners[0]], surface->points[corners[1]],
                                            surface->points[corners[2]], t};
    }
}

srResult srCreateBvhWithProgress(const srSurface* surface, const srProgress* progress, srBvh** outBvh) {
    SR_ASSERT(surface->triangleCount > 0);
    srBvh* bvh = SR_ALLOC_ZERO(srBvh, 1);
    if (bvh == NULL) {
        return srFailOutOfMemory("the tree over the surface");
    }
    bvh->triangleCount = surface->triangleCount;
    bvh->triangles = SR_ALLOC(srBvhTriangle, bvh->triangleCount);
    bvh->placeOf = SR_ALLOC(int32_t, bvh->triangleCount);
    srResult result = sr_success;
    if (bvh->triangles == NULL || bvh->placeOf == NULL) {
        result = srFailOutOfMemory("the tree over the surface");
    } else {
        copyTriangles(surface, bvh);
        result = buildTree(bvh, progress);
    }
    if (result != sr_success) {
        srDestroyBvh(bvh);
        return result;
    }
    for (int32_t place = 0; place < bvh->triangleCount; place++) {
        bvh->placeOf[bvh->triangles[place].index] = place;
    }
    *outBvh = bvh;
    return sr_success;
}

srResult srCreateBvh(const srSurface* surface, srBvh** outBvh) {
    const srProgress nobody = {0};
    return srCreateBvhWithProgress(surface, &nobody, outBvh);
}

void srDestroyBvh(srBvh* bvh) {
    if (bvh == NULL) {
        return;
    }
    SR_FREE(bvh->nodes, bvh->nodeCount);
    SR_FREE(bvh->moments, bvh->nodeCount);
    SR_FREE(bvh->triangles, bvh->triangleCount);
    SR_FREE(bvh->placeOf, bvh->triangleCount);
    SR_FREE(bvh, 1);
}

// nearest point

// How far x lies outside of lower .. upper; fmax would be a call.
static double outsideOf(double lower, double upper, double x) {
    return x < lower ? lower - x : x > upper ? x - upper : 0.0;
}

static double boxDistance2(const srBvhNode* node, srVec3 p) {
    double x = outsideOf((double)node->lower[0], (double)node->upper[0], p.x);
    double y = outsideOf((double)node->lower[1], (double)node->upper[1], p.y);
    double z = outsideOf((double)node->lower[2], (double)node->upper[2], p.z);
    return x * x + y * y + z * z;
}

typedef struct Nearest {
    srVec3 point;
    double distance2;
    int32_t triangle;
} Nearest;

// Of equal distances the lowest index wins, so the order of the walk does not show.
static void tryTriangle(const srBvhTriangle* t, srVec3 query, Nearest* nearest) {
    srVec3 point = t->a;
    double distance2 = srNearestOnTriangle(query, t->a, t->b, t->c, &point);
    if (distance2 < nearest->distance2 || (distance2 == nearest->distance2 && t->index < nearest->triangle)) {
        *nearest = (Nearest){point, distance2, t->index};
    }
}

// A node on the walk's stack, and its box's squared distance
typedef struct Open {
    double distance2;
    int32_t place;
} Open;

// The nearer child goes on top.
static int openChildren(const srBvh* bvh, int32_t place, srVec3 query, Open* stack, int top) {
    int32_t second = bvh->nodes[place].index;
    Open one = {boxDistance2(&bvh->nodes[place + 1], query), place + 1};
    Open two = {boxDistance2(&bvh->nodes[second], query), second};
    bool oneIsNearer = one.distance2 <= two.distance2;
    stack[top++] = oneIsNearer ? two : one;
    stack[top++] = oneIsNearer ? one : two;
    return top;
}

double srBvh_DistanceGuessed(const srBvh* bvh, srVec3 query, int32_t* inOutTriangle, srVec3* outNearest) {
    Nearest nearest = {.point = bvh->triangles[0].a, .distance2 = HUGE_VAL, .triangle = INT32_MAX};
    if (*inOutTriangle != SR_NULL_INDEX) {
        tryTriangle(&bvh->triangles[bvh->placeOf[*inOutTriangle]], query, &nearest);
    }
    Open stack[SR_BVH_STACK_SIZE];
    int top = 0;
    stack[top++] = (Open){boxDistance2(&bvh->nodes[0], query), 0};
    while (top > 0) {
        Open open = stack[--top];
        if (open.distance2 > nearest.distance2) {
            continue;
        }
        const srBvhNode* node = &bvh->nodes[open.place];
        for (int32_t t = 0; t < node->count; t++) {
            tryTriangle(&bvh->triangles[node->index + t], query, &nearest);
        }
        if (node->count == 0) {
            top = openChildren(bvh, open.place, query, stack, top);
        }
    }
    *inOutTriangle = nearest.triangle == INT32_MAX ? 0 : nearest.triangle;
    if (outNearest != NULL) {
        *outNearest = nearest.point;
    }
    return sqrt(nearest.distance2);
}

double srBvh_Distance(const srBvh* bvh, srVec3 query, srVec3* outNearest) {
    int32_t triangle = SR_NULL_INDEX;
    return srBvh_DistanceGuessed(bvh, query, &triangle, outNearest);
}
