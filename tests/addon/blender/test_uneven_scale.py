# SPDX-License-Identifier: GPL-3.0-or-later
"""Scales that are not alike along all axes: the flesh is that of the shape that is seen.

Each character is made twice, as the artist scaled it and with that scale applied. In the world both
move alike.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from support import addon, measure, scenes
from test_bake_keys import KINDS
from test_followers import follow, make_ball, put_on_bone, world_at

FRAMES = (1, 14, 22, 24, 27, 33)
ALIKE = 2e-5
"""Of the largest offset: single precision, in the object's own space and in the world."""
CUT_ANEW = 0.02
"""Likewise where rounding cuts another cage."""
PROPORTIONS = "softrig_prepared_proportions"
Place = Callable[[Any, Any], None]


def scaled(*scale: float) -> Place:
    def place(skin: Any, armature: Any) -> None:
        skin.scale = scale

    return place


def by_its_rig(skin: Any, armature: Any) -> None:
    armature.scale = (-0.5, 2.0, 1.0)


def by_parents(turn: float) -> Place:
    """Two of them stretch it; turned by something between, they shear it too."""

    def place(skin: Any, armature: Any) -> None:
        outer, inner = (scenes.link(bpy.data.objects.new(name, None)) for name in "AB")
        outer.parent, inner.parent, skin.parent = armature, outer, inner
        outer.scale, inner.scale = (2.0, 2.0, 3.0), (0.25, 1.0, 0.5)
        inner.rotation_euler.z = np.pi / 2.0
        skin.rotation_euler.x = turn

    return place


PLACES = {
    "wide": scaled(0.5, 3.0, 1.0),
    "flat": scaled(1.0, 1.0, 0.2),
    "mirrored": scaled(-0.5, 2.0, 1.0),
    "inside out": scaled(-0.5, -3.0, -1.0),
    "by its rig": by_its_rig,
    "by parents": by_parents(0.0),
    "sheared": by_parents(0.6),
}


def turn_of(matrix: Any) -> Any:
    """The rotation, or the mirror, that is nearest."""
    left, _, right = np.linalg.svd(np.array(matrix, np.float64)[:3, :3])
    return Matrix((left @ right).tolist()).to_4x4()


def apply(skin: Any, armature: Any) -> None:
    """What stretches it goes into its points; what turns or mirrors it stays: that is no scale, and
    turned points are cut into another cage."""
    bpy.context.view_layer.update()
    rig, matrix = armature.matrix_world.to_3x3().to_4x4(), skin.matrix_world.to_3x3().to_4x4()
    skin.parent, skin.matrix_parent_inverse = armature, Matrix()
    skin.matrix_basis = rig.inverted() @ turn_of(matrix)
    skin.data.transform(turn_of(matrix).inverted() @ matrix, shape_keys=True)
    bpy.context.view_layer.update()


def make(name: str, applied: bool, change: Place = lambda *_: None, **dials: Any) -> Any:
    scenes.start_empty()
    skin, armature = scenes.make_character()
    PLACES[name](skin, armature)
    change(skin, armature)
    if applied:
        apply(skin, armature)
    for dial, value in dials.items():
        setattr(skin.softrig, dial, value)
    scenes.add_softrig(skin)
    return skin


def flesh(ob: Any) -> np.ndarray:
    """What is added to its pose, in the world."""
    found = []
    for frame in FRAMES:
        moved = world_at(ob, frame)
        ob.modifiers["Softrig"].show_viewport = False
        found.append(moved - world_at(ob, frame))
        ob.modifiers["Softrig"].show_viewport = True
    return np.array(found)


def compare(one: np.ndarray, other: np.ndarray, alike: float = ALIKE) -> None:
    size = np.abs(other).max()
    error = np.abs(one - other).max() / size
    print(f"largest offset {size:.4f} m, differs by {error:.2e} of it")
    assert size > 0.04, "nothing swings"
    assert error < alike


@pytest.mark.parametrize("solver", ["COMPLEMENTARY", "FLESH", "XPBD"])
@pytest.mark.parametrize("name", PLACES)
def test_the_flesh_is_that_of_the_shape_with_its_scale_applied(
    scene: Any, name: str, solver: str
) -> None:
    skin = make(name, True, solver=solver)
    assert addon.entry_of(skin).proportions.are_even
    expected = flesh(skin)
    skin = make(name, False, solver=solver)
    assert not addon.entry_of(skin).proportions.are_even
    compare(flesh(skin), expected, CUT_ANEW if name == "sheared" else ALIKE)
    assert not traps(skin)


def traps(skin: Any) -> list[str]:
    addon.module("blender.examine").examine(addon.session(), skin, bpy.context.scene)
    return [finding.key for finding in addon.session().findings[skin.softrig.uuid]]


def painted(skin: Any, armature: Any) -> None:
    for axis, kind in enumerate(("hold", "stiffness", "mass")):
        group = skin.vertex_groups.new(name=kind)
        for vertex in skin.data.vertices:
            group.add([vertex.index], min(max(vertex.co[axis], 0.0), 1.0), "REPLACE")
        setattr(skin.softrig, f"map_{kind}", kind)


@pytest.mark.parametrize("solver", ["COMPLEMENTARY", "FLESH"])
def test_dials_forces_and_paint_mean_the_shape_that_is_seen(scene: Any, solver: str) -> None:
    # such that flesh stays well within its limit: held there, rounding decides
    dials = {"gravity_factor": 1.0, "wind_speed": 20.0, "wind_gusts": 0.5, "travel_felt": 0.3}
    dials |= {"settle_frames": 60.0, "softness": 0.4, "solver": solver, "density": 100.0}
    plain = flesh(make("mirrored", False, solver=solver))
    expected = flesh(make("mirrored", True, painted, **dials))
    found = flesh(make("mirrored", False, painted, **dials))
    compare(found, expected)
    assert measure.largest(found, plain) > 0.05


def bone_less(skin: Any, armature: Any) -> None:
    skin.modifiers.remove(skin.modifiers["Armature"])


def leaning(skin: Any, armature: Any) -> None:
    """Moved by shape keys as well: its points are recorded."""
    skin.shape_key_add(name="Basis")
    lean = skin.shape_key_add(name="Lean", from_mix=False)
    for point in lean.data:
        point.co.x += 0.2 * (point.co.z + 1.0) ** 2
    for frame, value in ((1, 0.0), (8, 0.0), (20, 1.0)):
        lean.value = value
        lean.keyframe_insert("value", frame=frame)


def of_volume(skin: Any, armature: Any) -> None:
    skin.modifiers["Armature"].use_deform_preserve_volume = True


@pytest.mark.parametrize("change", [bone_less, leaning, of_volume])
def test_whatever_moves_it(scene: Any, change: Place) -> None:
    expected = flesh(make("mirrored", True, change))
    compare(flesh(make("mirrored", False, change)), expected)


def add_followers(skin: Any) -> tuple[Any, Any]:
    """A cloth that is stretched as the skin is, and a rigid eye that is not."""
    cloth, eye = skin.copy(), make_ball()
    cloth.name, cloth.data = "Cloth", skin.data.copy()
    cloth.modifiers.remove(cloth.modifiers["Softrig"])
    cloth.property_unset("softrig")
    scenes.link(cloth)
    skin.parent.data.pose_position = "REST"
    put_on_bone(eye, skin.parent, "tail2", Matrix.Translation((0.1, 0.2, 2.4)))
    skin.parent.data.pose_position = "POSE"
    eye.softrig.rigid = True
    follow(skin, cloth, eye)
    return cloth, eye


def test_followers_go_along(scene: Any) -> None:
    expected = [flesh(ob) for ob in add_followers(make("mirrored", True))]
    skin = make("mirrored", False)
    found = [flesh(ob) for ob in add_followers(skin)]
    for one, other in zip(found, expected, strict=True):
        compare(one, other)
    compare(found[0], flesh(skin), 1e-4)


def test_a_bake_holds_the_same(scene: Any, tmp_path: Path) -> None:
    skin = make("wide", False)
    cloth, eye = add_followers(skin)
    skin.softrig.bake_subframes = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    live = {(ob, at): measure.at_frame(ob, at) for ob in (skin, cloth, eye) for at in FRAMES}
    between = measure.at_frame(skin, 22.5)
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    addon.disable()
    try:
        for (ob, frame), points in live.items():
            assert measure.same_bits(measure.at_frame(ob, frame), points), (ob, frame)
        assert measure.largest(measure.at_frame(skin, 22.5), between) < 1e-6
    finally:
        addon.enable()


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
def test_shape_keys_hold_the_same(scene: Any, kind: str) -> None:
    skin = make("wide", False)
    live = {frame: measure.at_frame(skin, frame) for frame in FRAMES}
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake_keys(kind=kind) == {"FINISHED"}
    addon.disable()
    try:
        for frame, points in live.items():
            assert measure.largest(measure.at_frame(skin, frame), points) < 1e-4, frame
    finally:
        addon.enable()


if "ALEMBIC" in KINDS:

    def test_exported_motion_is_the_same(scene: Any, tmp_path: Path) -> None:
        skin = make("wide", False)
        live = {frame: world_at(skin, frame) for frame in FRAMES}
        scenes.make_active(skin)
        path, before = tmp_path / "out.abc", set(bpy.data.objects)
        assert bpy.ops.softrig.export_motion(kind="ALEMBIC", filepath=str(path)) == {"FINISHED"}
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
        came = next(ob for ob in bpy.data.objects if ob not in before and ob.type == "MESH")
        for frame, points in live.items():
            assert measure.largest(world_at(came, frame), points) < 2e-5, frame


def look_again(skin: Any) -> Any:
    """What it has come to after an edit: identity and flesh."""
    bpy.context.view_layer.update()
    scenes.make_active(skin)
    assert bpy.ops.softrig.record() == {"FINISHED"}
    return addon.entry_of(skin).character


def test_other_proportions_are_prepared_and_another_size_is_not(scene: Any) -> None:
    skin = make("wide", False, bone_less)
    before = addon.entry_of(skin).character
    skin.scale = (1.0, 6.0, 2.0)
    assert look_again(skin) is before
    skin.scale = (1.0, 1.0, 2.0)
    assert look_again(skin) is not before
    found = flesh(skin)
    PLACES["again"] = scaled(1.0, 1.0, 2.0)
    compare(found, flesh(make("again", True, bone_less)), CUT_ANEW)
    del PLACES["again"]


def test_what_is_kept_knows_its_proportions(scene: Any, monkeypatch: Any, tmp_path: Path) -> None:
    skin = make("wide", False)
    live = measure.at_frame(skin, 24)
    path = str(tmp_path / "a.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    api, prepared = addon.session().api, []
    create = api.create_character
    monkeypatch.setattr(api, "create_character", lambda d: (prepared.append(d), create(d))[1])
    bpy.ops.wm.open_mainfile(filepath=path)
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], 24), live)
    assert not prepared
    # an older file has flesh of the unscaled shape
    holder = addon.module("blender.carrier").find_carrier(bpy.data.objects["Skin"])
    del holder[PROPORTIONS]
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], 24), live)
    assert len(prepared) == 1


def test_even_scales_keep_nothing_and_change_nothing(scene: Any, monkeypatch: Any) -> None:
    """To the bit what it is with all of this left out."""
    PLACES["even"] = scaled(-1.7, 1.7, 1.7)
    skin = make("even", False)
    found = flesh(skin)
    assert PROPORTIONS not in addon.module("blender.carrier").find_carrier(skin)
    proportions, rig = addon.module("model.proportions"), addon.module("model.rig")
    monkeypatch.setattr(rig, "proportions_of", lambda matrix: proportions.EVEN)
    assert measure.same_bits(flesh(make("even", False)), found)
    del PLACES["even"]


def squashed(skin: Any, armature: Any) -> None:
    for frame, scale in ((1, 1.0), (12, 0.5), (20, 1.5), (30, 1.0)):
        skin.scale.z = scale
        skin.keyframe_insert("scale", frame=frame)


@pytest.mark.parametrize("solver", ["COMPLEMENTARY", "FLESH"])
def test_an_animated_stretch_is_motion_and_is_told(scene: Any, solver: str) -> None:
    skin = make("wide", False, squashed, solver=solver)
    bpy.context.scene.frame_set(12)
    found = flesh(skin)
    assert np.isfinite(found).all() and 0.05 < np.abs(found).max() < 3.0
    assert traps(skin) == ["CHANGING_SCALE"]
    kept = addon.entry_of(skin).proportions.matrix
    assert np.abs(kept - np.diag((0.5, 3.0, 1.0))).max() < 1e-6, "those of the first frame"
