// SPDX-License-Identifier: GPL-3.0-or-later
//
// From each item's triangle across edges that come into the tetrahedron, as far as nobody was.

#include "mesh/skin_links.h"

#include "core/roots.h"
#include "mesh/faces.h"
#include "mesh/sort.h"

#include <string.h>

// Triangles that are gone through for one tetrahedron, at most, and places of the table that knows them
#define MOST_SEEN 2048
#define TABLE_BITS 12
#define TABLE_SIZE (1 << TABLE_BITS)

typedef struct Flood {
    const srSkinLinks* links;
    srVec3 normals[4]; // of the tetrahedron's faces, inwards
    double heights[4];
    int32_t triangles[TABLE_SIZE]; // `SR_NULL_INDEX`: free
    int8_t owners[TABLE_SIZE];     // items
    int32_t stack[MOST_SEEN];
    int stackCount;
    int seenCount;
} Flood;

srResult srCreateSkinLinks(const srSurface* surface, srArena* arena, const srProgress* progress,
                           srSkinLinks* outLinks) {
    int32_t count = 3 * surface->triangleCount;
    int32_t* others = SR_PUSH(arena, int32_t, count, "sides of the skin");
    srArenaMark mark = srArena_GetMark(arena);
    srKeyed* sides = SR_PUSH(arena, srKeyed, count, "sides of the skin");
    srKeyed* scratch = SR_PUSH(arena, srKeyed, count, "sides of the skin");
    if (others == NULL || sides == NULL || scratch == NULL) {
        return srFailOutOfMemory("the skin's edges");
    }
    SR_TRY(srReportProgress(progress, 0.0));
    for (int32_t side = 0; side < count; side++) {
        const int32_t* c = surface->triangles[side / 3];
        sides[side] = (srKeyed){srEdgeKey(c[side % 3], c[(side + 1) % 3]), side};
        others[side] = SR_NULL_INDEX;
    }
    srSortKeyed(sides, scratch, count);
    SR_TRY(srReportProgress(progress, 0.8));
    for (int32_t first = 0, next = 0; first < count; first = next) {
        for (next = first + 1; next < count && sides[next].key == sides[first].key; next++) {
        }
        if (next - first == 2) {
            others[sides[first].value] = sides[first + 1].value / 3;
            others[sides[first + 1].value] = sides[first].value / 3;
        }
    }
    srArena_Release(arena, mark);
    *outLinks = (srSkinLinks){*surface, others};
    return srReportProgress(progress, 1.0);
}

static void placeFaces(const srVec3 corners[4], double margin, Flood* flood) {
    for (int face = 0; face < 4; face++) {
        const int* c = srFaceCorners[face];
        srVec3 a = corners[c[0]];
        srVec3 normal = srCross(srSub(corners[c[1]], a), srSub(corners[c[2]], a));
        double side = srDot(normal, srSub(corners[face], a)) < 0.0 ? -1.0 : 1.0;
        flood->normals[face] = srScale(side / srLength(normal), normal);
        flood->heights[face] = srDot(flood->normals[face], a) - margin;
    }
}

static bool comesIn(const Flood* flood, srVec3 a, srVec3 b) {
    double first = 0.0, last = 1.0;
    for (int face = 0; face < 4; face++) {
        double x = srDot(flood->normals[face], a) - flood->heights[face];
        double y = srDot(flood->normals[face], b) - flood->heights[face];
        if (x < 0.0 && y < 0.0) {
            return false;
        }
        first = x < 0.0 ? fmax(first, x / (x - y)) : first;
        last = y < 0.0 ? fmin(last, x / (x - y)) : last;
    }
    return first <= last;
}

// The triangle's place in the table, or a free one for it; there always are some.
static int placeOf(const Flood* flood, int32_t triangle) {
    uint32_t place = ((uint32_t)triangle * 2654435761U) >> (32 - TABLE_BITS);
    while (flood->triangles[place] != SR_NULL_INDEX && flood->triangles[place] != triangle) {
        place = (place + 1) % TABLE_SIZE;
    }
    return (int)place;
}

static void enter(Flood* flood, int place, int32_t triangle, int item) {
    if (flood->seenCount < MOST_SEEN) {
        flood->triangles[place] = triangle;
        flood->owners[place] = (int8_t)item;
        flood->stack[flood->stackCount++] = triangle;
        flood->seenCount++;
    }
}

static void goOn(Flood* flood, int item) {
    const srSurface* surface = &flood->links->surface;
    while (flood->stackCount > 0) {
        int32_t triangle = flood->stack[--flood->stackCount];
        const int32_t* c = surface->triangles[triangle];
        for (int side = 0; side < 3; side++) {
            int32_t other = flood->links->others[3 * triangle + side];
            int place = other != SR_NULL_INDEX ? placeOf(flood, other) : 0;
            if (other != SR_NULL_INDEX && flood->triangles[place] != other &&
                comesIn(flood, surface->points[c[side]], surface->points[c[(side + 1) % 3]])) {
                enter(flood, place, other, item);
            }
        }
    }
}

void srSkinLinks_Join(const srSkinLinks* links, const srVec3 corners[4], double margin,
                      const int32_t* triangles, int itemCount, int32_t* roots) {
    Flood flood = {.links = links};
    memset(flood.triangles, 0xff, sizeof(flood.triangles));
    placeFaces(corners, margin, &flood);
    for (int item = 0; item < itemCount; item++) {
        int place = triangles[item] != SR_NULL_INDEX ? placeOf(&flood, triangles[item]) : 0;
        if (triangles[item] == SR_NULL_INDEX) {
            continue;
        }
        if (flood.triangles[place] == triangles[item]) {
            srJoinRoots(roots, flood.owners[place], item);
        } else {
            enter(&flood, place, triangles[item], item);
            goOn(&flood, item);
        }
    }
}
