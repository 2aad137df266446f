# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders: everything is ready before the first frame, or there is no first frame."""

import logging
import os
import sys
import threading
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import rendering
from ..model.session import current
from .guard import guarded

log = logging.getLogger(__name__)


@persistent
@guarded
def softrig_render_init(scene: Any, *_: Any) -> None:
    session = current()
    if session is None or session.recording:
        return
    try:
        problems = make_ready(session, scene)
    except Exception as error:  # no frame may come out of a fault either
        log.exception("before a render")
        problems = [f"a fault in Softrig: {error}"]
    for problem in problems:
        log.error("render: %s", problem)
    session.render_problems = problems
    if problems and bpy.app.background:
        leave(problems)


def make_ready(session: Any, scene: Any) -> list[str]:
    if bpy.app.background:
        return rendering.make_ready(session, scene)
    if threading.current_thread() is threading.main_thread():
        return rendering.find_problems(session, scene)
    return rendering.wait_until_ready(session, scene)


def leave(problems: list[str]) -> None:
    """Nobody looks at a farm machine: better no frame than wrong ones, and an exit code that tells.

    A handler has no other way to stop a render, and raising SystemExit hangs 4.5.
    """
    for problem in problems:
        sys.stderr.write(f"Softrig: {problem}\n")
    sys.stderr.write("Softrig: nothing was rendered; bake, mend or remove it, then render again.\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


@persistent
@guarded
def softrig_render_end(*_: Any) -> None:
    """Complete or cancelled: nobody waits any more."""
    session = current()
    if session is not None:
        session.render_waits = False
