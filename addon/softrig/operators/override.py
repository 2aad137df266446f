# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Library Override: a character of another file moves in this one."""

from typing import Any

import bpy

from ..blender import linked
from ..model.rig import RefusalError
from .job import poll_library, usable_session


class SOFTRIG_OT_override(bpy.types.Operator):
    bl_idname = "softrig.override"
    bl_label = "Make Library Override"
    bl_description = (
        "Make library overrides of this linked character and all of its collection, where it is, "
        "and let its flesh move in this file with the settings that it has there"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = context.object
        if ob is None or not linked.find_problems(linked.list_held(ob)):
            cls.poll_message_set("Select a linked character that stands still, or what shows it")
            return False
        return poll_library(cls)

    def execute(self, context: Any) -> set[str]:
        try:
            moved = linked.make_override(context, context.object)
        except (RefusalError, RuntimeError) as error:  # what Blender reports
            self.report({"ERROR"}, str(error).strip())
            return {"CANCELLED"}
        usable_session().rescan = True
        self.report({"INFO"}, f"Softrig moves {', '.join(ob.name for ob in moved)}")
        return {"FINISHED"}
