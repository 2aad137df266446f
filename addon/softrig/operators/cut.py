# SPDX-License-Identifier: GPL-3.0-or-later
"""Cut Marker: what an artist sets where a rig jumps."""

from typing import Any

import bpy

from ..model.controls import is_cut_marker


class SOFTRIG_OT_cut_marker(bpy.types.Operator):
    bl_idname = "softrig.cut_marker"
    bl_label = "Cut Marker Here"
    bl_description = (
        "Set a marker named Cut at the current frame, or take it away: all characters of the "
        "scene go along with a jump to this frame as if nothing had happened"
    )
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        markers, frame = context.scene.timeline_markers, context.scene.frame_current
        here = [m for m in markers if m.frame == frame and is_cut_marker(m.name)]
        for marker in here:
            markers.remove(marker)
        if not here:
            markers.new("Cut", frame=frame)
        return {"FINISHED"}
