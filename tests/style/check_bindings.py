# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's bindings are what their generator makes; every struct has the size it has in C.

Needs the environment `tools` (pycparser, ruff) and a built library.
"""

import ctypes
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from common import run

BINDINGS = Path("addon/softrig/native/bindings.py")
GENERATOR = Path("addon/packaging/generate_bindings.py")
LIBRARY = Path("build/release/native/libsoftrig.so")


def load_bindings(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("checked_bindings", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_generated(root: Path) -> list[str]:
    command = [sys.executable, str(root / GENERATOR), "--print"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return [f"{GENERATOR} failed: {result.stderr.strip().splitlines()[-1]}"]
    if (root / BINDINGS).read_text(encoding="utf-8") != result.stdout:
        return [f"{BINDINGS} is not what {GENERATOR} makes; run it"]
    return []


def check_sizes(root: Path, library: Path) -> list[str]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    loaded = ctypes.CDLL(str(library))
    loaded.srGetStructSize.restype = ctypes.c_size_t
    loaded.srGetStructSize.argtypes = (ctypes.c_char_p,)
    faults = []
    for name, struct in load_bindings(root / BINDINGS).STRUCTS.items():
        size = loaded.srGetStructSize(name.encode())
        if size != ctypes.sizeof(struct):
            faults.append(f"{name}: {size} bytes in C, {ctypes.sizeof(struct)} in {BINDINGS}")
    return faults


def find_faults(root: Path, library: Path | None = None) -> list[str]:
    library = library or root / LIBRARY
    if not (root / BINDINGS).is_file():
        return [f"there is no {BINDINGS}; run {GENERATOR}"]
    if not library.is_file():
        return [f"{library} is not built"]
    return check_generated(root) + check_sizes(root, library)


if __name__ == "__main__":
    run(find_faults)
