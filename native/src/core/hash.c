// SPDX-License-Identifier: GPL-3.0-or-later
//
// FNV-1a, 64 bits: a byte at a time, so that the hash does not depend on byte order or on how a run of bytes
// was cut.

#include "core/hash.h"

uint64_t srHashBytes(uint64_t hash, const void* bytes, size_t size) {
    const unsigned char* byte = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ byte[i]) * 0x100000001b3ull;
    }
    return hash;
}
