# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of tissues and of what the artist kept; the folder is read when a menu opens."""

from typing import Any

import bpy

from ..blender import presets
from ..model.presets import TISSUES, find_tissue


class SOFTRIG_MT_presets(bpy.types.Menu):
    bl_idname = "SOFTRIG_MT_presets"
    bl_label = "Tissue"

    def draw(self, context: Any) -> None:
        layout = self.layout
        for tissue in TISSUES:
            layout.operator("softrig.apply_tissue", text=tissue.name).tissue = tissue.key
        layout.separator()
        for path in presets.list_presets():
            operator = layout.operator("softrig.load_preset", text=path.stem, icon="USER")
            operator.filepath = str(path)
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("softrig.save_preset", text="Save Preset...", icon="ADD")
        layout.operator("softrig.load_preset", text="Load File...", icon="FILE_FOLDER")
        if presets.list_presets():
            layout.menu("SOFTRIG_MT_delete_preset", icon="TRASH")


class SOFTRIG_MT_delete_preset(bpy.types.Menu):
    bl_idname = "SOFTRIG_MT_delete_preset"
    bl_label = "Delete Preset"

    def draw(self, context: Any) -> None:
        for path in presets.list_presets():
            self.layout.operator("softrig.delete_preset", text=path.stem).preset = path.stem


def draw_presets(layout: Any, ob: Any) -> None:
    tissue = find_tissue(presets.read_values(ob))
    split = layout.split(factor=0.4)
    name = split.row()
    name.alignment = "RIGHT"
    name.label(text="Tissue")
    split.menu("SOFTRIG_MT_presets", text=tissue.name if tissue else "Own")
