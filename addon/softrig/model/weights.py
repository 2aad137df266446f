# SPDX-License-Identifier: GPL-3.0-or-later
"""Thoughts about computed weights: whose they are, which side mirrors which, what is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..native.arrays import FloatArray, IntArray, as_floats, as_ints
from ..native.inputs import InsideInput
from ..native.weights import WeightsInput

LEAST = 1e-3
"""A weight below this is dropped: it moves nothing that one could see, and costs a lookup."""
MIRRORED = 1e-3
"""How far a bone may be from its mirror image, of the skeleton's size."""
EQUAL = 1e-5
"""Weights that differ by less, of their size, are equal: mirrored ones may by rounding."""

STRAIGHT = 1e-4
"""How far from a pure reflection a mirror may be that stretches nothing."""


@dataclass(frozen=True)
class RestBone:
    """A bone at rest, in the space of the skin."""

    name: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]


class Level(NamedTuple):
    """Vertices of one weight."""

    value: float
    vertices: list[int]


def find_mirror_columns(
    bones: Sequence[RestBone], flip_name: Callable[[str], str]
) -> IntArray | None:
    """Of each bone the one on the other side at x -> -x, or -1; None when there is no pair at all.

    A sword in one hand has none, nor has a bone whose partner is locked: the others still pair up.
    """
    if not bones:
        return None
    places = np.array([(bone.head, bone.tail) for bone in bones], np.float64)
    size = float(np.ptp(places.reshape(-1, 3), axis=0).max())
    index = {bone.name: i for i, bone in enumerate(bones)}
    own = np.arange(len(bones))
    columns = np.array([index.get(flip_name(bone.name), -1) for bone in bones], np.int64)
    apart = np.abs(places[columns] * (-1.0, 1.0, 1.0) - places).max(axis=(1, 2))
    is_paired = (columns >= 0) & (columns[columns] == own) & (apart <= MIRRORED * size)
    return as_ints(np.where(is_paired, columns, -1)) if is_paired.any() else None


class Mirror(NamedTuple):
    """What a Mirror modifier does at one plane, in the space of the skin."""

    reflection: NDArray[np.float64]
    """4x4"""
    merge: float
    """Vertices so near to their images become one with them."""
    kept: NDArray[np.float64] | None = None
    """With Bisect: x, y, z, 1 times these four is not negative where the mesh is kept."""

    def seen_as(self, there: NDArray[np.float64], back: NDArray[np.float64]) -> "Mirror":
        """In another space, which `there` leads to."""
        return self._replace(reflection=there @ self.reflection @ back)


def mirror_mesh(
    positions: FloatArray, triangles: IntArray, mirror: Mirror
) -> tuple[FloatArray, IntArray]:
    """The mesh with its image behind it; vertices that are there keep their numbers and places.

    What Bisect takes away is left as points without triangles, which lie in the image.
    """
    points = positions.reshape(-1, 3).astype(np.float64)
    corners = triangles.reshape(-1, 3)
    if mirror.kept is not None:
        points, corners = _bisect(points, corners, mirror.kept)
    turn = mirror.reflection
    images = points @ turn[:3, :3].T + turn[:3, 3]
    is_apart = ~(np.linalg.norm(images - points, axis=1) <= mirror.merge)
    numbers = np.arange(len(points))
    numbers[is_apart] = len(points) + np.arange(np.count_nonzero(is_apart))
    both = np.concatenate([corners, numbers[corners[:, ::-1]]])
    whole = np.concatenate([points, images[is_apart]])
    return as_floats(whole.reshape(-1)), as_ints(both.reshape(-1))


def _bisect(
    points: NDArray[np.float64], corners: IntArray, kept: NDArray[np.float64]
) -> tuple[NDArray[np.float64], IntArray]:
    """Without triangles beyond the plane; those across it end on it, beside where they did."""
    beyond = np.minimum(points @ kept[:3] + kept[3], 0.0) / np.linalg.norm(kept[:3])
    is_beyond = beyond < 0.0
    corners = corners[~is_beyond[corners].all(axis=1)]
    is_across = np.zeros(len(points), bool)
    is_across[corners] = True
    is_across &= is_beyond
    numbers = np.arange(len(points))
    numbers[is_across] = len(points) + np.arange(np.count_nonzero(is_across))
    normal = kept[:3] / np.linalg.norm(kept[:3])
    feet = points[is_across] - beyond[is_across, None] * normal
    return np.concatenate([points, feet]), numbers[corners]


def frame_of(mirror: Mirror) -> NDArray[np.float64]:
    """What takes its plane to x = 0, as a motion (4x4); none where it stretches."""
    frame, turn = np.identity(4), mirror.reflection[:3, :3]
    if np.abs(turn @ turn.T - np.identity(3)).max() > STRAIGHT:
        return frame
    normal = np.linalg.svd(np.identity(3) - turn)[0][:, 0]
    longest = int(np.argmax(np.abs(normal)))
    normal *= np.sign(normal[longest])
    along = np.identity(3)[(longest + 1) % 3]
    along -= normal * (along @ normal)
    along /= np.linalg.norm(along)
    frame[:3, :3] = normal, along, np.cross(normal, along)
    frame[0, 3] = -0.5 * float(normal @ mirror.reflection[:3, 3])
    return frame


def find_sides(
    bones: Sequence[RestBone], mirrors: Sequence[Mirror], flip_name: Callable[[str], str]
) -> tuple[NDArray[np.float64], IntArray | None]:
    """Where bones mirror each other: a motion to x -> -x, and find_mirror_columns there.

    At the mesh's own x, or at the plane of a mirror when more of them do there.
    """
    best, most = (np.identity(4), find_mirror_columns(bones, flip_name)), 0
    if best[1] is not None:
        most = int((best[1] >= 0).sum())
    for mirror in mirrors:
        frame = frame_of(mirror)
        columns = find_mirror_columns(move_bones(bones, frame), flip_name)
        if columns is not None and (columns >= 0).sum() > most:
            best, most = (frame, columns), int((columns >= 0).sum())
    return best


def move(positions: FloatArray, frame: NDArray[np.float64]) -> FloatArray:
    """Points by a 4x4 matrix; to the bit what they were where that does nothing."""
    if np.array_equal(frame, np.identity(4)):
        return positions
    points = positions.reshape(-1, 3).astype(np.float64) @ frame[:3, :3].T + frame[:3, 3]
    return as_floats(points.reshape(-1))


def move_bones(bones: Sequence[RestBone], frame: NDArray[np.float64]) -> list[RestBone]:
    """Likewise heads and tails."""
    ends = np.array([(bone.head, bone.tail) for bone in bones], np.float64).reshape(-1, 2, 3)
    moved = ends @ frame[:3, :3].T + frame[:3, 3]
    return [
        RestBone(bone.name, tuple(head), tuple(tail))
        for bone, (head, tail) in zip(bones, moved.tolist(), strict=True)
    ]


def make_input(
    positions: FloatArray,
    triangles: IntArray,
    bones: Sequence[RestBone],
    mirror_columns: IntArray | None,
    target_node_count: int,
    inside: InsideInput | None = None,
) -> WeightsInput:
    """Each bone is a segment between two points of its column."""
    count = len(bones)
    places = np.array([(bone.head, bone.tail) for bone in bones], np.float64)
    heads = np.arange(0, 2 * count, 2)
    return WeightsInput(
        skin_positions=positions,
        skin_triangles=triangles,
        points=as_floats(places.reshape(-1)),
        point_columns=as_ints(np.repeat(np.arange(count), 2)),
        elements=as_ints(np.stack([heads, heads + 1, heads + 1], axis=1).reshape(-1)),
        column_count=count,
        mirror_columns=mirror_columns,
        target_node_count=target_node_count,
        inside=inside or InsideInput(),
    )


class Sides(NamedTuple):
    """What mirrors what, so that mirrored vertices are treated alike."""

    images: IntArray
    """Of each column the one on the other side, or -1."""
    places: NDArray[np.float64]
    """How far each column's bone is to the positive side."""
    vertices: NDArray[np.float64]
    """Likewise each vertex."""


def find_sides_of(data: WeightsInput) -> Sides | None:
    """None where nothing mirrors anything."""
    if data.mirror_columns is None:
        return None
    ends = data.points.reshape(-1, 2, 3)[:, :, 0].astype(np.float64)
    return Sides(
        data.mirror_columns, ends.sum(axis=1), data.skin_positions[0::3].astype(np.float64)
    )


def drop_small(values: FloatArray, most_bones: int, sides: Sides | None = None) -> FloatArray:
    """Rows of what is worth keeping, each summing to one again; at most so many in a row."""
    kept = np.where(values >= LEAST, values, 0.0).astype(np.float64)
    if 0 < most_bones < values.shape[1]:
        kept[~_find_largest(kept, most_bones, sides)] = 0.0
    sums = kept.sum(axis=1, keepdims=True)
    return as_floats(np.divide(kept, sums, out=np.zeros_like(kept), where=sums > 0.0))


def _find_largest(values: NDArray[np.float64], most: int, sides: Sides | None) -> NDArray[np.bool_]:
    """So many of each row. Of equals that are too many, pairs are kept or dropped as pairs.

    Who comes first among equals is asked of pairs, not of columns: a column's number differs
    from its image's, and a vertex on the left would keep other bones than one on the right.
    """
    count = values.shape[1]
    own = np.arange(count)
    images = own if sides is None else np.where(sides.images < 0, own, sides.images)
    limits = -np.partition(-values, most - 1, axis=1)[:, most - 1 : most]
    is_above = values > limits * (1.0 + EQUAL)
    is_equal = ~is_above & (values >= limits * (1.0 - EQUAL)) & (values > 0.0)
    is_pair = is_equal & is_equal[:, images] & (images != own)
    # singles first, for they fit where half a pair would not; then pairs, partners together
    ranks = (np.minimum(own, images) * count + own)[None] + count**2 * is_pair
    ranks = np.where(is_equal, ranks, 4 * count**2)
    order = np.argsort(ranks, axis=1, kind="stable")
    singles = (is_equal & ~is_pair).sum(axis=1, keepdims=True)
    ends = np.where(own < singles, own + 1, singles + 2 * ((own - singles) // 2 + 1))
    needed = np.empty_like(order)
    np.put_along_axis(needed, order, ends, axis=1)
    chosen = is_above | (is_equal & (needed <= most - is_above.sum(axis=1, keepdims=True)))
    # one bone a vertex, and a pair holds it: the bone on its own side; in the middle the first
    is_torn = (values > 0.0).any(axis=1) & ~chosen.any(axis=1)
    if sides is not None and is_torn.any():
        first = order[is_torn, 0]
        same = sides.vertices[: len(values)][is_torn] * sides.places[first] >= 0.0
        chosen[np.flatnonzero(is_torn), np.where(same, first, images[first])] = True
    return chosen


def share_with_locked(values: FloatArray, locked: NDArray[np.float64]) -> FloatArray:
    """What locked groups of deforming bones (their sum, one a vertex) leave.

    That of a bone that does not deform takes no share: it moves nothing, and what it took would
    be missing.
    """
    return as_floats(values * np.clip(1.0 - locked, 0.0, 1.0)[:, None])


def to_levels(vertices: IntArray, values: FloatArray) -> list[Level]:
    """Equal weights together: Blender has no bulk write, but takes many vertices for one weight."""
    order = np.argsort(values, kind="stable")
    levels, starts = np.unique(values[order], return_index=True)
    ends = [*starts[1:], len(order)]
    return [
        Level(float(level), vertices[order[start:end]].tolist())
        for level, start, end in zip(levels, starts, ends[: len(levels)], strict=True)
    ]


def to_entries(values: FloatArray) -> list[list[Level]]:
    """What goes into vertex groups, bone after bone; nothing at all for one that holds nothing."""
    columns = [np.flatnonzero(values[:, j]).astype(np.int32) for j in range(values.shape[1])]
    return [to_levels(rows, values[rows, j]) for j, rows in enumerate(columns)]


def describe(report: dict[str, float], bone_count: int, idle: Sequence[str]) -> list[str]:
    """What an artist may want to know of it; `idle` are the bones that got nothing."""
    seconds = report["cageSeconds"] + report["weightsSeconds"]
    texts = [f"Weights of {bone_count} bones in {seconds:.1f} s"]
    if idle:
        texts.append(f"Others hold all that is near: nothing is left to {', '.join(idle)}")
    if report["outsideColumnCount"]:
        texts.append(
            f"{report['outsideColumnCount']} bones lie outside of the mesh; "
            "they hold at most what is nearest to them"
        )
    if not report["isConverged"]:
        texts.append("The weights are near the smoothest ones, but not quite there")
    return texts
