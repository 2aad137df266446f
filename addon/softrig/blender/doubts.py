# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the artist's scene show what the private scene recorded? Where not, something reads the
scene that nothing told of, or another add-on moves the rig or what deforms the skin there."""

import logging
from typing import Any

import bpy
import numpy as np

from ..model.lifecycle import Phase
from ..model.rig import RefusalError
from ..model.session import Entry, Session
from . import carrier, followed, readers, tape

log = logging.getLogger(__name__)

STEPS = "This rig reads the scene: recording steps the whole scene."
ASKS = f"{STEPS} After a change press Record Again."
DIFFERS = (
    "At frame {} the scene shows another pose than the recording. Key the pose; or, if the rig "
    "reads the scene or another add-on moves it, let the scene be played to record it."
)
LOOK_SECONDS = 1.0
"""The pose of a shown frame is compared with the tape no more often than this."""


def ask(entry: Entry) -> None:
    if entry.notice != ASKS:
        log.warning("%s: %s", entry.object_name, ASKS)
    entry.notice, entry.doubtful = ASKS, True


def keep(entry: Entry, recording: tape.Recording) -> None:
    """What tells later whether what deforms the skin stands where it was recorded."""
    before = entry.movers if entry.recorded_until and entry.movers is not None else None
    parts = [part for part in (before, recording.movers) if part is not None]
    same = len({part.shape[1] for part in parts}) == 1
    entry.movers = np.concatenate(parts) if same else None


def look(session: Session, entry: Entry, ob: Any, scene: Any) -> None:
    """After a recording beside the scene."""
    if _differs(session, entry, ob, scene) or _strangers_move(session, entry, ob, scene):
        _doubt(session, entry, ob, scene)


def _differs(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """The scene, as it is evaluated now, shows another pose than a recording of this frame."""
    if session.in_handler or scene != bpy.context.scene or scene.frame_subframe != 0.0:
        return False
    if bpy.app.background or session.render_waits:  # a locked interface evaluates nothing
        _evaluate(session)
    depsgraph = bpy.context.view_layer.depsgraph
    shown = tape.read_shown(depsgraph, ob, entry.plan)
    if shown is None:
        return False
    frame, points = scene.frame_current, entry.skin_points
    recorded = tape.record(session, scene, ob, entry.plan, [frame], skin_points=points)
    return not _is_same(shown, recorded.rows[0]) or _is_moved(ob, depsgraph, recorded.movers)


def _is_same(shown: Any, recorded: Any) -> bool:
    return np.array_equal(shown, recorded, equal_nan=True)


def _is_moved(ob: Any, depsgraph: Any, recorded: Any) -> bool:
    """What deforms the skin stands elsewhere than in the only row that is given."""
    if recorded is None or len(recorded) == 0:
        return False
    shown = followed.read_movers(depsgraph, ob, followed.list_movers(ob))
    if len(shown) != len(recorded[0]):
        return False  # others than were recorded: that is told in another way
    unknown = np.isnan(shown) | np.isnan(recorded[0])
    return bool((shown != recorded[0])[~unknown].any())


def _strangers_move(session: Session, entry: Entry, ob: Any, scene: Any) -> bool:
    """Handlers of others may move bones in the artist's scene alone: a few frames tell.

    In the window that would lose the pose: there the next shown frame tells.
    """
    if not bpy.app.background or session.in_handler or not readers.has_strange_handlers():
        return False
    frames = entry.scene_frames()
    looked = [frames[i] for i in sorted({0, len(frames) // 2, len(frames) - 1})]
    parts, points = (session, scene, ob, entry.plan, looked), entry.skin_points
    try:
        found = tape.record_stepping(*parts, skin_points=points)
    except RefusalError:  # nothing shows it
        return False
    recorded = tape.record(*parts, skin_points=points)
    same = _is_same(found.rows, recorded.rows)
    return not same or (points > 0 and not _is_same(found.skins, recorded.skins))


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
    movers = entry.movers[row : row + 1] if entry.movers is not None else None
    if shown is not None:
        if not _is_same(shown, entry.rows[row]) or _is_moved(ob, depsgraph, movers):
            entry.suspected = entry.steps_scene = True
            ask(entry)


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
        entry.notice, entry.doubtful = DIFFERS.format(scene.frame_current), True
        return
    frames, points = entry.scene_frames(), entry.skin_points
    recording = tape.record_stepping(
        session, scene, ob, entry.plan, frames, skin_points=points, followers=entry.followers
    )
    entry.recorded_until = 0
    session.rewind_followers(entry)
    session.write_followers(entry, recording.followers)
    if session.write_rows_changed(entry, recording.rows, recording.dials, recording.skins):
        entry.steps_scene, entry.notice = True, STEPS
