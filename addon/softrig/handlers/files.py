# SPDX-License-Identifier: GPL-3.0-or-later
"""Load, save, undo, redo: all that Python knew of Blender's data may be gone."""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import kept_dials, objects, refusing, show, watch
from ..model.session import current
from .guard import guarded, usable


@persistent
@guarded
def softrig_load_pre(*_: Any) -> None:
    session = current()
    if session is not None:
        session.refusal = None
        session.adding.clear()
        session.notices.clear()
        session.still.clear()
        session.forget_missing(())


@persistent
@guarded
def softrig_load_post(*_: Any) -> None:
    session = current()
    if session is not None:
        session.forget_missing(())
        session.rescan, session.showers = True, None
        session.fault = ""
        objects.note_saved_frames(session)
        session.last_scene = bpy.context.scene.name if bpy.context.scene else ""


@persistent
@guarded
def softrig_save_pre(*_: Any) -> None:
    """A file that was not baked opens elsewhere with the plain pose, not with one frozen offset."""
    session = usable()
    if session is not None:
        session.in_save = True
        refusing.give_back(session)
        show.hide_all()
        for ob in objects.all_characters():
            kept_dials.keep(ob)


@persistent
@guarded
def softrig_save_post(*_: Any) -> None:
    end_save()


@guarded
def end_save() -> None:
    """What was shown comes back. 3.4 does not tell when a file could not be written."""
    session = usable()
    if session is not None and session.in_save:
        session.in_save = False
        objects.note_saved_frames(session)
        show.show_scenes(session)
        session.wants_drawing = True


@persistent
@guarded
def softrig_undo_pre(*_: Any) -> None:
    """Blender evaluates and sends updates while it puts the data of another moment in place."""
    session = current()
    if session is not None:
        session.in_history = True


@persistent
@guarded
def softrig_undo_post(*_: Any) -> None:
    end_history()
    session = usable()
    if session is not None:
        watch.after_undo(session)


def end_history() -> None:
    session = current()
    if session is not None:
        session.in_history = False
