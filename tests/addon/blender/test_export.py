# SPDX-License-Identifier: GPL-3.0-or-later
"""What is exported and simulated without Blender is what Blender bakes, to the bit."""

import os
import subprocess
from pathlib import Path
from typing import Any

import bpy
import pytest
from support import addon, scenes

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def program() -> Path:
    named = os.environ.get("SOFTRIG_CLI")
    path = Path(named) if named else ROOT / "build" / "release" / "native" / "softrig-cli"
    assert path.is_file(), f"build the command line program first: {path}"
    return path


def simulate(program: Path, obj: Path, rig: Path, output: Path, *options: str) -> None:
    """With the add-on's own library: two builds may prepare differently in the last bits."""
    library = addon.module("native.library").find_library()
    subprocess.run(
        [program, "simulate", obj, "--rig", rig, "-o", output, *options],
        check=True,
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("softness", [0.5, 0.8])
def test_the_program_gives_the_bake_to_the_bit(
    skin: Any, program: Path, tmp_path: Path, softness: float
) -> None:
    skin.softrig.softness = softness
    rig = tmp_path / "Skin.rig"
    assert bpy.ops.softrig.export_rig(filepath=str(rig)) == {"FINISHED"}
    frequency = addon.module("blender.properties").read_settings(skin).frequency_hz
    output = tmp_path / "skin.pc2"
    simulate(program, rig.with_suffix(".obj"), rig, output, "--frequency", repr(frequency))
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    modifier = addon.module("blender.carrier").find_bake(skin)
    baked = Path(bpy.path.abspath(modifier.filepath)).read_bytes()
    assert any(baked[32:])
    assert output.read_bytes() == baked


def test_exporting_needs_no_softrig_on_the_mesh(scene: Any, tmp_path: Path) -> None:
    skin, _ = scenes.make_character()
    rig = tmp_path / "a.rig"
    assert bpy.ops.softrig.export_rig(filepath=str(rig)) == {"FINISHED"}
    lines = rig.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "softrig-rig 1"
    assert sum(line.startswith("m ") for line in lines) == scenes.LAST_FRAME * (1 + 1 + 4)
    assert not skin.softrig.uuid


def test_a_path_that_cannot_be_written_is_told(skin: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="nowhere"):
        bpy.ops.softrig.export_rig(filepath=str(tmp_path / "nowhere" / "a.rig"))
