// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/tetgen_answer.h"

#include "core/hash.h"
#include "mesh/tetgen_protocol.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

// An octahedron, filled by four cells around its axis.
static const srVec3 points[6] = {{1.0, 0.0, 0.0},  {0.0, 1.0, 0.0},  {-1.0, 0.0, 0.0},
                                 {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 0.0, 1.0}};
static const int32_t triangles[8][3] = {{0, 1, 5}, {1, 2, 5}, {2, 3, 5}, {3, 0, 5},
                                        {1, 0, 4}, {2, 1, 4}, {3, 2, 4}, {0, 3, 4}};

typedef struct Words {
    srTetgenReply head;
    srVec3 nodes[6];
    int32_t cells[4][4];
} Words;

static Words goodWords(void) {
    Words words = {.head = {SR_TETGEN_MAGIC, 6, 4, 0, 0},
                   .cells = {{0, 1, 5, 4}, {1, 2, 5, 4}, {2, 3, 5, 4}, {3, 0, 5, 4}}};
    memcpy(words.nodes, points, sizeof(points));
    return words;
}

static void sign(Words* words) {
    words->head.hash = srHashBytes(SR_HASH_SEED, words->nodes, sizeof(words->nodes) + sizeof(words->cells));
}

static srTetgenFate fateOf(const void* words, size_t size, srProcessFate fate, int code, srArena* arena,
                           srTetgenMesh* outMesh) {
    const srTetgenInput input = {
        .points = points, .pointCount = 6, .triangles = triangles, .triangleCount = 8};
    srProcessAnswer answer = {.fate = fate, .code = code, .bytes = (uint8_t*)words, .byteCount = size};
    srTetgenFate told;
    assert_success(srReadTetgenAnswer(&input, &answer, arena, &told, outMesh));
    assert_int_equal(told == sr_tetgenMade, outMesh->cellCount > 0);
    return told;
}

static srTetgenFate readSigned(Words words) {
    srArena* arena = srCreateArena(1 << 12);
    srTetgenMesh mesh;
    sign(&words);
    srTetgenFate fate = fateOf(&words, sizeof(words), sr_processEnded, 0, arena, &mesh);
    srDestroyArena(arena);
    return fate;
}

static void whole_cage_is_taken_with_cells_turned(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1 << 12);
    Words words = goodWords();
    words.cells[2][0] = 3, words.cells[2][1] = 2;
    sign(&words);
    srTetgenMesh mesh;
    assert_int_equal(fateOf(&words, sizeof(words), sr_processEnded, 0, arena, &mesh), sr_tetgenMade);
    assert_int_equal(mesh.nodeCount, 6);
    for (int i = 0; i < 4; i++) {
        const int32_t* n = mesh.cells[i];
        srVec3 a = mesh.nodes[n[0]];
        srVec3 b = srSub(mesh.nodes[n[1]], a), c = srSub(mesh.nodes[n[2]], a), d = srSub(mesh.nodes[n[3]], a);
        assert_near(srDot(b, srCross(c, d)), 2.0, 1e-14);
    }
    srDestroyArena(arena);
}

static void every_bit_counts(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1 << 12);
    for (size_t bit = 0; bit < 8 * sizeof(Words); bit++) {
        Words words = goodWords();
        sign(&words);
        ((uint8_t*)&words)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        // four bytes of the head are kept for later
        bool isReserved = bit / 32 == offsetof(srTetgenReply, reserved) / 4;
        srTetgenMesh mesh;
        srTetgenFate fate = fateOf(&words, sizeof(words), sr_processEnded, 0, arena, &mesh);
        assert_int_equal(fate, isReserved ? sr_tetgenMade : sr_tetgenGarbled);
    }
    srDestroyArena(arena);
}

static void every_other_length_is_refused(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1 << 12);
    struct {
        Words words;
        uint8_t more[64];
    } block = {.words = goodWords()};
    sign(&block.words);
    for (size_t size = 0; size <= sizeof(block); size++) {
        srTetgenMesh mesh;
        srTetgenFate fate = fateOf(&block.words, size, sr_processEnded, 0, arena, &mesh);
        assert_int_equal(fate, size == sizeof(Words) ? sr_tetgenMade : sr_tetgenGarbled);
    }
    srDestroyArena(arena);
}

static void what_is_signed_and_no_cage_is_refused(void** state) {
    (void)state;
    assert_int_equal(readSigned(goodWords()), sr_tetgenMade);
    const int32_t strangers[] = {-1, 6, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        Words words = goodWords();
        words.cells[3][2] = strangers[i];
        assert_int_equal(readSigned(words), sr_tetgenGarbled);
    }
    // not a place, far away, a little beyond the surface, within it
    const double places[] = {(double)NAN, (double)INFINITY, 1e308, -1e200, 1.0001, 0.0};
    for (int i = 0; i < 6; i++) {
        Words words = goodWords();
        words.nodes[5].z = places[i];
        assert_int_equal(readSigned(words), sr_tetgenGarbled);
    }
    Words twice = goodWords();
    memcpy(twice.cells[1], twice.cells[0], sizeof(twice.cells[0]));
    assert_int_equal(readSigned(twice), sr_tetgenGarbled);
    Words flat = goodWords();
    flat.cells[0][1] = 2; // the points around the equator's middle
    assert_int_equal(readSigned(flat), sr_tetgenGarbled);
}

// Each has the volume of the octahedron to the last bit, and finite nodes, and no flat cell.
static void what_has_the_right_volume_and_is_no_filling_is_refused(void** state) {
    (void)state;
    static const struct {
        int32_t cells[4][4];
        srTetgenFate fate;
    } cases[] = {
        // around each of the three axes
        {{{0, 1, 5, 4}, {1, 2, 5, 4}, {2, 3, 5, 4}, {3, 0, 5, 4}}, sr_tetgenMade},
        {{{1, 5, 0, 2}, {5, 3, 0, 2}, {3, 4, 0, 2}, {4, 1, 0, 2}}, sr_tetgenMade},
        {{{0, 5, 1, 3}, {5, 2, 1, 3}, {2, 4, 1, 3}, {4, 0, 1, 3}}, sr_tetgenMade},
        // a quarter twice and none; two quarters twice; one four times
        {{{0, 1, 5, 4}, {0, 1, 5, 4}, {2, 3, 5, 4}, {3, 0, 5, 4}}, sr_tetgenGarbled},
        {{{0, 1, 5, 4}, {0, 1, 5, 4}, {2, 3, 5, 4}, {2, 3, 5, 4}}, sr_tetgenGarbled},
        {{{0, 1, 5, 4}, {0, 1, 5, 4}, {0, 1, 5, 4}, {0, 1, 5, 4}}, sr_tetgenGarbled},
        // halves around different axes, which meet on other triangles
        {{{0, 1, 5, 4}, {1, 2, 5, 4}, {5, 3, 0, 2}, {3, 4, 0, 2}}, sr_tetgenGarbled},
        // a half twice, and a quarter in another's place
        {{{0, 1, 5, 4}, {1, 2, 5, 4}, {1, 5, 0, 2}, {4, 1, 0, 2}}, sr_tetgenGarbled},
        {{{0, 1, 5, 4}, {1, 2, 5, 4}, {2, 3, 5, 4}, {4, 1, 0, 2}}, sr_tetgenGarbled},
    };
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        Words words = goodWords();
        memcpy(words.cells, cases[i].cells, sizeof(words.cells));
        if (readSigned(words) != cases[i].fate) {
            fail_msg("filling %d", i);
        }
    }
    // the same body with other names: what was asked for as point 0 is somewhere else
    Words turned = goodWords();
    memmove(turned.nodes, turned.nodes + 1, 3 * sizeof(srVec3));
    turned.nodes[3] = points[0];
    assert_int_equal(readSigned(turned), sr_tetgenGarbled);
}

// Eight cells around a node in the middle, which may lie anywhere within and nowhere else.
typedef struct Centred {
    srTetgenReply head;
    srVec3 nodes[8];
    int32_t cells[10][4];
} Centred;

static srTetgenFate readCentred(Centred* words, int32_t nodeCount, int32_t cellCount) {
    uint8_t bytes[sizeof(Centred)];
    size_t nodeBytes = (size_t)nodeCount * sizeof(srVec3), cellBytes = (size_t)cellCount * 16;
    words->head = (srTetgenReply){SR_TETGEN_MAGIC, nodeCount, cellCount, 0, 0};
    uint8_t* said = bytes + sizeof(words->head);
    memcpy(said, words->nodes, nodeBytes);
    memcpy(said + nodeBytes, words->cells, cellBytes);
    words->head.hash = srHashBytes(SR_HASH_SEED, said, nodeBytes + cellBytes);
    memcpy(bytes, &words->head, sizeof(words->head));
    srArena* arena = srCreateArena(1 << 12);
    srTetgenMesh mesh;
    srTetgenFate fate =
        fateOf(bytes, sizeof(words->head) + nodeBytes + cellBytes, sr_processEnded, 0, arena, &mesh);
    srDestroyArena(arena);
    return fate;
}

static Centred around(srVec3 centre) {
    Centred words = {.nodes[6] = centre};
    memcpy(words.nodes, points, sizeof(points));
    for (int t = 0; t < 8; t++) {
        memcpy(words.cells[t], triangles[t], sizeof(triangles[t]));
        words.cells[t][3] = 6;
    }
    return words;
}

static void cells_that_turn_inside_out_or_split_the_surface_are_refused(void** state) {
    (void)state;
    static const struct {
        srVec3 centre;
        srTetgenFate fate;
    } cases[] = {
        {{0.0, 0.0, 0.0}, sr_tetgenMade},      {{0.3, -0.2, 0.4}, sr_tetgenMade},
        {{0.4, 0.3, 0.4}, sr_tetgenGarbled},   {{0.0, 0.0, 1.5}, sr_tetgenGarbled},
        {{0.25, 0.25, 0.5}, sr_tetgenGarbled}, // on the surface: a cell is flat
    };
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        Centred words = around(cases[i].centre);
        assert_int_equal(readCentred(&words, 7, 8), cases[i].fate);
    }
    // the first triangle is split by a node on it: the same body, but not its surface
    Centred split = around((srVec3){0.0, 0.0, 0.0});
    split.nodes[7] = (srVec3){0.25, 0.25, 0.5};
    const int32_t parts[3][4] = {{0, 1, 7, 6}, {1, 5, 7, 6}, {5, 0, 7, 6}};
    memcpy(split.cells[0], parts[0], sizeof(parts[0]));
    memcpy(split.cells[8], parts[1], 2 * sizeof(parts[0]));
    assert_int_equal(readCentred(&split, 8, 10), sr_tetgenGarbled);
    // a cell too few, so that a hollow is open
    Centred open = around((srVec3){0.0, 0.0, 0.0});
    assert_int_equal(readCentred(&open, 7, 7), sr_tetgenGarbled);
}

// One node more than the cells need.
typedef struct Longer {
    srTetgenReply head;
    srVec3 nodes[7];
    int32_t cells[4][4];
} Longer;

static void node_that_no_cell_has_is_finite_too(void** state) {
    (void)state;
    const double places[] = {0.0, (double)NAN, (double)INFINITY};
    srArena* arena = srCreateArena(1 << 12);
    for (int i = 0; i < 3; i++) {
        Words words = goodWords();
        Longer longer = {.head = words.head, .nodes[6] = {0.0, places[i], 0.0}};
        longer.head.nodeCount = 7;
        memcpy(longer.nodes, words.nodes, sizeof(words.nodes));
        memcpy(longer.cells, words.cells, sizeof(words.cells));
        longer.head.hash =
            srHashBytes(SR_HASH_SEED, longer.nodes, sizeof(longer.nodes) + sizeof(longer.cells));
        srTetgenMesh mesh;
        srTetgenFate fate = fateOf(&longer, sizeof(longer), sr_processEnded, 0, arena, &mesh);
        assert_int_equal(fate, i == 0 ? sr_tetgenMade : sr_tetgenGarbled);
    }
    srDestroyArena(arena);
}

static void counts_of_the_head_are_not_believed(void** state) {
    (void)state;
    const int32_t counts[] = {0, -1, 3, 7, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 6; i++) {
        Words words = goodWords();
        words.head.nodeCount = counts[i];
        assert_int_equal(readSigned(words), sr_tetgenGarbled);
        words = goodWords();
        words.head.cellCount = counts[i];
        assert_int_equal(readSigned(words), sr_tetgenGarbled);
    }
}

static void end_of_the_program_is_named(void** state) {
    (void)state;
    static const struct {
        srProcessFate end;
        int code;
        srTetgenFate fate;
    } cases[] = {
        {sr_processMissing, 2, sr_tetgenMissing},
        {sr_processStalled, 0, sr_tetgenStalled},
        {sr_processCrashed, 11, sr_tetgenCrashed},
        {sr_processFlooded, 0, sr_tetgenGarbled},
        {sr_processCancelled, 0, sr_tetgenGarbled},
        {sr_processEnded, sr_tetgenExitMemory, sr_tetgenStarved},
        {sr_processEnded, sr_tetgenExitBug, sr_tetgenCrashed},
        {sr_processEnded, sr_tetgenExitCrossing, sr_tetgenRefused},
        {sr_processEnded, sr_tetgenExitEmpty, sr_tetgenRefused},
        {sr_processEnded, sr_tetgenExitOrder, sr_tetgenForeign},
        {sr_processEnded, 127, sr_tetgenGarbled},
        {sr_processEnded, sr_tetgenExitFine, sr_tetgenMade},
    };
    srArena* arena = srCreateArena(1 << 12);
    Words words = goodWords();
    sign(&words);
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        // a cage that was said before a bad end is none
        srTetgenMesh mesh;
        srTetgenFate fate = fateOf(&words, sizeof(words), cases[i].end, cases[i].code, arena, &mesh);
        assert_int_equal(fate, cases[i].fate);
    }
    srDestroyArena(arena);
}

static srResult readIntoSmallArena(void* context) {
    (void)context;
    srArena* arena = srCreateArena(16);
    if (arena == NULL) {
        return srFailOutOfMemory("the test");
    }
    Words words = goodWords();
    sign(&words);
    const srTetgenInput input = {
        .points = points, .pointCount = 6, .triangles = triangles, .triangleCount = 8};
    srProcessAnswer answer = {.fate = sr_processEnded, .bytes = (uint8_t*)&words, .byteCount = sizeof(words)};
    srTetgenFate fate;
    srTetgenMesh mesh;
    srResult result = srReadTetgenAnswer(&input, &answer, arena, &fate, &mesh);
    assert_int_equal(result == sr_success, mesh.cellCount > 0);
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(readIntoSmallArena, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(whole_cage_is_taken_with_cells_turned, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_bit_counts, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_other_length_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_signed_and_no_cage_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_has_the_right_volume_and_is_no_filling_is_refused,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(cells_that_turn_inside_out_or_split_the_surface_are_refused,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(node_that_no_cell_has_is_finite_too, srTestNothingLeaked),
        cmocka_unit_test_teardown(counts_of_the_head_are_not_believed, srTestNothingLeaked),
        cmocka_unit_test_teardown(end_of_the_program_is_named, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/tetgen_answer", tests, NULL, NULL);
}
