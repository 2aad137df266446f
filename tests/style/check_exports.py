# SPDX-License-Identifier: GPL-3.0-or-later
"""The shared library exports what the public headers declare with SR_API, and nothing else."""

import re
import subprocess
from pathlib import Path

from common import files, run, strip_comments

LIBRARY = Path("build/release/native/libsoftrig.so")


def declared_functions(root: Path) -> set[str]:
    names = set()
    for path in files(root, "native/include/**/*.h"):
        code = strip_comments(path.read_text(encoding="utf-8"))
        names |= set(re.findall(r"^SR_API\b[^;(]*?\b(\w+)\s*\(", code, re.MULTILINE))
    return names


def exported_symbols(library: Path) -> set[str]:
    command = ["nm", "-D", "--defined-only", "--format=posix", str(library)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[0].split("@")[0] for line in lines}


def find_faults(root: Path, library: Path | None = None) -> list[str]:
    library = library or root / LIBRARY
    if not library.is_file():
        return [f"{library} is not built"]
    declared = declared_functions(root)
    exported = exported_symbols(library)
    return [
        *(f"{name} is exported and in no public header" for name in sorted(exported - declared)),
        *(f"{name} is declared and not exported" for name in sorted(declared - exported)),
    ]


if __name__ == "__main__":
    run(find_faults)
