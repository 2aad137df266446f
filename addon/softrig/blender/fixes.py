# SPDX-License-Identifier: GPL-3.0-or-later
"""Mends what a Fix button says, on Blender's data; raises a refusal where it cannot."""

from collections.abc import Callable
from typing import Any

from ..model.diagnostics import USUAL_SIZE
from ..model.rig import RefusalError
from . import carrier, compat, examine, followers, generators, tape


def move_softrig(ob: Any) -> None:
    """To where Add Softrig would put it."""
    ours, place = carrier.find_modifier(ob), carrier.best_place(ob)
    compat.move_modifier(ob, ours, place)
    if ob.modifiers.find(ours.name) != place:
        raise RefusalError("Blender does not let Softrig stand there.")


def even_out(ob: Any) -> None:
    for modifier in carrier.list_generators(ob):
        generators.make_even(ob, modifier)


def turn_on_armature(ob: Any) -> None:
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE" and examine.is_half(modifier):
            modifier.show_viewport = modifier.show_render = True


def pose_armatures(ob: Any) -> None:
    for armature in tape.find_armatures(ob):
        if armature.data.library is not None:
            raise RefusalError(f'"{armature.name}" is linked: set it to Pose Position in its file.')
        armature.data.pose_position = "POSE"


def enable_armatures(ob: Any) -> None:
    for armature in tape.find_armatures(ob):
        armature.hide_viewport = False


def turn_on_softrig(ob: Any) -> None:
    modifier = carrier.find_modifier(ob)
    modifier.show_viewport = modifier.show_render = True


def clear_scale(ob: Any) -> None:
    flat = [axis for axis in range(3) if abs(ob.scale[axis]) < examine.FLAT]
    if not flat:
        raise RefusalError("It is a parent that is scaled to nothing.")
    for axis in flat:
        ob.scale[axis] = 1.0


def fit_gravity(ob: Any) -> None:
    size = max(ob.dimensions)
    sign = -1.0 if ob.softrig.gravity_factor < 0.0 else 1.0
    ob.softrig.gravity_factor = sign * size / USUAL_SIZE


def forget_map(ob: Any) -> None:
    kind = examine.find_lost_map(ob)
    if kind:
        setattr(ob.softrig, f"map_{kind}", "")


def let_go(ob: Any) -> None:
    stuck = examine.find_stuck(ob)
    if stuck is not None:
        followers.detach(stuck)


FIXES: dict[str, Callable[[Any], None]] = {
    "BLOCKER": move_softrig,
    "UNEVEN": even_out,
    "ARMATURE_AFTER": move_softrig,
    "HALF_ARMATURE": turn_on_armature,
    "RESTING": pose_armatures,
    "HIDDEN": enable_armatures,
    "OFF_IN_RENDER": turn_on_softrig,
    "OFF_IN_VIEWPORT": turn_on_softrig,
    "FLAT": clear_scale,
    "ODD_GRAVITY": fit_gravity,
    "LOST_MAP": forget_map,
    "STUCK_FOLLOWER": let_go,
}
"""By the key of the trap."""
