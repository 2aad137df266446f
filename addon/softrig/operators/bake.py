# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: the whole shot into a point cache that plays without us. Free Bake: back to live."""

from pathlib import Path
from typing import Any

import bpy

from ..blender import carrier, examine, objects, show, stage
from ..model.lifecycle import Event, Phase
from ..model.rig import RefusalError
from ..model.session import current
from ..native.errors import NativeError
from .job import Job, entry_of, poll_character, usable_session


def bake_path(ob: Any) -> str:
    """Beside the file, so that both can be sent away; a temporary folder while it is unsaved."""
    name = f"{bpy.path.clean_name(ob.name)}_{ob.softrig.uuid[:8]}.pc2"
    if bpy.data.filepath:
        return f"//softrig/{name}"
    return str(Path(bpy.app.tempdir) / name)


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise RefusalError(
            f"A file lies where the folder for bakes belongs: {folder}. Move or rename that file."
        ) from error
    except OSError as error:
        raise RefusalError(
            f"The folder for bakes cannot be made: {folder}: {error.strerror}. "
            f"Save the .blend where you may write, then bake again."
        ) from error


class SOFTRIG_OT_bake(Job, bpy.types.Operator):
    bl_idname = "softrig.bake"
    bl_label = "Bake"
    bl_description = (
        "Write the motion of all frames to a file beside the .blend. It plays and renders "
        "on any computer, without this add-on. Esc cancels"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def execute(self, context: Any) -> set[str]:
        if not self.begin(context):
            return {"CANCELLED"}
        while True:
            answer = self.turn(context)
            if answer is not None:
                return answer
            stage.pause()

    def invoke(self, context: Any, event: Any) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        return self.start_job(context) if self.begin(context) else {"CANCELLED"}

    def begin(self, context: Any) -> bool:
        ob = context.object
        self.uuid, self.path, self.started = ob.softrig.uuid, bake_path(ob), False
        entry = entry_of(usable_session(), ob, context.scene)
        if entry.state.phase is Phase.ABSENT or entry.state.is_refused:
            stage.happen(usable_session(), entry, ob, context.scene, Event.WANTED)
        else:
            usable_session().dispatch(entry, Event.RIG_CHANGED)
            stage.notice_edits(usable_session(), entry, ob, context.scene)
        stage.follow(usable_session(), entry, context.scene)
        if not bpy.data.filepath:
            self.report({"WARNING"}, "Save the file and bake again to keep the bake after quitting")
        return True

    def turn(self, context: Any) -> set[str] | None:
        session = usable_session()
        entry = session.entries.get(self.uuid)
        ob = objects.find_object(entry) if entry else None
        scene = objects.scene_of(ob, entry.scene_name) if ob else None
        if scene is None:
            return {"CANCELLED"}
        try:
            return self.bake(session, entry, ob, scene)
        except (NativeError, RefusalError) as error:
            return self.refuse(str(error))

    def bake(self, session: Any, entry: Any, ob: Any, scene: Any) -> set[str] | None:
        problem = carrier.find_problem(ob) or carrier.bake_problem(objects.frames_of(scene))
        if problem:
            return self.refuse(problem)
        if not self.started:
            entry.may_step = True
            if stage.settle(session, entry, ob, scene):
                target = Path(bpy.path.abspath(self.path))
                make_folder(target.parent)
                session.start_bake(entry, str(target))
                self.started = True
            return self.refuse(entry.state.message) if entry.state.is_refused else None
        if entry.bake is None:
            return self.refuse("The scene changed while baking. Bake again.")
        status = session.poll_bake(entry)
        if status.running:
            return None
        if status.failed:
            return self.refuse(status.message)
        session.end_bake(entry)
        if carrier.is_lost(ob):
            return self.refuse(carrier.LOST)
        if len(ob.data.vertices) != entry.build.vertex_count:
            return self.refuse("The mesh changed while baking. Bake again.")
        carrier.attach_bake(ob, self.path, entry.frames)
        examine.sign_bake(session, entry, ob)
        session.missing_bakes.pop(self.uuid, None)
        return {"FINISHED"}

    def refuse(self, message: str) -> set[str]:
        self.give_up(None)
        self.report({"ERROR"}, message)
        return {"CANCELLED"}

    def give_up(self, context: Any) -> None:
        session = current()
        entry = session.entries.get(self.uuid) if session else None
        if entry is not None:
            session.end_bake(entry)

    def progress_text(self) -> str:
        entry = current().entries.get(self.uuid)
        return f"Baking, {100.0 * (entry.bake_progress or 0.0):.0f} %" if entry else "Baking"


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
        carrier.free_bake(context.object)
        session = usable_session()
        session.rescan = True
        entry = session.entries.get(context.object.softrig.uuid)
        if entry is not None:
            # what was edited or painted while the bake played
            stage.notice_edits(session, entry, context.object, context.scene)
            frame = objects.shown_frame(context.scene)
            show.show_object(session, entry, context.object, frame)
        return {"FINISHED"}
