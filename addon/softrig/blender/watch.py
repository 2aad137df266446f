# SPDX-License-Identifier: GPL-3.0-or-later
"""Over all characters of the file: who is there, whose turn it is, who is behind."""

import logging
from typing import Any

import bpy

from ..model.lifecycle import Event, Phase
from ..model.schedule import due_events
from ..model.session import Entry, Session
from . import (
    bake_keys,
    carrier,
    compat,
    echoes,
    examine,
    followers,
    kept_dials,
    linked,
    objects,
    owners,
    seen,
    takes,
    tape,
)
from .doubts import compare_shown
from .show import agrees, hide_all, show_scenes
from .stage import (
    advance,
    begin_turn,
    ensure_live,
    happen,
    make_wish,
    notice_edits,
    turn_dials,
)

log = logging.getLogger(__name__)

EXAMINE_SECONDS = 1.0
"""The panel tells of a trap no later than this."""
LOOK_SECONDS = 2.0
"""How long a deleted modifier or object may go unnoticed."""


def look_around(session: Session) -> None:
    """Meets the characters that are in the file now; forgets those that are not.

    One that plays from a bake is left alone until somebody asks for more.
    """
    session.rescan = False
    session.looked_at = session.now()
    seen.forget(session)
    separate_copies(session)
    followers.look_around(session)
    characters = forget_deleted(session)
    for ob in characters:
        scene = objects.scene_of(ob)
        known = ob.softrig.uuid in session.entries or carrier.find_bake(ob) is not None
        if scene is not None and not known:
            entry = session.open_entry(ob.softrig.uuid, ob.name, scene.name)
            happen(session, entry, ob, scene, Event.WANTED)
    note_bake_faults(session, characters)
    note_guests(session)


def separate_copies(session: Session) -> None:
    """What was copied gets an identity and a carrier of its own before anybody writes to it."""
    kept_dials.bring_back()
    bake_keys.show_again()
    everyone = (*objects.all_characters(), *followers.all_followers())
    renewed = [ob for ob in everyone if owners.drop_doubles(ob)]
    objects.separate_duplicates(objects.all_characters(), session.entries)
    followers.separate_duplicates(session, objects.new_uuid)
    renewed += owners.separate(everyone)
    for ob in renewed:
        entry = session.entries.get(ob.softrig.uuid)
        if entry is not None:
            session.dispatch(entry, Event.FRAME_MISSED)


def forget_deleted(session: Session) -> list[Any]:
    """The characters that stay. What still follows a deleted one keeps it in Blender's data."""
    characters = objects.all_characters()
    placed = [ob for ob in characters if seen.is_anywhere(ob)]
    session.forget_missing(ob.softrig.uuid for ob in placed)
    for ob in characters:
        if ob not in placed and carrier.find_bake(ob) is None:
            carrier.clear(ob)
    return placed


def note_bake_faults(session: Session, characters: list[Any]) -> None:
    """For the panel, and for the log of a farm machine that would render the plain pose."""
    faults = {ob.softrig.uuid: takes.find_fault(ob) for ob in characters}
    found = {uuid: fault for uuid, fault in faults.items() if fault}
    for fault in sorted(set(found.values()) - set(session.bake_faults.values())):
        log.warning("the plain pose shows: the bake %s", fault)
    session.bake_faults = found


def note_guests(session: Session) -> None:
    """Characters of other files that stand still here, for the panel and for the log."""
    guests = [ob for ob in linked.list_guests() if seen.is_anywhere(ob)]
    still = linked.find_problems(guests)
    for name, problem in still.items():
        if session.still.get(name) != problem:
            log.warning("%s: %s", name, problem)
    session.still = still


def tick(session: Session) -> None:
    """One turn for every character; called by a timer in the window.

    A render is left alone, unless it waits for us.
    """
    if bpy.app.is_job_running("RENDER") and not session.render_waits:
        return
    begins = session.render_waits and not session.render_met
    if begins or session.rescan or session.now() - session.looked_at > LOOK_SECONDS:
        look_around(session)
    if begins:
        doubt_all(session)
    shown = [window.scene for window in bpy.context.window_manager.windows]
    for entry in list(session.entries.values()):
        if entry.uuid in session.adding.values():
            continue
        ob = objects.find_object(entry)
        scene = objects.scene_to_follow(ob, entry.scene_name, shown) if ob is not None else None
        if scene is None:
            session.rescan = True
        else:
            advance(session, entry, ob, scene)
    session.render_met = session.render_waits
    examine_all(session)


def doubt_all(session: Session) -> None:
    """Something may have changed a moment ago, and Blender tells of it when it draws."""
    for entry in session.entries.values():
        entry.touched_at = session.now()
        if not entry.steps_scene:
            session.dispatch(entry, Event.RIG_CHANGED)


def examine_all(session: Session) -> None:
    """What the panel has to say about each character, those that play from a bake too."""
    if session.now() - session.examined_at < EXAMINE_SECONDS:
        return
    session.examined_at = session.now()
    session.findings.clear()
    for ob in objects.all_characters():
        scene = objects.scene_of(ob)
        if scene is not None:
            examine.examine(session, ob, scene)


def needs_attention(session: Session, scene: Any) -> bool:
    """Something of this scene is not as it should be. No native calls: asked at every frame."""
    last, session.last_scene = session.last_scene, scene.name
    if last != scene.name and any(is_stranger(session, ob) for ob in scene.objects):
        session.rescan = True  # a copied scene: nothing else tells of the copies in it
    if not compat.may_record_in_handler(last, scene):
        return False
    return session.rescan or any(
        _is_behind(session, entry, scene) for entry in session.entries.values()
    )


def _is_behind(session: Session, entry: Entry, scene: Any) -> bool:
    ob = objects.find_object(entry)
    # without its modifier it is no character, and to be forgotten
    if ob is None or not objects.is_character(ob) or objects.is_deleted(ob, scene):
        return True
    if carrier.find_bake(ob) is not None or is_busy(session, entry):
        return False
    if entry.scene_name != scene.name:
        is_here = seen.is_in(ob, scene) and not _plays_elsewhere(entry, scene)
        return is_here and not agrees(entry, ob, scene)
    if carrier.is_lost(ob) and entry.character is not None:
        return True
    if entry.state.stale or entry.state.phase in (Phase.ABSENT, Phase.PREPARING):
        return True
    if entry.touched_at is not None:
        return True
    if objects.mode_of(ob) != entry.mode or followers.changed(session, entry):
        return True
    wish = make_wish(session, entry, ob, scene, at_once=True)
    if wish.groups != entry.groups:
        return True
    due = due_events(entry, wish, session.now())
    shown_later = (Event.FRAME_READY, Event.PROVISIONAL_READY)
    return any(event not in shown_later for event in due)


def _plays_elsewhere(entry: Entry, scene: Any) -> bool:
    """In another scene that a window shows: a script that sets frames here leaves it there."""
    shown = [window.scene.name for window in bpy.context.window_manager.windows]
    is_shown = entry.scene_name != scene.name and entry.scene_name in shown
    return is_shown and not bpy.app.background


def is_busy(session: Session, entry: Entry) -> bool:
    """An operator of ours is at work on it: being added or baked."""
    return entry.uuid in session.adding.values() or entry.bake is not None


def ensure_scene(session: Session, scene: Any, record_again: bool = False) -> None:
    """Everything of this scene prepared, recorded and up to date, however long it takes."""
    session.in_handler = True
    try:
        look_around(session)
        _ensure_entries(session, scene, record_again)
    finally:
        session.in_handler = False


def _ensure_entries(session: Session, scene: Any, record_again: bool) -> None:
    for entry in list(session.entries.values()):
        ob = objects.find_object(entry)
        if ob is None or objects.scene_of(ob, scene.name) != scene or carrier.find_bake(ob):
            continue
        if is_busy(session, entry) or (not record_again and _plays_elsewhere(entry, scene)):
            continue
        if record_again:
            notice_edits(session, entry, ob, scene)
            if bpy.app.background or not entry.steps_scene:
                session.dispatch(entry, Event.RIG_CHANGED)
        if entry.state.phase is not Phase.FAILED and ensure_live(session, entry, ob, scene):
            advance(session, entry, ob, scene, at_once=True)
            if not entry.state.is_refused:
                ensure_live(session, entry, ob, scene)


def compare_scene(session: Session, scene: Any, depsgraph: Any) -> None:
    """The frame is evaluated: does the scene show what was recorded?"""
    for entry in session.entries.values():
        ob = objects.find_object(entry)
        if ob is not None and entry.scene_name == scene.name:
            compare_shown(session, entry, ob, scene, depsgraph)


def rig_changed(session: Session, scene: Any) -> None:
    """Keys, poses or places of objects of this scene changed."""
    for entry in session.entries.values():
        ob = objects.find_object(entry)
        if entry.scene_name == scene.name or (ob is not None and seen.is_in(ob, scene)):
            session.dispatch(entry, Event.RIG_CHANGED)


def data_changed(session: Session, data: Any) -> None:
    """A mesh or an armature: preparing may have read it, or it follows."""
    for entry in session.entries.values():
        ob = objects.find_object(entry)
        if ob is not None and (
            ob.data == data or any(armature.data == data for armature in tape.find_armatures(ob))
        ):
            entry.touched_at = session.now()
        followers.data_changed(session, entry, data)


def dials_turned(session: Session, scene: Any, ob: Any) -> None:
    """Something of this object changed: if it was a dial, the shot follows at once."""
    entry = session.entries.get(ob.softrig.uuid)
    character = _find_live(entry)
    if character is not None and entry.scene_name == scene.name:
        turn_dials(session, entry, character, scene)


def dial_turns(session: Session, uuid: str, at_once: bool) -> None:
    """It has its new value, and Blender has evaluated nothing yet."""
    entry = session.entries.get(uuid)
    character = _find_live(entry)
    scene = bpy.data.scenes.get(entry.scene_name) if character is not None else None
    if scene is None:
        return
    echoes.listen(entry, character, scene)
    if at_once:
        begin_turn(session, entry, character, scene)


def _find_live(entry: Entry | None) -> Any:
    """The object of a character that plays what is simulated, or None."""
    if entry is None or entry.shot is None:
        return None
    character = objects.find_object(entry)
    return character if character is not None and carrier.find_bake(character) is None else None


def is_awaited(session: Session) -> bool:
    """A provisional frame was asked for that is not shown yet."""
    return any(entry.is_awaited for entry in session.entries.values())


def is_stranger(session: Session, ob: Any) -> bool:
    """Carries a uuid that we do not know, or know under another name: loaded, copied, renamed. Or
    the modifiers of another."""
    uuid = ob.softrig.uuid
    if not uuid:
        return is_strange_follower(session, ob)
    entry = session.entries.get(uuid)
    return entry is None or entry.object_name != ob.name or _shares_carrier(session, ob.original)


def _shares_carrier(session: Session, ob: Any) -> bool:
    holder = carrier.find_carrier(ob)
    others = [objects.find_object(entry) for entry in session.entries.values()]
    return holder is not None and any(
        other not in (None, ob) and carrier.find_carrier(other) == holder for other in others
    )


def is_strange_follower(session: Session, ob: Any) -> bool:
    uuid = ob.softrig.follower_uuid
    if not uuid:
        return False
    known = (f for entry in session.entries.values() for f in entry.followers)
    return not any(f.shape.uuid == uuid and f.object_name == ob.name for f in known)


def after_undo(session: Session) -> None:
    """Undo brought back old points of the carriers and perhaps old keys or no character at all.

    What was refused may have been mended by it, and is met anew.
    """
    session.rescan = True
    seen.forget(session)
    forget_deleted(session)
    for entry in list(session.entries.values()):
        entry.mode = "UNDO"  # the next turn reads what may be another mesh or other weights
        session.dispatch(entry, Event.RIG_CHANGED)
        if entry.state.phase is Phase.FAILED:
            session.forget(entry.uuid)
    hide_all()
    show_scenes(session)
