# SPDX-License-Identifier: GPL-3.0-or-later
"""Paint: from a map's name to the brush, in one click; and back."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..blender.objects import is_painting
from ..model.maps import KINDS
from .presets import poll_active


class SOFTRIG_OT_paint(bpy.types.Operator):
    bl_idname = "softrig.paint"
    bl_label = "Paint"
    bl_description = (
        "Open weight paint on this map, with a new vertex group if it has none. "
        "Pressed again, goes back to Object Mode, and the character moves by what was painted"
    )
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Map", items=[(kind, kind.title(), "") for kind in KINDS], options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not poll_active(cls, context):
            return False
        if context.object.data.library is not None:
            cls.poll_message_set("The mesh is linked from another file: paint it there")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        ob = context.object
        if is_painting(ob, self.kind):
            bpy.ops.object.mode_set(mode="OBJECT")
            return {"FINISHED"}
        name = getattr(ob.softrig, f"map_{self.kind}") or f"Softrig {self.kind.title()}"
        group = ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)
        setattr(ob.softrig, f"map_{self.kind}", group.name)
        ob.vertex_groups.active_index = group.index
        if ob.mode != "WEIGHT_PAINT":
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        return {"FINISHED"}
