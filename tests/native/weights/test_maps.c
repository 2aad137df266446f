// SPDX-License-Identifier: GPL-3.0-or-later
//
// Painted maps on the nodes: within their range, exact where they must be, smooth between, and nowhere but
// where cells connect.

#include "weights/maps.h"

#include "mesh/solids.h"

#include <string.h>

enum {
    maxVertices = 3000
};

static srVec3 vertices[maxVertices];
static float values[maxVertices];
static int32_t vertexCount;

// a dense skin on the faces of a block of x 1 x 1
static void coverBlock(double length, double spacing) {
    int along = (int)(length / spacing + 0.5), across = (int)(1.0 / spacing + 0.5);
    for (int i = 0; i <= along; i++) {
        for (int j = 0; j <= across; j++) {
            for (int k = 0; k <= across; k++) {
                bool isSkin = i % along == 0 || j % across == 0 || k % across == 0;
                if (isSkin) {
                    vertices[vertexCount++] = (srVec3){spacing * i, spacing * j, spacing * k};
                }
            }
        }
    }
}

static void transferOne(const srCage* cage, srMapKind kind, srNodeMaps* out) {
    srEmbedding embedding;
    const float* painted[sr_mapKindCount] = {0};
    painted[kind] = values;
    assert_success(srCreateEmbedding(cage, vertices, NULL, vertexCount, &embedding));
    assert_success(srTransferMaps(cage, &embedding, painted, NULL, out));
    srDestroyEmbedding(&embedding);
}

static void make(double length, srCage* cage) {
    makeBlock((int)(2.0 * length), 2, 2, 0.5, cage);
    vertexCount = 0;
    coverBlock(length, 0.25);
}

static void what_nobody_painted_is_no_map(void** state) {
    (void)state;
    srCage cage;
    srNodeMaps maps;
    make(3.0, &cage);
    for (int kind = 0; kind < sr_mapKindCount; kind++) {
        for (int32_t v = 0; v < vertexCount; v++) {
            values[v] = v % 2 == 0 ? srGetMapRange((srMapKind)kind).unpainted : NAN;
        }
        transferOne(&cage, (srMapKind)kind, &maps);
        for (int other = 0; other < sr_mapKindCount; other++) {
            assert_null(maps.values[other]);
        }
        srDestroyNodeMaps(&maps);
    }
    srDestroyCage(&cage);
}

static void one_value_everywhere_is_that_value_everywhere(void** state) {
    (void)state;
    srCage cage;
    srNodeMaps maps;
    make(3.0, &cage);
    for (int kind = 0; kind < sr_mapKindCount; kind++) {
        srMapRange range = srGetMapRange((srMapKind)kind);
        const float painted[] = {range.highest, 3.0f * range.highest, 0.7f};
        for (int i = 0; i < 3; i++) {
            for (int32_t v = 0; v < vertexCount; v++) {
                values[v] = painted[i];
            }
            transferOne(&cage, (srMapKind)kind, &maps);
            float expected = painted[i] > range.highest ? range.highest : painted[i];
            for (int32_t node = 0; node < cage.nodeCount; node++) {
                // the anchor of 1e-9, over a few hundred nodes
                assert_near((double)maps.values[kind][node], (double)expected, 1e-5 * (double)expected);
            }
            srDestroyNodeMaps(&maps);
        }
    }
    srDestroyCage(&cage);
}

static void any_paint_stays_in_its_range(void** state) {
    (void)state;
    srCage cage;
    srNodeMaps maps;
    uint64_t seed = 91;
    make(3.0, &cage);
    for (int kind = 0; kind < sr_mapKindCount; kind++) {
        srMapRange range = srGetMapRange((srMapKind)kind);
        for (int32_t v = 0; v < vertexCount; v++) {
            values[v] = (float)(300.0 * (srTestRandom(&seed) - 0.5));
        }
        values[0] = INFINITY;
        values[1] = NAN;
        transferOne(&cage, (srMapKind)kind, &maps);
        for (int32_t node = 0; node < cage.nodeCount; node++) {
            assert_true(maps.values[kind][node] >= range.lowest && maps.values[kind][node] <= range.highest);
        }
        srDestroyNodeMaps(&maps);
    }
    srDestroyCage(&cage);
}

static void a_painted_end_fades_into_an_unpainted_one(void** state) {
    (void)state;
    srCage cage;
    srNodeMaps maps;
    make(6.0, &cage);
    for (int32_t v = 0; v < vertexCount; v++) {
        values[v] = vertices[v].x < 3.0 ? 10.0f : 1.0f;
    }
    transferOne(&cage, sr_mapStiffness, &maps);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        double x = cage.nodes[node].x, stiffness = (double)maps.values[sr_mapStiffness][node];
        // three cells beside the step hardly anything is left of it, in the middle of the bar too
        assert_true(x > 1.5 || stiffness > 9.0);
        assert_true(x < 4.5 || stiffness < 1.1);
        // nowhere more, nor less, than was painted, but for rounding
        assert_true(stiffness > 1.0 - 1e-6 && stiffness < 10.0 + 1e-5);
    }
    srDestroyNodeMaps(&maps);
    srDestroyCage(&cage);
}

static void half_as_stiff_and_twice_as_stiff_mirror_each_other(void** state) {
    (void)state;
    srCage cage;
    srNodeMaps twice, half;
    make(3.0, &cage);
    for (int32_t v = 0; v < vertexCount; v++) {
        values[v] = 1.0f + (float)vertices[v].x;
    }
    transferOne(&cage, sr_mapMass, &twice);
    for (int32_t v = 0; v < vertexCount; v++) {
        values[v] = 1.0f / values[v];
    }
    transferOne(&cage, sr_mapMass, &half);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        // roundings to float, of the paint and of the result
        double product = (double)twice.values[sr_mapMass][node] * (double)half.values[sr_mapMass][node];
        assert_near(product, 1.0, 1e-6);
    }
    srDestroyNodeMaps(&twice);
    srDestroyNodeMaps(&half);
    srDestroyCage(&cage);
}

static void nodes_that_a_pinned_vertex_hangs_on_are_pinned_exactly(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    srNodeMaps maps;
    make(6.0, &cage);
    for (int32_t v = 0; v < vertexCount; v++) {
        values[v] = vertices[v].x < 1.1 ? 1.0f : 0.0f;
    }
    transferOne(&cage, sr_mapPin, &maps);
    assert_success(srCreateEmbedding(&cage, vertices, NULL, vertexCount, &embedding));
    for (int32_t v = 0; v < vertexCount; v++) {
        for (int c = 0; c < 4 && values[v] == 1.0f; c++) {
            assert_true(embedding.weights[v][c] == 0.0f ||
                        maps.values[sr_mapPin][embedding.nodes[v][c]] == 1.0f);
        }
    }
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        assert_true(cage.nodes[node].x < 3.0 || maps.values[sr_mapPin][node] < 0.05f);
    }
    srDestroyEmbedding(&embedding);
    srDestroyNodeMaps(&maps);
    srDestroyCage(&cage);
}

// two bars in the same place, each with cells of its own: as the cells of two fingers that touch
static void paint_on_one_part_never_spills_into_another_in_the_same_place(void** state) {
    (void)state;
    srCage one, both;
    srNodeMaps maps;
    make(3.0, &one);
    int32_t n = one.nodeCount, m = one.cellCount;
    srVec3* nodes = malloc(2 * sizeof(srVec3) * (size_t)n);
    int32_t (*cells)[4] = malloc(2 * sizeof(cells[0]) * (size_t)m);
    for (int32_t i = 0; i < 2 * n; i++) {
        nodes[i] = one.nodes[i % n];
    }
    for (int32_t c = 0; c < 8 * m; c++) {
        cells[c / 4][c % 4] = one.cells[c / 4 % m][c % 4] + (c / 4 < m ? 0 : n);
    }
    assert_success(srCreateCage(nodes, 2 * n, (const int32_t (*)[4])cells, 2 * m, &both));
    free(nodes);
    free(cells);

    // each part's vertices hang on its own nodes; which those are is told by being connected to node 0
    uint8_t* isFirst = calloc((size_t)both.nodeCount, 1);
    isFirst[0] = 1;
    for (int pass = 0; pass < both.nodeCount; pass++) {
        for (int32_t e = 0; e < both.edgeCount; e++) {
            isFirst[both.edges[e][0]] |= isFirst[both.edges[e][1]];
            isFirst[both.edges[e][1]] |= isFirst[both.edges[e][0]];
        }
    }
    vertexCount = 0;
    for (int32_t node = 0; node < both.nodeCount; node++) {
        vertices[vertexCount++] = both.nodes[node];
    }
    srEmbedding embedding;
    assert_success(srCreateEmbedding(&both, vertices, NULL, vertexCount, &embedding));
    for (int32_t v = 0; v < vertexCount; v++) {
        for (int32_t cell = 0; cell < both.cellCount; cell++) {
            const int32_t* corners = both.cells[cell];
            for (int c = 0; c < 4; c++) {
                if (corners[c] == v) {
                    memcpy(embedding.nodes[v], corners, sizeof(embedding.nodes[v]));
                    embedding.cells[v] = cell;
                    memset(embedding.weights[v], 0, sizeof(embedding.weights[v]));
                    embedding.weights[v][c] = 1.0f;
                }
            }
        }
        values[v] = isFirst[v] ? 50.0f : 1.0f;
    }
    const float* painted[sr_mapKindCount] = {0};
    painted[sr_mapStiffness] = values;
    assert_success(srTransferMaps(&both, &embedding, painted, NULL, &maps));
    for (int32_t node = 0; node < both.nodeCount; node++) {
        double expected = isFirst[node] ? 50.0 : 1.0;
        assert_near((double)maps.values[sr_mapStiffness][node], expected, 1e-4 * expected);
    }
    free(isFirst);
    srDestroyNodeMaps(&maps);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&one);
    srDestroyCage(&both);
}

typedef struct Whole {
    srCage cage;
    srEmbedding embedding;
} Whole;

static srResult transferTwo(void* context) {
    const Whole* whole = context;
    const float* painted[sr_mapKindCount] = {0};
    painted[sr_mapDamping] = values;
    painted[sr_mapPin] = values;
    srNodeMaps maps;
    SR_TRY(srTransferMaps(&whole->cage, &whole->embedding, painted, NULL, &maps));
    srDestroyNodeMaps(&maps);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Whole whole;
    make(1.0, &whole.cage);
    for (int32_t v = 0; v < vertexCount; v++) {
        values[v] = 0.5f;
    }
    assert_success(srCreateEmbedding(&whole.cage, vertices, NULL, vertexCount, &whole.embedding));
    srTestEveryAllocationFails(transferTwo, &whole);
    srDestroyEmbedding(&whole.embedding);
    srDestroyCage(&whole.cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_painted_is_no_map),
        cmocka_unit_test(one_value_everywhere_is_that_value_everywhere),
        cmocka_unit_test(any_paint_stays_in_its_range),
        cmocka_unit_test(a_painted_end_fades_into_an_unpainted_one),
        cmocka_unit_test(half_as_stiff_and_twice_as_stiff_mirror_each_other),
        cmocka_unit_test(nodes_that_a_pinned_vertex_hangs_on_are_pinned_exactly),
        cmocka_unit_test(paint_on_one_part_never_spills_into_another_in_the_same_place),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests_name("weights/maps", tests, NULL, srTestNothingLeaked);
}
