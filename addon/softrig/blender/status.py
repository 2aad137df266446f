# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells the window that our panel has something new to say."""

import bpy


def redraw_panels() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
