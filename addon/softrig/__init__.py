# SPDX-License-Identifier: GPL-3.0-or-later
"""Softrig: soft, swinging flesh, ears and tails for rigged characters.

Rooms: native <- model <- blender <- { operators, panels, handlers }. Blender is imported only
inside `register`, so that `native` and `model` work in plain Python.
"""

import sys

bl_info = {
    "name": "Softrig",
    "author": "Softrig developers",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Softrig",
    "description": "Soft, swinging flesh, ears and tails for rigged characters",
    "category": "Animation",
}


def register() -> None:
    from .registration import register_all

    register_all()


def unregister() -> None:
    from .registration import unregister_all

    unregister_all()
    _forget_modules()


def _forget_modules() -> None:
    """So that an upgrade in this session runs its own code: Blender reloads this one file only."""
    for name in [name for name in sys.modules if name.startswith(f"{__name__}.")]:
        del sys.modules[name]
        globals().pop(name.rpartition(".")[2], None)
