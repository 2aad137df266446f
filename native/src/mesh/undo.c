// SPDX-License-Identifier: GPL-3.0-or-later
//
// Of two triangles that cross, the later collapse that changed one of them is taken back, and before it those
// that changed its triangles later still; what comes back is looked at in its turn. As nothing crossed when
// the log was begun, this ends with a surface where nothing does.

#include "mesh/undo.h"

#include <string.h>

// Triangles of a collapse, in the mean and with some room
#define TOUCHES_PER_STEP 12

// Pairs of one triangle that are looked at together
#define MOST_PAIRS 16

typedef struct Mending {
    srCollapse* collapse;
    srCrossingSearch search;
    int32_t* queue; // triangles that have come back
    int32_t queueCount;
    int32_t* stack; // steps to be taken back, each before the one below
    int32_t undoneCount;
} Mending;

// ---- the log
// ------------------------------------------------------------------------------------------------

srResult srCreateCollapseLog(int32_t triangleCount, srArena* arena, srCollapseLog* outLog) {
    srCollapseLog log = {.stepCapacity = triangleCount / 2 + 1};
    int64_t touches = (int64_t)TOUCHES_PER_STEP * log.stepCapacity + 2 * SR_MOST_AROUND + 2;
    log.touchCapacity = touches < INT32_MAX ? (int32_t)touches : INT32_MAX;
    log.steps = SR_PUSH(arena, srCollapseStep, log.stepCapacity, "collapses");
    log.touches = srArena_Push(arena, (size_t)log.touchCapacity, sizeof(int32_t[2]), "collapses");
    log.lastSteps = SR_PUSH(arena, int32_t, triangleCount, "last collapses");
    *outLog = log;
    bool isThere = log.steps != NULL && log.touches != NULL && log.lastSteps != NULL;
    return isThere ? sr_success : srFailOutOfMemory("the surface of the cage");
}

void srCollapse_ClearLog(srCollapse* collapse) {
    srCollapseLog* log = &collapse->log;
    log->stepCount = log->touchCount = 0;
    memset(log->lastSteps, 0xff, (size_t)collapse->triangleCount * sizeof(int32_t));
}

bool srCollapse_HasRoom(const srCollapse* collapse) {
    const srCollapseLog* log = &collapse->log;
    return log->stepCount < log->stepCapacity &&
           log->touchCapacity - log->touchCount >= 2 * SR_MOST_AROUND + 2;
}

static void touch(srCollapseLog* log, int32_t triangle) {
    int32_t* entry = log->touches[log->touchCount++];
    entry[0] = triangle;
    entry[1] = log->lastSteps[triangle];
    log->lastSteps[triangle] = log->stepCount;
}

void srCollapse_Remember(srCollapse* collapse, int32_t a, int32_t b, const int32_t* around, int32_t ofA,
                         int32_t ofB, const int32_t gone[2]) {
    srCollapseLog* log = &collapse->log;
    srCollapseStep* step = &log->steps[log->stepCount];
    *step = (srCollapseStep){a, b, collapse->points[a], collapse->quadrics[a], log->touchCount, ofA, ofB};
    for (int32_t i = 0; i < ofA + ofB; i++) {
        touch(log, around[i]);
    }
    touch(log, gone[0]);
    touch(log, gone[1]);
    log->stepCount++;
}

static int32_t countTouches(const srCollapseStep* step) {
    return step->ofA + step->ofB + 2;
}

// ---- taking back
// --------------------------------------------------------------------------------------------

static bool goBack(Mending* m, const srCollapseStep* step) {
    srCollapse* collapse = m->collapse;
    srCollapseLog* log = &collapse->log;
    int32_t stay = step->ofA + step->ofB, count = countTouches(step);
    bool isIn = true;
    collapse->points[step->a] = step->place;
    collapse->quadrics[step->a] = step->before;
    collapse->isCareful[step->a] = collapse->isCareful[step->b] = 1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t* entry = log->touches[step->firstTouch + i];
        int32_t* t = collapse->triangles[entry[0]];
        for (int c = 0; c < 3 && i >= step->ofA && i < stay; c++) {
            t[c] = t[c] == step->a ? step->b : t[c];
        }
        t[0] = i >= stay ? ~t[0] : t[0];
        log->lastSteps[entry[0]] = entry[1];
        m->queue[m->queueCount++] = entry[0];
    }
    for (int32_t i = 0; i < count && isIn; i++) {
        isIn = srCrossingSearch_Move(&m->search, log->touches[step->firstTouch + i][0]);
    }
    collapse->aliveCount += 2;
    m->undoneCount++;
    return isIn;
}

// A step that changed a triangle of this one later; itself if there is none.
static int32_t findLater(const srCollapseLog* log, int32_t number) {
    const srCollapseStep* step = &log->steps[number];
    for (int32_t i = 0; i < countTouches(step); i++) {
        int32_t last = log->lastSteps[log->touches[step->firstTouch + i][0]];
        if (last != number) {
            return last;
        }
    }
    return number;
}

static bool undo(Mending* m, int32_t number) {
    const srCollapseLog* log = &m->collapse->log;
    int32_t height = 0;
    bool isIn = true;
    m->stack[height++] = number;
    while (height > 0 && isIn) {
        int32_t top = m->stack[height - 1], later = findLater(log, top);
        if (later != top) {
            m->stack[height++] = later;
        } else {
            isIn = goBack(m, &log->steps[top]);
            height--;
        }
    }
    return isIn;
}

static void beCareful(srCollapse* collapse, int32_t triangle) {
    for (int c = 0; c < 3; c++) {
        collapse->isCareful[collapse->triangles[triangle][c]] = 1;
    }
}

// Until a triangle crosses nothing from `least` on, or only what was so from the first.
static bool part(Mending* m, int32_t triangle, int32_t least) {
    srCollapse* collapse = m->collapse;
    const int32_t* lastSteps = collapse->log.lastSteps;
    int32_t others[MOST_PAIRS], latest = 0;
    while (latest != SR_NULL_INDEX && srCollapse_IsThere(collapse, triangle)) {
        int32_t count = srCrossingSearch_List(&m->search, triangle, least, MOST_PAIRS, others);
        latest = SR_NULL_INDEX;
        for (int32_t i = 0; i < count; i++) {
            int32_t last = lastSteps[others[i]];
            last = lastSteps[triangle] > last ? lastSteps[triangle] : last;
            latest = last > latest ? last : latest;
            beCareful(collapse, others[i]);
            beCareful(collapse, triangle);
        }
        if (latest != SR_NULL_INDEX && !undo(m, latest)) {
            return false;
        }
    }
    return true;
}

static srResult createMending(srCollapse* collapse, const srHull* hull, srArena* arena, Mending* out) {
    *out = (Mending){.collapse = collapse};
    out->queue = SR_PUSH(arena, int32_t, collapse->log.touchCount, "triangles that came back");
    out->stack = SR_PUSH(arena, int32_t, collapse->log.stepCount, "collapses to take back");
    if (out->queue == NULL || out->stack == NULL) {
        return srFailOutOfMemory("the surface of the cage");
    }
    return srCreateCrossingSearch(hull, true, arena, &out->search);
}

srResult srCollapse_Mend(srCollapse* collapse, srArena* arena, int32_t* outUndone) {
    srHull hull = {collapse->points, collapse->pointCount, collapse->triangles, collapse->triangleCount};
    Mending m;
    bool isIn = true;
    *outUndone = 0;
    do {
        srArenaMark mark = srArena_GetMark(arena);
        SR_TRY(createMending(collapse, &hull, arena, &m));
        isIn = true;
        for (int32_t t = 0; t < collapse->triangleCount && isIn; t++) {
            isIn = part(&m, t, t + 1);
        }
        for (int32_t i = 0; i < m.queueCount && isIn; i++) {
            isIn = part(&m, m.queue[i], 0);
        }
        *outUndone += m.undoneCount;
        srArena_Release(arena, mark);
        // with less room than what came back wanted, all is looked at once more
    } while (!isIn);
    return sr_success;
}
