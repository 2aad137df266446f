# SPDX-License-Identifier: GPL-3.0-or-later
"""What preparing reads is changed in Object Mode: the shot follows by itself.

Offsets are compared, not where the skin is: 4.5 goes on showing a group that a script removed."""

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from support import addon, measure, scenes
from test_timer import is_whole, points, show, tick_until

LOOK = 24


def apply_scale(skin: Any) -> None:
    skin.scale = (1.3, 1.0, 0.8)
    bpy.context.view_layer.update()
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)


def apply_scale_of_the_rig(skin: Any) -> None:
    rig = bpy.data.objects["Skin Rig"]
    rig.scale = (1.2, 1.2, 1.2)
    scenes.make_active(rig)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)


def move_origin(skin: Any) -> None:
    bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")


def remove_group(skin: Any) -> None:
    skin.vertex_groups.active_index = skin.vertex_groups["tail2"].index
    bpy.ops.object.vertex_group_remove(all=False)


def remove_group_by_script(skin: Any) -> None:
    skin.vertex_groups.remove(skin.vertex_groups["tail2"])


def remove_all_groups(skin: Any) -> None:
    bpy.ops.object.vertex_group_remove(all=True)


def rename_group(skin: Any) -> None:
    skin.vertex_groups["tail2"].name = "no bone"


def exchange_groups(skin: Any) -> None:
    first, second = skin.vertex_groups["tail1"], skin.vertex_groups["tail2"]
    first.name, second.name, first.name = "between", "tail1", "tail2"


def move_points(skin: Any) -> None:
    for vertex in skin.data.vertices:
        vertex.co.z *= 1.2
    skin.data.update()


def paint_group(skin: Any) -> None:
    skin.vertex_groups["Firm"].add(range(60), 1.0, "REPLACE")


def untick_deform(skin: Any) -> None:
    bpy.data.objects["Skin Rig"].data.bones["tail2"].use_deform = False


def tick_deform(skin: Any) -> None:
    bpy.data.objects["Skin Rig"].data.bones["control"].use_deform = True


def rename_group_of_no_bone_to_one(skin: Any) -> None:
    skin.vertex_groups.new(name="mask").add(range(40), 1.0, "REPLACE")
    bpy.context.view_layer.update()
    bpy.data.objects["Skin Rig"].data.bones["control"].use_deform = True
    skin.vertex_groups["mask"].name = "control"


def limit_weights(skin: Any) -> None:
    bpy.ops.object.vertex_group_limit_total(limit=1)


def weigh_one_vertex(skin: Any) -> None:
    skin.vertex_groups["tail2"].add([100], 0.75, "REPLACE")


def move_one_vertex(skin: Any) -> None:
    skin.data.vertices[30].co.x += 0.3


def transform_mesh(skin: Any) -> None:
    skin.data.vertices[0].co.z += 0.1
    skin.data.flip_normals()


def take_another_mesh(skin: Any) -> None:
    mesh = skin.data.copy()
    mesh.vertices[0].co.z += 0.5
    skin.data = mesh


def take_another_armature(skin: Any) -> None:
    rig = bpy.data.objects["Skin Rig"]
    rig.data = rig.data.copy()
    rig.data.bones["tail2"].use_deform = False


def change_the_basis(skin: Any) -> None:
    skin.shape_key_add(name="Basis")
    skin.shape_key_add(name="Puff")
    skin.data.shape_keys.key_blocks["Basis"].data[30].co.x += 0.3


def rename_bone(skin: Any) -> None:
    """Blender renames the group of its name along."""
    bpy.data.objects["Skin Rig"].data.bones["tail2"].name = "renamed"


def delete_bone(skin: Any) -> None:
    """Its group stays, and has no bone."""
    rig = bpy.data.objects["Skin Rig"]
    scenes.make_active(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["tail2"])
    bpy.ops.object.mode_set(mode="OBJECT")
    scenes.make_active(skin)


def move_the_skin(skin: Any) -> None:
    skin.location.x += 0.3


def turn_the_skin(skin: Any) -> None:
    skin.rotation_euler = (0.0, 0.3, 0.0)


def scale_the_skin(skin: Any) -> None:
    skin.scale = (1.5, 1.5, 1.5)


def begin_elsewhere(skin: Any) -> None:
    """The rig alone, at the first frame."""
    skin.parent = None
    rig = bpy.data.objects["Skin Rig"]
    rig.location = (1.0, 0.0, 0.0)
    rig.keyframe_insert("location", frame=1)


EDITS = [
    apply_scale,
    apply_scale_of_the_rig,
    move_origin,
    remove_group,
    remove_group_by_script,
    remove_all_groups,
    rename_group,
    exchange_groups,
    untick_deform,
    tick_deform,
    rename_group_of_no_bone_to_one,
    limit_weights,
    weigh_one_vertex,
    move_one_vertex,
    transform_mesh,
    take_another_mesh,
    take_another_armature,
    change_the_basis,
    rename_bone,
    delete_bone,
    move_the_skin,
    turn_the_skin,
    scale_the_skin,
    begin_elsewhere,
]


def edit(skin: Any, change: Callable[[Any], None]) -> None:
    """As an artist does: Blender looks at its data after each."""
    scenes.make_active(skin)
    change(skin)
    bpy.context.view_layer.update()


def follow(skin: Any) -> None:
    addon.module("blender.watch").tick(addon.session())
    tick_until(lambda: addon.entry_of(skin).touched_at is None and is_whole(skin))


def prepared_anew(skin: Any) -> None:
    scenes.make_active(skin)
    assert bpy.ops.softrig.prepare() == {"FINISHED"}
    measure.at_frame(skin, LOOK)


@pytest.mark.parametrize("change", EDITS)
def test_the_next_frame_is_of_what_is_there_now(skin: Any, change: Any) -> None:
    measure.at_frame(skin, LOOK - 1)
    edit(skin, change)
    measure.at_frame(skin, LOOK)
    shown = points(skin)
    prepared_anew(skin)
    assert measure.same_bits(shown, points(skin))


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("change", [move_points, paint_group])
def test_a_script_that_only_sets_frames_sees_it_at_the_second(
    skin: Any, scene: Any, change: Any, is_turned: bool
) -> None:
    """Blender tells of it when the first has been evaluated; a turned dial before hides nothing."""
    skin.vertex_groups.new(name="Firm").add([0], 0.1, "REPLACE")
    skin.softrig.map_stiffness = "Firm"
    scene.frame_set(LOOK - 1)
    before = points(skin)
    if is_turned:
        skin.softrig.softness = 0.6
        scene.frame_set(LOOK - 1)
        before = points(skin)
    change(skin)
    scene.frame_set(LOOK - 2)
    scene.frame_set(LOOK - 1)
    shown = points(skin)
    assert measure.largest(shown, before) > 1e-4
    prepared_anew(skin)
    scene.frame_set(LOOK - 1)
    assert measure.same_bits(shown, points(skin))


@pytest.mark.parametrize("change", EDITS)
def test_the_window_follows_when_the_artist_rests(skin: Any, scene: Any, change: Any) -> None:
    skin.softrig.softness = 0.6
    scene.frame_set(LOOK)
    tick_until(lambda: is_whole(skin))
    edit(skin, change)
    follow(skin)
    show(scene)
    followed = points(skin)
    prepared_anew(skin)
    assert measure.same_bits(followed, points(skin))
    assert abs(skin.softrig.softness - 0.6) < 1e-6


@pytest.mark.parametrize("change", [remove_group, untick_deform, apply_scale])
def test_painted_maps_and_settings_are_kept(skin: Any, scene: Any, change: Any) -> None:
    skin.vertex_groups.new(name="Firm").add(range(60), 0.7, "REPLACE")
    skin.softrig.map_stiffness = "Firm"
    scene.frame_set(LOOK)
    tick_until(lambda: is_whole(skin))
    edit(skin, change)
    follow(skin)
    assert skin.softrig.map_stiffness == "Firm"
    assert addon.entry_of(skin).maps.without_detail().stiffness.group == "Firm"


def test_the_panel_says_why_it_prepares(skin: Any) -> None:
    tick_until(lambda: is_whole(skin))
    describe, said = addon.module("model.schedule").describe, []
    edit(skin, untick_deform)

    def come() -> bool:
        said.append(describe(addon.entry_of(skin)))
        return addon.entry_of(skin).touched_at is None and is_whole(skin)

    tick_until(come)
    assert any(text.startswith("Mesh or bones changed: preparing") for text in said)
    assert said[-1].endswith("frames ready")


def test_a_shot_that_may_be_old_is_no_source_of_a_bake(skin: Any) -> None:
    tick_until(lambda: is_whole(skin))
    session, entry = addon.session(), addon.entry_of(skin)
    before = session.bake_source(entry)
    edit(skin, untick_deform)
    assert before and session.bake_source(entry) == ""
    follow(skin)
    assert session.bake_source(entry) not in ("", before)


def test_a_rig_that_never_stands_twice_alike_is_prepared_once_more(
    skin: Any, scene: Any, monkeypatch: Any
) -> None:
    scene.frame_set(LOOK)
    tick_until(lambda: is_whole(skin))
    gather, prepared, places = addon.module("blender.gather"), [], iter(range(1000))
    recorded, start = gather.recorded_spaces, addon.session().start_preparing

    def elsewhere(*arguments: Any) -> Any:
        spaces = recorded(*arguments)
        return type(spaces)(spaces.to_skin + next(places), spaces.reach)

    monkeypatch.setattr(gather, "recorded_spaces", elsewhere)
    monkeypatch.setattr(
        addon.session(), "start_preparing", lambda *a: (prepared.append(1), start(*a))
    )
    entry = addon.entry_of(skin)
    for _ in range(3):
        skin.location.x += 0.3
        bpy.context.view_layer.update()
        tick_until(lambda: entry.touched_at is None and is_whole(skin))
    assert len(prepared) <= 1


def test_a_rig_that_walks_far_away_is_not_prepared_again(
    skin: Any, scene: Any, monkeypatch: Any
) -> None:
    scene.frame_set(LOOK)
    tick_until(lambda: is_whole(skin))
    monkeypatch.setattr(addon.session(), "start_preparing", forbidden)
    rig = bpy.data.objects["Skin Rig"]
    for place in (3.7, 1234.5, -98765.4):
        rig.location = (place, 0.3 * place, 1.0)
        rig.rotation_euler = (0.1, 0.2, place)
        rig.keyframe_insert("location", frame=1)
        rig.keyframe_insert("rotation_euler", frame=1)
        bpy.context.view_layer.update()
        assert addon.entry_of(skin).state.stale
        tick_until(lambda: is_whole(skin))


def forbidden(*_: Any) -> None:
    raise AssertionError("this was not to be done")


HARMLESS = {
    "a group of no bone": lambda skin: skin.vertex_groups.new(name="Mask"),
    "a material": lambda skin: skin.data.materials.append(bpy.data.materials.new("Red")),
    "smooth shading": lambda skin: bpy.ops.object.shade_smooth(),
    "a tag": lambda skin: skin.data.update_tag(),
    "a bone's colour": lambda skin: setattr(
        bpy.data.objects["Skin Rig"].data, "display_type", "STICK"
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_preparing_does_not_read_prepares_nothing(
    skin: Any, scene: Any, name: str, monkeypatch: Any
) -> None:
    scene.frame_set(LOOK)
    tick_until(lambda: is_whole(skin))
    entry, looked = addon.entry_of(skin), []
    character, shot = entry.character, entry.shot
    edit(skin, HARMLESS[name])
    stage = addon.module("blender.stage")
    notice = stage.notice_edits
    monkeypatch.setattr(stage, "notice_edits", lambda *a: (looked.append(1), notice(*a)))
    follow(skin)
    for _ in range(60):
        addon.module("blender.watch").tick(addon.session())
        bpy.context.view_layer.update()
    assert len(looked) <= 1, "one look is enough"
    assert (entry.character, entry.shot) == (character, shot)


@pytest.mark.parametrize("made", [False, True])
def test_turned_dials_and_shown_frames_read_no_mesh(
    skin: Any, scene: Any, monkeypatch: Any, made: bool
) -> None:
    if made:
        skin.modifiers.new("Halves", "MIRROR")
        bpy.ops.object.modifier_move_to_index(modifier="Halves", index=0)
        measure.at_frame(skin, 2)
    tick_until(lambda: is_whole(skin))
    bpy.context.view_layer.update()
    follow(skin)

    monkeypatch.setattr(addon.module("blender.gather"), "read_shape", forbidden)
    for value in (0.3, 0.7):
        skin.softrig.softness = value
        skin.update_tag()  # as the panel does
        bpy.context.view_layer.update()
        scene.frame_set(scene.frame_current + 1)
        tick_until(lambda: is_whole(skin))
        assert addon.entry_of(skin).touched_at is None
