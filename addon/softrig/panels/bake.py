# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes, and the ways out of Blender: below the Bake panel, closed until somebody wants them."""

from typing import Any

import bpy

from ..blender import bake_names, takes
from .character import CharacterPanel


class SOFTRIG_PT_takes(CharacterPanel, bpy.types.Panel):
    bl_label = "Takes"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, ob = self.layout, context.object
        for modifier in takes.bakes_of(ob):
            draw_take(layout, modifier)
        column = layout.column(align=True)
        column.operator("softrig.bake_take", icon="ADD")
        column.operator("softrig.use_bake", icon="FILE_FOLDER")
        row = layout.row(align=True)
        row.operator("softrig.bake_all", icon="REC")
        row.operator("softrig.free_all", icon="X")


def draw_take(layout: Any, modifier: Any) -> None:
    take = takes.take_of(modifier)
    column = layout.column(align=True)
    row = column.row(align=True)
    row.label(text=take, icon="HIDE_OFF" if modifier.show_viewport else "HIDE_ON")
    row.operator("softrig.show_take", text="", icon="SOLO_ON").take = take
    row.operator("softrig.mix_take", text="", icon="MOD_VERTEX_WEIGHT").take = take
    row.operator("softrig.remove_take", text="", icon="X").take = take
    if modifier.show_viewport:
        column.prop(modifier, "factor", text=modifier.vertex_group or "Influence", slider=True)


class SOFTRIG_PT_elsewhere(CharacterPanel, bpy.types.Panel):
    bl_label = "Shape Keys and Export"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.operator_menu_enum("softrig.bake_keys", "kind", icon="SHAPEKEY_DATA")
        if bake_names.has_ours(context.object.data):
            layout.operator("softrig.free_keys", icon="X")
        layout.operator_menu_enum("softrig.export_motion", "kind", icon="EXPORT")
