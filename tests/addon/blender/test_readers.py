# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that read the artist's scene: recorded by stepping it, never silently wrong."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

FRAMES = range(1, scenes.LAST_FRAME + 1)


def shown_row(tape: Any, skin: Any, plan: Any) -> np.ndarray:
    return tape.read_shown(bpy.context.evaluated_depsgraph_get(), skin, plan)


def on_scene(scene: Any, driver: Any, path: str) -> None:
    variable = driver.variables.new()
    variable.name = "f"
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", scene
    variable.targets[0].data_path = path
    driver.expression = "f / 10"


def frame_driver(scene: Any, armature: Any) -> None:
    on_scene(scene, bone_driver(armature), "frame_current")


def property_driver(scene: Any, armature: Any) -> None:
    for frame, value in ((1, 0.0), (30, 9.0)):
        scene["swing"] = value
        scene.keyframe_insert('["swing"]', frame=frame)
    on_scene(scene, bone_driver(armature), '["swing"]')


def target_driver(scene: Any, armature: Any) -> None:
    """Two steps away: a constraint's target follows a driver on the scene."""
    target = scenes.link(bpy.data.objects.new("Target", None))
    on_scene(scene, target.driver_add("location", 0).driver, "frame_current")
    armature.pose.bones["tail1"].constraints.new("COPY_LOCATION").target = target


def expression_driver(scene: Any, armature: Any) -> None:
    bone_driver(armature).expression = "bpy.context.scene.frame_current / 10"


def hidden_driver(scene: Any, armature: Any) -> None:
    """A function of the artist's: nothing tells what it reads."""
    bpy.app.driver_namespace["swing"] = lambda: bpy.data.scenes[0].frame_current / 10
    bone_driver(armature).expression = "swing() + 0 * frame"


def context_driver(scene: Any, armature: Any) -> None:
    driver = bone_driver(armature)
    variable = driver.variables.new()
    variable.name, variable.type = "f", "CONTEXT_PROP"
    variable.targets[0].data_path = "frame_current"
    driver.expression = "f / 10"


def bone_driver(armature: Any) -> Any:
    bone = armature.pose.bones["tail1"]
    bone.rotation_mode = "XYZ"
    return bone.driver_add("rotation_euler", 1).driver


RIGS = [frame_driver, property_driver, target_driver, expression_driver]
if bpy.app.version >= (4, 0, 0):
    RIGS.append(context_driver)


def recorded_rows(monkeypatch: pytest.MonkeyPatch, work: Any) -> np.ndarray:
    """All rows as the library got them last, over whatever was there before."""
    api, rows = addon.session().api, {}
    original = api.write_tape

    def note(shot: Any, first: int, part: np.ndarray) -> int:
        rows.update({first + i: row.copy() for i, row in enumerate(part)})
        return original(shot, first, part)

    monkeypatch.setattr(api, "write_tape", note)
    work()
    monkeypatch.setattr(api, "write_tape", original)
    return np.stack([rows[frame] for frame in FRAMES])


@pytest.mark.parametrize("make", RIGS)
def test_the_tape_is_the_scene_to_the_bit(
    scene: Any, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    skin, armature = scenes.make_character()
    make(scene, armature)
    scene.frame_set(7, subframe=0.0)
    before = scenes_and_objects()
    rows = recorded_rows(monkeypatch, lambda: scenes.add_softrig(skin))
    assert scene.frame_current == 7
    assert {ob.name for ob in bpy.data.objects} - before == {"Skin Softrig"}
    entry, tape = addon.entry_of(skin), addon.module("blender.tape")
    assert entry.steps_scene and "steps the whole scene" in entry.notice
    assert not addon.session().recording
    texts = addon.module("panels.main").warnings(skin, entry)
    assert any("steps the whole scene" in text for text in texts)
    for frame, row in zip(FRAMES, rows, strict=True):
        scene.frame_set(frame)
        assert measure.same_bits(row, shown_row(tape, skin, entry.plan)), f"frame {frame}"


def scenes_and_objects() -> set[str]:
    return {ob.name for ob in bpy.data.objects} | {scene.name for scene in bpy.data.scenes}


def test_rigid_bodies_and_clips_are_the_scenes_own(scene: Any) -> None:
    skin, armature = scenes.make_character()
    reads = addon.module("blender.readers").reads_scene
    assert not reads(skin, [armature])
    spine = armature.pose.bones["spine"]
    spine.constraints.new("FOLLOW_TRACK")
    assert reads(skin, [armature])
    spine.constraints.remove(spine.constraints[0])
    falling = scenes.make_skin("Falling")
    scenes.make_active(falling)
    bpy.ops.rigidbody.object_add()
    armature.parent = falling
    assert reads(skin, [armature])


def test_ordinary_rigs_are_recorded_beside_the_scene(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    skin, armature = scenes.make_character()
    bone_driver(armature).expression = "frame / 30"
    monkeypatch.setattr(addon.module("blender.tape"), "record_stepping", forbidden)
    scenes.add_softrig(skin)
    assert not addon.entry_of(skin).steps_scene


def test_a_handler_that_moves_nothing_of_ours_costs_three_frames(scene: Any) -> None:
    skin, _ = scenes.make_character()
    seen: list[int] = []
    with moved_by_another_addon(scene, seen.append):
        scenes.add_softrig(skin)
    assert not addon.entry_of(skin).steps_scene
    assert seen == [1, 21, 40, 1], "first, middle and last, and back to the artist's"


def test_a_pose_without_keys_is_not_taken_for_a_reader(scene: Any) -> None:
    skin, armature = scenes.make_character()
    scene.frame_set(10)
    armature.location.y = 3.0
    scenes.add_softrig(skin)
    entry = addon.entry_of(skin)
    assert not entry.steps_scene and not entry.notice


def test_a_handler_never_steps_the_scene(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    skin, armature = scenes.make_character()
    frame_driver(scene, armature)
    scenes.add_softrig(skin)
    shown = measure.at_frame(skin, 24)
    offsets = shown - measure.without_us(skin)
    monkeypatch.setattr(addon.module("blender.tape"), "record_stepping", forbidden)
    armature.location.x = 9.0
    armature.keyframe_insert("location", frame=scenes.STOP_FRAME)
    bpy.context.view_layer.update()
    measure.at_frame(skin, 24)
    entry = addon.entry_of(skin)
    assert "Record Again" in entry.notice
    assert measure.same_bits(measure.at_frame(skin, 24) - measure.without_us(skin), offsets)
    monkeypatch.undo()
    assert bpy.ops.softrig.record() == {"FINISHED"}
    assert measure.largest(measure.at_frame(skin, 24), shown) > 1e-3
    assert "Record Again" not in entry.notice


def test_a_reader_that_nothing_tells_of_is_found_at_the_next_frame(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    skin, armature = scenes.make_character()
    hidden_driver(scene, armature)
    scenes.add_softrig(skin)
    entry, tape = addon.entry_of(skin), addon.module("blender.tape")
    monkeypatch.setattr(addon.module("blender.doubts"), "LOOK_SECONDS", 0.0)
    measure.at_frame(skin, 3)
    measure.at_frame(skin, 24)
    assert "Record Again" in entry.notice
    rows = recorded_rows(monkeypatch, bpy.ops.softrig.record)
    assert entry.steps_scene
    for frame in (3, 24, 40):
        scene.frame_set(frame)
        assert measure.same_bits(rows[frame - 1], shown_row(tape, skin, entry.plan))


def test_a_rig_that_does_not_read_the_scene_is_never_suspected(skin: Any) -> None:
    doubts = addon.module("blender.doubts")
    before, doubts.LOOK_SECONDS = doubts.LOOK_SECONDS, 0.0
    try:
        for frame in FRAMES:
            measure.at_frame(skin, frame)
            assert not addon.entry_of(skin).notice, f"frame {frame}"
    finally:
        doubts.LOOK_SECONDS = before


def forbidden(*_: Any) -> None:
    raise AssertionError("the artist's scene was stepped")


def test_the_artist_may_ask_for_stepping(skin: Any, scene: Any) -> None:
    assert not addon.entry_of(skin).steps_scene
    skin.softrig.step_scene = True
    assert bpy.ops.softrig.record() == {"FINISHED"}
    assert addon.entry_of(skin).steps_scene


@contextlib.contextmanager
def moved_by_another_addon(scene: Any, move: Any) -> Iterator[None]:
    """At each frame of this scene and no other, behind the back of all animation data."""

    def handler(shown: Any, *_: Any) -> None:
        if shown == scene:
            move(shown.frame_current)

    bpy.app.handlers.frame_change_pre.append(handler)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_pre.remove(handler)


def swing(frame: int) -> float:
    """Stops at frame 20."""
    return 0.5 * math.sin(0.4 * min(frame, scenes.STOP_FRAME))


def test_what_another_addon_moves_at_each_frame_is_recorded_by_stepping(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    skin, armature = scenes.make_character()

    def move(frame: int) -> None:
        armature.pose.bones["tail1"].location.x = swing(frame)

    with moved_by_another_addon(scene, move):
        scene.frame_set(5)
        scenes.add_softrig(skin)
        entry, tape = addon.entry_of(skin), addon.module("blender.tape")
        assert entry.steps_scene and "steps the whole scene" in entry.notice
        rows = recorded_rows(monkeypatch, bpy.ops.softrig.record)
        for frame in (3, 12, 24, 40):
            scene.frame_set(frame)
            assert measure.same_bits(rows[frame - 1], shown_row(tape, skin, entry.plan)), frame


def make_hooked(name: str = "Skin") -> tuple[Any, Any]:
    """A skin without bones whose upper part hangs on an empty."""
    skin = scenes.make_skin(name)
    hook = scenes.link(bpy.data.objects.new("Hook", None))
    modifier = skin.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set([v.index for v in skin.data.vertices if v.co.z > 1.5])
    return skin, hook


def offsets(skin: Any, frame: int) -> np.ndarray:
    return measure.at_frame(skin, frame) - measure.without_us(skin)


def test_a_deformer_that_another_addon_moves_is_found_and_recorded_by_stepping(
    scene: Any,
) -> None:
    skin, hook = make_hooked()

    def move(frame: int) -> None:
        hook.location.x = swing(frame)

    before = {ob.name for ob in bpy.data.objects}
    with moved_by_another_addon(scene, move):
        scene.frame_set(1)
        scenes.add_softrig(skin)
        entry = addon.entry_of(skin)
        assert entry.steps_scene and "steps the whole scene" in entry.notice
        assert np.abs(offsets(skin, 22)).max() > 1e-3, "the flesh does not feel the hook"
        assert {ob.name for ob in bpy.data.objects} - before == {"Skin Softrig"}
        stepped = {frame: offsets(skin, frame) for frame in (10, 22, 30)}
    # the same motion as keys, recorded beside the scene
    for frame in FRAMES:
        hook.location.x = swing(frame)
        hook.keyframe_insert("location", index=0, frame=frame)
    assert bpy.ops.softrig.record() == {"FINISHED"}
    assert not addon.entry_of(skin).steps_scene
    for frame, seen in stepped.items():
        assert measure.largest(offsets(skin, frame), seen) < 1e-5, f"frame {frame}"


def move_hook(skin: Any, hook: Any, frame: int) -> None:
    hook.location.x = swing(frame)


def move_key(skin: Any, hook: Any, frame: int) -> None:
    skin.data.shape_keys.key_blocks["Bulge"].value = 0.5 + swing(frame)


@pytest.mark.parametrize("move", [move_hook, move_key])
def test_the_next_shown_frame_tells_of_a_deformer_that_another_addon_moves(
    scene: Any, monkeypatch: pytest.MonkeyPatch, move: Any
) -> None:
    """As in the window, where recording never steps the scene of its own accord."""
    skin, hook = make_hooked()
    skin.shape_key_add(name="Basis")
    bulge = skin.shape_key_add(name="Bulge")
    for point in bulge.data:
        point.co.x *= 1.3
    bulge.value = 0.5
    doubts = addon.module("blender.doubts")
    monkeypatch.setattr(doubts, "LOOK_SECONDS", 0.0)
    scenes.add_softrig(skin)
    entry = addon.entry_of(skin)
    for frame in FRAMES:
        scene.frame_set(frame)
        assert not entry.notice, f"nobody moves anything, but frame {frame}"
    with moved_by_another_addon(scene, lambda frame: move(skin, hook, frame)):
        scene.frame_set(13)
        assert "Record Again" in entry.notice, "it goes on with what is wrong, and says nothing"
        assert entry.doubtful
        assert bpy.ops.softrig.record(step_scene=True) == {"FINISHED"}
        assert entry.steps_scene and skin.softrig.step_scene and not entry.doubtful
        assert np.abs(offsets(skin, 22)).max() > 1e-3
