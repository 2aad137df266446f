#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh BUILD [NAME...]: runs the fuzzers of a build, or the named ones, and closes with how many held. A short run by
# default; SR_FUZZ_RUNS=1000000 for one that a release stands on. The input of a crash is left in BUILD/tests/fuzz.

set -uo pipefail
folder=$1/tests/fuzz
shift
runs=${SR_FUZZ_RUNS:-}
names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd "$folder" && ls | sed -n 's/^fuzz_//p' | grep -v '\.'))
passed=0
failed=0
for name in "${names[@]}"; do
    if [ -z "$runs" ]; then
        limits=(--seconds 3)
    elif [ "$name" = prepare ] || [ "$name" = tetgen_order ]; then
        # a whole character or a process each: a hundredth of the runs takes as long
        limits=(--runs $((runs / 100)))
    else
        limits=(--runs "$runs")
    fi
    # leaks are found at the end; a factor or a soup of absurd size is refused, not a fault
    if ASAN_OPTIONS=allocator_may_return_null=1 "$folder/fuzz_$name" "${limits[@]}" --seed "${SR_FUZZ_SEED:-1}" \
        --crashes "$folder"; then
        passed=$((passed + 1))
    else
        echo "fuzz_$name failed"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
