# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames: shown before Blender evaluates them, in the window, in renders and in exports."""

import sys
import threading
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import seen, show, watch
from .guard import guarded, usable
from .updates import note_frame, note_pending


@persistent
@guarded
def softrig_frame_change_pre(scene: Any, *_: Any) -> None:
    session = usable()
    if session is None:
        return
    if is_within_render(session, scene):
        show.show_scene(session, scene, show.RENDER_WAIT_SECONDS)
    elif is_scripted():
        seen.forget(session)  # a script need not let Blender look at what it changed
        note_pending(session, scene)
        if watch.needs_attention(session, scene):
            watch.ensure_scene(session, scene)
        show.show_scene(session, scene, show.RENDER_WAIT_SECONDS)
    else:
        in_render = threading.current_thread() is not threading.main_thread()
        show.show_scene(session, scene, show.RENDER_WAIT_SECONDS if in_render else 0.0)


def is_within_render(session: Any, scene: Any) -> bool:
    """A picture that the compositor of another scene takes. Made ready before; and Blender is in
    the middle of something that a scene which comes and goes brings down.
    """
    return bpy.app.background and session.rendered not in ("", scene.name)


def is_scripted() -> bool:
    """A script waits for this frame: in background always, in the window where Python called.

    Playback and scrubbing are Blender's own doing: below our handler there is no Python then.
    """
    if bpy.app.background:
        return True
    playing = any(w.screen.is_animation_playing for w in bpy.context.window_manager.windows)
    if playing or threading.current_thread() is not threading.main_thread():
        return False
    caller = sys._getframe()
    while caller is not None and caller.f_globals["__name__"].startswith(__package__):
        caller = caller.f_back
    return caller is not None


@persistent
@guarded
def softrig_frame_change_post(scene: Any, depsgraph: Any = None) -> None:
    """A render has an evaluation of its own; the artist's stays at its frame."""
    session = usable()
    if session is not None and depsgraph is not None and depsgraph.mode == "VIEWPORT":
        note_frame(session, depsgraph)
        watch.compare_scene(session, scene, depsgraph)
