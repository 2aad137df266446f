# SPDX-License-Identifier: GPL-3.0-or-later
"""How the flesh is, what pulls it, when it begins; and what stands behind the dials."""

from typing import Any

import bpy

from ..model.session import current
from ..model.settings import SOLVERS
from .character import CharacterPanel
from .text import draw_text


def two_columns(layout: Any, keyed: bool = False) -> Any:
    """Names left, dials right; with room for the dots of keys where there may be keys."""
    layout.use_property_split = True
    layout.use_property_decorate = keyed
    return layout.column()


def draw_choice(layout: Any, settings: Any, name: str) -> None:
    """A menu below its name: beside it, long choices are cut off in a sidebar of common width."""
    column = layout.column(align=True)
    column.label(text=settings.bl_rna.properties[name].name)
    column.prop(settings, name, text="")


class SOFTRIG_PT_shape(CharacterPanel, bpy.types.Panel):
    bl_label = "Shape"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        column, settings = two_columns(self.layout), context.object.softrig
        column.prop(settings, "volume")
        keyed = two_columns(self.layout, keyed=True)
        keyed.active = settings.volume > 0.0 and settings.solver == SOLVERS[0].key
        keyed.prop(settings, "pressure")
        column = two_columns(self.layout)
        column.prop(settings, "pose_correction", text="Correction")
        column.prop(settings, "density", text="Weight")


class SOFTRIG_PT_forces(CharacterPanel, bpy.types.Panel):
    bl_label = "Forces"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        column, settings = two_columns(self.layout, keyed=True), context.object.softrig
        column.prop(settings, "travel_felt")
        column.separator()
        column.prop(settings, "gravity_factor")
        column.prop(settings, "plain_gravity", text="Plain")
        column.separator()
        column.prop(settings, "wind_speed")
        wind = column.column()
        wind.active = settings.wind_speed != 0.0
        wind.prop(settings, "wind_direction", text="To")
        wind.prop(settings, "wind_gusts")


class SOFTRIG_PT_time(CharacterPanel, bpy.types.Panel):
    bl_label = "Time"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        column, settings = two_columns(self.layout, keyed=True), context.object.softrig
        column.prop(settings, "use_start_frame")
        if settings.use_start_frame:
            column.prop(settings, "start_frame")
        before = column.column()
        before.active = settings.loop == "NONE"
        before.prop(settings, "pre_roll_mode")
        if settings.pre_roll_mode != "NONE":
            before.prop(settings, "pre_roll", text="Frames")
        column.prop(settings, "loop")
        if settings.loop != "NONE":
            draw_seam(column, context, current().entries.get(settings.uuid))
        column.separator()
        column.prop(settings, "cut")
        column.operator("softrig.cut_marker", icon="MARKER_HLT")


def draw_seam(layout: Any, context: Any, entry: Any) -> None:
    """How well the loop closes, once that is known."""
    status = entry.shot_status if entry is not None else None
    if status is not None and status.loop_rounds:
        seam = f"Seam: {100.0 * status.loop_seam:.2g} % of the character's size"
        draw_text(layout, context, f"{seam}, after {status.loop_rounds} rounds", "INFO")


def draw_cage(layout: Any, settings: Any) -> None:
    """What changes the cage within: each of these prepares again."""
    layout.prop(settings, "cage_nodes")
    layout.prop(settings, "mesher")
    layout.prop(settings, "largest_hole")
    layout.prop(settings, "sheet_thickness")
    layout.prop(settings, "fills_hollows")
    layout.prop(settings, "joins_touching")


def draw_cost(layout: Any, context: Any, entry: Any) -> None:
    """What the steps cost: stiff flesh takes more of them, by itself."""
    status = entry.shot_status if entry is not None else None
    if status is not None and status.ready:
        cost = 1e3 * status.seconds / status.ready
        draw_text(layout, context, f"{cost:.2g} ms a frame", "TIME")


class SOFTRIG_PT_advanced(CharacterPanel, bpy.types.Panel):
    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, settings = self.layout, context.object.softrig
        column = two_columns(layout)
        if len(SOLVERS) > 1:
            draw_choice(column, settings, "solver")
        held = column.column()
        held.active = settings.solver == SOLVERS[0].key
        draw_choice(held, settings, "complement")
        draw_choice(held, settings, "material")
        fast = column.column()
        fast.active = settings.solver == SOLVERS[1].key
        fast.prop(settings, "fibre_stiffness")
        fast.prop(settings, "stretch_limit")
        fast.prop(settings, "swings")
        column.prop(settings, "stiffness_kpa", text="Young (kPa)")
        column.prop(settings, "substeps")
        draw_cost(column, context, current().entries.get(settings.uuid))
        draw_cage(column, settings)
        column.prop(settings, "loose_parts")
        column.prop(settings, "step_scene")
        layout.separator()
        again = layout.column(align=True)
        again.operator("softrig.record", icon="FILE_REFRESH")
        again.operator("softrig.prepare", icon="MESH_ICOSPHERE")
        layout.operator("softrig.copy_settings", icon="COPYDOWN")
        layout.operator("softrig.export_rig", icon="EXPORT")
        layout.operator("softrig.remove", icon="TRASH")
