# SPDX-License-Identifier: GPL-3.0-or-later
"""From the frame cache onto the carriers: one native call, one bulk copy a character and frame."""

from typing import Any

from ..model.lifecycle import Event
from ..model.session import Entry, Session
from . import carrier, objects

RENDER_WAIT_SECONDS = 600.0
"""For a frame that the worker owes to a render."""


def show_object(
    session: Session, entry: Entry, ob: Any, frame: float, wait_seconds: float = 0.0
) -> None:
    """One native call into the buffer, one copy onto the carrier; nothing while a bake plays."""
    if carrier.find_bake(ob) is not None:
        return
    with entry.lock:
        ready = session.read_offsets(entry, frame, wait_seconds)
        if not carrier.write(ob, entry.buffer):
            carrier.clear(ob)
    if not ready:
        session.dispatch(entry, Event.FRAME_MISSED)


def show_scene(session: Session, scene: Any, wait_seconds: float = 0.0) -> None:
    """The frame that is about to be evaluated, for each character of this scene."""
    for entry in list(session.entries.values()):
        if entry.scene_name != scene.name or entry.shot is None:
            continue
        ob = objects.find_object(entry)
        if ob is not None:
            show_object(session, entry, ob, scene.frame_current_final, wait_seconds)


def hide_all(session: Session) -> None:
    """Zero offsets on all carriers that play live."""
    for entry in session.entries.values():
        ob = objects.find_object(entry)
        if ob is not None and carrier.find_bake(ob) is None:
            carrier.clear(ob)
