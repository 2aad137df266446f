# SPDX-License-Identifier: GPL-3.0-or-later
"""The walls: who may include and import whom (docs/architecture.md). Standard library only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from common import files, run, strip_comments

# a room and the rooms below it that it may use
C_ROOMS = {
    "core": set(),
    "math": {"core"},
    "mesh": {"math", "core"},
    "rig": {"math", "core"},
    "elastic": {"math", "core"},
    "weights": {"mesh", "rig", "math", "core"},
    "solver": {"elastic", "math", "core"},
    "sim": {"solver", "weights", "elastic", "rig", "mesh", "math", "core"},
    "api": {"sim", "solver", "weights", "elastic", "rig", "mesh", "math", "core"},
}
STANDARD_HEADERS = {
    f"{name}.h"
    for name in (
        "assert ctype errno fenv float inttypes limits math setjmp signal stdalign stdarg stdatomic"
        " stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype"
    ).split()
}
# headers beyond the standard's, and the files they may stand in
SYSTEM_DOORS = {"core/thread.c", "core/file.c", "core/process.c"}
SPECIAL_HEADERS = {
    "cholmod.h": "math/cholesky.c",
    "sanitizer/asan_interface.h": "core/arena.c",
}
INTRINSICS_DOOR = "math/simd.h"
INTRINSICS_HEADER = re.compile(r"\w*intrin\.h|arm_\w+\.h")
INTRINSIC_NAME = re.compile(
    r"\b(?:_mm\d*_\w+|__m(?:64|128|256|512)[di]?|__builtin_(?:ia32_(?!pause\b)|neon_|aarch64_)\w+|"
    r"(?:u?int|float)(?:8|16|32|64)x\d+_t|v\w+_[fsu](?:8|16|32|64))\b"
)
PROGRAM_SYSTEM_DOOR = "native/cli/system.c"
BLAS_NAME = re.compile(
    r"\b(?:SR_BLAS|cblas_\w+|LAPACKE_\w+|\w*openblas_\w+|(?:scipy_)?[sdcz](?:gemm|gemv|ger|symm|symv|"
    r"syrk|trmm|trmv|trsm|trsv|potrf|potrs|potri|getrf|getrs|gesv|posv|syev|gesvd|geqrf|scal|axpy|"
    r"dot|nrm2|copy|swap)_)\b"
)

PYTHON_ROOMS = {
    "native": set(),
    "model": {"native"},
    "blender": {"model", "native"},
    "operators": {"blender", "model", "native"},
    "panels": {"blender", "model", "native"},
    "handlers": {"blender", "model", "native"},
}
BLENDER_MODULES = {"bpy", "bmesh", "mathutils", "gpu", "gpu_extras", "bl_math", "bpy_extras", "blf"}


def includes(code: str) -> Iterator[tuple[int, str, str]]:
    """Line, opening sign and name of each include; no sign where the name cannot be read."""
    for number, line in enumerate(code.splitlines(), 1):
        if not re.match(r"\s*(?:#|%:|\?\?=)\s*(?:include|import|embed)", line):
            continue
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]\s*$', line)
        yield (number, match[1], match[2]) if match else (number, "", line.strip())


def fault_of_spelling(sign: str, header: str) -> str | None:
    if not sign:
        return f"an include that names its file in no plain way: {header}"
    if set(header.split("/")) & {"", ".", ".."}:
        return f"{header} goes around: a header is named from its root"
    return None


def fault_of_system_include(place: str, header: str) -> str | None:
    if header in STANDARD_HEADERS:
        return None
    if INTRINSICS_HEADER.fullmatch(header):
        return (
            None if place == INTRINSICS_DOOR else f"only {INTRINSICS_DOOR} may include <{header}>"
        )
    if header in SPECIAL_HEADERS:
        door = SPECIAL_HEADERS[header]
        return None if place == door else f"only {door} may include <{header}>"
    return (
        None
        if place in SYSTEM_DOORS
        else f"<{header}> is the system's: core/thread.c, core/file.c or core/process.c"
    )


def fault_of_room_include(room: str, header: str) -> str | None:
    target, slash, _ = header.partition("/")
    if target == "softrig" and slash:
        return None
    if not slash or target not in C_ROOMS:
        return f'"{header}" names no room'
    if target != room and target not in C_ROOMS[room]:
        return f"{room} must not include {target}"
    return None


def faults_of_names(place: str, code: str) -> Iterator[tuple[int, str]]:
    for line, text in enumerate(code.splitlines(), 1):
        if place != "math/dense.c" and BLAS_NAME.search(text):
            yield line, "only math/dense.c names BLAS and LAPACK"
        if place != "math/cholesky.c" and re.search(r"\bcholmod_\w+", text):
            yield line, "only math/cholesky.c names CHOLMOD"
        if place != INTRINSICS_DOOR and INTRINSIC_NAME.search(text):
            yield line, f"only {INTRINSICS_DOOR} speaks intrinsics"


def check_rooms(root: Path) -> Iterator[str]:
    source = root / "native" / "src"
    for path in files(root, "native/src/**/*.[ch]", "native/src/**/*.inl"):
        place = path.relative_to(source).as_posix()
        room = place.split("/")[0]
        shown = path.relative_to(root)
        if room not in C_ROOMS or place.count("/") != 1:
            yield f"{shown}: '{room}' is not a room"
            continue
        code = strip_comments(path.read_text(encoding="utf-8"))
        for line, sign, header in includes(code):
            fault = fault_of_spelling(sign, header) or (
                fault_of_system_include(place, header)
                if sign == "<"
                else fault_of_room_include(room, header)
            )
            if fault:
                yield f"{shown}:{line}: {fault}"
        for line, fault in faults_of_names(place, code):
            yield f"{shown}:{line}: {fault}"


def check_public_users(root: Path) -> Iterator[str]:
    """The contract stands on itself, and the command line program on the contract."""
    for folder, own_prefix in ("native/include", "softrig/"), ("native/cli", "cli/"):
        for path in files(root, f"{folder}/**/*.[ch]"):
            shown = path.relative_to(root).as_posix()
            code = strip_comments(path.read_text(encoding="utf-8"))
            for line, sign, header in includes(code):
                if sign == "<":
                    is_allowed = header in STANDARD_HEADERS or shown == PROGRAM_SYSTEM_DOOR
                else:
                    is_allowed = header.startswith(("softrig/", own_prefix))
                fault = fault_of_spelling(sign, header)
                if fault or not is_allowed:
                    yield f"{shown}:{line}: {fault or f'{header} is not a public header'}"


def imported_modules(node: ast.AST, package: list[str]) -> list[str]:
    """Full names of what a statement imports; `package` is the folder of the importing file."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = package[: len(package) - node.level + 1] if node.level else []
    base = base + (node.module.split(".") if node.module else [])
    if len(base) == 1:
        return [".".join([*base, alias.name]) for alias in node.names]
    return [".".join(base)]


def called_import(node: ast.AST) -> bool:
    """Whether it is a call of import_module or __import__."""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    return name in ("import_module", "__import__")


def modules_by_call(node: ast.AST, package: list[str]) -> list[str]:
    """What `import_module("name")` and `__import__("name")` bring; "" where that is computed."""
    if not called_import(node):
        return []
    first = node.args[0] if node.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return [""]
    name = first.value.lstrip(".")
    level = len(first.value) - len(name)
    return [".".join([*package[: len(package) - level + 1], name]) if level else name]


def run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: all but the bodies of its functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from run_on_import(child)


def fault_of_import(room: str, module: str) -> str | None:
    parts = module.split(".")
    if not module:
        return f"{room} must not import by a computed name" if room in ("native", "model") else None
    if parts[0] == "ctypes" and room != "native":
        return "ctypes is spoken in native/ only"
    if parts[0] in BLENDER_MODULES and room in ("native", "model"):
        return f"{room} must not import {parts[0]}"
    if parts[0] != "softrig" or room not in PYTHON_ROOMS or len(parts) == 1:
        return None
    if parts[1] in PYTHON_ROOMS:
        is_allowed = parts[1] == room or parts[1] in PYTHON_ROOMS[room]
        return None if is_allowed else f"{room} must not import {parts[1]}"
    return f"{room} must not import the top of the add-on" if room in ("native", "model") else None


def check_addon(root: Path) -> Iterator[str]:
    addon = root / "addon" / "softrig"
    for path in files(root, "addon/softrig/**/*.py"):
        inner = path.relative_to(addon).parts
        room = inner[0] if len(inner) > 1 else ""
        shown = path.relative_to(root)
        if room and room not in PYTHON_ROOMS:
            yield f"{shown}: '{room}' is not a room"
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            package = ["softrig", *inner[:-1]]
            for module in [*imported_modules(node, package), *modules_by_call(node, package)]:
                fault = fault_of_import(room, module)
                if fault:
                    yield f"{shown}:{node.lineno}: {fault}"
        if inner == ("__init__.py",):
            for node in run_on_import(tree):
                names = [*imported_modules(node, ["softrig"]), *modules_by_call(node, ["softrig"])]
                if {name.split(".")[0] for name in names} & BLENDER_MODULES:
                    yield f"{shown}:{node.lineno}: bpy is imported inside register() only"


def find_faults(root: Path) -> list[str]:
    return [*check_rooms(root), *check_public_users(root), *check_addon(root)]


if __name__ == "__main__":
    run(find_faults)
