# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh, its weights and the cage size changed a moment ago: nobody gets the old result."""

from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

LOOK = 24


def subdivide(skin: Any) -> None:
    shape = bmesh.new()
    shape.from_mesh(skin.data)
    bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=1)
    shape.to_mesh(skin.data)
    shape.free()
    skin.data.update()


def repaint(skin: Any) -> None:
    skin.vertex_groups["tail2"].remove(range(len(skin.data.vertices)))


def reshape(skin: Any) -> None:
    """As many vertices as before, elsewhere."""
    points = np.empty(3 * len(skin.data.vertices), np.float32)
    skin.data.vertices.foreach_get("co", points)
    skin.data.vertices.foreach_set("co", points * np.float32(0.8))
    skin.data.update()


def resize_cage(skin: Any) -> None:
    skin.softrig.cage_nodes = 3000


def lengthen_bone(skin: Any) -> None:
    rig = bpy.data.objects["Skin Rig"]
    scenes.make_active(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["tail2"].tail.z += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")


def rename_bone(skin: Any) -> None:
    bpy.data.objects["Skin Rig"].data.bones["tail2"].name = "renamed"


def rename_bone_alone(skin: Any) -> None:
    """No group goes with it: only recording tells."""
    rename_bone(skin)
    skin.vertex_groups["renamed"].name = "tail2"


def switch_armature_off(skin: Any) -> None:
    modifier = skin.modifiers["Armature"]
    modifier.show_viewport = modifier.show_render = False


CHANGES = [
    subdivide,
    repaint,
    reshape,
    resize_cage,
    lengthen_bone,
    rename_bone,
    rename_bone_alone,
    switch_armature_off,
]


def after_prepare_again(skin: Any) -> np.ndarray:
    scenes.make_active(skin)
    assert bpy.ops.softrig.prepare() == {"FINISHED"}
    return measure.at_frame(skin, LOOK)


@pytest.mark.parametrize("change", CHANGES)
def test_a_bake_right_after_a_change_is_of_what_is_there_now(skin: Any, change: Any) -> None:
    measure.at_frame(skin, LOOK)
    change(skin)
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    baked = measure.at_frame(skin, LOOK)
    assert bpy.ops.softrig.free_bake() == {"FINISHED"}
    assert measure.same_bits(baked, after_prepare_again(skin))


@pytest.mark.parametrize("change", CHANGES)
def test_record_again_is_of_what_is_there_now(skin: Any, change: Any) -> None:
    measure.at_frame(skin, LOOK)
    change(skin)
    scenes.make_active(skin)
    assert bpy.ops.softrig.record() == {"FINISHED"}
    recorded = measure.at_frame(skin, LOOK)
    assert measure.same_bits(recorded, after_prepare_again(skin))


@pytest.mark.parametrize("change", CHANGES)
def test_a_render_right_after_a_change_is_of_what_is_there_now(
    skin: Any, scene: Any, tmp_path: Path, change: Any
) -> None:
    measure.at_frame(skin, 1)
    change(skin)
    rendered = render_one(scene, tmp_path)
    assert measure.same_bits(rendered, after_prepare_again(skin))


def render_one(scene: Any, folder: Path) -> np.ndarray:
    """The skin's points in the evaluation of a background render."""
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.render.filepath = str(folder / "frame")
    scene.camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    seen: list[np.ndarray] = []

    def look(scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == "RENDER" and scene.frame_current == LOOK:
            seen.append(measure.evaluated(bpy.data.objects["Skin"], depsgraph))

    end, step = scene.frame_end, scene.frame_step
    scene.frame_step = LOOK - scene.frame_start
    bpy.app.handlers.frame_change_post.append(look)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(look)
        scene.frame_end, scene.frame_step = end, step
    return seen[0]


def test_a_new_mesh_is_plain_rather_than_torn_until_it_is_prepared(skin: Any, scene: Any) -> None:
    scene.frame_set(LOOK)
    subdivide(skin)
    addon.module("blender.show").show_scene(addon.session(), scene)
    assert measure.same_bits(measure.evaluated(skin), measure.without_us(skin))


def test_leaving_weight_paint_prepares_what_was_painted(skin: Any, scene: Any) -> None:
    measure.at_frame(skin, 1)
    scenes.make_active(skin)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    measure.at_frame(skin, 2)
    prepared = addon.entry_of(skin).fingerprint
    repaint(skin)
    measure.at_frame(skin, 3)
    assert addon.entry_of(skin).fingerprint == prepared, "while painting nothing is prepared"
    bpy.ops.object.mode_set(mode="OBJECT")
    shown = measure.at_frame(skin, LOOK)
    assert addon.entry_of(skin).fingerprint != prepared
    assert measure.same_bits(shown, after_prepare_again(skin))


def test_frames_do_not_read_the_whole_mesh(skin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    measure.at_frame(skin, 1)
    monkeypatch.setattr(addon.module("blender.gather"), "read_shape", forbidden)
    for frame in (3, 4, 22):
        measure.at_frame(skin, frame)


def forbidden(*_: Any) -> None:
    raise AssertionError("the mesh was read for a frame")


def test_the_window_lets_a_dragged_cage_size_rest(skin: Any) -> None:
    measure.at_frame(skin, 1)
    resize_cage(skin)
    addon.module("blender.watch").tick(addon.session())
    assert addon.entry_of(skin).state.phase.name == "LIVE"
