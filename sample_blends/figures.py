# SPDX-License-Identifier: GPL-3.0-or-later
"""What the secondary motion amounts to, in figures: how far, how often, and how soon at rest."""

import bpy
import numpy as np

from . import motion, render, skeleton

Array = np.ndarray

REGIONS = ("belly", "ears", "tail tip", "head", "feet")

# "two seconds later"
_SETTLED_FRAME = motion.STOP_FRAME + 2 * motion.FPS


def skin_points(skin: bpy.types.Object) -> Array:
    """World positions of the evaluated skin at the current frame."""
    evaluated = skin.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    return flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def shot(scene: bpy.types.Scene, skin: bpy.types.Object, softrig: bool) -> Array:
    """The skin at every frame of the shot, with or without Softrig: frames x vertices x 3."""
    with render.softrig_switched(skin, softrig):
        rows = []
        for frame in range(motion.FIRST_FRAME, motion.LAST_FRAME + 1):
            scene.frame_set(frame)
            rows.append(skin_points(skin))
    return np.array(rows)


def size_of(rest: Array) -> float:
    """The character's size: the largest side of its box at rest."""
    return float(np.max(rest.max(axis=0) - rest.min(axis=0)))


def sign_changes(path: Array, threshold: float) -> int:
    """How often a path changes sides, counting only swings beyond the threshold."""
    signs = np.sign(path[np.abs(path) > threshold])
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def describe(before: Array, after: Array, rest: Array) -> dict[str, dict[str, float]]:
    """Figures of each region after the stop; offsets are in percent of the character's size."""
    offsets = (after - before) * (100.0 / size_of(rest))
    late = offsets[motion.STOP_FRAME - motion.FIRST_FRAME :]
    settled = offsets[_SETTLED_FRAME - motion.FIRST_FRAME :]
    along = late @ np.array(motion.STOP_DIRECTION)
    figures = {}
    for region in REGIONS:
        chosen = skeleton.vertices_of(region, rest)
        figures[region] = {
            "largest": float(np.linalg.norm(late[:, chosen], axis=2).max()),
            "settled": float(np.linalg.norm(settled[:, chosen], axis=2).max()),
            "sign_changes": sign_changes(along[:, chosen].mean(axis=1), 0.05),
        }
    return figures
