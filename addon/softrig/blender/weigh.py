# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what weights are computed from, and writes them into vertex groups."""

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..model.proportions import proportions_of
from ..model.rig import RefusalError
from ..model.weights import (
    Level,
    Mirror,
    RestBone,
    find_sides,
    make_input,
    mirror_mesh,
    move,
    move_bones,
    to_levels,
)
from ..native.weights import WeightsInput
from . import gather, tape
from .cage_dials import read_inside


def check_object(ob: Any) -> None:
    """Refuses what cannot be weighed, in words."""
    if ob is None or ob.type != "MESH":
        raise RefusalError("Select the character's mesh first.")
    if ob.mode == "EDIT":
        raise RefusalError("Leave Edit Mode first.")
    if ob.library is not None or ob.data.library is not None:
        raise RefusalError("This mesh is linked from another file, so no weights can be written.")
    if not ob.data.vertices or not ob.data.polygons:
        raise RefusalError("This mesh has no faces.")


def find_armatures(ob: Any, context: Any) -> list[Any]:
    """Those that deform the mesh; else the one that is selected with it."""
    found = tape.find_armatures(ob)
    selected = [other for other in context.selected_objects if other.type == "ARMATURE"]
    if found or len(selected) == 1:
        return found or selected
    raise RefusalError("No armature. Select the mesh together with its armature, the mesh last.")


def read_bones(ob: Any, armatures: list[Any]) -> list[RestBone]:
    """Deforming bones at rest whose groups are not locked, in the space of the mesh."""
    if abs(ob.matrix_world.determinant()) < 1e-30:
        raise RefusalError("This object has a scale of zero.")
    bones = {}
    for armature in armatures:
        to_skin = ob.matrix_world.inverted() @ armature.matrix_world
        for bone in armature.data.bones:
            if bone.use_deform and not is_locked(ob, bone.name):
                head, tail = to_skin @ bone.head_local, to_skin @ bone.tail_local
                bones.setdefault(bone.name, RestBone(bone.name, tuple(head), tuple(tail)))
    if not bones:
        raise RefusalError(
            "There is no bone to weigh: all are set not to deform, or their groups are locked."
        )
    return list(bones.values())


def is_locked(ob: Any, name: str) -> bool:
    group = ob.vertex_groups.get(name)
    return group is not None and group.lock_weight


def read_mirrors(ob: Any) -> list[Mirror]:
    """What Mirror modifiers reflect at, one a plane.

    Bones of the other side would lie outside of half a mesh, and take hold of where it is cut.
    """
    mirrors = []
    for modifier in ob.modifiers:
        if modifier.type != "MIRROR" or not (modifier.show_viewport or modifier.show_render):
            continue
        space = there = np.identity(4)
        if modifier.mirror_object is not None:
            world = modifier.mirror_object.matrix_world
            space = np.array(ob.matrix_world.inverted_safe() @ world)
            there = np.array(world.inverted_safe() @ ob.matrix_world)
        merge = 2.0 * modifier.merge_threshold if modifier.use_mirror_merge else 0.0
        for axis in np.flatnonzero(modifier.use_axis):
            sides = np.ones(4)
            sides[axis] = -1.0
            # the axis of the mirror object, as it is where the mesh is
            kept = -there[axis] if modifier.use_bisect_flip_axis[axis] else there[axis]
            is_cut = modifier.use_bisect_axis[axis]
            mirrors.append(Mirror(space @ np.diag(sides) @ there, merge, kept if is_cut else None))
    return mirrors


def read_input(ob: Any, bones: list[RestBone], nodes: int, symmetric: bool) -> WeightsInput:
    """Vertices of the mesh, then what Mirror modifiers put beside them; in the shape that is seen,
    where the object's scale is not alike along all axes.
    """
    positions, triangles = gather.read_positions(ob.data), gather.read_triangles(ob.data)
    mirrors = read_mirrors(ob)
    for mirror in mirrors:
        positions, triangles = mirror_mesh(positions, triangles, mirror)
    shape = proportions_of(np.array(ob.matrix_world))
    positions, bones = shape.of_points(positions), move_bones(bones, shape.to_flesh)
    frame, columns = np.identity(4), None
    if symmetric:
        seen = [mirror.seen_as(shape.to_flesh, shape.from_flesh) for mirror in mirrors]
        frame, columns = find_sides(bones, seen, bpy.utils.flip_name)
    bones = move_bones(bones, frame)
    return make_input(move(positions, frame), triangles, bones, columns, nodes, read_inside(ob))


def read_locked(ob: Any, armatures: list[Any]) -> NDArray[np.float64]:
    """The sum of the locked groups of deforming bones, one a vertex."""
    deforming = {b.name for armature in armatures for b in armature.data.bones if b.use_deform}
    groups = gather.read_groups(ob, ob.data)
    is_counted = np.array([n in deforming and is_locked(ob, n) for n in groups.names], bool)
    total = np.zeros(len(ob.data.vertices))
    if len(groups.vertices):
        chosen = is_counted[groups.groups]
        np.add.at(total, groups.vertices[chosen], groups.values[chosen])
    return total


def write_groups(ob: Any, columns: dict[str, list[Level]]) -> None:
    """Replaces what the groups of these names held: all of them, or none if one cannot be."""
    before, count = gather.read_groups(ob, ob.data), len(ob.vertex_groups)
    try:
        for name, levels in columns.items():
            write_group(ob, name, levels)
    except Exception:
        for group in list(ob.vertex_groups)[count:]:
            ob.vertex_groups.remove(group)
        for index, name in enumerate(before.names):
            if name in columns:
                held = before.groups == index
                write_group(ob, name, to_levels(before.vertices[held], before.values[held]))
        raise
    finally:
        ob.data.update()


def write_group(ob: Any, name: str, levels: list[Level]) -> None:
    group = ob.vertex_groups.get(name)
    if group is None:
        group = ob.vertex_groups.new(name=name)
    group.remove(list(range(len(ob.data.vertices))))
    for level in levels:
        group.add(level.vertices, level.value, "REPLACE")


def bind(ob: Any, armatures: list[Any]) -> None:
    """An armature modifier, where nothing deforms the mesh yet."""
    if not tape.find_armatures(ob):
        ob.modifiers.new("Armature", "ARMATURE").object = armatures[0]
