# SPDX-License-Identifier: GPL-3.0-or-later
"""The character's shape as distance fields of its parts, in metres; it looks along -Y, up is +Z.

Only plain arithmetic and square roots are used, elementwise, so that every numpy gives equal bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Point = tuple[float, float, float]

LOWEST = (-0.78, -0.66, -0.105)
HIGHEST = (0.78, 1.02, 2.08)

# straight pieces of a bent tube
_SEGMENTS = 24


@dataclass(frozen=True)
class Tube:
    """A bent limb: centre line, a radius at each of its points, flattened along Y by `flat`."""

    line: tuple[Point, ...]
    radii: tuple[float, ...]
    flat: float = 1.0


def bend(a: Point, b: Point, c: Point, d: Point, radii: Sequence[float], flat: float = 1.0) -> Tube:
    """A tube along the cubic Bezier curve a, b, c, d with the radii spread evenly over it."""
    line, widths = [], []
    for i in range(_SEGMENTS + 1):
        t = i / _SEGMENTS
        s = 1.0 - t
        k = (s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t)
        x, y, z = (k[0] * a[j] + k[1] * b[j] + k[2] * c[j] + k[3] * d[j] for j in range(3))
        line.append((x, y, z))
        at = t * (len(radii) - 1)
        low = min(int(at), len(radii) - 2)
        widths.append(radii[low] + (at - low) * (radii[low + 1] - radii[low]))
    return Tube(tuple(line), tuple(widths), flat)


# the left side; the right side is its mirror image
EAR = bend(
    (0.13, 0.02, 1.37),
    (0.20, 0.02, 1.71),
    (0.33, 0.04, 2.08),
    (0.52, 0.02, 1.71),
    (0.072, 0.078, 0.087, 0.096, 0.102, 0.105, 0.103, 0.097, 0.085),
    0.72,
)
TAIL = bend(
    (0.0, 0.26, 0.45),
    (0.0, 0.66, 0.31),
    (0.0, 0.80, 0.67),
    (0.0, 0.70, 0.98),
    (0.085, 0.078, 0.074, 0.074, 0.078, 0.087, 0.100, 0.112, 0.116, 0.100),
)
ARM = Tube(
    ((0.28, -0.05, 0.88), (0.44, -0.11, 0.82), (0.55, -0.18, 0.72)),
    (0.080, 0.078, 0.082),
)
LEG = Tube(((0.19, 0.0, 0.34), (0.20, 0.0, 0.09)), (0.13, 0.11))


def ellipsoid(points: Array, centre: Point, radii: Point) -> Array:
    """Distance to an ellipsoid, exact on its surface and close to exact near it."""
    x = (points[:, 0] - centre[0]) / radii[0]
    y = (points[:, 1] - centre[1]) / radii[1]
    z = (points[:, 2] - centre[2]) / radii[2]
    k0 = np.sqrt(x * x + y * y + z * z)
    x, y, z = x / radii[0], y / radii[1], z / radii[2]
    k1 = np.sqrt(x * x + y * y + z * z)
    return k0 * (k0 - 1.0) / np.maximum(k1, 1.0e-9)


def along(points: Array, tube: Tube) -> tuple[Array, Array]:
    """Distance to a tube, and the place of the nearest centre point: 0 at its root, 1 at tip."""
    stretch = 1.0 / tube.flat
    px, py, pz = points[:, 0], points[:, 1] * stretch, points[:, 2]
    distance = np.full(len(points), 1.0e9)
    reach, place = np.full(len(points), 1.0e9), np.zeros(len(points))
    segments = len(tube.line) - 1
    for i in range(segments):
        a, b = tube.line[i], tube.line[i + 1]
        ax, ay, az = a[0], a[1] * stretch, a[2]
        dx, dy, dz = b[0] - ax, b[1] * stretch - ay, b[2] - az
        qx, qy, qz = px - ax, py - ay, pz - az
        t = (qx * dx + qy * dy + qz * dz) / (dx * dx + dy * dy + dz * dz)
        t = np.minimum(np.maximum(t, 0.0), 1.0)
        qx, qy, qz = qx - t * dx, qy - t * dy, qz - t * dz
        radius = tube.radii[i] + t * (tube.radii[i + 1] - tube.radii[i])
        here = np.sqrt(qx * qx + qy * qy + qz * qz)
        distance = np.minimum(distance, here - radius)
        place = np.where(here < reach, (i + t) / segments, place)
        reach = np.minimum(reach, here)
    return distance, place


def join(a: Array, b: Array, width: float) -> Array:
    """Union of two fields with a fillet of the given width."""
    h = np.maximum(width - np.abs(a - b), 0.0) / width
    return np.minimum(a, b) - h * h * width * 0.25


def _body(points: Array) -> Array:
    trunk = ellipsoid(points, (0.0, 0.0, 0.65), (0.39, 0.34, 0.45))
    belly = ellipsoid(points, (0.0, -0.19, 0.55), (0.37, 0.34, 0.34))
    return join(trunk, belly, 0.16)


def _head(points: Array) -> Array:
    skull = ellipsoid(points, (0.0, -0.03, 1.25), (0.39, 0.33, 0.30))
    muzzle = ellipsoid(points, (0.0, -0.29, 1.16), (0.16, 0.13, 0.105))
    return join(skull, muzzle, 0.10)


def _foot(points: Array) -> Array:
    shoe = ellipsoid(points, (0.21, -0.10, 0.06), (0.145, 0.25, 0.105))
    foot = join(shoe, along(points, LEG)[0], 0.08)

    # flat soles: the smooth intersection with everything above the ground
    return -join(-foot, points[:, 2], 0.03)


def mirrored(points: Array) -> Array:
    """The same points seen from the other side of the character."""
    return points * np.array([-1.0, 1.0, 1.0])


def _sides(name: str, field: Callable[[Array], Array], points: Array) -> dict[str, Array]:
    return {f"{name}.L": field(points), f"{name}.R": field(mirrored(points))}


def part_distances(points: Array) -> dict[str, Array]:
    """Distance of each point to each part of the character."""
    return {
        "body": _body(points),
        "head": _head(points),
        "tail": along(points, TAIL)[0],
        **_sides("ear", lambda p: along(p, EAR)[0], points),
        **_sides("arm", lambda p: along(p, ARM)[0], points),
        **_sides("foot", _foot, points),
    }


def whole(points: Array) -> Array:
    """Distance to the whole character: its parts, joined with fillets."""
    part = part_distances(points)
    shape = join(part["body"], part["head"], 0.10)
    shape = join(shape, np.minimum(part["foot.L"], part["foot.R"]), 0.14)
    shape = join(shape, np.minimum(part["arm.L"], part["arm.R"]), 0.08)
    shape = join(shape, np.minimum(part["ear.L"], part["ear.R"]), 0.07)
    return join(shape, part["tail"], 0.10)
