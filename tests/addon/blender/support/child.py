# SPDX-License-Identifier: GPL-3.0-or-later
"""Another Blender of the same kind, with the same add-on: what a farm machine starts."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy

from . import addon

IS_MODULE = not bpy.app.binary_path
OPEN = "import bpy, addon_utils; addon_utils.enable({name!r}); "
LOAD = "bpy.ops.wm.open_mainfile(filepath={path!r}); "


def command(path: Path, expression: str, *more: str) -> list[str]:
    """The documented plain form, then `more`; where Blender is a module, what comes nearest."""
    if not IS_MODULE:
        name = addon.NAME
        # before the file, as one that the preferences switch on
        options = ["--python-use-system-env", "--addons", name, "--python-exit-code", "1"]
        return [bpy.app.binary_path, "-b", *options, str(path), "--python-expr", expression, *more]
    before = OPEN.format(name=addon.NAME) + LOAD.format(path=str(path))
    # the module has no --python-exit-code, and 4.5 hangs at the end of the interpreter
    wrapped = (
        "import os, sys, traceback\n"
        f"try:\n    exec({before + expression!r}); code = 0\n"
        "except SystemExit as end:\n    code = end.code\n"
        "except BaseException:\n    traceback.print_exc(); code = 1\n"
        "sys.stdout.flush(); os._exit(code)"
    )
    return [sys.executable, "-c", wrapped, *more]


def start(path: Path, expression: str, *more: str) -> Any:
    return subprocess.Popen(
        command(path, expression, *more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
    )


def run(path: Path, expression: str, *more: str, seconds: float = 240.0) -> tuple[int, str]:
    """Exit code and all that it said."""
    child = start(path, expression, *more)
    text, _ = child.communicate(timeout=seconds)
    return child.returncode, text
