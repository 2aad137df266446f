// SPDX-License-Identifier: GPL-3.0-or-later
//
// CHOLMOD's factor to ours: supernodes are joined while that saves time in a solve, and each group's panel is
// divided by its own triangle.

#include "math/factor.h"

#include "core/alloc.h"
#include "math/dense.h"
#include "math/factor_layout.h"
#include "math/factor_narrow.h"
#include "math/factor_tasks.h"

#include <float.h>
#include <math.h>
#include <string.h>

// What a solve costs, in cycles. Measured on cages of 4,000 to 11,000 nodes: halves and doubles of these
// differ by less than 3 %, so they are not worth more care.
#define CYCLES_PER_ENTRY 0.5
#define CYCLES_PER_ROW 2.0
#define CYCLES_PER_COLUMN 4.0
#define CYCLES_PER_GROUP 40.0

// Panel entries below this, where the largest are about one, are zero in float: subnormal numbers are slow.
#define FLOAT_NOISE 0x1p-100

// Supernodes first[g] .. first[g + 1] - 1 make group g.
typedef struct Groups {
    int32_t* firsts; // supernodeCount + 1
    int32_t count;
} Groups;

static int32_t columnsOf(const srSupernodes* s, int32_t first, int32_t last) {
    return s->columnStarts[last + 1] - s->columnStarts[first];
}

static int32_t rowsBelow(const srSupernodes* s, int32_t supernode) {
    return s->rowStarts[supernode + 1] - s->rowStarts[supernode] - columnsOf(s, supernode, supernode);
}

static int32_t slabsOf(int32_t rowCount) {
    return (rowCount + SR_SLAB_ROWS - 1) / SR_SLAB_ROWS;
}

// Of the supernodes first .. last as one group: rows below are those of the last.
static double costOf(const srSupernodes* s, int32_t first, int32_t last) {
    int32_t columns = columnsOf(s, first, last);
    int32_t rows = SR_SLAB_ROWS * slabsOf(columns + rowsBelow(s, last));
    return CYCLES_PER_ENTRY * (double)srCountPanel(columns, rows, SR_SLAB_ROWS) + CYCLES_PER_ROW * rows +
           CYCLES_PER_COLUMN * columns + CYCLES_PER_GROUP;
}

// Whether supernode `child` hangs on one of its successors up to `last`, by its first row below.
static bool hangsOn(const srSupernodes* s, int32_t child, int32_t last) {
    return rowsBelow(s, child) > 0 &&
           s->rows[s->rowStarts[child] + columnsOf(s, child, child)] < s->columnStarts[last + 1];
}

// Supernodes come children first, so a group that waits and hangs on the next one stands right before it; it
// is joined with it as long as that pays. All rows of a child are rows or columns of its parent.
static void joinSupernodes(const srSupernodes* s, Groups* groups) {
    groups->count = 0;
    for (int32_t next = 0; next < s->count; next++) {
        int32_t first = next;
        while (groups->count > 0 && hangsOn(s, first - 1, next)) {
            int32_t before = groups->firsts[groups->count - 1];
            if (costOf(s, before, next) >= costOf(s, before, first - 1) + costOf(s, first, next)) {
                break;
            }
            first = before;
            groups->count--;
        }
        groups->firsts[groups->count++] = first;
    }
    groups->firsts[groups->count] = s->count;
}

static void countGroups(const srSupernodes* s, const Groups* groups, srFactorHeader* header) {
    header->size = s->size;
    header->groupCount = groups->count;
    for (int32_t g = 0; g < groups->count; g++) {
        int32_t last = groups->firsts[g + 1] - 1;
        int32_t columns = columnsOf(s, groups->firsts[g], last);
        int32_t slabs = slabsOf(columns + rowsBelow(s, last));
        header->slabCount += slabs;
        if (header->kinds & sr_factorFloat) {
            header->floatCount += srCountPanel(columns, SR_SLAB_ROWS * slabs, SR_SLAB_ROWS);
        }
        if (header->kinds & sr_factorDouble) {
            header->doubleCount += srCountPanel(columns, SR_SLAB_ROWS * slabs, SR_SLAB_ROWS / 2);
        }
    }
    srStartFactorHeader(header);
}

static void fillRows(const srSupernodes* s, int32_t first, int32_t last, int32_t* rows) {
    int32_t columns = columnsOf(s, first, last), below = rowsBelow(s, last);
    for (int32_t c = 0; c < columns; c++) {
        *rows++ = s->columnStarts[first] + c;
    }
    memcpy(rows, s->rows + s->rowStarts[last + 1] - below, (size_t)below * sizeof(int32_t));
    rows += below;
    for (int32_t r = columns + below; r % SR_SLAB_ROWS != 0; r++) {
        *rows++ = s->size;
    }
}

// Everything but scales and panels.
static void fillStructure(const srSupernodes* s, const Groups* groups, srFactor* f) {
    int32_t *columnStarts = (int32_t*)f->columnStarts, *slabStarts = (int32_t*)f->slabStarts;
    int64_t *floatStarts = (int64_t*)f->floatStarts, *doubleStarts = (int64_t*)f->doubleStarts;
    int64_t floatCount = 0, doubleCount = 0;
    int32_t slabCount = 0;
    memcpy((int32_t*)f->order, s->order, (size_t)s->size * sizeof(int32_t));
    for (int32_t g = 0; g <= groups->count; g++) {
        columnStarts[g] = s->columnStarts[groups->firsts[g]];
        slabStarts[g] = slabCount;
        if (floatStarts != NULL) {
            floatStarts[g] = floatCount;
        }
        if (doubleStarts != NULL) {
            doubleStarts[g] = doubleCount;
        }
        if (g == groups->count) {
            break;
        }
        int32_t first = groups->firsts[g], last = groups->firsts[g + 1] - 1;
        fillRows(s, first, last, (int32_t*)f->rows + SR_SLAB_ROWS * (int64_t)slabCount);
        int32_t columns = columnsOf(s, first, last), slabs = slabsOf(columns + rowsBelow(s, last));
        slabCount += slabs;
        floatCount += srCountPanel(columns, SR_SLAB_ROWS * slabs, SR_SLAB_ROWS);
        doubleCount += srCountPanel(columns, SR_SLAB_ROWS * slabs, SR_SLAB_ROWS / 2);
    }
}

// Scratch of filling.
typedef struct Filling {
    const srSupernodes* supernodes;
    srFactor* factor;
    double* norms;    // diagonal of the reordered matrix, as rows of L give it
    int32_t* places;  // of a row within the group's rows
    double* triangle; // L11, mostColumns squared
    double* panel;    // columns of all rows of a group
    size_t panelCapacity;
} Filling;

static srResult allocateFilling(Filling* fill) {
    const srFactor* f = fill->factor;
    size_t columns = (size_t)f->mostColumns;
    for (int32_t g = 0; g < f->groupCount; g++) {
        size_t count = (size_t)(f->columnStarts[g + 1] - f->columnStarts[g]) * SR_SLAB_ROWS *
                       (size_t)(f->slabStarts[g + 1] - f->slabStarts[g]);
        fill->panelCapacity = count > fill->panelCapacity ? count : fill->panelCapacity;
    }
    fill->norms = SR_ALLOC_ZERO(double, f->size);
    fill->places = SR_ALLOC_ZERO(int32_t, f->size);
    fill->triangle = SR_ALLOC(double, columns* columns);
    fill->panel = SR_ALLOC(double, fill->panelCapacity);
    bool isWhole = fill->norms && fill->places && fill->triangle && fill->panel;
    return isWhole ? sr_success : srFailOutOfMemory("the panels of a sparse factor");
}

static void freeFilling(Filling* fill) {
    size_t columns = (size_t)fill->factor->mostColumns;
    SR_FREE(fill->norms, fill->factor->size);
    SR_FREE(fill->places, fill->factor->size);
    SR_FREE(fill->triangle, columns * columns);
    SR_FREE(fill->panel, fill->panelCapacity);
}

// The largest power of two whose square times the diagonal entry is at most two. From the smallest to the
// largest diagonal that is between 2^537 and 2^-512, so that it is exact.
static void fillScales(Filling* fill) {
    const srSupernodes* s = fill->supernodes;
    for (int32_t n = 0; n < s->count; n++) {
        int32_t height = s->rowStarts[n + 1] - s->rowStarts[n];
        const double* values = s->values + s->valueStarts[n];
        for (int32_t c = 0; c < columnsOf(s, n, n); c++) {
            for (int32_t r = c; r < height; r++) {
                double value = values[(size_t)c * (size_t)height + (size_t)r];
                fill->norms[s->rows[s->rowStarts[n] + r]] += value * value;
            }
        }
    }
    for (int32_t k = 0; k < s->size; k++) {
        int exponent = DBL_MAX_EXP; // of what rounding took beyond the largest number
        if (isfinite(fill->norms[k])) {
            frexp(fill->norms[k], &exponent);
        }
        exponent = exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2);
        ((double*)fill->factor->scales)[k] = ldexp(1.0, -exponent);
    }
}

// Adds the columns of one supernode to the group's triangle and, with a minus, to the panel below it.
static void gatherSupernode(Filling* fill, int32_t supernode, int32_t firstColumn, int32_t columns,
                            int32_t rowCount) {
    const srSupernodes* s = fill->supernodes;
    int32_t height = s->rowStarts[supernode + 1] - s->rowStarts[supernode];
    const int32_t* rows = s->rows + s->rowStarts[supernode];
    for (int32_t c = 0; c < columnsOf(s, supernode, supernode); c++) {
        const double* values = s->values + s->valueStarts[supernode] + (size_t)c * (size_t)height;
        size_t column = (size_t)(s->columnStarts[supernode] + c - firstColumn);
        for (int32_t r = c; r < height; r++) {
            int32_t place = fill->places[rows[r]];
            double value = values[r] * fill->factor->scales[rows[r]];
            if (place < columns) {
                fill->triangle[column * (size_t)columns + (size_t)place] = value;
            } else {
                fill->panel[column * (size_t)rowCount + (size_t)place] = -value;
            }
        }
    }
}

// Whether a supernode's columns and rows are all among the group's: not so when the factor comes from another
// analysis.
static bool fitsGroup(const Filling* fill, int32_t supernode, int32_t group) {
    const srSupernodes* s = fill->supernodes;
    const srFactor* f = fill->factor;
    const int32_t* rows = f->rows + SR_SLAB_ROWS * (int64_t)f->slabStarts[group];
    int32_t rowCount = SR_SLAB_ROWS * (f->slabStarts[group + 1] - f->slabStarts[group]);
    if (s->columnStarts[supernode] < f->columnStarts[group] ||
        s->columnStarts[supernode + 1] > f->columnStarts[group + 1]) {
        return false;
    }
    for (int32_t r = s->rowStarts[supernode]; r < s->rowStarts[supernode + 1]; r++) {
        int32_t place = fill->places[s->rows[r]];
        if (place >= rowCount || rows[place] != s->rows[r]) {
            return false;
        }
    }
    return true;
}

// The group's panel, column by column, padding included. `supernode` is its first one, and becomes the next
// group's.
static srResult makePanel(Filling* fill, int32_t group, int32_t* supernode) {
    const srFactor* f = fill->factor;
    int32_t firstColumn = f->columnStarts[group], columns = f->columnStarts[group + 1] - firstColumn;
    int32_t rowCount = SR_SLAB_ROWS * (f->slabStarts[group + 1] - f->slabStarts[group]);
    const int32_t* rows = f->rows + SR_SLAB_ROWS * (int64_t)f->slabStarts[group];
    for (int32_t r = 0; r < rowCount && rows[r] < f->size; r++) {
        fill->places[rows[r]] = r;
    }
    memset(fill->triangle, 0, (size_t)columns * (size_t)columns * sizeof(double));
    memset(fill->panel, 0, (size_t)columns * (size_t)rowCount * sizeof(double));
    for (int32_t c = 0; c < columns; c++) {
        fill->panel[(size_t)c * (size_t)(rowCount + 1)] = 1.0;
    }
    while (*supernode < fill->supernodes->count &&
           fill->supernodes->columnStarts[*supernode] < f->columnStarts[group + 1]) {
        if (!fitsGroup(fill, *supernode, group)) {
            return srFail(sr_errorInvalidValue, "The factor was not made from this analysis.");
        }
        gatherSupernode(fill, (*supernode)++, firstColumn, columns, rowCount);
    }
    srDivideByLower(fill->panel, rowCount, columns, rowCount, fill->triangle, columns);
    return sr_success;
}

// What the slab that starts at row `at` has of each column; above the diagonal stands zero.
static int32_t widthOf(int32_t columns, int32_t at, int32_t slabRows) {
    return at + slabRows < columns ? at + slabRows : columns;
}

static bool packFloats(const double* panel, int32_t rowCount, int32_t columns, float* out) {
    double sum = 0.0;
    for (int32_t at = 0; at < rowCount; at += SR_SLAB_ROWS) {
        for (int32_t c = 0; c < widthOf(columns, at, SR_SLAB_ROWS); c++) {
            for (int32_t r = at; r < at + SR_SLAB_ROWS; r++) {
                double value = r < c ? 0.0 : panel[(size_t)c * (size_t)rowCount + (size_t)r];
                *out = fabs(value) < FLOAT_NOISE ? 0.0f : (float)value;
                sum += fabs((double)*out++);
            }
        }
    }
    return isfinite(sum);
}

static bool packDoubles(const double* panel, int32_t rowCount, int32_t columns, double* out) {
    const int32_t slabRows = SR_SLAB_ROWS / 2;
    double sum = 0.0;
    for (int32_t at = 0; at < rowCount; at += slabRows) {
        for (int32_t c = 0; c < widthOf(columns, at, slabRows); c++) {
            for (int32_t r = at; r < at + slabRows; r++) {
                *out = r < c ? 0.0 : panel[(size_t)c * (size_t)rowCount + (size_t)r];
                sum += fabs(*out++);
            }
        }
    }
    return isfinite(sum);
}

static srResult fillPanels(Filling* fill) {
    srFactor* f = fill->factor;
    int32_t supernode = 0;
    for (int32_t g = 0; g < f->groupCount; g++) {
        SR_TRY(makePanel(fill, g, &supernode));
        int32_t columns = f->columnStarts[g + 1] - f->columnStarts[g];
        int32_t rowCount = SR_SLAB_ROWS * (f->slabStarts[g + 1] - f->slabStarts[g]);
        bool isFinite = true;
        if (f->floatStarts != NULL) {
            isFinite = packFloats(fill->panel, rowCount, columns, (float*)f->floatPanels + f->floatStarts[g]);
        }
        if (f->doubleStarts != NULL) {
            isFinite =
                packDoubles(fill->panel, rowCount, columns, (double*)f->doublePanels + f->doubleStarts[g]) &&
                isFinite;
        }
        if (!isFinite) {
            return srFail(sr_errorInvalidValue, "The factor's values are too large to be stored: column %d.",
                          f->order[f->columnStarts[g]]);
        }
    }
    return sr_success;
}

static srResult fillValues(srFactor* f, const srSupernodes* supernodes) {
    Filling fill = {.supernodes = supernodes, .factor = f};
    srResult result = allocateFilling(&fill);
    if (result == sr_success) {
        fillScales(&fill);
        srMeasureFactor(f);
        result = fillPanels(&fill);
    }
    freeFilling(&fill);
    if (result == sr_success) {
        srSignFactor(f->ownedBytes);
        srRefillNarrow(f);
    }
    return result;
}

static srResult createFilled(const srSupernodes* supernodes, const Groups* groups, int kinds,
                             srFactor* outFactor) {
    srFactorHeader header = {.kinds = kinds};
    countGroups(supernodes, groups, &header);
    void* bytes = header.byteCount == SIZE_MAX ? NULL : srAllocZero((size_t)header.byteCount, 1);
    if (bytes == NULL) {
        return srFailOutOfMemory("the panels of a sparse factor");
    }
    memcpy(bytes, &header, sizeof(header));
    srFactor f;
    srPlaceFactor(&header, bytes, &f);
    f.ownedBytes = bytes;
    fillStructure(supernodes, groups, &f);
    srMeasureFactor(&f);
    srResult result = srCreateFactorTasks(&f);
    if (result == sr_success) {
        result = fillValues(&f, supernodes);
    }
    if (result != sr_success) {
        srDestroyFactor(&f);
        return result;
    }
    *outFactor = f;
    return sr_success;
}

srResult srCreateFactor(const srCholesky* cholesky, int kinds, srFactor* outFactor) {
    if (kinds < 1 || kinds > (sr_factorFloat | sr_factorDouble)) {
        return srFail(sr_errorInvalidValue, "A factor of kind %d is not known.", kinds);
    }
    srSupernodes supernodes;
    SR_TRY(srCholesky_GetSupernodes(cholesky, &supernodes));
    Groups groups = {.firsts = SR_ALLOC(int32_t, supernodes.count + 1)};
    if (groups.firsts == NULL) {
        return srFailOutOfMemory("the panels of a sparse factor");
    }
    joinSupernodes(&supernodes, &groups);
    srResult result = createFilled(&supernodes, &groups, kinds, outFactor);
    SR_FREE(groups.firsts, supernodes.count + 1);
    return result;
}

srResult srFactor_Refill(srFactor* f, const srCholesky* cholesky) {
    srSupernodes supernodes;
    SR_TRY(srCholesky_GetSupernodes(cholesky, &supernodes));
    bool isSame = f->ownedBytes != NULL && supernodes.size == f->size &&
                  memcmp(supernodes.order, f->order, (size_t)f->size * sizeof(int32_t)) == 0;
    if (!isSame) {
        return srFail(sr_errorInvalidValue, "The factor was not made from this analysis.");
    }
    return fillValues(f, &supernodes);
}
