# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects lie on a character while its rig is at rest, however they hang on it.

A follower may be deformed by the rig, parented to a bone, to the skin, or to an empty on a bone,
or be held by constraints. Copies of all of these are linked into a private scene with copies of
the armatures in rest position, and Blender itself says where everything is. Nothing of the
artist's is touched, and all copies are removed before this returns, on every path.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..model.rig import RefusalError
from ..model.session import Session
from ..native.arrays import FloatArray, as_floats
from . import carrier, compat, followed

NAME = "Softrig Rest"


@dataclass(frozen=True)
class Place:
    """Of an object at rest, seen from another."""

    ob: Any
    points: FloatArray | None = None
    """In the space of the other."""
    to_own: FloatArray | None = None
    """From there to its own, 4 x 4, row by row."""
    trouble: str = ""
    """Why there is no such place, in words."""


class RestCopies:
    """Copies that hang on each other as the originals do."""

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.made: dict[Any, Any] = {}
        self.data: list[Any] = []
        self.point = bpy.data.meshes.new(NAME)
        self.point.vertices.add(1)

    def copy_of(self, ob: Any) -> Any:
        if ob not in self.made:
            self._hang(ob, self._make(ob))
        return self.made[ob]

    def probe_of(self, ob: Any) -> Any:
        """With its points and what deforms them."""
        if ob not in self.made:
            probe = followed.make_probe(ob)
            self.made[ob] = probe
            for modifier in probe.modifiers:
                if modifier.type == "ARMATURE" and modifier.object is not None:
                    modifier.object = self.copy_of(modifier.object)
            self._hang(ob, probe)
        return self.made[ob]

    def _make(self, ob: Any) -> Any:
        copied = ob.copy()
        self.made[ob] = copied
        if ob.type == "ARMATURE":
            copied.data = ob.data.copy()
            copied.data.pose_position = "REST"
            self.data.append(copied.data)
        elif ob.type == "MESH":
            copied.data = self.point
            for modifier in list(copied.modifiers):
                carrier.remove_modifier(copied, modifier)
        return copied

    def _hang(self, ob: Any, copied: Any) -> None:
        """The same parent and constraints, on copies."""
        self.scene.collection.objects.link(copied)
        if ob.parent is not None:
            copied.parent = self.copy_of(ob.parent)
            copied.parent_type, copied.parent_bone = ob.parent_type, ob.parent_bone
            copied.matrix_parent_inverse = ob.matrix_parent_inverse.copy()
        for constraint in copied.constraints:
            if getattr(constraint, "target", None) is not None:
                constraint.target = self.copy_of(constraint.target)
            for target in getattr(constraint, "targets", ()):
                if target.target is not None:
                    target.target = self.copy_of(target.target)

    def remove(self) -> None:
        for copied in self.made.values():
            followed.remove_probe(copied)
        for data in self.data:
            bpy.data.armatures.remove(data)
        bpy.data.meshes.remove(self.point)


@contextmanager
def rest_scene(session: Session, scene: Any) -> Iterator[RestCopies]:
    """An empty private scene at the first frame of the artist's; handlers leave it alone."""
    was_recording, session.recording = session.recording, True
    private = bpy.data.scenes.new(NAME)
    copies = RestCopies(private)
    try:
        yield copies
    finally:
        copies.remove()
        compat.remove_scene(private)
        session.recording = was_recording


def matrix_of(depsgraph: Any, ob: Any) -> FloatArray:
    """To the world, row by row, in double."""
    return np.array(ob.evaluated_get(depsgraph).matrix_world, np.float64)


def read_rest(session: Session, scene: Any, ob: Any, others: Sequence[Any]) -> list[Place]:
    """Where each of the others lies on `ob`."""
    with rest_scene(session, scene) as copies:
        skin = copies.copy_of(ob)
        probes = [copies.probe_of(other) for other in others]
        copies.scene.frame_set(scene.frame_start)
        depsgraph = copies.scene.view_layers[0].depsgraph
        world = matrix_of(depsgraph, skin)
        return [
            read_place(depsgraph, world, other, probe)
            for other, probe in zip(others, probes, strict=True)
        ]


def read_place(depsgraph: Any, world: FloatArray, ob: Any, probe: Any) -> Place:
    try:
        points = followed.read_points(depsgraph, probe, len(ob.data.vertices))
        to_own = np.linalg.inv(matrix_of(depsgraph, probe)) @ world
        to_skin = np.linalg.inv(to_own)
    except np.linalg.LinAlgError:
        return Place(ob, trouble="It or its character has a scale of zero.")
    except RefusalError as error:
        return Place(ob, trouble=str(error))
    placed = points.reshape(-1, 3).astype(np.float64) @ to_skin[:3, :3].T + to_skin[:3, 3]
    return Place(ob, as_floats(placed.reshape(-1)), to_own)
