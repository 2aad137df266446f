# SPDX-License-Identifier: GPL-3.0-or-later
"""From the frame cache onto the carriers: one native call, one bulk copy a character and frame."""

from typing import Any

import bpy

from ..model.lifecycle import Event
from ..model.session import Entry, Session
from . import carrier, followers, objects, seen

RENDER_WAIT_SECONDS = 600.0
"""For a frame that the worker owes to a render."""


def show_object(
    session: Session, entry: Entry, ob: Any, frame: float, wait_seconds: float = 0.0
) -> None:
    """One native call into the buffer, one copy onto the carrier; nothing while a bake plays."""
    if carrier.find_bake(ob) is not None:
        return
    entry.blocked = carrier.find_problem(ob)
    if entry.blocked:
        clear(ob)
        return
    entry.provisional = None
    if entry.frames is not None and entry.frames.pre_roll:
        # as a bake plays it: a run-in is nobody's to see
        frame = max(frame, entry.frames.first)
    with entry.lock:
        ready = session.read_offsets(entry, frame, wait_seconds)
        if not carrier.write(ob, entry.buffer):
            carrier.clear(ob)
        followers.show(session, entry, frame)
    if not ready:
        session.dispatch(entry, Event.FRAME_MISSED)


def show_provisional(session: Session, entry: Entry, ob: Any) -> None:
    """About what the frame will be, until it is ready: the panel says so."""
    if carrier.find_bake(ob) is not None or entry.blocked:
        return
    with entry.lock:
        if session.read_provisional(entry) and carrier.write(ob, entry.buffer):
            entry.provisional = entry.asked
            followers.show_provisional(session, entry)


def clear(ob: Any) -> None:
    """The plain pose of a character and of what follows it."""
    carrier.clear(ob)
    followers.clear(ob)


def show_scene(session: Session, scene: Any, wait_seconds: float = 0.0) -> None:
    """The frame that is about to be evaluated, for each character of this scene."""
    for entry in list(session.entries.values()):
        ob = objects.find_object(entry) if entry.shot is not None else None
        if ob is None:
            continue
        if agrees(entry, ob, scene):
            entry.elsewhere = ""
            show_object(session, entry, ob, objects.shown_frame(scene), wait_seconds)
        elif seen.is_in(ob, scene) and carrier.find_bake(ob) is None:
            entry.elsewhere = (
                f'This character plays in the scene "{entry.scene_name}", which has other frames. '
                f'In "{scene.name}" it stands still while both are shown; a bake moves in both.'
            )
            clear(ob)


def show_scenes(session: Session) -> None:
    """After all carriers changed at once. What is seen comes last: where two scenes want different
    things of one character, that counts."""
    shown = [window.scene for window in bpy.context.window_manager.windows]
    shown.append(bpy.context.scene)
    for scene in sorted(bpy.data.scenes, key=lambda scene: scene in shown):
        show_scene(session, scene)


def agrees(entry: Entry, ob: Any, scene: Any) -> bool:
    """The scene is the entry's own, or shows the same object over the same frames."""
    if entry.scene_name == scene.name:
        return True
    same = entry.frames == objects.shot_frames(ob, scene) and not entry.steps_scene
    return same and seen.is_in(ob, scene)


def hide_all() -> None:
    """Zero offsets on all carriers: what is saved now must not hold those of one frame."""
    for ob in (*objects.all_characters(), *followers.all_followers()):
        carrier.clear(ob)
