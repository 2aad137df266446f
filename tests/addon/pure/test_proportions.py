# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object makes of its mesh's shape, apart from where it stands, how it is turned and how
large it is."""

from dataclasses import replace

import numpy as np
import pytest
from sample import make_character, make_rows
from softrig.model.proportions import EVEN, proportions_of, stored
from softrig.model.rig import spaces_of_row

STRETCH = np.diag((0.5, 3.0, 1.0))
SHEAR = np.array([[1.0, 0.4, 0.0], [0.4, 2.0, -0.3], [0.0, -0.3, 0.7]])


def turned(angle: float, axis: int = 2) -> np.ndarray:
    a, b = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[[a, b], [a, b]] = np.cos(angle)
    matrix[a, b], matrix[b, a] = -np.sin(angle), np.sin(angle)
    return matrix


def to_world(linear: np.ndarray) -> np.ndarray:
    world = np.eye(4)
    world[:3, :3], world[:3, 3] = linear, (5.0, -3.0, 2.0)
    return world.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1.7, 1e4])
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_size_turn_and_mirror_are_no_proportions(size: float, mirror: float) -> None:
    linear = size * turned(0.7) @ turned(-1.1, 0) @ np.diag((mirror, 1.0, 1.0))
    assert proportions_of(to_world(linear)) is EVEN
    for stretch in (STRETCH, SHEAR):
        found = proportions_of(to_world(linear @ stretch))
        assert found.are(stored(stretch)) and not found.are(EVEN)
        # they are the whole of it but for a size
        times = np.diag(found.matrix) / np.diag(stretch)
        assert found.matrix == pytest.approx(times[0] * stretch, abs=1e-4)
        assert 0.5 <= abs(np.linalg.det(found.matrix)) ** (1.0 / 3.0) <= 2.0


def test_a_scale_is_stored_to_the_bit() -> None:
    found = proportions_of(np.diag((0.5, 3.0, -1.0, 1.0)))
    assert (found.matrix == STRETCH).all()
    assert (stored(found.matrix.reshape(-1).tolist()).matrix == found.matrix).all()


@pytest.mark.parametrize(
    "linear", [np.zeros((3, 3)), np.diag((1.0, 1.0, 0.0)), np.full((3, 3), np.nan)]
)
def test_what_has_no_shape_has_no_proportions(linear: np.ndarray) -> None:
    assert proportions_of(to_world(linear)) is EVEN


def test_points_spaces_and_rows_go_to_one_space_and_back() -> None:
    """Wherever the rig puts a point in the world, it is the same by either way."""
    character, rows = make_character(), make_rows()
    world = to_world(turned(0.4) @ SHEAR)
    rows[:, :16] = world.T.reshape(-1)
    found = proportions_of(world)
    flesh = replace(character, proportions=found).as_flesh()
    points = character.positions.reshape(-1, 3)
    placed = points @ world[:3, :3].T + world[:3, 3]
    brought = found.of_rows(rows)
    begin = brought[3, :16].reshape(4, 4).T
    assert flesh.positions.reshape(-1, 3) @ begin[:3, :3].T + begin[:3, 3] == pytest.approx(
        placed, abs=1e-5
    )
    assert (brought[:, 16:] == rows[:, 16:]).all()
    # similar to the seen shape: only turned and sized
    gram = begin[:3, :3].T @ begin[:3, :3]
    assert gram == pytest.approx(np.eye(3) * gram[0, 0], abs=1e-5)
    spaces = spaces_of_row(rows[3], 1)
    whole = begin @ found.of_spaces(spaces.to_skin).reshape(4, 4).T
    assert whole == pytest.approx(rows[3, 16:32].reshape(4, 4).T, abs=1e-5)
    back = found.to_object().reshape(4, 4).T
    assert (flesh.positions.reshape(-1, 3) @ back[:3, :3].T) == pytest.approx(points, abs=1e-5)
    assert world @ found.of_map(np.eye(4)) != pytest.approx(world)
    assert world @ found.of_map(np.eye(4)) == pytest.approx(begin, abs=1e-5)


def test_even_ones_hand_on_what_they_are_given() -> None:
    rows, points = make_rows(), make_character().positions
    assert EVEN.of_rows(rows) is rows and EVEN.of_points(points) is points
    assert EVEN.of_spaces(points) is points and EVEN.to_object() is None


def test_a_change_in_the_course_of_a_tape_is_seen() -> None:
    rows = make_rows()
    rows[:, :16] = to_world(STRETCH).T.reshape(-1)
    found = proportions_of(to_world(STRETCH))
    assert not found.change_in(rows) and EVEN.change_in(rows)
    rows[5, :16] = to_world(4.0 * turned(1.0) @ STRETCH).T.reshape(-1)
    assert not found.change_in(rows), "turned and sized"
    rows[5, :16] = to_world(STRETCH @ np.diag((1.0, 1.1, 1.0))).T.reshape(-1)
    assert not found.change_in(rows), "hardly"
    rows[5, :16] = to_world(STRETCH @ np.diag((1.0, 1.3, 1.0))).T.reshape(-1)
    assert found.change_in(rows)
    rows[5, :16] = 0.0
    assert not found.change_in(rows), "hidden by a scale of zero"
