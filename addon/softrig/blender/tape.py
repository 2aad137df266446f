# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the rig's motion through a private scene, so that the artist's frame never moves.

The scene holds one point, the anchor. It copies the skin object's transform and has an armature
modifier for each armature, so Blender evaluates exactly those, whatever else is in the file and
whether they are hidden or not; the heavy skin itself is not evaluated. Armature modifiers wait for
the whole pose only with envelopes on. Everything is removed before this returns, on every path.

A rig that reads the scene itself (readers.py) can only be recorded by stepping that scene.

Beside the rig goes what the artist keys on the character: the dials. Blender evaluates those of
what is in the scene, so a twin of the skin object is, with its keys and without its vertices.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..model.controls import DIAL_COUNT, SCENE_GRAVITY
from ..model.followers import Follower
from ..model.rig import Bone, LostBoneError, RefusalError, TapePlan
from ..model.session import Session
from ..native.arrays import FloatArray, IntArray
from . import carrier, compat, followed, readers
from .followers import FollowerTape

NAME = "Softrig Tape"
_TIME_SETTINGS = ("fps", "fps_base", "frame_map_old", "frame_map_new")


@dataclass(frozen=True)
class Recording:
    """A row a frame: matrices of the rig, and the dials that the artist keys."""

    rows: FloatArray
    dials: FloatArray
    skins: FloatArray | None = None
    """Where the skin is, where something else than bones moves it."""
    followers: tuple[FloatArray, ...] = ()
    """Rows of each follower."""
    movers: FloatArray | None = None
    """Where what deforms the skin stands, beside `skins`."""

    def first(self, count: int) -> "Recording":
        skins = self.skins[:count] if self.skins is not None else None
        followers = tuple(rows[:count] for rows in self.followers)
        movers = self.movers[:count] if self.movers is not None else None
        return Recording(self.rows[:count], self.dials[:count], skins, followers, movers)


def find_armatures(ob: Any) -> list[Any]:
    """The armature objects that deform the skin, each once, in the order of the stack.

    A parent of the type "Armature" deforms before all modifiers.
    """
    chosen = [m.object for m in ob.modifiers if m.type == "ARMATURE" and carrier.is_on(m)]
    if ob.parent_type == "ARMATURE":
        chosen.insert(0, ob.parent)
    found: list[Any] = []
    for armature in chosen:
        if armature is not None and armature.type == "ARMATURE" and armature not in found:
            found.append(armature)
    return found


def find_unposed(ob: Any) -> str:
    """A sentence where one of its rigs is in Edit Mode, or one that those depend on."""
    return readers.find_unposed(ob, find_armatures(ob))


def list_armature_modifiers(ob: Any) -> tuple[tuple[str, bool], ...]:
    """What tells that another set of armatures deforms the skin; a deleted armature does not."""
    found = [(m.name, carrier.is_on(m)) for m in ob.modifiers if m.type == "ARMATURE"]
    return (("", ob.parent_type == "ARMATURE"), *found)


@contextmanager
def private_scene(
    session: Session, scene: Any, ob: Any, armatures: Sequence[Any]
) -> Iterator[tuple[Any, Any]]:
    """A scene of our own with the anchor in it, and the object that has the dials there.

    Frame handlers leave it alone meanwhile.
    """
    mesh = anchor = twin = private = None
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
        if ob.animation_data is not None:
            twin = _make_twin(ob, mesh)
            private.collection.objects.link(twin)
        yield private, twin or ob
    finally:
        for made in (twin, anchor):
            if made is not None:
                bpy.data.objects.remove(made)
        if mesh is not None:
            bpy.data.meshes.remove(mesh)
        if private is not None:
            compat.remove_scene(private)
        session.recording = False


def _make_twin(ob: Any, mesh: Any) -> Any:
    """Carries the same keys, drivers and strips as the skin, and nothing that is heavy.

    Blender evaluates the dials of what is in the scene. A driver that reads them from the skin
    would do too, but makes it evaluate the whole skin: 5 ms a frame for 45,000 vertices.
    """
    twin = ob.copy()
    twin.name = NAME
    twin.data = mesh
    for modifier in list(twin.modifiers):
        carrier.remove_modifier(twin, modifier)
    return twin


def bone_indices(armatures: Sequence[Any], bones: Sequence[Bone]) -> list[IntArray]:
    """For each armature, where its bones stand in `pose.bones`."""
    indices = []
    for space, armature in enumerate(armatures):
        place = {bone.name: index for index, bone in enumerate(armature.pose.bones)}
        names = [bone.name for bone in bones if bone.space == space]
        missing = [name for name in names if name not in place]
        if missing:
            raise LostBoneError(f'The bone "{missing[0]}" is gone. Press Prepare Again.')
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


def read_dials(depsgraph: Any, ob: Any, scene: Any, row: FloatArray) -> None:
    """One frame: the dials in the order of the model's columns, then the scene's gravity."""
    dials = ob.evaluated_get(depsgraph).softrig
    row[0], row[1] = dials.gravity_factor, dials.wind_speed
    row[2:5] = dials.wind_direction
    row[5:7] = dials.wind_gusts, dials.travel_felt
    row[7:9] = dials.pressure, float(dials.cut)
    row[SCENE_GRAVITY] = scene.gravity if scene.use_gravity else 0.0


def find_parts(ob: Any, plan: TapePlan) -> tuple[list[Any], list[IntArray]]:
    """The armatures of the plan and where its bones stand in them; refuses when some are gone."""
    armatures = find_armatures(ob)[: plan.armature_count]
    if len(armatures) < plan.armature_count:
        raise RefusalError("An armature of this character is gone. Press Prepare Again.")
    return armatures, bone_indices(armatures, plan.bones)


def record(
    session: Session,
    scene: Any,
    ob: Any,
    plan: TapePlan,
    frames: Sequence[int],
    seconds: float = float("inf"),
    skin_points: int = 0,
    followers: Sequence[Follower] = (),
) -> Recording:
    """One row a frame: as many frames as fit in the time, at least one.

    With a number of points, where the skin is too, which must have as many.
    """
    armatures, indices = find_parts(ob, plan)
    recording = _make_recording(plan, len(frames))
    end, skin = time.monotonic() + seconds, SkinTape(ob, skin_points)
    riders = FollowerTape(followers, len(frames))
    with (
        private_scene(session, scene, ob, armatures) as (private, holder),
        skin.within(private),
        riders.within(private),
    ):
        for index, frame in enumerate(frames):
            private.frame_set(frame)
            depsgraph = private.view_layers[0].depsgraph
            read_row(depsgraph, ob, armatures, indices, recording.rows[index])
            read_dials(depsgraph, holder, scene, recording.dials[index])
            skin.read(depsgraph)
            riders.read(depsgraph, index)
            if time.monotonic() >= end:
                break
    return _complete(recording, skin, riders, index + 1 if frames else 0)


class SkinTape:
    """The skin of a recording, where something else than bones moves it; else nothing."""

    def __init__(self, ob: Any, point_count: int) -> None:
        self.ob, self.point_count, self.probe = ob, point_count, None
        self.movers = followed.list_movers(ob) if point_count > 0 else []
        self.points: list[FloatArray] = []
        self.places: list[FloatArray] = []

    @contextmanager
    def within(self, scene: Any) -> Iterator[None]:
        """The skin with its deformers, in the scene that is stepped."""
        try:
            if self.point_count > 0:
                self.probe = followed.make_probe(self.ob)
                scene.collection.objects.link(self.probe)
            yield
        finally:
            if self.probe is not None:
                followed.remove_probe(self.probe)
            self.probe = None

    def read(self, depsgraph: Any) -> None:
        if self.probe is not None:
            self.points.append(followed.read_points(depsgraph, self.probe, self.point_count))
            self.places.append(followed.read_movers(depsgraph, self.ob, self.movers))


def _make_recording(plan: TapePlan, count: int) -> Recording:
    rows = np.empty((count, plan.floats_per_row), np.float32)
    return Recording(rows, np.empty((count, DIAL_COUNT), np.float32))


def _complete(recording: Recording, skin: SkinTape, riders: FollowerTape, count: int) -> Recording:
    """With what was read beside the rig, as far as it went."""
    whole = replace(recording, followers=tuple(riders.rows))
    if skin.point_count > 0:
        points, places = (np.array(part, np.float32) for part in (skin.points, skin.places))
        whole = replace(whole, skins=points, movers=places)
    return whole.first(count)


@contextmanager
def stepped_scene(session: Session, scene: Any) -> Iterator[Any]:
    """The artist's own scene, whose frame is put back; our frame handlers leave it alone."""
    if session.in_handler:
        raise RefusalError("This rig reads the scene. Press Record Again, or bake it.")
    frame, subframe = scene.frame_current, scene.frame_subframe
    session.recording = True
    try:
        yield scene
    finally:
        scene.frame_set(frame, subframe=subframe)
        session.recording = False


def record_stepping(
    session: Session,
    scene: Any,
    ob: Any,
    plan: TapePlan,
    frames: Sequence[int],
    seconds: float = float("inf"),
    skin_points: int = 0,
    followers: Sequence[Follower] = (),
) -> Recording:
    """As `record`, for a rig that reads the scene: as slow as playing it, but right."""
    armatures, indices = find_parts(ob, plan)
    recording = _make_recording(plan, len(frames))
    end, skin = time.monotonic() + seconds, SkinTape(ob, skin_points)
    riders = FollowerTape(followers, len(frames))
    with (
        stepped_scene(session, scene),
        skin.within(scene),
        riders.within(scene),
    ):
        for index, frame in enumerate(frames):
            scene.frame_set(frame)
            depsgraph = find_depsgraph(scene, [ob, *armatures])
            if depsgraph is None:
                text = "This rig reads the scene, which does not evaluate it: show it to record it."
                raise RefusalError(text)
            read_row(depsgraph, ob, armatures, indices, recording.rows[index])
            read_dials(depsgraph, ob, scene, recording.dials[index])
            skin.read(depsgraph)
            riders.read(depsgraph, index)
            if time.monotonic() >= end:
                break
    return _complete(recording, skin, riders, index + 1 if frames else 0)


def find_depsgraph(scene: Any, objects: Sequence[Any]) -> Any:
    """Of a view layer of the scene that evaluates all these objects; None when none does."""
    for layer in scene.view_layers:
        if layer.depsgraph is not None and is_evaluated(layer.depsgraph, objects):
            return layer.depsgraph
    return None


def is_evaluated(depsgraph: Any, objects: Sequence[Any]) -> bool:
    return all(ob.evaluated_get(depsgraph).is_evaluated for ob in objects)


def read_shown(depsgraph: Any, ob: Any, plan: TapePlan) -> FloatArray | None:
    """The row that an evaluation shows now, without stepping anything; None if it is hidden."""
    armatures, indices = find_parts(ob, plan)
    if depsgraph is None or not is_evaluated(depsgraph, [ob, *armatures]):
        return None
    row = np.empty(plan.floats_per_row, np.float32)
    read_row(depsgraph, ob, armatures, indices, row)
    return row
