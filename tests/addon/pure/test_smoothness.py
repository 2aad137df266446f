# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers beside the pictures of weights: what they are of functions that one knows."""

import numpy as np
import pytest

from sample_blends import smoothness

Array = np.ndarray


def make_square(count: int, seed: int = 0, lift: float = 0.0) -> tuple[Array, Array]:
    """Of side 1, cut into triangles; nodes inside are put elsewhere by chance."""
    line = np.linspace(0.0, 1.0, count + 1)
    x, y = (v.reshape(-1) for v in np.meshgrid(line, line, indexing="ij"))
    points = np.stack([x, y, lift * x], axis=1)
    inside = (x > 0) & (x < 1) & (y > 0) & (y < 1)
    shift = 0.2 / count * np.random.default_rng(seed).uniform(-1, 1, (len(x), 2)) * (seed > 0)
    points[inside, :2] += shift[inside]
    points[:, 2] = lift * points[:, 0]
    a = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).reshape(-1)
    b, c, d = a + count + 1, a + count + 2, a + 1
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return points, triangles


def make_ball(count: int) -> tuple[Array, Array]:
    """A cube's sides, blown up to a sphere of radius 1; denser at the cube's corners."""
    square, triangles = make_square(count)
    flat = 2.0 * square - 1.0
    parts, faces = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            part = np.insert(flat[:, :2], axis, side, axis=1)
            parts.append(part)
            turned = triangles if side * (-1.0) ** axis > 0 else triangles[:, ::-1]
            faces.append(turned + len(flat) * (len(parts) - 1))
    points = np.concatenate(parts)
    points, places = np.unique(points.round(9), axis=0, return_inverse=True)
    triangles = places.reshape(-1)[np.concatenate(faces)]
    return points / np.linalg.norm(points, axis=1, keepdims=True), triangles


def test_what_is_linear_on_a_plane_has_none_however_it_is_cut_and_tilted() -> None:
    points, triangles = make_square(9, seed=3, lift=0.7)
    table = np.stack([points @ (0.3, -0.2, 0.0), np.full(len(points), 0.4)], axis=1)
    assert smoothness.energies(points, triangles, table).max() < 1e-20


@pytest.mark.parametrize("count", [12, 24, 48])
def test_a_wave_on_a_ball_has_what_calculus_says(count: int) -> None:
    """z is an eigenfunction: its Laplacian is -2 z, and the integral of (2 z)^2 is 16 pi / 3."""
    points, triangles = make_ball(count)
    area = smoothness.areas(points, triangles).sum()
    value = smoothness.energies(points, triangles, points[:, 2:])[0] / area
    # of the second order: 0.31, 0.33 and 0.34 over the square of the count
    assert value == pytest.approx(16.0 * np.pi / 3.0, rel=0.4 / count**2)
    hold = smoothness.holds(points, triangles, points[:, 2:])[0]
    assert hold == pytest.approx(1.0 / 3.0, rel=1e-12)  # three axes share it evenly


def test_size_does_not_matter_and_amount_does() -> None:
    points, triangles = make_ball(10)
    table = np.abs(points)
    one = smoothness.energies(points, triangles, table)
    assert smoothness.energies(9.0 * points, triangles, table) == pytest.approx(one)
    assert smoothness.energies(points, triangles, 0.5 * table) == pytest.approx(0.25 * one)
    held = smoothness.energy_for_hold(points, triangles, table)
    assert smoothness.energy_for_hold(points, triangles, 0.5 * table) == pytest.approx(held)


def test_who_holds_nothing_is_not_smooth_but_lost() -> None:
    points, triangles = make_ball(6)
    table = np.stack([points[:, 2] ** 2, np.zeros(len(points))], axis=1)
    assert smoothness.energy_for_hold(points, triangles, table) == np.inf


def test_a_border_counts_as_nothing_and_a_flat_triangle_breaks_nothing() -> None:
    points, triangles = make_square(4)
    assert smoothness.on_border(triangles, len(points)).sum() == 16
    triangles = np.concatenate([triangles, [[6, 7, 7]]])
    value = smoothness.energies(points, triangles, points[:, :1] ** 2)
    assert np.isfinite(value).all() and value[0] > 0.0
