#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# coverage.sh [RUNS [NAME]]: the fuzzers under clang's libFuzzer, and what of the files they are for was reached. Needs clang,
# its runtime and llvm; builds into build/fuzz-clang. Prints executions and a table of coverage.

set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$here/build/fuzz-clang
runs=${1:-1000000}
CC=clang cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSR_FUZZ=ON -DSR_TESTS=OFF \
    -DSR_BENCH=OFF -DSR_WARNINGS=OFF -DSR_ASSERTS=ON -DSR_SANITIZE=address,undefined >/dev/null
cmake --build "$build" --target fuzzers

# what each fuzzer is for: files or folders
declare -A parts=(
    [read_obj]="native/cli/read_obj.c native/cli/text.c"
    [read_off]="native/cli/read_off.c native/cli/text.c"
    [read_medit]="native/cli/read_medit.c native/cli/text.c"
    [read_rig]="native/cli/read_rig.c native/cli/text.c"
    [open_factor]="native/src/math/factor_layout.c native/src/math/solve.c"
    [read_tetgen]="native/src/mesh/tetgen_answer.c"
    [tetgen_order]="native/src/core/process.c native/src/mesh/tetgen_answer.c"
    [field]="native/src/mesh/surface.c native/src/mesh/bvh.c native/src/mesh/field.c"
    [prepare]="native/src/mesh native/src/sim/character.c native/src/weights"
)
for name in ${2:-"${!parts[@]}"}; do
    work=$build/run-$name
    mkdir -p "$work/corpus" "$work/seeds"
    count=$runs
    [[ $name != prepare && $name != tetgen_order ]] || count=$((runs / 100))
    # seeds come from the plain driver where it was built
    plain=$here/build/fuzz/tests/fuzz/fuzz_$name
    [ ! -x "$plain" ] || "$plain" --write-seeds "$work/seeds"
    (cd "$work" && LLVM_PROFILE_FILE=$work/run.profraw "$build/tests/fuzz/fuzz_$name" -runs="$count" -seed=1 -max_len=4096 \
        -timeout=10 -print_final_stats=1 corpus seeds >log 2>&1) || { tail -n 30 "$work/log" && exit 1; }
    printf '\n%s: %s executions, %s\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: //p' "$work/log")" \
        "$(grep -o 'cov: [0-9]* ft: [0-9]*' "$work/log" | tail -n 1)"
    llvm-profdata merge -sparse "$work/run.profraw" -o "$work/run.profdata"
    (cd "$here" && llvm-cov report "$build/tests/fuzz/fuzz_$name" -instr-profile="$work/run.profdata" ${parts[$name]}) |
        awk '/\.c |^TOTAL/ { printf "  %-36s %6s of regions, %6s of lines\n", $1, $4, $10 }'
done
