// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rounds of: look for tears, mark the points of the lattice around them, and make the cells again. Marks only
// grow from round to round.

#include "mesh/mending.h"

#include "mesh/embedding.h"
#include "mesh/least.h"
#include "mesh/search.h"
#include "mesh/tears.h"

#include <math.h>
#include <string.h>

#define ROUND_COUNT 3

// Samples that are worth a round in any case, and from how many pieces of the skin on none is: among studs,
// which are smaller than cells, some points always are in other ones' cells.
#define LITTLE_WORK 2e5
#define MOST_PIECES 64

#define SCRATCH_SIZE ((size_t)1 << 20)

// Marked are points so near to the middle of a torn edge, in cubes, besides half of its length; in each round
// by as much more. With 1.5 at once a monkey of 300 nodes became half as large again as its flesh.
#define REACH 0.5

// A mended cage is at most so much larger, in shares of what it was, and keeps to the limit that it kept to.
// What was too large already shall grow by little.
#define LARGEST_GAIN 1.2
#define LITTLE_GAIN 1.1

typedef struct Mending {
    const srMeshing* meshing;
    srArena* arena;
    uint8_t* marks;  // by point of the scaffold before the split
    double workLeft; // by srTrial_Work
} Mending;

// Tears live in the mending's arena.
static srResult lookAt(const Mending* m, const srTrial* trial, const srProgress* progress,
                       srTears* outTears) {
    const srMeshing* meshing = m->meshing;
    srProgress making = srPartOfProgress(progress, 0.0, 0.3), placing = srPartOfProgress(progress, 0.3, 0.6),
               looking = srPartOfProgress(progress, 0.6, 1.0);
    srMesh mesh = {0};
    srEmbedding embedding = {0};
    srResult result = srTrial_MakeMesh(meshing, trial, &making, &mesh);
    if (result == sr_success) {
        result = srCreateEmbeddingWithProgress(&mesh.cage, meshing->surface->points, mesh.pointCells,
                                               mesh.pointCount, &placing, &embedding);
    }
    if (result == sr_success) {
        const srTearsInput input = {meshing->surface, meshing->contacts.turns, &mesh.cage, embedding.cells,
                                    trial->spacing};
        result = srFindTears(&input, m->arena, &looking, outTears);
    }
    srDestroyEmbedding(&embedding);
    srDestroyMesh(&mesh);
    return result;
}

static void markAround(const Mending* m, const srTrial* trial, const srTears* tears, double reach) {
    const srScaffold* scaffold = &trial->scaffold;
    const srVec3* points = m->meshing->surface->points;
    for (int32_t tear = 0; tear < tears->count; tear++) {
        srVec3 a = points[tears->edges[tear][0]], b = points[tears->edges[tear][1]];
        srVec3 middle = srScale(0.5, srAdd(a, b));
        double half = 0.5 * srDistance(a, b);
        for (int32_t point = 0; point < scaffold->pointCount; point++) {
            double most = half + reach * scaffold->sizes[point];
            srVec3 way = srSub(scaffold->points[point], middle);
            m->marks[point] = m->marks[point] || srDot(way, way) < most * most;
        }
    }
}

static double missOf(const srMeshing* meshing, const srTrial* trial) {
    return fabs(trial->cells.nodeCount / (double)meshing->settings->targetNodeCount - 1.0);
}

static bool isNoWorse(const srMeshing* meshing, const srTrial* other, const srTrial* trial) {
    bool wasLarge = srTrial_IsLarger(meshing, trial, SR_LIMIT_OF_GROWTH);
    double most = (wasLarge ? LITTLE_GAIN : LARGEST_GAIN) * srTrial_Volume(trial);
    return other->cells.cellCount > 0 && other->pieceCount <= trial->pieceCount &&
           missOf(meshing, other) <= fmax(missOf(meshing, trial), SR_MET_TOLERANCE) &&
           srTrial_Volume(other) <= most &&
           (wasLarge || !srTrial_IsLarger(meshing, other, SR_LIMIT_OF_GROWTH));
}

static srResult tryMarked(Mending* m, const srProgress* progress, const srTrial* trial, srTrial* outNext,
                          srTears* outTears) {
    srProgress running = srPartOfProgress(progress, 0.0, 0.3),
               splitting = srPartOfProgress(progress, 0.3, 0.8),
               looking = srPartOfProgress(progress, 0.8, 1.0);
    *outNext = srStartTrial(trial->spacing, trial->shiftedAxis);
    outNext->torn = m->marks;
    SR_TRY(srTrial_Run(m->meshing, &running, outNext));
    SR_TRY(srTrial_Split(m->meshing, &splitting, outNext));
    outNext->torn = NULL;
    m->workLeft -= srTrial_Work(outNext);
    return outNext->cells.cellCount > 0 ? lookAt(m, outNext, &looking, outTears) : sr_success;
}

static srResult mend(Mending* m, const srProgress* progress, srTrial* trial) {
    srTears tears = {0}, left = {0};
    srProgress looking = srPartOfProgress(progress, 0.0, 0.2);
    SR_TRY(lookAt(m, trial, &looking, &tears));
    if (tears.count == 0) {
        return sr_success;
    }
    m->marks = SR_PUSH(m->arena, uint8_t, trial->scaffold.pointCount, "marks");
    if (m->marks == NULL) {
        return srFailOutOfMemory("the cage");
    }
    memset(m->marks, 0, (size_t)trial->scaffold.pointCount);
    for (int round = 0; round < ROUND_COUNT && tears.count > 0 && m->workLeft > 0.0; round++) {
        srProgress trying = srPartOfProgress(progress, 0.2 + 0.8 * round / ROUND_COUNT,
                                             0.2 + 0.8 * (round + 1.0) / ROUND_COUNT);
        srTrial next = {0};
        markAround(m, trial, &tears, REACH * (round + 1));
        srResult result = tryMarked(m, &trying, trial, &next, &left);
        if (result == sr_success && left.count < tears.count && isNoWorse(m->meshing, &next, trial)) {
            next.latticePointCount = trial->latticePointCount;
            srDestroyTrial(trial);
            *trial = next;
            tears = left;
            next = (srTrial){0};
        }
        srDestroyTrial(&next);
        SR_TRY(result);
    }
    return sr_success;
}

srResult srMendTears(const srMeshing* meshing, double mostWork, const srProgress* progress, srTrial* trial) {
    if (!trial->isWhole || trial->cells.cellCount == 0 || meshing->solid.pieceCount > MOST_PIECES) {
        return sr_success;
    }
    Mending mending = {
        .meshing = meshing, .arena = srCreateArena(SCRATCH_SIZE), .workLeft = fmax(mostWork, LITTLE_WORK)};
    if (mending.arena == NULL) {
        return srFailOutOfMemory("the cage");
    }
    srResult result = mend(&mending, progress, trial);
    srDestroyArena(mending.arena);
    return result;
}
