# SPDX-License-Identifier: GPL-3.0-or-later
"""A box on two bones, small enough to be prepared in a blink, and a tape that throws it about."""

import numpy as np
from softrig.model.rig import Bone, Character, Weights
from softrig.model.session import BuildInputs
from softrig.native.inputs import FrameRange, MapsInput

IDENTITY = tuple(np.eye(4, dtype=np.float32).reshape(-1).tolist())
BUILD = BuildInputs(0, 200, "tail")
FRAMES = FrameRange(1, 24, 24.0)


def translation(x: float, y: float, z: float) -> list[float]:
    return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1]


def grid_box(cells: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """A closed box of 1 x 1 x 2 with shared corners: positions and triangles."""
    index: dict[tuple[int, int, int], int] = {}
    triangles: list[tuple[int, int, int]] = []

    def corner(*place: int) -> int:
        return index.setdefault(place, len(index))

    for axis in range(3):
        for side in (0, cells):
            for i in range(cells):
                for j in range(cells):
                    quad = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        place = [i + di, j + dj]
                        place.insert(axis, side)
                        quad.append(corner(*place))
                    if (side == 0) != (axis == 1):
                        quad.reverse()
                    triangles += [(quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])]
    points = np.array(list(index), np.float32) / cells * (1.0, 1.0, 2.0)
    return points.astype(np.float32).reshape(-1), np.array(triangles, np.int32).reshape(-1)


def make_character() -> Character:
    positions, triangles = grid_box()
    count = len(positions) // 3
    upper = positions.reshape(-1, 3)[:, 2] / 2.0
    values = np.stack([1.0 - upper, upper], axis=1).astype(np.float32)
    weights = Weights(
        np.arange(0, 2 * count + 1, 2, dtype=np.int32),
        np.tile(np.array([0, 1], np.int32), count),
        values.reshape(-1),
    )
    bones = (
        Bone("root", 0, -1, 1.0, 0.0, IDENTITY),
        Bone("tail", 0, 0, 1.0, 0.6, tuple(map(float, translation(0, 1, 0)))),
    )
    return Character(
        positions=positions,
        triangles=triangles,
        weights=weights,
        bones=bones,
        maps=MapsInput(),
        armature_count=1,
        space_to_skin=np.array(IDENTITY, np.float32),
        target_node_count=200,
    )


def make_rows(frames: FrameRange = FRAMES, moves: bool = True) -> np.ndarray:
    """Object and armature run along x together and stop in the middle."""
    rows = []
    for frame in range(frames.count):
        x = min(frame, frames.count // 2) * 0.2 * moves
        row = [*translation(x, 0, 0), *translation(x, 0, 0), *IDENTITY, *translation(0, 1, 0)]
        rows.append(row)
    return np.array(rows, np.float32)
