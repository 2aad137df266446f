# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow, Stop Following: clothes, eyes and teeth onto the cage of a character, and off it."""

from typing import Any

import bpy

from ..blender import followers, gather, objects
from ..model.rig import RefusalError
from .job import acting_session, poll_character


def candidates(context: Any) -> list[Any]:
    """The selected meshes besides the active character."""
    selected = context.selected_objects
    return [ob for ob in selected if ob.type == "MESH" and ob != context.object]


class SOFTRIG_OT_follow(bpy.types.Operator):
    bl_idname = "softrig.follow"
    bl_label = "Let Selected Follow"
    bl_description = (
        "Let the other selected meshes (clothes, eyes, teeth, hair caps) ride on the flesh of the "
        "active character. They keep their own deformation, and their meshes are not changed"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not poll_character(cls, context):
            return False
        if not candidates(context):
            cls.poll_message_set("Select the clothes first, then the character last")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        session, leader, count = acting_session(), context.object, 0
        for ob in candidates(context):
            try:
                self.take(ob, leader)
                count += 1
            except RefusalError as error:
                self.report({"ERROR"}, f"{ob.name}: {error}")
        session.rescan = True
        return {"FINISHED"} if count else {"CANCELLED"}

    def take(self, ob: Any, leader: Any) -> None:
        gather.check_object(ob)
        if objects.is_character(ob):
            raise RefusalError("It has Softrig of its own. Remove that first.")
        if followers.is_follower(ob):
            ob.softrig.leader = leader
        else:
            followers.attach(ob, leader, objects.new_uuid())
        problem = followers.problem(ob)
        if problem:
            followers.detach(ob)
            raise RefusalError(problem)


class SOFTRIG_OT_unfollow(bpy.types.Operator):
    bl_idname = "softrig.unfollow"
    bl_label = "Stop Following"
    bl_description = "Take this mesh off the character's flesh and leave it as it was"
    bl_options = {"REGISTER", "UNDO"}

    follower: bpy.props.StringProperty(
        name="Follower", description="Its name; the active object when empty", options={"SKIP_SAVE"}
    )

    def execute(self, context: Any) -> set[str]:
        ob = bpy.data.objects.get(self.follower) if self.follower else context.object
        if ob is None or ob.type != "MESH" or not ob.softrig.follower_uuid:
            self.report({"ERROR"}, "This object follows nobody")
            return {"CANCELLED"}
        session = acting_session()
        followers.detach(ob)
        if session is not None:
            session.rescan = True
        return {"FINISHED"}
