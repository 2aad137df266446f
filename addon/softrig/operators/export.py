# SPDX-License-Identifier: GPL-3.0-or-later
"""Export for the command line program: the skin as OBJ, bones and recorded motion as a rig file."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import gather, objects, tape
from ..model.rig import RefusalError
from ..model.rig_file import obj_lines, rig_lines
from .job import poll_library, usable_session


class SOFTRIG_OT_export_rig(bpy.types.Operator):
    bl_idname = "softrig.export_rig"
    bl_label = "Export for Command Line"
    bl_description = (
        "Write the mesh (.obj) and its bones with their motion over the scene range (.rig), "
        "for the softrig program, which needs no Blender"
    )
    bl_options = {"REGISTER"}

    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.rig", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = context.object
        return ob is not None and ob.type == "MESH" and poll_library(cls)

    def invoke(self, context: Any, event: Any) -> set[str]:
        if not self.filepath:
            self.filepath = f"{bpy.path.clean_name(context.object.name)}.rig"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        if not bpy.path.basename(self.filepath):
            return self.refuse("No file was chosen.")
        session, ob, scene = usable_session(), context.object, context.scene
        rig = Path(bpy.path.abspath(self.filepath)).with_suffix(".rig")
        try:
            gather.check_object(ob)
            character = gather.read_character(session, ob, scene, gather.read_shape(session, ob))
            frames = objects.frames_of(scene)
            span = range(frames.first, frames.last + 1)
            rows = tape.record(session, scene, ob, character.tape_plan, span).rows
            flesh, rows = character.as_flesh(), character.proportions.of_rows(rows)
            write_lines(rig.with_suffix(".obj"), obj_lines(flesh))
            write_lines(rig, rig_lines(flesh, frames, rows))
        except RefusalError as error:
            return self.refuse(str(error))
        except OSError as error:
            return self.refuse(f"{rig} cannot be written: {error.strerror}. Choose another folder.")
        self.report({"INFO"}, f"Wrote {rig.name} and {rig.stem}.obj")
        return {"FINISHED"}

    def refuse(self, message: str) -> set[str]:
        self.report({"ERROR"}, message)
        return {"CANCELLED"}


def write_lines(path: Path, lines: Any) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
