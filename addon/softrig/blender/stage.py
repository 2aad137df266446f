# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out for one character what the model decides, on Blender's data."""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import bpy

from ..model.lifecycle import Effect, Event, Phase
from ..model.rig import RefusalError
from ..model.schedule import Wish, due_events, record_due
from ..model.session import Entry, Session
from ..native.errors import NativeError
from . import carrier, gather, objects, tape
from .properties import read_settings
from .show import show_object

log = logging.getLogger(__name__)

CHUNK_SECONDS = 0.1
"""The window is not held up for longer than this by recording."""


def make_wish(ob: Any, scene: Any) -> Wish:
    manager = bpy.context.window_manager
    playing = any(window.screen.is_animation_playing for window in manager.windows)
    return Wish(
        frames=objects.frames_of(scene),
        settings=read_settings(ob),
        build=gather.build_inputs(ob),
        frame=scene.frame_current_final,
        playing=playing,
        rendering=bpy.app.is_job_running("RENDER"),
    )


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
        fail(session, entry, ob, scene, str(error))


def fail(session: Session, entry: Entry, ob: Any, scene: Any, message: str) -> None:
    log.warning("%s: %s", entry.object_name, message)
    for effect in session.dispatch(entry, Event.FAILED, message):
        _EFFECTS[effect](session, entry, ob, scene)
    if not carrier.find_bake(ob):
        carrier.clear(ob)


def _prepare(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    carrier.fit(ob)
    entry.build = gather.build_inputs(ob)
    session.start_preparing(entry, gather.read_character(session, ob, scene), entry.build)


def _open_shot(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.scene_name = scene.name
    session.open_shot(entry, objects.frames_of(scene), read_settings(ob))


def _record(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.recorded_until = 0


def _set_params(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    session.set_params(entry, read_settings(ob))


def _show(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    show_object(session, entry, ob, scene.frame_current_final)


def _destroy(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    session.release(entry)


_EFFECTS: dict[Effect, Callable[[Session, Entry, Any, Any], None]] = {
    Effect.PREPARE: _prepare,
    Effect.OPEN_SHOT: _open_shot,
    Effect.RECORD: _record,
    Effect.SET_PARAMS: _set_params,
    Effect.SHOW: _show,
    Effect.DESTROY: _destroy,
}


def advance(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """One turn: what has finished, what is due, a piece of what is under way."""
    wish = make_wish(ob, scene)
    entry.scene_name = scene.name
    try:
        _poll(session, entry, ob, scene)
        for event in due_events(entry, wish, session.now()):
            happen(session, entry, ob, scene, event)
        if record_due(entry, wish, session.now()):
            _perform(session, entry, ob, scene, session.record_again(entry))
        if entry.state.phase is Phase.RECORDING and not wish.rendering:
            _record_chunk(session, entry, ob, scene)
    except (RefusalError, NativeError) as error:
        fail(session, entry, ob, scene, str(error))


def _poll(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    if entry.state.phase is Phase.PREPARING and entry.character is not None:
        come = session.poll_preparing(entry)
        if come is not None:
            happen(session, entry, ob, scene, *come)
    elif entry.shot is not None:
        status = session.refresh(entry)
        if status.failed:
            fail(session, entry, ob, scene, status.message)


def _record_chunk(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    frames = range(entry.frames.first + entry.recorded_until, entry.frames.last + 1)
    rows = tape.record(session, scene, ob, entry.plan, frames, CHUNK_SECONDS)
    if session.write_rows(entry, rows) <= 0:
        happen(session, entry, ob, scene, Event.RECORDED)
        session.refresh(entry)


def ensure_live(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """Waits until it is prepared and recorded as things are now; for background and for scripts."""
    if entry.state.phase not in (Phase.LIVE, Phase.RECORDING, Phase.PREPARING):
        happen(session, entry, ob, scene, Event.WANTED)
    if entry.state.stale:
        _perform(session, entry, ob, scene, session.record_again(entry))
    while entry.state.phase in (Phase.PREPARING, Phase.RECORDING):
        advance(session, entry, ob, scene)
        if entry.state.phase is Phase.PREPARING:
            pause()
    return entry.state.phase is Phase.LIVE


def record_now(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """Writes the tape anew without waiting for the artist to rest."""
    session.dispatch(entry, Event.RIG_CHANGED)
    _perform(session, entry, ob, scene, session.record_again(entry))


def settle(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """One turn towards live and up to date, without waiting for the artist to rest."""
    if entry.state.stale:
        _perform(session, entry, ob, scene, session.record_again(entry))
    advance(session, entry, ob, scene)
    return entry.state.phase is Phase.LIVE and not entry.state.stale


def pause() -> None:
    time.sleep(0.005)
