# SPDX-License-Identifier: GPL-3.0-or-later
"""What the library would refuse in numbers, said before in an artist's words."""

from collections.abc import Callable

import numpy as np

from ..native.arrays import FloatArray
from ..native.inputs import FrameRange
from .rig import Character, RefusalError, TapePlan

FARTHEST = 1e12
MOST_FRAMES = 1_000_000
"""Both as in native/src/api; a test compares them."""


def check_character(character: Character) -> None:
    """Vertices without a position are left out by the library; absurd ones spoil everything."""
    far = np.abs(np.nan_to_num(character.positions, posinf=0.0, neginf=0.0)) > FARTHEST
    if far.any():
        index = int(np.argmax(far))
        raise RefusalError(
            f"Vertex {index // 3} lies {abs(character.positions[index]):.2g} m away from the "
            f"object's origin. Bring it back or delete it."
        )


def check_frames(frames: FrameRange) -> None:
    if frames.shot_count > MOST_FRAMES:
        raise RefusalError(
            f"The scene has {frames.shot_count} frames; Softrig takes at most {MOST_FRAMES}. "
            f"Shorten the frame range."
        )


def check_rows(
    plan: TapePlan,
    first_frame: int,
    rows: FloatArray,
    to_scene: Callable[[int], int] = int,
) -> None:
    """Names the frame and the bone where the rig leaves the world."""
    fine = np.abs(rows) <= FARTHEST  # false for what is not a number
    if fine.all():
        return
    row, column = np.unravel_index(int(np.argmin(fine)), fine.shape)
    value, matrix = rows[row, column], int(column) // 16
    what = f"lies {abs(value):.2g} m away" if np.isfinite(value) else "has no place"
    raise RefusalError(
        f"At frame {to_scene(first_frame + int(row))} {_name(plan, matrix)} {what}. "
        f"Look at its keys, drivers and constraints."
    )


def _name(plan: TapePlan, matrix: int) -> str:
    if matrix == 0:
        return "the object"
    if matrix <= plan.armature_count:
        return "the armature"
    return f'the bone "{plan.bones[matrix - 1 - plan.armature_count].name}"'
