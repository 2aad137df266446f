# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts a figure into the current scene: armature, skin, weights, keys. Runs inside Blender."""

from collections.abc import Iterable, Mapping, Sequence

import bpy
import numpy as np

from . import skeleton

Channel = tuple[str, str, int]
"""Bone (empty: the object itself), property, index."""


def link(obj: bpy.types.Object) -> bpy.types.Object:
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make_active(obj: bpy.types.Object) -> None:
    layer = bpy.context.view_layer
    layer.update()
    for other in layer.objects:
        other.select_set(other == obj)
    layer.objects.active = obj
    layer.update()


def make_armature(name: str, bones: Sequence[skeleton.Bone]) -> bpy.types.Object:
    """An armature of these bones; the one called "root" deforms nothing."""
    armature = link(bpy.data.objects.new(name, bpy.data.armatures.new(name)))
    make_active(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    edit_bones = armature.data.edit_bones
    for bone in bones:
        made = edit_bones.new(bone.name)
        made.head, made.tail = bone.head, bone.tail
        made.align_roll(bone.up)
        made.parent = edit_bones[bone.parent] if bone.parent else None
        made.use_deform = bone.name != "root"
    bpy.ops.object.mode_set(mode="OBJECT")
    for pose_bone in armature.pose.bones:
        pose_bone.rotation_mode = "XYZ"
    armature.data.display_type = "STICK"
    armature.show_in_front = True
    return armature


def make_skin(name: str, points: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
    """A smooth mesh of quads."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.astype(np.int32).ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, 4, dtype=np.int32))
    if bpy.app.version < (4, 1, 0):
        mesh.polygons.foreach_set("loop_total", np.full(len(faces), 4, dtype=np.int32))
    mesh.update(calc_edges=True)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    mesh.validate()
    return link(bpy.data.objects.new(name, mesh))


def paint_weights(skin: bpy.types.Object, weights: Mapping[str, np.ndarray]) -> None:
    """A vertex group for each bone; vertices of one weight go in together."""
    for bone, column in weights.items():
        group = skin.vertex_groups.new(name=bone)
        for index in np.flatnonzero(column):
            group.add([int(index)], float(column[index]), "REPLACE")


def bind(skin: bpy.types.Object, armature: bpy.types.Object) -> None:
    modifier = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature


def curves_of(armature: bpy.types.Object, name: str) -> bpy.types.bpy_prop_collection:
    """The F-curves of a fresh action: layered since 4.4, flat before."""
    action = bpy.data.actions.new(name)
    holder = armature.animation_data_create()
    if not hasattr(action, "layers"):
        holder.action = action
        return action.fcurves
    slot = action.slots.new(id_type="OBJECT", name=armature.name)
    holder.action = action
    holder.action_slot = slot
    strip = action.layers.new("Keys").strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def animate(
    armature: bpy.types.Object, keys: Mapping[Channel, Iterable[tuple[float, float]]]
) -> None:
    """Keys as (frame, value), smooth between; rotations in radians."""
    curves = curves_of(armature, f"{armature.name} motion")
    for (bone, path, index), channel in keys.items():
        where = f'pose.bones["{bone}"].{path}' if bone else path
        curve, flat = curves.new(where, index=index), np.array(list(channel), np.float64)
        curve.keyframe_points.add(len(flat))
        curve.keyframe_points.foreach_set("co", flat.ravel())
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def set_frames(scene: bpy.types.Scene, first: int, last: int, fps: int = 24) -> None:
    scene.render.fps, scene.render.fps_base = fps, 1.0
    scene.frame_start, scene.frame_end = first, last
    scene.frame_set(first)
