# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake of a farm: all characters of a file or some, no window, one JSON object a line.

blender -b shot.blend --python-exit-code 1 --python-expr "import bpy; bpy.ops.softrig.farm()"
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..blender import examine, objects, rendering, seen, stage
from ..blender.bake import BakeRun, BakeWish
from ..model.baking import MAIN, clean_take, split_names
from ..model.lifecycle import Phase
from ..model.rig import RefusalError
from ..native.errors import NativeError
from .bake import FRAMES_TEXT
from .job import acting_session, poll_library, usable_session

TOLD_SECONDS = 1.0
"""Progress is told no more often than this."""


def tell(event: str, **facts: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


class SOFTRIG_OT_farm(bpy.types.Operator):
    bl_idname = "softrig.farm"
    bl_label = "Bake on a Farm"
    bl_description = (
        "Bake without a window, telling progress on the standard output. A bake that was killed "
        "goes on where it stood when it is started again. Fails when a character cannot be baked"
    )
    bl_options = {"REGISTER", "INTERNAL"}

    characters: StringProperty(
        name="Characters", description="Names of objects, separated by commas; all when empty"
    )
    frames: StringProperty(name="Frames", description=FRAMES_TEXT)
    subframes: IntProperty(
        name="Subframes", description="Between two frames; -1 is as the panel Bake says", default=-1
    )
    output: StringProperty(name="Output", description="Another folder than beside the file")
    take: StringProperty(name="Take", default=MAIN)
    save: BoolProperty(
        name="Save", description="Let the characters play their bakes and save the file"
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        return poll_library(cls)

    def execute(self, context: Any) -> set[str]:
        folder = os.path.expanduser(self.output)
        wish = BakeWish(clean_take(self.take), self.frames, self.subframes, folder, self.save)
        baked, failed, chosen = 0, 0, []
        guests = [] if self.characters else rendering.find_guests_problems(context.scene)
        try:
            acting_session()
            leave_edit_mode()
            chosen = choose(all_shown(), self.characters, guests)
            begin(context.scene, chosen)
        except RefusalError as error:
            failed = 1
            tell("failed", message=str(error))
        for problem in guests:
            failed += 1
            tell("failed", message=problem)
        for uuid in [ob.softrig.uuid for ob in chosen]:
            whole = bake(context, uuid, wish)
            baked, failed = baked + whole, failed + (not whole)
        if self.save and not failed:
            failed += not save()
        tell("end", ok=not failed, baked=baked, failed=failed)
        if failed:
            self.report({"ERROR"}, "Not all characters were baked; the lines above say why")
            return {"CANCELLED"}
        return {"FINISHED"}


def leave_edit_mode() -> None:
    """The file was saved within: a rig shows no pose there, and nobody can press Tab."""
    for ob in [ob for ob in bpy.data.objects if ob.mode == "EDIT"]:
        with suppress(RuntimeError), bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.object.mode_set(mode="OBJECT")  # where it cannot, baking tells


def all_shown() -> list[Any]:
    """Of every scene: which one was in front when the file was saved is of no account."""
    return [ob for ob in objects.all_characters() if seen.is_anywhere(ob)]


def choose(characters: list[Any], names: str, guests: list[str]) -> list[Any]:
    """Those of that name, in the order in which they were named."""
    there = {ob.name: ob for ob in characters}
    if not there and not guests:
        raise RefusalError("No mesh of this file has Softrig.")
    return [there[name] for name in split_names(names, list(there))] or list(there.values())


def save() -> bool:
    try:
        return bpy.ops.wm.save_mainfile() == {"FINISHED"}
    except RuntimeError as error:
        tell("failed", message=f"The file was not saved: {str(error).strip()}")
        return False


def begin(scene: Any, chosen: list[Any]) -> None:
    frames = objects.frames_of(scene)
    tell(
        "begin",
        blender=bpy.app.version_string,
        library=usable_session().api.version(),
        file=bpy.data.filepath,
        scene=scene.name,
        frames=[frames.first, frames.last],
        characters=[ob.name for ob in chosen],
    )


def bake(context: Any, uuid: str, wish: BakeWish) -> bool:
    """Whether this character's file is whole now."""
    session = usable_session()
    ob = next(ob for ob in objects.all_characters() if ob.softrig.uuid == uuid)
    run = BakeRun(session, ob, context.scene, wish)
    try:
        go_through(session, run)
    except (NativeError, RefusalError) as error:
        run.stop()
        tell("failed", character=run.name, message=str(error), kept=run.kept.is_file())
        return False
    entry, frames = run.entry(), run.frames
    tell(
        "done",
        character=run.name,
        path=absolute(run.path),
        followers=[absolute(path) for _, path in run.written],
        frames=[frames.first, frames.last],
        subframes=frames.samples - 1,
        resumed=run.goes_on,
        simulated_seconds=round(entry.shot_status.seconds, 3),
    )
    examine.examine(session, ob, objects.scene_of(ob, entry.scene_name))
    for finding in session.findings.get(uuid, ()):
        tell("warning", character=run.name, message=finding.text)
    return True


def absolute(path: str) -> str:
    return os.path.normpath(bpy.path.abspath(path))


def go_through(session: Any, run: BakeRun) -> None:
    told_at = session.now() - TOLD_SECONDS
    while not run.turn():
        if session.now() - told_at >= TOLD_SECONDS:
            told_at = session.now()
            tell_progress(session, run)
        stage.pause()


def tell_progress(session: Any, run: BakeRun) -> None:
    entry = run.entry()
    if run.started:
        left = run.pace.seconds_left(run.progress, session.now())
        seconds = round(left, 1) if left is not None else None
        facts = {"phase": "baking", "progress": round(run.progress, 4), "seconds_left": seconds}
    else:
        preparing = entry.state.phase is Phase.PREPARING
        phase = "preparing" if preparing else "recording"
        facts = {"phase": phase, "progress": round(entry.progress, 4), "seconds_left": None}
    tell("progress", character=run.name, **facts)
