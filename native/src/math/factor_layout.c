// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bytes to factor: nothing in them is believed before it is checked, so that a solve on damaged bytes, even
// rightly signed ones, reads and writes within bounds.

#include "math/factor_layout.h"

#include "core/alloc.h"
#include "math/factor_tasks.h"

#include <math.h>
#include <string.h>

#define BYTE_ORDER_MARK 0x01020304u

enum {
    checksumStreams = 4
};

static const char magic[8] = {'S', 'R', 'F', 'A', 'C', 'T', 'O', 'R'};

_Static_assert(sizeof(srFactorHeader) == 64, "the header is part of the stored format");

int64_t srCountPanel(int32_t columnCount, int32_t rowCount, int32_t slabRows) {
    int64_t entries = 0;
    int32_t at = 0;
    for (; at < rowCount && at + slabRows < columnCount; at += slabRows) {
        entries += (int64_t)slabRows * (at + slabRows);
    }
    return entries + (int64_t)(rowCount - at) * columnCount;
}

// Where arrays start; `arrays[i]` of `count` elements of `elementSize` bytes each.
typedef struct Place {
    size_t at;
    bool isTooLarge;
} Place;

static size_t take(Place* place, int64_t count, size_t elementSize) {
    size_t at = place->at, size;
    if (count < 0 || !srMultiplySizes((size_t)count, elementSize, &size) ||
        size > SIZE_MAX / 2 - at - SR_FACTOR_ALIGNMENT) {
        place->isTooLarge = true;
        return 0;
    }
    place->at = (at + size + SR_FACTOR_ALIGNMENT - 1) / SR_FACTOR_ALIGNMENT * SR_FACTOR_ALIGNMENT;
    return at;
}

typedef struct Offsets {
    size_t columnStarts, slabStarts, rows, order, scales, floatStarts, doubleStarts, floatPanels,
        doublePanels;
    size_t end;
} Offsets;

static Offsets offsetsOf(const srFactorHeader* header) {
    Place place = {.at = sizeof(srFactorHeader)};
    bool hasFloat = (header->kinds & sr_factorFloat) != 0, hasDouble = (header->kinds & sr_factorDouble) != 0;
    int64_t groups = (int64_t)header->groupCount + 1;
    Offsets at;
    at.columnStarts = take(&place, groups, sizeof(int32_t));
    at.slabStarts = take(&place, groups, sizeof(int32_t));
    at.rows = take(&place, SR_SLAB_ROWS * (int64_t)header->slabCount, sizeof(int32_t));
    at.order = take(&place, header->size, sizeof(int32_t));
    at.scales = take(&place, header->size, sizeof(double));
    at.floatStarts = take(&place, hasFloat ? groups : 0, sizeof(int64_t));
    at.doubleStarts = take(&place, hasDouble ? groups : 0, sizeof(int64_t));
    at.floatPanels = take(&place, header->floatCount, sizeof(float));
    at.doublePanels = take(&place, header->doubleCount, sizeof(double));
    at.end = place.isTooLarge ? SIZE_MAX : place.at;
    return at;
}

size_t srFactorHeader_GetByteCount(const srFactorHeader* header) {
    return offsetsOf(header).end;
}

void srPlaceFactor(const srFactorHeader* header, const void* bytes, srFactor* outFactor) {
    Offsets at = offsetsOf(header);
    const char* base = bytes;
    bool hasFloat = (header->kinds & sr_factorFloat) != 0, hasDouble = (header->kinds & sr_factorDouble) != 0;
    *outFactor = (srFactor){
        .size = header->size,
        .groupCount = header->groupCount,
        .slabCount = header->slabCount,
        .kinds = header->kinds,
        .columnStarts = (const int32_t*)(base + at.columnStarts),
        .slabStarts = (const int32_t*)(base + at.slabStarts),
        .rows = (const int32_t*)(base + at.rows),
        .order = (const int32_t*)(base + at.order),
        .scales = (const double*)(base + at.scales),
        .floatStarts = hasFloat ? (const int64_t*)(base + at.floatStarts) : NULL,
        .doubleStarts = hasDouble ? (const int64_t*)(base + at.doubleStarts) : NULL,
        .floatPanels = hasFloat ? (const float*)(base + at.floatPanels) : NULL,
        .doublePanels = hasDouble ? (const double*)(base + at.doublePanels) : NULL,
        .bytes = bytes,
        .byteCount = at.end,
    };
}

void srStartFactorHeader(srFactorHeader* header) {
    memcpy(header->magic, magic, sizeof(magic));
    header->version = SR_FACTOR_VERSION;
    header->byteOrder = BYTE_ORDER_MARK;
    header->byteCount = srFactorHeader_GetByteCount(header);
}

// Four interleaved streams of FNV-1a over 64-bit words: a single changed word always shows, and a factor of
// 10 MB takes about a millisecond. All arrays are padded to 64 bytes, so words are whole.
static uint64_t checksumOf(const void* bytes, size_t byteCount) {
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t streams[checksumStreams] = {1, 2, 3, 4};
    srFactorHeader header;
    memcpy(&header, bytes, sizeof(header));
    header.checksum = 0;
    const char* at = (const char*)&header;
    for (size_t offset = 0; offset < byteCount; offset += checksumStreams * sizeof(uint64_t)) {
        if (offset == sizeof(header)) {
            at = bytes;
        }
        uint64_t words[checksumStreams];
        memcpy(words, at + offset, sizeof(words));
        for (int s = 0; s < checksumStreams; s++) {
            streams[s] = (streams[s] ^ words[s]) * prime;
            streams[s] ^= streams[s] >> 29; // high bits come down too
        }
    }
    uint64_t sum = 0;
    for (int s = 0; s < checksumStreams; s++) {
        sum = (sum ^ streams[s]) * prime;
    }
    return sum;
}

void srSignFactor(void* bytes) {
    srFactorHeader header;
    memcpy(&header, bytes, sizeof(header));
    header.checksum = checksumOf(bytes, (size_t)header.byteCount);
    memcpy(bytes, &header, sizeof(header));
}

static srResult checkHeader(const srFactorHeader* h, const void* bytes, size_t byteCount) {
    if (memcmp(h->magic, magic, sizeof(magic)) != 0) {
        return srFail(sr_errorInvalidValue, "These bytes are not a stored factor.");
    }
    if (h->byteOrder != BYTE_ORDER_MARK) {
        return srFail(sr_errorInvalidValue, "The stored factor has another byte order than this machine.");
    }
    if (h->version != SR_FACTOR_VERSION) {
        return srFail(sr_errorInvalidValue, "The stored factor is of version %u; this library reads %u.",
                      h->version, (unsigned)SR_FACTOR_VERSION);
    }
    if (h->byteCount > byteCount) {
        return srFail(sr_errorInvalidValue, "The stored factor is cut short: %zu of %llu bytes.", byteCount,
                      (unsigned long long)h->byteCount);
    }
    bool isSound = h->size >= 1 && h->groupCount >= 1 && h->groupCount <= h->size && h->slabCount >= 1 &&
                   h->slabCount <= INT32_MAX / SR_SLAB_ROWS && h->kinds >= 1 &&
                   h->kinds <= (sr_factorFloat | sr_factorDouble) && h->floatCount >= 0 &&
                   h->doubleCount >= 0 && srFactorHeader_GetByteCount(h) == h->byteCount;
    if (!isSound || checksumOf(bytes, (size_t)h->byteCount) != h->checksum) {
        return srFail(sr_errorInvalidValue, "The stored factor is damaged (its %s).",
                      isSound ? "checksum" : "counts");
    }
    return sr_success;
}

static srResult failDamaged(const char* what, int32_t group) {
    return srFail(sr_errorInvalidValue, "The stored factor is damaged (%s, group %d).", what, group);
}

// Rows of a group: its columns, then ascending rows below, then less than a slab of padding.
static bool areRowsSound(const srFactor* f, int32_t group) {
    int32_t first = f->columnStarts[group], columns = f->columnStarts[group + 1] - first;
    int64_t begin = SR_SLAB_ROWS * (int64_t)f->slabStarts[group];
    int64_t count = SR_SLAB_ROWS * (int64_t)f->slabStarts[group + 1] - begin;
    int32_t last = first - 1, padding = 0;
    if (count < columns) {
        return false;
    }
    for (int64_t r = 0; r < count; r++) {
        int32_t row = f->rows[begin + r];
        bool isPadding = row == f->size && r >= columns;
        bool isNext = r < columns ? row == first + r : row > last && row < f->size;
        if (!isNext && !isPadding) {
            return false;
        }
        padding += isPadding;
        last = row;
    }
    return padding < SR_SLAB_ROWS;
}

static srResult checkGroups(const srFactor* f, const srFactorHeader* header) {
    int64_t floatCount = 0, doubleCount = 0;
    if (f->columnStarts[0] != 0 || f->slabStarts[0] != 0) {
        return failDamaged("its first column", 0);
    }
    for (int32_t g = 0; g < f->groupCount; g++) {
        if (f->columnStarts[g + 1] <= f->columnStarts[g] || f->columnStarts[g + 1] > f->size ||
            f->slabStarts[g + 1] <= f->slabStarts[g] || f->slabStarts[g + 1] > f->slabCount) {
            return failDamaged("its columns", g);
        }
        if (!areRowsSound(f, g)) {
            return failDamaged("its rows", g);
        }
        if ((f->floatStarts != NULL && f->floatStarts[g] != floatCount) ||
            (f->doubleStarts != NULL && f->doubleStarts[g] != doubleCount)) {
            return failDamaged("its panels", g);
        }
        int32_t columns = f->columnStarts[g + 1] - f->columnStarts[g];
        int32_t rows = SR_SLAB_ROWS * (f->slabStarts[g + 1] - f->slabStarts[g]);
        floatCount += srCountPanel(columns, rows, SR_SLAB_ROWS);
        doubleCount += srCountPanel(columns, rows, SR_SLAB_ROWS / 2);
    }
    bool isWhole = f->columnStarts[f->groupCount] == f->size &&
                   f->slabStarts[f->groupCount] == f->slabCount &&
                   header->floatCount == (f->floatStarts != NULL ? floatCount : 0) &&
                   header->doubleCount == (f->doubleStarts != NULL ? doubleCount : 0) &&
                   (f->floatStarts == NULL || f->floatStarts[f->groupCount] == floatCount) &&
                   (f->doubleStarts == NULL || f->doubleStarts[f->groupCount] == doubleCount);
    return isWhole ? sr_success : failDamaged("its sums", f->groupCount);
}

static srResult checkOrderAndScales(const srFactor* f) {
    uint8_t* isSeen = SR_ALLOC_ZERO(uint8_t, f->size);
    if (isSeen == NULL) {
        return srFailOutOfMemory("a stored factor");
    }
    srResult result = sr_success;
    for (int32_t k = 0; k < f->size && result == sr_success; k++) {
        int32_t row = f->order[k];
        int exponent;
        bool isPower = isfinite(f->scales[k]) && frexp(f->scales[k], &exponent) == 0.5;
        bool isSound = row >= 0 && row < f->size && !isSeen[row] && isPower;
        if (!isSound) {
            result =
                srFail(sr_errorInvalidValue, "The stored factor is damaged (its order or scale, row %d).", k);
        } else {
            isSeen[row] = 1;
        }
    }
    SR_FREE(isSeen, f->size);
    return result;
}

void srMeasureFactor(srFactor* f) {
    f->mostColumns = 0;
    f->mostSlabs = 0;
    for (int32_t g = 0; g < f->groupCount; g++) {
        int32_t columns = f->columnStarts[g + 1] - f->columnStarts[g];
        int32_t slabs = f->slabStarts[g + 1] - f->slabStarts[g];
        f->mostColumns = columns > f->mostColumns ? columns : f->mostColumns;
        f->mostSlabs = slabs > f->mostSlabs ? slabs : f->mostSlabs;
    }
    f->areScalesOrdinary = true;
    for (int32_t k = 0; k < f->size; k++) {
        f->areScalesOrdinary = f->areScalesOrdinary && f->scales[k] >= 0x1p-60 && f->scales[k] <= 0x1p60;
    }
}

srResult srOpenFactor(const void* bytes, size_t byteCount, srFactor* outFactor) {
    srFactorHeader header;
    if (byteCount < sizeof(header)) {
        return srFail(sr_errorInvalidValue, "The stored factor is cut short: %zu bytes.", byteCount);
    }
    memcpy(&header, bytes, sizeof(header));
    SR_TRY(checkHeader(&header, bytes, byteCount));
    void* copy = NULL;
    if ((uintptr_t)bytes % SR_FACTOR_ALIGNMENT != 0) {
        copy = srAlloc((size_t)header.byteCount, 1);
        if (copy == NULL) {
            return srFailOutOfMemory("a stored factor");
        }
        memcpy(copy, bytes, (size_t)header.byteCount);
    }
    srFactor f;
    srPlaceFactor(&header, copy != NULL ? copy : bytes, &f);
    f.ownedBytes = copy;
    srResult result = checkGroups(&f, &header);
    if (result == sr_success) {
        result = checkOrderAndScales(&f);
    }
    if (result == sr_success) {
        result = srCreateFactorTasks(&f);
    }
    if (result != sr_success) {
        srDestroyFactor(&f);
        return result;
    }
    srMeasureFactor(&f);
    *outFactor = f;
    return sr_success;
}

void srDestroyFactor(srFactor* f) {
    srFactor_Widen(f);
    srDestroyFactorTasks(f);
    srFree(f->ownedBytes, f->byteCount, 1);
    *f = (srFactor){0};
}
