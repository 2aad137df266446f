// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows to lanes and back, as math/simd_rows.h, from where the rows begin: a processor adds that to an address
// without further arithmetic. Part of solver_kernels.inl, first.

SR_KERNEL srFloatW joinAt(const float* rows, int32_t a, int32_t b) {
    return srJoinRows(srLoadRowFloat(rows + a), srLoadRowFloat(rows + b));
}

SR_KERNEL void gatherPlaces(const float* rows, const int32_t* places, srFloatW out[4]) {
    srFloatW a = joinAt(rows, places[0], places[4]), b = joinAt(rows, places[1], places[5]);
    srFloatW c = joinAt(rows, places[2], places[6]), d = joinAt(rows, places[3], places[7]);
    srFloatW xyAB = SR_MIX_LOW(a, b), zwAB = SR_MIX_HIGH(a, b);
    srFloatW xyCD = SR_MIX_LOW(c, d), zwCD = SR_MIX_HIGH(c, d);
    out[0] = SR_PAIR_LOW(xyAB, xyCD);
    out[1] = SR_PAIR_HIGH(xyAB, xyCD);
    out[2] = SR_PAIR_LOW(zwAB, zwCD);
    out[3] = SR_PAIR_HIGH(zwAB, zwCD);
}

// lanes as two rows each: 0 and 4, 1 and 5, 2 and 6, 3 and 7
SR_KERNEL void toRows(const srFloatW v[4], srFloatW out[4]) {
    srFloatW xyLow = SR_MIX_LOW(v[0], v[1]), xyHigh = SR_MIX_HIGH(v[0], v[1]);
    srFloatW zwLow = SR_MIX_LOW(v[2], v[3]), zwHigh = SR_MIX_HIGH(v[2], v[3]);
    out[0] = SR_PAIR_LOW(xyLow, zwLow);
    out[1] = SR_PAIR_HIGH(xyLow, zwLow);
    out[2] = SR_PAIR_LOW(xyHigh, zwHigh);
    out[3] = SR_PAIR_HIGH(xyHigh, zwHigh);
}

// All four of each row. Rows that differ.
SR_KERNEL void storePlaces(float* rows, const int32_t* places, const srFloatW v[4]) {
    srFloatW r[4];
    toRows(v, r);
    for (int i = 0; i < 4; i++) {
        srStoreRowFloat(rows + places[i], SR_LOWER_ROW(r[i]));
    }
    for (int i = 0; i < 4; i++) {
        srStoreRowFloat(rows + places[4 + i], SR_UPPER_ROW(r[i]));
    }
}

// x, y and z, one row after the other
SR_KERNEL void addToPlaces(float* rows, const int32_t* places, const srFloatW v[3]) {
    const srFloatW zero = {0};
    srFloatW whole[4] = {v[0], v[1], v[2], zero};
    srFloatW r[4];
    toRows(whole, r);
    for (int i = 0; i < 4; i++) {
        float* at = rows + places[i];
        srStoreRowFloat(at, srLoadRowFloat(at) + SR_LOWER_ROW(r[i]));
    }
    for (int i = 0; i < 4; i++) {
        float* at = rows + places[4 + i];
        srStoreRowFloat(at, srLoadRowFloat(at) + SR_UPPER_ROW(r[i]));
    }
}
