# SPDX-License-Identifier: GPL-3.0-or-later
"""A library override of a character that has Softrig in its own file gets one of its own."""

from pathlib import Path
from typing import Any

import bpy
import pytest
from support import addon, measure, scenes


def link_override(path: Path) -> Any:
    scenes.start_empty()
    with bpy.data.libraries.load(str(path), link=True) as (_, target):
        target.objects = ["Skin", "Skin Rig"]
    for ob in target.objects:
        scenes.link(ob)
    linked = next(ob for ob in bpy.data.objects if ob.name == "Skin")
    overridden = linked.override_create(remap_local_usages=True)
    scenes.make_active(overridden)
    return overridden


def local_skin() -> Any:
    return next(ob for ob in bpy.data.objects if ob.name == "Skin" and ob.library is None)


@pytest.fixture
def library(skin: Any, tmp_path: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    return tmp_path / "character.blend"


def without_any(skin: Any) -> Any:
    """At this frame, with all modifiers of ours off."""
    ours = [m for m in skin.modifiers if addon.module("blender.carrier").is_ours(m)]
    before = [m.show_viewport for m in ours]
    for modifier in ours:
        modifier.show_viewport = False
    points = measure.evaluated(skin)
    for modifier, shown in zip(ours, before, strict=True):
        modifier.show_viewport = shown
    return points


def test_without_its_own_it_is_told_what_to_press(library: Path) -> None:
    skin = link_override(library)
    bpy.context.scene.frame_set(24)
    assert "press Add Softrig" in addon.session().still[skin.name]
    assert not addon.session().entries
    assert bpy.ops.softrig.add.poll()


def test_its_own_moves_is_baked_and_stays(library: Path) -> None:
    expected = measure.at_frame(bpy.data.objects["Skin"], 24)
    skin = link_override(library)
    uuid = skin.softrig.uuid
    scenes.add_softrig(skin)
    assert skin.softrig.uuid != uuid
    assert measure.same_bits(measure.at_frame(skin, 24), expected)
    assert measure.largest(expected, without_any(skin)) > 1e-3
    shot = library.with_name("shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    skin = local_skin()
    assert measure.same_bits(measure.at_frame(skin, 24), expected), "live, after loading"
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    skin = local_skin()
    assert addon.module("blender.carrier").find_bake(skin) is not None
    assert measure.same_bits(measure.at_frame(skin, 24), expected), "baked, after loading"


@pytest.mark.parametrize("is_saved", [False, True])
def test_its_dials_survive_a_blender_without_us(library: Path, is_saved: bool) -> None:
    """Which drops what it does not know of an override."""
    skin = link_override(library)
    scenes.add_softrig(skin)
    skin.softrig.softness, skin.softrig.wind_direction = 0.85, (0.0, 1.0, 0.0)
    shot = str(library.with_name("shot.blend"))
    expected, uuid = measure.at_frame(skin, 24), skin.softrig.uuid
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    addon.disable()
    bpy.ops.wm.open_mainfile(filepath=shot)
    if is_saved:
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.enable()
    if is_saved:
        bpy.ops.wm.open_mainfile(filepath=shot)
    skin = local_skin()
    assert measure.same_bits(measure.at_frame(skin, 24), expected)
    assert abs(skin.softrig.softness - 0.85) < 1e-6 and skin.softrig.uuid == uuid
    assert tuple(skin.softrig.wind_direction) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("place", [0, 2])
def test_of_two_that_are_both_local_its_own_moves_it(skin: Any, place: int) -> None:
    """As when the other file's data-blocks of an override were made local."""
    expected = measure.at_frame(skin, 24)
    carrier, compat = addon.module("blender.carrier"), addon.module("blender.compat")
    key = addon.module("blender.graph").CARRIER
    own = carrier.find_modifier(skin)
    other = carrier.find_carrier(skin).copy()
    other.data = other.data.copy()
    other["softrig_owner"] = "somebody"
    double = skin.modifiers.new("Double", "NODES")
    double.node_group = own.node_group
    compat.set_input(double, key, other)
    compat.move_modifier(skin, double, place)
    addon.session().rescan = True
    assert measure.same_bits(measure.at_frame(skin, 24), expected)
    (left,) = [m for m in skin.modifiers if carrier.is_ours(m)]
    assert compat.get_input(left, key) != other


def test_removing_its_own_leaves_the_linked_one(library: Path) -> None:
    skin = link_override(library)
    before = [(m.name, m.show_viewport, m.show_render) for m in skin.modifiers]
    scenes.add_softrig(skin)
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    assert [(m.name, m.show_viewport, m.show_render) for m in skin.modifiers] == before


def test_a_bake_in_the_library_plays_in_an_override(library: Path) -> None:
    skin = bpy.data.objects["Skin"]
    expected = measure.at_frame(skin, 24)
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    overridden = link_override(library)
    assert measure.same_bits(measure.at_frame(overridden, 24), expected)
    assert overridden.name not in addon.session().still


def put_cloth_on(skin: Any, name: str) -> Any:
    cloth = scenes.link(bpy.data.objects.new(name, skin.data.copy()))
    cloth.parent = skin.parent
    for group in skin.vertex_groups:
        cloth.vertex_groups.new(name=group.name)
    armature = next(m.object for m in skin.modifiers if m.type == "ARMATURE")
    cloth.modifiers.new("Armature", "ARMATURE").object = armature
    return cloth


def let_follow(skin: Any, cloth: Any) -> None:
    scenes.make_active(skin)
    cloth.select_set(True)
    assert bpy.ops.softrig.follow() == {"FINISHED"}


@pytest.mark.parametrize("linked", [False, True])
def test_clothes_follow_an_overridden_character(skin: Any, tmp_path: Path, linked: bool) -> None:
    """Clothes of this file, or overrides of linked ones; saved and opened they go on."""
    cloth = put_cloth_on(skin, "Cloth")
    let_follow(skin, cloth)
    expected = measure.at_frame(cloth, 24)
    assert measure.largest(expected, without_any(cloth)) > 1e-3
    addon.module("blender.followers").detach(cloth)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    skin = link_override(tmp_path / "character.blend")
    if linked:
        with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, target):
            target.objects = ["Cloth"]
        scenes.link(target.objects[0])
        cloth = target.objects[0].override_create(remap_local_usages=True)
    else:
        cloth = put_cloth_on(skin, "Cloth")
    scenes.add_softrig(skin)
    let_follow(skin, cloth)
    assert measure.same_bits(measure.at_frame(cloth, 24), expected)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    cloth = next(ob for ob in bpy.data.objects if ob.name == "Cloth" and ob.library is None)
    assert cloth.softrig.leader == local_skin()
    assert measure.same_bits(measure.at_frame(cloth, 24), expected)


def test_followers_of_the_library_stand_still_with_it_and_its_bake_moves_both(
    skin: Any, tmp_path: Path
) -> None:
    cloth = put_cloth_on(skin, "Cloth")
    let_follow(skin, cloth)
    expected = measure.at_frame(cloth, 24)
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene = scenes.start_empty()
    with bpy.data.libraries.load(path, link=True) as (_, target):
        target.objects = ["Skin", "Skin Rig", "Cloth"]
    for ob in target.objects:
        scenes.link(ob)
    scene.frame_set(24)
    linked = next(ob for ob in bpy.data.objects if ob.name == "Cloth")
    assert measure.same_bits(measure.evaluated(linked), expected)


def test_its_dials_and_keys_are_its_own_and_stay(library: Path, tmp_path: Path) -> None:
    skin = link_override(library)
    scenes.add_softrig(skin)
    skin.softrig.softness, skin.softrig.pre_roll_mode = 0.7, "SETTLE"
    for frame, factor in ((1, 0.0), (20, 2.0)):
        skin.softrig.gravity_factor = factor
        skin.softrig.keyframe_insert("gravity_factor", frame=frame)
    bpy.context.view_layer.update()
    before = measure.at_frame(skin, 30)
    assert addon.entry_of(skin).controls[-1, 2] == pytest.approx(2.0 * -9.81, rel=1e-5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    loaded = local_skin()
    assert loaded.softrig.pre_roll_mode == "SETTLE"
    assert loaded.softrig.softness == pytest.approx(0.7)
    assert measure.same_bits(measure.at_frame(loaded, 30), before)
