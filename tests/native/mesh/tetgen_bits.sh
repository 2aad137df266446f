#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tetgen_bits.sh <test> <native> <source> <root>: TetGen's helper, built for 64-bit ARM by another compiler against
# another C library and emulated, gives the nodes and cells that <native>, this build's, gives to <test>
# (mesh/test_tetgen). <source> is TetGen's. SR_ZIG is the program zig; without it a cross g++ does. Answers 77 (skipped)
# when there is no cross compiler or no emulator.
set -eu
test=$1
native=$2
source=$3
root=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ -n "${SR_ZIG:-}" ]; then
    compiler="$SR_ZIG c++ -target aarch64-linux-musl"
    linker="$SR_ZIG cc -target aarch64-linux-musl"
else
    compiler=${SR_ARM_CXX_COMPILER:-aarch64-linux-gnu-g++}
    linker=$compiler
fi
if ! command -v ${compiler%% *} > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
    echo "skipped: needs zig in SR_ZIG (./softrig sets it) or ${compiler%% *}, and qemu-aarch64 (Debian: qemu-user)"
    exit 77
fi

# as native/helper/CMakeLists.txt does
helper=$root/native/helper
flags="-O2 -ffp-contract=off -fno-strict-aliasing -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -fno-sanitize=undefined -std=c++17 -D_DEFAULT_SOURCE -w -I$root/native/src -I$helper -I$source"
$compiler $flags -c "$helper/main.cxx" -o "$folder/main.o"
$compiler $flags -c "$helper/portable.cxx" -o "$folder/portable.o"
$compiler $flags -include "$helper/portable.h" -Dmain=srTetgenMain -c "$source/tetgen.cxx" -o "$folder/tetgen.o"
$compiler $flags -O0 -c "$source/predicates.cxx" -o "$folder/predicates.o"
$linker -static "$folder"/*.o -lm -o "$folder/softrig-tetgen"
[ "$(od -A n -t u2 -j 18 -N 2 "$folder/softrig-tetgen" | tr -d ' ')" = 183 ] # a program for 64-bit ARM

printf '#!/bin/sh\nexec qemu-aarch64 "%s" "$@"\n' "$folder/softrig-tetgen" > "$folder/emulated"
chmod +x "$folder/emulated"
hash_with() {
    SR_TEST_TETGEN=$1 SR_TEST_FILTER='*same_surfaces*' "$test" > "$folder/log" 2>&1 || {
        cat "$folder/log"
        exit 1
    }
    grep -q 'OK.*same_surfaces_give_the_same_bits' "$folder/log"
    grep '^surface' "$folder/log" | uniq
}
hash_with "$native" > "$folder/here"
hash_with "$folder/emulated" > "$folder/there"
cat "$folder/there"
cmp "$folder/here" "$folder/there"
