#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# neon_bits.sh <program> <root>: every path of this machine, and of an emulated 64-bit ARM, makes the same bits.
# <program> is rotation_bits of this build. Answers 77 (skipped) when there is no cross compiler or no emulator.
set -eu
program=$1
root=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

rounds=60
if [ -n "${SR_TEST_FULL:-}" ]; then
    rounds=1000
fi
"$program" $rounds > "$folder/here"
cat "$folder/here"
compiler=${SR_ARM_COMPILER:-aarch64-linux-gnu-gcc}
if ! command -v "$compiler" > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
    echo "skipped: needs $compiler and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu, qemu-user)"
    exit 77
fi

src=$root/native/src
"$compiler" -std=c17 -O2 -static -ffp-contract=off -fno-strict-aliasing -fno-math-errno -Wno-psabi -DSR_HAS_NEON \
    -D_POSIX_C_SOURCE=200809L -I"$src" -I"$root/native/include" -I"$root/tests/native" \
    "$root/tests/native/math/rotation_bits.c" "$src"/math/rotation*.c "$src/math/simd_path.c" "$src/core/hash.c" \
    -lm -o "$folder/rotation_bits"
qemu-aarch64 "$folder/rotation_bits" $rounds > "$folder/there"
cat "$folder/there"
count=$(cut -d' ' -f2 "$folder/here" "$folder/there" | sort -u | wc -l)
if [ "$count" -ne 1 ]; then
    echo "the bits differ"
    exit 1
fi
grep -q neon "$folder/there"
