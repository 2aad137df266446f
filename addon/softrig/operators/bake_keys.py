# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake to Shape Keys and back; Export Motion: Alembic and USD by Blender's own exporters."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..blender import (
    bake_keys,
    bake_names,
    carrier,
    compat,
    export_files,
    objects,
    stage,
    tape,
)
from ..blender.bake import BakeRun, BakeWish
from ..blender.bake_dials import frames_to_bake
from ..model.baking import sample_frames
from ..model.rig import RefusalError
from ..native.errors import NativeError
from ..native.inputs import FrameRange
from .bake import free_keys
from .job import Job, acting_session, entry_of, poll_character, usable_session

TURN_SECONDS = 0.1
FORMATS = {"ALEMBIC": (".abc", "Alembic"), "USD": (".usdc", "USD")}


class SOFTRIG_OT_bake_keys(Job, bpy.types.Operator):
    bl_idname = "softrig.bake_keys"
    bl_label = "Bake to Shape Keys"
    bl_description = (
        "Write the motion of each frame into a shape key of the mesh, with keyframes: for games, "
        "and for files without a cache; of its followers too. Your own shape keys stay. Heavy: for "
        "short shots"
    )
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Kind",
        items=(
            ("RELATIVE", "One Key a Frame", "Beside your own shape keys; games want these"),
            ("ABSOLUTE", "One Curve", "Lighter to play; only where there are no other shape keys"),
        ),
        default="RELATIVE",
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def begin(self, context: Any) -> bool:
        self.targets, self.moves = None, []
        try:
            bake_keys.check(context.object, self.kind == "ABSOLUTE")
        except RefusalError as error:
            self.report({"ERROR"}, str(error))
            return False
        # no file: for what it does to become live and up to date
        self.run = BakeRun(acting_session(), context.object, context.scene, BakeWish())
        return True

    def turn(self, context: Any) -> set[str] | None:
        session, entry = usable_session(), self.run.entry()
        ob = objects.find_object(entry) if entry is not None else None
        scene = objects.scene_of(ob, entry.scene_name) if ob is not None else None
        if scene is None:
            return {"CANCELLED"}
        try:
            if self.targets is None:
                if stage.settle_whole(session, entry, ob, scene):
                    self.frames = self.run.choose(entry, ob, scene)
                    self.choose_targets(entry, ob)
                return None
            return self.read_some(session, entry, ob, scene)
        except (NativeError, RefusalError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def choose_targets(self, entry: Any, ob: Any) -> None:
        targets, left_out = bake_keys.find_targets(entry, ob, self.kind == "ABSOLUTE")
        for text in left_out:
            self.report({"WARNING"}, text)
        self.targets = [follower for _, follower in targets]
        self.moves = [[] for _ in targets]

    def read_some(self, session: Any, entry: Any, ob: Any, scene: Any) -> set[str] | None:
        """Of the first who has not all; the followers may be others than they were."""
        moments, absolute = sample_frames(self.frames), self.kind == "ABSOLUTE"
        targets, _ = bake_keys.find_targets(entry, ob, absolute)
        bake_keys.check(ob, absolute)
        if [follower for _, follower in targets] != self.targets:
            raise RefusalError("Its followers changed meanwhile. Bake again.")
        end = session.now() + TURN_SECONDS
        for (target, follower), moves in zip(targets, self.moves, strict=True):
            span = moments[len(moves) :]
            if not span:
                continue
            for move in bake_keys.read_moves(session, entry, scene, target, span, follower):
                moves.append(move)
                if session.now() >= end:
                    return None
        for (target, _), moves in zip(targets, self.moves, strict=True):
            made_of = session.bake_source(entry)
            bake_keys.write_keys(target, self.frames, moves, absolute, made_of)
        return {"FINISHED"}

    def give_up(self, context: Any) -> None:
        self.targets, self.moves = None, []

    def progress_text(self) -> str:
        return f"Shape keys, frame {sum(map(len, self.moves))}"


class SOFTRIG_OT_free_keys(bpy.types.Operator):
    bl_idname = "softrig.free_keys"
    bl_label = "Free Shape Keys"
    bl_description = "Remove the shape keys that a bake made, and play live again. Yours stay"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context) and bake_names.has_ours(context.object.data)

    def execute(self, context: Any) -> set[str]:
        free_keys(context.object)
        return {"FINISHED"}


class SOFTRIG_OT_export_motion(bpy.types.Operator):
    bl_idname = "softrig.export_motion"
    bl_label = "Export Motion"
    bl_description = "Write the moving mesh for another program, by Blender's own exporter"
    bl_options = {"REGISTER"}

    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    kind: EnumProperty(
        name="Format",
        items=(("ALEMBIC", "Alembic", "A .abc file"), ("USD", "USD", "A .usdc file")),
        default="ALEMBIC",
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_character(cls, context)

    def invoke(self, context: Any, event: Any) -> set[str]:
        ending, name = FORMATS[self.kind]
        if not compat.can_export(self.kind):
            return self.refuse(without(name))
        if not self.filepath:
            self.filepath = bpy.path.clean_name(context.object.name) + ending
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        ending, name = FORMATS[self.kind]
        if not compat.can_export(self.kind):
            return self.refuse(without(name))
        if not bpy.path.basename(self.filepath):
            return self.refuse("No file was chosen.")
        path = Path(bpy.path.abspath(self.filepath)).with_suffix(ending)
        partial = path.with_name(f"{path.stem}.partial{ending}")
        try:
            frames = make_whole(context)
            depsgraph = context.evaluated_depsgraph_get()
            export_files.check_before(context.object, depsgraph, path.parent, frames)
            export(context, self.kind, partial, frames)
            export_files.check_after(partial)
            os.replace(partial, path)
        except (NativeError, RefusalError, RuntimeError, OSError) as error:
            with suppress(OSError):
                partial.unlink()
            return self.refuse(f"{path} was not written: {str(error).strip()}")
        self.report({"INFO"}, f"Wrote {path.name}")
        if self.kind == "USD" and frames.samples > 1:
            self.report({"WARNING"}, "Blender's USD exporter writes no subframes")
        return {"FINISHED"}

    def refuse(self, message: str) -> set[str]:
        self.report({"ERROR"}, message)
        return {"CANCELLED"}


def without(name: str) -> str:
    return (
        f"This Blender was built without {name}, as the one of Debian is. "
        f"Use a Blender from blender.org, or bake to a point cache."
    )


def make_whole(context: Any) -> FrameRange:
    """The frames to write. The exporter steps the scene by itself: all of the shot's are ready
    before it begins."""
    session, ob, scene = acting_session(), context.object, context.scene
    unposed = tape.find_unposed(ob)
    if unposed:
        raise RefusalError(unposed)
    frames = frames_to_bake(ob, scene, objects.frames_of(scene))
    if carrier.find_bake(ob) is not None or bake_names.has_ours(ob.data):
        return frames
    BakeRun(session, ob, scene, BakeWish())
    entry = entry_of(session, ob, scene)
    while not stage.settle_whole(session, entry, ob, scene):
        stage.pause()
    return frames


@contextmanager
def scene_range(scene: Any, frames: FrameRange) -> Iterator[None]:
    """The scene shows these frames alone; the shot, which covers the preview range too, stays."""
    names = ("frame_start", "frame_end")
    preview = ("frame_preview_start", "frame_preview_end", "use_preview_range")
    before = {name: getattr(scene, name) for name in (*names, *preview)}
    whole = objects.frames_of(scene)
    try:
        scene.frame_preview_end, scene.frame_preview_start = whole.last, whole.first
        scene.use_preview_range = True
        scene.frame_end, scene.frame_start = frames.last, frames.first
        yield
    finally:
        for name in ("frame_end", "frame_start", *reversed(preview)):
            setattr(scene, name, before[name])


def export(context: Any, kind: str, path: Path, frames: FrameRange) -> None:
    layer, scene = context.view_layer, context.scene
    chosen, active = [ob for ob in layer.objects if ob.select_get()], layer.objects.active
    for ob in chosen:
        ob.select_set(ob == active)
    active.select_set(True)
    operator = bpy.ops.wm.alembic_export if kind == "ALEMBIC" else bpy.ops.wm.usd_export
    wanted = {
        "filepath": str(path),
        "start": frames.first,
        "end": frames.last,
        "xsamples": frames.samples,
        "gsamples": frames.samples,
        "selected": True,
        "selected_objects_only": True,
        "export_animation": True,
        "export_armatures": False,
        "export_shapekeys": False,
        "evaluation_mode": "VIEWPORT" if kind == "USD" else "RENDER",
        "as_background_job": False,
    }
    known = operator.get_rna_type().properties.keys()
    try:
        with scene_range(scene, frames):
            operator(**{name: value for name, value in wanted.items() if name in known})
    finally:
        for ob in layer.objects:
            ob.select_set(ob in chosen)
