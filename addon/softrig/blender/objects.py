# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds characters by the uuid that they carry, and keeps one uuid from naming two objects."""

import uuid as uuid_module
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..model.controls import Surroundings, is_cut_marker
from ..model.session import Entry, Session, current
from ..model.settings import NO_LOOP
from ..native.inputs import FrameRange
from . import carrier, owners, readers, seen


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


def is_painting(ob: Any, kind: str) -> bool:
    """The brush is on this map."""
    active = ob.vertex_groups.active
    named = active is not None and active.name == getattr(ob.softrig, f"map_{kind}")
    return named and ob.mode == "WEIGHT_PAINT"


def mode_of(ob: Any) -> str:
    """Of the mesh: what one of its users edits, sculpts or paints changes for all of them."""
    if ob.mode != "OBJECT" or ob.data.users == 1:
        return ob.mode
    modes = (user.mode for user in bpy.data.objects if user.data == ob.data)
    return next((mode for mode in modes if mode != "OBJECT"), "OBJECT")


def scene_of(ob: Any, preferred: str = "") -> Any:
    """The scene that the object plays in; None when none shows it."""
    scenes = seen.scenes_with(ob)
    if not scenes or (preferred and all(scene.name != preferred for scene in scenes)):
        scenes = seen.scenes_of(ob)
    return next((scene for scene in scenes if scene.name == preferred), next(iter(scenes), None))


def is_deleted(ob: Any, likely: Any) -> bool:
    """Seen in no scene; what follows it keeps it in Blender's data. Most are in the likely one."""
    return ob.name not in likely.objects and not seen.is_anywhere(ob)


def scene_to_follow(ob: Any, preferred: str, shown: list[Any]) -> Any:
    """Of the scenes that windows show, the one that it played in; else any; else as `scene_of`."""
    if len(bpy.data.scenes) > 1:
        there = [scene for scene in shown if seen.is_in(ob, scene)]
        if there and preferred not in [scene.name for scene in there]:
            return there[0]
    return scene_of(ob, preferred)


def frames_of(scene: Any) -> FrameRange:
    """The scene's range, stretched to hold the preview range too when that is on."""
    first, last = scene.frame_start, max(scene.frame_end, scene.frame_start)
    if scene.use_preview_range:
        first, last = min(first, scene.frame_preview_start), max(last, scene.frame_preview_end)
    count = last - first + 1
    render = scene.render
    stretch = render.frame_map_new / render.frame_map_old
    return FrameRange(first, count, render.fps / render.fps_base, stretch)


def note_saved_frames(session: Session) -> None:
    """A farm renders its share of a file's frames by another range (`-s 21 -e 40`), and each frame
    has to be that of the whole shot.
    """
    scenes = bpy.data.scenes if bpy.app.background and bpy.data.filepath else ()
    session.saved_frames = tuple((s.name, s.frame_start, s.frame_end) for s in scenes)


def _with_saved(frames: FrameRange, scene: Any, loops: bool) -> FrameRange:
    """From the first frame of the scene's file on, where this range is a share of it or goes on
    from it. What loops is the scene's range, but for a share that is rendered.
    """
    session = current()
    if session is None or (loops and not session.rendered):
        return frames
    for name, first, last in session.saved_frames:
        end = max(last, frames.last)
        if name == scene.name and first <= frames.first <= last + 1 and (end == last or not loops):
            return replace(frames, first=first, count=end - first + 1)
    return frames


def shot_frames(ob: Any, scene: Any) -> FrameRange:
    """What the character's shot covers: the scene's range from its start on, and the pre-roll."""
    dials = ob.softrig
    frames = _with_saved(frames_of(scene), scene, dials.loop != NO_LOOP)
    if dials.use_start_frame:
        start = min(dials.start_frame, frames.last)
        frames = replace(frames, first=start, count=frames.last - start + 1)
    if dials.pre_roll_mode == "NONE" or dials.loop != NO_LOOP:
        return frames
    return replace(frames, pre_roll=dials.pre_roll, held=dials.pre_roll_mode == "SETTLE")


def surroundings_of(scene: Any) -> Surroundings:
    cuts = sorted(marker.frame for marker in scene.timeline_markers if is_cut_marker(marker.name))
    if readers.is_gravity_keyed(scene):
        return Surroundings((), tuple(cuts))
    gravity = tuple(scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)
    return Surroundings(gravity, tuple(cuts))


def shown_frame(scene: Any) -> float:
    """The scene's frame with its part: the clock of tape, shot and bake.

    `frame_current_final` is Blender's other clock, the animation's, after Time Remapping. We go
    back from it in float as the Mesh Cache modifier does, so that live and bake round alike.
    """
    render = scene.render
    if render.frame_map_new == render.frame_map_old:
        return scene.frame_current_final
    stretch = np.float32(render.frame_map_new / render.frame_map_old)
    return float(stretch * np.float32(scene.frame_current_final))


def separate_duplicates(characters: list[Any], entries: dict[str, Entry]) -> list[Any]:
    """Copies of a character get a uuid and a carrier of their own; returns those copies."""
    firsts: dict[str, Any] = {}
    copies = []
    for ob in characters:
        uuid = ob.softrig.uuid
        known = entries.get(uuid)
        if uuid in firsts and known is not None and known.object_name == ob.name:
            copies.append(firsts[uuid])
            firsts[uuid] = ob
        elif uuid in firsts:
            copies.append(ob)
        else:
            firsts[uuid] = ob
    for ob in copies:
        ob.softrig.uuid = new_uuid()
        owners.duplicate(ob)
    return copies
