// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which pieces are near one another and which are one, then colours: neighbours that are not one differ.

#include "mesh/layers.h"

#include "core/alloc.h"
#include "mesh/faces.h"
#include "mesh/sizing.h"

#include <math.h>
#include <string.h>

// More pieces are a crowd, as of hair or crumbs, and stay together.
#define MOST_PIECES 64

// Overlapping flesh is one where a ball of such a radius fits into the overlap, in volumes by areas of the
// thinner piece: two fifths of a third of its radius for a ball, three tenths of it for a rod.
#define DEEP_SHARE 0.6

// Places so far below the skin of the thinner piece are looked at, in the same unit; each stands for the
// square of such a length.
#define PLACE_DEPTH 0.8
#define PLACE_LENGTH 0.5
#define MOST_PLACES 20000

// Contacts are looked for at places so far apart, in shares of the distance that counts as one.
#define CONTACT_LENGTH 0.3

// What the mesher needs for any body
#define LEAST_NODES 15.0

#define TRIANGLES_PER_REPORT 512

// All that the solid has of one piece. Triangles borrow its points.
typedef struct Piece {
    srSurface skin;
    int32_t shellCount; // of its triangles; the rest are sheets
    srBvh* tree;
    double volume, area;
    srVec3 lower, upper;
    uint64_t rim; // sum of its sides, each way round with its sign: zero where it is closed
    bool hasCaps;
    int32_t colour;
} Piece;

typedef struct Sorting {
    const srSurface* surface;
    srSolid solid;
    Piece* pieces;
    int32_t pieceCount;
    int32_t (*triangles)[3]; // by piece
    int32_t* bodies;         // of pieces that are one
    uint8_t* isNear;         // by pair of pieces
    double reach;            // nearer pieces touch
} Sorting;

// ---- pieces
// ----------------------------------------------------------------------------------------------------

srResult srIsOnePiece(const srSurface* surface, bool* outIsOne) {
    int32_t* roots = SR_ALLOC(int32_t, surface->pointCount);
    if (roots == NULL) {
        return srFailOutOfMemory("the pieces of the skin");
    }
    srClearRoots(roots, surface->pointCount);
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        srJoinRoots(roots, c[0], c[1]);
        srJoinRoots(roots, c[0], c[2]);
    }
    *outIsOne = true;
    for (int32_t t = 1; t < surface->triangleCount && *outIsOne; t++) {
        *outIsOne =
            srFindRoot(roots, surface->triangles[t][0]) == srFindRoot(roots, surface->triangles[0][0]);
    }
    SR_FREE(roots, surface->pointCount);
    return sr_success;
}

static int32_t countTriangles(const srSolid* solid) {
    return solid->shells.triangleCount + solid->sheets.triangleCount;
}

static void sortTriangles(Sorting* s) {
    const srSurface* parts[2] = {&s->solid.shells, &s->solid.sheets};
    const int32_t* of[2] = {s->solid.shellPieces, s->solid.sheetPieces};
    int32_t begin = 0;
    for (int part = 0; part < 2; part++) {
        for (int32_t t = 0; t < parts[part]->triangleCount; t++) {
            Piece* piece = &s->pieces[of[part][t]];
            piece->skin.triangleCount++;
            piece->shellCount += part == 0;
        }
    }
    for (int32_t p = 0; p < s->pieceCount; p++) {
        srSurface* skin = &s->pieces[p].skin;
        skin->triangles = s->triangles + begin;
        begin += skin->triangleCount;
        skin->triangleCount = 0;
    }
    for (int part = 0; part < 2; part++) { // shells first
        for (int32_t t = 0; t < parts[part]->triangleCount; t++) {
            srSurface* skin = &s->pieces[of[part][t]].skin;
            memcpy(skin->triangles[skin->triangleCount++], parts[part]->triangles[t], sizeof(int32_t[3]));
        }
    }
}

// A number for a side as it runs; the way back has the negative one.
static uint64_t signOf(int32_t from, int32_t to) {
    uint64_t low = (uint64_t)(from < to ? from : to), high = (uint64_t)(from < to ? to : from);
    uint64_t mixed = (low << 32 | high) * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ull;
    mixed ^= mixed >> 32;
    return from < to ? mixed : 0 - mixed;
}

static void addSides(const Sorting* s, const int32_t c[3], Piece* piece) {
    for (int i = 0; i < 3; i++) {
        piece->rim += signOf(c[i], c[(i + 1) % 3]);
        piece->hasCaps = piece->hasCaps || c[i] >= s->solid.surfacePointCount;
    }
}

static void measurePiece(const Sorting* s, Piece* piece) {
    srSurface* skin = &piece->skin;
    skin->points = s->solid.shells.points;
    skin->pointCount = s->solid.shells.pointCount;
    skin->size = s->surface->size;
    for (int32_t t = 0; t < skin->triangleCount; t++) {
        const int32_t* c = skin->triangles[t];
        srVec3 a = skin->points[c[0]], b = skin->points[c[1]], d = skin->points[c[2]];
        srVec3 origin = skin->points[skin->triangles[0][0]];
        srVec3 n = srCross(srSub(b, a), srSub(d, a));
        bool isShell = t < piece->shellCount;
        addSides(s, c, piece);
        piece->area += (isShell ? 0.5 : 1.0) * srLength(n);
        piece->volume += isShell ? srDot(srSub(a, origin), n) / 6.0 : 0.0;
        skin->lower = t == 0 ? a : skin->lower;
        skin->upper = t == 0 ? a : skin->upper;
        skin->lower = srMin(skin->lower, srMin(a, srMin(b, d)));
        skin->upper = srMax(skin->upper, srMax(a, srMax(b, d)));
    }
    piece->volume = fmax(piece->volume, 0.0);
    srVec3 reach = {s->reach, s->reach, s->reach};
    piece->lower = srSub(skin->lower, reach);
    piece->upper = srAdd(skin->upper, reach);
}

static srResult allocatePieces(Sorting* s) {
    s->pieceCount = s->solid.pieceCount;
    s->pieces = SR_ALLOC_ZERO(Piece, s->pieceCount);
    s->bodies = SR_ALLOC(int32_t, s->pieceCount);
    s->isNear = SR_ALLOC_ZERO(uint8_t, s->pieceCount * s->pieceCount);
    s->triangles = srAlloc((size_t)countTriangles(&s->solid), sizeof(s->triangles[0]));
    bool isThere = s->pieces != NULL && s->bodies != NULL && s->isNear != NULL && s->triangles != NULL;
    return isThere ? sr_success : srFailOutOfMemory("the pieces of the skin");
}

static srResult collectPieces(Sorting* s) {
    SR_TRY(allocatePieces(s));
    sortTriangles(s);
    for (int32_t p = 0; p < s->pieceCount; p++) {
        if (s->pieces[p].skin.triangleCount > 0) {
            measurePiece(s, &s->pieces[p]);
        }
    }
    srClearRoots(s->bodies, s->pieceCount);
    return sr_success;
}

static srResult needTree(const srProgress* progress, Piece* piece) {
    return piece->tree != NULL ? sr_success : srCreateBvhWithProgress(&piece->skin, progress, &piece->tree);
}

// ---- pairs
// -----------------------------------------------------------------------------------------------------

static bool doBoundsMeet(const Piece* a, const Piece* b) {
    return a->skin.triangleCount > 0 && b->skin.triangleCount > 0 && a->lower.x <= b->upper.x &&
           b->lower.x <= a->upper.x && a->lower.y <= b->upper.y && b->lower.y <= a->upper.y &&
           a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static bool isWithin(const Piece* piece, srVec3 x) {
    return x.x >= piece->lower.x && x.y >= piece->lower.y && x.z >= piece->lower.z && x.x <= piece->upper.x &&
           x.y <= piece->upper.y && x.z <= piece->upper.z;
}

// How many places to a side of a triangle's rhombus: each stands for a square at most.
static int countSteps(double area, double square) {
    return (int)ceil(sqrt(fmin(area / square, (double)MOST_PLACES)));
}

// The middle of one of the squares of the rhombus; those of its other half are turned into the triangle.
static srVec3 placeOn(const srSurface* skin, int32_t triangle, int number, int steps) {
    const int32_t* c = skin->triangles[triangle];
    srVec3 a = skin->points[c[0]];
    double u = (number % steps + 0.5) / steps, v = (number / steps + 0.5) / steps;
    bool isBeyond = u + v > 1.0;
    srVec3 along = srMulAdd(a, isBeyond ? 1.0 - u : u, srSub(skin->points[c[1]], a));
    return srMulAdd(along, isBeyond ? 1.0 - v : v, srSub(skin->points[c[2]], a));
}

// Twice the area long.
static srVec3 normalOf(const srSurface* skin, int32_t triangle) {
    const int32_t* c = skin->triangles[triangle];
    srVec3 a = skin->points[c[0]];
    return srCross(srSub(skin->points[c[1]], a), srSub(skin->points[c[2]], a));
}

// `guess` is the other's triangle that was nearest before.
static bool isClose(const Sorting* s, const Piece* other, srVec3 place, int32_t* guess) {
    return isWithin(other, place) && srBvh_DistanceGuessed(other->tree, place, guess, NULL) < s->reach;
}

// Whether a corner of one's triangles or a place on them is within reach of the other's skin; or all of it,
// else, is inside.
static srResult findContact(const Sorting* s, const Piece* a, const Piece* b, const srProgress* progress,
                            bool* outIsNear) {
    const srSurface* skin = &a->skin;
    double square = CONTACT_LENGTH * s->reach * CONTACT_LENGTH * s->reach, owed = square;
    int32_t guess = SR_NULL_INDEX;
    srVec3 first = skin->points[skin->triangles[0][0]];
    *outIsNear = isWithin(b, first) && srBvh_WindingNumber(b->tree, first) > 0.5;
    for (int32_t t = 0; t < skin->triangleCount && !*outIsNear; t++) {
        double area = 0.5 * srLength(normalOf(skin, t));
        int steps = countSteps(area, square);
        owed += area;
        for (int i = 0; i < 3 && owed >= square && !*outIsNear; i++) {
            *outIsNear = isClose(s, b, skin->points[skin->triangles[t][i]], &guess);
        }
        for (int i = 0; i < steps * steps && owed >= square && !*outIsNear; i++) {
            *outIsNear = isClose(s, b, placeOn(skin, t, i, steps), &guess);
        }
        owed = owed >= square ? 0.0 : owed;
        if (t % TRIANGLES_PER_REPORT == 0) {
            SR_TRY(srReportProgress(progress, 0.0));
        }
    }
    return sr_success;
}

static bool isDeep(const Piece* piece, srVec3 place, double radius) {
    return isWithin(piece, place) && srBvh_Distance(piece->tree, place, NULL) >= radius &&
           srBvh_WindingNumber(piece->tree, place) > 0.5;
}

static double thicknessOf(const Piece* piece) {
    return piece->area > 0.0 ? piece->volume / piece->area : 0.0;
}

// Looks from the thinner piece: at places below its skin, spread evenly over it.
static srResult findDepth(const Piece* thin, const Piece* other, const srProgress* progress,
                          bool* outIsDeep) {
    double unit = thicknessOf(thin), radius = DEEP_SHARE * unit;
    double square = fmax(PLACE_LENGTH * unit * PLACE_LENGTH * unit, thin->area / MOST_PLACES), owed = square;
    *outIsDeep = false;
    for (int32_t t = 0; t < thin->shellCount && !*outIsDeep; t++) {
        srVec3 n = normalOf(&thin->skin, t);
        double area = 0.5 * srLength(n);
        int steps = countSteps(area, square);
        owed += area;
        for (int i = 0; i < steps * steps && owed >= square && area > 0.0 && !*outIsDeep; i++) {
            srVec3 place = srMulAdd(placeOn(&thin->skin, t, i, steps), -0.5 * PLACE_DEPTH * unit / area, n);
            *outIsDeep = isDeep(other, place, radius) && isDeep(thin, place, radius);
        }
        owed = owed >= square ? 0.0 : owed;
        if (t % TRIANGLES_PER_REPORT == 0) {
            SR_TRY(srReportProgress(progress, 0.0));
        }
    }
    return sr_success;
}

static bool isClosed(const Piece* piece) {
    return piece->shellCount == piece->skin.triangleCount && piece->rim == 0 && !piece->hasCaps;
}

// What a sheet or an open piece is near is of its part: it has no inside of its own to tell them apart by.
static srResult comparePieces(Sorting* s, int32_t p, int32_t q, const srProgress* progress) {
    Piece *a = &s->pieces[p], *b = &s->pieces[q];
    bool isNear, isOne = !isClosed(a) || !isClosed(b);
    SR_TRY(needTree(progress, a));
    SR_TRY(needTree(progress, b));
    SR_TRY(findContact(s, a, b, progress, &isNear));
    if (!isNear) {
        SR_TRY(findContact(s, b, a, progress, &isNear));
    }
    if (!isOne) {
        bool isThinner = thicknessOf(a) <= thicknessOf(b);
        SR_TRY(findDepth(isThinner ? a : b, isThinner ? b : a, progress, &isOne));
        isNear = isNear || isOne;
    }
    s->isNear[p * s->pieceCount + q] = s->isNear[q * s->pieceCount + p] = isNear;
    if (isNear && isOne) {
        srJoinRoots(s->bodies, p, q);
    }
    return sr_success;
}

static srResult compareAll(Sorting* s, const srProgress* progress) {
    for (int32_t p = 0; p < s->pieceCount; p++) {
        double share = p / (double)s->pieceCount;
        srProgress here = srPartOfProgress(progress, share, share); // each pair asks whether to go on
        SR_TRY(srReportProgress(&here, 0.0));
        for (int32_t q = p + 1; q < s->pieceCount; q++) {
            if (doBoundsMeet(&s->pieces[p], &s->pieces[q])) {
                SR_TRY(comparePieces(s, p, q, &here));
            }
        }
    }
    return sr_success;
}

// ---- layers
// ----------------------------------------------------------------------------------------------------

// The colours of what a body is near to, as bits.
static unsigned findTaken(const Sorting* s, int32_t body) {
    unsigned taken = 0;
    for (int32_t p = 0; p < s->pieceCount; p++) {
        for (int32_t q = 0; q < s->pieceCount && srFindRoot(s->bodies, p) == body; q++) {
            bool isOther = s->isNear[p * s->pieceCount + q] && srFindRoot(s->bodies, q) != body;
            taken |= isOther && s->pieces[q].colour >= 0 ? 1u << s->pieces[q].colour : 0;
        }
    }
    return taken;
}

static int colourBodies(Sorting* s) {
    int count = 1;
    for (int32_t p = 0; p < s->pieceCount; p++) {
        s->pieces[p].colour = -1;
    }
    for (int32_t p = 0; p < s->pieceCount; p++) {
        if (s->pieces[p].colour >= 0) {
            continue;
        }
        int32_t body = srFindRoot(s->bodies, p), colour = 0;
        unsigned taken = findTaken(s, body);
        while (colour < SR_MOST_LAYERS - 1 && (taken & 1u << colour) != 0) {
            colour++;
        }
        for (int32_t q = p; q < s->pieceCount; q++) {
            s->pieces[q].colour = srFindRoot(s->bodies, q) == body ? colour : s->pieces[q].colour;
        }
        count = colour + 1 > count ? colour + 1 : count;
    }
    return count;
}

static double expectNodes(const Sorting* s, int32_t body, double length) {
    double volume = 0.0, area = 0.0;
    for (int32_t p = 0; p < s->pieceCount; p++) {
        bool isOfBody = srFindRoot(s->bodies, p) == body;
        volume += isOfBody ? s->pieces[p].volume : 0.0;
        area += isOfBody ? s->pieces[p].area : 0.0;
    }
    return area > 0.0 ? fmax(srExpectNodes(volume, area, length), LEAST_NODES) : 0.0;
}

// By what each would have at edges of one length.
static void findShares(const Sorting* s, double length, srLayers* layers) {
    double sum = 0.0;
    for (int32_t p = 0; p < s->pieceCount; p++) {
        double count = srFindRoot(s->bodies, p) == p ? expectNodes(s, p, length) : 0.0;
        layers->shares[s->pieces[p].colour] += count;
        sum += count;
    }
    for (int layer = 0; layer < layers->count; layer++) {
        layers->shares[layer] /= sum;
    }
}

// Those that lie on others and were left out are named by the places of their points.
static srResult nameTriangles(const Sorting* s, srLayers* layers) {
    const srSurface* surface = s->surface;
    int32_t pointCount = s->solid.shells.pointCount;
    uint8_t* at = SR_ALLOC(uint8_t, pointCount);
    layers->triangleCount = surface->triangleCount;
    layers->layers = SR_ALLOC(uint8_t, surface->triangleCount);
    if (at == NULL || layers->layers == NULL) {
        SR_FREE(at, pointCount);
        return srFailOutOfMemory("the pieces of the skin");
    }
    memset(at, layers->count, (size_t)pointCount);
    for (int32_t p = 0; p < s->pieceCount; p++) {
        const srSurface* skin = &s->pieces[p].skin;
        for (int32_t corner = 0; corner < 3 * skin->triangleCount; corner++) {
            at[skin->triangles[corner / 3][corner % 3]] = (uint8_t)s->pieces[p].colour;
        }
    }
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        int32_t piece = s->solid.trianglePieces[t];
        layers->layers[t] = piece != SR_NULL_INDEX ? (uint8_t)s->pieces[piece].colour
                                                   : at[s->solid.places[surface->triangles[t][0]]];
    }
    SR_FREE(at, pointCount);
    return sr_success;
}

static srResult sortPieces(Sorting* s, int32_t target, const srProgress* progress, srLayers* layers) {
    double length = srFindLength(s->solid.volume, s->solid.area, target, s->surface->size);
    s->reach = length;
    SR_TRY(collectPieces(s));
    SR_TRY(compareAll(s, progress));
    layers->count = colourBodies(s);
    if (layers->count == 1) {
        return sr_success;
    }
    findShares(s, length, layers);
    return nameTriangles(s, layers);
}

static void destroySorting(Sorting* s) {
    for (int32_t p = 0; p < s->pieceCount && s->pieces != NULL; p++) {
        srDestroyBvh(s->pieces[p].tree);
    }
    SR_FREE(s->pieces, s->pieceCount);
    SR_FREE(s->bodies, s->pieceCount);
    SR_FREE(s->isNear, s->pieceCount * s->pieceCount);
    srFree(s->triangles, (size_t)countTriangles(&s->solid), sizeof(s->triangles[0]));
    srDestroySolid(&s->solid);
}

srResult srCreateLayers(const srSurface* surface, const srSolidSettings* settings, int32_t targetNodeCount,
                        const srProgress* progress, srLayers* outLayers) {
    Sorting s = {.surface = surface};
    srLayers layers = {.count = 1};
    srProgress repairing = srPartOfProgress(progress, 0.0, 0.6),
               sorting = srPartOfProgress(progress, 0.6, 1.0);
    *outLayers = layers;
    srResult result = srCreateSolid(surface, settings, &repairing, &s.solid, &layers.solid);
    if (result == sr_success && s.solid.pieceCount > 1 && s.solid.pieceCount <= MOST_PIECES) {
        result = sortPieces(&s, targetNodeCount, &sorting, &layers);
    }
    destroySorting(&s);
    if (result != sr_success) {
        srDestroyLayers(&layers);
        return result;
    }
    *outLayers = layers;
    return sr_success;
}

void srDestroyLayers(srLayers* layers) {
    SR_FREE(layers->layers, layers->triangleCount);
    *layers = (srLayers){0};
}

srResult srTakeLayer(const srLayers* layers, const srSurface* surface, int layer, srSurface* outLayer) {
    srSurface taken = *surface;
    taken.triangleCount = 0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        taken.triangleCount += layers->layers[t] == layer;
    }
    taken.triangles = srAlloc((size_t)taken.triangleCount, sizeof(taken.triangles[0]));
    if (taken.triangles == NULL) {
        return srFailOutOfMemory("the pieces of the skin");
    }
    int32_t count = 0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        if (layers->layers[t] != layer) {
            continue;
        }
        srVec3 a = surface->points[c[0]], b = surface->points[c[1]], d = surface->points[c[2]];
        taken.lower = count == 0 ? a : taken.lower;
        taken.upper = count == 0 ? a : taken.upper;
        taken.lower = srMin(taken.lower, srMin(a, srMin(b, d)));
        taken.upper = srMax(taken.upper, srMax(a, srMax(b, d)));
        memcpy(taken.triangles[count++], c, sizeof(int32_t[3]));
    }
    *outLayer = taken;
    return sr_success;
}

void srDestroyLayer(srSurface* layer) {
    srFree(layer->triangles, (size_t)layer->triangleCount, sizeof(layer->triangles[0]));
    *layer = (srSurface){0};
}
