# SPDX-License-Identifier: GPL-3.0-or-later
"""From a distance field to a closed mesh of quads: naive surface nets, then relaxing.

One vertex for each cell that the surface crosses, one quad for each crossed edge of the grid.
Elementwise arithmetic only: equal bits with every numpy.
"""

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Field = Callable[[Array], Array]

# the four cells around an edge along each axis, counter-clockwise seen from its end
_AROUND = {
    0: ((0, -1, -1), (0, 0, -1), (0, 0, 0), (0, -1, 0)),
    1: ((-1, 0, -1), (-1, 0, 0), (0, 0, 0), (0, 0, -1)),
    2: ((-1, -1, 0), (0, -1, 0), (0, 0, 0), (-1, 0, 0)),
}


def _cut(values: Array, axis: int, low: tuple[int, int, int]) -> tuple[Array, Array]:
    """The values at both ends of one of a cell's twelve edges, for all cells."""
    high = list(low)
    high[axis] = 1
    shape = [n - 1 for n in values.shape]
    first = tuple(slice(o, o + n) for o, n in zip(low, shape, strict=True))
    second = tuple(slice(o, o + n) for o, n in zip(high, shape, strict=True))
    return values[first], values[second]


def _cell_points(values: Array) -> tuple[Array, Array]:
    """Mean of the crossings on each cell's edges, in cells, and how many crossings there are."""
    shape = tuple(n - 1 for n in values.shape)
    total = np.zeros((*shape, 3))
    count = np.zeros(shape, dtype=np.int64)
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
            low = [0, 0, 0]
            low[others[0]], low[others[1]] = corner
            a, b = _cut(values, axis, (low[0], low[1], low[2]))
            crossed = (a < 0.0) != (b < 0.0)
            total[..., axis] += np.where(crossed, a / np.where(crossed, a - b, 1.0), 0.0)
            for other in others:
                total[..., other] += np.where(crossed, float(low[other]), 0.0)
            count += crossed
    return total / np.maximum(count, 1)[..., None], count


def _quads(values: Array, index: Array) -> Array:
    faces = []
    for axis in range(3):
        first = [slice(None)] * 3
        second = [slice(None)] * 3
        first[axis], second[axis] = slice(None, -1), slice(1, None)
        a, b = values[tuple(first)], values[tuple(second)]
        edges = np.argwhere((a < 0.0) != (b < 0.0))
        corners = [index[tuple((edges + offset).T)] for offset in np.array(_AROUND[axis])]
        quad = np.stack(corners, axis=1)
        outward = (a < 0.0)[tuple(edges.T)]
        faces.append(np.where(outward[:, None], quad, quad[:, ::-1]))
    return np.concatenate(faces)


def surface_nets(field: Field, lowest: tuple, highest: tuple, step: float) -> tuple[Array, Array]:
    """Vertices and quads of the field's zero surface; the box must hold all of it."""
    axes = []
    for low, high in zip(lowest, highest, strict=True):
        count = int((high - low) / step + 0.5) + 1
        axes.append((low + high) * 0.5 + (np.arange(count) - (count - 1) * 0.5) * step)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = field(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    offsets, count = _cell_points(values)
    used = count > 0
    index = np.full(count.shape, -1, dtype=np.int64)
    index[used] = np.arange(int(used.sum()))
    vertices = grid[:-1, :-1, :-1][used] + offsets[used] * step
    return vertices, _quads(values, index)


def gradient(field: Field, points: Array, step: float = 1.0e-4) -> Array:
    """Central differences of the field at the points."""
    columns = []
    for axis in range(3):
        shift = np.zeros(3)
        shift[axis] = step
        columns.append((field(points + shift) - field(points - shift)) / (2.0 * step))
    return np.stack(columns, axis=1)


def _square(a: Array) -> Array:
    return a[:, 0] * a[:, 0] + a[:, 1] * a[:, 1] + a[:, 2] * a[:, 2]


def _neighbour_mean(points: Array, faces: Array) -> Array:
    """Mean of the points around each vertex (each edge is met from both of its faces)."""
    start = faces.reshape(-1)
    end = np.roll(faces, -1, axis=1).reshape(-1)
    count = np.bincount(start, minlength=len(points))
    columns = [
        np.bincount(start, weights=points[end, axis], minlength=len(points)) for axis in range(3)
    ]
    return np.stack(columns, axis=1) / count[:, None]


def relax(field: Field, points: Array, faces: Array, rounds: int) -> Array:
    """Evens out the quads along the surface and puts every vertex exactly on it."""
    for turn in range(rounds + 1):
        slope = gradient(field, points)
        size = np.maximum(_square(slope), 1.0e-6)
        points = points - slope * (field(points) / size)[:, None]
        if turn == rounds:
            break
        move = (_neighbour_mean(points, faces) - points) * 0.5
        lift = move[:, 0] * slope[:, 0] + move[:, 1] * slope[:, 1] + move[:, 2] * slope[:, 2]
        points = points + move - slope * (lift / size)[:, None]
    return points
