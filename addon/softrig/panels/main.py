# SPDX-License-Identifier: GPL-3.0-or-later
"""The top of the Softrig tab: what to do, how far it is, what went wrong."""

from typing import Any

import bpy

from ..blender import carrier, compat, followers, graph, linked, objects
from ..model.diagnostics import FIX
from ..model.lifecycle import Phase
from ..model.schedule import describe
from ..model.session import current
from .presets import draw_presets
from .text import draw_text


class SoftrigPanel:
    """Where all our panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Softrig"


class SOFTRIG_PT_main(SoftrigPanel, bpy.types.Panel):
    bl_idname = "SOFTRIG_PT_main"
    bl_label = "Softrig"

    def draw(self, context: Any) -> None:
        session, ob = current(), context.object
        layout = self.layout
        for problem in session.render_problems if session is not None else ():
            draw_text(layout.box(), context, f"The last render is not right: {problem}", "ERROR")
        if session is not None and session.fault:
            draw_text(layout.box(), context, f"A fault in Softrig: {session.fault}", "ERROR")
        if session is None or session.problem:
            draw_text(layout, context, session.problem if session else "Softrig is off.", "ERROR")
        elif ob is not None and linked.list_held(ob):
            draw_guests(layout, context, linked.list_held(ob), session.still)
        elif ob is None or ob.type != "MESH":
            draw_text(layout, context, "Select the character's mesh.", "INFO")
        elif ob.name in session.adding:
            draw_busy(layout, ob, session.entries.get(session.adding[ob.name]))
        elif objects.is_character(ob):
            draw_findings(layout, context, session.findings.get(ob.softrig.uuid, ()))
            draw_status(layout, context, ob, session.entries.get(ob.softrig.uuid))
            draw_main_dials(layout, ob)
        elif followers.is_follower(ob):
            draw_follower(layout, context, ob)
        else:
            told = session.notices.get(ob.name, "") or session.still.get(ob.name_full, "")
            draw_invitation(layout, context, ob, told)


def draw_guests(layout: Any, context: Any, guests: Any, still: Any) -> None:
    """The active object is a character of another file, or shows a collection with some in it."""
    for guest in guests:
        problem = still.get(guest.name_full, "")
        if problem:
            draw_text(layout.box(), context, f"{guest.name}: {problem}", "ERROR")
        else:
            layout.label(text=f"{guest.name} plays from its bake", icon="LINKED")
    if any(guest.name_full in still for guest in guests):
        layout.operator("softrig.override", icon="LIBRARY_DATA_OVERRIDE")


def draw_follower(layout: Any, context: Any, ob: Any) -> None:
    """The active object follows somebody."""
    leader = ob.softrig.leader
    name = f'"{leader.name}"' if leader is not None else "a character that is gone"
    draw_text(layout, context, f"Follows the flesh of {name}.", "LINKED")
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    column.prop(ob.softrig, "rigid")
    compat.draw_input(column, carrier.find_modifier(ob), graph.AMOUNT, "Amount")
    layout.operator("softrig.use_bake", icon="FILE_FOLDER")
    layout.operator("softrig.unfollow", icon="X")


def draw_invitation(layout: Any, context: Any, ob: Any, notice: str) -> None:
    if notice:
        draw_text(layout.box(), context, notice, "ERROR")
    text = "Makes flesh, ears and tail follow the animation softly. Your mesh stays as it is."
    draw_text(layout, context, text)
    row = layout.row()
    row.scale_y = 1.5
    row.operator("softrig.add", icon="MOD_SOFT")
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    column.prop(ob.softrig, "loose_parts")
    column.prop(ob.softrig, "cage_nodes")


def draw_busy(layout: Any, ob: Any, entry: Any) -> None:
    text = describe(entry) if entry else "Starting"
    compat.draw_progress(layout, ob.softrig, "progress", text)
    layout.label(text="Esc cancels", icon="INFO")


def draw_main_dials(layout: Any, ob: Any) -> None:
    """What an artist turns first."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    draw_presets(column, ob)
    column.prop(ob.softrig, "softness")
    column.prop(ob.softrig, "settle_frames")
    compat.draw_input(column, carrier.find_modifier(ob), graph.AMOUNT, "Amount")
    column.prop(ob.softrig, "quality")


def draw_findings(layout: Any, context: Any, findings: Any) -> None:
    """One line and one button a trap."""
    for finding in findings:
        box = layout.box()
        draw_text(box, context, finding.text, finding.icon)
        if finding.operator:
            button = box.operator(finding.operator, text=finding.label)
            if finding.operator == FIX:
                button.trap = finding.key


def draw_status(layout: Any, context: Any, ob: Any, entry: Any) -> None:
    for warning in warnings(ob, entry):
        draw_text(layout.box(), context, warning, "ERROR")
    if entry is not None and entry.doubtful and entry.notice:
        layout.operator("softrig.record", text="Play the Scene to Record It").step_scene = True
    baked = carrier.find_bake(ob) is not None
    fault = current().bake_faults.get(ob.softrig.uuid)
    if entry is not None and entry.bake is not None:
        compat.draw_progress(layout, ob.softrig, "progress", "Baking")
    elif baked and fault:
        layout.label(text="The bake does not play", icon="ERROR")
    elif entry is not None and entry.state.is_refused:
        draw_text(layout.box(), context, entry.state.message, "ERROR")
    elif baked:
        layout.label(text="Plays from the bake", icon="CHECKMARK")
    elif entry is None:
        layout.label(text="Starting", icon="TIME")
    elif is_whole(entry):
        layout.label(text=describe(entry), icon="CHECKMARK")
    else:
        compat.draw_progress(layout, ob.softrig, "progress", describe(entry))


def warnings(ob: Any, entry: Any) -> list[str]:
    """What keeps the picture from being what the artist expects."""
    found = []
    if entry is not None and carrier.find_bake(ob) is None:
        found += [entry.elsewhere, entry.notice]
    return [text for text in found if text]


def is_whole(entry: Any) -> bool:
    status = entry.shot_status
    live = entry.state.phase is Phase.LIVE
    return live and status is not None and status.ready == status.frame_count
