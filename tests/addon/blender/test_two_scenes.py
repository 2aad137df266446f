# SPDX-License-Identifier: GPL-3.0-or-later
"""One character in two scenes: each shows its own frame, or says why it does not."""

from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

LOOKS = (1, 20, 24, 40)


@pytest.fixture
def two(skin: Any, scene: Any) -> Any:
    """Another scene that holds the same character over the same frames."""
    other = bpy.data.scenes.new("Two")
    for ob in (skin, bpy.data.objects["Skin Rig"]):
        other.collection.objects.link(ob)
    other.frame_start, other.frame_end = scene.frame_start, scene.frame_end
    other.render.fps = scene.render.fps
    return other


def look(scene: Any, skin: Any, frame: int) -> np.ndarray:
    scene.frame_set(frame)
    return measure.evaluated(skin, scene.view_layers[0].depsgraph)


def test_a_scene_with_the_same_frames_shows_its_own_frame(skin: Any, scene: Any, two: Any) -> None:
    truth = {frame: measure.at_frame(skin, frame) for frame in LOOKS}
    scene.frame_set(20)
    bpy.context.window.scene = two
    for frame in LOOKS:
        assert measure.same_bits(look(two, skin, frame), truth[frame]), f"frame {frame}"
    assert addon.entry_of(skin).scene_name == scene.name


def test_a_scene_with_other_frames_is_simulated_for_itself(skin: Any, scene: Any, two: Any) -> None:
    truth = {frame: measure.at_frame(skin, frame) for frame in LOOKS}
    two.render.fps = 60
    bpy.context.window.scene = two
    elsewhere = look(two, skin, 24)
    assert addon.entry_of(skin).frames.rate == 60.0
    assert measure.largest(elsewhere, truth[24]) > 1e-4
    bpy.context.window.scene = scene
    for frame in LOOKS:
        assert measure.same_bits(look(scene, skin, frame), truth[frame]), f"frame {frame}"


def test_while_two_windows_disagree_the_other_scene_stands_still_and_says_so(
    skin: Any, scene: Any, two: Any
) -> None:
    scene.frame_set(24)
    two.frame_end = 90
    show = addon.module("blender.show")
    show.show_scene(addon.session(), two)
    assert not carrier_points(skin).any()
    entry = addon.entry_of(skin)
    texts = addon.module("panels.main").warnings(skin, entry)
    assert any('"Two"' in text and "stands still" in text for text in texts)
    show.show_scene(addon.session(), scene)
    assert carrier_points(skin).any()
    assert not entry.elsewhere


def carrier_points(skin: Any) -> np.ndarray:
    carrier = addon.module("blender.carrier").find_carrier(skin)
    return addon.module("blender.compat").read_positions(carrier.data)


def test_the_character_follows_the_scene_that_the_window_shows(
    skin: Any, scene: Any, two: Any
) -> None:
    watch, session = addon.module("blender.watch"), addon.session()
    bpy.context.window.scene = two
    watch.tick(session)
    assert addon.entry_of(skin).scene_name == "Two"
    bpy.context.window.scene = scene
    watch.tick(session)
    assert addon.entry_of(skin).scene_name == scene.name


def test_a_bake_is_of_the_scene_where_it_was_pressed(skin: Any, scene: Any, two: Any) -> None:
    two.frame_end = 60
    bpy.context.window.scene = two
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert addon.entry_of(skin).frames.count == 60


def test_keys_that_change_in_the_other_scene_are_noticed(skin: Any, scene: Any, two: Any) -> None:
    addon.module("blender.watch").ensure_scene(addon.session(), scene)
    bpy.context.window.scene = two
    two.view_layers[0].update()
    addon.module("blender.watch").ensure_scene(addon.session(), two)
    entry = addon.entry_of(skin)
    assert not entry.state.stale
    bpy.data.objects["Skin Rig"].location.z = 2.0
    two.view_layers[0].update()
    assert entry.state.stale


def test_what_saving_puts_back_is_what_the_window_shows(skin: Any, scene: Any, two: Any) -> None:
    """The other scene wants other frames of the same character."""
    two.frame_end = 90
    scene.frame_set(24)
    before = carrier_points(skin)
    files = addon.module("handlers.files")
    files.softrig_save_pre(scene)
    assert before.any() and not carrier_points(skin).any()
    files.softrig_save_post(scene)
    assert np.array_equal(carrier_points(skin), before)
