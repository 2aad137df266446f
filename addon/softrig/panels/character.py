# SPDX-License-Identifier: GPL-3.0-or-later
"""The character's own panels: bake, and what preparing found."""

from typing import Any

import bpy

from ..blender import carrier, objects
from ..model.schedule import describe_cage, repairs
from ..model.session import current
from .main import SoftrigPanel
from .text import draw_text


class CharacterPanel(SoftrigPanel):
    """Only there when the active object has Softrig."""

    bl_parent_id = "SOFTRIG_PT_main"

    @classmethod
    def poll(cls, context: Any) -> bool:
        session, ob = current(), context.object
        if session is None or session.problem or ob is None or ob.type != "MESH":
            return False
        return objects.is_character(ob)


class SOFTRIG_PT_bake(CharacterPanel, bpy.types.Panel):
    bl_label = "Bake"

    def draw(self, context: Any) -> None:
        layout, render = self.layout, context.scene.render
        baked = carrier.find_bake(context.object)
        row = layout.row(align=True)
        row.scale_y = 1.2
        row.operator("softrig.bake", icon="REC", text="Bake Again" if baked else "Bake")
        if baked:
            row.operator("softrig.free_bake", icon="X")
            layout.label(text=bpy.path.basename(baked.filepath), icon="FILE_CACHE")
            if not baked.filepath.startswith("//"):
                text = "Lost when Blender quits: save the file and bake again."
                draw_text(layout, context, text, "ERROR")
        draw_range(layout, context.object.softrig)
        if not baked and not render.use_lock_interface:
            draw_text(layout, context, "To render from this window: bake, or turn this on.", "INFO")
            layout.prop(render, "use_lock_interface")


def draw_range(layout: Any, settings: Any) -> None:
    """Of all bakes, those to shape keys, Alembic and USD too."""
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    column.prop(settings, "bake_range")
    if settings.bake_range == "OWN":
        own = column.column(align=True)
        own.prop(settings, "bake_first")
        own.prop(settings, "bake_last")
    column.prop(settings, "bake_subframes")


class SOFTRIG_PT_report(CharacterPanel, bpy.types.Panel):
    bl_label = "Report"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        session, layout = current(), self.layout
        entry = session.entries.get(context.object.softrig.uuid)
        if entry is None or not entry.report:
            layout.label(text="Nothing prepared yet")
            return
        report = entry.report
        column = layout.column(align=True)
        for sentence in describe_cage(report):
            draw_text(column, context, sentence)
        draw_text(column, context, f"{report['heldNodeCount']} nodes follow their bone exactly")
        for sentence in repairs(report):
            draw_text(column, context, sentence, "DOT")
        if entry.shot_status is not None:
            draw_text(column, context, f"Simulated in {entry.shot_status.seconds:.2f} s")
