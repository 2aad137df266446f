# SPDX-License-Identifier: GPL-3.0-or-later
"""The heartbeat: ten times a second while there are characters, twice a second otherwise."""

import bpy

from ..blender import watch
from ..blender.status import redraw_panels
from ..model.schedule import fingerprint
from .guard import guarded, usable


@guarded
def turn() -> float:
    session = usable()
    if session is None or bpy.app.background:
        return 0.5
    watch.tick(session)
    shown = fingerprint(session)
    if shown != session.shown:
        session.shown = shown
        redraw_panels()
    return 0.1 if session.entries else 0.5


def softrig_tick() -> float:
    """Never answers None: Blender would forget the timer."""
    return turn() or 0.5
