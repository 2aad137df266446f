# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders: everything is ready before the first frame, or there is no first frame."""

import logging
import os
import sys
import threading
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import refusing, rendering
from ..model.session import current
from .guard import guarded

log = logging.getLogger(__name__)

NOTHING = "nothing was rendered; bake, mend or remove it, then render again."
ENDED = "the render ended before this frame; bake, mend or remove it, then go on from here."


@persistent
@guarded
def softrig_render_init(scene: Any, *_: Any) -> None:
    session = current()
    if session is None or session.recording:
        return
    if threading.current_thread() is threading.main_thread():
        refusing.give_back(session)
    session.rendered = scene.name
    try:
        foreseen = rendering.foresee_frames(scene)
        problems = make_ready(session, scene)
        problems = problems or rendering.find_missed(scene, foreseen)
    except Exception as error:  # no frame may come out of a fault either
        log.exception("before a render")
        problems = [f"a fault in Softrig: {error}"]
    for problem in problems:
        log.error("render: %s", problem)
    session.render_problems = problems
    if problems and bpy.app.background:
        leave(problems, NOTHING)
    if problems:
        refusing.refuse(session, scene.name)


@persistent
@guarded
def softrig_render_pre(scene: Any, *_: Any) -> None:
    """Before each frame, which may be one that nothing told in advance."""
    session = current()
    if session is None or session.recording:
        return
    missed = rendering.find_missed(scene, [scene.frame_current])
    for problem in missed:
        log.error("render: %s", problem)
    if missed and bpy.app.background:
        leave(missed, ENDED)
    if missed:
        refusing.tell_later(session, scene.name, missed)


def make_ready(session: Any, scene: Any) -> list[str]:
    if threading.current_thread() is threading.main_thread():
        return rendering.make_ready(session, scene)
    return rendering.wait_until_ready(session, scene)


def leave(problems: list[str], outcome: str) -> None:
    """Nobody looks at a farm machine: better no frame than wrong ones, and an exit code that tells.

    A handler has no other way to stop a render, and raising SystemExit hangs 4.5.
    """
    for problem in problems:
        sys.stderr.write(f"Softrig: {problem}\n")
    sys.stderr.write(f"Softrig: {outcome}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


@persistent
@guarded
def softrig_render_end(*_: Any) -> None:
    """Complete or cancelled: nobody waits any more."""
    session = current()
    if session is not None:
        session.render_waits, session.rendered = False, ""
        if threading.current_thread() is threading.main_thread():
            refusing.give_back(session)
