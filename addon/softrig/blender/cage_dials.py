# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an object that its inner cage depends on: with any other it is prepared again."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..model.settings import MESHERS, make_inside
from ..native.inputs import InsideInput
from .dials import NOT_KEYED, OVERRIDABLE, choices


class CageDials:
    """How fine the cage is, who makes it, and what counts as the inside of the mesh."""

    cage_nodes: IntProperty(
        name="Cage Size",
        description="About how many points the inner cage has. More gives finer motion and is "
        "slower. The character is prepared again",
        default=1000,
        min=50,
        max=200_000,
        soft_max=10_000,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    mesher: EnumProperty(
        name="Cage From",
        description="How the inner cage is made. The character is prepared again",
        items=choices(MESHERS),
        default=MESHERS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    largest_hole: FloatProperty(
        name="Max Hole",
        description="Holes in the mesh up to this size are closed for the inner cage, in "
        "hundredths of the character's size (the diagonal of its bounds). Larger ones, such as a "
        "neck without a head, stay open. The character is prepared again",
        default=20.0,
        min=0.0,
        max=100.0,
        precision=1,
        subtype="PERCENTAGE",
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    sheet_thickness: FloatProperty(
        name="Flat Parts",
        description="How thick the inner cage makes what is flat or encloses nothing (ears, fins, "
        "cloth), in hundredths of the character's size. 0 leaves such parts out of it. Your mesh "
        "stays as it is. The character is prepared again",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=10.0,
        precision=2,
        subtype="PERCENTAGE",
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    fills_hollows: BoolProperty(
        name="Fill Hollows",
        description="Hollows within the mesh are flesh too. Off, they stay empty, as in a shell. "
        "The character is prepared again",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    joins_touching: BoolProperty(
        name="Join Touching",
        description="Parts that touch, all but touch or overlap a little hang together, as pieces "
        "of one body that was modelled in parts. Off, they move apart, as fingers and lips must. "
        "The character is prepared again",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )


def read_inside(ob: Any) -> InsideInput:
    values = ob.softrig
    return make_inside(
        hole_percent=values.largest_hole,
        sheet_percent=values.sheet_thickness,
        fills_hollows=values.fills_hollows,
        joins_touching=values.joins_touching,
    )
