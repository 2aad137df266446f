// SPDX-License-Identifier: GPL-3.0-or-later
//
// Between nodes and the smooth handles of the coarse correction. Part of solver_kernels.inl.

#define SR_ALL_OF(v, c) __builtin_shufflevector((v), (v), (c), (c), (c), (c))

// [X - centre; 1] of a node, times its weight on a handle
SR_KERNEL srRowFloat placeUnder(const srHandleMap* map, const srHandleEntry* entry, srRowFloat place) {
    return entry->weight * (place - srLoadRowFloat(map->centres + SR_ROW * (int64_t)entry->handle));
}

static void restrictNodes(const srHandleMap* map, const float* predicted, const float* forces,
                          const float* rows, float* sums, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        float weight = rows[at + 3];
        if (!(weight > 0.0f)) {
            continue;
        }
        // the fourth is zero: both rows have the same inverse mass, and forces none
        srRowFloat r = (1.0f / weight) * (srLoadRowFloat(predicted + at) - srLoadRowFloat(rows + at)) +
                       srLoadRowFloat(forces + at);
        srRowFloat place = srLoadRowFloat(map->places + at);
        for (int32_t e = map->starts[i]; e < map->starts[i + 1]; e++) {
            srRowFloat v = placeUnder(map, &map->entries[e], place);
            float* sum = sums + SR_HANDLE_FLOATS * (int64_t)map->entries[e].handle;
            srStoreRowFloat(sum, srLoadRowFloat(sum) + SR_ALL_OF(v, 0) * r);
            srStoreRowFloat(sum + 4, srLoadRowFloat(sum + 4) + SR_ALL_OF(v, 1) * r);
            srStoreRowFloat(sum + 8, srLoadRowFloat(sum + 8) + SR_ALL_OF(v, 2) * r);
            srStoreRowFloat(sum + 12, srLoadRowFloat(sum + 12) + SR_ALL_OF(v, 3) * r);
        }
    }
}

static void prolongNodes(const srHandleMap* map, const float* moves, float* rows, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat row = srLoadRowFloat(rows + at);
        if (!(row[3] > 0.0f)) {
            continue;
        }
        srRowFloat place = srLoadRowFloat(map->places + at);
        srRowFloat even = {0}, odd = {0};
        for (int32_t e = map->starts[i]; e < map->starts[i + 1]; e++) {
            srRowFloat v = placeUnder(map, &map->entries[e], place);
            const float* z = moves + SR_HANDLE_FLOATS * (int64_t)map->entries[e].handle;
            even = even + SR_ALL_OF(v, 0) * srLoadRowFloat(z);
            odd = odd + SR_ALL_OF(v, 1) * srLoadRowFloat(z + 4);
            even = even + SR_ALL_OF(v, 2) * srLoadRowFloat(z + 8);
            odd = odd + SR_ALL_OF(v, 3) * srLoadRowFloat(z + 12);
        }
        srStoreRowFloat(rows + at, row + (even + odd));
    }
}
