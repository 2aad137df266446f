# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching on and off, all or nothing. A library that cannot be used is told in the panel."""

import logging

import bpy

from . import handlers
from .blender import properties, show
from .model.session import Session, close_session, current, open_session
from .native.api import Api
from .native.errors import LibraryError
from .operators import CLASSES as OPERATORS
from .panels import CLASSES as PANELS

log = logging.getLogger(__name__)

CLASSES = (*OPERATORS, *PANELS)


def make_session() -> Session:
    try:
        return Session(Api())
    except LibraryError as error:
        return Session(None, str(error))


def register_all() -> None:
    done = []
    try:
        properties.register()
        done.append(properties.unregister)
        for cls in CLASSES:
            bpy.utils.register_class(cls)
            done.append(lambda cls=cls: bpy.utils.unregister_class(cls))
        open_session(make_session())
        done.append(close_session)
        handlers.register()
        current().on_turn = handlers.updates.dial_turns
    except Exception:
        for undo in reversed(done):
            undo()
        raise


def show_plain_poses() -> None:
    """Without us one frame's offsets would stay on all frames, and be saved so."""
    try:
        show.hide_all()
    except Exception:
        log.exception("while switching off")


def unregister_all() -> None:
    handlers.unregister()
    show_plain_poses()
    close_session()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    properties.unregister()
