# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip as it is shipped: what lies in it, what its library needs, shows and computes.

SOFTRIG_ZIP names the zip; tests/style and addon/packaging are on PYTHONPATH.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import build_zip
import check_exports
import pytest

ROOT = Path(__file__).resolve().parents[3]
ZIP = Path(os.environ["SOFTRIG_ZIP"])
OLDEST_GLIBC = (2, 28)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zip")
    with zipfile.ZipFile(ZIP) as archive:
        archive.extractall(folder)
    return folder / "softrig"


@pytest.fixture(scope="module")
def library(unpacked: Path) -> Path:
    (path,) = unpacked.glob("native/lib/linux-x64/*/libsoftrig.so")
    return path


def dynamic_section(path: Path) -> str:
    command = ["readelf", "--dynamic", "--wide", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_one_folder_at_the_top() -> None:
    with zipfile.ZipFile(ZIP) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"softrig"}
    assert "softrig/__init__.py" in names
    assert "softrig/blender_manifest.toml" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_versions_agree(unpacked: Path) -> None:
    version = build_zip.read_version()
    numbers = tuple(int(part) for part in version.split("."))
    header = (ROOT / "native/include/softrig/base.h").read_text("utf-8")
    parts = re.findall(r"#define SR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert ".".join(parts) == version
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text("utf-8")
    bl_info = (unpacked / "__init__.py").read_text("utf-8")
    assert re.search(rf'"version": \({", ".join(map(str, numbers))}\)', bl_info)


def test_the_library_lies_in_a_folder_named_after_its_content(library: Path) -> None:
    version, _, digits = library.parent.name.rpartition("-")
    assert version == ZIP.name.split("-")[1]
    assert digits == build_zip.content_hash(library.parent)


def test_every_binary_is_listed_with_its_hash(library: Path) -> None:
    listed = json.loads(library.with_name(build_zip.LIST).read_text("utf-8"))
    assert "softrig-tetgen" in listed
    found = {path.name: path for path in library.parent.iterdir() if path.is_file()}
    binaries = {name: p.read_bytes() for name, p in found.items() if name != build_zip.LIST}
    assert listed == {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in binaries.items()
    }


def test_a_zip_is_the_same_to_the_byte_when_built_again(unpacked: Path, tmp_path: Path) -> None:
    entries = {f"softrig/{p.relative_to(unpacked).as_posix()}": p for p in unpacked.rglob("*")}
    entries = {n: p for n, p in entries.items() if p.is_file() and "openblas" not in p.name}
    for name in "a.zip", "b.zip":
        build_zip.write_zip(tmp_path / name, entries)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_it_exports_the_headers_functions_only(library: Path) -> None:
    assert check_exports.find_faults(ROOT, library) == []


def test_nothing_needs_a_newer_glibc(library: Path) -> None:
    for path in library.parent.glob("lib*.so*"):
        command = ["nm", "-D", "--undefined-only", str(path)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        versions = re.findall(r"@GLIBC_(\d+)\.(\d+)", text)
        newest = max((int(major), int(minor)) for major, minor in versions)
        assert newest <= OLDEST_GLIBC, path.name


def test_what_it_needs_lies_beside_it_or_is_on_every_linux(library: Path) -> None:
    everywhere = re.compile(r"(?:libc|libm|libpthread|libdl|libz|libgcc_s|ld-linux-x86-64)\.so\.\d")
    beside = {path.name for path in library.parent.iterdir()}
    for name in beside:
        if ".so" in name:
            needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic_section(library.parent / name))
            assert [n for n in needed if n not in beside and not everywhere.fullmatch(n)] == []
    assert "[$ORIGIN]" in dynamic_section(library)


def test_blas_binds_its_own_symbols_inside(library: Path) -> None:
    assert "(SYMBOLIC)" in dynamic_section(library.with_name("libscipy_openblas.so"))


def test_no_path_of_the_builders_machine_is_inside(library: Path) -> None:
    content = library.read_bytes()
    assert str(ROOT).encode() not in content
    assert str(Path.home()).encode() + b"/" not in content


def test_every_licence_lies_beside(library: Path) -> None:
    names = {path.name for path in (library.parent / "licences").iterdir()}
    assert {"AMD.txt", "COLAMD.txt", "CHOLMOD.txt", "OpenBLAS-and-libgfortran.txt"} <= names
    assert all((library.parent / "licences" / name).stat().st_size > 300 for name in names)


def test_its_bindings_speak_with_it(unpacked: Path, library: Path, tmp_path: Path) -> None:
    """In a process of its own: numpy's BLAS first, then ours."""
    program = f"""
import sys
sys.path.insert(0, {str(unpacked.parent)!r})
import numpy
before = numpy.linalg.inv(numpy.arange(9.0).reshape(3, 3) + numpy.eye(3)).tobytes()
from pathlib import Path
from softrig.native.library import load_library
library = load_library(Path({str(library)!r}))
assert library.srGetByteCount() == 0
after = numpy.linalg.inv(numpy.arange(9.0).reshape(3, 3) + numpy.eye(3)).tobytes()
assert before == after
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    assert len(list(tmp_path.glob("softrig-*/libsoftrig.so"))) == 1
