# SPDX-License-Identifier: GPL-3.0-or-later
"""Small characters, made in a moment: a capsule on a chain of bones that rushes and stops."""

import math
from typing import Any

import bmesh
import bpy

BONES = ("root", "spine", "tail1", "tail2")
LAST_FRAME = 40
STOP_FRAME = 20


def start_empty() -> Any:
    """An empty file of factory defaults; preferences and add-ons stay as they are."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST_FRAME
    scene.render.fps, scene.render.fps_base = 24, 1.0
    return scene


def link(ob: Any) -> Any:
    bpy.context.scene.collection.objects.link(ob)
    return ob


def make_active(ob: Any) -> None:
    layer = bpy.context.view_layer
    layer.update()
    for other in layer.objects:
        other.select_set(other == ob)
    layer.objects.active = ob
    layer.update()


def make_armature(name: str = "Rig", bones: tuple[str, ...] = BONES) -> Any:
    """A chain along z, each bone one metre, with a bone between that does not deform."""
    armature = link(bpy.data.objects.new(name, bpy.data.armatures.new(name)))
    make_active(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    edit_bones, parent = armature.data.edit_bones, None
    for index, bone_name in enumerate(bones):
        bone = edit_bones.new(bone_name)
        bone.head, bone.tail, bone.parent = (0, 0, index - 1.0), (0, 0, index * 1.0), parent
        parent = bone
        if index == 1:
            parent = edit_bones.new("control")
            parent.head, parent.tail, parent.parent = (0, 0, 1), (0.3, 0, 1), bone
            parent.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def make_skin(name: str = "Skin", segments: int = 16) -> Any:
    mesh = bpy.data.meshes.new(name)
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=segments, v_segments=segments, radius=1.0)
    for vertex in shape.verts:
        vertex.co.x *= 0.6
        vertex.co.y *= 0.6
        vertex.co.z = 2.0 * vertex.co.z + 1.0
    # from one time to the next bmesh makes the faces in another order
    points = [tuple(vertex.co) for vertex in shape.verts]
    faces = [[vertex.index for vertex in face.verts] for face in shape.faces]
    shape.free()
    turned = [face[face.index(min(face)) :] + face[: face.index(min(face))] for face in faces]
    mesh.from_pydata(points, [], sorted(turned))
    return link(bpy.data.objects.new(name, mesh))


def weigh(skin: Any, bones: tuple[str, ...] = BONES) -> None:
    for index, name in enumerate(bones):
        group = skin.vertex_groups.new(name=name)
        for vertex in skin.data.vertices:
            weight = 1.0 - abs(vertex.co.z - (index - 0.5))
            if weight > 0.0:
                group.add([vertex.index], weight, "REPLACE")


def rush(ob: Any, distance: float = 4.0) -> None:
    """Stands, runs along x, stops suddenly at STOP_FRAME."""
    for frame, place in ((1, 0.0), (8, 0.0), (STOP_FRAME, distance)):
        ob.location = (place, 0.0, 0.0)
        ob.keyframe_insert("location", frame=frame)


def make_character(name: str = "Skin", moves: bool = True) -> tuple[Any, Any]:
    """A skin under an armature, both in the scene, the skin active."""
    armature = make_armature(f"{name} Rig")
    skin = make_skin(name)
    skin.parent = armature
    weigh(skin)
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    if moves:
        rush(armature)
        turn(armature, "spine")
    bpy.context.scene.frame_set(1)
    make_active(skin)
    return skin, armature


def turn(armature: Any, bone_name: str) -> None:
    bone = armature.pose.bones[bone_name]
    bone.rotation_mode = "XYZ"
    for frame in (1, 12, 25):
        bone.rotation_euler = (math.sin(frame), 0.2 * math.cos(frame), 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)


def add_softrig(skin: Any) -> None:
    make_active(skin)
    assert bpy.ops.softrig.add() == {"FINISHED"}
