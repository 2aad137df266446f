# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and cuts: recorded with the rig, however they are animated, and followed at once."""

from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

LATE = 36


def record(skin: Any) -> Any:
    """The controls of the whole shot, as the library was given them."""
    scenes.make_active(skin)
    assert bpy.ops.softrig.record() == {"FINISHED"}
    return addon.entry_of(skin).controls


def column(skin: Any, name: str) -> np.ndarray:
    places = {"gravity": slice(0, 3), "wind": slice(3, 6), "gusts": 6, "travel": 7, "cut": 8}
    return record(skin)[:, places[name]]


def key(skin: Any, name: str, *pairs: tuple[int, Any]) -> None:
    for frame, value in pairs:
        setattr(skin.softrig, name, value)
        skin.softrig.keyframe_insert(name, frame=frame)


def still_character() -> Any:
    skin, _ = scenes.make_character(moves=False)
    scenes.add_softrig(skin)
    return skin


def offset_at(skin: Any, frame: float) -> np.ndarray:
    return measure.at_frame(skin, frame) - measure.without_us(skin)


def test_by_default_nothing_pulls_and_all_travel_is_felt(skin: Any) -> None:
    expected = np.zeros((scenes.LAST_FRAME, 10), np.float32)
    expected[:, 6:8] = 0.5, 1.0
    assert (record(skin) == expected).all()


def test_keys_are_read_at_each_frame(skin: Any) -> None:
    key(skin, "gravity_factor", (1, 0.0), (11, 2.0))
    key(skin, "wind_speed", (1, 5.0), (21, 5.0))
    key(skin, "wind_direction", (1, (1.0, 0.0, 0.0)), (21, (0.0, 0.0, 2.0)))
    key(skin, "travel_felt", (1, 1.0), (31, 0.0))
    key(skin, "pressure", (1, 0.0), (31, 0.5))
    controls = record(skin)
    assert controls[0, 2] == 0.0
    assert controls[0, 9] == 0.0 and controls[30, 9] == pytest.approx(0.5)
    assert controls[5, 2] == pytest.approx(-9.81, abs=0.01)
    assert controls[10, 2] == pytest.approx(2.0 * -9.81, abs=0.01)
    assert np.linalg.norm(controls[:, 3:6], axis=1) == pytest.approx(5.0, abs=1e-3)
    assert controls[0, 3] == pytest.approx(5.0) and controls[20, 5] == pytest.approx(5.0)
    assert (np.diff(controls[:31, 7]) <= 0.0).all() and controls[30, 7] == 0.0


def test_drivers_are_read_at_each_frame(skin: Any) -> None:
    rig = bpy.data.objects["Skin Rig"]
    driver = skin.driver_add("softrig.wind_speed").driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "x", rig
    variable.targets[0].data_path = "location.x"
    driver.expression = "3 * x"
    wind = column(skin, "wind")[:, 0]
    assert wind[0] == 0.0 and wind[-1] == pytest.approx(12.0)
    assert len(np.unique(wind)) > 5


def test_strips_of_the_nonlinear_editor_are_read(skin: Any) -> None:
    key(skin, "gravity_factor", (1, 0.0), (11, 1.0))
    data = skin.animation_data
    action, slots = data.action, getattr(data.action, "slots", ())
    strip = data.nla_tracks.new().strips.new("strip", 1, action)
    if slots:
        strip.action_slot = slots[0]
    data.action = None
    gravity = column(skin, "gravity")[:, 2]
    assert gravity[0] == 0.0 and gravity[10] == pytest.approx(-9.81, abs=1e-3)


def test_where_the_whole_scene_is_stepped_they_are_read_too(skin: Any) -> None:
    key(skin, "travel_felt", (1, 0.0), (11, 1.0))
    skin.softrig.step_scene = True
    travel = column(skin, "travel")
    assert addon.entry_of(skin).steps_scene
    assert travel[0] == 0.0 and travel[10] == 1.0 and 0.0 < travel[4] < 1.0


def test_keyed_gravity_of_the_scene_is_read_by_stepping_it(skin: Any, scene: Any) -> None:
    skin.softrig.gravity_factor = 1.0
    for frame, z in ((1, 0.0), (11, -5.0)):
        scene.gravity = (0.0, 0.0, z)
        scene.keyframe_insert("gravity", frame=frame)
    gravity = column(skin, "gravity")[:, 2]
    assert addon.entry_of(skin).steps_scene
    assert gravity[0] == 0.0 and gravity[10] == -5.0 and -5.0 < gravity[5] < 0.0
    measure.at_frame(skin, 5)
    assert not addon.entry_of(skin).state.stale, "looking at a frame is no change"


def test_a_turned_dial_is_followed(skin: Any) -> None:
    before = measure.at_frame(skin, LATE)
    skin.softrig.gravity_factor = 1.0
    skin.softrig.plain_gravity = True
    sagging = measure.at_frame(skin, LATE)
    assert measure.largest(sagging, before) > 1e-2
    skin.softrig.gravity_factor = 0.0
    assert measure.same_bits(measure.at_frame(skin, LATE), before)


def test_new_keys_are_followed(skin: Any) -> None:
    before = measure.at_frame(skin, LATE)
    key(skin, "wind_speed", (1, 0.0), (20, 0.0), (25, 20.0))
    bpy.context.view_layer.update()
    assert addon.entry_of(skin).state.stale
    assert measure.largest(measure.at_frame(skin, LATE), before) > 1e-4
    assert measure.largest(measure.at_frame(skin, 30), measure.without_us(skin)) > 1e-4


def test_frames_before_the_first_changed_key_are_kept(skin: Any) -> None:
    measure.at_frame(skin, scenes.LAST_FRAME)
    key(skin, "wind_speed", (20, 0.0), (30, 20.0))
    changed: list[int] = []
    api = addon.session().api
    original = api.write_controls

    def note(shot: Any, first: int, rows: Any) -> int:
        frame = original(shot, first, rows)
        changed.extend([frame] if frame < first + len(rows) else [])
        return frame

    api.write_controls = note
    record(skin)
    del api.write_controls
    assert changed[0] == 21


def test_the_scenes_gravity_is_followed(skin: Any, scene: Any) -> None:
    skin.softrig.gravity_factor, skin.softrig.plain_gravity = 1.0, True
    before = measure.at_frame(skin, LATE)
    scene.gravity = (3.0, 0.0, 0.0)
    assert measure.largest(measure.at_frame(skin, LATE), before) > 1e-2
    scene.use_gravity = False
    measure.at_frame(skin, LATE)
    assert not addon.entry_of(skin).controls[:, :3].any()


def test_the_modelled_shape_hangs_right_already(scene: Any) -> None:
    skin = still_character()
    skin.softrig.gravity_factor = 1.0
    for frame in (1, 10, LATE):
        assert not offset_at(skin, frame).any(), f"frame {frame}"
    skin.softrig.plain_gravity = True
    assert offset_at(skin, LATE).reshape(-1, 3)[:, 2].min() < -1e-2
    skin.softrig.plain_gravity = False
    assert not offset_at(skin, LATE).any()


def test_a_shape_modelled_along_another_axis_hangs_right_too(scene: Any) -> None:
    skin, rig = scenes.make_character(moves=False)
    rig.rotation_euler, rig.scale = (1.5708, 0.3, 0.0), (0.5, 0.5, 0.5)
    scenes.add_softrig(skin)
    skin.softrig.gravity_factor = 1.0
    assert np.abs(offset_at(skin, LATE)).max() < 1e-5
    for frame, angle in ((1, 1.5708), (10, 1.5708), (11, 1.5708 + 3.14159)):
        rig.rotation_euler.x = angle
        rig.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.update()
    assert np.abs(offset_at(skin, LATE)).max() > 1e-2, "upside down it hangs the other way"


def teleport(rig: Any) -> None:
    rig.animation_data_clear()
    for frame, x in ((1, 0.0), (19, 0.0), (20, 30.0), (40, 30.0)):
        rig.location = (x, 0.0, 0.0)
        rig.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("how", ["key", "key that stays", "marker"])
def test_a_cut_takes_the_flesh_along(skin: Any, scene: Any, how: str) -> None:
    teleport(bpy.data.objects["Skin Rig"])
    bpy.context.view_layer.update()
    assert np.abs(offset_at(skin, 21)).max() > 0.1
    if how == "marker":
        scene.timeline_markers.new("Cut", frame=20)
    else:
        key(skin, "cut", (1, False), (20, True))
        if how == "key":
            key(skin, "cut", (21, False))
    measure.at_frame(skin, 21)
    assert np.flatnonzero(addon.entry_of(skin).controls[:, 8]).tolist() == [19]
    for frame in (20, 21, 25):
        assert np.abs(offset_at(skin, frame)).max() < 1e-4, f"frame {frame}"


def test_a_moved_marker_is_followed(skin: Any, scene: Any) -> None:
    marker = scene.timeline_markers.new("cut", frame=20)
    scene.timeline_markers.new("Cutaway", frame=25)
    measure.at_frame(skin, 21)
    assert np.flatnonzero(addon.entry_of(skin).controls[:, 8]).tolist() == [19]
    marker.frame = 15
    measure.at_frame(skin, 22)
    assert np.flatnonzero(addon.entry_of(skin).controls[:, 8]).tolist() == [14]


def test_without_travel_felt_a_run_shakes_nothing(scene: Any) -> None:
    skin, rig = scenes.make_character(moves=False)
    scenes.rush(rig)
    scenes.add_softrig(skin)
    assert np.abs(offset_at(skin, scenes.STOP_FRAME + 1)).max() > 1e-2
    skin.softrig.travel_felt = 0.0
    assert np.abs(offset_at(skin, scenes.STOP_FRAME + 1)).max() < 1e-4


@pytest.mark.parametrize("text", ["float('nan')", "1e38", "-1e38", "1 / 0"])
def test_what_a_driver_gives_that_makes_no_sense_does_no_harm(skin: Any, text: str) -> None:
    for name in ("wind_speed", "gravity_factor", "travel_felt"):
        driver = skin.driver_add(f"softrig.{name}").driver
        driver.expression = f"{text} if frame > 9 else 1.0"
    assert np.isfinite(record(skin)).all()
    assert np.isfinite(measure.at_frame(skin, LATE)).all()


def test_what_can_be_keyed_is_recorded_and_nothing_else_can(skin: Any) -> None:
    keyed = {
        item.identifier
        for item in skin.softrig.bl_rna.properties
        if item.is_animatable and not item.is_readonly and item.identifier != "name"
    }
    dials = {name for name, _ in addon.module("model.controls").DIALS}
    assert {name for name in dials if not name.startswith("wind_direction")} | {
        "wind_direction"
    } == keyed


def test_all_settings_can_be_overridden(skin: Any) -> None:
    names = addon.module("blender.properties").setting_names()
    items = skin.softrig.bl_rna.properties
    assert [name for name in names if not items[name].is_overridable] == []


def test_looking_at_frames_with_keyed_dials_is_no_change(skin: Any) -> None:
    key(skin, "gravity_factor", (1, 0.0), (30, 1.0))
    bpy.context.view_layer.update()
    addon.module("blender.watch").ensure_scene(addon.session(), bpy.context.scene)
    for frame in (3, 30, 22, 4):
        measure.at_frame(skin, frame)
        bpy.context.view_layer.update()
        assert not addon.entry_of(skin).state.stale, f"frame {frame}"


def test_recording_keyed_dials_leaves_no_trace(skin: Any, scene: Any) -> None:
    key(skin, "wind_speed", (1, 0.0), (30, 1.0))
    bpy.context.view_layer.update()
    scene.frame_set(9)
    kinds = ("scenes", "objects", "meshes", "actions")

    def everything() -> Any:
        names = {f"{kind}/{d.name}" for kind in kinds for d in getattr(bpy.data, kind)}
        action = skin.animation_data.action
        return names, skin.users, action.users, skin.softrig.wind_speed, scene.frame_current

    before = everything()
    record(skin)
    assert everything() == before


def test_the_heavy_skin_is_not_evaluated_for_its_keys(scene: Any) -> None:
    """A copy of many more vertices; the shortest of several runs, in one ratio."""
    import time

    tape, plan = addon.module("blender.tape"), addon.module("model.rig").TapePlan((), 1)

    def shortest(skin: Any) -> float:
        key(skin, "wind_speed", (1, 0.0), (30, 1.0))
        times = []
        for _ in range(5):
            started = time.perf_counter()
            tape.record(addon.session(), scene, skin, plan, range(1, 51))
            times.append(time.perf_counter() - started)
        return min(times)

    light, rig = scenes.make_character()
    heavy = scenes.make_skin("Heavy", segments=200)
    heavy.parent = rig
    scenes.weigh(heavy, ("root",))
    heavy.modifiers.new("Armature", "ARMATURE").object = rig
    assert shortest(heavy) < 3.0 * shortest(light)


FAR = ("pre_roll", "start_frame", "bake_first", "bake_last", "cage_nodes", "progress")
"""Dials whose ends are no matter of the library, or take long."""


def test_no_dial_stops_the_simulation_at_its_ends(skin: Any, scene: Any) -> None:
    stopped = {}
    for dial in skin.softrig.bl_rna.properties:
        if dial.type not in ("FLOAT", "INT") or dial.is_array or dial.identifier in FAR:
            continue
        before = getattr(skin.softrig, dial.identifier)
        for value in (dial.hard_min, dial.hard_max):
            setattr(skin.softrig, dial.identifier, value)
            scene.frame_set(5)
            state = addon.entry_of(skin).state
            if state.is_refused:
                stopped[dial.identifier, value] = state.message
        setattr(skin.softrig, dial.identifier, before)
        scene.frame_set(4)
    assert not stopped
