# SPDX-License-Identifier: GPL-3.0-or-later
"""The character's bones and skin weights, and the regions of its skin that tests look at."""

from dataclasses import dataclass

import numpy as np

from . import field

Array = np.ndarray
Point = field.Point

# less than this share of a vertex is given to its other bones
SMALLEST_WEIGHT = 0.01


@dataclass(frozen=True)
class Bone:
    """A bone at rest; `up` is where its local Z axis points to."""

    name: str
    parent: str | None
    head: Point
    tail: Point
    up: Point


def _on(tube: field.Tube, place: float) -> Point:
    at = place * (len(tube.line) - 1)
    i = min(int(at), len(tube.line) - 2)
    a, b, t = tube.line[i], tube.line[i + 1], at - i
    return (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2]))


def chain(names: list[str], parent: str, tube: field.Tube, up: Point) -> list[Bone]:
    """Bones of equal length along a tube, each the child of the one before."""
    bones = []
    for i, name in enumerate(names):
        head, tail = _on(tube, i / len(names)), _on(tube, (i + 1) / len(names))
        bones.append(Bone(name, parent, head, tail, up))
        parent = name
    return bones


def _mirror(bone: Bone) -> Bone:
    def flip(p: Point) -> Point:
        return (-p[0], p[1], p[2])

    parent = bone.parent.replace(".L", ".R") if bone.parent else None
    name = bone.name.replace(".L", ".R")
    return Bone(name, parent, flip(bone.head), flip(bone.tail), flip(bone.up))


def _bones() -> tuple[Bone, ...]:
    front, above = (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)
    trunk = [
        Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.30, 0.0), above),
        Bone("hips", "root", (0.0, 0.0, 0.28), (0.0, 0.0, 0.60), front),
        Bone("chest", "hips", (0.0, 0.0, 0.60), (0.0, 0.0, 0.97), front),
        Bone("head", "chest", (0.0, 0.0, 1.01), (0.0, 0.0, 1.51), front),
    ]
    left = chain(["ear1.L", "ear2.L"], "head", field.EAR, front)
    left += chain(["arm.L"], "chest", field.ARM, front)
    left.append(Bone("foot.L", "root", (0.21, 0.06, 0.08), (0.21, -0.28, 0.08), above))
    tail = chain(["tail1", "tail2", "tail3"], "hips", field.TAIL, above)
    return tuple(trunk + left + [_mirror(bone) for bone in left] + tail)


BONES = _bones()


def smooth(low: float, high: float, x: Array) -> Array:
    """0 below low, 1 above high, a smooth step between."""
    t = np.minimum(np.maximum((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def chain_shares(place: Array, count: int, overlap: float) -> list[Array]:
    """How much each bone of a chain holds of a point at this place between root and tip."""
    above = [np.ones_like(place)]
    for i in range(1, count):
        above.append(smooth(i / count - overlap, i / count + overlap, place))
    above.append(np.zeros_like(place))
    return [above[i] - above[i + 1] for i in range(count)]


def _part_shares(points: Array) -> dict[str, Array]:
    """How much each part owns of each vertex: all of it far from the others, less near joints."""
    reach = {"body": 0.10, "head": 0.10, "tail": 0.11, "ear": 0.09, "arm": 0.08, "foot": 0.10}
    distance = field.part_distances(points)
    nearest = np.minimum.reduce(list(distance.values()))
    shares = {}
    for part, d in distance.items():
        near = np.maximum(1.0 - (d - nearest) / reach[part.split(".")[0]], 0.0)
        shares[part] = near * near
        if part.endswith((".L", ".R")):
            side = points[:, 0] if part.endswith(".L") else -points[:, 0]
            shares[part] = shares[part] * smooth(0.01, 0.08, side)
    total = np.add.reduce(list(shares.values()))
    return {part: share / total for part, share in shares.items()}


def weights(points: Array) -> dict[str, Array]:
    """Weight of each deforming bone on each vertex; the weights of a vertex sum to one."""
    share = _part_shares(points)
    upper = smooth(0.45, 0.85, points[:, 2])
    result = {
        "hips": share["body"] * (1.0 - upper),
        "chest": share["body"] * upper,
        "head": share["head"],
    }
    for side, seen in (("L", points), ("R", field.mirrored(points))):
        ear = chain_shares(field.along(seen, field.EAR)[1], 2, 0.20)
        result[f"ear1.{side}"] = share[f"ear.{side}"] * ear[0]
        result[f"ear2.{side}"] = share[f"ear.{side}"] * ear[1]
        result[f"arm.{side}"] = share[f"arm.{side}"]
        result[f"foot.{side}"] = share[f"foot.{side}"]
    tail = chain_shares(field.along(points, field.TAIL)[1], 3, 0.15)
    for i in range(3):
        result[f"tail{i + 1}"] = share["tail"] * tail[i]
    kept = {bone: np.where(w < SMALLEST_WEIGHT, 0.0, w) for bone, w in result.items()}
    total = np.add.reduce(list(kept.values()))
    return {bone: w / total for bone, w in kept.items()}


def vertices_of(region: str, points: Array) -> Array:
    """Indices of the skin's vertices in a region, found from their rest positions.

    Regions: belly, head, ears, ear.L, ear.R, ear tips, tail, tail tip, feet, foot.L, foot.R.
    """
    points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if region not in _REGIONS:
        raise KeyError(f"no region {region!r}; there are {', '.join(sorted(_REGIONS))}")
    return np.flatnonzero(_REGIONS[region](points))


def _owned(part: str, points: Array) -> Array:
    return _part_shares(points)[part] > 0.9


def _belly(points: Array) -> Array:
    x, y, z = points.T
    return (np.abs(x) < 0.22) & (y < -0.30) & (z > 0.38) & (z < 0.72)


def _ear_tip(points: Array) -> Array:
    left = field.along(points, field.EAR)[1]
    right = field.along(field.mirrored(points), field.EAR)[1]
    ears = _owned("ear.L", points) & (left > 0.75)
    return ears | (_owned("ear.R", points) & (right > 0.75))


_REGIONS = {
    "belly": _belly,
    "head": lambda p: _owned("head", p),
    "ear.L": lambda p: _owned("ear.L", p),
    "ear.R": lambda p: _owned("ear.R", p),
    "ears": lambda p: _owned("ear.L", p) | _owned("ear.R", p),
    "ear tips": _ear_tip,
    "tail": lambda p: _owned("tail", p),
    "tail tip": lambda p: _owned("tail", p) & (field.along(p, field.TAIL)[1] > 0.85),
    "foot.L": lambda p: _owned("foot.L", p),
    "foot.R": lambda p: _owned("foot.R", p),
    "feet": lambda p: _owned("foot.L", p) | _owned("foot.R", p),
}
