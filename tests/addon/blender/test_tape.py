# SPDX-License-Identifier: GPL-3.0-or-later
"""The tape holds the artist's scene's matrices, to the bit, and recording leaves no trace."""

from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

FRAMES = range(1, 31)


def plan_of(skin: Any) -> Any:
    gather, rig = addon.module("blender.gather"), addon.module("model.rig")
    armatures = addon.module("blender.tape").find_armatures(skin)
    bones = rig.order_bones([gather.read_bones(armature) for armature in armatures], ())
    return rig.TapePlan(bones, len(armatures))


def record(skin: Any, scene: Any, frames: range = FRAMES) -> np.ndarray:
    tape = addon.module("blender.tape")
    return tape.record(addon.session(), scene, skin, plan_of(skin), frames).rows


def scene_row(skin: Any, plan: Any) -> np.ndarray:
    """Bone by bone from the real scene, the slow way."""
    tape, depsgraph = addon.module("blender.tape"), bpy.context.evaluated_depsgraph_get()
    armatures = [armature.evaluated_get(depsgraph) for armature in tape.find_armatures(skin)]
    matrices = [skin.evaluated_get(depsgraph).matrix_world]
    matrices += [armature.matrix_world for armature in armatures]
    matrices += [armatures[b.space].pose.bones[b.name].matrix for b in plan.bones]
    return np.concatenate([np.array(m.transposed(), np.float32).reshape(-1) for m in matrices])


def assert_same_as_scene(skin: Any, scene: Any) -> None:
    rows, plan = record(skin, scene), plan_of(skin)
    assert len({row.tobytes() for row in rows}) > 10, "nothing moves: the test shows nothing"
    for row, frame in zip(rows, FRAMES, strict=True):
        scene.frame_set(frame)
        assert measure.same_bits(row, scene_row(skin, plan)), f"frame {frame}"


def test_keys(scene: Any) -> None:
    skin, _ = scenes.make_character()
    assert_same_as_scene(skin, scene)


def test_constraints_to_what_is_in_no_scene(scene: Any) -> None:
    skin, armature = scenes.make_character()
    target = bpy.data.objects.new("Target", None)
    for frame, place in ((1, (0, 3, 1)), (30, (5, -2, 4))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    armature.pose.bones["tail2"].constraints.new("DAMPED_TRACK").target = target
    armature.constraints.new("COPY_ROTATION").target = target
    skin.constraints.new("COPY_LOCATION").target = target
    assert_same_as_scene(skin, scene)


def test_drivers(scene: Any) -> None:
    skin, armature = scenes.make_character()
    driver = armature.pose.bones["tail1"].driver_add("location", 0).driver
    driver.expression = "sin(frame / 7) * 0.2"
    skin.driver_add("scale", 2).driver.expression = "1 + frame / 50"
    assert_same_as_scene(skin, scene)


@pytest.mark.parametrize("kind", ["BONE", "OBJECT"])
def test_parents_and_deltas(scene: Any, kind: str) -> None:
    skin, armature = scenes.make_character()
    skin.parent_type = kind
    skin.parent_bone = "spine" if kind == "BONE" else ""
    skin.matrix_parent_inverse[0][3] = 0.3
    skin.delta_location = (0.1, 0.2, 0.3)
    skin.delta_rotation_euler = (0.4, 0.5, 0.6)
    grandparent = scenes.link(bpy.data.objects.new("Grandparent", None))
    armature.parent = grandparent
    grandparent.scale = (-1.0, 1.2, 0.7)
    scenes.rush(grandparent, 2.0)
    assert_same_as_scene(skin, scene)


def test_hidden_rigs(scene: Any) -> None:
    skin, armature = scenes.make_character()
    rows = record(skin, scene)
    armature.hide_viewport = skin.hide_viewport = True
    scene.collection.objects.unlink(armature)
    assert measure.same_bits(rows, record(skin, scene))


def test_several_armatures(scene: Any) -> None:
    skin, _ = scenes.make_character()
    other = scenes.make_armature("Other", ("extra", "more"))
    scenes.rush(other, -3.0)
    skin.modifiers.new("Second", "ARMATURE").object = other
    assert_same_as_scene(skin, scene)


def test_time_that_runs_differently(scene: Any) -> None:
    skin, _ = scenes.make_character()
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 50
    assert_same_as_scene(skin, scene)


def test_recording_leaves_no_trace(scene: Any) -> None:
    skin, armature = scenes.make_character()
    scene.frame_set(9)
    before = data_names(), scene.frame_current, skin.users, armature.users
    record(skin, scene)
    assert (data_names(), scene.frame_current, skin.users, armature.users) == before
    assert bpy.context.scene == scene
    assert not addon.session().recording


def test_what_goes_wrong_leaves_no_trace_either(scene: Any) -> None:
    skin, _ = scenes.make_character()
    before, tape = data_names(), addon.module("blender.tape")
    with (
        pytest.raises(ZeroDivisionError),
        tape.private_scene(addon.session(), scene, skin, tape.find_armatures(skin)),
    ):
        raise ZeroDivisionError
    assert data_names() == before
    assert not addon.session().recording


def test_a_lost_bone_is_told_by_its_name(skin: Any, scene: Any) -> None:
    """Whoever prepares must not get round it in circles."""
    entry, rig = addon.entry_of(skin), bpy.data.objects["Skin Rig"]
    rig.data.bones["tail2"].name = "renamed"
    with pytest.raises(addon.module("model.rig").LostBoneError, match="tail2"):
        addon.module("blender.tape").find_parts(skin, entry.plan)
    stage, gone = addon.module("blender.stage"), addon.module("model.rig").LostBoneError("gone")
    stage.fail(addon.session(), entry, skin, scene, gone)
    assert not entry.state.is_refused
    stage.fail(addon.session(), entry, skin, scene, gone)
    assert entry.state.is_refused


def test_our_own_handlers_leave_the_private_scene_alone(skin: Any, scene: Any) -> None:
    seen: list[str] = []
    show = addon.module("blender.show")
    original = show.show_scene
    show.show_scene = lambda session, shown, *rest: seen.append(shown.name)
    try:
        bpy.ops.softrig.record()
    finally:
        show.show_scene = original
    assert not seen


def test_the_heavy_skin_is_not_evaluated(scene: Any) -> None:
    """A tape must cost the same whatever hangs on the skin."""
    import time

    skin, _ = scenes.make_character()
    record(skin, scene)
    started = time.perf_counter()
    record(skin, scene)
    light = time.perf_counter() - started
    skin.modifiers.new("Subsurf", "SUBSURF").levels = 6
    started = time.perf_counter()
    record(skin, scene)
    heavy = time.perf_counter() - started
    started = time.perf_counter()
    scene.frame_set(3)
    measure.evaluated(skin)
    whole_frame = time.perf_counter() - started
    assert heavy < light + 0.5 * whole_frame * len(FRAMES)


def data_names() -> set[str]:
    collections = ("scenes", "objects", "meshes", "collections", "armatures", "actions")
    return {f"{kind}/{d.name}" for kind in collections for d in getattr(bpy.data, kind)}
