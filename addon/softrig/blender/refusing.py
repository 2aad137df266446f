# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends a render of the window before its first frame, and tells the artist why.

No handler can stop a render. But Blender reads the settings after `render_init`, so that handlers
may change them, and a border without area ends it: "Image too small". The artist's border comes
back as soon as the render is gone, before anything is saved, and with the add-on.
"""

import threading
import time

import bpy

from ..model.refusal import Refusal
from ..model.session import Session
from . import status

BORDER = {
    "use_border": True,
    "border_min_x": 0.0,
    "border_max_x": 0.0,
    "border_min_y": 0.0,
    "border_max_y": 0.0,
}
LONGEST_WAIT_SECONDS = 10.0
LOOK_SECONDS = 0.02
NOTHING = "Softrig: nothing was rendered"
STILL = "Softrig: someone stood still from some frame on"
REMEDY = "Bake, mend or remove it, then render again."


def refuse(session: Session, scene_name: str) -> None:
    """In `render_init`. The render's thread must not touch Blender's data: the heartbeat does."""
    session.refusal = Refusal(scene_name, NOTHING)
    if threading.current_thread() is threading.main_thread():
        _take_border(session.refusal)
        return
    end = session.now() + LONGEST_WAIT_SECONDS
    while session.refusal is not None and not session.refusal.kept:
        if session.now() > end:
            session.refusal = None  # nothing beats: the panel tells all the same
        time.sleep(LOOK_SECONDS)


def tell_later(session: Session, scene_name: str, missed: list[str]) -> None:
    """Of the first frame that showed someone wrongly: no render ends by itself on its way."""
    if session.refusal is None:
        session.render_problems = missed
        session.refusal = Refusal(scene_name, STILL, is_over=True)


def follow(session: Session) -> None:
    """The heartbeat: takes the border of a render that waits for it, gives it back after it."""
    refusal = session.refusal
    if refusal is None:
        return
    if not refusal.kept and not refusal.is_over:
        _take_border(refusal)
    elif not bpy.app.is_job_running("RENDER"):
        give_back(session)
        session.refusal = None
        if session.render_problems:
            status.tell(refusal.title, [*session.render_problems, REMEDY])


def _take_border(refusal: Refusal) -> None:
    render = bpy.data.scenes[refusal.scene_name].render
    kept = {name: getattr(render, name) for name in BORDER}
    for name, value in BORDER.items():
        setattr(render, name, value)
    refusal.kept = kept


def give_back(session: Session) -> None:
    """In the main thread, as soon as it may be."""
    refusal = session.refusal
    if refusal is None:
        return
    scene = bpy.data.scenes.get(refusal.scene_name)
    for name, value in refusal.kept.items() if scene is not None else ():
        setattr(scene.render, name, value)
    refusal.kept, refusal.is_over = {}, True
