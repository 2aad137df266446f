# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in a narrow region: Blender's labels do not wrap by themselves."""

import textwrap
from typing import Any

PIXELS_PER_LETTER = 6.6
MARGIN_PIXELS = 75


def draw_text(layout: Any, context: Any, text: str, icon: str = "NONE") -> None:
    """A paragraph, wrapped to the region's width; the icon stands before its first line."""
    scale = context.preferences.system.ui_scale or 1.0  # 0 without a window
    width = context.region.width / scale if context.region else 280
    letters = max(int((width - MARGIN_PIXELS) / PIXELS_PER_LETTER), 16)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(textwrap.wrap(text, letters)):
        blank = "BLANK1" if icon != "NONE" else "NONE"
        column.label(text=line, icon=icon if number == 0 else blank)
