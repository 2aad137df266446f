#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# coverage.sh [RUNS [NAME...]]: the fuzzers, and what of the files they are for was reached. Where clang, its runtime and llvm
# are installed by libFuzzer, built into build/fuzz-clang; else by our own driver with gcc's gcov, built into build/fuzz-gcov.
# Prints executions and a table of coverage. SR_FUZZ_COMPILER=gcc asks for the latter.

set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
runs=${1:-1000000}
shift $(($# > 0 ? 1 : 0))
compiler=${SR_FUZZ_COMPILER:-$(command -v clang >/dev/null && echo clang || echo gcc)}
build=$here/build/fuzz-$([ "$compiler" = clang ] && echo clang || echo gcov)
options=(-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSR_FUZZ=ON -DSR_TESTS=OFF -DSR_BENCH=OFF -DSR_WARNINGS=OFF -DSR_ASSERTS=ON)
if [ "$compiler" = clang ]; then
    options+=(-DSR_SANITIZE=address,undefined)
else
    # counts of several threads are added up; memory is the business of the other build's sanitizers
    options+=(-DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic")
fi
CC=$compiler cmake -S "$here" -B "$build" "${options[@]}" >/dev/null
cmake --build "$build" --target fuzzers

# what each fuzzer is for: files or folders
declare -A parts=(
    [read_obj]="native/cli/read_obj.c native/cli/text.c"
    [read_off]="native/cli/read_off.c native/cli/text.c"
    [read_medit]="native/cli/read_medit.c native/cli/text.c"
    [read_rig]="native/cli/read_rig.c native/cli/text.c"
    [open_character]="native/src/sim/character_file.c native/src/sim/character_check.c"
    [open_factor]="native/src/math/factor_layout.c native/src/math/solve.c"
    [read_tetgen]="native/src/mesh/tetgen_answer.c"
    [tetgen_order]="native/src/core/process.c native/src/mesh/tetgen_answer.c"
    [field]="native/src/mesh/surface.c native/src/mesh/bvh.c native/src/mesh/field.c native/src/mesh/solid.c native/src/mesh/patches.c"
    [prepare]="native/src/mesh native/src/sim/character.c native/src/weights"
)

# cover_clang NAME RUNS
cover_clang() {
    local work=$build/run-$1 plain=$here/build/fuzz/tests/fuzz/fuzz_$1
    mkdir -p "$work/corpus" "$work/seeds"
    # seeds come from the plain driver where it was built
    [ ! -x "$plain" ] || "$plain" --write-seeds "$work/seeds"
    (cd "$work" && LLVM_PROFILE_FILE=$work/run.profraw "$build/tests/fuzz/fuzz_$1" -runs="$2" -seed=1 -max_len=4096 \
        -timeout=10 -print_final_stats=1 corpus seeds >log 2>&1) || { tail -n 30 "$work/log" && exit 1; }
    printf '\n%s: %s executions, %s\n' "$1" "$(sed -n 's/^stat::number_of_executed_units: //p' "$work/log")" \
        "$(grep -o 'cov: [0-9]* ft: [0-9]*' "$work/log" | tail -n 1)"
    llvm-profdata merge -sparse "$work/run.profraw" -o "$work/run.profdata"
    (cd "$here" && llvm-cov report "$build/tests/fuzz/fuzz_$1" -instr-profile="$work/run.profdata" ${parts[$1]}) |
        awk '/\.c |^TOTAL/ { printf "  %-36s %6s of regions, %6s of lines\n", $1, $4, $10 }'
}

# cover_gcc NAME RUNS: what the fuzzers before it reached is forgotten
cover_gcc() {
    local part files file notes
    find "$build" -name '*.gcda' -delete
    echo
    "$build/tests/fuzz/fuzz_$1" --runs "$2" --seed 1 --crashes "$build"
    for part in ${parts[$1]}; do
        files=("$here/$part")
        [ ! -d "$here/$part" ] || files=("$here/$part"/*.c)
        for file in "${files[@]}"; do
            notes=$(find "$build/native" -name "$(basename "$file").gcda" | head -n 1)
            [ -z "$notes" ] || gcov --branch-probabilities --no-output "$notes" 2>/dev/null |
                awk -v path="$file" -v name="$(basename "$file")" -F '[:%]' '
                    /^File/ { here = index($0, path) > 0 }
                    here && /^Lines executed/ { lines = $2 }
                    here && /^Taken at least once/ { taken = $2 }
                    END { printf "  %-36s %6s %% of lines, %6s %% of branches\n", name, lines, taken }'
        done
    done
}

names=("$@")
[ $# -gt 0 ] || names=($(printf '%s\n' "${!parts[@]}" | sort))
for name in "${names[@]}"; do
    count=$runs
    # a whole character or a process each
    [[ $name != prepare && $name != tetgen_order ]] || count=$((runs / 100))
    "cover_$compiler" "$name" "$count"
done
