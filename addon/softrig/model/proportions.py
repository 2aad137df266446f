# SPDX-License-Identifier: GPL-3.0-or-later
"""How an object stretches its mesh: what scales that are not alike along all axes, its own or those
of its parents, make of the shape. Pure.

Flesh is measured where the character has the shape that is seen. An object's matrix is a symmetric
one, the proportions, and then a rotation (or a mirror) and one scale for all axes, which do not
change what flesh does. So the mesh is brought to the space of the flesh by the proportions, the
object's matrix begins there on the tape, and the library brings the offsets back to the object.

Sums are written out: what is in a frame has the same bits on every machine.
"""

from dataclasses import dataclass

import numpy as np

from ..native.arrays import FloatArray, as_floats

SAME = 1e-3
"""Proportions that differ by less are the same; above the rounding of any rig."""
FLATTEST = 1e-6
"""An object that is squeezed flatter has no shape."""
CHANGE = 0.2
"""That is felt: less moves about as it would without."""


def _times(vectors: FloatArray, matrix: FloatArray) -> FloatArray:
    """Each vector as a row, in order of the columns, on every machine alike."""
    wide = vectors.astype(np.float64)
    return wide[..., 0:1] * matrix[0] + wide[..., 1:2] * matrix[1] + wide[..., 2:3] * matrix[2]


@dataclass(frozen=True, eq=False)
class Proportions:
    """Symmetric, 3 x 3: from the object's own space to that of the flesh. Its size is of no
    account, as the object's matrix has the rest of it."""

    matrix: FloatArray

    @property
    def are_even(self) -> bool:
        """Nothing is changed then, to the bit."""
        return bool((self.matrix == np.eye(3)).all())

    @property
    def inverse(self) -> FloatArray:
        a, b, c = self.matrix
        rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
        return rows.T / float((a * rows[0]).sum())

    def are(self, others: "Proportions") -> bool:
        beyond = _times(self.matrix, others.inverse)
        return bool((np.abs(3.0 * beyond / np.trace(beyond) - np.eye(3)) < SAME).all())

    def of_points(self, points: FloatArray) -> FloatArray:
        """3 a point, any number of rows of them."""
        if self.are_even:
            return points
        return as_floats(_times(points.reshape(-1, 3), self.matrix)).reshape(points.shape)

    def of_spaces(self, to_skin: FloatArray) -> FloatArray:
        """Matrices that lead to the skin, 16 floats each, column by column."""
        if self.are_even:
            return to_skin
        placed = to_skin.reshape(-1, 4, 4).astype(np.float64)
        placed[:, :, :3] = _times(placed[:, :, :3], self.matrix)
        return as_floats(placed).reshape(to_skin.shape)

    def of_rows(self, rows: FloatArray) -> FloatArray:
        """Of the tape: the first matrix of each leads from the object to the world."""
        if self.are_even:
            return rows
        placed, back = rows.copy(), self.inverse
        columns = rows[:, :16].reshape(-1, 4, 4)[:, :3].astype(np.float64)
        for j in range(3):
            sums = columns[:, 0] * back[0, j] + columns[:, 1] * back[1, j]
            placed[:, 4 * j : 4 * j + 4] = sums + columns[:, 2] * back[2, j]
        return placed

    def of_map(self, from_skin: FloatArray) -> FloatArray:
        """A map that begins in the object's space, 4 x 4, row by row."""
        return from_skin if self.are_even else from_skin @ self.from_flesh

    def to_object(self) -> FloatArray | None:
        """What brings offsets back, as the library wants it."""
        if self.are_even:
            return None
        return as_floats(self.from_flesh.T.reshape(-1))

    def change_in(self, rows: FloatArray) -> bool:
        """The object comes to others in the course of a tape."""
        columns = self.of_rows(rows)[:, :16].reshape(-1, 4, 4)[:, :3, :3].astype(np.float64)
        products = (columns[:, :, None, :] * columns[:, None, :, :]).sum(axis=3)
        squares = np.linalg.eigvalsh(products)
        return bool((squares[:, 2] > (1.0 + CHANGE) ** 2 * squares[:, 0]).any())

    @property
    def to_flesh(self) -> FloatArray:
        """From the object's space to that of the flesh, 4 x 4."""
        return _homogeneous(self.matrix)

    @property
    def from_flesh(self) -> FloatArray:
        return _homogeneous(self.inverse)


def _homogeneous(matrix: FloatArray) -> FloatArray:
    whole = np.eye(4)
    whole[:3, :3] = matrix
    return whole


EVEN = Proportions(np.eye(3))


def proportions_of(to_world: FloatArray) -> Proportions:
    """Of an object with this matrix, 4 x 4 or 3 x 3, row by row: its polar decomposition."""
    linear = to_world[:3, :3].astype(np.float64)
    if not np.isfinite(linear).all():
        return EVEN
    squares, axes = np.linalg.eigh(linear.T @ linear)
    if not squares[0] > FLATTEST**2 * squares[2]:
        return EVEN
    stretches = np.sqrt(squares)
    # by a power of two alone: the points are, but for that, to the bit those of an applied scale
    stretches /= 2.0 ** np.round(np.log2(stretches).mean())
    found = stored((axes * stretches) @ axes.T)
    return EVEN if found.are(EVEN) else found


def stored(matrix: FloatArray) -> Proportions:
    """As they are kept, so that they are the same before and after."""
    rounded = np.asarray(matrix, np.float32).reshape(3, 3).astype(np.float64)
    return Proportions((rounded + rounded.T) / 2.0)
