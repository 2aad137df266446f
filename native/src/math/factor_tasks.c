// SPDX-License-Identifier: GPL-3.0-or-later
//
// A group hangs on the group that holds the first of its rows below. Groups whose subtree is more than a
// share of all work are the top; what hangs on the top are whole subtrees, bundled in order until a bundle
// has work enough. A bundle adds to its own rows and to those of the top, the latter in rows of its own at
// first, which are added up in the order of bundles.

#include "math/factor_tasks.h"

#include "core/alloc.h"

#include <string.h>

#define LEAST_WORK 150000 // entries of all panels (some 30 us); below it waking others does not pay
#define TOP_SHARE 3       // a subtree of more than a third of the work is cut into its children
#define BUNDLE_SHARE 12   // what hangs on the top is bundled to about a twelfth of the work

enum {
    top = -1
};

// Scratch, a number a group.
typedef struct Tree {
    int32_t* parents;
    double* works;
    int32_t* tasks;
    int32_t* groupsOfRows; // a row
    double total;
    int32_t taskCount;
} Tree;

static int32_t columnsOf(const srFactor* f, int32_t group) {
    return f->columnStarts[group + 1] - f->columnStarts[group];
}

static double workOf(const srFactor* f, int32_t group) {
    return (double)columnsOf(f, group) * SR_SLAB_ROWS * (f->slabStarts[group + 1] - f->slabStarts[group]);
}

static int64_t firstRowOf(const srFactor* f, int32_t group) {
    return SR_SLAB_ROWS * (int64_t)f->slabStarts[group];
}

static void growTree(const srFactor* f, Tree* tree) {
    for (int32_t g = 0; g < f->groupCount; g++) {
        for (int32_t k = f->columnStarts[g]; k < f->columnStarts[g + 1]; k++) {
            tree->groupsOfRows[k] = g;
        }
    }
    for (int32_t g = 0; g < f->groupCount; g++) {
        int64_t below = firstRowOf(f, g) + columnsOf(f, g);
        bool isRoot = below == firstRowOf(f, g + 1) || f->rows[below] == f->size;
        tree->parents[g] = isRoot ? SR_NULL_INDEX : tree->groupsOfRows[f->rows[below]];
        tree->works[g] += workOf(f, g);
        tree->total += workOf(f, g);
        if (!isRoot) {
            tree->works[tree->parents[g]] += tree->works[g]; // parents come after their children
        }
    }
}

static void cutTree(const srFactor* f, Tree* tree) {
    double bundled = 0.0;
    for (int32_t g = f->groupCount - 1; g >= 0; g--) {
        int32_t parent = tree->parents[g];
        bool isTop = tree->works[g] > tree->total / TOP_SHARE;
        bool isCut = !isTop && (parent == SR_NULL_INDEX || tree->tasks[parent] == top);
        bool isFull = bundled > tree->total / BUNDLE_SHARE && tree->taskCount < SR_MOST_FACTOR_TASKS;
        if (isCut && (tree->taskCount == 0 || isFull)) {
            tree->taskCount++;
            bundled = 0.0;
        }
        bundled += isCut ? tree->works[g] : 0.0;
        tree->tasks[g] = isTop ? top : isCut ? tree->taskCount - 1 : tree->tasks[parent];
    }
}

// Bundles in the order of the caller's rows, as far as they are of a place: who has the first half of the
// rows in other loops has it here.
static void orderTasks(const srFactor* f, Tree* tree) {
    double places[SR_MOST_FACTOR_TASKS] = {0.0};
    int32_t counts[SR_MOST_FACTOR_TASKS] = {0}, ranks[SR_MOST_FACTOR_TASKS] = {0};
    for (int32_t k = 0; k < f->size; k++) {
        int32_t task = tree->tasks[tree->groupsOfRows[k]];
        if (task != top) {
            places[task] += f->order[k];
            counts[task] += 1;
        }
    }
    for (int32_t t = 0; t < tree->taskCount; t++) {
        places[t] /= counts[t] > 0 ? counts[t] : 1;
    }
    for (int32_t t = 0; t < tree->taskCount; t++) {
        for (int32_t other = 0; other < tree->taskCount; other++) {
            ranks[t] += places[other] < places[t] || (places[other] == places[t] && other < t);
        }
    }
    for (int32_t g = 0; g < f->groupCount; g++) {
        tree->tasks[g] = tree->tasks[g] == top ? top : ranks[tree->tasks[g]];
    }
}

// Whether rows are of their own bundle or the top, as they are in an elimination tree; in a stored factor
// anything may be.
static bool isTree(const srFactor* f, const Tree* tree) {
    for (int32_t g = 0; g < f->groupCount; g++) {
        for (int64_t r = firstRowOf(f, g); r < firstRowOf(f, g + 1) && f->rows[r] < f->size; r++) {
            int32_t task = tree->tasks[tree->groupsOfRows[f->rows[r]]];
            if (task != tree->tasks[g] && task != top) {
                return false;
            }
        }
    }
    return true;
}

// groups of each task in ascending order, those of the top after all
static void listGroups(const srFactor* f, const Tree* tree, srFactorTasks* tasks) {
    int32_t next = 0;
    for (int32_t t = 0; t <= tree->taskCount; t++) {
        tasks->starts[t] = next;
        for (int32_t g = 0; g < f->groupCount; g++) {
            if (tree->tasks[g] == (t < tree->taskCount ? t : top)) {
                tasks->groups[next++] = g;
            }
        }
    }
    tasks->starts[tree->taskCount + 1] = next;
}

// Rows of a task that belong to the top get places after all rows; the first place takes what padding adds.
// `places` is of no meaning before, and a number a row and one more.
static int32_t placeOutside(const srFactor* f, const Tree* tree, const srFactorTasks* tasks, int32_t task,
                            int32_t first, int32_t* places) {
    int32_t next = first + 1;
    for (int32_t k = 0; k < f->size; k++) {
        places[k] = SR_NULL_INDEX;
    }
    places[f->size] = first;
    for (int32_t i = tasks->starts[task]; i < tasks->starts[task + 1]; i++) {
        int32_t g = tasks->groups[i];
        for (int64_t r = firstRowOf(f, g); r < firstRowOf(f, g + 1); r++) {
            int32_t row = f->rows[r];
            bool isOutside = row < f->size && tree->tasks[tree->groupsOfRows[row]] == top;
            if (isOutside && places[row] == SR_NULL_INDEX) {
                if (tasks->outsideRows != NULL) {
                    tasks->outsideRows[next] = row;
                }
                places[row] = next++;
            }
            if (tasks->outsideRows != NULL) {
                bool isOwn = row < f->size && !isOutside;
                tasks->forwardRows[r] = isOwn ? row : f->size + 1 + places[row];
            }
        }
    }
    return next;
}

static srResult fillTasks(const srFactor* f, const Tree* tree, int32_t* places, srFactorTasks* tasks) {
    int32_t outside = 0;
    for (int32_t t = 0; t < tree->taskCount; t++) {
        outside = placeOutside(f, tree, tasks, t, outside, places);
    }
    tasks->outsideCount = outside;
    tasks->rowCount = (int32_t)firstRowOf(f, f->groupCount);
    tasks->outsideRows = SR_ALLOC_ZERO(int32_t, outside);
    tasks->forwardRows = SR_ALLOC_ZERO(int32_t, tasks->rowCount);
    if (tasks->outsideRows == NULL || tasks->forwardRows == NULL) {
        return srFailOutOfMemory("the order of a sparse solve");
    }
    for (int32_t t = 0, next = 0; t < tree->taskCount; t++) {
        tasks->outsideStarts[t] = next;
        next = placeOutside(f, tree, tasks, t, next, places);
        tasks->outsideStarts[t + 1] = next;
    }
    return sr_success;
}

static srResult buildTasks(srFactor* f, Tree* tree, int32_t* places) {
    srFactorTasks* tasks = &f->tasks;
    growTree(f, tree);
    cutTree(f, tree);
    orderTasks(f, tree);
    if (tree->taskCount < 2 || !isTree(f, tree)) {
        return sr_success;
    }
    tasks->count = tree->taskCount;
    tasks->groupCount = f->groupCount;
    tasks->starts = SR_ALLOC(int32_t, tasks->count + 2);
    tasks->groups = SR_ALLOC(int32_t, f->groupCount);
    tasks->outsideStarts = SR_ALLOC(int32_t, tasks->count + 1);
    if (tasks->starts == NULL || tasks->groups == NULL || tasks->outsideStarts == NULL) {
        return srFailOutOfMemory("the order of a sparse solve");
    }
    listGroups(f, tree, tasks);
    return fillTasks(f, tree, places, tasks);
}

srResult srCreateFactorTasks(srFactor* f) {
    double total = 0.0;
    for (int32_t g = 0; g < f->groupCount; g++) {
        total += workOf(f, g);
    }
    if (total < LEAST_WORK) {
        return sr_success;
    }
    Tree tree = {
        .parents = SR_ALLOC(int32_t, f->groupCount),
        .works = SR_ALLOC_ZERO(double, f->groupCount),
        .tasks = SR_ALLOC(int32_t, f->groupCount),
        .groupsOfRows = SR_ALLOC(int32_t, f->size),
    };
    int32_t* places = SR_ALLOC(int32_t, f->size + 1);
    bool isWhole = tree.parents != NULL && tree.works != NULL && tree.tasks != NULL &&
                   tree.groupsOfRows != NULL && places != NULL;
    srResult result =
        isWhole ? buildTasks(f, &tree, places) : srFailOutOfMemory("the order of a sparse solve");
    SR_FREE(tree.parents, f->groupCount);
    SR_FREE(tree.works, f->groupCount);
    SR_FREE(tree.tasks, f->groupCount);
    SR_FREE(tree.groupsOfRows, f->size);
    SR_FREE(places, f->size + 1);
    if (result != sr_success) {
        srDestroyFactorTasks(f);
    }
    return result;
}

void srDestroyFactorTasks(srFactor* f) {
    srFactorTasks* tasks = &f->tasks;
    SR_FREE(tasks->starts, tasks->count + 2);
    SR_FREE(tasks->groups, tasks->groupCount);
    SR_FREE(tasks->outsideStarts, tasks->count + 1);
    SR_FREE(tasks->outsideRows, tasks->outsideCount);
    SR_FREE(tasks->forwardRows, tasks->rowCount);
    *tasks = (srFactorTasks){0};
}
