# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged surfaces by the hundred, each from a seed: what artists' files come with, and worse."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Soup = tuple[np.ndarray, np.ndarray]
Damage = Callable[[np.ndarray, np.ndarray, np.random.Generator], Soup]


@dataclass(frozen=True)
class Patient:
    name: str
    points: np.ndarray
    triangles: np.ndarray
    has_inside: bool


def ball(around: int = 24, down: int = 12) -> Soup:
    """Closed; its poles are rings of a single point."""
    theta = np.pi * np.arange(1, down)[:, None] / down
    phi = 2.0 * np.pi * np.arange(around)[None, :] / around
    z = np.cos(theta) + 0.0 * phi
    rings = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), z], axis=-1)
    points = np.concatenate([[[0, 0, 1.0]], rings.reshape(-1, 3), [[0, 0, -1.0]]])
    triangles, south = [], len(points) - 1
    for i in range(around):
        after, last = (i + 1) % around, 1 + (down - 2) * around
        triangles += [(0, 1 + i, 1 + after), (south, last + after, last + i)]
        for first in range(1, last, around):
            below = first + around
            triangles.append((first + i, below + i, below + after))
            triangles.append((first + i, below + after, first + after))
    return points, np.array(triangles)


def ring(around: int = 28, across: int = 12) -> Soup:
    """A torus."""
    index = np.arange(around * across).reshape(around, across)
    a, b = 2.0 * np.pi * (index // across) / around, 2.0 * np.pi * (index % across) / across
    radius = 1.0 + 0.4 * np.cos(b)
    points = np.stack([radius * np.cos(a), radius * np.sin(a), 0.4 * np.sin(b)], axis=-1)
    after, beside = np.roll(index, -1, 0), np.roll(index, -1, 1)
    both = np.roll(after, -1, 1)
    halves = [np.stack(c, -1) for c in ((index, after, both), (index, both, beside))]
    return points.reshape(-1, 3), np.concatenate(halves).reshape(-1, 3)


def egg() -> Soup:
    points, triangles = ball(20, 14)
    return points * (0.6, 0.8, 1.7), triangles


def nothing(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return points, triangles


def hole(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    center = points[chance.integers(len(points))]
    far = np.linalg.norm(points[triangles].mean(axis=1) - center, axis=1)
    return points, triangles[far > chance.uniform(0.2, 0.5)]


def lost(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return points, triangles[chance.random(len(triangles)) > 0.08]


def flipped(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    turned = chance.random(len(triangles)) < 0.2
    return points, np.where(turned[:, None], triangles[:, ::-1], triangles)


def inside_out(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return points, triangles[:, ::-1]


def doubled(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    again = chance.integers(len(triangles), size=len(triangles) // 3)
    return points, np.concatenate([triangles, triangles[again]])


def torn_apart(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    """Each triangle with corners of its own."""
    return points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)


def rough(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    """Faces cut each other."""
    return points + chance.normal(scale=0.06, size=points.shape), triangles


def spiked(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    far, some = points.copy(), chance.integers(len(points), size=3)
    far[some] *= chance.uniform(1.5, 2.5, size=(3, 1))
    return far, triangles


def slivers(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    """Corners all but on the one beside them."""
    moved = points.copy()
    for a, b in triangles[chance.integers(len(triangles), size=12), :2]:
        moved[a] = moved[b] + 1e-6 * (moved[a] - moved[b])
    return moved, triangles


def islands(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    crumbs = chance.uniform(-2.0, 2.0, size=(10, 1, 3)) + chance.normal(scale=0.05, size=(10, 3, 3))
    corners = len(points) + np.arange(30).reshape(-1, 3)
    return np.concatenate([points, crumbs.reshape(-1, 3)]), np.concatenate([triangles, corners])


def coincident(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    """A second skin on the first."""
    again = triangles + len(points)
    return np.concatenate([points, points]), np.concatenate([triangles, again])


def crossing(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    """Another one through it."""
    other = points + chance.uniform(0.2, 0.6, size=3)
    return np.concatenate([points, other]), np.concatenate([triangles, triangles + len(points)])


def three_faces_on_an_edge(
    points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator
) -> Soup:
    fins = triangles[chance.integers(len(triangles), size=6)].copy()
    tips = 1.3 * points[fins[:, 0]]
    fins[:, 0] = len(points) + np.arange(6)
    return np.concatenate([points, tips]), np.concatenate([triangles, fins])


def not_numbers(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    bad = points.copy()
    bad[chance.integers(len(points), size=3)] = np.nan
    bad[chance.integers(len(points))] = np.inf
    return bad, triangles


def tiny(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return 10.0 ** chance.uniform(-12.0, -6.0) * points, triangles


def huge(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return 10.0 ** chance.uniform(6.0, 12.0) * points, triangles


def far_away(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return points + 10.0 ** chance.uniform(2.0, 3.3), triangles


def all_at_once(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    for damage in chance.permutation([hole, flipped, doubled, spiked, islands, slivers]):
        points, triangles = damage(points, triangles, chance)
    return points, triangles


def flat(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return points * (1.0, 1.0, 0.0), triangles[chance.random(len(triangles)) > 0.5]


def no_area(points: np.ndarray, triangles: np.ndarray, chance: np.random.Generator) -> Soup:
    return points * (1.0, 0.0, 0.0), triangles


WITH_INSIDE: tuple[Damage, ...] = (
    nothing,
    hole,
    lost,
    flipped,
    inside_out,
    doubled,
    torn_apart,
    rough,
    spiked,
    slivers,
    islands,
    coincident,
    crossing,
    three_faces_on_an_edge,
    not_numbers,
    tiny,
    huge,
    far_away,
    all_at_once,
)
WITHOUT: tuple[Damage, ...] = (flat, no_area)
SHAPES: tuple[Callable[[], Soup], ...] = (ball, ring, egg)


def patients(count: int) -> Iterator[Patient]:
    """In turn by damage, shape and seed."""
    damages = WITH_INSIDE + WITHOUT
    for number in range(count):
        damage, shape = damages[number % len(damages)], SHAPES[number % len(SHAPES)]
        points, triangles = damage(*shape(), np.random.default_rng(number))
        yield Patient(
            f"{shape.__name__}, {damage.__name__}, {number}",
            points.astype(np.float32),
            triangles.astype(np.int32),
            damage in WITH_INSIDE,
        )
