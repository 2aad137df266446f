# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors that Blender opens: frames, files, undo, updates, renders, the timer. One call each."""

from typing import Any

import bpy

from . import files, frame, render, timer, updates

HANDLERS: tuple[tuple[str, Any], ...] = (
    ("frame_change_pre", frame.softrig_frame_change_pre),
    ("frame_change_post", frame.softrig_frame_change_post),
    ("render_init", render.softrig_render_init),
    ("render_pre", render.softrig_render_pre),
    ("render_complete", render.softrig_render_end),
    ("render_cancel", render.softrig_render_end),
    ("depsgraph_update_post", updates.softrig_depsgraph_update_post),
    ("load_pre", files.softrig_load_pre),
    ("load_post", files.softrig_load_post),
    ("save_pre", files.softrig_save_pre),
    ("save_post", files.softrig_save_post),
    ("save_post_fail", files.softrig_save_post),
    ("undo_pre", files.softrig_undo_pre),
    ("redo_pre", files.softrig_undo_pre),
    ("undo_post", files.softrig_undo_post),
    ("redo_post", files.softrig_undo_post),
)


def register() -> None:
    unregister_handlers()
    for name, function in HANDLERS:
        if hasattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).append(function)
    bpy.app.timers.register(timer.softrig_tick, first_interval=0.1, persistent=True)


def unregister_handlers() -> None:
    """By name: a reloaded add-on's functions are other objects."""
    for name, function in HANDLERS:
        registered = getattr(bpy.app.handlers, name, [])
        for other in [f for f in registered if f.__name__ == function.__name__]:
            registered.remove(other)


def unregister() -> None:
    for function in (timer.softrig_tick, timer.softrig_soon):
        if bpy.app.timers.is_registered(function):
            bpy.app.timers.unregister(function)
    render.softrig_render_end()
    unregister_handlers()
