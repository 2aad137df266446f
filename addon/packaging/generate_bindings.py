# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates addon/softrig/native/bindings.py from the public headers.

Read with pycparser after the C preprocessor, so what C sees is what Python gets. Without arguments
the file is written; with `--print` it goes to standard output, for the check that both agree.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pycparser import c_ast, c_parser

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "addon" / "softrig" / "native" / "bindings.py"
RUFF_CONFIG = ROOT / "tests" / "style" / "ruff.toml"

# the system's headers are full of what pycparser does not know; these say all that ours need
SYSTEM_HEADERS = {
    "stdbool.h": "#define bool _Bool\n",
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void*)0)\n",
    "stdint.h": "".join(
        f"typedef {kind} {name}_t;\n"
        for name, kind in {
            "int8": "signed char",
            "uint8": "unsigned char",
            "int16": "short",
            "uint16": "unsigned short",
            "int32": "int",
            "uint32": "unsigned int",
            "int64": "long long",
            "uint64": "unsigned long long",
        }.items()
    ),
}
SCALARS = {
    "_Bool": "c_bool",
    "char": "c_char",
    "float": "c_float",
    "double": "c_double",
    "int": "c_int",
    "size_t": "c_size_t",
    **{
        f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    },
}


class UnsupportedError(Exception):
    """The headers hold something that the generator has no answer for."""


def preprocess(include: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SYSTEM_HEADERS.items():
            (Path(folder) / name).write_text(f"#pragma once\n{text}", encoding="utf-8")
        command = ["cc", "-E", "-nostdinc", "-D__attribute__(x)=", f"-I{folder}", f"-I{include}"]
        return subprocess.run(
            [*command, str(include / "softrig" / "softrig.h")],
            check=True,
            capture_output=True,
            text=True,
        ).stdout


def python_name(c_name: str) -> str:
    """srShotParams -> ShotParams"""
    return c_name.removeprefix("sr")


def constant_name(enum: str, member: str) -> str:
    """Of srResult, sr_errorStaleId -> ERROR_STALE_ID; of srPhase, sr_phaseDone -> DONE."""
    name = member.removeprefix("sr_")
    prefix = python_name(enum)
    if name.lower().startswith(prefix.lower()) and len(name) > len(prefix):
        name = name[len(prefix) :]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


class Generator:
    """Walks the declarations in order and collects lines of Python."""

    def __init__(self, include: Path) -> None:
        self.include = include
        self.enums: dict[str, list[tuple[str, int]]] = {}
        self.structs: dict[str, list[tuple[str, str]]] = {}
        self.callbacks: dict[str, list[str]] = {}
        self.functions: dict[str, tuple[str, list[str]]] = {}

    def read(self) -> None:
        for node in c_parser.CParser().parse(preprocess(self.include)).ext:
            if str(self.include) not in str(node.coord):
                continue
            if isinstance(node, c_ast.Typedef):
                self.read_typedef(node)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.functions[node.name] = self.signature(node.type)
            else:
                raise UnsupportedError(f"{node.coord}: only typedefs and functions are expected")

    def read_typedef(self, node: c_ast.Typedef) -> None:
        if isinstance(node.type, c_ast.FuncDecl):
            result, arguments = self.signature(node.type)
            self.callbacks[node.name] = [result, *arguments]
        elif isinstance(node.type.type, c_ast.Enum):
            self.enums[node.name] = self.members(node.type.type)
        elif isinstance(node.type.type, c_ast.Struct):
            fields = node.type.type.decls
            self.structs[node.name] = [(field.name, self.type_of(field.type)) for field in fields]
        else:
            raise UnsupportedError(f"{node.coord}: typedef {node.name}")

    def members(self, enum: c_ast.Enum) -> list[tuple[str, int]]:
        members = []
        for member in enum.values.enumerators:
            if not isinstance(member.value, c_ast.Constant):
                raise UnsupportedError(f"{member.coord}: {member.name} needs a plain number")
            members.append((member.name, int(member.value.value, 0)))
        return members

    def signature(self, function: c_ast.FuncDecl) -> tuple[str, list[str]]:
        parameters = [p.type for p in function.args.params] if function.args else []
        arguments = [self.type_of(p) for p in parameters]
        return self.type_of(function.type), [a for a in arguments if a != "None"]

    def type_of(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.PtrDecl):
            return self.pointer_to(node.type)
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.type_of(node.type)} * {node.dim.value}"
        if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType):
            return self.named_type(" ".join(node.type.names), node)
        raise UnsupportedError(f"{node.coord}: a type of this kind")

    def named_type(self, name: str, node: c_ast.Node) -> str:
        if name == "void":
            return "None"
        if name in SCALARS:
            return f"ctypes.{SCALARS[name]}"
        if name in self.enums:
            return "ctypes.c_int32"
        if name in self.structs or name in self.callbacks:
            return python_name(name)
        raise UnsupportedError(f"{node.coord}: type {name}")

    def pointer_to(self, target: c_ast.Node) -> str:
        name = self.type_of(target)
        if name == "None":
            return "ctypes.c_void_p"
        if name == "ctypes.c_char" and "const" in getattr(target, "quals", []):
            return "ctypes.c_char_p"
        if name in map(python_name, self.callbacks):
            return name
        return f"ctypes.POINTER({name})"

    def numbers(self) -> list[tuple[str, str]]:
        """Macros that are plain numbers."""
        found = []
        for header in sorted((self.include / "softrig").glob("*.h")):
            text = header.read_text(encoding="utf-8")
            found += re.findall(r"^#define (SR_[A-Z0-9_]+) \(?(-?\d+)\)?$", text, re.MULTILINE)
        return found


HEAD = '''# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated by addon/packaging/generate_bindings.py from the public headers; do not edit."""

import ctypes
import enum
from typing import Any

'''

TAIL = '''

def declare_functions(library: ctypes.CDLL) -> None:
    """Gives every function its types. AttributeError names the first that the library lacks."""
    for name, (result_type, argument_types) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result_type
        function.argtypes = argument_types
'''


def render(source: Generator) -> str:
    lines = [HEAD]
    lines += [f"{name} = {value}\n" for name, value in source.numbers()]
    for enum_name, members in source.enums.items():
        lines.append(f"\n\nclass {python_name(enum_name)}(enum.IntEnum):\n")
        lines += [f"    {constant_name(enum_name, name)} = {value}\n" for name, value in members]
    lines.append("\n\n")
    for name, types in source.callbacks.items():
        lines.append(f"{python_name(name)} = ctypes.CFUNCTYPE({', '.join(types)})\n")
    for name, fields in source.structs.items():
        lines.append(f"\n\nclass {python_name(name)}(ctypes.Structure):\n    _fields_ = (\n")
        lines += [f'        ("{field}", {kind}),\n' for field, kind in fields]
        lines.append("    )\n")
    lines.append("\n\n# in the order of the headers, by their names in C\n")
    lines.append("STRUCTS: dict[str, type[ctypes.Structure]] = {\n")
    lines += [f'    "{name}": {python_name(name)},\n' for name in source.structs]
    lines.append("}\n\n# name: (type of the result, types of the arguments)\n")
    lines.append("FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {\n")
    for name, (result, arguments) in source.functions.items():
        listed = ", ".join(arguments) + ("," if len(arguments) == 1 else "")
        lines.append(f'    "{name}": ({result}, ({listed})),\n')
    lines.append("}\n")
    lines.append(TAIL)
    return "".join(lines)


def format_python(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--config", str(RUFF_CONFIG), "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def generate(include: Path = ROOT / "native" / "include") -> str:
    source = Generator(include)
    source.read()
    return format_python(render(source))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="to standard output")
    if parser.parse_args().print:
        sys.stdout.write(generate())
        return
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(generate(), encoding="utf-8")


if __name__ == "__main__":
    main()
