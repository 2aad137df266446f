# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by ./softrig: the stages of `./softrig test`. For a stage NAME, want_stage_NAME collects what it needs (or
# sets skip_reason), run_stage_NAME runs it.

stages=(style native sanitizers fuzz addon package blender34 blender34-window blender45 blender52)
# only run when they are named: what takes long and seldom finds what the others did not
long_stages=(millions soak)
skip_reason=

run_pytest() { "$(python_of tools)" -m pytest -q -rs -p no:cacheprovider --rootdir "$here/tests" "$@"; }

# ---- style: the doorkeeper ---------------------------------------------------------------------------------------------

want_stage_style() {
    want_style
    want_build
}
run_stage_style() {
    local code=0
    build release
    "$(python_of tools)" "$here/tests/style/format.py" --check || code=1
    run_pytest "$here/tests/style" || code=1
    return $code
}

# ---- native: every test program, optimised as it is shipped ------------------------------------------------------------

want_emulation() {
    want aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    want qemu-aarch64 qemu-user
    want_venv package
}

# use_zig: the package's compiler, where it is, for what tests build for another processor
use_zig() {
    SR_ZIG=$(compgen -G "$(venv_path package)/lib/python3*/site-packages/ziglang/zig") || return 0
    export SR_ZIG ZIG_GLOBAL_CACHE_DIR=$cache/zig ZIG_LOCAL_CACHE_DIR=$cache/zig
}

# run_ctest PRESET ARGUMENTS...: a test that was skipped counts as passed there; where CI is set it is a failure, as everywhere
run_ctest() {
    local preset=$1 log=$here/build/$1/ctest.log
    shift
    ctest --test-dir "$here/build/$preset" --output-on-failure --no-tests=error -j 2 "$@" | tee "$log" || return 1
    [ -z "${CI:-}" ] || ! grep -q '(Skipped)$' "$log" || fail "where CI is set a skip is a failure"
}

want_stage_native() {
    want_build
    [ -z "${CI:-}" ] || want_emulation
}
run_stage_native() {
    use_zig
    build release
    run_ctest release
}

# ---- millions: ten million matrices of each kind through rotations and decompositions, and long runs on emulated ARM -----

want_stage_millions() {
    want_build
    want_emulation
}
run_stage_millions() {
    build release
    SR_TEST_FULL=1 run_ctest release -R '^math/(test_rotation|test_svd|neon_bits)$'
}

# ---- sanitizers: memory and undefined behaviour in all tests, races in those that start threads; assertions on ---------

want_stage_sanitizers() { want_stage_native; }
run_stage_sanitizers() {
    build asan
    UBSAN_OPTIONS=print_stacktrace=1 run_ctest asan
    build tsan
    # the sanitizer's fixed addresses collide with a randomised layout on some kernels
    local steady=()
    setarch -R true 2>/dev/null && steady=(setarch -R)
    # the system's CHOLMOD has loops of OpenMP, whose barriers the sanitizer does not see
    OMP_THREAD_LIMIT=1 "${steady[@]}" ctest --test-dir "$here/build/tsan" --output-on-failure --no-tests=error -j 2 \
        -L '^threads$'
}

# ---- fuzz: readers and field on bytes of all sorts, a few seconds each; SR_FUZZ_RUNS=1000000 for the whole ----------------

want_stage_fuzz() { want_build; }
run_stage_fuzz() {
    build fuzz --target fuzzers
    "$here/tests/fuzz/run.sh" "$here/build/fuzz"
}

# ---- addon: its thinking part in plain Python, on the library of this build and on the packaged one if there is one ----

want_stage_addon() {
    want_venv tools
    want_build
}
run_stage_addon() {
    local library code=0
    build release
    for library in "$here/build/release/native/libsoftrig.so" "$here/build/package-linux-x64/stage/libsoftrig.so"; do
        [ -e "$library" ] || continue
        echo "on $library"
        PYTHONPATH=$here/addon SOFTRIG_LIBRARY=$library \
            run_pytest "$here/tests/addon/pure" || code=1
    done
    return $code
}

# ---- package: the zip as it is shipped ---------------------------------------------------------------------------------

want_stage_package() {
    want_package
    want_venv tools
    want readelf binutils
}
# with Blender's own tool, where a Blender as Python module is here already
validate_zip() {
    local name tool
    for name in bpy52 bpy45; do
        tool=$(compgen -G "$(venv_path $name)/lib/python3*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py") || continue
        "$(python_of $name)" "$tool" validate "$(zip_path)"
        return
    done
}
run_stage_package() {
    package
    validate_zip
    SOFTRIG_ZIP=$(zip_path) PYTHONPATH=$here/tests/style:$here/addon/packaging run_pytest "$here/tests/addon/package"
}

# ---- the three Blenders, on the zip, installed as a user would; some tests compare with the command line program -------

make_for_blender() {
    package
    build release --target softrig_cli corpus_judge
    # judged where the build is held to the limits of the corpus
    if grep -qsxF "SR_CORPUS:BOOL=ON" "$here/build/release/CMakeCache.txt"; then
        export SOFTRIG_JUDGE=$here/build/release/tests/corpus_judge
    fi
}

want_stage_blender34() {
    can_have_blender34 || { skip_reason="Blender 3.4 is what Debian 12 has; this is $(distribution)" && return; }
    want_package
    want_build
    want_blender34
}
run_stage_blender34() {
    make_for_blender
    in_blender "$(zip_path)" "$here/tests/addon/blender/run.py"
}

want_stage_blender34_window() {
    want_stage_blender34
    [ -n "$skip_reason" ] || want_window
}
run_stage_blender34_window() {
    make_for_blender
    in_blender_window 600 "$(zip_path)" "$here/tests/addon/blender/window/run.py"
}

want_stage_bpy() {
    can_have_venv "$1" || { skip_reason="no Python $(requirement "$1" python) on this machine" && return; }
    want_package
    want_build
    want_bpy "$1"
}
run_stage_bpy() {
    make_for_blender
    in_bpy "$1" "$(zip_path)" "$here/tests/addon/blender/run.py"
}
want_stage_blender45() { want_stage_bpy bpy45; }
run_stage_blender45() { run_stage_bpy bpy45; }
want_stage_blender52() { want_stage_bpy bpy52; }
run_stage_blender52() { run_stage_bpy bpy52; }

# ---- soak: thousands of random actions in each Blender, and with undo in a window; planted faults must be found ----------

# the Blenders that can be had, each as the start of a command
soak_blenders() {
    local name
    ! can_have_blender34 || echo "in_blender"
    for name in bpy45 bpy52; do
        ! can_have_venv $name || echo "in_bpy $name"
    done
}
want_stage_soak() {
    local name
    want_package
    if can_have_blender34; then
        want_blender34
        want_window
    fi
    for name in bpy45 bpy52; do
        ! can_have_venv $name || want_bpy $name
    done
}
run_stage_soak() {
    local blender plant code=0 folder=$here/tests/addon/blender/soak
    package
    while read -r blender; do
        $blender "$(zip_path)" "$folder/soak.py" </dev/null || code=1
        for plant in pointer cache; do
            if $blender "$(zip_path)" "$folder/soak.py" --least 0 --plant $plant </dev/null >/dev/null 2>&1; then
                echo "$blender: the planted fault '$plant' was not found"
                code=1
            else
                echo "$blender: the planted fault '$plant' was found"
            fi
        done
    done < <(soak_blenders)
    if can_have_blender34; then
        # as many as without a window; a small one, as drawing in software takes most of the time
        window_size="640 480" in_blender_window 7200 "$(zip_path)" "$folder/window.py" --actions 2000 --least 30 ||
            code=1
    fi
    return $code
}

# ---- running them ------------------------------------------------------------------------------------------------------

# run_stages NAME...: all stages when no name is given
run_stages() {
    local name function names=("$@") code begin passed=0 failed=0 skipped=0
    local -A reasons
    local summary=()
    [ ${#names[@]} -gt 0 ] || names=("${stages[@]}")
    for name in "${names[@]}"; do
        [[ " ${stages[*]} ${long_stages[*]} " == *" $name "* ]] ||
            fail "there is no stage '$name'; there are: ${stages[*]} ${long_stages[*]}"
        skip_reason=
        "want_stage_${name//-/_}"
        reasons[$name]=$skip_reason
    done
    provide

    for name in "${names[@]}"; do
        say "$name"
        begin=$SECONDS
        if [ -n "${reasons[$name]}" ]; then
            echo "skipped: ${reasons[$name]}"
            if [ -n "${CI:-}" ]; then
                failed=$((failed + 1))
                summary+=("$(printf '%-18s FAILED   a skip is a failure where CI is set: %s' "$name" "${reasons[$name]}")")
            else
                skipped=$((skipped + 1))
                summary+=("$(printf '%-18s skipped  %s' "$name" "${reasons[$name]}")")
            fi
            continue
        fi
        set +e
        (set -e && "run_stage_${name//-/_}")
        code=$?
        set -e
        if [ $code -eq 0 ]; then
            passed=$((passed + 1))
            summary+=("$(printf '%-18s passed   %4d s' "$name" $((SECONDS - begin)))")
        else
            failed=$((failed + 1))
            summary+=("$(printf '%-18s FAILED   %4d s, exit code %d' "$name" $((SECONDS - begin)) $code)")
        fi
    done

    say "summary"
    printf '%s\n' "${summary[@]}"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
}
