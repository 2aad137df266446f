# SPDX-License-Identifier: GPL-3.0-or-later
"""Followers: mesh objects that the artist lets ride on a character's cage. Who they are, where they
lie, how they move by themselves, and what cannot follow.

Each names its character, so that it has one; whatever happens to either is Blender's own business.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..model.followers import (
    ROW_FLOATS,
    Follower,
    FollowerShape,
    affine_map,
    fit_map,
    make_row,
)
from ..model.proportions import Proportions
from ..model.session import Entry, Session
from ..native.arrays import FloatArray
from . import carrier, followed, owners, rest, seen

log = logging.getLogger(__name__)

MOVED_ALREADY = (
    "SHRINKWRAP SURFACE_DEFORM MESH_DEFORM DATA_TRANSFER ARMATURE LATTICE CURVE HOOK".split()
)
"""Modifiers that may be aimed at the character itself."""


def is_follower(ob: Any) -> bool:
    """Ours to move: was picked, has our modifier, and may be written. Its character may be gone."""
    picked = bool(ob.softrig.follower_uuid) and ob.library is None
    return picked and carrier.find_modifier(ob) is not None


def all_followers() -> list[Any]:
    return [ob for ob in bpy.data.objects if ob.type == "MESH" and is_follower(ob)]


def followers_of(leader: Any) -> list[Any]:
    return [ob for ob in all_followers() if ob.softrig.leader == leader]


def find_object(follower: Follower) -> Any:
    """By its last known name, else by looking at all; None when it is gone."""
    ob = bpy.data.objects.get(follower.object_name)
    if ob is None or ob.softrig.follower_uuid != follower.shape.uuid:
        uuid = follower.shape.uuid
        ob = next((o for o in all_followers() if o.softrig.follower_uuid == uuid), None)
        follower.object_name = ob.name if ob is not None else follower.object_name
    return ob


def problem(ob: Any) -> str:
    """Why it cannot follow, in words; empty when it can."""
    leader = ob.softrig.leader
    if leader is not None and ob.parent == leader and ob.parent_type in ("VERTEX", "VERTEX_3"):
        return "It hangs on vertices of the character, which carry it along already."
    for modifier in carrier.before_ours(ob):
        target = getattr(modifier, "target", None) or getattr(modifier, "object", None)
        if modifier.type in MOVED_ALREADY and target is not None and target == leader:
            return f'Its modifier "{modifier.name}" makes it follow the character already.'
    return carrier.find_problem(ob)


def describe(ob: Any) -> tuple[Any, ...]:
    """Another answer means that it has to be read again."""
    modifiers = tuple((m.name, m.type, m.show_viewport) for m in carrier.before_ours(ob))
    shape = (len(ob.data.vertices), ob.softrig.rigid, problem(ob))
    hangs = (ob.parent.name if ob.parent else "", ob.parent_type, ob.parent_bone)
    leader = ob.softrig.leader.name if ob.softrig.leader is not None else ""
    return (ob.softrig.follower_uuid, leader, ob.mode, *shape, *hangs, modifiers)


def describe_all(session: Session, entry: Entry) -> tuple[Any, ...] | None:
    """Of a character, those of the last look; None while one of them is being edited."""
    names = session.riders.get(entry.uuid, ())
    found = [ob for ob in map(bpy.data.objects.get, names) if ob is not None and is_follower(ob)]
    if any(ob.data.is_editmode for ob in found):
        return None
    return tuple(describe(ob) for ob in found)


def data_changed(session: Session, entry: Entry, data: Any) -> None:
    """A mesh: where one of them has it, they are read again."""
    found = map(bpy.data.objects.get, session.riders.get(entry.uuid, ()))
    if any(ob is not None and ob.data == data for ob in found):
        entry.followed = None


def changed(session: Session, entry: Entry) -> bool:
    """Followers came, went, or are others than those that were read."""
    if entry.shot is None:
        return False
    now = describe_all(session, entry)
    if now is None:
        entry.followed = None  # after editing they are read again in any case
        return False
    return now != entry.followed


def read(session: Session, entry: Entry, leader: Any, scene: Any) -> None:
    """Those that can follow ride on the cage from now on; the others stand still."""
    found = followers_of(leader)
    session.riders[entry.uuid] = tuple(ob.name for ob in found)
    entry.followed = describe_all(session, entry)
    if not found and not entry.followers:
        return
    able = [ob for ob in found if not problem(ob) and not ob.data.is_editmode]
    for ob in able:
        owners.fit(ob, len(ob.data.vertices))
    for ob in found:
        if ob not in able:
            carrier.clear(ob)
    shapes = []
    for place in rest.read_rest(session, scene, leader, able) if able else ():
        if place.trouble:
            log.warning("%s stands still: %s", place.ob.name, place.trouble)
            entry.notice = entry.notice or f'"{place.ob.name}" stands still: {place.trouble}'
            carrier.clear(place.ob)
        else:
            shapes.append(make_shape(place, entry.proportions))
    session.follow(entry, shapes)


def make_shape(place: rest.Place, proportions: Proportions) -> FollowerShape:
    ob = place.ob
    return FollowerShape(
        uuid=ob.softrig.follower_uuid,
        object_name=ob.name,
        rest=proportions.of_points(place.points),
        skin_to_object=proportions.of_map(place.to_own),
        is_rigid=ob.softrig.rigid,
        is_deformed=bool(followed.list_deformers(ob)) or has_armature(ob),
    )


def has_armature(ob: Any) -> bool:
    by_modifier = any(m.type == "ARMATURE" and m.object for m in carrier.before_ours(ob))
    return by_modifier or ob.parent_type == "ARMATURE"


class FollowerTape:
    """The followers of a recording: what they do by themselves, row by row."""

    def __init__(self, followers: Sequence[Follower], count: int) -> None:
        self.followers = [(f, find_object(f)) for f in followers]
        self.rows = [np.empty((count, ROW_FLOATS), np.float32) for _ in followers]
        self.probes: dict[str, Any] = {}
        self.fits: dict[str, FloatArray] = {}

    def read(self, depsgraph: Any, index: int) -> None:
        for (follower, ob), rows in zip(self.followers, self.rows, strict=True):
            shape = follower.shape
            if ob is None:  # deleted meanwhile; the next recording is without it
                rows[index] = make_row(np.eye(4), np.eye(4))
                continue
            to_object, probe = shape.skin_to_object, self.probes.get(shape.uuid)
            if probe is not None:
                points = followed.read_points(depsgraph, probe, shape.point_count)
                to_object = affine_map(self.fits[shape.uuid], points)
            rows[index] = make_row(rest.matrix_of(depsgraph, ob), to_object)

    @contextmanager
    def within(self, private: Any) -> Iterator[None]:
        """In a private scene: anchors let Blender evaluate where they are, not their points.

        Only of a rigid one that is deformed the points are needed.
        """
        made = []
        try:
            for follower, ob in [pair for pair in self.followers if pair[1] is not None]:
                anchor = bpy.data.objects.new(rest.NAME, None)
                made.append(anchor)
                anchor.constraints.new("COPY_TRANSFORMS").target = ob
                private.collection.objects.link(anchor)
                if follower.shape.is_rigid and follower.shape.is_deformed:
                    probe = followed.make_probe(ob)
                    made.append(probe)
                    private.collection.objects.link(probe)
                    self.probes[follower.shape.uuid] = probe
                    self.fits[follower.shape.uuid] = fit_map(follower.shape.rest)
            yield
        finally:
            self.probes.clear()
            for ob in made:
                followed.remove_probe(ob)


def show(session: Session, entry: Entry, frame: float) -> None:
    """What is ready of each onto its carrier; what is not stands still."""
    for follower in entry.followers:
        ob = find_object(follower)
        if ob is None or carrier.find_bake(ob) is not None:
            continue
        session.api.read_follower(follower.identity, frame, follower.buffer)
        if carrier.find_problem(ob) or not carrier.write(ob, follower.buffer):
            carrier.clear(ob)


def show_provisional(session: Session, entry: Entry) -> None:
    for follower in entry.followers:
        ob = find_object(follower)
        if ob is None or carrier.find_bake(ob) is not None or carrier.find_problem(ob):
            continue
        if session.api.read_follower_provisional(follower.identity, entry.asked, follower.buffer):
            carrier.write(ob, follower.buffer)


def clear(leader: Any, but_baked: bool = False) -> None:
    """The plain pose of all of them, or of those that have no bake."""
    for ob in followers_of(leader):
        if not but_baked or carrier.find_bake(ob) is None:
            carrier.clear(ob)


def attach(ob: Any, leader: Any, uuid: str) -> None:
    """All or nothing."""
    carrier.check_stack(ob, follows=True)
    carrier.attach(ob)
    ob.softrig.leader, ob.softrig.follower_uuid = leader, uuid
    owners.own(ob)


def detach(ob: Any) -> None:
    carrier.detach(ob)
    for name in ("leader", "follower_uuid", "rigid"):
        ob.softrig.property_unset(name)


def separate_duplicates(session: Session, new_uuid: Any) -> None:
    """Copies of a follower follow too, each with an identity and a carrier of its own."""
    known = {f.object_name for entry in session.entries.values() for f in entry.followers}
    seen: set[str] = set()
    for ob in sorted(all_followers(), key=lambda ob: ob.name not in known):
        if ob.softrig.follower_uuid in seen:
            ob.softrig.follower_uuid = new_uuid()
            owners.duplicate(ob)
        seen.add(ob.softrig.follower_uuid)


def look_around(session: Session) -> None:
    """Who follows whom now. Those whose character is gone show the plain pose."""
    session.riders.clear()
    for ob in all_followers():
        leader = ob.softrig.leader
        if leader is not None:
            names = session.riders.get(leader.softrig.uuid, ())
            session.riders[leader.softrig.uuid] = (*names, ob.name)
        lost = (
            leader is None or not seen.is_anywhere(leader) or carrier.find_modifier(leader) is None
        )
        if lost and carrier.find_bake(ob) is None:
            carrier.clear(ob)
