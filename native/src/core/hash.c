// SPDX-License-Identifier: GPL-3.0-or-later
//
// FNV-1a, 64 bits: a byte at a time, so that the hash does not depend on byte order or on how a run of bytes
// was cut. The hash of a block multiplies words by odd numbers and turns them; each step can be undone, so
// that one changed word always changes its lane.

#include "core/hash.h"

#include <string.h>

#define LANE_COUNT 4

// odd, with about as many ones as zeros
#define FACTOR_IN 0x9e3779b97f4a7c15ull
#define FACTOR_ON 0xc2b2ae3d27d4eb4full

uint64_t srHashBytes(uint64_t hash, const void* bytes, size_t size) {
    const unsigned char* byte = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ byte[i]) * 0x100000001b3ull;
    }
    return hash;
}

static uint64_t turn(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
}

static uint64_t mix(uint64_t lane, uint64_t word) {
    return turn(lane ^ word * FACTOR_IN, 29) * FACTOR_ON + FACTOR_IN;
}

uint64_t srHashBlock(const void* bytes, size_t size) {
    const unsigned char* at = bytes;
    uint64_t lanes[LANE_COUNT] = {1, 2, 3, 4};
    size_t left = size;
    for (; left >= LANE_COUNT * sizeof(uint64_t); left -= LANE_COUNT * sizeof(uint64_t)) {
        for (int lane = 0; lane < LANE_COUNT; lane++, at += sizeof(uint64_t)) {
            uint64_t word;
            memcpy(&word, at, sizeof(word));
            lanes[lane] = mix(lanes[lane], word);
        }
    }

    // what is left, as if zeros followed; then all lanes and the size into one
    unsigned char rest[LANE_COUNT * sizeof(uint64_t)] = {0};
    if (left > 0) {
        memcpy(rest, at, left);
    }
    uint64_t hash = SR_HASH_SEED;
    for (int lane = 0; lane < LANE_COUNT; lane++) {
        uint64_t word;
        memcpy(&word, rest + (size_t)lane * sizeof(word), sizeof(word));
        hash = mix(hash, mix(lanes[lane], word));
    }
    hash = mix(hash, size);
    return (hash ^ hash >> 32) * FACTOR_ON;
}
