# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: each frame in any order, after any change, in one call and two copies."""

from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

ALL = range(1, scenes.LAST_FRAME + 1)


def offsets_of(skin: Any, frame: float) -> np.ndarray:
    entry = addon.entry_of(skin)
    buffer = np.empty_like(entry.buffer)
    assert addon.session().read_offsets(entry, frame, 60.0)
    buffer[:] = entry.buffer
    return buffer


def carrier_points(skin: Any) -> np.ndarray:
    carrier = addon.module("blender.carrier").find_carrier(skin)
    return addon.module("blender.compat").read_positions(carrier.data)


def test_each_frame_is_pose_plus_offset(skin: Any) -> None:
    for frame in ALL:
        shown = measure.at_frame(skin, frame)
        posed, offset = measure.without_us(skin), offsets_of(skin, frame)
        assert measure.same_bits(carrier_points(skin), offset)
        still = offset.reshape(-1, 3) == 0.0
        assert np.abs(shown - (posed + offset)).max() < 1e-6  # one rounding of a metre
        assert measure.same_bits(
            shown.reshape(-1, 3)[still.all(1)], posed.reshape(-1, 3)[still.all(1)]
        )


def test_the_order_of_looking_changes_nothing(skin: Any) -> None:
    forward = {frame: measure.at_frame(skin, frame) for frame in ALL}
    for frame in (40, 3, 22, 21, 22, 1, 39, 20):
        assert measure.same_bits(measure.at_frame(skin, frame), forward[frame]), f"frame {frame}"


def test_without_animation_every_bit_is_the_rigs(scene: Any) -> None:
    skin, _ = scenes.make_character(moves=False)
    skin.data.vertices[0].co.x = -0.0
    scenes.add_softrig(skin)
    for frame in (1, 2, 20, 40):
        shown = measure.at_frame(skin, frame)
        assert not carrier_points(skin).view(np.uint32).any()
        assert measure.same_bits(shown, measure.without_us(skin))


def test_amount_zero_is_the_rigs_pose_to_the_bit(skin: Any, scene: Any) -> None:
    compat = addon.module("blender.compat")
    scene.frame_set(scenes.STOP_FRAME + 2)
    compat.set_input(skin.modifiers["Softrig"], "Amount", 0.0)
    assert measure.same_bits(measure.evaluated(skin), measure.without_us(skin))
    compat.set_input(skin.modifiers["Softrig"], "Amount", 2.0)
    twice = measure.evaluated(skin) - measure.without_us(skin)
    assert np.abs(twice - 2.0 * carrier_points(skin)).max() < 1e-6


def test_amount_can_be_keyed_and_nothing_is_simulated_for_it(skin: Any, scene: Any) -> None:
    compat, graph = addon.module("blender.compat"), addon.module("blender.graph")
    modifier, amounts = skin.modifiers["Softrig"], {22: 1.0, 26: 0.5}
    full = {f: measure.at_frame(skin, f) - measure.without_us(skin) for f in amounts}
    name = compat.input_identifier(modifier.node_group, graph.AMOUNT)
    path = f".properties.inputs.{name}.value" if compat.HAS_RNA_INPUTS else f'["{name}"]'
    for frame, amount in amounts.items():
        compat.set_input(modifier, graph.AMOUNT, amount)
        assert skin.keyframe_insert(f'modifiers["Softrig"]{path}', frame=frame)
    assert addon.session().api.wait_frame(addon.entry_of(skin).shot, scenes.LAST_FRAME, 60.0)
    simulated = addon.session().refresh(addon.entry_of(skin)).seconds
    for frame, amount in amounts.items():
        seen = measure.at_frame(skin, frame) - measure.without_us(skin)
        assert measure.largest(seen, amount * full[frame]) < 1e-5
        assert np.abs(seen).max() > 1e-2
    assert addon.session().refresh(addon.entry_of(skin)).seconds == simulated


def test_a_mask_group_keeps_the_rest_still(skin: Any, scene: Any) -> None:
    group = skin.vertex_groups.new(name="Mask")
    chosen = [v.index for v in skin.data.vertices if v.co.z > 1.5]
    group.add(chosen, 1.0, "REPLACE")
    compat = addon.module("blender.compat")
    compat.set_input_attribute(skin.modifiers["Softrig"], "Mask", "Mask")
    scene.frame_set(scenes.STOP_FRAME + 2)
    moved = (measure.evaluated(skin) != measure.without_us(skin)).reshape(-1, 3).any(1)
    assert moved[chosen].any()
    assert not np.delete(moved, chosen).any()


def test_between_frames_it_is_the_mean(skin: Any) -> None:
    first, second = offsets_of(skin, 22).copy(), offsets_of(skin, 23).copy()
    measure.at_frame(skin, 22.5)
    assert np.abs(carrier_points(skin) - 0.5 * (first + second)).max() < 1e-6


def test_outside_of_the_range_the_nearest_frame_is_held(skin: Any) -> None:
    measure.at_frame(skin, scenes.LAST_FRAME + 30)
    assert measure.same_bits(carrier_points(skin), offsets_of(skin, scenes.LAST_FRAME))


def test_softness_makes_the_whole_shot_new(skin: Any) -> None:
    before = measure.at_frame(skin, 24)
    skin.softrig.softness = 0.9
    softer = measure.at_frame(skin, 24)
    assert measure.largest(before, softer) > 1e-4
    skin.softrig.softness = 0.5
    assert measure.same_bits(measure.at_frame(skin, 24), before)


def test_new_keys_are_recorded_again(skin: Any) -> None:
    before = offsets_of(skin, 24).copy()
    measure.at_frame(skin, 24)
    rig = bpy.data.objects["Skin Rig"]
    rig.location.x = 9.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    bpy.context.view_layer.update()
    addon.session().dispatch(
        addon.entry_of(skin), addon.module("model.lifecycle").Event.RIG_CHANGED
    )
    measure.at_frame(skin, 24)
    assert measure.largest(carrier_points(skin), before) > 1e-3


def test_key_changes_are_noticed(skin: Any) -> None:
    addon.module("blender.watch").ensure_scene(addon.session(), bpy.context.scene)
    assert not addon.entry_of(skin).state.stale
    rig = bpy.data.objects["Skin Rig"]
    rig.location.x = 9.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    bpy.context.view_layer.update()
    assert addon.entry_of(skin).state.stale


@pytest.mark.parametrize("change", ["pose", "constraint", "target", "object", "rest"])
def test_other_changes_of_the_rig_are_noticed(skin: Any, change: str) -> None:
    rig = bpy.data.objects["Skin Rig"]
    bone = rig.pose.bones["tail2"]
    target = scenes.link(bpy.data.objects.new("Target", None))
    bone.constraints.new("DAMPED_TRACK").target = target
    bpy.ops.softrig.record()
    bpy.context.view_layer.update()
    assert not addon.entry_of(skin).state.stale
    if change == "pose":
        bone.location.x = 0.3
    elif change == "constraint":
        bone.constraints[0].influence = 0.5
    elif change == "target":
        target.location.x = 3.0
    elif change == "object":
        rig.scale.x = 1.5
    else:
        rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    assert addon.entry_of(skin).state.stale


def test_showing_frames_is_not_taken_for_a_change(skin: Any) -> None:
    addon.module("blender.watch").ensure_scene(addon.session(), bpy.context.scene)
    for frame in (3, 4, 30, 22):
        measure.at_frame(skin, frame)
        bpy.context.view_layer.update()
        assert not addon.entry_of(skin).state.stale, f"frame {frame}"


def test_recording_is_not_taken_for_a_change(skin: Any) -> None:
    for _ in range(2):
        bpy.ops.softrig.record()
        bpy.context.view_layer.update()
    assert not addon.entry_of(skin).state.stale


def test_unchanged_keys_keep_the_simulated_frames(skin: Any) -> None:
    measure.at_frame(skin, scenes.LAST_FRAME)
    bpy.ops.softrig.record()
    status = addon.session().refresh(addon.entry_of(skin))
    assert status.ready == status.frame_count


def test_a_longer_range_is_a_longer_shot(skin: Any, scene: Any) -> None:
    before = measure.at_frame(skin, 30)
    scene.frame_end = 70
    assert measure.same_bits(measure.at_frame(skin, 30), before)
    measure.at_frame(skin, 70)
    assert addon.entry_of(skin).shot_status.frame_count == 70


def test_other_frame_rates_are_followed(skin: Any, scene: Any) -> None:
    before = measure.at_frame(skin, 24)
    scene.render.fps, scene.render.fps_base = 30, 1.001
    after = measure.at_frame(skin, 24)
    assert addon.entry_of(skin).frames.rate == pytest.approx(29.97, abs=1e-3)
    assert measure.largest(before, after) > 1e-5


def test_a_shown_frame_is_one_call_and_one_write(skin: Any, scene: Any) -> None:
    measure.at_frame(skin, scenes.LAST_FRAME)
    api, writes = addon.session().api, []
    calls, compat = count_calls(api), addon.module("blender.compat")
    original = compat.write_positions
    compat.write_positions = lambda *a: (writes.append(1), original(*a))[1]
    buffer = addon.entry_of(skin).buffer
    try:
        for frame in (5, 22, 23, 9):
            scene.frame_set(frame)
    finally:
        compat.write_positions = original
        for name in set(calls):
            delattr(api, name)
    assert calls == ["read_offsets"] * 4
    assert len(writes) == 4
    assert addon.entry_of(skin).buffer is buffer


def count_calls(api: Any) -> list[str]:
    """Notes each call of the library from now on, until the attributes are deleted."""
    calls: list[str] = []
    for name in ("read_offsets", "wait_frame", "shot_status", "set_params", "write_tape"):
        original = getattr(api, name)

        def noted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            calls.append(name)
            return original(*arguments)

        setattr(api, name, noted)
    return calls


def test_a_changed_mesh_is_prepared_again(skin: Any, scene: Any) -> None:
    import bmesh

    shape = bmesh.new()
    shape.from_mesh(skin.data)
    bmesh.ops.subdivide_edges(shape, edges=shape.edges[:10], cuts=1)
    shape.to_mesh(skin.data)
    shape.free()
    bpy.ops.softrig.prepare()
    scene.frame_set(scenes.STOP_FRAME + 2)
    assert len(carrier_points(skin)) == 3 * len(skin.data.vertices)
    assert measure.largest(measure.evaluated(skin), measure.without_us(skin)) > 1e-3


def test_two_characters_in_one_scene_do_not_mix(scene: Any) -> None:
    first, _ = scenes.make_character("First")
    scenes.add_softrig(first)
    alone = measure.at_frame(first, 24)
    second, _ = scenes.make_character("Second")
    scenes.add_softrig(second)
    second.softrig.softness = 0.9
    assert measure.same_bits(measure.at_frame(first, 24), alone)
    assert measure.largest(measure.at_frame(second, 24), alone) > 1e-4


def edit_mode(skin: Any, on: bool) -> None:
    scenes.make_active(skin)
    bpy.ops.object.mode_set(mode="EDIT" if on else "OBJECT")


def test_a_new_cage_size_waits_for_the_end_of_edit_mode(skin: Any) -> None:
    nodes = addon.entry_of(skin).report["nodeCount"]
    edit_mode(skin, True)
    skin.softrig.cage_nodes = 3000
    bpy.context.scene.frame_set(24)
    edit_mode(skin, False)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert addon.entry_of(skin).report["nodeCount"] > 1.5 * nodes


def test_what_was_refused_in_edit_mode_recovers_when_it_is_left(skin: Any) -> None:
    live = measure.at_frame(skin, 24)
    edit_mode(skin, True)
    with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
        bpy.ops.softrig.prepare()
    with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
        bpy.ops.softrig.bake()
    bpy.context.scene.frame_set(20)
    assert addon.entry_of(skin).state.phase.name == "WAITING"
    assert not carrier_points(skin).any()
    edit_mode(skin, False)
    assert measure.same_bits(measure.at_frame(skin, 24), live)


def test_a_file_saved_in_edit_mode_recovers_when_it_is_left(skin: Any, tmp_path: Any) -> None:
    live = measure.at_frame(skin, 24)
    edit_mode(skin, True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "edit.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "edit.blend"))
    loaded = bpy.data.objects["Skin"]
    bpy.context.scene.frame_set(20)
    edit_mode(loaded, False)
    assert measure.same_bits(measure.at_frame(loaded, 24), live)


def test_nothing_of_the_old_frame_stays_while_it_is_prepared_again(skin: Any, scene: Any) -> None:
    measure.at_frame(skin, 24)
    assert carrier_points(skin).any()
    stage, event = addon.module("blender.stage"), addon.module("model.lifecycle").Event.WANTED
    stage.happen(addon.session(), addon.entry_of(skin), skin, scene, event)
    assert not carrier_points(skin).any()


def test_a_deleted_carrier_is_told(skin: Any, scene: Any) -> None:
    live = measure.at_frame(skin, 24)
    bpy.data.objects.remove(addon.module("blender.carrier").find_carrier(skin))
    for frame in (20, 24):
        scene.frame_set(frame)
        assert "was deleted. Prepare Again" in addon.entry_of(skin).state.message
    scenes.make_active(skin)
    assert bpy.ops.softrig.prepare() == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, 24), live)


def test_a_lost_carrier_comes_again_by_the_artist_alone(skin: Any, scene: Any) -> None:
    """Not by the next look around, whose new one no step of the history would know."""
    carrier, session = addon.module("blender.carrier"), addon.session()
    bpy.data.objects.remove(carrier.find_carrier(skin))
    session.forget(skin.softrig.uuid)
    session.rescan = True
    scene.frame_set(5)
    assert carrier.is_lost(skin)
    assert addon.entry_of(skin).state.message == carrier.LOST
    assert bpy.ops.softrig.prepare() == {"FINISHED"}
    assert measure.largest(measure.at_frame(skin, 24), measure.without_us(skin)) > 1e-3


def test_the_preview_range_is_recorded_too(skin: Any, scene: Any) -> None:
    before = measure.at_frame(skin, 30)
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 10, 90
    assert measure.same_bits(measure.at_frame(skin, 30), before)
    frames = addon.entry_of(skin).frames
    assert (frames.first, frames.last) == (1, 90)
    scene.frame_preview_start = -20
    scene.frame_set(30)
    assert addon.entry_of(skin).frames.first == -20
