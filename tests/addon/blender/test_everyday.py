# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own commands do to a file is no reason to lose a motion, or to show another."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

LOOKED_AT = 24
"""Shortly after the rig's stop."""


def offsets(ob: Any, frame: int = LOOKED_AT) -> np.ndarray:
    """What we add to the pose, as it is evaluated."""
    return measure.at_frame(ob, frame) - measure.without_us(ob)


def moves(ob: Any, frame: int = LOOKED_AT) -> bool:
    return float(np.abs(offsets(ob, frame)).max()) > 0.01


def test_a_full_copy_of_the_scene_moves_by_itself(skin: Any, scene: Any) -> None:
    expected = offsets(skin)
    bpy.ops.scene.new(type="FULL_COPY")
    copied = bpy.context.scene
    assert copied != scene
    twin = next(ob for ob in copied.objects if ob.type == "MESH" and "Softrig" in ob.modifiers)
    assert twin != skin
    copied.frame_set(1)  # 3.4 lets nothing be recorded at a scene's first frame
    found = offsets(twin)
    assert twin.softrig.uuid != skin.softrig.uuid
    assert measure.largest(found, expected) < 1e-5
    assert not offsets(twin, 1).any(), "what was shown last of the other stays on it"
    carriers = {addon.module("blender.carrier").find_carrier(ob) for ob in (skin, twin)}
    assert None not in carriers and len(carriers) == 2


def test_a_linked_duplicate_has_a_motion_of_its_own(skin: Any, scene: Any) -> None:
    expected = offsets(skin)
    scenes.make_active(skin)
    bpy.ops.object.duplicate(linked=True)
    twin = bpy.context.object
    assert twin != skin and twin.data == skin.data
    assert measure.largest(offsets(twin), expected) < 1e-5
    twin.softrig.softness = 0.9
    assert measure.largest(offsets(twin), expected) > 0.01
    assert measure.largest(offsets(skin), expected) < 1e-5


def test_what_joins_the_mesh_is_prepared_with_it(skin: Any) -> None:
    assert moves(skin)
    other = scenes.make_skin("Other", 8)
    scenes.make_active(skin)
    other.select_set(True)
    assert bpy.ops.object.join() == {"FINISHED"}
    bpy.ops.softrig.prepare()
    assert len(offsets(skin)) == 3 * len(skin.data.vertices)
    assert moves(skin)


def test_purging_what_nobody_uses_takes_nothing_of_ours(skin: Any, tmp_path: Path) -> None:
    expected = offsets(skin)
    for _ in range(3):
        bpy.ops.outliner.orphans_purge(do_local_ids=True, do_linked_ids=True, do_recursive=True)
    assert measure.same_bits(offsets(skin), expected)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert measure.same_bits(offsets(bpy.data.objects["Skin"]), expected)


def test_another_name_of_the_scene_changes_nothing(skin: Any, scene: Any) -> None:
    expected = offsets(skin)
    scene.name = "Shot 42"
    assert measure.same_bits(offsets(skin, 23), offsets(skin, 23))
    assert measure.same_bits(offsets(skin), expected)


@pytest.mark.parametrize("first", [1, 24, -7])
def test_a_single_frame_is_a_shot(skin: Any, scene: Any, first: int) -> None:
    scene.frame_start = scene.frame_end = first
    assert not offsets(skin, first).any(), "it begins in the pose"
    assert addon.entry_of(skin).shot_status.frame_count == 1


def test_a_motion_may_begin_before_the_scene_does(skin: Any, scene: Any) -> None:
    """Blender's own range begins at 0."""
    expected = offsets(skin)
    for curve in curves_of(skin.parent):
        for point in curve.keyframe_points:
            point.co_ui.x -= LOOKED_AT
        curve.update()
    skin.parent.animation_data.action.update_tag()
    skin.softrig.use_start_frame, skin.softrig.start_frame = True, 1 - LOOKED_AT
    scene.frame_start, scene.frame_end = 0, scenes.LAST_FRAME - LOOKED_AT
    bpy.ops.softrig.record()
    assert measure.largest(offsets(skin, 0), expected) < 1e-4


def curves_of(armature: Any) -> list[Any]:
    action = armature.animation_data.action
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    slot = armature.animation_data.action_slot
    return list(action.layers[0].strips[0].channelbag(slot).fcurves)


def test_a_rate_of_fractions_is_felt(skin: Any, scene: Any) -> None:
    expected = offsets(skin)
    scene.render.fps, scene.render.fps_base = 24, 1.001
    near = offsets(skin)
    assert 0.0 < measure.largest(near, expected) < 0.01
    scene.render.fps, scene.render.fps_base = 24000, 1001.0
    assert measure.largest(offsets(skin), near) < 1e-4


NAMES = ('a/b\\c:d*e?f"g<h>i|j', "..", "Ünï cödé 猫", "x" * 63, " ", "con.")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_baked(skin: Any, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "a folder, with 猫"
    folder.mkdir()
    skin.name = name
    expected = measure.at_frame(skin, LOOKED_AT)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "my shot.blend"))
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, LOOKED_AT), expected)
    made = [path for path in folder.rglob("*.pc2")]
    assert len(made) == 1 and made[0].parent == folder / "softrig"
    assert not [path for path in tmp_path.rglob("*.pc2") if path not in made]


def test_a_file_that_is_saved_elsewhere_plays_its_bake(skin: Any, tmp_path: Path) -> None:
    expected = measure.at_frame(skin, LOOKED_AT)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.make_active(skin)
    bpy.ops.softrig.bake()
    elsewhere = tmp_path / "elsewhere" / "deeper"
    elsewhere.mkdir(parents=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(elsewhere / "copy.blend"), relative_remap=True)
    bpy.ops.wm.open_mainfile(filepath=str(elsewhere / "copy.blend"))
    loaded = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(loaded, LOOKED_AT), expected)
    assert not addon.session().bake_faults


def test_hundreds_of_bones_that_do_not_deform_cost_nothing(scene: Any) -> None:
    skin, armature = scenes.make_character()
    scenes.add_softrig(skin)
    expected = offsets(skin)
    scenes.make_active(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(400):
        bone = armature.data.edit_bones.new(f"helper {number}")
        bone.head, bone.tail = (1.0, 0.01 * number, 0.0), (1.0, 0.01 * number, 0.5)
        bone.use_deform = False
        bone.parent = armature.data.edit_bones["spine"]
    bpy.ops.object.mode_set(mode="OBJECT")
    scenes.make_active(skin)
    assert measure.same_bits(offsets(skin), expected)
    assert len(addon.entry_of(skin).plan.bones) == len(scenes.BONES)


def test_envelopes_instead_of_groups_are_felt(scene: Any) -> None:
    skin, armature = scenes.make_character()
    skin.vertex_groups.clear()
    modifier = skin.modifiers["Armature"]
    modifier.use_bone_envelopes, modifier.use_vertex_groups = True, False
    scenes.add_softrig(skin)
    assert moves(skin)
    assert measure.largest(offsets(skin, 40), 0.0 * offsets(skin, 40)) < 1.0


def test_hidden_in_the_window_it_moves_in_the_render(skin: Any, scene: Any, tmp_path: Path) -> None:
    from test_render import render_and_look, small_cycles

    small_cycles(scene, tmp_path)
    scene.frame_end = LOOKED_AT
    shown = render_and_look(scene, skin.name)
    skin.hide_viewport = True
    hidden = render_and_look(scene, skin.name)
    assert measure.same_bits(hidden[LOOKED_AT], shown[LOOKED_AT])


def test_in_a_collection_that_is_left_out_it_does_no_harm(skin: Any, scene: Any) -> None:
    expected = offsets(skin)
    aside = bpy.data.collections.new("Aside")
    scene.collection.children.link(aside)
    aside.objects.link(skin)
    scene.collection.objects.unlink(skin)
    layer = bpy.context.view_layer.layer_collection.children["Aside"]
    layer.exclude = True
    for frame in (1, 12, LOOKED_AT):
        scene.frame_set(frame)
    layer.exclude = False
    assert measure.same_bits(offsets(skin), expected)


def test_applying_our_modifier_leaves_a_plain_mesh(skin: Any) -> None:
    shown = measure.at_frame(skin, LOOKED_AT)
    scenes.make_active(skin)
    armature = skin.modifiers["Armature"]
    armature.show_viewport = False
    moved = measure.evaluated(skin)
    assert bpy.ops.object.modifier_apply(modifier="Softrig") == {"FINISHED"}
    assert measure.largest(addon.module("blender.compat").read_positions(skin.data), moved) < 1e-5
    bpy.context.scene.frame_set(LOOKED_AT + 1)
    assert not addon.session().entries and addon.session().api.byte_count() == 0
    assert len(shown) == len(moved)


def copy_in_script(ob: Any) -> Any:
    """As scripts do it: Blender tells nobody until it evaluates the scene."""
    return scenes.link(ob.copy())


@pytest.mark.parametrize("is_baked", [False, True])
def test_a_copy_that_a_script_bakes_at_once_leaves_the_original_alone(
    skin: Any, scene: Any, tmp_path: Path, is_baked: bool
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    if is_baked:
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    expected = measure.at_frame(skin, LOOKED_AT)
    twin = copy_in_script(skin)
    twin.softrig.softness = 0.9
    with bpy.context.temp_override(object=twin, active_object=twin):
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    takes = addon.module("blender.takes")
    assert twin.softrig.uuid != skin.softrig.uuid
    assert len(takes.bakes_of(skin)) == int(is_baked)
    assert [m.filepath for m in takes.bakes_of(skin)] != [m.filepath for m in takes.bakes_of(twin)]
    assert measure.same_bits(measure.at_frame(skin, LOOKED_AT), expected)
    assert measure.largest(measure.at_frame(twin, LOOKED_AT), expected) > 1e-4


@pytest.mark.parametrize("act", ["free_bake", "remove", "bake_all", "bake_take", "farm"])
def test_what_a_script_does_to_a_copy_at_once_is_done_to_that_alone(
    skin: Any, scene: Any, tmp_path: Path, act: str
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    expected = measure.at_frame(skin, LOOKED_AT)
    twin = copy_in_script(skin)
    with bpy.context.temp_override(object=twin, active_object=twin):
        assert getattr(bpy.ops.softrig, act)() == {"FINISHED"}
    takes, carrier = addon.module("blender.takes"), addon.module("blender.carrier")
    assert len(takes.bakes_of(skin)) == 1 and not takes.find_fault(skin)
    assert carrier.find_carrier(twin) != carrier.find_carrier(skin)
    assert measure.same_bits(measure.at_frame(skin, LOOKED_AT), expected)
    assert not addon.module("blender.rendering").make_ready(addon.session(), scene)


def copy_modifiers(source: Any, target: Any) -> None:
    """Link/Transfer Data, Copy Modifiers."""
    scenes.make_active(source)
    target.select_set(True)
    bpy.ops.object.make_links_data(type="MODIFIERS")


@pytest.mark.parametrize("is_baked", [False, True])
def test_copied_modifiers_bring_nobody_elses_motion(
    skin: Any, tmp_path: Path, is_baked: bool
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    twin, _ = scenes.make_character("Twin", moves=False)
    scenes.add_softrig(twin)
    twin.softrig.softness = 0.9
    scenes.make_active(skin)
    if is_baked:
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    expected = measure.at_frame(skin, LOOKED_AT)
    copy_modifiers(skin, twin)
    bpy.context.scene.frame_set(1)
    bpy.ops.softrig.prepare()
    carrier = addon.module("blender.carrier")
    assert carrier.find_carrier(twin) != carrier.find_carrier(skin)
    assert (carrier.find_bake(skin) is not None) == is_baked
    assert carrier.find_bake(twin) is None
    assert measure.same_bits(measure.at_frame(skin, LOOKED_AT), expected)
    assert not addon.module("blender.rendering").make_ready(addon.session(), bpy.context.scene)


@pytest.mark.parametrize("segments", [16, 8])
def test_a_mesh_that_got_our_modifier_by_copying_can_have_softrig(skin: Any, segments: int) -> None:
    """Of as many points or not: the carrier that it read is not its to write."""
    other = scenes.make_skin("Other", segments)
    scenes.weigh(other)
    expected = measure.at_frame(skin, LOOKED_AT)
    copy_modifiers(skin, other)
    scenes.add_softrig(other)
    carrier = addon.module("blender.carrier")
    assert [carrier.is_ours(m) for m in other.modifiers].count(True) == 1
    assert carrier.find_carrier(other) != carrier.find_carrier(skin)
    assert measure.same_bits(measure.at_frame(skin, LOOKED_AT), expected)


def test_another_mesh_with_copied_modifiers_leaves_the_points_to_their_owner(skin: Any) -> None:
    """Before anybody has looked around: the shape of the copy is read at once."""
    twin = scenes.make_skin("Twin", 8)
    scenes.weigh(twin)
    twin.modifiers.new("Armature", "ARMATURE").object = skin.parent
    scenes.add_softrig(twin)
    expected = measure.at_frame(skin, LOOKED_AT)
    copy_modifiers(skin, twin)
    session, stage = addon.session(), addon.module("blender.stage")
    entry = session.entries[twin.softrig.uuid]
    stage.notice_edits(session, entry, twin, bpy.context.scene)
    carrier = addon.module("blender.carrier")
    assert carrier.find_carrier(twin) != carrier.find_carrier(skin)
    assert measure.same_bits(measure.at_frame(skin, LOOKED_AT), expected)
