# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove Softrig: afterwards the file holds nothing of ours but, on disk, a bake."""

from typing import Any

import bpy

from ..blender import actions, bake_keys, carrier, followers
from ..blender.properties import clear_settings
from ..model.session import current
from .job import acting_session


class SOFTRIG_OT_remove(bpy.types.Operator):
    bl_idname = "softrig.remove"
    bl_label = "Remove Softrig"
    bl_description = "Take Softrig off this mesh and leave it as it was. A baked file stays on disk"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = context.object
        if ob is None or ob.type != "MESH" or not ob.softrig.uuid:
            return False
        return ob.library is None  # a linked one is its own file's

    def execute(self, context: Any) -> set[str]:
        acting_session()
        ob, session = context.object, current()
        if session is not None:
            session.forget(ob.softrig.uuid)
            session.notices.pop(ob.name, None)
        for rider in followers.followers_of(ob):
            bake_keys.remove_keys(rider)
            followers.detach(rider)
        bake_keys.remove_keys(ob)  # they would move the flesh a second time when it is added again
        actions.forget_animated(ob, ("softrig.", *carrier.modifier_paths(ob)))
        carrier.detach(ob)
        clear_settings(ob)
        return {"FINISHED"}
