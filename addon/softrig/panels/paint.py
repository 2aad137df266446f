# SPDX-License-Identifier: GPL-3.0-or-later
"""The painted maps: a line each, with the brush at its end."""

from typing import Any

import bpy

from ..blender.objects import is_painting
from ..model.maps import FACTORS, KINDS
from .character import CharacterPanel


class SOFTRIG_PT_paint(CharacterPanel, bpy.types.Panel):
    bl_label = "Paint"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, ob = self.layout, context.object
        layout.use_property_split = True
        layout.use_property_decorate = False
        for kind in KINDS:
            draw_map(layout.column(align=True), ob, kind)


def draw_map(column: Any, ob: Any, kind: str) -> None:
    row = column.row(align=True)
    row.prop_search(ob.softrig, f"map_{kind}", ob, "vertex_groups")
    painting = is_painting(ob, kind)
    icon = "CHECKMARK" if painting else "BRUSH_DATA"
    row.operator("softrig.paint", text="", icon=icon, depress=painting).kind = kind
    if kind in FACTORS and getattr(ob.softrig, f"map_{kind}"):
        column.prop(ob.softrig, f"full_{kind}")
