# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out for one character what the model decides, on Blender's data."""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import bpy
import numpy as np

from ..model.lifecycle import Effect, Event, Phase
from ..model.rig import NotNowError, RefusalError
from ..model.schedule import Wish, awaits_answer, due_events, provisional_due, record_due
from ..model.session import Entry, Session
from ..native.errors import NativeError
from . import carrier, followers, gather, objects, prepared, readers, tape
from .properties import read_map_choices
from .show import show_object, show_provisional
from .wishes import make_wish, settings_of

log = logging.getLogger(__name__)

CHUNK_SECONDS = 0.1
"""The window is not held up for longer than this by recording."""
STEP_SECONDS = 0.5
"""Likewise where the whole scene is stepped, which the artist asked for."""
STEPS = "This rig reads the scene: recording steps the whole scene."
ASKS = f"{STEPS} After a change press Record Again."
DIFFERS = (
    "At frame {} the scene shows another pose than the recording. Key the pose; or, if the rig "
    "reads the scene, turn on Step Scene and press Record Again."
)
LOOK_SECONDS = 1.0
"""The pose of a shown frame is compared with the tape no more often than this."""


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
    """The plain pose and a sentence; some obstacles go by themselves."""
    log.warning("%s: %s", entry.object_name, error)
    event = Event.POSTPONED if isinstance(error, NotNowError) else Event.FAILED
    for effect in session.dispatch(entry, event, str(error)):
        _EFFECTS[effect](session, entry, ob, scene)


def _prepare(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    if ob.data.is_editmode:
        raise NotNowError("Leave Edit Mode first.")
    gather.check_object(ob)
    entry.build, shape = gather.build_inputs(ob), gather.read_shape(session, ob)
    carrier.fit(ob, shape.vertex_count)
    entry.maps = read_map_choices(ob).without_detail()
    if entry.wants_anew or not prepared.open_kept(session, entry, ob, shape, entry.build):
        character = gather.read_character(session, ob, scene, shape)
        session.start_preparing(entry, character, entry.build)


def _open_shot(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.scene_name = scene.name
    session.open_shot(entry, objects.shot_frames(ob, scene), settings_of(entry, ob))
    if entry.build.deformers:
        session.follow_skin(entry, entry.rest)


def _record(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.recorded_until = 0
    entry.surroundings = objects.surroundings_of(scene)
    armatures = tape.find_armatures(ob)
    known = ob.softrig.step_scene or entry.suspected or not entry.surroundings.gravity
    entry.steps_scene = known or readers.reads_scene(ob, armatures)
    entry.notice = STEPS if entry.steps_scene else ""
    followers.read(session, entry, ob, scene)
    if waits_for_artist(session, entry):
        _ask(entry)


def _record_again(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """The old tape goes on where only the artist may have a new one made."""
    if waits_for_artist(session, entry):
        _ask(entry)
        return
    _perform(session, entry, ob, scene, session.record_again(entry))


def _ask(entry: Entry) -> None:
    if entry.notice != ASKS:
        log.warning("%s: %s", entry.object_name, ASKS)
    entry.notice = ASKS


def waits_for_artist(session: Session, entry: Entry) -> bool:
    """Stepping the scene would lose a pose without keys, and hang a handler of Blender's."""
    asked = bpy.app.background or entry.may_step
    return entry.steps_scene and (session.in_handler or not asked)


def _set_params(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    session.set_params(entry, settings_of(entry, ob))


def _set_maps(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    entry.maps = read_map_choices(ob).without_detail()
    if session.set_maps(entry, gather.read_shape(session, ob)):
        prepared.keep(session, entry, ob)
        session.refresh(entry)


def _show(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    show_object(session, entry, ob, objects.shown_frame(scene))


def _show_provisional(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    show_provisional(session, entry, ob)


def _destroy(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    session.release(entry)
    carrier.clear(ob)
    followers.clear(ob)


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
        if carrier.is_lost(ob) and entry.character is not None:
            raise RefusalError(carrier.LOST)
        _poll(session, entry, ob, scene)
        for event in due_events(entry, wish, session.now()):
            happen(session, entry, ob, scene, event)
        _ask_provisional(session, entry, wish)
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
    """The artist has just turned one: what of it needs no rest is done at once."""
    wish = make_wish(session, entry, ob, scene)
    if entry.state.phase is not Phase.LIVE or entry.bake is not None or wish.rendering:
        return
    if wish.settings != entry.settings and not awaits_answer(entry, wish, session.now()):
        happen(session, entry, ob, scene, Event.SETTINGS_CHANGED)
        _ask_provisional(session, entry, wish)


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

    Reads them all: not for every frame. Lost bones and armatures are left to recording to tell.
    """
    if entry.character is None or entry.plan is None or ob.data.is_editmode:
        return
    try:
        tape.find_parts(ob, entry.plan)
    except RefusalError:
        return
    shape = gather.read_shape(session, ob)
    if shape.fingerprint() != entry.fingerprint:
        happen(session, entry, ob, scene, Event.WANTED)
    elif shape.maps_fingerprint() != entry.maps_fingerprint:
        happen(session, entry, ob, scene, Event.MAPS_CHANGED)


def _poll(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    if entry.state.phase is Phase.PREPARING and entry.character is not None:
        come = session.poll_preparing(entry)
        if come is not None and come[0] is Event.PREPARED and not entry.is_kept:
            prepared.keep(session, entry, ob)
        if come is not None:
            happen(session, entry, ob, scene, *come)
    elif entry.shot is not None:
        session.refresh(entry)


def scene_frames(entry: Entry, recorded: int = 0) -> list[int]:
    """The frame of the scene for each frame of the shot that is not recorded."""
    frames = entry.frames
    return [
        frames.to_scene(frame) for frame in range(frames.shot_first + recorded, frames.last + 1)
    ]


def _record_chunk(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    frames = scene_frames(entry, entry.recorded_until)
    record, seconds = tape.record, CHUNK_SECONDS
    if entry.steps_scene:
        record, seconds = tape.record_stepping, STEP_SECONDS
    recording = record(
        session, scene, ob, entry.plan, frames, seconds, entry.skin_points, entry.followers
    )
    session.write_followers(entry, recording.followers)
    missing = session.write_rows(entry, recording.rows, recording.dials, recording.skins)
    if settings_of(entry, ob) != entry.settings:
        happen(session, entry, ob, scene, Event.SETTINGS_CHANGED)
    if missing > 0:
        return
    if not entry.steps_scene:
        if _differs(session, entry, ob, scene) or _strangers_move(session, entry, ob, scene):
            _doubt(session, entry, ob, scene)
    entry.may_step = False
    session.name_motion(entry)
    happen(session, entry, ob, scene, Event.RECORDED)
    session.refresh(entry)


def _differs(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """The scene, as it is evaluated now, shows another pose than a recording of this frame."""
    if session.in_handler or scene != bpy.context.scene or scene.frame_subframe != 0.0:
        return False
    if bpy.app.background:
        _evaluate(session)
    shown = tape.read_shown(bpy.context.view_layer.depsgraph, ob, entry.plan)
    if shown is None:
        return False
    frame = scene.frame_current
    recorded = tape.record(session, scene, ob, entry.plan, [frame]).rows[0]
    return not np.array_equal(shown, recorded, equal_nan=True)


def _strangers_move(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """Handlers of others may move bones in the artist's scene alone: a few frames tell.

    In the window that would lose the pose: there the next shown frame tells.
    """
    if not bpy.app.background or session.in_handler or not readers.has_strange_handlers():
        return False
    frames = scene_frames(entry)
    looked = sorted({0, len(frames) // 2, len(frames) - 1})
    try:
        found = tape.record_stepping(session, scene, ob, entry.plan, [frames[i] for i in looked])
    except RefusalError:  # nothing shows it
        return False
    return not np.array_equal(found.rows, entry.rows[looked], equal_nan=True)


def compare_shown(session: Session, entry: Entry, ob: Any, scene: Any, depsgraph: Any) -> None:
    """After a frame change: poses without keys are gone, so another pose means a reader."""
    if entry.frames is None or entry.frames.to_scene(scene.frame_current) != scene.frame_current:
        return
    row = scene.frame_current - entry.frames.shot_first
    whole = scene.frame_subframe == 0.0 and entry.scene_name == scene.name
    asked = entry.state.phase is Phase.LIVE and not entry.state.stale and not entry.steps_scene
    if not asked or not whole or entry.rows is None or not 0 <= row < len(entry.rows):
        return
    if session.now() - entry.compared_at < LOOK_SECONDS or carrier.find_bake(ob) is not None:
        return
    entry.compared_at = session.now()
    try:
        shown = tape.read_shown(depsgraph, ob, entry.plan)
    except RefusalError:  # the next recording tells
        return
    if shown is not None and not np.array_equal(shown, entry.rows[row], equal_nan=True):
        entry.suspected = entry.steps_scene = True
        _ask(entry)


def _evaluate(session: Session) -> None:
    """What changed before the recording is in it: no news for our handlers."""
    session.recording = True
    try:
        bpy.context.view_layer.update()
    finally:
        session.recording = False


def _doubt(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """A pose without keys looks like a rig that reads the scene. Only stepping can tell.

    In the window that would lose the pose: there the artist decides.
    """
    if not bpy.app.background:
        entry.notice = DIFFERS.format(scene.frame_current)
        return
    frames, points = scene_frames(entry), entry.skin_points
    recording = tape.record_stepping(
        session, scene, ob, entry.plan, frames, skin_points=points, followers=entry.followers
    )
    entry.recorded_until = 0
    session.rewind_followers(entry)
    session.write_followers(entry, recording.followers)
    if session.write_rows_changed(entry, recording.rows, recording.dials, recording.skins):
        entry.steps_scene, entry.notice = True, STEPS


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
