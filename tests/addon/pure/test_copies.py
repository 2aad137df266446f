# SPDX-License-Identifier: GPL-3.0-or-later
"""What is loaded is a copy, whole to the byte, that an installer cannot write over."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from softrig.native import copies, library
from softrig.native.errors import LibraryError

ADDON = Path(__file__).resolve().parents[3] / "addon"
CONTENTS = {"liba.so": b"a" * 5000, "libb.so": b"b" * 70}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder, and a cache folder beside it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def pack(folder: Path, contents: dict[str, bytes]) -> Path:
    """As the zip brings them: the files and their list."""
    folder.mkdir()
    listed = {}
    for name, data in contents.items():
        (folder / name).write_bytes(data)
        listed[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / copies.LIST).write_text(json.dumps(listed), encoding="utf-8")
    return folder


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return pack(tmp_path / "packed", CONTENTS)


@pytest.fixture
def packed_library(tmp_path: Path, library_path: Path) -> Path:
    """The real library with what lies beside it, as installed."""
    beside = [path for path in library_path.parent.glob("lib*.so*") if path.is_file()]
    named = {path.name: path.read_bytes() for path in beside}
    return pack(tmp_path / "packed", named) / library_path.name


def provide(packed: Path, place: Path) -> Path:
    return copies.provide_copy(packed, copies.read_list(packed), place)


def test_a_copy_is_whole_and_ours_alone(packed: Path, place: Path) -> None:
    copy = provide(packed, place)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == CONTENTS
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert [path.name for path in place.iterdir()] == [copy.name]


def test_a_whole_copy_is_used_again(packed: Path, place: Path) -> None:
    first = provide(packed, place)
    inode = (first / "liba.so").stat().st_ino
    assert provide(packed, place) == first
    assert (first / "liba.so").stat().st_ino == inode


def test_other_content_lies_elsewhere(packed: Path, place: Path, tmp_path: Path) -> None:
    other = pack(tmp_path / "other", CONTENTS | {"libb.so": b"c" * 70})
    assert provide(packed, place) != provide(other, place)


@pytest.mark.parametrize("harm", [b"a" * 4999, b"a" * 4999 + b"b", None])
def test_a_copy_that_was_harmed_is_made_anew(packed: Path, place: Path, harm: bytes | None) -> None:
    path = provide(packed, place) / "liba.so"
    path.unlink()
    if harm is not None:
        path.write_bytes(harm)
    copy = provide(packed, place)
    assert (copy / "liba.so").read_bytes() == CONTENTS["liba.so"]
    assert [folder.name for folder in place.iterdir()] == [copy.name]


@pytest.mark.parametrize("kind", ["writable by others", "link"])
def test_a_folder_that_others_can_fill_is_not_trusted(
    packed: Path, place: Path, tmp_path: Path, kind: str
) -> None:
    copy = provide(packed, place)
    if kind == "link":
        copy.rename(tmp_path / "elsewhere")
        copy.symlink_to(tmp_path / "elsewhere")
    else:
        copy.chmod(0o777)
    again = provide(packed, place)
    assert again != copy
    assert copies.is_whole(again, copies.read_list(packed))


def test_copies_unused_for_a_month_go(packed: Path, place: Path, tmp_path: Path) -> None:
    old = provide(pack(tmp_path / "old", {"liba.so": b"old"}), place)
    young = provide(pack(tmp_path / "young", {"liba.so": b"young"}), place)
    foreign = place / "softrig-notes"
    foreign.mkdir()
    long_ago = time.time() - 1.1 * copies.UNUSED_SECONDS
    for folder in old, foreign:
        os.utime(folder, (long_ago, long_ago))
    copy = provide(packed, place)
    assert not old.exists()
    assert young.exists() and foreign.exists() and copy.exists()


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_library_is_told_and_not_opened(
    packed_library: Path, place: Path, share: float
) -> None:
    data = packed_library.read_bytes()
    packed_library.write_bytes(data[: int(share * len(data))])
    with pytest.raises(LibraryError, match=f"damaged.*{len(data)} bytes.*Install"):
        library.load_library(packed_library)
    assert not list(place.iterdir())


def test_a_library_with_other_bytes_is_told(packed_library: Path, place: Path) -> None:
    data = bytearray(packed_library.read_bytes())
    data[len(data) // 2] ^= 1
    packed_library.write_bytes(bytes(data))
    with pytest.raises(LibraryError, match="damaged.*Install"):
        library.load_library(packed_library)
    assert not list(place.iterdir())


def test_what_lies_beside_is_looked_at_too(packed_library: Path, place: Path) -> None:
    listed = json.loads((packed_library.parent / copies.LIST).read_text("utf-8"))
    listed["libmissing.so"] = {"size": 3, "sha256": ""}
    (packed_library.parent / copies.LIST).write_text(json.dumps(listed), encoding="utf-8")
    with pytest.raises(LibraryError, match="libmissing.so is missing"):
        library.load_library(packed_library)


@pytest.mark.parametrize("text", ["", "[]", '{"liba.so": 3}'])
def test_a_broken_list_is_told(packed: Path, text: str) -> None:
    (packed / copies.LIST).write_text(text, encoding="utf-8")
    if text == "[]":
        (packed / copies.LIST).unlink()
    with pytest.raises(LibraryError, match="incomplete.*Install"):
        copies.read_list(packed)


OVERWRITE = """
import sys
from pathlib import Path
from softrig.native.library import load_library
path = Path(sys.argv[1])
library = load_library(path)
data = path.read_bytes()
with path.open("r+b") as file:
    file.truncate(0)
for _ in range(3):
    assert library.srGetByteCount() == 0
    library.srShutdown()
path.write_bytes(data)
load_library(path)
"""


def test_writing_over_the_installed_file_harms_nothing(packed_library: Path, place: Path) -> None:
    """In a process of its own: it would die of SIGBUS."""
    environment = os.environ | {"TMPDIR": str(place), "PYTHONPATH": str(ADDON)}
    command = [sys.executable, "-c", OVERWRITE, str(packed_library)]
    subprocess.run(command, check=True, env=environment)


def test_where_nothing_may_lie_in_the_temporary_folder_the_cache_serves(
    packed_library: Path, place: Path
) -> None:
    shutil.rmtree(place)
    place.write_text("in the way", encoding="utf-8")
    library.load_library(packed_library)
    assert len(list((place.parent / "cache").glob("softrig-*"))) == 1
