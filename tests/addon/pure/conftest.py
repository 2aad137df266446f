# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on without Blender: `native` and `model` on the real library and on a fake."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "addon"), str(Path(__file__).resolve().parent)]


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Copies of a packaged library go with the tests."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("temporary"))
    yield
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def library_path() -> Path:
    """SOFTRIG_LIBRARY, else what the release preset built."""
    named = os.environ.get("SOFTRIG_LIBRARY")
    path = Path(named) if named else ROOT / "build" / "release" / "native" / "libsoftrig.so"
    assert path.is_file(), f"build the library first: {path}"
    return path


@pytest.fixture
def api(library_path: Path) -> Iterator[object]:
    """The real library; every test leaves it without a byte."""
    from softrig.native.api import Api

    real = Api(library_path)
    yield real
    real.shutdown()
    assert real.byte_count() == 0
