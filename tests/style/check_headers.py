# SPDX-License-Identifier: GPL-3.0-or-later
"""Every header compiles alone: as C17, and the library's as C++17 too."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import files, run

LANGUAGES = {
    "C17": ["cc", "-std=c17", "-x", "c"],
    "C++17": ["c++", "-std=c++17", "-x", "c++"],
}
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L"]
ROOTS = ("native/include", "native/src", "native", "tests/native", "tests/bench", "tests")
LIBRARY_HEADERS = ("native/include/**/*.h", "native/src/**/*.h")
OTHER_HEADERS = ("native/cli/**/*.h", "tests/**/*.h")


def compile_alone(root: Path, header: Path, language: str) -> str | None:
    command = [
        *LANGUAGES[language],
        *FLAGS,
        *(f"-I{root / folder}" for folder in ROOTS),
        "-",
    ]
    source = f'#include "{header}"\n'
    result = subprocess.run(command, input=source, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    first = next((line for line in result.stderr.splitlines() if "error" in line), result.stderr)
    return f"{header.relative_to(root)} does not compile alone as {language}: {first}"


def find_faults(root: Path) -> list[str]:
    jobs = [
        *((root, header, name) for header in files(root, *LIBRARY_HEADERS) for name in LANGUAGES),
        *((root, header, "C17") for header in files(root, *OTHER_HEADERS)),
    ]
    with ThreadPoolExecutor(2) as pool:
        return [fault for fault in pool.map(lambda job: compile_alone(*job), jobs) if fault]


if __name__ == "__main__":
    run(find_faults)
