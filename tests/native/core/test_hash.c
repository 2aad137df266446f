// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/hash: the published vectors of FNV-1a, and that it does not matter how bytes are cut.

#include "core/hash.h"

#include "support/support.h"

#include <string.h>

static uint64_t hashText(const char* text) {
    return srHashBytes(SR_HASH_SEED, text, strlen(text));
}

static void published_vectors_are_met(void** state) {
    (void)state;
    assert_true(hashText("") == 0xcbf29ce484222325ull);
    assert_true(hashText("a") == 0xaf63dc4c8601ec8cull);
    assert_true(hashText("b") == 0xaf63df4c8601f1a5ull);
    assert_true(hashText("foobar") == 0x85944171f73967e8ull);
}

static void a_run_of_bytes_may_be_cut_anywhere(void** state) {
    (void)state;
    const char text[] = "the same bytes, however they come";
    size_t size = sizeof(text);
    uint64_t whole = srHashBytes(SR_HASH_SEED, text, size);
    for (size_t cut = 0; cut <= size; cut++) {
        uint64_t first = srHashBytes(SR_HASH_SEED, text, cut);
        assert_true(srHashBytes(first, text + cut, size - cut) == whole);
    }
}

static void one_bit_makes_another_hash(void** state) {
    (void)state;
    unsigned char bytes[64] = {0};
    uint64_t before = srHashBytes(SR_HASH_SEED, bytes, sizeof(bytes));
    for (int32_t bit = 0; bit < 512; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(srHashBytes(SR_HASH_SEED, bytes, sizeof(bytes)) != before);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void every_bit_byte_and_size_of_a_block_counts(void** state) {
    (void)state;
    unsigned char bytes[80] = {0};
    for (size_t size = 0; size <= 80; size++) {
        // a block of zeros of another size is another block
        for (size_t other = 0; other < size; other++) {
            assert_true(srHashBlock(bytes, other) != srHashBlock(bytes, size));
        }
    }
    uint64_t before = srHashBlock(bytes, 77);
    for (int32_t bit = 0; bit < 8 * 77; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(srHashBlock(bytes, 77) != before);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    // nor may words change places, within a lane or between lanes
    for (unsigned char i = 0; i < 80; i++) {
        bytes[i] = (unsigned char)(i * i + 1);
    }
    before = srHashBlock(bytes, 80);
    for (int32_t a = 0; a < 10; a++) {
        for (int32_t b = 0; b < a; b++) {
            unsigned char swapped[80];
            memcpy(swapped, bytes, 80);
            memcpy(swapped + 8 * a, bytes + 8 * b, 8);
            memcpy(swapped + 8 * b, bytes + 8 * a, 8);
            assert_true(srHashBlock(swapped, 80) != before);
        }
    }
}

static void blocks_of_one_content_hash_alike_wherever_they_lie(void** state) {
    (void)state;
    unsigned char room[128] = {0};
    for (size_t shift = 0; shift < 16; shift++) {
        memset(room, 0xee, sizeof(room));
        for (unsigned char i = 0; i < 100; i++) {
            room[shift + i] = i;
        }
        unsigned char plain[100];
        memcpy(plain, room + shift, 100);
        assert_true(srHashBlock(room + shift, 100) == srHashBlock(plain, 100));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_are_met),
        cmocka_unit_test(a_run_of_bytes_may_be_cut_anywhere),
        cmocka_unit_test(one_bit_makes_another_hash),
        cmocka_unit_test(every_bit_byte_and_size_of_a_block_counts),
        cmocka_unit_test(blocks_of_one_content_hash_alike_wherever_they_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
