# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out for one character what the model decides, on Blender's data."""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import bpy

from ..model.lifecycle import Effect, Event, Phase
from ..model.rig import LostBoneError, NotNowError, RefusalError
from ..model.schedule import (
    Wish,
    awaits_answer,
    due_events,
    look_due,
    provisional_due,
    record_due,
)
from ..model.session import Entry, Session
from ..native.errors import NativeError
from . import carrier, doubts, echoes, followers, gather, objects, owners, prepared, readers, tape
from .properties import read_map_choices
from .show import show_object, show_provisional
from .wishes import animation_of, make_wish, settings_of

log = logging.getLogger(__name__)

CHUNK_SECONDS = 0.1
"""The window is not held up for longer than this by recording."""
STEP_SECONDS = 0.5
"""Likewise where the whole scene is stepped, which the artist asked for."""
ANSWER_SECONDS = 0.2
"""Nor for longer than this by a provisional frame."""


def happen(
    session: Session, entry: Entry, ob: Any, scene: Any, event: Event, text: str = ""
) -> None:
    """Hands an event in and carries out its effects; what goes wrong becomes a FAILED."""
    _perform(session, entry, ob, scene, session.dispatch(entry, event, text))


def _perform(
    session: Session, entry: Entry, ob: Any, scene: Any, effects: Iterable[Effect]
) -> None:
    try:
        for effect in effects:
            _EFFECTS[effect](session, entry, ob, scene)
    except (RefusalError, NativeError) as error:
        fail(session, entry, ob, scene, error)


def fail(session: Session, entry: Entry, ob: Any, scene: Any, error: Exception) -> None:
    """The plain pose and a sentence; some obstacles go by themselves.

    A bone that was renamed or deleted since it was prepared is none, unless it is lost again.
    """
    if isinstance(error, LostBoneError) and not entry.lost_bone:
        entry.is_changed = entry.lost_bone = True
        happen(session, entry, ob, scene, Event.WANTED)
        return
    log.warning("%s: %s", entry.object_name, error)
    event = Event.POSTPONED if isinstance(error, NotNowError) else Event.FAILED
    for effect in session.dispatch(entry, event, str(error)):
        _EFFECTS[effect](session, entry, ob, scene)


def _prepare(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    if ob.data.is_editmode:
        raise NotNowError("Leave Edit Mode first.")
    gather.check_object(ob)
    if carrier.is_lost(ob) and not entry.wants_anew:
        raise RefusalError(carrier.LOST)
    note_look(entry, ob)
    entry.build, shape = gather.build_inputs(ob), gather.read_shape(session, ob)
    owners.fit(ob, shape.vertex_count)
    entry.maps = read_map_choices(ob).without_detail()
    spaces = gather.read_spaces(session, ob, scene, shape.armature_count)
    if entry.wants_anew or not prepared.open_kept(session, entry, ob, shape, entry.build, spaces):
        character = gather.make_character(ob, shape, spaces)
        session.start_preparing(entry, character, entry.build)


def _open_shot(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.scene_name = scene.name
    entry.refused = settings_of(entry, ob)
    session.open_shot(entry, objects.shot_frames(ob, scene), entry.refused)
    entry.refused = None
    if entry.build.deformers:
        session.follow_skin(entry, entry.rest)


def _record(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.recorded_until = 0
    entry.surroundings, entry.stance = objects.surroundings_of(scene), echoes.stance(ob)
    entry.animation = animation_of(ob)
    armatures = tape.find_armatures(ob)
    known = ob.softrig.step_scene or entry.suspected or not entry.surroundings.gravity
    entry.steps_scene = known or readers.reads_scene(ob, armatures)
    entry.notice, entry.doubtful = doubts.STEPS if entry.steps_scene else "", False
    followers.read(session, entry, ob, scene)
    if waits_for_artist(session, entry):
        doubts.ask(entry)


def _record_again(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """The old tape goes on where only the artist may have a new one made."""
    if waits_for_artist(session, entry):
        doubts.ask(entry)
        return
    _perform(session, entry, ob, scene, session.record_again(entry))


def waits_for_artist(session: Session, entry: Entry) -> bool:
    """Stepping the scene would lose a pose without keys, and hang a handler of Blender's."""
    asked = bpy.app.background or entry.may_step
    return entry.steps_scene and (session.in_handler or not asked)


def _set_params(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.refused = settings_of(entry, ob)
    session.set_params(entry, entry.refused)
    entry.refused = None


def _set_maps(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.maps = read_map_choices(ob).without_detail()
    if session.set_maps(entry, gather.read_shape(session, ob)):
        prepared.keep(session, entry, ob)
        session.refresh(entry)


def _show(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    show_object(session, entry, ob, objects.shown_frame(scene))
    session.wants_drawing = True


def _show_provisional(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    show_provisional(session, entry, ob)
    session.wants_drawing = True


def _destroy(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    session.release(entry)
    carrier.clear(ob)
    followers.clear(ob)
    session.wants_drawing = True


_EFFECTS: dict[Effect, Callable[[Session, Entry, Any, Any], None]] = {
    Effect.PREPARE: _prepare,
    Effect.OPEN_SHOT: _open_shot,
    Effect.RECORD: _record,
    Effect.SET_PARAMS: _set_params,
    Effect.SET_MAPS: _set_maps,
    Effect.SHOW: _show,
    Effect.SHOW_PROVISIONAL: _show_provisional,
    Effect.DESTROY: _destroy,
}


def advance(session: Session, entry: Entry, ob: Any, scene: Any, at_once: bool = False) -> None:
    """One turn: what has finished, what is due, a piece of what is under way."""
    follow(session, entry, scene)
    try:
        _notice_mode(session, entry, ob, scene)
        wish = make_wish(session, entry, ob, scene, at_once or session.render_waits)
        if look_due(entry, wish, session.now()):
            notice_edits(session, entry, ob, scene)
        if carrier.is_lost(ob) and entry.character is not None:
            raise RefusalError(carrier.LOST)
        _poll(session, entry, ob, scene)
        events = due_events(entry, wish, session.now())
        for event in events:
            happen(session, entry, ob, scene, event)
        _ask_provisional(session, entry, wish)
        if Event.SETTINGS_CHANGED in events:
            _await_answer(session, entry, ob, scene)
        if not entry.state.stale and followers.changed(session, entry):
            session.dispatch(entry, Event.RIG_CHANGED)
        if record_due(entry, wish, session.now()):
            _record_again(session, entry, ob, scene)
        waits = wish.rendering or waits_for_artist(session, entry)
        if entry.state.phase is Phase.RECORDING and not waits:
            _record_chunk(session, entry, ob, scene)
        if carrier.find_problem(ob) != entry.blocked and not wish.rendering:
            _show(session, entry, ob, scene)
    except (RefusalError, NativeError) as error:
        fail(session, entry, ob, scene, error)


def _ask_provisional(session: Session, entry: Entry, wish: Wish) -> None:
    """Somebody looks at a frame that will take a while; scripts and renders wait for it."""
    frame = None if wish.at_once else provisional_due(entry, wish)
    if frame is not None:
        session.ask_provisional(entry, frame)


def turn_dials(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """The artist has just turned one: what of it needs no rest is done at once.

    Blender draws when this returns: a provisional frame that comes soon is in that picture.
    """
    if _hand_in_dials(session, entry, ob, scene) or entry.is_begun:
        entry.is_begun = False
        _await_answer(session, entry, ob, scene)


def begin_turn(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """A dial is being turned: the library works while Blender evaluates what that means to it.

    The first of several dials only: each other would begin that work anew.
    """
    if not entry.state.owed and not entry.state.stale:
        entry.is_begun = _hand_in_dials(session, entry, ob, scene)


def _hand_in_dials(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """Whether there was anything to hand in, at this moment."""
    wish = make_wish(session, entry, ob, scene)
    if entry.state.phase is not Phase.LIVE or entry.bake is not None or wish.rendering:
        return False
    if wish.settings == entry.settings or awaits_answer(entry, wish, session.now()):
        return False
    happen(session, entry, ob, scene, Event.SETTINGS_CHANGED)
    _ask_provisional(session, entry, wish)
    return True


def _await_answer(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """See decision 38."""
    answer = session.await_answer(entry, ANSWER_SECONDS) if entry.is_awaited else None
    if answer is not None:
        happen(session, entry, ob, scene, answer)


def follow(session: Session, entry: Entry, scene: Any) -> None:
    """Another scene may move the rig in another way."""
    if entry.scene_name != scene.name:
        entry.scene_name = scene.name
        session.dispatch(entry, Event.RIG_CHANGED)


def _notice_mode(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """What was edited, sculpted or painted is read when the artist leaves the mode."""
    left, entry.mode = entry.mode, objects.mode_of(ob)
    if left not in ("OBJECT", entry.mode):
        notice_edits(session, entry, ob, scene)


def notice_edits(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """Prepares anew if the points, faces, weights or bones are not those that were prepared.

    Reads them all: not for every frame. A lost armature is left to recording to tell.
    """
    if ob.data.is_editmode:
        return
    note_look(entry, ob)
    if entry.character is None or entry.plan is None:
        return
    if len(tape.find_armatures(ob)) < entry.plan.armature_count:
        return
    shape = gather.read_shape(session, ob)
    if shape.fingerprint() != entry.fingerprint:
        entry.is_changed = True
        happen(session, entry, ob, scene, Event.WANTED)
        return
    if not carrier.fits(ob, shape.vertex_count):  # undo brought back that of an earlier mesh
        owners.fit(ob, shape.vertex_count)
        session.dispatch(entry, Event.FRAME_MISSED)
    if shape.maps_fingerprint() != entry.maps_fingerprint:
        happen(session, entry, ob, scene, Event.MAPS_CHANGED)


def note_look(entry: Entry, ob: Any) -> None:
    """What changes from now on is another change."""
    entry.touched_at, entry.groups = None, gather.group_names(ob)


def _poll(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    if entry.state.phase is Phase.PREPARING and entry.character is not None:
        come = session.poll_preparing(entry)
        if come is not None and come[0] is Event.PREPARED and not entry.is_kept:
            prepared.keep(session, entry, ob)
        if come is not None:
            entry.is_changed = False
            happen(session, entry, ob, scene, *come)
    elif entry.shot is not None:
        session.refresh(entry)


def _record_chunk(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    frames = entry.scene_frames(entry.recorded_until)
    record, seconds = tape.record, CHUNK_SECONDS
    if entry.steps_scene:
        record, seconds = tape.record_stepping, STEP_SECONDS
    recording = record(
        session, scene, ob, entry.plan, frames, seconds, entry.skin_points, entry.followers
    )
    session.write_followers(entry, recording.followers)
    doubts.keep(entry, recording)
    missing = session.write_rows(entry, recording.rows, recording.dials, recording.skins)
    if settings_of(entry, ob) != entry.settings:
        happen(session, entry, ob, scene, Event.SETTINGS_CHANGED)
    if missing > 0:
        return
    if not entry.steps_scene:
        doubts.look(session, entry, ob, scene)
    if is_misplaced(session, entry, ob, scene):
        entry.is_changed = True
        happen(session, entry, ob, scene, Event.WANTED)
        return
    entry.may_step = entry.lost_bone = False
    session.name_motion(entry)
    session.refresh(entry)  # a render's thread looks at both
    happen(session, entry, ob, scene, Event.RECORDED)


def is_misplaced(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """It was prepared with its armatures elsewhere in relation to the skin, or stretched otherwise.

    A rig that never stands at the same place twice is prepared once.
    """
    spaces = gather.recorded_spaces(session, entry, ob, scene)
    known = not entry.steps_scene and entry.spaces is not None
    moved = known and not spaces.are(entry.spaces)
    moved = moved or not spaces.proportions.are(entry.proportions)
    again, entry.is_misplaced = entry.is_misplaced, moved
    if known and moved and again:
        entry.spaces = spaces.to_skin
    return moved and not again


def ensure_live(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """Waits until it is prepared and recorded as things are now; for background and for scripts."""
    if entry.state.phase not in (Phase.LIVE, Phase.RECORDING, Phase.PREPARING):
        happen(session, entry, ob, scene, Event.WANTED)
    if entry.state.stale:
        _record_again(session, entry, ob, scene)
    while entry.state.phase in (Phase.PREPARING, Phase.RECORDING):
        advance(session, entry, ob, scene, at_once=True)
        if entry.state.phase is Phase.RECORDING and waits_for_artist(session, entry):
            break
        if entry.state.phase is Phase.PREPARING:
            pause()
    return entry.state.phase is Phase.LIVE


def record_now(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """Writes the tape anew without waiting for the artist to rest."""
    session.dispatch(entry, Event.RIG_CHANGED)
    _record_again(session, entry, ob, scene)


def settle(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """One turn towards live and up to date, without waiting for the artist to rest."""
    if entry.state.stale:
        _record_again(session, entry, ob, scene)
    advance(session, entry, ob, scene, at_once=True)
    return entry.state.phase is Phase.LIVE and not entry.state.stale


def settle_whole(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """As `settle`, and every frame is simulated too; refuses where that will not come."""
    if not settle(session, entry, ob, scene):
        if entry.state.is_refused:
            raise RefusalError(entry.state.message)
        return False
    status = session.refresh(entry)
    return status.ready == status.frame_count


def pause() -> None:
    time.sleep(0.005)
