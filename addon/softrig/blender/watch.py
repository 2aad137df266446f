# SPDX-License-Identifier: GPL-3.0-or-later
"""Over all characters of the file: who is there, whose turn it is, who is behind."""

from typing import Any

import bpy

from ..model.lifecycle import Event, Phase
from ..model.schedule import due_events
from ..model.session import Entry, Session
from . import carrier, objects
from .show import show_scene
from .stage import advance, ensure_live, happen, make_wish

LOOK_SECONDS = 2.0
"""How long a deleted modifier or object may go unnoticed."""


def look_around(session: Session) -> None:
    """Meets the characters that are in the file now; forgets those that are not.

    One that plays from a bake is left alone until somebody asks for more.
    """
    session.rescan = False
    session.looked_at = session.now()
    characters = objects.all_characters()
    objects.separate_duplicates(characters, session.entries)
    session.forget_missing(ob.softrig.uuid for ob in characters)
    for ob in characters:
        scene = objects.scene_of(ob)
        known = ob.softrig.uuid in session.entries or carrier.find_bake(ob) is not None
        if scene is not None and not known:
            entry = session.open_entry(ob.softrig.uuid, ob.name, scene.name)
            happen(session, entry, ob, scene, Event.WANTED)


def tick(session: Session) -> None:
    """One turn for every character; called by a timer in the window. A render is left alone."""
    if bpy.app.is_job_running("RENDER"):
        return
    if session.rescan or session.now() - session.looked_at > LOOK_SECONDS:
        look_around(session)
    for entry in list(session.entries.values()):
        if entry.uuid in session.adding.values():
            continue
        ob = objects.find_object(entry)
        scene = objects.scene_of(ob, entry.scene_name) if ob is not None else None
        if scene is None:
            session.rescan = True
        else:
            advance(session, entry, ob, scene)


def needs_attention(session: Session, scene: Any) -> bool:
    """Something of this scene is not as it should be. No native calls: asked at every frame."""
    entries = [entry for entry in session.entries.values() if entry.scene_name == scene.name]
    return session.rescan or any(_is_behind(session, entry, scene) for entry in entries)


def _is_behind(session: Session, entry: Entry, scene: Any) -> bool:
    ob = objects.find_object(entry)
    if ob is None:
        return True
    if carrier.find_bake(ob) is not None:
        return False
    if entry.state.stale or entry.state.phase in (Phase.ABSENT, Phase.PREPARING):
        return True
    due = due_events(entry, make_wish(ob, scene), session.now())
    return any(event is not Event.FRAME_READY for event in due)


def ensure_scene(session: Session, scene: Any, record_again: bool = False) -> None:
    """Everything of this scene prepared, recorded and up to date, however long it takes."""
    look_around(session)
    for entry in list(session.entries.values()):
        ob = objects.find_object(entry)
        if ob is None or objects.scene_of(ob, scene.name) != scene or carrier.find_bake(ob):
            continue
        if record_again:
            session.dispatch(entry, Event.RIG_CHANGED)
        if entry.state.phase is not Phase.FAILED and ensure_live(session, entry, ob, scene):
            advance(session, entry, ob, scene)
            ensure_live(session, entry, ob, scene)


def rig_changed(session: Session, scene: Any) -> None:
    """Keys, poses or places of objects of this scene changed."""
    for entry in session.entries.values():
        if entry.scene_name == scene.name:
            session.dispatch(entry, Event.RIG_CHANGED)


def is_stranger(session: Session, ob: Any) -> bool:
    """Carries a uuid that we do not know, or know under another name: loaded, copied, renamed."""
    uuid = ob.softrig.uuid
    entry = session.entries.get(uuid)
    return bool(uuid) and (entry is None or entry.object_name != ob.name)


def after_undo(session: Session, scene: Any) -> None:
    """Undo brought back old points of the carriers and perhaps old keys or no character at all."""
    session.rescan = True
    session.forget_missing(ob.softrig.uuid for ob in objects.all_characters())
    rig_changed(session, scene)
    show_scene(session, scene)
