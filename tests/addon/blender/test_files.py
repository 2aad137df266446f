# SPDX-License-Identifier: GPL-3.0-or-later
"""Save, load, delete, duplicate: with the worker running or not, in any order."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes


def save(path: Path) -> str:
    bpy.ops.wm.save_as_mainfile(filepath=str(path / "shot.blend"))
    return str(path / "shot.blend")


def bytes_held() -> int:
    return addon.session().api.byte_count()


def test_a_loaded_file_shows_the_same_bits(skin: Any, tmp_path: Path) -> None:
    live = {frame: measure.at_frame(skin, frame) for frame in (1, 22, 24, 40)}
    path = save(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = bpy.data.objects["Skin"]
    for frame, expected in live.items():
        assert measure.same_bits(measure.at_frame(again, frame), expected), f"frame {frame}"


def test_where_the_artist_looks_while_adding_changes_nothing(scene: Any) -> None:
    skin, _ = scenes.make_character()
    scenes.add_softrig(skin)
    first = measure.at_frame(skin, 24)
    bpy.ops.softrig.remove()
    scene.frame_set(17)
    scenes.add_softrig(skin)
    assert measure.same_bits(measure.at_frame(skin, 24), first)


def test_a_saved_file_has_no_frozen_offsets(skin: Any, scene: Any, tmp_path: Path) -> None:
    scene.frame_set(24)
    shown = measure.evaluated(skin)
    path = save(tmp_path)
    assert measure.same_bits(measure.evaluated(skin), shown), "saving must not be seen"
    addon.disable()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        loaded = bpy.data.objects["Skin"]
        assert measure.same_bits(measure.evaluated(loaded), measure.without_us(loaded))
    finally:
        addon.enable()


def test_a_save_that_fails_leaves_what_is_shown(skin: Any, tmp_path: Path) -> None:
    """3.4 tells nobody that it failed; the window's timer comes next."""
    expected = measure.at_frame(skin, 24)
    assert measure.largest(expected, measure.without_us(skin)) > 1e-3
    with pytest.raises(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "nowhere" / "shot.blend"))
    addon.module("handlers.timer").softrig_tick()
    assert measure.same_bits(measure.evaluated(skin), expected)


def test_loading_while_the_worker_runs(skin: Any, tmp_path: Path) -> None:
    path = save(tmp_path)
    for _ in range(3):
        busy = bpy.data.objects["Skin"]
        bpy.context.scene.frame_end = 2000
        measure.at_frame(busy, 2)
        assert addon.session().refresh(addon.entry_of(busy)).running
        bpy.ops.wm.open_mainfile(filepath=path)
        assert not addon.session().entries
        assert bytes_held() == 0
        measure.at_frame(bpy.data.objects["Skin"], 2)


def test_deleting_while_the_worker_runs(skin: Any, scene: Any) -> None:
    scene.frame_end = 2000
    measure.at_frame(skin, 2)
    assert addon.session().refresh(addon.entry_of(skin)).running
    bpy.data.objects.remove(skin)
    scene.frame_set(3)
    addon.module("blender.watch").look_around(addon.session())
    assert not addon.session().entries
    assert bytes_held() == 0


def test_deleting_the_modifier_is_survived(skin: Any, scene: Any) -> None:
    skin.modifiers.remove(skin.modifiers["Softrig"])
    scene.frame_set(3)
    addon.module("blender.watch").look_around(addon.session())
    assert not addon.session().entries
    assert bpy.ops.softrig.add() == {"FINISHED"}


def test_deleting_the_modifier_frees_at_the_next_frame(skin: Any, scene: Any) -> None:
    scene.frame_set(2)
    assert bytes_held() > 0
    skin.modifiers.remove(skin.modifiers["Softrig"])
    scene.frame_set(3)
    assert not addon.session().entries
    assert bytes_held() == 0


def test_deleting_the_armature_is_told(skin: Any) -> None:
    bpy.data.objects.remove(bpy.data.objects["Skin Rig"])
    scenes.make_active(skin)
    try:
        bpy.ops.softrig.record()
    except RuntimeError as error:
        assert "armature" in str(error)
    else:
        raise AssertionError("a missing armature was not noticed")


def test_renaming_is_followed(skin: Any) -> None:
    before = measure.at_frame(skin, 24)
    skin.name = "Another name"
    measure.at_frame(skin, 3)
    assert measure.same_bits(measure.at_frame(skin, 24), before)
    assert len(addon.session().entries) == 1


def test_a_duplicate_has_a_life_of_its_own(skin: Any, scene: Any) -> None:
    original = measure.at_frame(skin, 24)
    copied = skin.copy()
    scenes.link(copied)
    bpy.context.view_layer.update()
    addon.module("blender.watch").look_around(addon.session())
    assert copied.softrig.uuid != skin.softrig.uuid
    find = addon.module("blender.carrier").find_carrier
    assert find(copied) != find(skin)
    copied.softrig.softness = 0.9
    other = measure.at_frame(copied, 24)
    assert measure.largest(other, original) > 1e-4
    assert measure.same_bits(measure.evaluated(skin), original)


def test_appending_brings_a_character_that_moves(skin: Any, tmp_path: Path) -> None:
    path, expected = save(tmp_path), measure.at_frame(skin, 24)
    scenes.start_empty()
    with bpy.data.libraries.load(path) as (source, target):
        target.objects = [name for name in source.objects if name in ("Skin", "Skin Rig")]
    for ob in target.objects:
        scenes.link(ob)
    appended = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(appended, 24), expected)


def test_removing_leaves_nothing(scene: Any) -> None:
    skin, _ = scenes.make_character()
    before = everything(skin)
    scenes.add_softrig(skin)
    skin.softrig.softness = 0.7
    scene.frame_set(24)
    scene.frame_set(1)
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    assert everything(skin) == before
    assert not addon.session().entries
    assert bytes_held() == 0


def animate_dials(skin: Any) -> None:
    for frame in (1, 30):
        skin.softrig.keyframe_insert("gravity_factor", frame=frame)
    skin.softrig.driver_add("wind_speed").driver.expression = "1.0"
    amount = addon.module("blender.carrier").modifier_paths(skin)[0]
    skin.keyframe_insert(f"{amount}.show_viewport", frame=1)


def test_removing_takes_keys_of_dials_along(skin: Any) -> None:
    animate_dials(skin)
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    assert skin.animation_data is None


def test_removing_leaves_other_keys(skin: Any) -> None:
    skin.keyframe_insert("location", frame=1)
    skin.driver_add("hide_render").driver.expression = "0"
    animate_dials(skin)
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    curves = addon.module("blender.actions").find_curves(skin)
    assert [curve.data_path for curve in curves] == ["location"] * 3
    assert [curve.data_path for curve in skin.animation_data.drivers] == ["hide_render"]


def everything(skin: Any) -> tuple[Any, ...]:
    kinds = [name for name in dir(bpy.data) if is_collection(getattr(bpy.data, name))]
    names = {f"{kind}/{item.name}" for kind in kinds for item in getattr(bpy.data, kind)}
    properties = {
        name: getattr(skin.softrig, name)
        for name in skin.softrig.bl_rna.properties.keys()
        if name not in ("rna_type", "progress")
    }
    modifiers = [m.name for m in skin.modifiers]
    return names, properties, modifiers, list(skin.keys()), measure.evaluated(skin).tobytes()


def is_collection(value: Any) -> bool:
    return type(value).__name__ == "bpy_prop_collection"


def test_offsets_are_finite_when_the_rig_teleports(scene: Any) -> None:
    skin, armature = scenes.make_character()
    for frame, place in ((10, 0.0), (11, 1e5)):
        armature.location = (place, 0.0, 0.0)
        armature.keyframe_insert("location", frame=frame)
    scenes.add_softrig(skin)
    for frame in (10, 11, 12, 40):
        assert np.isfinite(measure.at_frame(skin, frame)).all()


def link_and_override(path: str) -> Any:
    """The character as a library override in a new file."""
    scene = scenes.start_empty()
    with bpy.data.libraries.load(path, link=True) as (_, target):
        target.collections = ["Character"]
    holder = bpy.data.objects.new("Character", None)
    holder.instance_type, holder.instance_collection = "COLLECTION", target.collections[0]
    scenes.link(holder)
    target.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, reference=holder)
    return next(ob for ob in bpy.data.objects if ob.name == "Skin" and ob.library is None)


def test_a_linked_character_can_have_softrig_on_its_override(scene: Any, tmp_path: Path) -> None:
    skin, armature = scenes.make_character()
    collection = bpy.data.collections.new("Character")
    scene.collection.children.link(collection)
    for ob in (skin, armature):
        collection.objects.link(ob)
        scene.collection.objects.unlink(ob)
    path = save(tmp_path)
    scenes.add_softrig(skin)
    expected = measure.at_frame(skin, 24)
    overridden = link_and_override(path)
    scenes.add_softrig(overridden)
    assert measure.same_bits(measure.at_frame(overridden, 24), expected)
    second = tmp_path / "second.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(second))
    bpy.ops.wm.open_mainfile(filepath=str(second))
    again = next(ob for ob in bpy.data.objects if ob.name == "Skin" and ob.library is None)
    assert measure.same_bits(measure.at_frame(again, 24), expected)
