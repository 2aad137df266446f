# SPDX-License-Identifier: GPL-3.0-or-later
"""What the doorkeeper's checks share: the tree's files, C without comments, how faults are told."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {"build", "dist", "demo", ".git"}


def files(root: Path, *patterns: str) -> Iterator[Path]:
    """Files of the tree that match, in a fixed order; nothing that was built or fetched."""
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            inner = path.relative_to(root).parts
            if path.is_file() and inner[0] not in NOT_OURS and "__pycache__" not in inner:
                yield path


def strip_comments(code: str) -> str:
    """C without comments and what strings hold, but for includes; lines keep their numbers."""
    include = r'^[ \t]*#[ \t]*include[ \t]*"[^"\n]*"'
    comment = r"//[^\n]*|/\*.*?\*/"
    text = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    pattern = f"{include}|{comment}|{text}"

    def blank(match: re.Match[str]) -> str:
        text = match.group()
        if text[0] in "\"'":
            return text[0] * 2
        return "\n" * text.count("\n") if text[0] == "/" else text

    return re.sub(pattern, blank, code, flags=re.DOTALL | re.MULTILINE)


def run(find_faults: Callable[[Path], list[str]]) -> None:
    """The main of a check: prints every fault, fails when there is one."""
    faults = find_faults(ROOT)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
