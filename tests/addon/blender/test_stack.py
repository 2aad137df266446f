# SPDX-License-Identifier: GPL-3.0-or-later
"""Which modifiers drive, which are refused, and what happens when somebody reorders them later."""

from typing import Any

import bpy
import pytest
from support import addon, measure, scenes


def add_multires(skin: Any) -> None:
    skin.modifiers.new("Multires", "MULTIRES")
    scenes.make_active(skin)
    bpy.ops.object.multires_subdivide(modifier="Multires")


def names_of_data() -> set[str]:
    kinds = ("objects", "meshes", "node_groups", "scenes")
    return {f"{kind}/{item.name}" for kind in kinds for item in getattr(bpy.data, kind)}


def move(skin: Any, name: str, index: int) -> None:
    with bpy.context.temp_override(object=skin, active_object=skin):
        bpy.ops.object.modifier_move_to_index(modifier=name, index=index)


def test_multires_is_refused_in_words_and_nothing_is_left(scene: Any) -> None:
    skin, _ = scenes.make_character()
    add_multires(skin)
    before = names_of_data(), [m.name for m in skin.modifiers]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Multires"):
            bpy.ops.softrig.add()
        assert (names_of_data(), [m.name for m in skin.modifiers]) == before
        assert not skin.softrig.uuid and not addon.session().entries
    assert not addon.session().adding
    assert addon.session().api.byte_count() == 0


@pytest.mark.parametrize("where", ["compat.set_input", "compat.move_modifier", "show.show_object"])
def test_whatever_fails_while_adding_leaves_nothing(
    scene: Any, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    skin, _ = scenes.make_character()
    before = names_of_data(), [m.name for m in skin.modifiers]
    module, name = where.split(".")
    original, calls = getattr(addon.module(f"blender.{module}"), name), []

    def fail_once(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("no luck")
        return original(*arguments, **options)

    monkeypatch.setattr(addon.module(f"blender.{module}"), name, fail_once)
    with pytest.raises(RuntimeError, match="no luck"):
        bpy.ops.softrig.add()
    assert (names_of_data(), [m.name for m in skin.modifiers]) == before
    assert not skin.softrig.uuid and not addon.session().adding
    assert addon.session().api.byte_count() == 0
    monkeypatch.undo()
    scenes.add_softrig(skin)


def test_a_skin_that_its_parent_deforms_moves_as_with_a_modifier(scene: Any) -> None:
    skin, armature = scenes.make_character()
    skin.modifiers.remove(skin.modifiers["Armature"])
    skin.parent_type = "ARMATURE"
    scenes.add_softrig(skin)
    assert [bone.name for bone in addon.entry_of(skin).plan.bones] == list(scenes.BONES)
    scene.frame_set(24)
    by_parent = measure.evaluated(skin) - measure.without_us(skin)
    bpy.ops.softrig.remove()
    skin.parent_type = "OBJECT"
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    scenes.add_softrig(skin)
    scene.frame_set(24)
    assert measure.largest(by_parent, measure.evaluated(skin) - measure.without_us(skin)) < 1e-5
    assert abs(by_parent).max() > 1e-3


def test_an_armature_that_is_switched_off_does_not_drive(scene: Any) -> None:
    skin, armature = scenes.make_character()
    armature.animation_data_clear()
    scenes.turn(armature, "tail2")
    modifier = skin.modifiers["Armature"]
    modifier.show_viewport = modifier.show_render = False
    scenes.add_softrig(skin)
    assert addon.entry_of(skin).plan.armature_count == 0
    for frame in (5, 14, 24):
        assert measure.same_bits(measure.at_frame(skin, frame), measure.without_us(skin))


@pytest.mark.parametrize("hidden_in", ["show_viewport", "show_render"])
def test_an_armature_that_is_on_somewhere_drives(scene: Any, hidden_in: str) -> None:
    skin, _ = scenes.make_character()
    setattr(skin.modifiers["Armature"], hidden_in, False)
    scenes.add_softrig(skin)
    assert addon.entry_of(skin).plan.armature_count == 1


def test_what_is_moved_before_us_later_gives_the_plain_pose_and_a_sentence(
    skin: Any, scene: Any
) -> None:
    expected = measure.at_frame(skin, 24)
    skin.modifiers.new("Decimate", "DECIMATE")
    move(skin, "Decimate", 0)
    addon.module("blender.watch").tick(addon.session())
    assert measure.same_bits(measure.evaluated(skin), measure.without_us(skin)), "at once"
    assert measure.same_bits(measure.at_frame(skin, 23), measure.without_us(skin))
    assert "below Softrig" in addon.entry_of(skin).blocked
    addon.module("blender.examine").examine(addon.session(), skin, scene)
    (finding,) = addon.session().findings[skin.softrig.uuid]
    assert "Decimate" in finding.text and finding.operator == "softrig.fix"
    with pytest.raises(RuntimeError, match="Decimate"):
        bpy.ops.softrig.bake()
    skin.modifiers["Decimate"].show_viewport = skin.modifiers["Decimate"].show_render = False
    scene.frame_set(24)
    assert measure.same_bits(measure.evaluated(skin), expected), "what is off disturbs nobody"
    skin.modifiers.remove(skin.modifiers["Decimate"])
    addon.module("blender.watch").tick(addon.session())
    assert measure.same_bits(measure.evaluated(skin), expected)
    assert not addon.entry_of(skin).blocked
