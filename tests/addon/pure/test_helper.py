# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever becomes of the helper around TetGen: there is a cage, and nothing else of it stays."""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample import make_character
from softrig.native.bindings import Mesher
from softrig.native.library import HELPER

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stand-ins are shell scripts")

# what stands in for the helper, and a word of the sentence
MISFORTUNES = {
    "killed": ("kill -KILL $$", "killed"),
    "killed while it listens": ("head -c 100 >/dev/null; kill -KILL $$", "killed"),
    "killed at work": ("HELPER >/dev/null; kill -KILL $$", "killed"),
    "killed while it answers": ("HELPER | head -c 500; kill -KILL $$", "killed"),
    "killed after its answer": ("HELPER; kill -KILL $$", "killed"),
    "of another version": ("{ printf old; tail -c +4; } | HELPER", "another version"),
    "crashed after it listened": ("cat >/dev/null; kill -SEGV $$", "killed"),
    "starved": ("exit 1", "memory"),
    "given too little memory": ("ulimit -v 6000; exec HELPER", "memory"),
    "refusing": ("exit 3", "fault"),
    "silent": ("exit 0", "no usable"),
    "talking nonsense": ("echo hello", "no usable"),
    "talking noise": ("head -c 300000 /dev/urandom", "no usable"),
    "echoing": ("exec cat", "no usable"),
    "cut short": ("HELPER | head -c 500", "no usable"),
}


@pytest.fixture
def helper(library_path: Path) -> Path:
    path = library_path.parent / HELPER
    if not path.is_file():
        pytest.skip("the helper around TetGen was not built")
    return path


@pytest.fixture(autouse=True)
def nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process and no file: the helper's current and temporary folders are empty afterwards."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(folder))
    common = Path("/tmp")
    before = set(common.glob("*tetgen*"))
    yield
    assert not list(folder.iterdir())
    assert set(common.glob("*tetgen*")) <= before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def stand_in(folder: Path, line: str, helper: Path | None = None) -> Path:
    path = folder / "stand-in"
    path.write_text(f"#!/bin/sh\n{line.replace('HELPER', str(helper))}\n")
    path.chmod(0o700)
    return path


def start(api: Any) -> Any:
    return api.create_character(replace(make_character(), mesher=Mesher.TETGEN).to_native())


def report_of(api: Any) -> dict[str, Any]:
    character = start(api)
    while api.character_status(character).running:
        time.sleep(0.01)
    return api.character_report(character)


def assert_lattice_answered(report: dict[str, Any], word: str) -> None:
    assert report["mesher"] == Mesher.LATTICE
    assert report["nodeCount"] > 50 and report["volume"] > 0.0
    assert word in report["mesherNote"] and "lattice" in report["mesherNote"]


@pytest.mark.parametrize("name", MISFORTUNES)
def test_the_lattice_answers_for_a_helper_that_is(
    api: Any, helper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    line, word = MISFORTUNES[name]
    monkeypatch.setattr(api, "_helper", str(stand_in(tmp_path, line, helper)))
    assert_lattice_answered(report_of(api), word)


def test_the_lattice_answers_for_a_helper_that_cannot_be_started(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_program = tmp_path / "no-program"
    no_program.write_bytes(b"\x7fELF and nothing else")
    no_program.chmod(0o700)
    without_right = stand_in(tmp_path, "exit 0")
    without_right.chmod(0o600)
    for path in (tmp_path / "gone", tmp_path, no_program, without_right):
        monkeypatch.setattr(api, "_helper", str(path))
        assert_lattice_answered(report_of(api), "missing")


@pytest.mark.parametrize("line", ["sleep 60", "kill -STOP $$", "while :; do :; done"])
def test_a_stalled_helper_goes_with_its_character(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(api, "_helper", str(stand_in(tmp_path, line)))
    character = start(api)
    time.sleep(0.3)
    assert api.character_status(character).running
    begin = time.monotonic()
    api.destroy_character(character)
    api.shutdown()
    assert time.monotonic() - begin < 5.0


def test_the_answer_of_a_helper_that_works_is_taken(api: Any, helper: Path) -> None:
    report = report_of(api)
    assert report["mesher"] == Mesher.TETGEN and "TetGen" in report["mesherNote"]
