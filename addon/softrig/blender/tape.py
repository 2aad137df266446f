# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the rig's motion through a private scene, so that the artist's frame never moves.

The scene holds one point, the anchor. It copies the skin object's transform and has an armature
modifier for each armature, so Blender evaluates exactly those, whatever else is in the file and
whether they are hidden or not; the heavy skin itself is not evaluated. Armature modifiers wait for
the whole pose only with envelopes on. Everything is removed before this returns, on every path.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..model.rig import Bone, RefusalError, TapePlan
from ..model.session import Session
from ..native.arrays import FloatArray, IntArray

NAME = "Softrig Tape"
_TIME_SETTINGS = ("fps", "fps_base", "frame_map_old", "frame_map_new")


def find_armatures(ob: Any) -> list[Any]:
    """The armature objects of the skin's modifiers, each once, in the order of the stack."""
    found: list[Any] = []
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE" and modifier.object and modifier.object not in found:
            if modifier.object.type == "ARMATURE":
                found.append(modifier.object)
    return found


@contextmanager
def private_scene(session: Session, scene: Any, ob: Any, armatures: Sequence[Any]) -> Iterator[Any]:
    """A scene of our own with the anchor in it; frame handlers leave it alone meanwhile."""
    mesh = anchor = private = None
    session.recording = True
    try:
        private = bpy.data.scenes.new(NAME)
        for name in _TIME_SETTINGS:
            setattr(private.render, name, getattr(scene.render, name))
        mesh = bpy.data.meshes.new(NAME)
        mesh.vertices.add(1)
        anchor = bpy.data.objects.new(NAME, mesh)
        anchor.constraints.new("COPY_TRANSFORMS").target = ob
        for armature in armatures:
            modifier = anchor.modifiers.new(NAME, "ARMATURE")
            modifier.object = armature
            modifier.use_bone_envelopes = True
        private.collection.objects.link(anchor)
        yield private
    finally:
        if anchor is not None:
            bpy.data.objects.remove(anchor)
        if mesh is not None:
            bpy.data.meshes.remove(mesh)
        if private is not None:
            bpy.data.scenes.remove(private)
        session.recording = False


def bone_indices(armatures: Sequence[Any], bones: Sequence[Bone]) -> list[IntArray]:
    """For each armature, where its bones stand in `pose.bones`."""
    indices = []
    for space, armature in enumerate(armatures):
        place = {bone.name: index for index, bone in enumerate(armature.pose.bones)}
        names = [bone.name for bone in bones if bone.space == space]
        missing = [name for name in names if name not in place]
        if missing:
            raise RefusalError(f'The bone "{missing[0]}" is gone. Press Prepare Again.')
        indices.append(np.array([place[name] for name in names], np.int64))
    return indices


def column_major(matrix: Any) -> FloatArray:
    return np.array(matrix.transposed(), np.float32).reshape(-1)


def read_row(
    depsgraph: Any, ob: Any, armatures: Sequence[Any], indices: Sequence[IntArray], row: FloatArray
) -> None:
    """One frame: the object, the armatures, then the bones, as 4 x 4 matrices column by column."""
    row[:16] = column_major(ob.evaluated_get(depsgraph).matrix_world)
    end = 16 * (1 + len(armatures))
    for space, armature in enumerate(armatures):
        evaluated = armature.evaluated_get(depsgraph)
        row[16 * (1 + space) : 16 * (2 + space)] = column_major(evaluated.matrix_world)
        poses = np.empty(16 * len(evaluated.pose.bones), np.float32)
        evaluated.pose.bones.foreach_get("matrix", poses)
        chosen = poses.reshape(-1, 16)[indices[space]].reshape(-1)
        row[end : end + len(chosen)] = chosen
        end += len(chosen)


def record(
    session: Session,
    scene: Any,
    ob: Any,
    plan: TapePlan,
    frames: range,
    seconds: float = float("inf"),
) -> FloatArray:
    """One row a frame: as many frames as fit in the time, at least one."""
    armatures = find_armatures(ob)[: plan.armature_count]
    if len(armatures) < plan.armature_count:
        raise RefusalError("An armature of this character is gone. Press Prepare Again.")
    indices = bone_indices(armatures, plan.bones)
    rows = np.empty((len(frames), plan.floats_per_row), np.float32)
    end = time.monotonic() + seconds
    with private_scene(session, scene, ob, armatures) as private:
        for row, frame in zip(rows, frames, strict=True):
            private.frame_set(frame)
            read_row(private.view_layers[0].depsgraph, ob, armatures, indices, row)
            if time.monotonic() >= end:
                return rows[: frame - frames.start + 1]
    return rows
