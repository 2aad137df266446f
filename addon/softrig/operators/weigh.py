# SPDX-License-Identifier: GPL-3.0-or-later
"""Softrig Weights: vertex groups for a mesh and its bones, in place of Automatic Weights."""

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..blender import weigh
from ..model import weights
from ..model.rig import RefusalError
from ..model.session import current
from ..native.errors import NativeError
from .job import Job, poll_library, usable_session


class SOFTRIG_OT_weigh(Job, bpy.types.Operator):
    bl_idname = "softrig.weigh"
    bl_label = "Softrig Weights"
    bl_description = (
        "Give the mesh smooth weights for its bones, also where Automatic Weights fails: open, "
        "overlapping, in pieces. Locked groups stay, and the others share what they leave; groups "
        "of bones that do not deform stay too, and take no share, locked or not. Esc cancels"
    )
    bl_options = {"REGISTER", "UNDO"}

    nodes: IntProperty(
        name="Detail",
        description="How many points the weights are computed on",
        default=4000,
        min=200,
        max=50000,
    )
    symmetric: BoolProperty(
        name="Symmetric",
        description="Where bones mirror each other by name and place, so do the weights",
        default=True,
    )
    most_bones: IntProperty(
        name="Most Bones",
        description="How many bones may move one vertex; 0 for any number. Games want 4. "
        "Of two that mirror each other and hold equally, both stay or both go",
        default=0,
        min=0,
        max=32,
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        if context.object is None or context.object.type != "MESH":
            cls.poll_message_set("Select the mesh, and its armature before it")
            return False
        return poll_library(cls)

    def begin(self, context: Any) -> bool:
        self.job, ob = None, context.object
        try:
            weigh.check_object(ob)
            armatures = weigh.find_armatures(ob, context)
            self.bones = weigh.read_bones(ob, armatures)
            data = weigh.read_input(ob, self.bones, self.nodes, self.symmetric)
            self.sides = weights.find_sides_of(data)
            self.job = usable_session().api.start_weights(data)
        except (RefusalError, NativeError) as error:
            self.report({"ERROR"}, str(error))
            return False
        self.object_name, self.armature_names = ob.name, [rig.name for rig in armatures]
        self.vertex_count, self.row_count = len(ob.data.vertices), data.vertex_count
        self.progress = 0.0
        return True

    def turn(self, context: Any) -> set[str] | None:
        try:
            status = usable_session().api.weights_status(self.job)
            self.progress = status.progress
            if status.running:
                return None
            if status.failed:
                return self.refuse(status.message)
            return self.finish()
        except (RefusalError, NativeError) as error:
            return self.refuse(str(error))

    def finish(self) -> set[str]:
        api, ob = usable_session().api, bpy.data.objects.get(self.object_name)
        armatures = [bpy.data.objects.get(name) for name in self.armature_names]
        if ob is None or None in armatures or len(ob.data.vertices) != self.vertex_count:
            return self.refuse("The mesh changed meanwhile. Compute the weights again.")
        values = api.read_weights(self.job, self.row_count, len(self.bones))[: self.vertex_count]
        report = api.weights_report(self.job)
        self.give_up(None)
        values = weights.drop_small(values, self.most_bones, self.sides)
        nowhere = int((values.sum(axis=1) <= 0.0).sum())
        values = weights.share_with_locked(values, weigh.read_locked(ob, armatures))
        names = [bone.name for bone in self.bones]
        columns = dict(zip(names, weights.to_entries(values), strict=True))
        weigh.write_groups(ob, columns)
        weigh.bind(ob, armatures)
        idle = [name for name, levels in columns.items() if not levels]
        for text in weights.describe(report, len(names), idle):
            self.report({"INFO"}, text)
        if nowhere:
            text = (
                f"No weight for vertices whose coordinates are no numbers ({nowhere}). Delete them"
            )
            self.report({"WARNING"}, text)
        return {"FINISHED"}

    def refuse(self, message: str) -> set[str]:
        self.give_up(None)
        self.report({"ERROR"}, message)
        return {"CANCELLED"}

    def give_up(self, context: Any) -> None:
        session, job = current(), self.job
        self.job = None
        if session is not None and session.api is not None and job is not None:
            session.api.destroy_weights(job)

    def progress_text(self) -> str:
        return f"Computing weights, {100.0 * self.progress:.0f} %"
