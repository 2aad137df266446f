# SPDX-License-Identifier: GPL-3.0-or-later
"""How smooth weights are on a skin, in numbers that do not ask how it is cut into triangles.

Needs no Blender.
"""

import numpy as np

Array = np.ndarray


def _corners(points: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Of each triangle its area, the cotangents of its angles, and which edge is across each."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    dots = [((b - a) * (c - a)).sum(1), ((c - b) * (a - b)).sum(1), ((a - c) * (b - c)).sum(1)]
    cotangents = np.stack(dots, axis=1) / np.maximum(doubled, 1e-12 * doubled.max())[:, None]
    return 0.5 * doubled, cotangents, triangles[:, [[1, 2], [2, 0], [0, 1]]]


def areas(points: Array, triangles: Array) -> Array:
    """What of the skin is each vertex's: a third of the triangles around it."""
    out = np.zeros(len(points))
    np.add.at(out, triangles, _corners(points, triangles)[0][:, None] / 3.0)
    return out


def on_border(triangles: Array, count: int) -> Array:
    """Vertices of an edge that is not of two triangles."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, uses = np.unique(edges, axis=0, return_counts=True)
    out = np.zeros(count, bool)
    out[edges[uses != 2]] = True
    return out


def energies(points: Array, triangles: Array, table: Array) -> Array:
    """Of each column of weights its biharmonic energy: the integral of the Laplacian squared.

    Times the area of the skin, so that size does not matter. Cotangents, lumped masses. A border
    has no Laplacian and counts as nothing.
    """
    _, cotangents, edges = _corners(points, triangles)
    flow = np.zeros_like(table, dtype=np.float64)
    for corner in range(3):
        a, b = edges[:, corner].T
        pull = 0.5 * cotangents[:, corner, None] * (table[b] - table[a])
        np.add.at(flow, a, pull)
        np.add.at(flow, b, -pull)
    masses = areas(points, triangles)
    counts = ~on_border(triangles, len(points)) & (masses > 0.0)
    return masses.sum() * (flow[counts] ** 2 / masses[counts, None]).sum(axis=0)


def holds(points: Array, triangles: Array, table: Array) -> Array:
    """How much each column has: the mean of its weights' squares over the skin."""
    masses = areas(points, triangles)
    return masses @ table**2 / masses.sum()


def energy_for_hold(points: Array, triangles: Array, table: Array) -> float:
    """Energies at equal hold: what each column would have were it scaled until it holds 1.

    Energy goes with the square of weights, so that half as much of a bone is a quarter of its
    energy; a method that lets go of bones would seem smooth.
    """
    held = holds(points, triangles, table)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(held > 0.0, energies(points, triangles, table) / held, np.inf)
    return float(each.sum())
