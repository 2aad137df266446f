// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of one path: include it with SR_TABLE, the name of the table to make, defined.

#include "math/simd_rows.h"
#include "mesh/blend_kernels.h"

SR_KERNEL srRowFloat splatRow(float x) {
    return (srRowFloat){x, x, x, x};
}

// value = u_c - G x_c, slopes = the columns of G
SR_KERNEL void fillMap(const srBlend* blend, const float* rows, float* map, int32_t m) {
    srRowFloat value = srLoadRowFloat(rows + SR_ROW * (int64_t)blend->mapNodes[m]);
    srRowFloat gx = {0}, gy = {0}, gz = {0};
    for (int32_t e = blend->slopeStarts[m]; e < blend->slopeStarts[m + 1]; e++) {
        const srSlope* slope = &blend->slopes[e];
        srRowFloat change = srLoadRowFloat(rows + SR_ROW * (int64_t)slope->node) - value;
        gx += splatRow(slope->gradient[0]) * change;
        gy += splatRow(slope->gradient[1]) * change;
        gz += splatRow(slope->gradient[2]) * change;
    }
    const float* place = blend->mapPlaces[m];
    value -= (splatRow(place[0]) * gx + splatRow(place[1]) * gy) + splatRow(place[2]) * gz;
    srStoreRowFloat(map, value);
    srStoreRowFloat(map + 4, gx);
    srStoreRowFloat(map + 8, gy);
    srStoreRowFloat(map + 12, gz);
}

static void fillMaps(const srBlend* blend, const float* rows, float* maps, int32_t begin, int32_t end) {
    for (int32_t m = begin; m < end; m++) {
        fillMap(blend, rows, maps + SR_MAP_FLOATS * (int64_t)m, m);
    }
}

// Two rows at once. Compilers keep vectors that are wider than the processor's in memory, not in registers, so
// where it has no wide ones these are two narrow ones.
#if defined(SR_SIMD_AVX2)
typedef srFloatW RowPair;

SR_KERNEL RowPair addScaled(RowPair sum, float s, const float* rows) {
    return sum + srSplatFloatW(s) * srLoadFloatW(rows);
}

SR_KERNEL RowPair scalePair(RowPair pair, float lower, float upper) {
    return pair * srJoinRows(splatRow(lower), splatRow(upper));
}

SR_KERNEL srRowFloat sumPairs(RowPair a, RowPair b) {
    RowPair sum = a + b;
    return SR_LOWER_ROW(sum) + SR_UPPER_ROW(sum);
}
#else
typedef struct RowPair {
    srRowFloat lower;
    srRowFloat upper;
} RowPair;

SR_KERNEL RowPair addScaled(RowPair sum, float s, const float* rows) {
    sum.lower += splatRow(s) * srLoadRowFloat(rows);
    sum.upper += splatRow(s) * srLoadRowFloat(rows + SR_ROW);
    return sum;
}

SR_KERNEL RowPair scalePair(RowPair pair, float lower, float upper) {
    return (RowPair){pair.lower * splatRow(lower), pair.upper * splatRow(upper)};
}

SR_KERNEL srRowFloat sumPairs(RowPair a, RowPair b) {
    return (a.lower + b.lower) + (a.upper + b.upper);
}
#endif

// (value + y slope) + (x slope + z slope) at the point's X
SR_KERNEL void storePoint(RowPair first, RowPair second, const float place[3], float* out) {
    first = scalePair(first, 1.0f, place[0]);
    second = scalePair(second, place[1], place[2]);
    srRowFloat point = sumPairs(first, second);
    memcpy(out, &point, 3 * sizeof(float));
}

// Points of a run and what is theirs
typedef struct Points {
    const float (*places)[3];
    const int32_t* targets;
    const float* shares;
    const uint16_t* shortMaps; // one of the two
    const int32_t* longMaps;
    int32_t count;
} Points;

// Inlined with a constant count of shares, so that the inner loop is unrolled: a fifth less time.
SR_KERNEL void blendEach(Points points, int32_t shareCount, const float* maps, float* outPoints) {
    int64_t next = 0;
    for (int32_t k = 0; k < points.count; k++) {
        RowPair first = {0}, second = {0};
#pragma GCC unroll 16
        for (int32_t s = 0; s < shareCount; s++, next++) {
            int64_t map = points.shortMaps != NULL ? points.shortMaps[next] : points.longMaps[next];
            first = addScaled(first, points.shares[next], maps + SR_MAP_FLOATS * map);
            second = addScaled(second, points.shares[next], maps + SR_MAP_FLOATS * map + 8);
        }
        storePoint(first, second, points.places[k], outPoints + 3 * (int64_t)points.targets[k]);
    }
}

#define SR_CASE(n)                                                                                           \
    case n:                                                                                                  \
        blendEach(points, n, maps, outPoints);                                                               \
        return

static void blendShort(Points points, int32_t shareCount, const float* maps, float* outPoints) {
    points.longMaps = NULL;
    switch (shareCount) {
        SR_CASE(1);
        SR_CASE(2);
        SR_CASE(3);
        SR_CASE(4);
        SR_CASE(5);
        SR_CASE(6);
        SR_CASE(7);
        SR_CASE(8);
        SR_CASE(9);
        SR_CASE(10);
        SR_CASE(11);
        SR_CASE(12);
        SR_CASE(13);
        SR_CASE(14);
        SR_CASE(15);
        SR_CASE(16);
    default:
        blendEach(points, shareCount, maps, outPoints);
    }
}

static void blendLong(Points points, int32_t shareCount, const float* maps, float* outPoints) {
    points.shortMaps = NULL;
    blendEach(points, shareCount, maps, outPoints);
}

static void blendPoints(const srBlend* blend, const float* maps, float* outPoints, int32_t begin,
                        int32_t end) {
    for (int32_t r = 0; r < blend->runCount; r++) {
        const srBlendRun* run = &blend->runs[r];
        int32_t last = run->firstPoint + run->pointCount;
        int32_t from = begin > run->firstPoint ? begin : run->firstPoint, to = end < last ? end : last;
        if (from >= to) {
            continue;
        }
        int64_t first = run->firstShare + (int64_t)(from - run->firstPoint) * run->shareCount;
        Points points = {.places = (const float (*)[3])(blend->places + from),
                         .targets = blend->targets + from,
                         .shares = blend->shares + first,
                         .count = to - from};
        if (blend->longMaps != NULL) {
            points.longMaps = blend->longMaps + first;
            blendLong(points, run->shareCount, maps, outPoints);
        } else {
            points.shortMaps = blend->shortMaps + first;
            blendShort(points, run->shareCount, maps, outPoints);
        }
    }
}

const srBlendKernels SR_TABLE = {
    .fillMaps = fillMaps,
    .blendPoints = blendPoints,
};
