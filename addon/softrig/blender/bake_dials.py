# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an object that say what of its shot is baked: which frames, how finely."""

from dataclasses import replace
from typing import Any

from bpy.props import EnumProperty, IntProperty

from ..model.baking import MOST_SAMPLES, RANGES, choose_frames, within
from ..model.rig import RefusalError
from ..native.inputs import FrameRange
from .dials import NOT_KEYED, OVERRIDABLE, choices
from .objects import frames_of


class BakeDials:
    """Of all bakes: point caches, shape keys, Alembic and USD."""

    bake_range: EnumProperty(
        name="Frames",
        description="Which frames a bake or an export writes",
        items=choices(RANGES),
        default=RANGES[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    bake_first: IntProperty(
        name="First",
        description="The first frame that is baked",
        default=1,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    bake_last: IntProperty(
        name="Last",
        description="The last frame that is baked",
        default=250,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    bake_subframes: IntProperty(
        name="Subframes",
        description="How many positions between two frames are written too, for motion blur in "
        "other programs and for slow motion. Blender blurs whole frames as well: from one to the "
        "next a point cache goes straight either way. USD has none",
        default=0,
        min=0,
        max=MOST_SAMPLES - 1,
        soft_max=15,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )


def frames_to_bake(
    ob: Any, scene: Any, whole: FrameRange, text: str = "", subframes: int = -1
) -> FrameRange:
    """What of the shot: as `text` and `subframes` say, else as the artist chose for this character.

    Refuses, in words, frames that are not there.
    """
    dials = ob.softrig
    if not text.strip() and dials.bake_range == "ALL":  # in background a shot may be longer
        whole = within(whole, frames_of(scene))
    preview = (scene.frame_preview_start, scene.frame_preview_end)
    chosen = choose_frames(
        text,
        whole,
        dials.bake_range,
        (dials.bake_first, dials.bake_last),
        preview if scene.use_preview_range else None,
    )
    if subframes >= MOST_SAMPLES:
        raise RefusalError(f"{subframes} subframes are too many: {MOST_SAMPLES - 1} at most.")
    between = dials.bake_subframes if subframes < 0 else subframes
    return replace(chosen, samples=between + 1)
