// SPDX-License-Identifier: GPL-3.0-or-later
//
// A 64-bit FNV-1a hash of bytes: for state hashes and the handshake. Not for tables under attack.

#pragma once

#include <stddef.h>
#include <stdint.h>

#define SR_HASH_SEED 0xcbf29ce484222325ull

/// The hash of `size` bytes, continued from `hash` (start with `SR_HASH_SEED`).
uint64_t srHashBytes(uint64_t hash, const void* bytes, size_t size);
