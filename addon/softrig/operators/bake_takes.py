# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: bake a new one beside the others, show one, mix it in, take it off, use a file."""

from typing import Any

import bpy
from bpy.props import FloatProperty, StringProperty

from ..blender import carrier, followers, objects, takes
from ..blender.bake import BakeWish, check_existing
from ..model.baking import MAIN, clean_take, is_file_of, new_take
from ..model.rig import RefusalError
from .bake import FRAMES_TEXT, BakeJob, free
from .job import acting_session, poll_character, poll_library, usable_session


def poll_takes(cls: Any, context: Any) -> bool:
    if not poll_character(cls, context):
        return False
    if carrier.find_bake(context.object) is None:
        cls.poll_message_set("This character has no bake")
        return False
    return True


class SOFTRIG_OT_bake_take(BakeJob, bpy.types.Operator):
    bl_idname = "softrig.bake_take"
    bl_label = "Bake New Take"
    bl_description = "Bake into a file of its own, beside the bakes that there are. Esc stops"
    bl_options = {"REGISTER", "UNDO"}

    take: StringProperty(name="Take", description="Its name", options={"SKIP_SAVE"})
    frames: StringProperty(name="Frames", description=FRAMES_TEXT, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def begin(self, context: Any) -> bool:
        taken = [takes.take_of(modifier) for modifier in takes.bakes_of(context.object)]
        take = clean_take(self.take) if self.take.strip() else new_take(taken)
        return self.begin_with(context, [context.object], BakeWish(take, self.frames))


class TakeOperator:
    """Does something with one take of the active character."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_takes(cls, context)

    def execute(self, context: Any) -> set[str]:
        session, ob = acting_session(), context.object
        try:
            if takes.find(ob, self.take) is None:
                raise RefusalError(f'There is no take "{self.take}".')
            self.act(context, ob)
        except RefusalError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        session.rescan = True
        return {"FINISHED"}


class SOFTRIG_OT_show_take(TakeOperator, bpy.types.Operator):
    bl_idname = "softrig.show_take"
    bl_label = "Show Take"
    bl_description = "Play this take and none of the others"

    take: StringProperty(name="Take", default=MAIN)

    def act(self, context: Any, ob: Any) -> None:
        for baked in (ob, *followers.followers_of(ob)):
            if takes.bakes_of(baked):
                takes.show_only(baked, self.take)


class SOFTRIG_OT_mix_take(TakeOperator, bpy.types.Operator):
    bl_idname = "softrig.mix_take"
    bl_label = "Mix Take"
    bl_description = (
        "Lay this take over those above it in the list, where a vertex group is painted or "
        "everywhere. The weights are copied: press again after painting"
    )

    take: StringProperty(name="Take", default=MAIN)
    vertex_group: StringProperty(name="Vertex Group", description="Everywhere when empty")
    influence: FloatProperty(name="Influence", default=1.0, min=0.0, max=1.0, subtype="FACTOR")

    def invoke(self, context: Any, event: Any) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Any) -> None:
        self.layout.prop_search(self, "vertex_group", context.object, "vertex_groups")
        self.layout.prop(self, "influence")

    def act(self, context: Any, ob: Any) -> None:
        session = usable_session()
        takes.mix(session, ob, self.take, self.vertex_group, self.influence)
        for rider in followers.followers_of(ob):
            wanted = not self.vertex_group or self.vertex_group in rider.vertex_groups
            if wanted and takes.find(rider, self.take) is not None:
                takes.mix(session, rider, self.take, self.vertex_group, self.influence)


class SOFTRIG_OT_remove_take(TakeOperator, bpy.types.Operator):
    bl_idname = "softrig.remove_take"
    bl_label = "Remove Take"
    bl_description = "Take this bake off the character. Its file stays on disk"

    take: StringProperty(name="Take", default=MAIN)

    def act(self, context: Any, ob: Any) -> None:
        for baked in (ob, *followers.followers_of(ob)):
            takes.remove(baked, self.take)
        if carrier.find_bake(ob) is None:
            free(ob, context.scene)


class SOFTRIG_OT_use_bake(bpy.types.Operator):
    bl_idname = "softrig.use_bake"
    bl_label = "Use Bake from Disk"
    bl_description = "Play a point cache (PC2) that was baked elsewhere, on a farm for instance"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.pc2", options={"HIDDEN"})
    take: StringProperty(name="Take", default=MAIN, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = context.object
        follows = ob is not None and ob.type == "MESH" and followers.is_follower(ob)
        return poll_library(cls) if follows else poll_character(cls, context)

    def invoke(self, context: Any, event: Any) -> set[str]:
        if not self.filepath:
            self.filepath = bpy.path.abspath(takes.default_path(context.object))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        session, ob, path = acting_session(), context.object, self.filepath
        try:
            frames = check_existing(ob, path)
            if bpy.data.filepath and not path.startswith("//"):
                path = bpy.path.relpath(path)
            takes.sign(takes.attach(ob, clean_take(self.take), path, frames))
            followers.clear(ob, but_baked=True)
        except (RefusalError, ValueError) as error:  # another drive has no relative path
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        session.rescan = True
        for other in objects.all_characters():
            if other != ob and is_file_of(path, other.softrig.uuid):
                self.report({"WARNING"}, f'This file was baked for "{other.name}"')
        return {"FINISHED"}
