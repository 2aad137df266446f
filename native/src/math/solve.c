// SPDX-License-Identifier: GPL-3.0-or-later
//
// Around the sweeps: the caller's rows into the factor's order and back, scales, refinement. Inside, rows are
// padded to four numbers; callers keep three or four. With D the factor's scales, w = D b goes into a sweep
// and x = D w comes out of it; where w would leave the range of its type, b is multiplied by a power of two
// first, and x by its inverse.

#include "math/solve.h"

#include "core/parallel.h"
#include "math/linear_kernels.h"

#include <math.h>
#include <string.h>

#define ROW 4

// Where the type is a flag, it is a constant where the function is called, so it costs nothing.
#define SR_ALWAYS_INLINE static inline __attribute__((always_inline))

// what is loaded without a shift, by the largest number of it
#define LEAST_FLOAT 0x1p-40 // times the least entries of a panel it is near the least normal float
#define MOST_FLOAT 0x1p40   // times what any sensible condition makes of it, it is still a float
#define LEAST_DOUBLE 0x1p-500
#define MOST_DOUBLE 0x1p500

static size_t roundUp(size_t size) {
    return (size + 63) / 64 * 64;
}

// The right-hand side as the sweeps want it: size + 1 rows of x, y, z, 0 in the factor's order, scaled; the
// row after the last one, where padding points, is zero. Then come rows for what tasks add outside of them.
static size_t sizeOfRows(const srFactor* f, size_t elementSize) {
    return roundUp(ROW * ((size_t)f->size + 1 + (size_t)f->tasks.outsideCount) * elementSize);
}

// A sweep takes four elements a column of the widest group, or three SR_SLAB_ROWS a slab of the tallest.
static size_t countTaskScratch(const srFactor* f) {
    size_t columns = ROW * (size_t)f->mostColumns, slabs = 3 * SR_SLAB_ROWS * (size_t)f->mostSlabs;
    return roundUp(columns > slabs ? columns : slabs);
}

static size_t countSweepScratch(const srFactor* f) {
    return countTaskScratch(f) * (size_t)(f->tasks.count > 0 ? f->tasks.count : 1);
}

static size_t sizeOfSweep(const srFactor* f, size_t elementSize) {
    return sizeOfRows(f, elementSize) + roundUp(countSweepScratch(f) * elementSize);
}

size_t srFactor_GetScratchSize(const srFactor* f) {
    size_t element = (f->kinds & sr_factorDouble) ? sizeof(double) : sizeof(float);
    return sizeOfSweep(f, element) + roundUp(3 * (size_t)f->size * sizeof(double));
}

static srResult failNotFinite(void) {
    return srFail(sr_errorNotFinite, "A solve's right-hand side is not finite, or its solution too large.");
}

// Groups of a task, of what comes after all tasks, or all of them (null) where there are no tasks.
typedef struct Groups {
    const int32_t* list;
    int32_t count;
} Groups;

static Groups groupsOf(const srFactor* f, int32_t task) {
    const srFactorTasks* tasks = &f->tasks;
    if (tasks->count == 0) {
        return (Groups){NULL, f->groupCount};
    }
    return (Groups){tasks->groups + tasks->starts[task], tasks->starts[task + 1] - tasks->starts[task]};
}

// One sweep in either type.
typedef struct Sweep {
    const srFactor* f;
    void* w;
    void* scratch;
    bool isFloat;
} Sweep;

// groups of one task forward or backward; `rows` is null for backward
static void sweepTask(const Sweep* sweep, int32_t task, const int32_t* rows) {
    const srFactor* f = sweep->f;
    const srLinearKernels* kernels = srGetLinearKernels();
    Groups groups = groupsOf(f, task);
    size_t own = countTaskScratch(f) * (size_t)(task < f->tasks.count ? task : 0);
    if (sweep->isFloat) {
        float* scratch = (float*)sweep->scratch + own;
        bool isNarrow = f->narrow.words != NULL;
        if (rows != NULL) {
            (isNarrow ? kernels->forwardNarrow : kernels->forwardFloat)(f, rows, groups.list, groups.count,
                                                                        sweep->w, scratch);
        } else {
            (isNarrow ? kernels->backwardNarrow : kernels->backwardFloat)(f, groups.list, groups.count,
                                                                          sweep->w, scratch);
        }
    } else {
        double* scratch = (double*)sweep->scratch + own;
        if (rows != NULL) {
            kernels->forwardDouble(f, rows, groups.list, groups.count, sweep->w, scratch);
        } else {
            kernels->backwardDouble(f, groups.list, groups.count, sweep->w, scratch);
        }
    }
}

static void forwardRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Sweep* sweep = context;
    for (int32_t task = begin; task < end; task++) {
        sweepTask(sweep, task, sweep->f->tasks.forwardRows);
    }
}

static void backwardRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t task = begin; task < end; task++) {
        sweepTask(context, task, NULL);
    }
}

// what tasks added to rows outside of them, in the order of tasks
SR_ALWAYS_INLINE void addOutside(const srFactor* f, void* w, bool isFloat) {
    const srFactorTasks* tasks = &f->tasks;
    size_t first = (size_t)f->size + 1;
    for (int32_t t = 0; t < tasks->count; t++) {
        for (int32_t k = tasks->outsideStarts[t] + 1; k < tasks->outsideStarts[t + 1]; k++) {
            size_t to = ROW * (size_t)tasks->outsideRows[k], from = ROW * (first + (size_t)k);
            for (size_t c = 0; c < ROW; c++) {
                if (isFloat) {
                    ((float*)w)[to + c] += ((const float*)w)[from + c];
                } else {
                    ((double*)w)[to + c] += ((const double*)w)[from + c];
                }
            }
        }
    }
}

static Sweep beginSweep(const srFactor* f, void* w, bool isFloat) {
    size_t elementSize = isFloat ? sizeof(float) : sizeof(double), rowSize = ROW * elementSize;
    memset((char*)w + rowSize * (size_t)f->size, 0, rowSize * (1 + (size_t)f->tasks.outsideCount));
    return (Sweep){.f = f, .w = w, .scratch = (char*)w + sizeOfRows(f, elementSize), .isFloat = isFloat};
}

static void sweep(const srFactor* f, void* w, bool isFloat) {
    Sweep s = beginSweep(f, w, isFloat);
    srParallelFor(forwardRange, f->tasks.count, 1, &s);
    if (isFloat) {
        addOutside(f, w, true);
    } else {
        addOutside(f, w, false);
    }
    sweepTask(&s, f->tasks.count, f->rows);
    sweepTask(&s, f->tasks.count, NULL);
    srParallelFor(backwardRange, f->tasks.count, 1, &s);
}

// Numbers of either type.

SR_ALWAYS_INLINE double numberAt(const void* numbers, bool isFloat, int64_t i) {
    return isFloat ? (double)((const float*)numbers)[i] : ((const double*)numbers)[i];
}

SR_ALWAYS_INLINE void setNumber(void* numbers, bool isFloat, int64_t i, double value) {
    if (isFloat) {
        ((float*)numbers)[i] = (float)value;
    } else {
        ((double*)numbers)[i] = value;
    }
}

// Two powers of two, because one is not enough where both the matrix and the numbers are at an end of the
// range.
typedef struct Shift {
    double inner, outer;
} Shift;

// w = D b, times the shift if there is one. Returns the largest size in w, leaving NaNs aside.
SR_ALWAYS_INLINE double loadRows(const srFactor* f, const void* b, bool isFloatB, const Shift* shift, void* w,
                                 bool isFloatW) {
    double most[3] = {0.0, 0.0, 0.0}; // three, so that comparisons do not wait for each other
    for (int32_t k = 0; k < f->size; k++) {
        double scale = f->scales[k];
        for (int c = 0; c < 3; c++) {
            double value = numberAt(b, isFloatB, 3 * (int64_t)f->order[k] + c);
            value = shift != NULL ? shift->outer * (scale * (shift->inner * value)) : scale * value;
            most[c] = fabs(value) > most[c] ? fabs(value) : most[c];
            setNumber(w, isFloatW, ROW * (int64_t)k + c, value);
        }
        setNumber(w, isFloatW, ROW * (int64_t)k + 3, 0.0);
    }
    most[0] = most[1] > most[0] ? most[1] : most[0];
    return most[2] > most[0] ? most[2] : most[0];
}

// x = D w, or x += D w, times the shift if there is one. What is not finite makes the answer a NaN.
SR_ALWAYS_INLINE double storeRows(const srFactor* f, const void* w, bool isFloatW, const Shift* shift,
                                  void* x, bool isFloatX, bool adds) {
    double check = 0.0;
    for (int32_t k = 0; k < f->size; k++) {
        double scale = f->scales[k];
        for (int c = 0; c < 3; c++) {
            int64_t to = 3 * (int64_t)f->order[k] + c;
            double value = numberAt(w, isFloatW, ROW * (int64_t)k + c);
            value = shift != NULL ? shift->outer * (scale * (shift->inner * value)) : scale * value;
            setNumber(x, isFloatX, to, adds ? numberAt(x, isFloatX, to) + value : value);
            check += 0.0 * numberAt(x, isFloatX, to);
        }
    }
    return check;
}

// The whole way in float, task by task: who sweeps a task's rows loads them before and stores them
// afterwards, so that they stay in its cache.
typedef struct Floats {
    Sweep sweep;
    const float* b;
    int32_t width; // of rows of b
    float* x;
    float results[SR_MOST_FACTOR_TASKS + 1]; // a task, and of what comes after all
} Floats;

// loadRows without a shift for floats and ordinary scales: in float all the way, which saves 5 % of a solve.
static float loadFloats(const Floats* floats, int32_t begin, int32_t end) {
    const srFactor* f = floats->sweep.f;
    float most[3] = {0.0f, 0.0f, 0.0f};
    for (int32_t k = begin; k < end; k++) {
        const float* from = floats->b + (int64_t)floats->width * f->order[k];
        float scale = (float)f->scales[k], *row = (float*)floats->sweep.w + ROW * (int64_t)k;
        for (int c = 0; c < 3; c++) {
            row[c] = scale * from[c];
            most[c] = fabsf(row[c]) > most[c] ? fabsf(row[c]) : most[c];
        }
        row[3] = 0.0f;
    }
    most[0] = most[1] > most[0] ? most[1] : most[0];
    return most[2] > most[0] ? most[2] : most[0];
}

// storeRows, likewise.
static float storeFloats(const Floats* floats, int32_t begin, int32_t end) {
    const srFactor* f = floats->sweep.f;
    float check = 0.0f;
    for (int32_t k = begin; k < end; k++) {
        float* to = floats->x + 3 * (int64_t)f->order[k];
        float scale = (float)f->scales[k];
        const float* row = (const float*)floats->sweep.w + ROW * (int64_t)k;
        to[0] = scale * row[0];
        to[1] = scale * row[1];
        to[2] = scale * row[2];
        check += 0.0f * to[0] + 0.0f * to[1] + 0.0f * to[2];
    }
    return check;
}

// The rows of groups from the i-th on that follow each other without a gap; i goes behind them.
typedef struct Run {
    int32_t begin;
    int32_t end;
} Run;

static Run takeRun(const srFactor* f, const Groups* groups, int32_t* i) {
    if (groups->list == NULL) {
        *i = groups->count;
        return (Run){0, f->size};
    }
    int32_t first = groups->list[*i], last = first;
    while (++*i < groups->count && groups->list[*i] == last + 1) {
        ++last;
    }
    return (Run){f->columnStarts[first], f->columnStarts[last + 1]};
}

static void loadTask(Floats* floats, int32_t task) {
    const srFactor* f = floats->sweep.f;
    Groups groups = groupsOf(f, task);
    float most = 0.0f;
    for (int32_t i = 0; i < groups.count;) {
        Run run = takeRun(f, &groups, &i);
        float own = loadFloats(floats, run.begin, run.end);
        most = own > most ? own : most;
    }
    floats->results[task] = most;
}

static void storeTask(Floats* floats, int32_t task) {
    const srFactor* f = floats->sweep.f;
    Groups groups = groupsOf(f, task);
    floats->results[task] = 0.0f;
    for (int32_t i = 0; i < groups.count;) {
        Run run = takeRun(f, &groups, &i);
        floats->results[task] += storeFloats(floats, run.begin, run.end);
    }
}

static void forwardFloats(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Floats* floats = context;
    for (int32_t task = begin; task < end; task++) {
        loadTask(floats, task);
        sweepTask(&floats->sweep, task, floats->sweep.f->tasks.forwardRows);
    }
}

static void backwardFloats(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t task = begin; task < end; task++) {
        sweepTask(&((Floats*)context)->sweep, task, NULL);
        storeTask(context, task);
    }
}

typedef enum Outcome {
    outcome_done,
    outcome_notFinite,
    outcome_outOfRange, // x is as it was
} Outcome;

static Outcome solveFloats(const srFactor* f, const float* b, int32_t width, float* x, void* scratch) {
    Floats floats = {.sweep = beginSweep(f, scratch, true), .b = b, .width = width, .x = x};
    int32_t last = f->tasks.count;
    srParallelFor(forwardFloats, last, 1, &floats);
    loadTask(&floats, last);
    float most = 0.0f, check = 0.0f;
    for (int32_t task = 0; task <= last; task++) {
        most = floats.results[task] > most ? floats.results[task] : most;
    }
    if (!(most >= (float)LEAST_FLOAT && most <= (float)MOST_FLOAT)) {
        return outcome_outOfRange;
    }
    addOutside(f, scratch, true);
    sweepTask(&floats.sweep, last, f->rows);
    sweepTask(&floats.sweep, last, NULL);
    srParallelFor(backwardFloats, last, 1, &floats);
    storeTask(&floats, last);
    for (int32_t task = 0; task <= last; task++) {
        check += floats.results[task];
    }
    return check == 0.0f ? outcome_done : outcome_notFinite;
}

// 2^exponent is above x; zero for what is zero or not finite. Its inverse is a number too.
static int exponentOf(double x) {
    int exponent = 0;
    if (x > 0.0 && isfinite(x)) {
        frexp(x, &exponent);
    }
    return exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
}

static double largestOf(const void* b, bool isFloatB, size_t count) {
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(numberAt(b, isFloatB, (int64_t)i));
        most = size > most ? size : most;
    }
    return most;
}

// Loads again, with the shift that makes the largest number of w about one; `most` is what it was without.
// Returns the way back. Halves of it before and after the scale, so that nothing leaves the range of double
// on the way that would not leave it at the end.
static Shift loadShifted(const srFactor* f, const void* b, bool isFloatB, double most, void* w,
                         bool isFloatW) {
    int before = 0;
    Shift shift = {1.0, 1.0};
    if (!(most >= LEAST_DOUBLE && most <= MOST_DOUBLE)) {
        before = exponentOf(largestOf(b, isFloatB, 3 * (size_t)f->size));
        shift.inner = ldexp(1.0, -before);
        most = loadRows(f, b, isFloatB, &shift, w, isFloatW);
    }
    int after = exponentOf(most), both = before + after;
    shift.outer = ldexp(1.0, -after);
    loadRows(f, b, isFloatB, &shift, w, isFloatW);
    return (Shift){ldexp(1.0, both / 2), ldexp(1.0, both - both / 2)};
}

// x = A^-1 b, or added to x. False when something is not finite.
SR_ALWAYS_INLINE bool solveOnce(const srFactor* f, const void* b, bool isFloatB, void* x, bool isFloatX,
                                bool adds, void* w, bool isFloatW) {
    double most = loadRows(f, b, isFloatB, NULL, w, isFloatW);
    bool isShifted = isFloatW ? !(most >= LEAST_FLOAT && most <= MOST_FLOAT)
                              : !(most >= LEAST_DOUBLE && most <= MOST_DOUBLE);
    Shift back = {1.0, 1.0};
    if (isShifted) {
        back = loadShifted(f, b, isFloatB, most, w, isFloatW);
    }
    sweep(f, w, isFloatW);
    double check = isShifted ? storeRows(f, w, isFloatW, &back, x, isFloatX, adds)
                             : storeRows(f, w, isFloatW, NULL, x, isFloatX, adds);
    return check == 0.0;
}

static srResult solveAnyFloats(const srFactor* f, const float* b, int32_t width, float* x, void* scratch) {
    if (f->floatPanels == NULL) {
        return srFail(sr_errorInvalidValue, "The factor has no panels in float.");
    }
    Outcome outcome = f->areScalesOrdinary ? solveFloats(f, b, width, x, scratch) : outcome_outOfRange;
    if (outcome == outcome_outOfRange) {
        for (size_t i = 0; width != 3 && i < (size_t)f->size; i++) {
            memcpy(x + 3 * i, b + (size_t)width * i, 3 * sizeof(float));
        }
        bool isFinite = solveOnce(f, width != 3 ? x : b, true, x, true, false, scratch, true);
        outcome = isFinite ? outcome_done : outcome_notFinite;
    }
    if (outcome == outcome_notFinite) {
        memset(x, 0, 3 * (size_t)f->size * sizeof(float));
        return failNotFinite();
    }
    return sr_success;
}

srResult srFactor_SolveFloat(const srFactor* f, const float* b, float* x, void* scratch) {
    return solveAnyFloats(f, b, 3, x, scratch);
}

srResult srFactor_SolveFloatRows(const srFactor* f, const float* b, float* x, void* scratch) {
    return solveAnyFloats(f, b, ROW, x, scratch);
}

srResult srFactor_SolveDouble(const srFactor* f, const double* b, double* x, void* scratch) {
    if (f->doublePanels == NULL) {
        return srFail(sr_errorInvalidValue, "The factor has no panels in double.");
    }
    if (!solveOnce(f, b, false, x, false, false, scratch, false)) {
        memset(x, 0, 3 * (size_t)f->size * sizeof(double));
        return failNotFinite();
    }
    return sr_success;
}

srResult srFactor_SolveRefined(const srFactor* f, const srCsc* A, const double* b, double* x,
                               int32_t stepCount, void* scratch) {
    size_t count = 3 * (size_t)f->size;
    if (A->columnCount != f->size || A->rowCount != f->size || stepCount < 0) {
        return srFail(sr_errorInvalidValue, "A refinement's matrix has %d columns, its factor %d.",
                      A->columnCount, f->size);
    }
    double* residual =
        (double*)((char*)scratch + srFactor_GetScratchSize(f)) - roundUp(count * sizeof(double)) / 8;
    memset(x, 0, count * sizeof(double));
    memcpy(residual, b, count * sizeof(double));
    for (int32_t step = 0; step <= stepCount; step++) {
        bool isFinite = f->floatPanels != NULL
                            ? solveOnce(f, residual, false, x, false, true, scratch, true)
                            : solveOnce(f, residual, false, x, false, true, scratch, false);
        if (!isFinite) {
            memset(x, 0, count * sizeof(double));
            return failNotFinite();
        }
        if (step < stepCount) {
            memcpy(residual, b, count * sizeof(double));
            srCsc_SubSymmetric3(residual, A, x);
        }
    }
    return sr_success;
}
