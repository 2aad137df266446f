# SPDX-License-Identifier: GPL-3.0-or-later
"""Fix: mends one of the traps that the panel names."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import examine, fixes
from ..blender.status import redraw_panels
from ..model.rig import RefusalError
from .job import poll_character, usable_session


class SOFTRIG_OT_fix(bpy.types.Operator):
    bl_idname = "softrig.fix"
    bl_label = "Fix"
    bl_description = "Mend what the line above says"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    trap: StringProperty(name="Trap", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def execute(self, context: Any) -> set[str]:
        mend = fixes.FIXES.get(self.trap)
        if mend is None:
            self.report({"ERROR"}, f'There is no fix for "{self.trap}".')
            return {"CANCELLED"}
        try:
            mend(context.object)
        except (RefusalError, RuntimeError, AttributeError) as error:  # what may not be written
            self.report({"ERROR"}, str(error).strip())
            return {"CANCELLED"}
        context.view_layer.update()
        examine.examine(usable_session(), context.object, context.scene)
        redraw_panels()
        return {"FINISHED"}
