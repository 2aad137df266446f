# SPDX-License-Identifier: GPL-3.0-or-later
"""What the secondary motion amounts to, in figures: how far, how often, and how soon at rest."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from . import motion, quality, render, skeleton

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


def quality_of(scene: bpy.types.Scene, skin: bpy.types.Object, softrig: bool) -> quality.Quality:
    """Every frame of the scene's range, with or without Softrig; the skin has it."""
    session, entry = _library(skin)
    rest, cells = session.api.read_cage(entry.character)
    rest, cells = rest.reshape(-1, 3), cells.reshape(-1, 4)
    nodes, paths, inverted, bent = np.empty_like(rest), [], [], []
    with render.softrig_switched(skin, softrig):
        pairs = _face_pairs(skin)
        with _at_rest(skin):
            straight = ~quality.folded(_normals(skin), pairs)
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            paths.append(skin_points(skin))
            bent.append(np.count_nonzero(quality.folded(_normals(skin), pairs) & straight))
            session.api.read_nodes(entry.shot, frame, not softrig, nodes.reshape(-1))
            inverted.append(quality.count_inverted(nodes, cells, rest))
    size = size_of(np.array([vertex.co for vertex in skin.data.vertices]))
    jerk = quality.jerk(np.array(paths), size)
    return quality.Quality(jerk, np.array(inverted), np.array(bent))


def _library(skin: bpy.types.Object) -> tuple[Any, Any]:
    """The add-on's session and its entry for the skin, whatever this Blender calls the add-on."""
    ending = "softrig.model.session"
    module = next(module for name, module in sys.modules.items() if name.endswith(ending))
    session = module.current()
    return session, session.entries[skin.softrig.uuid]


@contextmanager
def _at_rest(skin: bpy.types.Object) -> Iterator[None]:
    shown = [(modifier, modifier.show_viewport) for modifier in skin.modifiers]
    for modifier, _ in shown:
        modifier.show_viewport = modifier.type in ("SUBSURF", "MIRROR")
    try:
        yield
    finally:
        for modifier, was in shown:
            modifier.show_viewport = was


def _evaluated(skin: bpy.types.Object) -> bpy.types.Mesh:
    return skin.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def _normals(skin: bpy.types.Object) -> Array:
    polygons = _evaluated(skin).polygons
    flat = np.empty(3 * len(polygons), dtype=np.float32)
    polygons.foreach_get("normal", flat)
    return flat.reshape(-1, 3)


def _face_pairs(skin: bpy.types.Object) -> Array:
    mesh = _evaluated(skin)
    edges, counts = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    mesh.polygons.foreach_get("loop_total", counts)
    return quality.neighbours(edges, np.repeat(np.arange(len(counts)), counts))


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
