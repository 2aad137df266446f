# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries that are missing, broken or of others: a sentence to act on, never a crash."""

import ctypes
import struct
import subprocess
from pathlib import Path

import pytest
from softrig.native import bindings, library
from softrig.native.errors import LibraryError

STUB = """
#include <stddef.h>
#include <stdint.h>
typedef struct { int32_t abi, structs; uint64_t hash; int32_t major, minor, patch; } Info;
Info srGetAbiInfo(void) { Info i = {ABI, STRUCTS, 0, MAJOR, 1, 0}; return i; }
#ifdef WHOLE
size_t srGetStructSize(const char* name) { (void)name; return 4; }
"""


def build_stub(folder: Path, abi: int, major: int, structs: int, whole: bool = False) -> Path:
    """A library that answers the handshake and, when whole, has all other names too."""
    names = [name for name in bindings.FUNCTIONS if name not in ("srGetAbiInfo", "srGetStructSize")]
    text = STUB + "".join(f"void {name}(void) {{}}\n" for name in names) + "#endif\n"
    source, path = folder / "stub.c", folder / "libstub.so"
    source.write_text(text, encoding="utf-8")
    flags = [f"-DABI={abi}", f"-DMAJOR={major}", f"-DSTRUCTS={structs}"]
    flags += ["-DWHOLE"] if whole else []
    subprocess.run(["cc", "-shared", "-fPIC", *flags, "-o", path, source], check=True)
    return path


def sentence(path: Path) -> str:
    with pytest.raises(LibraryError) as caught:
        library.load_library(path)
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    text = sentence(tmp_path / "none.so")
    assert "none.so" in text and "Install" in text


def test_what_is_not_a_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("hello", encoding="utf-8")
    assert "cannot be loaded" in sentence(path)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    riscv = 243
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 3, riscv, 1) + bytes(200)
    path = tmp_path / "riscv.so"
    path.write_bytes(header)
    text = sentence(path)
    assert "cannot be loaded" in text and library.platform_name() in text


def test_a_library_of_somebody_else_is_refused(tmp_path: Path) -> None:
    source, path = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text("int a;", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
    assert "not the Softrig library" in sentence(path)


@pytest.mark.parametrize(
    ("abi", "major", "structs"),
    [
        (bindings.SR_ABI_VERSION + 1, bindings.SR_VERSION_MAJOR, len(bindings.STRUCTS)),
        (bindings.SR_ABI_VERSION, bindings.SR_VERSION_MAJOR + 9, len(bindings.STRUCTS)),
        (bindings.SR_ABI_VERSION, bindings.SR_VERSION_MAJOR, len(bindings.STRUCTS) + 1),
    ],
)
def test_another_version_is_refused(tmp_path: Path, abi: int, major: int, structs: int) -> None:
    text = sentence(build_stub(tmp_path, abi, major, structs))
    assert f"{major}.1.0" in text and "needs" in text


def test_a_library_that_lacks_functions_is_refused(tmp_path: Path) -> None:
    stub = build_stub(
        tmp_path, bindings.SR_ABI_VERSION, bindings.SR_VERSION_MAJOR, len(bindings.STRUCTS)
    )
    assert "incomplete" in sentence(stub)


def test_other_struct_sizes_are_refused(tmp_path: Path) -> None:
    version = bindings.SR_ABI_VERSION, bindings.SR_VERSION_MAJOR
    stub = build_stub(tmp_path, *version, len(bindings.STRUCTS), whole=True)
    assert "4 bytes" in sentence(stub)


def test_the_zip_of_another_system_says_which_one_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(library.ENVIRONMENT, raising=False)
    (tmp_path / "amiga-m68k").mkdir()
    with pytest.raises(LibraryError, match=f"amiga-m68k.*{library.platform_name()}"):
        library.find_library(tmp_path)


def test_a_zip_without_libraries_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(library.ENVIRONMENT, raising=False)
    with pytest.raises(LibraryError, match="missing"):
        library.find_library(tmp_path)


def test_the_newest_of_several_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv(library.ENVIRONMENT, raising=False)
    paths = []
    for age, version in ((10, "0.2.0-aaaaaaaa"), (500, "0.10.0-bbbbbbbb")):
        path = tmp_path / library.platform_name() / version / library.library_file_name()
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (1e9 - age, 1e9 - age))
        paths.append(path)
    assert library.find_library(tmp_path) == paths[0]


def test_loading_leaves_the_environment_as_it_was(
    library_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    library.load_library(library_path)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    library.load_library(library_path)
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_every_function_has_its_types(library_path: Path) -> None:
    loaded = library.load_library(library_path)
    for name, (result_type, argument_types) in bindings.FUNCTIONS.items():
        function = getattr(loaded, name)
        assert function.restype is result_type, name
        assert tuple(function.argtypes) == argument_types, name


def test_every_result_code_is_checked(library_path: Path) -> None:
    loaded = library.load_library(library_path)
    for name, (result_type, _) in bindings.FUNCTIONS.items():
        checked = getattr(loaded, name).errcheck is not None
        counts = ("srGetWorkerCount", "srShutdown")
        assert checked == (result_type is ctypes.c_int32 and name not in counts), name
