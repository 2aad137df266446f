// SPDX-License-Identifier: GPL-3.0-or-later

#include "corpus/soup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* srCorpusAlloc(void* block, int64_t count, int64_t size) {
    void* grown = realloc(block, (size_t)(count > 0 ? count : 1) * (size_t)size);
    if (grown == NULL) {
        fprintf(stderr, "corpus: no memory\n");
        exit(2);
    }
    return grown;
}

int32_t srSoup_AddPoint(srSoup* soup, double x, double y, double z) {
    if (soup->pointCount == soup->pointCapacity) {
        soup->pointCapacity = 2 * soup->pointCapacity + 64;
        soup->points = srCorpusAlloc(soup->points, soup->pointCapacity, 3 * sizeof(float));
    }
    float* point = soup->points + 3 * (int64_t)soup->pointCount;
    point[0] = (float)x;
    point[1] = (float)y;
    point[2] = (float)z;
    return soup->pointCount++;
}

void srSoup_AddTriangle(srSoup* soup, int32_t a, int32_t b, int32_t c) {
    if (soup->triangleCount == soup->triangleCapacity) {
        soup->triangleCapacity = 2 * soup->triangleCapacity + 64;
        soup->triangles = srCorpusAlloc(soup->triangles, soup->triangleCapacity, 3 * sizeof(int32_t));
    }
    int32_t* corners = soup->triangles + 3 * (int64_t)soup->triangleCount++;
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
}

void srSoup_AddQuad(srSoup* soup, int32_t a, int32_t b, int32_t c, int32_t d) {
    srSoup_AddTriangle(soup, a, b, c);
    srSoup_AddTriangle(soup, a, c, d);
}

void srSoup_Append(srSoup* soup, const srSoup* other) {
    int32_t first = soup->pointCount;
    for (int32_t p = 0; p < other->pointCount; p++) {
        const float* x = other->points + 3 * (int64_t)p;
        srSoup_AddPoint(soup, (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int32_t t = 0; t < other->triangleCount; t++) {
        const int32_t* c = other->triangles + 3 * (int64_t)t;
        srSoup_AddTriangle(soup, first + c[0], first + c[1], first + c[2]);
    }
}

srSoup srCopySoup(const srSoup* soup) {
    srSoup copy = {0};
    srSoup_Append(&copy, soup);
    return copy;
}

void srFreeSoup(srSoup* soup) {
    free(soup->points);
    free(soup->triangles);
    *soup = (srSoup){0};
}

void srSoup_Place(srSoup* soup, const double scale[3], const double offset[3]) {
    for (int64_t i = 0; i < 3 * (int64_t)soup->pointCount; i++) {
        soup->points[i] = (float)(scale[i % 3] * (double)soup->points[i] + offset[i % 3]);
    }
}

void srSoup_GetCorner(const srSoup* soup, int32_t triangle, int c, double out[3]) {
    const float* x = soup->points + 3 * (int64_t)soup->triangles[3 * (int64_t)triangle + c];
    out[0] = (double)x[0];
    out[1] = (double)x[1];
    out[2] = (double)x[2];
}

bool srSoup_GetBounds(const srSoup* soup, double lower[3], double upper[3]) {
    bool hasAny = false;
    for (int i = 0; i < 3; i++) {
        lower[i] = HUGE_VAL;
        upper[i] = -HUGE_VAL;
    }
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            double x[3];
            srSoup_GetCorner(soup, t, c, x);
            if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) {
                continue;
            }
            hasAny = true;
            for (int i = 0; i < 3; i++) {
                lower[i] = fmin(lower[i], x[i]);
                upper[i] = fmax(upper[i], x[i]);
            }
        }
    }
    return hasAny;
}

double srSoup_GetSize(const srSoup* soup) {
    double lower[3], upper[3];
    if (!srSoup_GetBounds(soup, lower, upper)) {
        return 0.0;
    }
    double x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    return sqrt(x * x + y * y + z * z);
}

static int compareKeys(const void* a, const void* b) {
    int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

bool srSoup_IsClosed(const srSoup* soup) {
    int64_t count = 3 * (int64_t)soup->triangleCount;
    int64_t* along = srCorpusAlloc(NULL, count, sizeof(int64_t));
    int64_t* against = srCorpusAlloc(NULL, count, sizeof(int64_t));
    for (int64_t i = 0; i < count; i++) {
        int64_t a = soup->triangles[i], b = soup->triangles[i % 3 == 2 ? i - 2 : i + 1];
        along[i] = a << 32 | b;
        against[i] = b << 32 | a;
    }
    qsort(along, (size_t)count, sizeof(int64_t), compareKeys);
    qsort(against, (size_t)count, sizeof(int64_t), compareKeys);
    bool isClosed = count > 0 && memcmp(along, against, (size_t)count * sizeof(int64_t)) == 0;
    for (int64_t i = 1; i < count; i++) {
        isClosed = isClosed && along[i] != along[i - 1];
    }
    free(along);
    free(against);
    return isClosed;
}

// ---- welding ---------------------------------------------------------------------------------------------

typedef struct srPlaced {
    float x[3];
    int32_t index;
} srPlaced;

static int comparePlaces(const void* a, const void* b) {
    const srPlaced *p = a, *q = b;
    for (int i = 0; i < 3; i++) {
        if (p->x[i] != q->x[i]) {
            return p->x[i] < q->x[i] ? -1 : 1;
        }
    }
    return (p->index > q->index) - (p->index < q->index);
}

// For each point the first one at the same place; -1 where it is not finite.
static int32_t* findFirsts(const srSoup* soup) {
    int32_t* firsts = srCorpusAlloc(NULL, soup->pointCount, sizeof(int32_t));
    srPlaced* placed = srCorpusAlloc(NULL, soup->pointCount, sizeof(srPlaced));
    int32_t count = 0;
    for (int32_t p = 0; p < soup->pointCount; p++) {
        const float* x = soup->points + 3 * (int64_t)p;
        firsts[p] = -1;
        if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])) {
            placed[count++] = (srPlaced){{x[0], x[1], x[2]}, p};
        }
    }
    qsort(placed, (size_t)count, sizeof(srPlaced), comparePlaces);
    for (int32_t i = 0; i < count; i++) {
        bool isSame = i > 0 && memcmp(placed[i].x, placed[i - 1].x, sizeof(placed[i].x)) == 0;
        firsts[placed[i].index] = isSame ? firsts[placed[i - 1].index] : placed[i].index;
    }
    free(placed);
    return firsts;
}

static bool hasArea(const srSoup* soup, int32_t triangle) {
    double a[3], b[3], c[3], u[3], v[3];
    srSoup_GetCorner(soup, triangle, 0, a);
    srSoup_GetCorner(soup, triangle, 1, b);
    srSoup_GetCorner(soup, triangle, 2, c);
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
    }
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return x * x + y * y + z * z > 0.0;
}

// A triangle by its corners in ascending order.
typedef struct srSorted {
    int32_t corners[3];
    int32_t index;
} srSorted;

static int compareSorted(const void* a, const void* b) {
    const srSorted *p = a, *q = b;
    for (int i = 0; i < 3; i++) {
        if (p->corners[i] != q->corners[i]) {
            return p->corners[i] < q->corners[i] ? -1 : 1;
        }
    }
    return (p->index > q->index) - (p->index < q->index);
}

static srSorted sortCorners(const int32_t* firsts, const int32_t corners[3], int32_t index) {
    int32_t c[3] = {firsts[corners[0]], firsts[corners[1]], firsts[corners[2]]};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++) {
            if (c[i] > c[i + 1]) {
                int32_t swapped = c[i];
                c[i] = c[i + 1];
                c[i + 1] = swapped;
            }
        }
    }
    return (srSorted){{c[0], c[1], c[2]}, index};
}

srSoup srWeldSoup(const srSoup* soup) {
    int32_t* firsts = findFirsts(soup);
    srSorted* sorted = srCorpusAlloc(NULL, soup->triangleCount, sizeof(srSorted));
    int32_t count = 0;
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        srSorted s = sortCorners(firsts, soup->triangles + 3 * (int64_t)t, t);
        bool isWhole = s.corners[0] >= 0 && s.corners[0] < s.corners[1] && s.corners[1] < s.corners[2];
        if (isWhole && hasArea(soup, t)) {
            sorted[count++] = s;
        }
    }
    qsort(sorted, (size_t)count, sizeof(srSorted), compareSorted);
    srSoup welded = {0};
    for (int32_t p = 0; p < soup->pointCount; p++) {
        const float* x = soup->points + 3 * (int64_t)p;
        srSoup_AddPoint(&welded, (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int32_t i = 0; i < count; i++) {
        if (i == 0 || memcmp(sorted[i].corners, sorted[i - 1].corners, sizeof(sorted[i].corners)) != 0) {
            const int32_t* c = soup->triangles + 3 * (int64_t)sorted[i].index;
            srSoup_AddTriangle(&welded, firsts[c[0]], firsts[c[1]], firsts[c[2]]);
        }
    }
    free(sorted);
    free(firsts);
    return welded;
}

double srSoupRandom(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}
