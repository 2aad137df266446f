# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets: a tissue, or what the artist kept; and one character's settings for others."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import objects, presets
from ..blender.properties import copy_settings
from ..model.presets import TISSUES
from ..model.rig import RefusalError


def poll_active(cls: Any, context: Any) -> bool:
    ob = context.object
    if ob is None or ob.type != "MESH" or not objects.is_character(ob):
        cls.poll_message_set("Select a mesh that has Softrig")
        return False
    return True


class SOFTRIG_OT_apply_tissue(bpy.types.Operator):
    bl_idname = "softrig.apply_tissue"
    bl_label = "Apply Tissue"
    bl_description = "Set Softness, Settle, Volume and Weight as for this tissue"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    tissue: StringProperty(name="Tissue", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Any, properties: Any) -> str:
        found = [tissue.text for tissue in TISSUES if tissue.key == properties.tissue]
        return found[0] if found else cls.bl_description

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_active(cls, context)

    def execute(self, context: Any) -> set[str]:
        for tissue in TISSUES:
            if tissue.key == self.tissue:
                presets.apply_values(context.object, tissue.values)
                return {"FINISHED"}
        self.report({"ERROR"}, f'There is no tissue "{self.tissue}".')
        return {"CANCELLED"}


class SOFTRIG_OT_load_preset(bpy.types.Operator):
    bl_idname = "softrig.load_preset"
    bl_label = "Load Preset"
    bl_description = "Set the dials as a preset file says"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_active(cls, context)

    def invoke(self, context: Any, event: Any) -> set[str]:
        if self.filepath:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        try:
            values = presets.load(Path(bpy.path.abspath(self.filepath)))
        except RefusalError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        presets.apply_values(context.object, values)
        return {"FINISHED"}


class SOFTRIG_OT_save_preset(bpy.types.Operator):
    bl_idname = "softrig.save_preset"
    bl_label = "Save Preset"
    bl_description = (
        "Keep Softness, Settle, Volume, Weight, Stiffness and Pose Correction under a name, "
        "for other characters and files. One of the same name is replaced"
    )
    bl_options = {"REGISTER"}

    preset: StringProperty(name="Name", default="My Flesh", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_active(cls, context)

    def invoke(self, context: Any, event: Any) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Any) -> set[str]:
        try:
            path = presets.save(self.preset, presets.read_values(context.object))
        except RefusalError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Wrote {path}")
        return {"FINISHED"}


class SOFTRIG_OT_delete_preset(bpy.types.Operator):
    bl_idname = "softrig.delete_preset"
    bl_label = "Delete Preset"
    bl_description = "Delete the file of this preset"
    bl_options = {"REGISTER", "INTERNAL"}

    preset: StringProperty(name="Name", options={"SKIP_SAVE"})

    def execute(self, context: Any) -> set[str]:
        try:
            presets.delete(self.preset)
        except RefusalError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class SOFTRIG_OT_copy_settings(bpy.types.Operator):
    bl_idname = "softrig.copy_settings"
    bl_label = "Copy Settings to Selected"
    bl_description = (
        "Give all selected characters the settings of the active one. "
        "Their painted maps, Loose Parts and keys stay as they are"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_active(cls, context)

    def execute(self, context: Any) -> set[str]:
        others = [
            ob
            for ob in context.selected_objects
            if ob != context.object and ob.type == "MESH" and objects.is_character(ob)
        ]
        if not others:
            self.report({"ERROR"}, "Select other characters too, and this one last.")
            return {"CANCELLED"}
        for ob in others:
            copy_settings(context.object, ob)
        self.report({"INFO"}, f"Copied to {', '.join(ob.name for ob in others)}")
        return {"FINISHED"}
