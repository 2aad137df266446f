#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# neon_bits.sh <program> <root>: every path of this machine, and of an emulated 64-bit ARM, makes the same bits of
# flesh. <program> is flesh_bits of this build. Answers 77 (skipped) without a cross compiler or an emulator.
set -eu
program=$1
root=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$program" > "$folder/here"
cat "$folder/here"
compiler=${SR_ARM_COMPILER:-aarch64-linux-gnu-gcc}
if ! command -v "$compiler" > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
    echo "skipped: needs $compiler and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu, qemu-user)"
    exit 77
fi

src=$root/native/src
"$compiler" -std=c17 -O2 -static -ffp-contract=off -fno-strict-aliasing -fno-math-errno -Wno-psabi -DSR_HAS_NEON \
    -D_POSIX_C_SOURCE=200809L -I"$src" -I"$root/native/include" -I"$root/tests/native" -pthread \
    "$root/tests/native/solver/flesh_bits.c" "$src"/solver/flesh*.c "$src"/solver/coarse*.c "$src"/solver/patches.c \
    "$src"/solver/pace.c "$src"/solver/batches.c "$src"/solver/chunks.c "$src"/solver/solver_kernels*.c \
    "$src/elastic/material.c" "$src"/math/rotation*.c "$src"/math/linear_*.c "$src/math/small.c" \
    "$src/math/simd_path.c" "$src/core/hash.c" "$src/core/alloc.c" "$src/core/error.c" "$src/core/parallel.c" \
    "$src/core/thread.c" -lm -o "$folder/flesh_bits"
qemu-aarch64 "$folder/flesh_bits" > "$folder/there"
cat "$folder/there"
count=$(cut -d' ' -f2 "$folder/here" "$folder/there" | sort -u | wc -l)
if [ "$count" -ne 1 ]; then
    echo "the bits differ"
    exit 1
fi
grep -q neon "$folder/there"
