# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells the window that our panel has something new to say, or that a character looks anew."""

from collections.abc import Iterator
from typing import Any

import bpy

from ..model.session import Session


def tell(title: str, lines: list[str]) -> None:
    """A box in front of the artist; in front of what a render has just opened."""

    def draw(menu: Any, _: Any) -> None:
        for line in lines:
            menu.layout.label(text=line)

    windows = bpy.context.window_manager.windows
    if len(windows):
        with bpy.context.temp_override(window=windows[-1]):
            bpy.context.window_manager.popup_menu(draw, title=title, icon="ERROR")


def redraw_panels() -> None:
    for region in _regions("UI"):
        region.tag_redraw()


def redraw_views(session: Session) -> None:
    """After offsets changed between frames: Blender evaluates them, but draws only when told to."""
    if session.wants_drawing:
        session.wants_drawing = False
        for region in _regions("WINDOW"):
            region.tag_redraw()


def _regions(kind: str) -> Iterator[Any]:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                yield from (region for region in area.regions if region.type == kind)
