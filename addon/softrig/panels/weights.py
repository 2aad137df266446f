# SPDX-License-Identifier: GPL-3.0-or-later
"""One button for meshes that have no weights yet, or bad ones."""

from typing import Any

import bpy

from .main import SoftrigPanel


class SOFTRIG_PT_weights(SoftrigPanel, bpy.types.Panel):
    bl_idname = "SOFTRIG_PT_weights"
    bl_label = "Weights"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 90

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context: Any) -> None:
        self.layout.operator("softrig.weigh", icon="MOD_VERTEX_WEIGHT")
