// SPDX-License-Identifier: GPL-3.0-or-later
//
// Hashes of bytes, 64 bits: FNV-1a for what is short, and a fast one of our own for states and what is
// stored. Neither for tables under attack, nor against somebody who wants to deceive.

#pragma once

#include <stddef.h>
#include <stdint.h>

#define SR_HASH_SEED 0xcbf29ce484222325ull

/// The hash of `size` bytes, continued from `hash` (start with `SR_HASH_SEED`).
uint64_t srHashBytes(uint64_t hash, const void* bytes, size_t size);

/// The hash of a whole block, eight bytes at a time in four lanes: some bytes a clock instead of a clock a
/// byte. Depends on the machine's byte order. Every single bit counts, and so do size and order.
uint64_t srHashBlock(const void* bytes, size_t size);
