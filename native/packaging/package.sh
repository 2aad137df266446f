#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# package.sh PYTHON CACHE: builds the library that artists install (no dependency but glibc 2.28) and the add-on's zip
# around it, dist/softrig-VERSION-linux-x64.zip. PYTHON is that of the environment `package`; CACHE keeps the source of
# SuiteSparse and zig's objects, so that only what changed is compiled, in every clone.

set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
python=$1
cache=$2
platform=linux-x64
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "package: only Linux on x86-64 is built so far" >&2 && exit 1; }

distribution=$(. /etc/os-release && echo "${ID:-unknown}-${VERSION_ID:-0}")
suitesparse=$cache/suitesparse-$distribution
tetgen=$cache/tetgen-$distribution
"$here/native/packaging/fetch_source.sh" suitesparse "$suitesparse" '*/SuiteSparse_config' '*/AMD' '*/COLAMD' '*/CHOLMOD'
"$here/native/packaging/fetch_source.sh" tetgen "$tetgen"

# compile and link
folders=$("$python" -c 'import importlib.util as u
for name in "ziglang", "scipy_openblas32":
    print(u.find_spec(name).submodule_search_locations[0])')
zig=$(head -n 1 <<<"$folders")/zig
openblas=$(tail -n 1 <<<"$folders")/lib
build=$here/build/package-$platform
export ZIG_GLOBAL_CACHE_DIR=$cache/zig ZIG_LOCAL_CACHE_DIR=$cache/zig
settings=(
    -DSR_ZIG="$zig"
    -DSR_SUITESPARSE_SOURCE="$suitesparse"
    -DSR_OPENBLAS_FOLDER="$openblas"
    -DSR_TETGEN_SOURCE="$tetgen"
    -DSR_BUNDLED_DEPENDENCIES=ON
    -DSR_WARNINGS=OFF
    -DSR_TESTS=OFF
    -DSR_BENCH=OFF
    -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
    '-DCMAKE_INSTALL_RPATH=$ORIGIN'
    -DCMAKE_SHARED_LINKER_FLAGS=-s
    -DCMAKE_EXE_LINKER_FLAGS=-s
)
mkdir -p "$here/build"
printf '%s\n' "$here" "${settings[@]}" >"$build.settings.new"
if ! cmp -s "$build.settings" "$build.settings.new"; then
    rm -rf "$build"
    cmake -S "$here" -B "$build" -G Ninja --toolchain "$here/native/packaging/$platform.cmake" "${settings[@]}"
    cp "$build.settings.new" "$build.settings"
fi
cmake --build "$build" --target softrig softrig_tetgen

# what goes into the zip beside the add-on
stage=$build/stage
rm -rf "$stage"
mkdir -p "$stage/licences"
cp "$build/native/libsoftrig.so" "$build/native/softrig-tetgen" "$stage/"
cp "$openblas"/lib*.so* "$stage/"
"$python" "$here/native/packaging/bind_symbols_inside.py" "$stage/libscipy_openblas.so"
"$here/native/packaging/collect_licences.sh" "$suitesparse" "$tetgen" "$openblas/../.." "$stage/licences"
"$python" "$here/addon/packaging/build_zip.py" --library "$stage" --platform "$platform" --output "$here/dist"
