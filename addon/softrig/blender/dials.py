# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an object that have to do with forces and time. Some may be keyed."""

from typing import Any

from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
)

from ..model.session import current
from ..model.settings import LOOPS, PRE_ROLLS

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
NOT_KEYED: set[str] = set()
"""A shot has one set of these; a keyed one would make the whole shot anew at each frame."""
KEYED = {"ANIMATABLE"}
"""Recorded at each frame, beside the rig."""


def _note_dials(settings: Any, context: Any) -> None:
    """A keyed dial is recorded: turned by hand, it is recorded again."""
    session = current()
    if session is not None:
        session.dials_changed(settings.uuid)


def hand_in(settings: Any, context: Any) -> None:
    """The whole shot has one value: work on the new one begins at once."""
    session = current()
    if session is not None:
        session.dial_turns(settings.uuid)


def note_turn(settings: Any, context: Any) -> None:
    """What cannot be handed in at once is noticed by the heartbeat."""
    session = current()
    if session is not None:
        session.dial_turns(settings.uuid, at_once=False)


def tell_turns(dials: type) -> None:
    """Every setting tells when it is turned: Blender's own word for it is that the object moved."""
    for part in dials.__mro__:
        for setting in vars(part).get("__annotations__", {}).values():
            if "HIDDEN" not in setting.keywords.get("options", ()):
                setting.keywords.setdefault("update", note_turn)


def choices(entries: Any) -> list[tuple[str, str, str, int]]:
    """A list for Blender; its numbers are what files keep."""
    return [(entry.key, entry.name, entry.text, int(entry.number)) for entry in entries]


class ForceDials:
    """What pulls and pushes."""

    gravity_factor: FloatProperty(
        name="Gravity",
        description="How many times the scene's gravity pulls. The modelled shape counts as "
        "hanging right at the first frame: what changes is what bends, leans or turns over",
        default=0.0,
        min=-1000.0,
        max=1000.0,
        soft_min=0.0,
        soft_max=2.0,
        step=10,
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )
    plain_gravity: BoolProperty(
        name="Plain Gravity",
        description="Gravity pulls on the shape as modelled too: a character at rest sags",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    wind_speed: FloatProperty(
        name="Wind",
        description="Speed of the air in metres a second: 3 a breeze, 10 strong, 25 a storm",
        default=0.0,
        min=0.0,
        max=1000.0,
        soft_max=30.0,
        step=50,
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )
    wind_direction: FloatVectorProperty(
        name="Direction",
        description="Where the wind blows to, in the world; its length does not count",
        default=(1.0, 0.0, 0.0),
        size=3,
        subtype="XYZ",
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )
    wind_gusts: FloatProperty(
        name="Gusts",
        description="How much the wind swells and drops: 0 blows evenly",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )
    travel_felt: FloatProperty(
        name="Travel Felt",
        description="How much of the character's own travel and turning the flesh feels. "
        "0: running through the scene does not shake it, only moving its limbs does",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )


class ShapeDials:
    """What flesh wants to be."""

    pressure: FloatProperty(
        name="Pressure",
        description="By how much of itself the flesh wants to be larger: 0.2 is a fifth, "
        "-0.2 shrinks. Only above Volume 0, and only by the complementary method",
        default=0.0,
        min=-0.9,
        max=10.0,
        soft_min=-0.5,
        soft_max=1.0,
        step=5,
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )


class TimeDials:
    """When it begins, jumps and closes."""

    cut: BoolProperty(
        name="Cut",
        description="Key it on where the rig jumps, as in a teleport: the flesh goes along "
        "unshaken. Counts at the frame where it goes on. Markers named Cut do the same for all "
        "characters",
        default=False,
        options=KEYED,
        override=OVERRIDABLE,
        update=_note_dials,
    )
    use_start_frame: BoolProperty(
        name="Own Start",
        description="Begin the motion at another frame than the scene; earlier frames show "
        "the first",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    start_frame: IntProperty(
        name="Start",
        description="The frame at which the motion begins",
        default=1,
        min=-100_000,
        max=1_000_000,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    pre_roll_mode: EnumProperty(
        name="Pre-Roll",
        description="What is simulated before the first frame",
        items=choices(PRE_ROLLS),
        default=PRE_ROLLS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    pre_roll: IntProperty(
        name="Frames Before",
        description="How many frames are simulated before the first one",
        default=24,
        min=1,
        max=10_000,
        soft_max=250,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    loop: EnumProperty(
        name="Loop",
        description="Whether the range is played round and round: its end then meets its beginning",
        items=choices(LOOPS),
        default=LOOPS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
