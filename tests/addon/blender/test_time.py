# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a shot begins, what was before it, and loops. Panel and bake speak of shown frames only."""

import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

ALL = range(1, scenes.LAST_FRAME + 1)


def offset_at(skin: Any, frame: float) -> np.ndarray:
    return measure.at_frame(skin, frame) - measure.without_us(skin)


def frames_of(skin: Any) -> Any:
    return addon.entry_of(skin).frames


def describe(skin: Any) -> str:
    entry = addon.entry_of(skin)
    addon.session().refresh(entry)
    return addon.module("model.schedule").describe(entry)


def moving(scene: Any, start: int) -> Any:
    """A character in full run at the scene's first frame."""
    skin, _ = scenes.make_character()
    scene.frame_start = start
    scenes.add_softrig(skin)
    return skin


def test_an_own_start_begins_later_and_frames_before_show_the_first(skin: Any) -> None:
    skin.softrig.use_start_frame, skin.softrig.start_frame = True, 15
    first = offset_at(skin, 15)
    assert (frames_of(skin).first, frames_of(skin).last) == (15, scenes.LAST_FRAME)
    for frame in (1, 8, 14.5):
        assert measure.largest(offset_at(skin, frame), first) < 1e-6
    assert np.abs(offset_at(skin, scenes.STOP_FRAME + 1)).max() > 1e-2
    measure.at_frame(skin, scenes.LAST_FRAME)
    assert describe(skin) == "26 of 26 frames ready"


def test_a_start_behind_the_end_is_the_last_frame(skin: Any) -> None:
    skin.softrig.use_start_frame, skin.softrig.start_frame = True, 1000
    measure.at_frame(skin, 20)
    assert (frames_of(skin).first, frames_of(skin).count) == (scenes.LAST_FRAME, 1)


def test_settling_holds_the_first_pose(scene: Any) -> None:
    skin = moving(scene, 14)
    skin.softrig.gravity_factor, skin.softrig.plain_gravity = 1.0, True
    skin.softrig.pre_roll_mode, skin.softrig.pre_roll = "SETTLE", 100
    sag = offset_at(skin, 14)
    rows = addon.entry_of(skin).rows
    assert len(rows) == 27 + 100
    assert all(measure.same_bits(row, rows[100]) for row in rows[:100])
    assert np.abs(sag).max() > 1e-2, "it hangs at rest at the first frame"
    skin.softrig.pre_roll = 200
    assert measure.largest(offset_at(skin, 14), sag) < 1e-3


def test_running_in_shows_what_a_longer_range_shows(scene: Any) -> None:
    skin = moving(scene, 1)
    longer = {frame: measure.at_frame(skin, frame) for frame in range(14, 41)}
    scene.frame_start = 14
    cold = measure.at_frame(skin, 16)
    assert measure.largest(cold, longer[16]) > 1e-4, "the test shows nothing"
    skin.softrig.pre_roll_mode, skin.softrig.pre_roll = "RUN_IN", 13
    for frame, expected in longer.items():
        assert measure.same_bits(measure.at_frame(skin, frame), expected), f"frame {frame}"
    assert describe(skin) == "27 of 27 frames ready"


def test_a_bake_has_the_shown_frames_only(scene: Any, tmp_path: Path) -> None:
    skin = moving(scene, 14)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    skin = bpy.data.objects["Skin"]
    skin.softrig.pre_roll_mode = "RUN_IN"
    live = {frame: measure.at_frame(skin, frame) for frame in range(14, 41)}
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bake = addon.module("blender.carrier").find_bake(skin)
    head = Path(bpy.path.abspath(bake.filepath)).read_bytes()[:32]
    assert struct.unpack("<12siiffi", head)[5] == 27
    assert bake.frame_start == 14
    for frame, expected in live.items():
        assert measure.same_bits(measure.at_frame(skin, frame), expected), f"frame {frame}"


@pytest.mark.parametrize("early", [13.75, 13.5, 10.0])
def test_before_a_run_in_bake_stands_what_live_shows_there(
    scene: Any, tmp_path: Path, early: float
) -> None:
    """Motion blur of the first frame looks there."""
    skin = moving(scene, 14)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    skin = bpy.data.objects["Skin"]
    skin.softrig.pre_roll_mode, skin.softrig.pre_roll = "RUN_IN", 13
    live = measure.at_frame(skin, early)
    assert measure.largest(live, measure.without_us(skin)) > 1e-4, "the test shows nothing"
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, early), live)


@pytest.mark.parametrize("mode", ["SETTLE", "RUN_IN"])
def test_looking_before_the_first_frame_is_no_sign_of_a_rig_that_reads_the_scene(
    scene: Any, mode: str
) -> None:
    skin = moving(scene, 14)
    skin.softrig.pre_roll_mode = mode
    for frame in (20, 5, 13, 9, 14):
        addon.entry_of(skin).compared_at = -1e9
        measure.at_frame(skin, frame)
        assert not addon.entry_of(skin).steps_scene, f"frame {frame}"


def swing(rig: Any, period: int) -> None:
    """A motion that repeats after `period` frames."""
    rig.animation_data_clear()
    bone = rig.pose.bones["spine"]
    bone.rotation_mode = "XYZ"
    driver = bone.driver_add("rotation_euler", 0).driver
    driver.expression = f"0.6 * sin(2 * pi * (frame - 1) / {period})"


def test_a_loop_that_a_script_chooses_in_a_saved_file_is_that(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    """It is no share of what was saved."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    scene.frame_start, scene.frame_end = 10, 34
    skin.softrig.loop = "LAST_IS_FIRST"
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert "0010-0034" not in addon.module("blender.carrier").find_bake(skin).filepath
    assert (frames_of(skin).first, frames_of(skin).count) == (10, 25)


@pytest.mark.parametrize(
    "loop, period", [("LAST_IS_FIRST", 39), ("FIRST_FOLLOWS_LAST", scenes.LAST_FRAME)]
)
def test_a_loop_meets_its_beginning(skin: Any, loop: str, period: int) -> None:
    rig = bpy.data.objects["Skin Rig"]
    swing(rig, period)
    bpy.context.view_layer.update()
    largest = max(np.abs(offset_at(skin, frame)).max() for frame in ALL)
    open_seam = measure.largest(offset_at(skin, 1), offset_at(skin, period + 1))
    skin.softrig.loop, skin.softrig.pre_roll_mode = loop, "RUN_IN"
    offsets = {frame: offset_at(skin, frame) for frame in ALL}
    assert frames_of(skin).pre_roll == 0, "what comes before a loop is the loop"
    steps = [measure.largest(offsets[f], offsets[f + 1]) for f in range(1, scenes.LAST_FRAME)]
    if loop == "LAST_IS_FIRST":
        assert measure.largest(offsets[1], offsets[scenes.LAST_FRAME]) < 0.01 * largest
        assert open_seam > 0.02 * largest, "the test shows nothing"
    else:
        assert measure.largest(offsets[1], offsets[scenes.LAST_FRAME]) < 1.2 * max(steps)
    addon.session().refresh(addon.entry_of(skin))
    status = addon.entry_of(skin).shot_status
    assert status.loop_rounds > 1 and status.loop_seam < 0.01


@pytest.mark.parametrize("subframes", [0, 3])
@pytest.mark.parametrize(
    "loop, period, before, after", [("LAST_IS_FIRST", 39, 39, 2), ("FIRST_FOLLOWS_LAST", 40, 40, 1)]
)
def test_open_shutters_see_the_rounds_around_a_loop(
    skin: Any, tmp_path: Path, loop: str, period: int, before: int, after: int, subframes: int
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "loop.blend"))
    swing(bpy.data.objects["Skin Rig"], period)
    skin.softrig.loop, skin.softrig.bake_subframes = loop, subframes
    moments = (-2.0, 0.0, 0.5, 0.75, 1.0, 39.5, 40.0, 40.25, 41.0, 44.5)
    live = {moment: offset_at(skin, moment) for moment in moments}
    round_before, round_after = offset_at(skin, before), offset_at(skin, after)
    step = measure.largest(live[1.0], round_before)
    assert step > 1e-3 * np.abs(live[1.0]).max(), "the test shows nothing"
    near = 1e-4 * np.abs(live[1.0]).max()
    assert measure.largest(live[0.0], round_before) <= near
    assert measure.largest(live[-2.0], round_before) <= near, "further out it is held"
    assert measure.largest(live[0.75], 0.75 * live[1.0] + 0.25 * round_before) <= near
    assert measure.largest(live[40.25], 0.75 * live[40.0] + 0.25 * round_after) <= near
    assert measure.largest(live[44.5], round_after) <= near
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    for moment in moments:
        assert measure.largest(offset_at(skin, moment), live[moment]) <= near, moment
    session = addon.session()
    addon.module("blender.examine").examine(session, skin, bpy.context.scene)
    assert not [f.text for f in session.findings[skin.softrig.uuid] if "bake" in f.text]


def test_time_is_kept_in_the_file(skin: Any, tmp_path: Path) -> None:
    skin.softrig.pre_roll_mode, skin.softrig.loop = "SETTLE", "LAST_IS_FIRST"
    skin.softrig.use_start_frame, skin.softrig.start_frame = True, 4
    expected = measure.at_frame(skin, 24)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "time.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "time.blend"))
    loaded = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(loaded, 24), expected)
    assert frames_of(loaded).first == 4
