# SPDX-License-Identifier: GPL-3.0-or-later
"""A short soak; `./softrig test soak` does thousands of actions, and plants worse faults."""

from pathlib import Path
from typing import Any

import bpy
import pytest
from soak import plants, soak
from soak.checks import SoakError
from support import addon, scenes

ACTIONS = 200
SEED = 7


def test_random_actions_leave_what_a_clean_simulation_gives(scene: Any, tmp_path: Path) -> None:
    world = soak.run(ACTIONS, SEED, 0, tmp_path)
    assert world.found["live"] > ACTIONS / 10, "hardly anything was compared"


def test_it_finds_a_cache_that_outlives_its_settings(scene: Any, tmp_path: Path) -> None:
    with plants.planted("cache"), pytest.raises(SoakError, match="clean simulation"):
        soak.run(ACTIONS, SEED, 0, tmp_path)


def test_a_mesh_that_two_share_is_new_for_both_when_one_was_edited(skin: Any, scene: Any) -> None:
    other = skin.copy()
    scenes.link(other)
    scene.frame_set(2)
    scenes.make_active(skin)
    bpy.ops.object.mode_set(mode="EDIT")
    scene.frame_set(3)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin.data.vertices[0].co.z += 0.5
    scene.frame_set(4)
    for ob in (skin, other):
        shape = addon.module("blender.gather").read_shape(addon.session(), ob)
        assert addon.entry_of(ob).fingerprint == shape.fingerprint(), ob.name


def test_what_was_sculpted_while_a_bake_played_is_seen_once_it_is_freed(
    skin: Any, scene: Any
) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    skin.data.vertices[0].co.z += 0.5
    scene.frame_set(3)
    assert bpy.ops.softrig.free_bake() == {"FINISHED"}
    scene.frame_set(4)
    shape = addon.module("blender.gather").read_shape(addon.session(), skin)
    assert addon.entry_of(skin).fingerprint == shape.fingerprint()
