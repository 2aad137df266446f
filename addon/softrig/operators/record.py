# SPDX-License-Identifier: GPL-3.0-or-later
"""Record Again and Prepare Again: for the artist who wants to be sure."""

from typing import Any

import bpy

from ..blender import stage
from ..model.lifecycle import Event, Phase
from .job import acting_session, entry_of, poll_character


class SOFTRIG_OT_record(bpy.types.Operator):
    bl_idname = "softrig.record"
    bl_label = "Record Again"
    bl_description = (
        "Read the animation of the whole scene range again. "
        "Happens by itself after keys change; the frame you look at does not move"
    )
    bl_options = {"REGISTER"}

    step_scene: bpy.props.BoolProperty(
        name="Step Scene",
        description="From now on by playing the scene itself, as the dial under Advanced says",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def execute(self, context: Any) -> set[str]:
        session, ob, scene = acting_session(), context.object, context.scene
        if self.step_scene:
            ob.softrig.step_scene = True
        entry = entry_of(session, ob, scene)
        entry.may_step = True
        stage.notice_edits(session, entry, ob, scene)
        if entry.state.phase in (Phase.LIVE, Phase.RECORDING):
            stage.record_now(session, entry, ob, scene)
        elif entry.state.phase is Phase.PREPARING:
            return finish(self, session, entry, ob, scene)
        else:
            stage.happen(session, entry, ob, scene, Event.WANTED)
        return finish(self, session, entry, ob, scene)


class SOFTRIG_OT_prepare(bpy.types.Operator):
    bl_idname = "softrig.prepare"
    bl_label = "Prepare Again"
    bl_description = "Build the inner cage anew, after the mesh, its weights or the bones changed"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def execute(self, context: Any) -> set[str]:
        session, ob, scene = acting_session(), context.object, context.scene
        entry = entry_of(session, ob, scene)
        entry.may_step = entry.wants_anew = True
        stage.happen(session, entry, ob, scene, Event.WANTED)
        return finish(self, session, entry, ob, scene)


def finish(operator: Any, session: Any, entry: Any, ob: Any, scene: Any) -> set[str]:
    """In the window the timer does the rest; in background we wait for it."""
    if bpy.app.background:
        stage.ensure_live(session, entry, ob, scene)
    if entry.state.is_refused:
        operator.report({"ERROR"}, entry.state.message)
        return {"CANCELLED"}
    return {"FINISHED"}
