# SPDX-License-Identifier: GPL-3.0-or-later
"""One clock for tape, shot, picture and bake: with Time Remapping and between frames too."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

BETWEEN = (-0.5, 1.0, 1.25, 20.0, 20.5, 21.37, 22.99996, 24.0, 28.9, 39.75, 40.5, 60.0)
MAPS = ((100, 100), (100, 200), (100, 50), (100, 130))


def shown_row(tape: Any, skin: Any, plan: Any) -> np.ndarray:
    return tape.read_shown(bpy.context.evaluated_depsgraph_get(), skin, plan)


@pytest.fixture
def saved(skin: Any, tmp_path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return bpy.data.objects["Skin"]


def remap(scene: Any, old: int, new: int) -> None:
    scene.render.frame_map_old, scene.render.frame_map_new = old, new


@pytest.mark.parametrize("old, new", MAPS)
@pytest.mark.parametrize("first, base", [(1, 1.0), (-10, 1.001)])
def test_a_bake_is_live_to_the_bit_between_frames_too(
    saved: Any, old: int, new: int, first: int, base: float
) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.render.fps_base = first, base
    remap(scene, old, new)
    live = [measure.at_frame(saved, frame) for frame in BETWEEN]
    scenes.make_active(saved)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    addon.disable()
    try:
        for frame, expected in zip(BETWEEN, live, strict=True):
            assert measure.same_bits(measure.at_frame(saved, frame), expected), f"frame {frame}"
    finally:
        addon.enable()
    assert measure.largest(live[5], measure.without_us(saved)) > 1e-3


@pytest.mark.parametrize("old, new", MAPS)
def test_a_frame_shows_the_offsets_of_the_pose_that_it_shows(
    skin: Any, scene: Any, old: int, new: int
) -> None:
    remap(scene, old, new)
    scene.frame_set(1)
    entry, tape = addon.entry_of(skin), addon.module("blender.tape")
    session = addon.session()
    rows = tape.record(session, scene, skin, entry.plan, range(1, 41)).rows
    offsets = np.empty_like(entry.buffer)
    for frame in (8, 15, 20, 31):
        shown = measure.at_frame(skin, frame)
        pose = shown_row(tape, skin, entry.plan)
        assert measure.same_bits(rows[frame - 1], pose), f"pose of frame {frame}"
        assert session.api.wait_frame(entry.shot, frame, 60.0)
        assert session.api.read_offsets(entry.shot, float(frame), offsets)
        drawn = shown - measure.without_us(skin)
        assert np.abs(drawn - offsets).max() < 1e-5, f"offsets of frame {frame}"


def test_a_remapped_motion_swings_as_the_same_motion_with_stretched_keys(scene: Any) -> None:
    def offsets(slower: Any) -> list[np.ndarray]:
        skin, rig = scenes.make_character()
        scene.frame_end = 80
        slower(rig)
        scenes.add_softrig(skin)
        skin.softrig.solver = "FLESH"  # no tolerance: what differs by rounding stays so near
        found = []
        for frame in range(20, 60, 4):
            shown = measure.at_frame(skin, frame)
            found.append(shown - measure.without_us(skin))
        bpy.data.objects.remove(skin)
        bpy.data.objects.remove(rig)
        return found

    remapped = offsets(lambda rig: remap(scene, 100, 200))
    remap(scene, 100, 100)
    keyed = offsets(stretch_keys)
    assert max(np.abs(one).max() for one in keyed) > 0.01
    for one, other in zip(remapped, keyed, strict=True):
        assert measure.largest(one, other) < 1e-4


def stretch_keys(rig: Any) -> None:
    action = rig.animation_data.action
    if hasattr(action, "fcurves"):
        curves = action.fcurves
    else:
        curves = action.layers[0].strips[0].channelbags[0].fcurves
    for curve in curves:
        for key in curve.keyframe_points:
            key.co.x, key.handle_left.x, key.handle_right.x = (
                2.0 * key.co.x,
                2.0 * key.handle_left.x,
                2.0 * key.handle_right.x,
            )
