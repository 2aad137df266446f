# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures made of bent tubes with chains of bones in them: skin, bones and weights from one list.

The first limb is the body. Needs no Blender; elementwise arithmetic, as in `field`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import field, skeleton, surface

Array = np.ndarray
Point = field.Point

_ABOVE = (0.0, 0.0, 1.0)
_FINER = 4


@dataclass(frozen=True)
class Limb:
    """A tube with bones `name1`, `name2`, ... from its root to its tip; `parent` is a bone."""

    name: str
    tube: field.Tube
    bone_count: int = 1
    parent: str = "root"
    up: Point = _ABOVE
    fillet: float = 0.08
    """Width of the rounding where it joins what comes before it in the list."""
    reach: float = 0.10
    """How far from the joint the skin is shared with other limbs."""

    @property
    def bone_names(self) -> list[str]:
        return [f"{self.name}{i + 1}" for i in range(self.bone_count)]


def straight(a: Point, b: Point, radii: Sequence[float], flat: float = 1.0) -> field.Tube:
    """A straight tube with the radii spread evenly over it."""
    places = np.linspace(0.0, 1.0, len(radii))
    line = tuple(tuple((1.0 - t) * p + t * q for p, q in zip(a, b, strict=True)) for t in places)
    return field.Tube(line, tuple(radii), flat)


def smooth(a: Point, b: Point, radii: Sequence[float]) -> field.Tube:
    """As `straight`, but the radii swell and shrink without rings where they are given."""
    given = np.array(radii, np.float64)
    slopes = np.gradient(given)
    fine = []
    for i in range(len(given) - 1):
        for t in np.arange(_FINER) / _FINER:
            rise = given[i + 1] - given[i]
            ease = t * t * (3.0 - 2.0 * t)
            start, end = t * (1.0 - t) ** 2, t * t * (t - 1.0)
            fine.append(given[i] + rise * ease + start * slopes[i] + end * slopes[i + 1])
    return straight(a, b, tuple(float(radius) for radius in (*fine, given[-1])))


def mirrored(limb: Limb) -> Limb:
    """The same limb on the other side: ".L" in names becomes ".R"."""
    line = tuple((-p[0], p[1], p[2]) for p in limb.tube.line)
    up = (-limb.up[0], limb.up[1], limb.up[2])
    names = {"name": _other_side(limb.name), "parent": _other_side(limb.parent)}
    return replace(limb, tube=replace(limb.tube, line=line), up=up, **names)


def _other_side(name: str) -> str:
    return name.replace(".L", ".R")


def bones_of(limbs: Sequence[Limb]) -> tuple[skeleton.Bone, ...]:
    """All bones, parents first, under a root that deforms nothing."""
    found = [skeleton.Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.3, 0.0), _ABOVE)]
    for limb in limbs:
        found += skeleton.chain(limb.bone_names, limb.parent, limb.tube, limb.up)
    return tuple(found)


def distance(limbs: Sequence[Limb], points: Array) -> Array:
    """To the whole figure: its limbs, joined with fillets."""
    shape = field.along(points, limbs[0].tube)[0]
    for limb in limbs[1:]:
        shape = field.join(shape, field.along(points, limb.tube)[0], limb.fillet)
    return shape


def skin_of(limbs: Sequence[Limb], step: float, halvings: int = 0) -> tuple[Array, Array]:
    """Vertices and quads about `step` long, each then quartered `halvings` times."""

    def whole(points: Array) -> Array:
        return distance(limbs, points)

    points, faces = surface.surface_nets(whole, *_box(limbs, 2.0 * step), step)
    points = surface.relax(whole, points, faces, 6)
    for _ in range(halvings):
        points, faces = quartered(points, faces)
        points = surface.relax(whole, points, faces, 1)
    return points, faces


def _box(limbs: Sequence[Limb], margin: float) -> tuple[tuple, tuple]:
    places = np.concatenate([np.array(limb.tube.line) for limb in limbs])
    widths = np.concatenate([np.array(limb.tube.radii) for limb in limbs])[:, None] + margin
    return tuple((places - widths).min(axis=0)), tuple((places + widths).max(axis=0))


def quartered(points: Array, faces: Array) -> tuple[Array, Array]:
    """Each quad becomes four; new points in the middle of edges and faces."""
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    edges, edge_of = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    edge_of = edge_of.reshape(faces.shape) + len(points)
    middle = len(points) + len(edges) + np.arange(len(faces))
    quads = [
        np.stack([faces[:, i], edge_of[:, i], middle, edge_of[:, i - 1]], axis=1) for i in range(4)
    ]
    halves = 0.5 * (points[edges[:, 0]] + points[edges[:, 1]])
    return np.concatenate([points, halves, points[faces].mean(axis=1)]), np.concatenate(quads)


def weights_of(limbs: Sequence[Limb], points: Array) -> dict[str, Array]:
    """Weight of each bone on each vertex; the weights of a vertex sum to one."""
    found = [field.along(points, limb.tube) for limb in limbs]
    nearest = np.minimum.reduce([far for far, _ in found])
    result = {}
    for limb, (far, place) in zip(limbs, found, strict=True):
        near = np.maximum(1.0 - (far - nearest) / limb.reach, 0.0)
        shares = skeleton.chain_shares(place, limb.bone_count, 0.35 / limb.bone_count)
        for name, share in zip(limb.bone_names, shares, strict=True):
            weight = near * near * share
            result[name] = np.where(weight < skeleton.SMALLEST_WEIGHT, 0.0, weight)
    total = np.add.reduce(list(result.values()))
    return {name: weight / total for name, weight in result.items()}
