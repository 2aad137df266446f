// SPDX-License-Identifier: GPL-3.0-or-later

#include "corpus/measure.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void sub(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] - b[i];
    }
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// ---- exact sign of a volume ------------------------------------------------------------------------------

// A sum of doubles kept without rounding: parts do not overlap and ascend (Shewchuk 1997, grow-expansion).
typedef struct srExactSum {
    double parts[64];
    int count;
} srExactSum;

static void addExactly(srExactSum* sum, double value) {
    int kept = 0;
    for (int i = 0; i < sum->count; i++) {
        double part = sum->parts[i], total = value + part;
        double virtual = total - value, rest = (value - (total - virtual)) + (part - virtual);
        if (rest != 0.0) {
            sum->parts[kept++] = rest;
        }
        value = total;
    }
    if (value != 0.0) {
        sum->parts[kept++] = value;
    }
    sum->count = kept;
}

// + or - a b c: the product of two floats is exact in double; that with the third is a double and a rest.
static void addProduct(srExactSum* sum, double sign, float a, float b, float c) {
    double ab = sign * (double)a * (double)b, abc = ab * (double)c;
    addExactly(sum, fma(ab, (double)c, -abc));
    addExactly(sum, abc);
}

static void addDeterminant(srExactSum* sum, double sign, const float a[3], const float b[3],
                           const float c[3]) {
    for (int i = 0; i < 3; i++) {
        addProduct(sum, sign, a[i], b[(i + 1) % 3], c[(i + 2) % 3]);
        addProduct(sum, -sign, a[i], b[(i + 2) % 3], c[(i + 1) % 3]);
    }
}

int srSignOfVolume(const float a[3], const float b[3], const float c[3], const float d[3]) {
    // (b - a) . (c - a) x (d - a) = |b c d| - |a c d| + |a b d| - |a b c|
    srExactSum sum = {.count = 0};
    addDeterminant(&sum, 1.0, b, c, d);
    addDeterminant(&sum, -1.0, a, c, d);
    addDeterminant(&sum, 1.0, a, b, d);
    addDeterminant(&sum, -1.0, a, b, c);
    double largest = sum.count > 0 ? sum.parts[sum.count - 1] : 0.0;
    return (largest > 0.0) - (largest < 0.0);
}

// ---- all triangles ---------------------------------------------------------------------------------------

srScan srCreateScan(const srSoup* soup) {
    srScan scan = {.soup = soup, .isClosed = srSoup_IsClosed(soup), .size = srSoup_GetSize(soup)};
    scan.spheres = srCorpusAlloc(NULL, soup->triangleCount, sizeof(scan.spheres[0]));
    scan.triangles = srCorpusAlloc(NULL, soup->triangleCount, sizeof(int32_t));
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        double corners[3][3], *sphere = scan.spheres[scan.count], radius2 = 0.0;
        for (int c = 0; c < 3; c++) {
            srSoup_GetCorner(soup, t, c, corners[c]);
        }
        for (int i = 0; i < 3; i++) {
            sphere[i] = (corners[0][i] + corners[1][i] + corners[2][i]) / 3.0;
        }
        for (int c = 0; c < 3; c++) {
            double arm[3];
            sub(corners[c], sphere, arm);
            radius2 = fmax(radius2, dot(arm, arm));
        }
        sphere[3] = sqrt(radius2);
        if (isfinite(sphere[0]) && isfinite(sphere[1]) && isfinite(sphere[2])) {
            scan.triangles[scan.count++] = t;
        }
    }
    return scan;
}

void srDestroyScan(srScan* scan) {
    free(scan->spheres);
    free(scan->triangles);
    *scan = (srScan){0};
}

static void nearestOnSegment(const double x[3], const double a[3], const double b[3], double out[3]) {
    double ab[3], ax[3];
    sub(b, a, ab);
    sub(x, a, ax);
    double length2 = dot(ab, ab), t = length2 > 0.0 ? fmin(fmax(dot(ax, ab) / length2, 0.0), 1.0) : 0.0;
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] + t * ab[i];
    }
}

static double squareBetween(const double a[3], const double b[3]) {
    double d[3];
    sub(a, b, d);
    return dot(d, d);
}

// The nearest point of a triangle: on its plane if that falls inside all three edges, else on one of them.
static double nearestOnTriangle(const double x[3], const double corners[3][3], double out[3]) {
    double u[3], v[3], n[3], best = HUGE_VAL;
    sub(corners[1], corners[0], u);
    sub(corners[2], corners[0], v);
    cross(u, v, n);
    double area2 = dot(n, n);
    bool isAbove = area2 > 0.0;
    for (int c = 0; c < 3 && isAbove; c++) {
        double edge[3], arm[3], side[3];
        sub(corners[(c + 1) % 3], corners[c], edge);
        sub(x, corners[c], arm);
        cross(edge, arm, side);
        isAbove = dot(side, n) >= 0.0;
    }
    if (isAbove) {
        double arm[3];
        sub(x, corners[0], arm);
        double height = dot(arm, n) / area2;
        for (int i = 0; i < 3; i++) {
            out[i] = x[i] - height * n[i];
        }
        return squareBetween(x, out);
    }
    for (int c = 0; c < 3; c++) {
        double point[3];
        nearestOnSegment(x, corners[c], corners[(c + 1) % 3], point);
        double square = squareBetween(x, point);
        if (square < best) {
            best = square;
            out[0] = point[0];
            out[1] = point[1];
            out[2] = point[2];
        }
    }
    return best;
}

double srScan_Distance(const srScan* scan, const double x[3], int32_t* outTriangle, double outNearest[3]) {
    double best = HUGE_VAL, bestSquare = HUGE_VAL;
    for (int32_t i = 0; i < scan->count; i++) {
        const double* sphere = scan->spheres[i];
        double reach = best + sphere[3];
        if (squareBetween(x, sphere) > reach * reach) {
            continue;
        }
        double corners[3][3], nearest[3];
        for (int c = 0; c < 3; c++) {
            srSoup_GetCorner(scan->soup, scan->triangles[i], c, corners[c]);
        }
        double square = nearestOnTriangle(x, (const double (*)[3])corners, nearest);
        if (square < bestSquare) {
            bestSquare = square;
            best = sqrt(square);
            if (outTriangle != NULL) {
                *outTriangle = scan->triangles[i];
            }
            for (int k = 0; k < 3 && outNearest != NULL; k++) {
                outNearest[k] = nearest[k];
            }
        }
    }
    return best;
}

double srScan_Winding(const srScan* scan, const double x[3]) {
    double sum = 0.0;
    for (int32_t i = 0; i < scan->count; i++) {
        double a[3], b[3], c[3], n[3];
        srSoup_GetCorner(scan->soup, scan->triangles[i], 0, a);
        srSoup_GetCorner(scan->soup, scan->triangles[i], 1, b);
        srSoup_GetCorner(scan->soup, scan->triangles[i], 2, c);
        sub(a, x, a);
        sub(b, x, b);
        sub(c, x, c);
        double la = sqrt(dot(a, a)), lb = sqrt(dot(b, b)), lc = sqrt(dot(c, c));
        cross(b, c, n);
        sum += atan2(dot(a, n), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
    }
    return sum / (2.0 * PI);
}

// ---- rays ------------------------------------------------------------------------------------------------

typedef struct srCrossing {
    double z;
    int sign;
} srCrossing;

static double turn(const double a[3], const double b[3], double x, double y) {
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

// Where a ray along z at x, y crosses a triangle. The jitter keeps rays off edges.
static bool crossTriangle(const srSoup* soup, int32_t triangle, double x, double y, srCrossing* out) {
    double a[3], b[3], c[3];
    srSoup_GetCorner(soup, triangle, 0, a);
    srSoup_GetCorner(soup, triangle, 1, b);
    srSoup_GetCorner(soup, triangle, 2, c);
    double u = turn(b, c, x, y), v = turn(c, a, x, y), w = turn(a, b, x, y), sum = u + v + w;
    bool isInside = (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0);
    if (!isInside || sum == 0.0) {
        return false;
    }
    *out = (srCrossing){(u * a[2] + v * b[2] + w * c[2]) / sum, sum > 0.0 ? 1 : -1};
    return true;
}

static bool isNearRay(const double sphere[4], double x, double y) {
    double dx = sphere[0] - x, dy = sphere[1] - y;
    return dx * dx + dy * dy <= sphere[3] * sphere[3] * 1.000001;
}

// How often a closed surface winds around a point is what a ray from there upwards crosses, by sign. The ray
// stands a hair beside the point, where no edge of a regular mesh is.
static int countCrossings(const srScan* scan, const double point[3]) {
    const double x[3] = {point[0] + 1.37e-9 * scan->size, point[1] + 0.71e-9 * scan->size, point[2]};
    int sum = 0;
    for (int32_t i = 0; i < scan->count; i++) {
        const double* sphere = scan->spheres[i];
        srCrossing crossing;
        if (sphere[2] + sphere[3] > x[2] && isNearRay(sphere, x[0], x[1]) &&
            crossTriangle(scan->soup, scan->triangles[i], x[0], x[1], &crossing) && crossing.z > x[2]) {
            sum += crossing.sign;
        }
    }
    return sum;
}

bool srScan_IsInside(const srScan* scan, const double x[3]) {
    return scan->isClosed ? countCrossings(scan, x) != 0 : fabs(srScan_Winding(scan, x)) > 0.5;
}

enum {
    coverRays = 200
};

// After Moeller and Trumbore (1997); the way need not be a unit.
static bool isHitBy(const srScan* scan, int32_t triangle, const double x[3], const double way[3]) {
    double a[3], b[3], c[3], p[3], q[3];
    srSoup_GetCorner(scan->soup, triangle, 0, a);
    srSoup_GetCorner(scan->soup, triangle, 1, b);
    srSoup_GetCorner(scan->soup, triangle, 2, c);
    sub(b, a, b);
    sub(c, a, c);
    sub(x, a, a);
    cross(way, c, p);
    cross(a, b, q);
    double volume = dot(b, p), u = dot(a, p), v = dot(way, q), t = dot(c, q);
    if (volume < 0.0) {
        volume = -volume, u = -u, v = -v, t = -t;
    }
    return volume > 0.0 && u >= 0.0 && v >= 0.0 && u + v <= volume && t > 0.0;
}

// Evenly spread: equal steps in height, golden ones around the axis.
double srScan_Cover(const srScan* scan, const double x[3]) {
    int hits = 0;
    for (int ray = 0; ray < coverRays; ray++) {
        double height = (2.0 * ray + 1.0) / coverRays - 1.0, turn = 2.399963229728653 * ray;
        double radius = sqrt(1.0 - height * height);
        const double way[3] = {radius * cos(turn), radius * sin(turn), height};
        bool isHit = false;
        for (int32_t t = 0; t < scan->count && !isHit; t++) {
            isHit = isHitBy(scan, scan->triangles[t], x, way);
        }
        hits += isHit;
    }
    return hits / (double)coverRays;
}

// ---- volumes ---------------------------------------------------------------------------------------------

enum {
    replicas = 8,
    raySide = 28,
    pointSide = 9
};

// The mean of replicas, and how far off it may be.
static srEstimate judge(const double values[replicas], double unit) {
    double mean = 0.0, square = 0.0;
    for (int r = 0; r < replicas; r++) {
        mean += values[r] / replicas;
    }
    for (int r = 0; r < replicas; r++) {
        square += (values[r] - mean) * (values[r] - mean);
    }
    return (srEstimate){unit * mean, unit * sqrt(square / (replicas * (replicas - 1.0)))};
}

static int compareCrossings(const void* a, const void* b) {
    const srCrossing *p = a, *q = b;
    return (p->z > q->z) - (p->z < q->z);
}

// How much of the ray is inside: between crossings of a sum that is not zero.
static double measureRay(const srScan* scan, double x, double y, srCrossing* crossings) {
    int32_t count = 0;
    for (int32_t i = 0; i < scan->count; i++) {
        if (isNearRay(scan->spheres[i], x, y)) {
            count += crossTriangle(scan->soup, scan->triangles[i], x, y, &crossings[count]);
        }
    }
    qsort(crossings, (size_t)count, sizeof(srCrossing), compareCrossings);
    double inside = 0.0;
    int winding = 0;
    for (int32_t i = 0; i < count; i++) {
        if (winding != 0) {
            inside += crossings[i].z - crossings[i - 1].z;
        }
        winding += crossings[i].sign;
    }
    return inside;
}

srEstimate srEstimateClosedVolume(const srSoup* soup, uint64_t seed) {
    double lower[3], upper[3], values[replicas] = {0};
    if (!srSoup_GetBounds(soup, lower, upper)) {
        return (srEstimate){0.0, 0.0};
    }
    srScan scan = srCreateScan(soup);
    srCrossing* crossings = srCorpusAlloc(NULL, scan.count, sizeof(srCrossing));
    uint64_t random = seed | 1;
    for (int r = 0; r < replicas; r++) {
        for (int i = 0; i < raySide * raySide; i++) {
            double u = (i % raySide + srSoupRandom(&random)) / raySide;
            double v = (i / raySide + srSoupRandom(&random)) / raySide;
            values[r] += measureRay(&scan, lower[0] + u * (upper[0] - lower[0]),
                                    lower[1] + v * (upper[1] - lower[1]), crossings);
        }
    }
    free(crossings);
    srDestroyScan(&scan);
    return judge(values, (upper[0] - lower[0]) * (upper[1] - lower[1]) / (raySide * raySide));
}

// A point in the n-th cell of a grid over the box.
static void jitter(int n, const double lower[3], const double upper[3], uint64_t* random, double out[3]) {
    const int at[3] = {n % pointSide, n / pointSide % pointSide, n / (pointSide * pointSide)};
    for (int i = 0; i < 3; i++) {
        out[i] = lower[i] + (at[i] + srSoupRandom(random)) / pointSide * (upper[i] - lower[i]);
    }
}

srEstimate srEstimateOpenVolume(const srScan* scan, uint64_t seed) {
    double lower[3], upper[3], values[replicas] = {0};
    const int count = pointSide * pointSide * pointSide;
    if (!srSoup_GetBounds(scan->soup, lower, upper)) {
        return (srEstimate){0.0, 0.0};
    }
    uint64_t random = seed | 1;
    for (int r = 0; r < replicas; r++) {
        for (int i = 0; i < count; i++) {
            double x[3];
            jitter(i, lower, upper, &random, x);
            values[r] += srScan_IsInside(scan, x);
        }
    }
    return judge(values, (upper[0] - lower[0]) * (upper[1] - lower[1]) * (upper[2] - lower[2]) / count);
}

// How far it is through the flesh behind the skin nearest to x, which is outside, going on the way one came:
// none behind a sheet. Rounded down to a quarter of `most`; `most` where there is more.
static double measureWall(const srScan* scan, const double x[3], const double nearest[3], double most) {
    double way[3];
    sub(nearest, x, way);
    double length = sqrt(dot(way, way));
    for (int step = 0; step < 4 && length > 0.0; step++) {
        double probe[3];
        for (int k = 0; k < 3; k++) {
            probe[k] = nearest[k] + (step + 0.5) * 0.25 * most / length * way[k];
        }
        if (!srScan_IsInside(scan, probe)) {
            return 0.25 * step * most;
        }
    }
    return most;
}

// What a wall lacks to be `thickness` strong is added on both its sides.
static bool isInAddedThickness(const srScan* scan, const double x[3], double thickness) {
    double nearest[3], distance = srScan_Distance(scan, x, NULL, nearest);
    return distance < 0.5 * thickness && !srScan_IsInside(scan, x) &&
           distance < 0.5 * (thickness - measureWall(scan, x, nearest, thickness));
}

srEstimate srEstimateThinVolume(const srScan* scan, double thickness, uint64_t seed) {
    double lower[3], upper[3], values[replicas] = {0};
    const int count = pointSide * pointSide * pointSide;
    if (!srSoup_GetBounds(scan->soup, lower, upper)) {
        return (srEstimate){0.0, 0.0};
    }
    uint64_t random = seed | 1;
    for (int i = 0; i < 3; i++) {
        lower[i] -= 0.5 * thickness;
        upper[i] += 0.5 * thickness;
    }
    for (int r = 0; r < replicas; r++) {
        for (int i = 0; i < count; i++) {
            double x[3];
            jitter(i, lower, upper, &random, x);
            values[r] += isInAddedThickness(scan, x, thickness);
        }
    }
    return judge(values, (upper[0] - lower[0]) * (upper[1] - lower[1]) * (upper[2] - lower[2]) / count);
}

double* srSumAreas(const srScan* scan) {
    double* areas = srCorpusAlloc(NULL, scan->count, sizeof(double));
    double sum = 0.0;
    for (int32_t i = 0; i < scan->count; i++) {
        double a[3], u[3], v[3], n[3];
        srSoup_GetCorner(scan->soup, scan->triangles[i], 0, a);
        srSoup_GetCorner(scan->soup, scan->triangles[i], 1, u);
        srSoup_GetCorner(scan->soup, scan->triangles[i], 2, v);
        sub(u, a, u);
        sub(v, a, v);
        cross(u, v, n);
        areas[i] = sum += sqrt(dot(n, n));
    }
    return areas;
}

int32_t srPickPoint(const srScan* scan, const double* areas, uint64_t* random, double out[3]) {
    double wanted = areas[scan->count - 1] * srSoupRandom(random);
    int32_t low = 0, high = scan->count - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        low = areas[middle] < wanted ? middle + 1 : low;
        high = areas[middle] < wanted ? high : middle;
    }
    double u = srSoupRandom(random), v = srSoupRandom(random), a[3], b[3], c[3];
    srSoup_GetCorner(scan->soup, scan->triangles[low], 0, a);
    srSoup_GetCorner(scan->soup, scan->triangles[low], 1, b);
    srSoup_GetCorner(scan->soup, scan->triangles[low], 2, c);
    bool isBeyond = u + v > 1.0;
    u = isBeyond ? 1.0 - u : u;
    v = isBeyond ? 1.0 - v : v;
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] + u * (b[i] - a[i]) + v * (c[i] - a[i]);
    }
    return scan->triangles[low];
}
