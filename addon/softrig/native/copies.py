# SPDX-License-Identifier: GPL-3.0-or-later
"""A private copy of the libraries that nobody writes over while they are in use.

Blender's installer writes into the add-on's folder, over what is loaded from there: the process
dies, and Windows refuses to install. So the libraries are loaded from a copy in the temporary
folder, named after its content and shared by all Blenders of this user. Before it is used every
byte of it is compared with the list that the zip brought: the system's loader dies of a truncated
file instead of saying so. Copies stay for the next start; those unused for a month are removed,
where the system lets us.
"""

import hashlib
import json
import logging
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import REINSTALL, LibraryError

log = logging.getLogger(__name__)

LIST = "files.json"
"""Written by addon/packaging/build_zip.py: name, size and SHA-256 of each file beside it."""
UNUSED_SECONDS = 30 * 24 * 3600.0


@dataclass(frozen=True)
class Content:
    """What a file must hold."""

    size: int
    sha256: str

    def is_in(self, data: bytes) -> bool:
        return len(data) == self.size and hashlib.sha256(data).hexdigest() == self.sha256


def read_list(folder: Path) -> dict[str, Content]:
    """What the zip brought."""
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
        return {name: Content(entry["size"], entry["sha256"]) for name, entry in listed.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LibraryError(f"The Softrig library is incomplete: {error}. {REINSTALL}") from error


def check_sizes(folder: Path, contents: dict[str, Content]) -> None:
    """Finds what was lost while unpacking, without reading it."""
    for name, content in contents.items():
        path = folder / name
        if not path.is_file():
            raise LibraryError(f"The Softrig library is incomplete: {name} is missing. {REINSTALL}")
        size = path.stat().st_size
        if size != content.size:
            raise LibraryError(
                f"The Softrig library is damaged: {name} has {size} of {content.size} bytes. "
                f"{REINSTALL}"
            )


def places() -> tuple[Path, ...]:
    """Where a copy may lie, best first; some systems let nothing run from the temporary folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(tempfile.gettempdir()), Path(cache)


def provide_copy(source: Path, contents: dict[str, Content], place: Path) -> Path:
    """A folder with the files of `source`, whole; the one that is there already if it can be."""
    named = json.dumps([(name, content.sha256) for name, content in sorted(contents.items())])
    final = place / f"{_prefix()}{hashlib.sha256(named.encode()).hexdigest()[:16]}"
    if not is_whole(final, contents):
        final = _make_copy(source, contents, final)
    with suppress(OSError):
        os.utime(final)
    _remove_unused(place, final)
    return final


def is_whole(folder: Path, contents: dict[str, Content]) -> bool:
    """Ours alone to write, and every byte as it should be."""
    if not _is_ours(folder):
        return False
    try:
        return all(
            content.is_in((folder / name).read_bytes()) for name, content in contents.items()
        )
    except OSError:
        return False


def _prefix() -> str:
    return f"softrig-{os.getuid() if hasattr(os, 'getuid') else 'libraries'}-"


def _is_ours(folder: Path) -> bool:
    """A real folder of this user that no other user may write into."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


def _make_copy(source: Path, contents: dict[str, Content], final: Path) -> Path:
    """Beside its place, then moved there; it stays where it is when the place cannot be had."""
    final.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{final.name}-", dir=final.parent))
    try:
        for name, content in contents.items():
            data = (source / name).read_bytes()
            if not content.is_in(data):
                raise LibraryError(
                    f"The Softrig library is damaged: {name} is not what was packed. {REINSTALL}"
                )
            (fresh / name).write_bytes(data)
            (fresh / name).chmod(0o700)  # the zip brings no right to run a program
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    if _is_ours(final) and not is_whole(final, contents):
        _remove(final)
    try:
        return fresh.rename(final)
    except OSError:
        if not is_whole(final, contents):
            return fresh
    shutil.rmtree(fresh, ignore_errors=True)  # another Blender was faster
    return final


def _remove(folder: Path) -> None:
    """Moved away first: Windows refuses that while a file in it is in use, and all of it stays."""
    aside = folder.with_name(f"{folder.name}-{os.getpid()}-old")
    with suppress(OSError):
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def _remove_unused(place: Path, kept: Path) -> None:
    for folder in place.glob(f"{_prefix()}*"):
        with suppress(OSError):
            unused = time.time() - folder.lstat().st_mtime > UNUSED_SECONDS
            if unused and folder != kept and _is_ours(folder):
                log.info("removing the unused copy %s", folder)
                _remove(folder)
