// SPDX-License-Identifier: GPL-3.0-or-later
//
// Between nodes and the smooth handles of the coarse correction. Part of solver_kernels.inl.
//
// One handle after another, with all of its nodes: nodes have few handles each and not alike, and loops of
// four or six rounds cost what a processor guesses wrong.

// two elements of a row, each over half of a vector: two rows of a handle are one vector
#define SR_EACH_OF(v, c, d) __builtin_shufflevector((v), (v), (c), (c), (c), (c), (d), (d), (d), (d))
#define SR_LAST_OF(v) __builtin_shufflevector((v), (v), 3, 3, 3, 3)

// [X - centre; 1] of a node, times its weight on a handle
SR_KERNEL srRowFloat placeUnder(const srHandleMap* map, const srHandleMember* member, srRowFloat centre) {
    return member->weight * (srLoadRowFloat(map->places + SR_ROW * (int64_t)member->node) - centre);
}

// The fourth is zero: both rows have the same inverse mass, and forces none
SR_KERNEL void leaveResiduals(const float* predicted, const float* rows, float* forces, int32_t begin,
                              int32_t end) {
    const srRowFloat zero = {0};
    for (int32_t i = begin; i < end; i++) {
        int64_t at = SR_ROW * (int64_t)i;
        srRowFloat row = srLoadRowFloat(rows + at);
        srRowFloat r = (1.0f / row[3]) * (srLoadRowFloat(predicted + at) - row) + srLoadRowFloat(forces + at);
        srStoreRowFloat(forces + at, row[3] > 0.0f ? r : zero);
    }
}

static void restrictNodes(const srHandleMap* map, const float* predicted, const float* rows, float* forces,
                          float* sums, int32_t begin, int32_t end) {
    leaveResiduals(predicted, rows, forces, begin, end);
    for (int32_t j = 0; j < map->handleCount; j++) {
        srRowFloat centre = srLoadRowFloat(map->centres + SR_ROW * (int64_t)j);
        srFloatW low = {0}, high = {0};
        for (int32_t k = map->starts[j]; k < map->starts[j + 1]; k++) {
            srRowFloat v = placeUnder(map, &map->members[k], centre);
            srRowFloat r = srLoadRowFloat(forces + SR_ROW * (int64_t)map->members[k].node);
            srFloatW twice = srJoinRows(r, r);
            low = low + SR_EACH_OF(v, 0, 1) * twice;
            high = high + SR_EACH_OF(v, 2, 3) * twice;
        }
        srStoreFloatW(sums + SR_HANDLE_FLOATS * (int64_t)j, low);
        srStoreFloatW(sums + SR_HANDLE_FLOATS * (int64_t)j + 8, high);
    }
}

static void prolongNodes(const srHandleMap* map, const float* moves, float* rows) {
    for (int32_t j = 0; j < map->handleCount; j++) {
        srRowFloat centre = srLoadRowFloat(map->centres + SR_ROW * (int64_t)j);
        srFloatW low = srLoadFloatW(moves + SR_HANDLE_FLOATS * (int64_t)j);
        srFloatW high = srLoadFloatW(moves + SR_HANDLE_FLOATS * (int64_t)j + 8);
        for (int32_t k = map->starts[j]; k < map->starts[j + 1]; k++) {
            srRowFloat v = placeUnder(map, &map->members[k], centre);
            float* at = rows + SR_ROW * (int64_t)map->members[k].node;
            srFloatW move = SR_EACH_OF(v, 0, 1) * low + SR_EACH_OF(v, 2, 3) * high;
            srRowFloat row = srLoadRowFloat(at), moved = row + (SR_LOWER_ROW(move) + SR_UPPER_ROW(move));
            srStoreRowFloat(at, row[3] > 0.0f ? moved : row);
        }
    }
}
