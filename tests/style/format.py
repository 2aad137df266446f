# SPDX-License-Identifier: GPL-3.0-or-later
"""Formats all sources with the pinned clang-format and ruff; --check only says what differs."""

import re
import subprocess
import sys
from pathlib import Path

from common import ROOT, files

RUFF = [sys.executable, "-m", "ruff"]
RUFF_OPTIONS = ["--config", str(Path(__file__).with_name("ruff.toml")), "--no-cache", "--quiet"]
CLANG_FORMAT = [str(Path(sys.executable).with_name("clang-format")), "--style=file"]


def run_ruff(check: bool) -> bool:
    sources = [str(path) for path in files(ROOT, "**/*.py")]
    lint = [*RUFF, "check", *RUFF_OPTIONS, "--output-format=concise", *([] if check else ["--fix"])]
    layout = [*RUFF, "format", *RUFF_OPTIONS, *(["--check"] if check else [])]
    # ruff takes the folder that it runs in for the project's
    lint_code = subprocess.run([*lint, *sources], cwd=ROOT).returncode
    layout_code = subprocess.run([*layout, *sources], cwd=ROOT).returncode
    return lint_code == 0 and layout_code == 0


def run_clang_format(check: bool) -> bool:
    endings = ("*.[ch]", "*.inl", "*.cxx")
    patterns = [f"{folder}/**/{ending}" for folder in ("native", "tests") for ending in endings]
    sources = [str(path) for path in files(ROOT, *patterns)]
    mode = ["--dry-run", "-Werror"] if check else ["-i"]
    result = subprocess.run(
        [*CLANG_FORMAT, *mode, *sources], capture_output=True, text=True, check=False
    )
    found = re.findall(r"^(.+?):\d+:\d+: error: code should be", result.stderr, re.MULTILINE)
    for name in dict.fromkeys(found):
        print(f"Would reformat: {Path(name).relative_to(ROOT)}")
    if result.returncode != 0 and not found:
        print(result.stderr)
    return result.returncode == 0


def main() -> None:
    check = "--check" in sys.argv[1:]
    is_python_fine = run_ruff(check)
    is_c_fine = run_clang_format(check)
    if check and not (is_python_fine and is_c_fine):
        print("./softrig format puts it right")
    sys.exit(0 if is_python_fine and is_c_fine else 1)


if __name__ == "__main__":
    main()
