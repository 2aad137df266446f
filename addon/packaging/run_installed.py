# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the zip in this Blender as a user would, then runs a script in it.

    blender --background --factory-startup --python run_installed.py -- ZIP SCRIPT [ARGUMENTS]
    python run_installed.py -- ZIP SCRIPT [ARGUMENTS]              where Blender is the module bpy

The caller gives a fresh folder for Blender's settings (tests/blenders.sh). The script finds its
arguments behind `--`, the zip in SOFTRIG_ZIP, and the add-on's name as a Python module in
SOFTRIG_MODULE. Without a window its end is Blender's; with a window Blender goes on until the
script quits it.
"""

import os
import runpy
import sys
import traceback

import bpy


def install(zip_path: str) -> str:
    """Installs and enables; returns the name that the add-on has as a Python module."""
    if bpy.app.version < (4, 2):
        bpy.ops.preferences.addon_install(filepath=zip_path)
        bpy.ops.preferences.addon_enable(module="softrig")
        name = "softrig"
    else:
        bpy.ops.extensions.package_install_files(
            repo="user_default", filepath=zip_path, enable_on_install=True
        )
        name = "bl_ext.user_default.softrig"
    if name not in bpy.context.preferences.addons:
        raise RuntimeError(f"{zip_path} was not installed and enabled")
    return name


def run() -> int:
    zip_path, script, *arguments = sys.argv[sys.argv.index("--") + 1 :]
    print(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}", flush=True)
    os.environ["SOFTRIG_ZIP"] = zip_path
    os.environ["SOFTRIG_MODULE"] = install(zip_path)
    sys.argv = [script, "--", *arguments]
    sys.path.insert(0, os.path.dirname(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def main() -> None:
    try:
        code = run()
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    if bpy.app.background or code != 0:
        # bpy 4.5 hangs at the interpreter's end while handlers are registered
        os._exit(code)


if __name__ == "__main__":
    main()
