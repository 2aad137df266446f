# SPDX-License-Identifier: GPL-3.0-or-later
"""The walls of size: how long a function and a file may be."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from common import files, run, strip_comments

C_FUNCTION_WALL = 100
C_FILE_WALL = 800
ADDON_FUNCTION_WALL = 40
ADDON_FILE_WALL = 400
PYTHON_FUNCTION_WALL = 100
PYTHON_FILE_WALL = 800
C_FILES = (
    "native/**/*.[ch]",
    "native/**/*.inl",
    "native/**/*.cxx",
    "tests/**/*.[ch]",
    "tests/**/*.inl",
)
GENERATED = {"addon/softrig/native/bindings.py"}


def function_name(head: str) -> str:
    """What a head before a brace at depth 0 is called; nothing where it is a type or a value."""
    flat = head
    while flat != (inner := re.sub(r"\([^()]*\)", " ", flat)):
        flat = inner
    is_data = "=" in flat or re.search(r"\b(?:struct|union|enum)\s+\w*\s*$", flat)
    if is_data or re.search(r'\b(?:typedef|extern\s*"")', flat):
        return ""
    found = re.search(r"(\w+)\s*\(", head) or re.search(r"(\w+)\s*$", flat)
    return found[1] if found else ""


def c_functions(code: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and line count of each function: a brace at depth 0 that opens no data."""
    code = strip_comments(code)
    depth, start, name, head_start = 0, 0, "", 0
    for match in re.finditer(r"[{};]|^#.*(?:\\\n.*)*", code, re.MULTILINE):
        sign = match.group()
        if sign == "{":
            if depth == 0:
                head = code[head_start : match.start()]
                name = function_name(head)
                blank = len(head) - len(head.lstrip())
                start = code.count("\n", 0, head_start + blank) + 1
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0 and name:
                yield name, start, code.count("\n", 0, match.start()) + 2 - start
        if depth == 0:
            head_start = match.end()


def check_c(root: Path) -> Iterator[str]:
    for path in files(root, *C_FILES):
        text = path.read_text(encoding="utf-8")
        shown = path.relative_to(root)
        length = text.count("\n")
        if length > C_FILE_WALL:
            yield f"{shown}: {length} lines, the wall is {C_FILE_WALL}"
        for name, line, count in c_functions(text):
            if count > C_FUNCTION_WALL:
                yield f"{shown}:{line}: {name} has {count} lines, the wall is {C_FUNCTION_WALL}"


def check_python(root: Path) -> Iterator[str]:
    for path in files(root, "**/*.py"):
        shown = path.relative_to(root).as_posix()
        if shown in GENERATED:
            continue
        is_addon = shown.startswith("addon/softrig/")
        file_wall = ADDON_FILE_WALL if is_addon else PYTHON_FILE_WALL
        function_wall = ADDON_FUNCTION_WALL if is_addon else PYTHON_FUNCTION_WALL
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > file_wall:
            yield f"{shown}: {text.count(chr(10))} lines, the wall is {file_wall}"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = node.end_lineno - node.lineno + 1
                if count > function_wall:
                    where = f"{shown}:{node.lineno}: {node.name}"
                    yield f"{where} has {count} lines, the wall is {function_wall}"


def find_faults(root: Path) -> list[str]:
    return [*check_c(root), *check_python(root)]


if __name__ == "__main__":
    run(find_faults)
