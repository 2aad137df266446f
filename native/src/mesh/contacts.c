// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangles are known by their corners' places; the solid's are in buckets, by lowest corner. Among those
// that are no shells contacts are looked for.

#include "mesh/contacts.h"

#include "core/alloc.h"
#include "mesh/buckets.h"

#include <math.h>
#include <string.h>

// How far beside a triangle its two sides are looked at, in sizes of the surface, and how much the winding
// number of what bounds nothing may change there.
#define SIDE_DEPTH 1e-5
#define LARGEST_JUMP 0.5

#define TRIANGLES_PER_BLOCK 64
#define TRIANGLES_PER_BATCH 4096

typedef struct Search {
    const srSurface* surface;
    const srSolid* solid;
    int32_t* buckets; // by triangle: its lowest corner
    uint64_t* keys;   // ... and the other two
    int32_t room;
    srBuckets shells;
    int8_t* turns;
    int32_t* others; // triangles that are no shells
    srSurface rest;  // ... as a surface
    srBvh* restTree;
    const srSurface* looked; // whose triangles are looked at
    uint8_t* isContact;      // of those
} Search;

// The corners in ascending order; whether that turns the triangle over.
static bool sortCorners(const int32_t in[3], int32_t out[3]) {
    bool isTurned = false;
    memcpy(out, in, 3 * sizeof(int32_t));
    for (int pass = 0; pass < 3; pass++) {
        int i = pass % 2;
        if (out[i] > out[i + 1]) {
            int32_t swap = out[i];
            out[i] = out[i + 1];
            out[i + 1] = swap;
            isTurned = !isTurned;
        }
    }
    return isTurned;
}

// Of a triangle of the surface.
static bool sortPlaces(const Search* s, int32_t triangle, int32_t out[3]) {
    const int32_t* corners = s->surface->triangles[triangle];
    const int32_t places[3] = {s->solid->places[corners[0]], s->solid->places[corners[1]],
                               s->solid->places[corners[2]]};
    return sortCorners(places, out);
}

static uint64_t keyOf(const int32_t sorted[3]) {
    return (uint64_t)(uint32_t)sorted[1] << 32 | (uint32_t)sorted[2];
}

static srResult sortShells(Search* s, const srProgress* progress) {
    const srSurface* shells = &s->solid->shells;
    for (int32_t t = 0; t < shells->triangleCount; t++) {
        int32_t sorted[3];
        sortCorners(shells->triangles[t], sorted);
        s->buckets[t] = sorted[0];
        s->keys[t] = keyOf(sorted);
    }
    return srSortIntoBuckets(s->buckets, s->keys, shells->triangleCount, shells->pointCount, progress,
                             &s->shells);
}

static void findTurns(Search* s) {
    for (int32_t t = 0; t < s->surface->triangleCount; t++) {
        int32_t sorted[3], other[3];
        bool isTurned = sortPlaces(s, t, sorted);
        s->turns[t] = s->solid->turns[t];
        if (s->turns[t] != 0) {
            continue;
        }
        // one that was left out, as it lies on another
        int32_t found = srFindInBucket(&s->shells, sorted[0], keyOf(sorted));
        if (found < s->shells.starts[sorted[0] + 1] && s->shells.items[found].key == keyOf(sorted)) {
            const int32_t* shell = s->solid->shells.triangles[s->shells.items[found].value];
            s->turns[t] = sortCorners(shell, other) == isTurned ? 1 : -1;
        } else if (sorted[0] < sorted[1] && sorted[1] < sorted[2]) {
            s->others[s->rest.triangleCount++] = t;
        }
    }
}

static bool isWithin(const Search* s, srVec3 point) {
    return srBvh_WindingNumber(s->solid->shellTree, point) > 0.5;
}

// Where two skins lie on each other within the flesh they cancel out: what bounds nothing winds alike on both
// sides. A lone wall makes a step of one.
static void lookAtSides(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Search* s = context;
    for (int32_t i = begin; i < end; i++) {
        const int32_t* c = s->looked->triangles[i];
        const srVec3* p = s->looked->points;
        srVec3 a = p[c[0]], b = p[c[1]], d = p[c[2]];
        srVec3 n = srCross(srSub(b, a), srSub(d, a));
        srVec3 middle = srScale(1.0 / 3.0, srAdd(a, srAdd(b, d)));
        srVec3 step = srScale(SIDE_DEPTH * s->rest.size / srLength(n), n);
        srVec3 above = srAdd(middle, step), below = srSub(middle, step);
        double jump = srBvh_WindingNumber(s->restTree, above) - srBvh_WindingNumber(s->restTree, below);
        s->isContact[i] = fabs(jump) < LARGEST_JUMP && isWithin(s, above) && isWithin(s, below);
    }
}

static srResult lookAt(Search* s, const srSurface* surface, const srProgress* progress) {
    s->looked = surface;
    return srParallelForWithProgress(lookAtSides, surface->triangleCount, TRIANGLES_PER_BLOCK,
                                     TRIANGLES_PER_BATCH, s, progress);
}

static srResult findContacts(Search* s, const srProgress* progress) {
    srProgress growing = srPartOfProgress(progress, 0.0, 0.5), looking = srPartOfProgress(progress, 0.5, 1.0);
    srSurface* rest = &s->rest;
    rest->points = s->surface->points;
    rest->pointCount = s->surface->pointCount;
    rest->size = s->surface->size;
    rest->triangles = srAlloc((size_t)s->room, sizeof(rest->triangles[0]));
    s->isContact = SR_ALLOC(uint8_t, s->room);
    if (rest->triangles == NULL || s->isContact == NULL) {
        return srFailOutOfMemory("what touches");
    }
    for (int32_t i = 0; i < rest->triangleCount; i++) {
        memcpy(rest->triangles[i], s->surface->triangles[s->others[i]], sizeof(rest->triangles[0]));
    }
    SR_TRY(srCreateBvhWithProgress(rest, &growing, &s->restTree));
    return lookAt(s, rest, &looking);
}

static srResult addContacts(Search* s, srContacts* contacts) {
    const srSurface* shells = &s->solid->shells;
    int32_t count = shells->triangleCount;
    for (int32_t i = 0; i < s->rest.triangleCount; i++) {
        count += s->isContact[i];
    }
    if (count == shells->triangleCount) {
        return sr_success;
    }
    srSurface skin = *shells;
    skin.triangles = srAlloc((size_t)count, sizeof(skin.triangles[0]));
    if (skin.triangles == NULL) {
        return srFailOutOfMemory("what touches");
    }
    memcpy(skin.triangles, shells->triangles, (size_t)shells->triangleCount * sizeof(skin.triangles[0]));
    for (int32_t i = 0; i < s->rest.triangleCount; i++) {
        for (int c = 0; c < 3 && s->isContact[i]; c++) {
            int32_t point = s->rest.triangles[i][c];
            skin.triangles[skin.triangleCount][c] = s->solid->places[point];
            skin.lower = srMin(skin.lower, s->rest.points[point]);
            skin.upper = srMax(skin.upper, s->rest.points[point]);
        }
        s->turns[s->others[i]] = s->isContact[i] ? 1 : 0;
        skin.triangleCount += s->isContact[i];
    }
    contacts->ownTriangleCount = count;
    contacts->skin = skin;
    return sr_success;
}

// Contacts that the solid took for sheets within the flesh are none.
static srResult takeSheets(Search* s, const srProgress* progress, srContacts* contacts) {
    const srSurface* sheets = &s->solid->sheets;
    srSurface* kept = &contacts->sheets;
    if (sheets->triangleCount == 0) {
        return sr_success;
    }
    SR_TRY(lookAt(s, sheets, progress));
    *kept = *sheets;
    kept->triangleCount = 0;
    kept->triangles = srAlloc((size_t)sheets->triangleCount, sizeof(kept->triangles[0]));
    contacts->sheetRoom = sheets->triangleCount;
    contacts->sheetTree = NULL;
    if (kept->triangles == NULL) {
        return srFailOutOfMemory("what touches");
    }
    for (int32_t t = 0; t < sheets->triangleCount; t++) {
        if (!s->isContact[t]) {
            memcpy(kept->triangles[kept->triangleCount++], sheets->triangles[t], sizeof(kept->triangles[0]));
        }
    }
    if (kept->triangleCount > 0) {
        SR_TRY(srCreateBvhWithProgress(kept, progress, &contacts->ownSheetTree));
        contacts->sheetTree = contacts->ownSheetTree;
    }
    return sr_success;
}

static srResult allocate(Search* s) {
    int32_t shellCount = s->solid->shells.triangleCount, sheetCount = s->solid->sheets.triangleCount;
    s->room = s->surface->triangleCount;
    s->room = s->room < shellCount ? shellCount : s->room;
    s->room = s->room < sheetCount ? sheetCount : s->room;
    s->buckets = SR_ALLOC(int32_t, s->room);
    s->keys = SR_ALLOC(uint64_t, s->room);
    s->others = SR_ALLOC(int32_t, s->room);
    s->turns = SR_ALLOC_ZERO(int8_t, s->surface->triangleCount);
    return s->buckets != NULL && s->keys != NULL && s->others != NULL && s->turns != NULL
               ? sr_success
               : srFailOutOfMemory("what touches");
}

static void freeSearch(Search* s) {
    SR_FREE(s->buckets, s->room);
    SR_FREE(s->keys, s->room);
    SR_FREE(s->others, s->room);
    SR_FREE(s->isContact, s->room);
    srFree(s->rest.triangles, (size_t)s->room, sizeof(s->rest.triangles[0]));
    srDestroyBuckets(&s->shells);
    srDestroyBvh(s->restTree);
}

srResult srCreateContacts(const srSurface* surface, const srSolid* solid, const srProgress* progress,
                          srContacts* outContacts) {
    srResult result = sr_success;
    srContacts contacts = {.skin = solid->shells,
                           .shellPieces = solid->shellPieces,
                           .shellCount = solid->shells.triangleCount,
                           .tree = solid->shellTree,
                           .sheetTree = solid->sheetTree,
                           .surfaceTriangleCount = surface->triangleCount};
    Search s = {.surface = surface, .solid = solid};
    srProgress sorting = srPartOfProgress(progress, 0.0, 0.5);
    srProgress finding = srPartOfProgress(progress, 0.5, 0.8), growing = srPartOfProgress(progress, 0.8, 1.0);
    SR_TRY_CLEANUP(allocate(&s));
    contacts.turns = s.turns;
    if (solid->shells.triangleCount > 0) {
        SR_TRY_CLEANUP(sortShells(&s, &sorting));
        findTurns(&s);
    }
    if (s.rest.triangleCount > 1) {
        SR_TRY_CLEANUP(findContacts(&s, &finding));
        SR_TRY_CLEANUP(addContacts(&s, &contacts));
        if (contacts.ownTriangleCount > 0) {
            SR_TRY_CLEANUP(srCreateBvhWithProgress(&contacts.skin, &growing, &contacts.ownTree));
            contacts.tree = contacts.ownTree;
            SR_TRY_CLEANUP(takeSheets(&s, &growing, &contacts));
        }
    }
    *outContacts = contacts;

cleanup:
    freeSearch(&s);
    if (result != sr_success) {
        contacts.turns = s.turns;
        srDestroyContacts(&contacts);
    }
    return result;
}

srField srMakeContactField(const srContacts* contacts, const srSolid* solid) {
    srField field = srMakeField(solid, 0.0);
    field.bvh = contacts->tree;
    field.sheets = contacts->sheetTree;
    return field;
}

void srDestroyContacts(srContacts* contacts) {
    SR_FREE(contacts->turns, contacts->surfaceTriangleCount);
    if (contacts->ownTriangleCount > 0) {
        srFree(contacts->skin.triangles, (size_t)contacts->ownTriangleCount,
               sizeof(contacts->skin.triangles[0]));
    }
    srFree(contacts->sheets.triangles, (size_t)contacts->sheetRoom, sizeof(contacts->sheets.triangles[0]));
    srDestroyBvh(contacts->ownTree);
    srDestroyBvh(contacts->ownSheetTree);
    *contacts = (srContacts){0};
}
