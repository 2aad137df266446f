# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree passes every check, and every rule objects to a fault planted in a copy of it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import check_bindings
import check_exports
import check_headers
import check_layers
import check_size
import check_words
import pytest
from common import ROOT

CHECKS = [check_layers, check_exports, check_headers, check_bindings, check_size, check_words]
SPDX = "SPDX-License-Identifier: GPL-3.0-or-later"
LIBRARY = ROOT / check_exports.LIBRARY


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_tree_passes(check) -> None:
    assert check.find_faults(ROOT) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the checks read."""
    kept = ("native/include", "native/src", "addon/softrig", "addon/packaging", "tests/style")
    for folder in kept:
        if (ROOT / folder).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "lib")
            shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    return tmp_path


def write(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def objections(find_faults: Callable[[Path], list[str]], tree: Path, name: str) -> list[str]:
    return [fault for fault in find_faults(tree) if name in fault]


# ---- walls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("core/planted.c", '"math/vec3.h"'),
        ("math/planted.c", '"mesh/surface.h"'),
        ("mesh/planted.c", '"rig/skinning.h"'),
        ("rig/planted.h", '"elastic/material.h"'),
        ("elastic/planted.c", '"weights/transfer.h"'),
        ("weights/planted.c", '"solver/xpbd.h"'),
        ("weights/planted.c", '"elastic/material.h"'),
        ("solver/planted.c", '"mesh/surface.h"'),
        ("solver/planted.c", '"rig/skinning.h"'),
        ("solver/planted.c", '"sim/character.h"'),
        ("sim/planted.c", '"api/check.h"'),
        ("mesh/planted.c", '"surface.h"'),
        ("mesh/planted.c", '"../core/error.h"'),
        ("mesh/planted.c", '"core/../sim/tape.h"'),
        ("mesh/planted.c", '"mesh/./surface.h"'),
        ("mesh/planted.c", '"core//error.h"'),
        ("mesh/planted.c", '"sim/tape.c"'),
        ("mesh/planted.c", '"sim/planted.inl"'),
        ("mesh/planted.inl", '"sim/tape.h"'),
        ("mesh/planted.c", "PLANTED_HEADER"),
        ("mesh/planted.c", "<pthread.h>"),
        ("core/planted.c", "<unistd.h>"),
        ("sim/planted.c", "<cholmod.h>"),
        ("solver/planted.c", "<immintrin.h>"),
        ("core/thread.c", "<xmmintrin.h>"),
        ("math/planted_avx2.c", "<immintrin.h>"),
        ("math/planted_neon.c", "<arm_neon.h>"),
        ("math/planted.inl", "<immintrin.h>"),
        ("planted/planted.c", '"core/error.h"'),
    ],
)
def test_an_include_across_a_wall(tree: Path, name: str, include: str) -> None:
    write(tree, f"native/src/{name}", f"#include {include}\n")
    assert objections(check_layers.find_faults, tree, f"native/src/{name}")


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("core/planted.c", '"core/error.h"'),
        ("core/planted.c", '"softrig/base.h"'),
        ("weights/planted.c", '"mesh/surface.h"'),
        ("weights/planted.c", '"rig/skinning.h"'),
        ("solver/planted.c", '"elastic/material.h"'),
        ("sim/planted.c", '"weights/transfer.h"'),
        ("api/planted.c", '"core/id.h"'),
        ("mesh/planted.c", "<string.h>"),
        ("math/simd.h", "<immintrin.h>"),
        ("math/simd.h", "<arm_neon.h>"),
        ("math/planted_avx2.c", '"math/simd.h"'),
    ],
)
def test_an_include_that_is_allowed(tree: Path, name: str, include: str) -> None:
    write(tree, f"native/src/{name}", f"#include {include}\n")
    assert not objections(check_layers.find_faults, tree, f"native/src/{name}")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mesh/planted.c", "void srPlanted(void) { dgemm_(); }"),
        ("sim/planted.c", "int x = SR_BLAS(dpotrf);"),
        ("core/planted.c", "void srPlanted(void) { openblas_set_num_threads(1); }"),
        ("weights/planted.c", "cholmod_common common;"),
        ("math/planted_avx2.c", "__m256 x = _mm256_setzero_ps();"),
        ("math/planted.inl", "float32x4_t x = vaddq_f32(a, b);"),
        ("solver/planted.c", "x = __builtin_ia32_sqrtps256(y);"),
        ("math/csc.c", "cholmod_common common;"),
    ],
)
def test_a_name_of_a_dependency_outside_of_its_file(tree: Path, name: str, line: str) -> None:
    write(tree, f"native/src/{name}", f"{line}\n")
    assert objections(check_layers.find_faults, tree, f"native/src/{name}")


def test_a_dependency_in_a_comment_is_no_fault(tree: Path) -> None:
    write(tree, "native/src/mesh/planted.c", "// dgemm_ and cholmod_solve are not for here\n")
    assert not objections(check_layers.find_faults, tree, "planted.c")


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("native/cli/planted.c", '"core/error.h"'),
        ("native/cli/planted.c", "<pthread.h>"),
        ("native/cli/planted.c", '"cli/../src/core/hash.h"'),
        ("native/cli/planted.c", '"softrig/../../src/core/hash.h"'),
        ("native/cli/planted.c", "PLANTED_HEADER"),
        ("native/include/softrig/planted.h", '"core/error.h"'),
        ("native/include/softrig/planted.h", "<unistd.h>"),
    ],
)
def test_a_user_of_the_contract_that_looks_inside(tree: Path, name: str, include: str) -> None:
    write(tree, name, f"#include {include}\n")
    assert objections(check_layers.find_faults, tree, name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("native/planted.py", "import bpy"),
        ("native/planted.py", "from ..model import session"),
        ("native/planted.py", "from softrig.blender import carrier"),
        ("model/planted.py", "def f():\n    import bpy"),
        ("model/planted.py", "from mathutils import Matrix"),
        ("model/planted.py", "try:\n    import bpy\nexcept ImportError:\n    bpy = None"),
        ("native/planted.py", 'import importlib\nbpy = importlib.import_module("bpy")'),
        ("model/planted.py", 'from importlib import import_module\nimport_module("bpy.types")'),
        ("model/planted.py", 'def f():\n    return __import__("bpy")'),
        ("model/planted.py", "def f(name):\n    return __import__(name)"),
        ("model/planted.py", 'import importlib\nimportlib.import_module("softrig.blender")'),
        (
            "model/planted.py",
            'import importlib\nimportlib.import_module("..blender", "softrig.model")',
        ),
        ("model/planted.py", "import ctypes"),
        ("model/planted.py", "from .. import blender"),
        ("model/planted.py", "from ..properties import Settings"),
        ("blender/planted.py", "from ..operators import bind"),
        ("blender/planted.py", "from ctypes import CDLL"),
        ("panels/planted.py", "from ..operators.bind import Bind"),
        ("handlers/planted.py", "import softrig.panels"),
        ("operators/planted.py", "from softrig import handlers"),
        ("helpers/planted.py", "import os"),
        ("__init__.py", "import bpy"),
        ("__init__.py", "try:\n    import bpy\nexcept ImportError:\n    bpy = None"),
        ("__init__.py", "if True:\n    from bpy import types"),
        ("__init__.py", "class Planted:\n    import bpy"),
        ("__init__.py", 'import importlib\nbpy = importlib.import_module("bpy")'),
        ("__init__.py", 'bpy = __import__("bpy")'),
    ],
)
def test_an_import_across_a_wall(tree: Path, name: str, line: str) -> None:
    write(tree, f"addon/softrig/{name}", f"{line}\n")
    assert objections(check_layers.find_faults, tree, f"addon/softrig/{name}")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("native/planted.py", "import ctypes"),
        ("model/planted.py", "from ..native import library"),
        ("blender/planted.py", "import bpy\nfrom ..model.session import Session"),
        ("panels/planted.py", "import bpy\nfrom ..blender import carrier"),
        ("__init__.py", "def register():\n    import bpy\n"),
        ("model/planted.py", 'import importlib\njson = importlib.import_module("json")'),
        ("model/planted.py", "try:\n    import numpy\nexcept ImportError:\n    numpy = None"),
    ],
)
def test_an_import_that_is_allowed(tree: Path, name: str, line: str) -> None:
    write(tree, f"addon/softrig/{name}", f"{line}\n")
    assert not objections(check_layers.find_faults, tree, f"addon/softrig/{name}")


# ---- exports and headers -------------------------------------------------------------------------


def build_library(tree: Path, code: str) -> Path:
    library = tree / "libplanted.so"
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=code, text=True, check=True)
    return library


def test_an_export_without_a_header(tree: Path) -> None:
    names = sorted(check_exports.declared_functions(tree))
    code = "".join(f"void {name}(void) {{}}\n" for name in [*names, "srPlanted"])
    faults = check_exports.find_faults(tree, build_library(tree, code))
    assert faults == ["srPlanted is exported and in no public header"]


def test_a_declaration_without_an_export(tree: Path) -> None:
    first, *others = sorted(check_exports.declared_functions(tree))
    code = "".join(f"void {name}(void) {{}}\n" for name in others)
    faults = check_exports.find_faults(tree, build_library(tree, code))
    assert faults == [f"{first} is declared and not exported"]


def test_a_function_named_in_a_comment_is_not_declared(tree: Path) -> None:
    write(tree, "native/include/softrig/planted.h", "/*\nSR_API void srPlanted(void);\n*/\n")
    assert "srPlanted" not in check_exports.declared_functions(tree)


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("#pragma once\nint32_t srPlanted(void);\n", {"C17", "C++17"}),
        ("#pragma once\nint srPlanted(int class);\n", {"C++17"}),
        ("#pragma once\nbool srPlanted(void);\n", {"C17"}),
    ],
)
def test_a_header_that_does_not_compile_alone(tree: Path, text: str, languages: set[str]) -> None:
    write(tree, "native/src/core/planted.h", text)
    header = tree / "native/src/core/planted.h"
    failing = {
        language
        for language in check_headers.LANGUAGES
        if check_headers.compile_alone(tree, header, language)
    }
    assert failing == languages


@pytest.mark.parametrize("folder", ["native/cli", "tests/native/support", "tests/bench"])
def test_a_header_of_another_folder_that_does_not_compile_alone(tree: Path, folder: str) -> None:
    write(tree, f"{folder}/planted.h", "#pragma once\nint32_t srPlanted(void);\n")
    write(tree, f"{folder}/fine.h", "#pragma once\nint srPlanted(int class);\n")
    faults = objections(check_headers.find_faults, tree, folder)
    assert len(faults) == 1
    assert f"{folder}/planted.h does not compile alone as C17" in faults[0]


# ---- bindings ------------------------------------------------------------------------------------


def test_bindings_that_were_edited(tree: Path) -> None:
    path = tree / check_bindings.BINDINGS
    path.write_text(path.read_text(encoding="utf-8") + "\nplanted = 1\n", encoding="utf-8")
    assert check_bindings.check_generated(tree)


def test_a_header_that_changed_without_its_bindings(tree: Path) -> None:
    header = tree / "native/include/softrig/base.h"
    text = header.read_text(encoding="utf-8")
    assert check_bindings.check_generated(tree) == []
    header.write_text(text + "SR_API void srPlanted(int32_t count);\n", encoding="utf-8")
    assert check_bindings.check_generated(tree)


def test_a_struct_of_another_size(tree: Path) -> None:
    path = tree / check_bindings.BINDINGS
    text = path.read_text(encoding="utf-8")
    assert check_bindings.check_sizes(tree, LIBRARY) == []
    planted = text.replace('("progress", ctypes.c_float)', '("progress", ctypes.c_char * 40)')
    path.write_text(planted, encoding="utf-8")
    (fault,) = check_bindings.check_sizes(tree, LIBRARY)
    assert "srJobStatus" in fault


# ---- size and words ------------------------------------------------------------------------------


@pytest.mark.parametrize(("line_count", "is_fault"), [(100, False), (101, True)])
def test_a_long_c_function(tree: Path, line_count: int, is_fault: bool) -> None:
    body = "    x++;\n" * (line_count - 2)
    text = (
        f"// a comment with a brace {{\nstatic int limit;\n\nvoid srPlanted(int x) {{\n{body}}}\n"
    )
    write(tree, "native/src/core/planted.c", text)
    assert bool(objections(check_size.find_faults, tree, "srPlanted")) == is_fault


@pytest.mark.parametrize(
    ("head", "is_function"),
    [
        ("SR_PLANTED_HEAD {", True),
        ("SR_PLANTED(srPlanted, int x) {", True),
        ("void srPlanted(int x) SR_PLANTED_END {", True),
        ("static int* (*srPlanted(void))(int) {", True),
        ("struct srPlanted {", False),
        ("typedef struct srPlanted {", False),
        ("static const int srPlanted[] = {", False),
        ("static srPlanted planted = SR_PLANTED(x) {", False),
    ],
)
@pytest.mark.parametrize("ending", ["c", "inl"])
def test_what_a_function_is(tree: Path, head: str, is_function: bool, ending: str) -> None:
    write(tree, f"native/src/core/planted.{ending}", head + "\n" * 100 + "}\n")
    assert bool(objections(check_size.find_faults, tree, "planted")) == is_function


@pytest.mark.parametrize(
    ("name", "line_count", "is_fault"),
    [
        ("addon/softrig/model/planted.py", 40, False),
        ("addon/softrig/model/planted.py", 41, True),
        ("tests/style/planted.py", 100, False),
        ("tests/style/planted.py", 101, True),
    ],
)
def test_a_long_python_function(tree: Path, name: str, line_count: int, is_fault: bool) -> None:
    write(tree, name, "def planted():\n" + "    x = 1\n" * (line_count - 1))
    assert bool(objections(check_size.find_faults, tree, name)) == is_fault


@pytest.mark.parametrize(
    ("name", "wall"),
    [("native/src/core/planted.c", 800), ("addon/softrig/model/planted.py", 400)],
)
def test_a_long_file(tree: Path, name: str, wall: int) -> None:
    write(tree, name, "\n" * wall)
    assert not objections(check_size.find_faults, tree, name)
    write(tree, name, "\n" * (wall + 1))
    assert objections(check_size.find_faults, tree, name)


def test_a_mark_of_a_merge(tree: Path) -> None:
    write(tree, "docs/planted.md", f"\n{7 * '<'} HEAD\n=======\n{7 * '>'} other\n")
    assert len(objections(check_words.find_faults, tree, "planted.md")) == 2


@pytest.mark.parametrize(
    "words",
    [
        "/wo~rk/main",
        "/ro~ot/.cache",
        "/ho~me/somebody/softrig",
        "/tm~p/build",
        "https://py~pi.org/simple",
        "http://deb.deb~ian.org",
        "TO~DO: later",
        "FIX~ME",
    ],
)
def test_a_word_that_must_not_stand(tree: Path, words: str) -> None:
    # the words stand here in pieces, else the check would object to this file
    write(tree, "native/src/core/planted.c", f"// {SPDX}\n// {words.replace('~', '')}\n")
    assert objections(check_words.find_faults, tree, "planted.c:2")


@pytest.mark.parametrize(
    "name",
    [
        *("native/packaging/planted.map", "native/cmake/planted.cmake", "tests/planted.sh"),
        *("native/CMakeLists.txt", "tests/planted/Dockerfile", "Dockerfile.planted", ".gitignore"),
        *("native/src/math/planted.inl", "planted.yml", "softrig", ".ci/run"),
    ],
)
def test_a_file_of_another_kind_is_read_too(tree: Path, name: str) -> None:
    write(tree, name, f"# {SPDX}\n# {'/ro~ot/.cache'.replace('~', '')}\n")
    assert objections(check_words.find_faults, tree, f"{name}:2")


def test_a_source_without_its_licence_line(tree: Path) -> None:
    write(tree, "native/src/core/planted.c", "// nothing\n")
    assert objections(check_words.find_faults, tree, "planted.c: no SPDX")
    write(tree, "native/src/core/planted.c", f"// {SPDX}\n")
    assert not objections(check_words.find_faults, tree, "planted.c")
