# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by ./softrig: which Blenders there are, what each needs, and how each runs a script. Debian 12 brings 3.4 as a
# program; 4.5 and 5.2 come as Python modules.

# what the modules load from the system, and Mesa's software driver to draw with
want_bpy() {
    want_venv "$1"
    want libX11.so.6 libx11-6
    want libXi.so.6 libxi6
    want libXrender.so.1 libxrender1
    want libXfixes.so.3 libxfixes3
    want libxkbcommon.so.0 libxkbcommon0
    want libSM.so.6 libsm6
    want libICE.so.6 libice6
    want libGL.so.1 libgl1
    want libEGL.so.1 libegl1
    want_software_drawing
}
want_software_drawing() { have dri/swrast_dri.so || have 'libgallium-*.so' || apt_missing+=(libgl1-mesa-dri); }

blender_program_version() { blender --version 2>/dev/null | sed -n 's/^Blender \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1; }
can_have_blender34() {
    if have blender; then [ "$(blender_program_version)" = 3.4 ]; else [ "$(distribution)" = debian-12 ]; fi
}

want_blender34() {
    want blender blender
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || apt_missing+=(python3-numpy)
    /usr/bin/python3 -c 'import pytest' 2>/dev/null || apt_missing+=(python3-pytest)
}

want_window() {
    want Xvfb xvfb
    want xdotool xdotool
    want import imagemagick
    want_software_drawing
}

# with_fresh_home COMMAND...: no settings and no add-ons but those that the command makes; nothing is left behind
with_fresh_home() (
    home=$(mktemp -d)
    trap 'rm -rf "$home"' EXIT
    mkdir "$home"/{config,scripts,extensions,temporary}
    export TMPDIR=$home/temporary BLENDER_USER_RESOURCES=$home BLENDER_USER_CONFIG=$home/config \
        BLENDER_USER_SCRIPTS=$home/scripts BLENDER_USER_EXTENSIONS=$home/extensions
    "$@"
)

run_installed=$here/addon/packaging/run_installed.py

# in_blender ZIP SCRIPT ARGUMENTS...: the program, without a window
in_blender() {
    PYTHONDONTWRITEBYTECODE=1 with_fresh_home blender --background --factory-startup --python-use-system-env \
        --python-exit-code 1 --python "$run_installed" -- "$@"
}

# in_blender_window SECONDS ZIP SCRIPT ARGUMENTS...: with its window, within a time; the size can be set, as drawing in
# software takes most of the time
in_blender_window() {
    PYTHONDONTWRITEBYTECODE=1 with_display with_fresh_home timeout --kill-after=10 "$1" blender --factory-startup \
        --python-use-system-env --python-exit-code 1 --window-geometry 0 0 ${window_size:-1280 900} \
        --python "$run_installed" -- "${@:2}"
}

# in_bpy NAME ZIP SCRIPT ARGUMENTS...: the module
in_bpy() { with_fresh_home "$(python_of "$1")" "$run_installed" -- "${@:2}"; }

# with_display COMMAND...: a screen of its own, drawn in software
with_display() (
    folder=$(mktemp -d)
    touch "$folder/number"
    Xvfb -displayfd 3 -screen 0 1280x960x24 -nolisten tcp 3>"$folder/number" 2>"$folder/log" &
    server=$!
    trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -rf "$folder"' EXIT
    for _ in $(seq 100); do
        [ -s "$folder/number" ] && break
        sleep 0.1
    done
    [ -s "$folder/number" ] || { echo "Xvfb did not start:" && cat "$folder/log" && exit 1; }
    export DISPLAY=:$(cat "$folder/number") LIBGL_ALWAYS_SOFTWARE=1
    "$@"
)

# some_blender: `program` if one of 3.4 or later is here, else a module that can be had, else Debian's program
some_blender() {
    local name
    if have blender && [ "$(printf '3.4\n%s\n' "$(blender_program_version)" | sort -V | head -n 1)" = 3.4 ]; then
        echo program
        return
    fi
    for name in bpy45 bpy52; do
        can_have_venv $name && echo $name && return
    done
    [ "$(distribution)" = ubuntu-24.04 ] || fail "no Blender 3.4 or later here, and no Python 3.11 or 3.13 for one from pip"
    echo program
}

demo() {
    want ffmpeg ffmpeg
    in_some_blender "$here/sample_blends/demo.py" --output "$here/demo" "$@"
}

weights() { in_some_blender "$here/sample_blends/weights.py" --output "$here/weights" "$@"; }

samples() { in_some_blender "$here/sample_blends/strips.py" --output "$here/samples" "$@"; }

# in_some_blender SCRIPT ARGUMENTS...: with the add-on, and a screen where Blender needs one to draw
in_some_blender() {
    local which
    which=$(some_blender)
    want_package
    if [ "$which" = program ]; then
        want blender blender
        want Xvfb xvfb
        want_software_drawing
    else
        want_bpy "$which"
    fi
    provide
    package
    if [ "$which" = program ]; then
        with_display in_blender "$(zip_path)" "$@"
    else
        in_bpy "$which" "$(zip_path)" "$@"
    fi
}

# bench_blender [--json]: in each Blender that can be had, and in the window of 3.4
bench_blender() {
    local name folder=$here/tests/bench/blender rows code=0
    local modules=()
    want_package
    if can_have_blender34; then
        want_blender34
        want_window
    fi
    for name in bpy45 bpy52; do
        can_have_venv $name && want_bpy $name && modules+=($name)
    done
    want python3 python3
    provide
    package >&2
    rows=$(mktemp)
    if can_have_blender34; then
        in_blender "$(zip_path)" "$folder/headless.py" "$rows" >&2 || code=1
        in_blender_window 600 "$(zip_path)" "$folder/window.py" "$rows" >&2 || code=1
    fi
    for name in "${modules[@]}"; do
        in_bpy $name "$(zip_path)" "$folder/headless.py" "$rows" >&2 || code=1
    done
    python3 "$folder/report.py" "$rows" "$@"
    rm "$rows"
    return $code
}
