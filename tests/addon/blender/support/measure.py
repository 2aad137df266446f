# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender evaluates, as numbers and as bits."""

from typing import Any

import bpy
import numpy as np


def evaluated(ob: Any, depsgraph: Any = None) -> np.ndarray:
    """Positions of the evaluated mesh, 3 a vertex."""
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    mesh = ob.evaluated_get(depsgraph).data
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", positions)
    return positions


def at_frame(ob: Any, frame: float) -> np.ndarray:
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    return evaluated(ob)


def without_us(ob: Any) -> np.ndarray:
    """At the current frame, with our modifier switched off."""
    modifier = ob.modifiers["Softrig"]
    modifier.show_viewport = False
    positions = evaluated(ob)
    modifier.show_viewport = True
    return positions


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool((a.view(np.uint32) == b.view(np.uint32)).all())


def largest(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())
