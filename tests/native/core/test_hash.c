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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_are_met),
        cmocka_unit_test(a_run_of_bytes_may_be_cut_anywhere),
        cmocka_unit_test(one_bit_makes_another_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
