# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Softrig: from a mesh with an armature to a character that moves."""

from typing import Any

import bpy

from ..blender import carrier, followers, gather, objects, owners, prepared, show, stage
from ..model.lifecycle import Event, Phase
from ..model.rig import RefusalError
from ..model.schedule import describe
from ..model.session import current
from .job import Job, poll_library, usable_session


class SOFTRIG_OT_add(Job, bpy.types.Operator):
    bl_idname = "softrig.add"
    bl_label = "Add Softrig"
    bl_description = (
        "Make the flesh of this character follow its animation softly. "
        "The mesh itself is not changed. Takes a moment; Esc cancels"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = context.object
        if ob is None or ob.type != "MESH":
            cls.poll_message_set("Select the character's mesh")
            return False
        if objects.is_character(ob) or (session_adds(ob.name)):
            cls.poll_message_set("This mesh has Softrig already")
            return False
        if followers.is_follower(ob):
            cls.poll_message_set("This mesh follows a character; Stop Following first")
            return False
        return poll_library(cls)

    def execute(self, context: Any) -> set[str]:
        if not self.begin(context):
            return {"CANCELLED"}
        ob, scene = bpy.data.objects[self.object_name], bpy.data.scenes[self.scene_name]
        stage.ensure_live(usable_session(), self.entry(), ob, scene)
        return self.turn(context) or {"CANCELLED"}

    def begin(self, context: Any) -> bool:
        session, ob = usable_session(), context.object
        session.notices.pop(ob.name, None)
        try:
            gather.check_object(ob)
        except RefusalError as error:
            session.notices[ob.name] = str(error)
            self.report({"ERROR"}, str(error))
            return False
        carrier.drop_copies(ob)
        self.uuid, self.object_name = objects.new_uuid(), ob.name
        self.scene_name = context.scene.name
        session.adding[ob.name] = self.uuid
        entry = session.open_entry(self.uuid, ob.name, context.scene.name)
        entry.may_step = True
        stage.happen(session, entry, ob, context.scene, Event.WANTED)
        return True

    def entry(self) -> Any:
        return current().entries.get(self.uuid)

    def turn(self, context: Any) -> set[str] | None:
        session, entry = usable_session(), self.entry()
        ob = bpy.data.objects.get(self.object_name)
        scene = bpy.data.scenes.get(self.scene_name)
        if entry is None or ob is None or scene is None:
            self.give_up(context)
            return {"CANCELLED"}
        stage.advance(session, entry, ob, scene)
        if entry.state.is_refused:
            return self.refuse(context, entry.state.message)
        if entry.state.phase is not Phase.LIVE:
            return None
        try:
            self.put_on(session, entry, ob, scene)
        except Exception as error:  # all or nothing, whatever Blender objects to
            return self.refuse(context, str(error).strip())
        return {"FINISHED"}

    def put_on(self, session: Any, entry: Any, ob: Any, scene: Any) -> None:
        before = ob.softrig.uuid
        carrier.attach(ob)
        try:
            owners.fit(ob, len(entry.buffer) // 3)
            ob.softrig.uuid = self.uuid
            owners.own(ob)
            session.adding.pop(self.object_name, None)
            prepared.keep(session, entry, ob)
            show.show_object(session, entry, ob, objects.shown_frame(scene))
        except Exception:
            carrier.detach(ob)
            ob.softrig.uuid = before
            raise

    def refuse(self, context: Any, message: str) -> set[str]:
        current().notices[self.object_name] = message
        self.report({"ERROR"}, message)
        self.give_up(context)
        return {"CANCELLED"}

    def give_up(self, context: Any) -> None:
        session = current()
        if session is not None:
            session.adding.pop(self.object_name, None)
            session.forget(self.uuid)

    def progress_text(self) -> str:
        entry = self.entry()
        return describe(entry) if entry else ""


def session_adds(object_name: str) -> bool:
    session = current()
    return session is not None and object_name in session.adding
