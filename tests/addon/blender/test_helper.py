# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever becomes of the helper around TetGen: Blender lives, and the lattice has made a cage."""

import os
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, damage, scenes

# what stands in for the helper, and a word of the sentence
MISFORTUNES = {
    "missing": (None, "missing"),
    "not executable": ("exit 0", "missing"),
    "no program": ("", "missing"),
    "killed": ("kill -KILL $$", "killed"),
    "killed while it listens": ("head -c 100 >/dev/null; kill -KILL $$", "killed"),
    "killed while it answers": ("HELPER | head -c 500; kill -KILL $$", "killed"),
    "killed after its answer": ("HELPER; kill -KILL $$", "killed"),
    "of another version": ("{ printf old; tail -c +4; } | HELPER", "another version"),
    "noisy": ("head -c 300000 /dev/urandom", "no usable"),
    "crashed": ("cat >/dev/null; kill -SEGV $$", "killed"),
    # its limit of twenty seconds is waited for; what it started must go with it
    "stalled": ("sleep 4444 & kill -STOP $$", "too long"),
    "starved": ("ulimit -v 6000; exec HELPER", "memory"),
    "silent": ("exit 0", "no usable"),
    "cut short": ("HELPER | head -c 500", "no usable"),
}

WANTED_NODES = 100
# what a character without bones has none of
INDICES = ("weight_starts", "weight_bones", "bone_parents", "bone_spaces")
NUMBERS = ("weight_values", "bone_rests", "bone_lengths", "bone_loose_tips", "space_to_skin")


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
    """Where the helper runs; nothing of it stays, neither file nor process nor zombie."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    temporary = set(Path(tempfile.gettempdir()).iterdir())
    yield tmp_path
    assert not list(empty.iterdir())
    assert set(Path(tempfile.gettempdir()).iterdir()) == temporary
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert others_in(empty) == []


def others_in(folder: Path) -> list[str]:
    """Names of the processes beside this one that work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) != os.getpid() and (process / "cwd").readlink() == folder:
                found.append((process / "comm").read_text().strip())
        except OSError:  # of another user, or gone meanwhile
            continue
    return found


def test_a_process_that_stays_would_be_seen(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    try:
        assert others_in(tmp_path) == ["sleep"]
    finally:
        sleeper.kill()
        sleeper.wait()
    assert others_in(tmp_path) == []


@pytest.mark.parametrize("name", MISFORTUNES)
def test_the_lattice_answers_for_a_helper_that_is(
    torus: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    line, word = MISFORTUNES[name]
    api = addon.session().api
    path = folder / "stand-in"
    if line is not None:
        path.write_text(
            f"#!/bin/sh\n{line.replace('HELPER', api._helper)}\n" if line else "\x7fELF"
        )
        path.chmod(0o600 if name == "not executable" else 0o700)
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
    assert "TetGen" in report["mesherNote"]


def test_the_helper_needs_no_disk(
    torus: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(folder / "none"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        scenes.add_softrig(torus)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert addon.entry_of(torus).report["mesher"] == addon.module("native.bindings").Mesher.TETGEN


def prepare_bare(patient: damage.Patient) -> tuple[Any, dict[str, Any]]:
    """By the add-on's own library and helper; how it ended, and the report where it ended well."""
    inputs, api = addon.module("native.inputs"), addon.session().api
    empty = {kind: np.zeros(0, kind) for kind in (np.float32, np.int32)}
    character = api.create_character(
        inputs.CharacterInput(
            skin_positions=patient.points.reshape(-1),
            skin_triangles=patient.triangles.reshape(-1),
            **{
                name: empty[np.int32 if name in INDICES else np.float32]
                for name in (*INDICES, *NUMBERS)
            },
            target_node_count=WANTED_NODES,
            mesher=addon.module("native.bindings").Mesher.TETGEN,
        )
    )
    while api.character_status(character).running:
        time.sleep(0.001)
    status = api.character_status(character)
    report = {} if status.failed else api.character_report(character)
    api.destroy_character(character)
    return status, report


def test_two_hundred_damaged_surfaces(scene: Any, folder: Path) -> None:
    meshers, bindings = Counter(), addon.module("native.bindings")
    refusals = (bindings.Result.ERROR_NO_INSIDE, bindings.Result.ERROR_BAD_MESH)
    for patient in damage.patients(200):
        status, report = prepare_bare(patient)
        if status.failed:
            assert not patient.has_inside, f"{patient.name}: {status.message}"
            assert status.result in refusals and len(status.message) > 20, patient.name
            continue
        assert report["nodeCount"] >= 0.6 * WANTED_NODES or report["leastNodeCount"], patient.name
        assert report["volume"] > 0.0 and report["smallestAngleDegrees"] > 0.0, patient.name
        # who made it, and why it was not the one that was asked for
        by_tetgen = report["mesher"] == bindings.Mesher.TETGEN
        assert by_tetgen or report["mesher"] == bindings.Mesher.LATTICE, patient.name
        assert by_tetgen != ("lattice" in report["mesherNote"]), patient.name
        meshers[by_tetgen] += 1
    assert min(meshers[True], meshers[False]) > 5, f"both have to be seen: {meshers}"
    assert sum(meshers.values()) >= 180
    scene.frame_set(2)
