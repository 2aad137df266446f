# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Softrig on any mesh, whatever moves it: the flesh feels the motion and keeps to the pose."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

LAST = 70
"""The shot goes on for long enough to settle."""


def key(owner: Any, path: str, values: dict[int, Any], index: int = -1) -> None:
    for frame, value in values.items():
        if index >= 0:
            getattr(owner, path)[index] = value
        else:
            setattr(owner, path, value)
        owner.keyframe_insert(path, index=index, frame=frame)


def bone_less(name: str = "Skin") -> Any:
    skin = scenes.make_skin(name)
    scenes.make_active(skin)
    return skin


def by_object() -> Any:
    skin = bone_less()
    scenes.rush(skin)
    return skin


def by_lattice() -> Any:
    """Sways from the middle up, stops at frame 20."""
    skin = bone_less()
    lattice = scenes.link(bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage")))
    lattice.location.z, lattice.scale = 1.0, (1.6, 1.6, 4.4)
    data = lattice.data
    data.points_u, data.points_v, data.points_w = 2, 2, 3
    lattice.shape_key_add(name="Basis")
    lean = lattice.shape_key_add(name="Lean", from_mix=False)
    for place, point in enumerate(lean.data):
        point.co.x += 0.5 * (place // 4)
    key(lean, "value", {1: 0.0, 8: 0.0, 20: 1.0})
    skin.modifiers.new("Lattice", "LATTICE").object = lattice
    return skin


def by_shape_keys() -> Any:
    skin = bone_less()
    skin.shape_key_add(name="Basis")
    lean = skin.shape_key_add(name="Lean", from_mix=False)
    for point in lean.data:
        point.co.x += 0.2 * (point.co.z + 1.0) ** 2
    key(lean, "value", {1: 0.0, 8: 0.0, 20: 1.0})
    return skin


def by_bend() -> Any:
    """A modifier with a number that is keyed."""
    skin = bone_less()
    bend = skin.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.deform_axis = "BEND", "X"
    key(bend, "angle", {1: 0.0, 8: 0.0, 20: 1.2})
    return skin


def by_hook() -> Any:
    skin = bone_less()
    hook = scenes.link(bpy.data.objects.new("Hook", None))
    modifier = skin.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set([v.index for v in skin.data.vertices if v.co.z > 1.5])
    key(hook, "location", {1: 0.0, 8: 0.0, 20: 1.0}, index=0)
    return skin


def with_bones(change: Callable[[Any, Any], None]) -> Any:
    skin, armature = scenes.make_character()
    change(skin, armature)
    scenes.make_active(skin)
    return skin


def preserve_volume() -> Any:
    def change(skin: Any, armature: Any) -> None:
        skin.modifiers["Armature"].use_deform_preserve_volume = True
        bone = armature.pose.bones["tail1"]
        bone.rotation_mode = "XYZ"
        key(bone, "rotation_euler", {1: 0.0, 8: 0.0, 20: 2.0}, index=1)

    return with_bones(change)


def bendy_bones() -> Any:
    def change(skin: Any, armature: Any) -> None:
        armature.data.bones["spine"].bbone_segments = 8
        bone = armature.pose.bones["spine"]
        key(bone, "bbone_curveoutx", {1: 0.0, 8: 0.0, 20: 0.8})

    return with_bones(change)


def two_armatures() -> Any:
    def change(skin: Any, armature: Any) -> None:
        other = scenes.make_armature("Second", ("extra1", "extra2"))
        scenes.rush(other, 2.0)
        group = skin.vertex_groups.new(name="extra2")
        group.add([v.index for v in skin.data.vertices if v.co.x > 0.2], 0.5, "REPLACE")
        skin.modifiers.new("More", "ARMATURE").object = other

    return with_bones(change)


def mirrored_scale() -> Any:
    return with_bones(lambda skin, armature: setattr(armature, "scale", (-1.0, 1.0, 1.0)))


def uneven_scale() -> Any:
    return with_bones(lambda skin, armature: setattr(skin, "scale", (1.0, 0.5, 2.0)))


def many_controls() -> Any:
    """Hundreds of bones that do not deform."""

    def change(skin: Any, armature: Any) -> None:
        scenes.make_active(armature)
        bpy.ops.object.mode_set(mode="EDIT")
        for number in range(300):
            bone = armature.data.edit_bones.new(f"control {number}")
            bone.head, bone.tail, bone.use_deform = (1, 0, number), (1, 0, number + 1), False
        bpy.ops.object.mode_set(mode="OBJECT")

    return with_bones(change)


def mirror_and_subdivision_after() -> Any:
    def change(skin: Any, armature: Any) -> None:
        mirror = skin.modifiers.new("Mirror", "MIRROR")
        mirror.use_axis, mirror.use_mirror_merge = (False, True, False), False
        skin.modifiers.new("Subdivision", "SUBSURF").levels = 1

    return with_bones(change)


KINDS = (
    by_object,
    by_lattice,
    by_shape_keys,
    by_bend,
    by_hook,
    preserve_volume,
    bendy_bones,
    two_armatures,
    mirrored_scale,
    uneven_scale,
    many_controls,
    mirror_and_subdivision_after,
)
FOLLOWED = {
    "by_lattice": ("Lattice",),
    "by_shape_keys": ("Shape Keys",),
    "by_bend": ("Bend",),
    "by_hook": ("Hook",),
    "preserve_volume": ("Armature",),
    "bendy_bones": ("Armature",),
}


def swing(skin: Any, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return measure.largest(measure.evaluated(skin), measure.without_us(skin))


@pytest.mark.parametrize("make", KINDS)
def test_it_feels_the_motion_and_settles_in_the_pose(scene: Any, make: Any) -> None:
    scene.frame_end = LAST
    skin = make()
    plain = {frame: measure.at_frame(skin, frame) for frame in (1, 15, LAST)}
    scenes.add_softrig(skin)
    entry = addon.entry_of(skin)
    assert entry.build.deformers == FOLLOWED.get(make.__name__, ())
    for frame, points in plain.items():
        scene.frame_set(frame)
        assert measure.same_bits(measure.without_us(skin), points), "the artist's mesh changed"
    felt = max(swing(skin, frame) for frame in (12, 16, 22, 24, 26))
    assert felt > 0.03, "nothing is felt of what moves it"
    assert np.isfinite(measure.evaluated(skin)).all()
    assert swing(skin, LAST) < 0.2 * felt, "it does not come to rest in the pose"
    assert swing(skin, 1) < 0.02 * felt + 1e-6
    addon.module("blender.examine").examine(addon.session(), skin, scene)
    found = [finding.key for finding in addon.session().findings[skin.softrig.uuid]]
    assert found == []


@pytest.mark.parametrize("make", [by_lattice, by_shape_keys, preserve_volume])
def test_what_is_left_to_the_pose_may_be_chosen(scene: Any, make: Any) -> None:
    scene.frame_end = LAST
    skin = make()
    scenes.add_softrig(skin)
    session, seen, shapes = addon.session(), {}, {}
    for choice in ("AUTOMATIC", "BONES", "MOTION", "NOTHING"):
        skin.softrig.complement = choice
        felt = max(swing(skin, frame) for frame in (16, 22, 24))
        assert felt > 0.02, f"{choice}: nothing is felt of what moves it"
        seen[choice] = measure.evaluated(skin)
        assert np.isfinite(seen[choice]).all()
        assert swing(skin, LAST) < 0.2 * felt, f"{choice}: it does not come to rest in the pose"
        status = session.api.shot_status(addon.entry_of(skin).shot)
        shapes[choice] = status.motion_shapes
    meant = "BONES" if make is preserve_volume else "MOTION"
    assert measure.same_bits(seen["AUTOMATIC"], seen[meant])
    assert measure.largest(seen["MOTION"], seen["NOTHING"]) > 0.005
    assert 1 <= shapes["MOTION"] <= 32 and shapes["BONES"] == shapes["NOTHING"] == 0


@pytest.mark.parametrize("make", [by_lattice, preserve_volume])
def test_what_is_followed_is_the_same_after_loading(scene: Any, make: Any, tmp_path: Any) -> None:
    skin = make()
    scenes.add_softrig(skin)
    before = {frame: measure.at_frame(skin, frame) for frame in (15, 24)}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    for frame, points in before.items():
        assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], frame), points)


def test_a_changed_lattice_is_recorded_again(scene: Any) -> None:
    skin = by_lattice()
    scenes.add_softrig(skin)
    before = measure.at_frame(skin, 24)
    lean = bpy.data.objects["Cage"].data.shape_keys.key_blocks["Lean"]
    lean.keyframe_insert("value", frame=20)
    lean.value = 0.2
    lean.keyframe_insert("value", frame=20)
    assert bpy.ops.softrig.record() == {"FINISHED"}
    assert swing(skin, 24) > 0.0
    assert measure.largest(measure.at_frame(skin, 24), before) > 0.01


def test_preserve_volume_that_is_switched_on_later_is_followed(skin: Any, scene: Any) -> None:
    assert addon.entry_of(skin).build.deformers == ()
    skin.modifiers["Armature"].use_deform_preserve_volume = True
    scene.frame_set(5)
    assert addon.entry_of(skin).build.deformers == ("Armature",)
    skin.modifiers["Armature"].use_deform_preserve_volume = False
    scene.frame_set(6)
    assert addon.entry_of(skin).build.deformers == ()


def test_points_that_bones_move_are_worth_the_bones_matrices(scene: Any) -> None:
    """Where both can be had, both give the same motion: a plain armature, written as points."""
    scene.frame_end = LAST
    skin, _ = scenes.make_character()
    scenes.add_softrig(skin)
    by_matrices = {frame: measure.at_frame(skin, frame) for frame in (16, 22, 24, 30)}
    size = addon.entry_of(skin).report["size"]
    # nothing is bent by it, but it counts as more than a plain armature
    skin.modifiers["Armature"].use_multi_modifier = False
    key_block = skin.shape_key_add(name="Basis")
    assert key_block is not None
    nothing = skin.shape_key_add(name="Nothing", from_mix=False)
    nothing.value = 1.0
    for frame, points in by_matrices.items():
        by_points = measure.at_frame(skin, frame)
        assert addon.entry_of(skin).build.deformers == ("Shape Keys",)
        assert measure.largest(by_points, points) < 0.02 * size, frame


@pytest.mark.parametrize("baked", [False, True])
def test_nothing_of_the_recording_is_left(scene: Any, baked: bool) -> None:
    skin = by_lattice()
    kinds = ("objects", "meshes", "scenes", "node_groups", "lattices", "actions")
    before = {name: len(getattr(bpy.data, name)) for name in kinds}
    scenes.add_softrig(skin)
    skin.softrig.keyframe_insert("gravity_factor", frame=3)  # its dials are recorded from a twin
    bpy.ops.softrig.record()
    if baked:
        assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
        assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    bpy.ops.softrig.remove()
    skin.animation_data_clear()
    left = {name: [item.name for item in getattr(bpy.data, name) if item.users] for name in kinds}
    assert {name: len(items) for name, items in left.items()} == before, left
    assert addon.session().api.byte_count() == 0
