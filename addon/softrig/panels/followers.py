# SPDX-License-Identifier: GPL-3.0-or-later
"""What rides on the character: a line each, with its switch."""

from typing import Any

import bpy

from ..model.session import current
from .character import CharacterPanel
from .text import draw_text


class SOFTRIG_PT_followers(CharacterPanel, bpy.types.Panel):
    bl_label = "Followers"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        for name in current().riders.get(context.object.softrig.uuid, ()):
            ob = bpy.data.objects.get(name)
            if ob is not None:
                row = layout.row(align=True)
                row.label(text=name, icon="MESH_DATA")
                row.prop(ob.softrig, "rigid", toggle=True)
                row.operator("softrig.unfollow", text="", icon="X").follower = name
        draw_text(layout, context, "Clothes, eyes, teeth: select them, then the character last.")
        layout.operator("softrig.follow", icon="LINKED")
