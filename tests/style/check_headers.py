# SPDX-License-Identifier: GPL-3.0-or-later
"""Every header compiles alone, as C17 and as C++17."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import files, run

LANGUAGES = {
    "C17": ["cc", "-std=c17", "-x", "c"],
    "C++17": ["c++", "-std=c++17", "-x", "c++"],
}
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L"]


def compile_alone(root: Path, header: Path, language: str) -> str | None:
    command = [
        *LANGUAGES[language],
        *FLAGS,
        f"-I{root / 'native' / 'include'}",
        f"-I{root / 'native' / 'src'}",
        "-",
    ]
    source = f'#include "{header}"\n'
    result = subprocess.run(command, input=source, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    first = next((line for line in result.stderr.splitlines() if "error" in line), result.stderr)
    return f"{header.relative_to(root)} does not compile alone as {language}: {first}"


def find_faults(root: Path) -> list[str]:
    headers = list(files(root, "native/include/**/*.h", "native/src/**/*.h"))
    jobs = [(root, header, language) for header in headers for language in LANGUAGES]
    with ThreadPoolExecutor(2) as pool:
        return [fault for fault in pool.map(lambda job: compile_alone(*job), jobs) if fault]


if __name__ == "__main__":
    run(find_faults)
