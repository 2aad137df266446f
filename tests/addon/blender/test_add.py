# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Softrig: what it makes, what it leaves alone, what it refuses and how it says so."""

from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from support import addon, measure, scenes


def refusal(skin: Any) -> str:
    """The sentence, which must be reported as well as kept for the panel."""
    scenes.make_active(skin)
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.softrig.add()
    notice = addon.session().notices[skin.name]
    assert notice in str(caught.value)
    return notice


def mesh_content(mesh: Any) -> dict[str, Any]:
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", positions)
    groups = [[(g.group, g.weight) for g in v.groups] for v in mesh.vertices]
    attributes = sorted(a.name for a in mesh.attributes)
    return {"bits": positions.tobytes(), "groups": groups, "attributes": attributes}


def test_after_adding_the_whole_shot_is_simulated(skin: Any, scene: Any) -> None:
    entry = addon.entry_of(skin)
    assert entry.state.phase.name == "LIVE"
    assert entry.shot_status.recorded == scene.frame_end
    assert entry.report["nodeCount"] > 50
    scene.frame_set(scenes.STOP_FRAME + 2)
    assert measure.largest(measure.evaluated(skin), measure.without_us(skin)) > 1e-3


def test_the_artists_data_stay_as_they_were(scene: Any) -> None:
    skin, armature = scenes.make_character()
    scene.frame_set(7)
    content, names = mesh_content(skin.data), {ob.name for ob in scene.objects}
    users = skin.users, skin.data.users, armature.users, armature.data.users
    selected = [ob.name for ob in bpy.context.selected_objects]
    scenes.add_softrig(skin)
    assert mesh_content(skin.data) == content
    assert scene.frame_current == 7
    assert {ob.name for ob in scene.objects} == names
    assert [ob.name for ob in bpy.context.selected_objects] == selected
    assert bpy.context.view_layer.objects.active == skin
    assert list(bpy.data.scenes) == [scene]
    assert (skin.users, skin.data.users, armature.users, armature.data.users) == users


def test_the_modifier_follows_the_last_deformer(scene: Any) -> None:
    skin, _ = scenes.make_character()
    skin.modifiers.new("Smooth", "SMOOTH")
    skin.modifiers.new("Subsurf", "SUBSURF")
    scenes.add_softrig(skin)
    assert [m.name for m in skin.modifiers] == ["Armature", "Smooth", "Softrig", "Subsurf"]


def test_the_carrier_is_nowhere_to_be_seen(skin: Any) -> None:
    carrier = addon.module("blender.carrier").find_carrier(skin)
    assert carrier.users == 1
    assert not carrier.users_collection and not carrier.users_scene
    assert len(carrier.data.vertices) == len(skin.data.vertices)
    assert len(carrier.data.edges) == 0


def test_an_object_without_armature_moves_by_itself(scene: Any) -> None:
    skin = scenes.make_skin()
    scenes.rush(skin)
    scenes.add_softrig(skin)
    scene.frame_set(scenes.STOP_FRAME + 2)
    assert measure.largest(measure.evaluated(skin), measure.without_us(skin)) >= 0.0
    assert addon.entry_of(skin).plan.armature_count == 0


def test_an_armature_behind_what_cannot_be_followed_is_refused(scene: Any) -> None:
    skin, armature = scenes.make_character()
    skin.modifiers.clear()
    skin.modifiers.new("Remesh", "REMESH")
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    text = refusal(skin)
    assert "Remesh" in text and "Move the armature above it" in text
    assert [m.name for m in skin.modifiers] == ["Remesh", "Armature"]


def test_a_mesh_without_faces_is_refused(scene: Any) -> None:
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    assert "no faces" in refusal(scenes.link(bpy.data.objects.new("Points", mesh)))


def test_a_flat_sheet_gets_a_thickness_of_its_own(scene: Any) -> None:
    shape, mesh = bmesh.new(), bpy.data.meshes.new("Sheet")
    bmesh.ops.create_grid(shape, x_segments=4, y_segments=4, size=1.0)
    shape.to_mesh(mesh)
    sheet = scenes.link(bpy.data.objects.new("Sheet", mesh))
    scenes.add_softrig(sheet)
    assert addon.entry_of(sheet).report["cellCount"] > 0
    assert len(sheet.data.vertices) == 25


def test_a_mesh_without_extent_is_refused_in_words_and_leaves_nothing(scene: Any) -> None:
    mesh = bpy.data.meshes.new("Dot")
    mesh.from_pydata([(1.0, 2.0, 3.0)] * 3, [], [(0, 1, 2)])
    sheet = scenes.link(bpy.data.objects.new("Dot", mesh))
    assert "None of the mesh's 1 triangles has an area" in refusal(sheet)
    assert not sheet.modifiers and not sheet.softrig.uuid
    assert not addon.session().entries and not addon.session().adding
    assert addon.session().api.byte_count() == 0


def test_a_scale_of_zero_is_refused(scene: Any) -> None:
    skin, _ = scenes.make_character()
    skin.scale = (0.0, 1.0, 1.0)
    assert "scale of zero" in refusal(skin)


def test_absurd_places_are_named(scene: Any) -> None:
    skin, armature = scenes.make_character()
    skin.data.vertices[5].co.x = 1e30
    assert "Vertex 5" in refusal(skin)
    skin.data.vertices[5].co.x = 0.0
    armature.location.x = 1e15
    armature.keyframe_insert("location", frame=10)
    assert "At frame 9 the object lies 5e+14 m away" in refusal(skin)


def test_too_long_a_range_is_told(scene: Any) -> None:
    skin, _ = scenes.make_character()
    scene.frame_end = 1_048_574
    assert "Shorten the frame range" in refusal(skin)


def test_adding_twice_is_not_offered(skin: Any) -> None:
    assert not bpy.ops.softrig.add.poll()


def test_two_armatures_move_one_skin(scene: Any) -> None:
    skin, armature = scenes.make_character()
    other = scenes.make_armature("Other", ("extra",))
    skin.modifiers.new("Second", "ARMATURE").object = other
    skin.vertex_groups.new(name="extra").add([0, 1, 2], 0.5, "REPLACE")
    scenes.add_softrig(skin)
    plan = addon.entry_of(skin).plan
    assert plan.armature_count == 2
    assert [bone.name for bone in plan.bones] == [*scenes.BONES, "extra"]
    assert [bone.parent for bone in plan.bones] == [-1, 0, 1, 2, -1]


def test_an_armature_that_only_has_controls_counts_as_none(scene: Any) -> None:
    skin, armature = scenes.make_character()
    for bone in armature.data.bones:
        bone.use_deform = False
    scenes.add_softrig(skin)
    assert addon.entry_of(skin).plan.floats_per_row == 16
