# SPDX-License-Identifier: GPL-3.0-or-later
"""The heartbeat: ten times a second while there are characters, twice a second otherwise."""

import bpy

from ..blender import refusing, watch
from ..blender.status import redraw_panels, redraw_views
from ..model.schedule import fingerprint
from ..model.session import current
from . import files
from .guard import guarded, usable

SOON_SECONDS = 0.015


@guarded
def follow_render() -> None:
    """Without the library too."""
    session = current()
    if session is not None:
        refusing.follow(session)


@guarded
def turn() -> float:
    session = usable()
    if session is None or bpy.app.background:
        return 0.5
    watch.tick(session)
    redraw_views(session)
    shown = fingerprint(session)
    if shown != session.shown:
        session.shown = shown
        redraw_panels()
    return 0.1 if session.entries else 0.5


def softrig_tick() -> float:
    """Never answers None: Blender would forget the timer."""
    files.end_history()  # no timer runs within it; it ended without saying so
    files.end_save()  # likewise
    follow_render()
    pause = turn() or 0.5
    hurry()
    return pause


def hurry() -> None:
    """Somebody looks at a frame that is on its way: the next turns come sooner."""
    session = usable()
    if session is None or not watch.is_awaited(session):
        return
    if not bpy.app.timers.is_registered(softrig_soon):
        bpy.app.timers.register(softrig_soon, first_interval=SOON_SECONDS)


def softrig_soon() -> float | None:
    """Ends with the wait."""
    turn()
    session = usable()
    return SOON_SECONDS if session is not None and watch.is_awaited(session) else None
