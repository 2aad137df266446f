# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, Bake All: shots into point caches that play without us. Free Bake, Free All: live again."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import bake_keys, carrier, followers, objects, seen, show, stage, takes
from ..blender.bake import BakeRun, BakeWish
from ..model.baking import MAIN, clean_take, describe_bake
from ..model.rig import RefusalError
from ..native.errors import NativeError
from .job import Job, acting_session, poll_character, poll_library, usable_session

FRAMES_TEXT = "Frames to write, such as 1-100; when empty those that the panel Bake says"


class BakeJob(Job):
    """Bakes one character after the other, in turns. All are kept that came to their end."""

    run: BakeRun | None = None

    def begin_with(self, context: Any, chosen: list[Any], wish: BakeWish) -> bool:
        acting_session()
        self.wish, self.waiting, self.run = wish, [ob.softrig.uuid for ob in chosen], None
        self.total = len(self.waiting)
        if not bpy.data.filepath and not wish.folder:
            self.report({"WARNING"}, "Save the file and bake again to keep the bake after quitting")
        return bool(self.waiting)

    def turn(self, context: Any) -> set[str] | None:
        try:
            if self.run is None:
                return self.next_run()
            if not self.run.turn():
                return None
        except (NativeError, RefusalError) as error:
            return self.refuse(error)
        self.run = None
        return None if self.waiting else {"FINISHED"}

    def next_run(self) -> set[str] | None:
        uuid = self.waiting.pop(0)
        for ob in objects.all_characters():
            scene = objects.scene_of(ob, bpy.context.scene.name)
            if ob.softrig.uuid == uuid and scene is not None:
                self.run = BakeRun(usable_session(), ob, scene, self.wish)
                return None
        return None if self.waiting else {"CANCELLED"}

    def refuse(self, error: Exception) -> set[str]:
        name = f"{self.run.name}: " if self.run is not None and self.total > 1 else ""
        self.give_up(None)
        self.report({"ERROR"}, f"{name}{error}")
        return {"CANCELLED"}

    def give_up(self, context: Any) -> None:
        if self.run is not None:
            self.run.stop()

    def cancelled_text(self) -> str:
        return (self.run.kept_text() if self.run is not None else "") or "Cancelled"

    def progress_text(self) -> str:
        text = self.run.progress_text() if self.run is not None else describe_bake(0.0, None)
        number = self.total - len(self.waiting)
        return f"{text} ({number} of {self.total})" if self.total > 1 else text


class SOFTRIG_OT_bake(BakeJob, bpy.types.Operator):
    bl_idname = "softrig.bake"
    bl_label = "Bake"
    bl_description = (
        "Write the motion of all frames to a file beside the .blend. It plays and renders "
        "on any computer, without this add-on. Esc stops; the next bake goes on from there"
    )
    bl_options = {"REGISTER", "UNDO"}

    take: StringProperty(name="Take", default=MAIN, options={"SKIP_SAVE"})
    frames: StringProperty(name="Frames", description=FRAMES_TEXT, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def begin(self, context: Any) -> bool:
        wish = BakeWish(take=clean_take(self.take), frames=self.frames)
        return self.begin_with(context, [context.object], wish)


class SOFTRIG_OT_bake_all(BakeJob, bpy.types.Operator):
    bl_idname = "softrig.bake_all"
    bl_label = "Bake All"
    bl_description = "Bake each character of this scene, one after the other. Esc stops"
    bl_options = {"REGISTER", "UNDO"}

    frames: StringProperty(name="Frames", description=FRAMES_TEXT, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_library(cls)

    def begin(self, context: Any) -> bool:
        chosen = characters_of(context.scene)
        if not chosen:
            self.report({"ERROR"}, "No mesh of this scene has Softrig")
        return self.begin_with(context, chosen, BakeWish(frames=self.frames))


def characters_of(scene: Any) -> list[Any]:
    return [ob for ob in objects.all_characters() if seen.is_in(ob, scene)]


class SOFTRIG_OT_free_bake(bpy.types.Operator):
    bl_idname = "softrig.free_bake"
    bl_label = "Free Bake"
    bl_description = (
        "Play live again. The file stays on disk until the next bake writes over it, "
        "so that this can be undone"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def execute(self, context: Any) -> set[str]:
        free(context.object, context.scene)
        return {"FINISHED"}


class SOFTRIG_OT_free_all(bpy.types.Operator):
    bl_idname = "softrig.free_all"
    bl_label = "Free All"
    bl_description = (
        "Let each character of this scene play live again. Files stay on disk, baked shape keys go"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_library(cls)

    def execute(self, context: Any) -> set[str]:
        for ob in characters_of(context.scene):
            free_keys(ob)
            if carrier.find_bake(ob) is not None:
                free(ob, context.scene)
        return {"FINISHED"}


def free_keys(ob: Any) -> None:
    """Shape keys that a bake made, of the character and what follows it."""
    for baked in (ob, *followers.followers_of(ob)):
        if baked.data.library is None:
            bake_keys.remove_keys(baked)


def free(ob: Any, scene: Any) -> None:
    session = acting_session()
    for baked in (ob, *followers.followers_of(ob)):
        takes.free(baked)
    session.rescan = True
    entry = session.entries.get(ob.softrig.uuid)
    if entry is not None:
        # what was edited or painted while the bake played
        stage.notice_edits(session, entry, ob, scene)
        show.show_object(session, entry, ob, objects.shown_frame(scene))
