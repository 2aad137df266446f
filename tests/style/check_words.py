# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that must not stand in the tree, and the licence line that must.

Paths and hosts of one machine break on the next; marks of unfinished work belong in an issue.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from common import files, run

# brackets keep the patterns from objecting to themselves
RULES = {
    "a path of one machine": re.compile(
        r"(?<![\w.])/(?:wor[k]|roo[t]|far[m]|hom[e]/\w+|tm[p]/\w+)(?:/|\b)"
    ),
    "the host of a package registry": re.compile(
        r"pyp[i]\.org|pythonhoste[d]|deb\.debia[n]\.org|archive\.ubunt[u]\.com|artifactor[y]"
    ),
    "a mark of unfinished work": re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b"),
    "a mark of a merge": re.compile(r"^(?:<{7}|>{7}) "),
}
SOURCES = (
    *("**/*.[ch]", "**/*.inl", "**/*.py", "**/*.sh", "**/*.cmake", "**/CMakeLists.txt"),
    *("softrig", ".ci/*"),
)
TEXTS = (
    *("**/*.md", "**/*.txt", "**/*.toml", "**/*.json", "**/*.yml", "**/*.yaml", "**/*.svg"),
    *("**/*.map", "**/*.in", "**/*.supp", "**/*.ini", "**/*.cfg"),
    *("**/Dockerfile*", "**/*.dockerfile", "**/Makefile", "**/.clang-format", "**/.gitignore"),
)


def check_words(root: Path, path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for what, pattern in RULES.items():
            if pattern.search(line):
                yield f"{path.relative_to(root)}:{number}: {what}"


def find_faults(root: Path) -> list[str]:
    faults = []
    for path in files(root, *SOURCES):
        head = path.read_text(encoding="utf-8").splitlines()[:3]
        if not any("SPDX-License-Identifier: GPL-3.0-or-later" in line for line in head):
            faults.append(f"{path.relative_to(root)}: no SPDX line at the top")
    for path in files(root, *SOURCES, *TEXTS):
        faults += check_words(root, path)
    return faults


if __name__ == "__main__":
    run(find_faults)
