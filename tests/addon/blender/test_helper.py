# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever becomes of the helper around TetGen: Blender lives, and the lattice has made a cage."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest
from support import addon, scenes

# what stands in for the helper, and a word of the sentence
MISFORTUNES = {
    "missing": (None, "missing"),
    "killed": ("kill -KILL $$", "killed"),
    "crashed": ("cat >/dev/null; kill -SEGV $$", "killed"),
    "starved": ("ulimit -v 6000; exec HELPER", ""),
    "silent": ("exit 0", "no usable"),
    "cut short": ("HELPER | head -c 500", "no usable"),
}


@pytest.fixture
def torus(scene: Any) -> Any:
    bpy.ops.mesh.primitive_torus_add(major_segments=96, minor_segments=48)
    ob = bpy.context.object
    scenes.rush(ob)
    scenes.make_active(ob)
    ob.softrig.mesher = "TETGEN"
    return ob


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the helper runs; nothing of it stays, neither file nor process."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    yield tmp_path
    assert not list(empty.iterdir())
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("name", MISFORTUNES)
def test_the_lattice_answers_for_a_helper_that_is(
    torus: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    line, word = MISFORTUNES[name]
    api = addon.session().api
    path = folder / "stand-in"
    if line is not None:
        path.write_text(f"#!/bin/sh\n{line.replace('HELPER', api._helper)}\n")
        path.chmod(0o700)
    monkeypatch.setattr(api, "_helper", str(path))
    scenes.add_softrig(torus)
    report = addon.entry_of(torus).report
    assert report["mesher"] == addon.module("native.bindings").Mesher.LATTICE
    assert report["nodeCount"] >= 0.6 * torus.softrig.cage_nodes
    assert word in report["mesherNote"] and "lattice" in report["mesherNote"]


def test_a_helper_that_works_is_there_and_may_run(torus: Any, folder: Path) -> None:
    helper = Path(addon.session().api._helper)
    assert helper.is_file() and os.access(helper, os.X_OK)
    scenes.add_softrig(torus)
    report = addon.entry_of(torus).report
    assert report["mesher"] == addon.module("native.bindings").Mesher.TETGEN
    assert report["mesherNote"] == ""
