# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist keys beside the rig: dials as they stand at a frame, as rows for the library.

A row of dials is what Blender shows at one frame; a row of controls is what comes of it.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from ..native.arrays import FloatArray, as_floats
from .rig import RefusalError

DIALS = (
    ("gravity_factor", "Gravity"),
    ("wind_speed", "Wind"),
    ("wind_direction_x", "the wind's direction"),
    ("wind_direction_y", "the wind's direction"),
    ("wind_direction_z", "the wind's direction"),
    ("wind_gusts", "Gusts"),
    ("travel_felt", "Travel Felt"),
    ("pressure", "Pressure"),
    ("cut", "Cut"),
)
"""The columns of a row of dials, and how the panel calls them."""
SCENE_GRAVITY = slice(len(DIALS), len(DIALS) + 3)
DIAL_COUNT = len(DIALS) + 3
CUT = len(DIALS) - 1

LARGEST_GRAVITY = 1e6
LARGEST_WIND = 1e4
LEAST_PRESSURE, LARGEST_PRESSURE = -0.9, 10.0
"""All as in native/src/api; a test compares them."""

CUT_MARKER = re.compile(r"cut\b.*", re.IGNORECASE)


@dataclass(frozen=True)
class Surroundings:
    """What the scene gives to every character in it, besides its frames."""

    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    """Zero where the scene has none; empty where it is keyed, and read at each frame."""
    cuts: tuple[int, ...] = ()
    """Frames with a marker that is named "cut"."""


def is_cut_marker(name: str) -> bool:
    """ "Cut", "cut.001", "CUT to the beach", but not "Cutaway"."""
    return CUT_MARKER.fullmatch(name.strip()) is not None


def check_dials(rows: FloatArray, first_frame: int, to_scene: Callable[[int], int] = int) -> None:
    """A driver may give what is not a number; it is named with its frame."""
    fine = np.isfinite(rows)
    if fine.all():
        return
    row, column = np.unravel_index(int(np.argmin(fine)), fine.shape)
    name = DIALS[column][1] if column < len(DIALS) else "the scene's gravity"
    frame = to_scene(first_frame + int(row))
    raise RefusalError(f"At frame {frame} {name} is not a number. Look at its keys and drivers.")


def find_cuts(dials: FloatArray, before: float) -> np.ndarray:
    """Where Cut goes on: a key that stays on cuts once. `before` is its value a frame earlier."""
    is_on = dials[:, CUT] > 0.5
    was_on = np.concatenate([[before > 0.5], is_on[:-1]])
    return is_on & ~was_on


def controls_from_dials(
    dials: FloatArray, first_frame: int, before: float = 1.0, marked: Collection[int] = ()
) -> FloatArray:
    """Rows of (gravity, wind, gusts, travel felt, cut, pressure), within what the library takes.

    Nothing is cut at the first row of a shot: its `before` is on.
    """
    columns = dials.astype(np.float64)
    gravity = np.clip(columns[:, SCENE_GRAVITY] * columns[:, :1], -LARGEST_GRAVITY, LARGEST_GRAVITY)
    direction = columns[:, 2:5]
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    speed = np.clip(columns[:, 1:2], -LARGEST_WIND, LARGEST_WIND)
    wind = np.divide(direction, length, out=np.zeros_like(direction), where=length > 0.0) * speed
    shares = np.clip(columns[:, 5:7], 0.0, 1.0)
    pressure = np.clip(columns[:, 7:8], LEAST_PRESSURE, LARGEST_PRESSURE)
    frames = np.arange(first_frame, first_frame + len(dials))
    cuts = find_cuts(dials, before) | np.isin(frames, sorted(marked))
    rows = np.concatenate([gravity, wind, shares, cuts[:, None], pressure], axis=1)
    return as_floats(rows + 0.0)  # the library compares bits, and -0 is no change


def rest_gravity(controls: FloatArray, skin_to_world: FloatArray) -> tuple[float, float, float]:
    """The gravity of a frame as the skin's own space sees it: what the shape was modelled under.

    Only the turn of the skin's object counts, not its scale: gravity is metres of the world.
    """
    gravity = controls[:3].astype(np.float64)
    left, _, right = np.linalg.svd(skin_to_world.reshape(4, 4).T[:3, :3].astype(np.float64))
    x, y, z = (gravity @ (left @ right)).tolist()
    return x, y, z
