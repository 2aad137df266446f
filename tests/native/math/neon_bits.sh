#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# neon_bits.sh <store> <program> <root>: every path of this machine, and of an emulated 64-bit ARM, makes the same
# bits, also with a factor that this machine stored. <store> and <program> are store_factor and kernel_bits of this
# build. Answers 77 (skipped) when there is no cross compiler or no emulator.
set -eu
store=$1
program=$2
root=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

rounds=40
if [ -n "${SR_TEST_FULL:-}" ]; then
    rounds=400
fi
"$store" "$folder/factor"
"$program" $rounds "$folder/factor" > "$folder/here"
cat "$folder/here"
if [ "$(cut -d' ' -f2 "$folder/here" | sort -u | wc -l)" -ne 1 ]; then
    echo "the bits differ"
    exit 1
fi
compiler=${SR_ARM_COMPILER:-aarch64-linux-gnu-gcc}
if ! command -v "$compiler" > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
    echo "skipped: needs $compiler and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu, qemu-user)"
    exit 77
fi

src=$root/native/src
"$compiler" -std=c17 -O2 -static -ffp-contract=off -fno-strict-aliasing -fno-math-errno -Wno-psabi -DSR_HAS_NEON \
    -D_POSIX_C_SOURCE=200809L -I"$src" -I"$root/native/include" -I"$root/tests/native" \
    "$root/tests/native/math/kernel_bits.c" "$src"/math/rotation*.c "$src"/math/linear*.c "$src/math/solve.c" \
    "$src/math/factor_layout.c" "$src/math/factor_narrow.c" "$src/math/factor_tasks.c" "$src/math/thin.c" "$src/math/small.c" "$src/math/csc.c" "$src/math/simd_path.c" \
    "$src/core/alloc.c" "$src/core/error.c" "$src/core/hash.c" "$src/core/parallel.c" "$src/core/thread.c" -pthread -lm -o "$folder/kernel_bits"
qemu-aarch64 "$folder/kernel_bits" $rounds "$folder/factor" > "$folder/there"
cat "$folder/there"
count=$(cut -d' ' -f2 "$folder/here" "$folder/there" | sort -u | wc -l)
if [ "$count" -ne 1 ]; then
    echo "the bits differ"
    exit 1
fi
grep -q neon "$folder/there"
