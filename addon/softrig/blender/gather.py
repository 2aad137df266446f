# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a character: the undeformed skin, its vertex groups, the bones at rest. Writes nothing."""

from typing import Any

import numpy as np

from ..model.maps import Groups, maps_from_groups
from ..model.rig import (
    Character,
    RefusalError,
    Shape,
    SourceBone,
    Spaces,
    TapePlan,
    order_bones,
    spaces_of_row,
    split_words,
    weights_from_groups,
)
from ..model.session import BuildInputs, Entry, Session
from ..model.settings import MESHERS, number_of
from ..native.arrays import FloatArray, IntArray
from . import carrier, compat, followed, skin, tape
from .cage_dials import read_inside
from .properties import read_map_choices


def build_inputs(ob: Any) -> BuildInputs:
    settings, armatures = ob.softrig, tape.list_armature_modifiers(ob)
    count = len(ob.data.vertices)
    detail = read_map_choices(ob).detail
    deformers = followed.list_deformers(ob)
    words = settings.loose_parts
    mesher = number_of(MESHERS, settings.mesher)
    stack = carrier.describe_stack(ob)
    inside = read_inside(ob)
    return BuildInputs(
        count, settings.cage_nodes, words, armatures, deformers, detail, mesher, inside, stack
    )


def check_object(ob: Any) -> None:
    """Refuses what cannot be a character, in words."""
    if ob is None or ob.type != "MESH":
        raise RefusalError("Select the character's mesh first.")
    if ob.mode == "EDIT":
        raise RefusalError("Leave Edit Mode first.")
    if ob.library is not None:
        raise RefusalError(
            "This object is linked from another file. Make it a library override first."
        )
    if not ob.data.vertices or not ob.data.polygons:
        raise RefusalError("This mesh has no faces.")
    carrier.check_stack(ob)


def read_character(session: Session, ob: Any, scene: Any, shape: Shape) -> Character:
    """The shape with what only a recording tells."""
    return make_character(ob, shape, read_spaces(session, ob, scene, shape.armature_count))


def make_character(ob: Any, shape: Shape, spaces: Spaces) -> Character:
    return Character(
        positions=shape.positions,
        triangles=shape.triangles,
        weights=shape.weights,
        bones=shape.bones,
        maps=shape.maps,
        armature_count=shape.armature_count,
        space_to_skin=spaces.to_skin,
        proportions=spaces.proportions,
        target_node_count=ob.softrig.cage_nodes,
        mesher=number_of(MESHERS, ob.softrig.mesher),
        inside=read_inside(ob),
    )


def read_shape(session: Session, ob: Any) -> Shape:
    """What the artist edits, paints and sculpts; a tenth of a second for a heavy mesh."""
    sources = [read_bones(armature) for armature in tape.find_armatures(ob)]
    bones = order_bones(sources, split_words(ob.softrig.loose_parts))
    with skin.rest_mesh(session, ob) as mesh:
        positions, triangles = read_positions(mesh), read_triangles(mesh)
        groups, count = read_groups(ob, mesh), len(mesh.vertices)
    return Shape(
        positions=positions,
        triangles=triangles,
        weights=weights_from_groups(count, groups, bones),
        bones=bones,
        maps=maps_from_groups(count, groups, read_map_choices(ob)),
        armature_count=len(sources) if bones else 0,
    )


def read_spaces(session: Session, ob: Any, scene: Any, armature_count: int) -> Spaces:
    """Of the object and its armatures at the first frame: the same wherever the artist looks."""
    frames = range(scene.frame_start, scene.frame_start + 1)
    row = tape.record(session, scene, ob, TapePlan((), armature_count), frames).rows[0]
    return spaces_of_row(row, armature_count)


def recorded_spaces(session: Session, entry: Entry, ob: Any, scene: Any) -> Spaces:
    """The same, from the tape where that has the first frame."""
    frames, first, count = entry.frames, scene.frame_start, entry.plan.armature_count
    row = first - frames.shot_first
    if 0 <= row < frames.shot_count and frames.to_scene(first) == first:
        return spaces_of_row(entry.rows[row], count)
    return read_spaces(session, ob, scene, count)


def read_positions(mesh: Any) -> FloatArray:
    """Of the Basis, where there are shape keys; what is evaluated has them behind it."""
    if mesh.is_evaluated or mesh.shape_keys is None:
        return compat.read_positions(mesh)
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.shape_keys.reference_key.data.foreach_get("co", positions)
    return positions


def read_triangles(mesh: Any) -> IntArray:
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return triangles


def read_bones(armature: Any) -> list[SourceBone]:
    bones = armature.data.bones
    rests = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", rests)
    return [
        SourceBone(
            name=bone.name,
            parent=bone.parent.name if bone.parent else None,
            deforms=bone.use_deform,
            length=bone.length,
            rest=tuple(rest.tolist()),
        )
        for bone, rest in zip(bones, rests.reshape(-1, 16), strict=True)
    ]


def group_names(ob: Any) -> tuple[str, ...]:
    return tuple(group.name for group in ob.vertex_groups)


def read_groups(ob: Any, mesh: Any) -> Groups:
    """Blender has no bulk read of vertex groups: one flat pass over the vertices."""
    entries = [
        (vertex.index, element.group, element.weight)
        for vertex in mesh.vertices
        for element in vertex.groups
    ]
    table = np.array(entries, np.float64).reshape(-1, 3)
    return Groups(
        vertices=table[:, 0].astype(np.int32),
        groups=table[:, 1].astype(np.int32),
        values=table[:, 2].astype(np.float32),
        names=group_names(ob),
    )
