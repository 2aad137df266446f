# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tests of this folder inside a Blender that has the add-on installed.

Started by addon/packaging/run_installed.py; arguments behind `--` go to pytest.
"""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    chosen = sys.argv[sys.argv.index("--") + 1 :]
    os.chdir(FOLDER)
    options = ["-q", "-rs", "-p", "no:cacheprovider", "--rootdir", str(FOLDER.parents[1])]
    return int(pytest.main([*options, "--ignore=window", *(chosen or ["."])]))


if __name__ == "__main__":
    sys.exit(main())
