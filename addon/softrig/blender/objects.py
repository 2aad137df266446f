# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds characters by the uuid that they carry, and keeps one uuid from naming two objects."""

import uuid as uuid_module
from typing import Any

import bpy

from ..model.session import Entry
from ..native.inputs import FrameRange
from . import carrier


def new_uuid() -> str:
    return uuid_module.uuid4().hex


def is_character(ob: Any) -> bool:
    """Ours to move: has an identity, our modifier, and may be written."""
    return bool(ob.softrig.uuid) and ob.library is None and carrier.find_modifier(ob) is not None


def all_characters() -> list[Any]:
    return [ob for ob in bpy.data.objects if ob.type == "MESH" and is_character(ob)]


def find_object(entry: Entry) -> Any:
    """By its last known name, else by looking at all objects; None when it is gone."""
    ob = bpy.data.objects.get(entry.object_name)
    if ob is not None and ob.softrig.uuid == entry.uuid and ob.library is None:
        return ob
    for ob in bpy.data.objects:
        if ob.softrig.uuid == entry.uuid and ob.library is None:
            entry.object_name = ob.name
            return ob
    return None


def scene_of(ob: Any, preferred: str = "") -> Any:
    """The scene that the object plays in; None when it is in none."""
    scenes = ob.users_scene
    for scene in scenes:
        if scene.name == preferred:
            return scene
    return scenes[0] if scenes else None


def frames_of(scene: Any) -> FrameRange:
    count = max(scene.frame_end - scene.frame_start + 1, 1)
    return FrameRange(scene.frame_start, count, scene.render.fps / scene.render.fps_base)


def separate_duplicates(characters: list[Any], entries: dict[str, Entry]) -> list[Any]:
    """Copies of a character get a uuid and a carrier of their own; returns those copies."""
    owners: dict[str, Any] = {}
    copies = []
    for ob in characters:
        uuid = ob.softrig.uuid
        known = entries.get(uuid)
        if uuid in owners and known is not None and known.object_name == ob.name:
            copies.append(owners[uuid])
            owners[uuid] = ob
        elif uuid in owners:
            copies.append(ob)
        else:
            owners[uuid] = ob
    for ob in copies:
        ob.softrig.uuid = new_uuid()
        carrier.duplicate(ob)
    return copies
