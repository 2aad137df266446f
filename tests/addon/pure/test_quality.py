# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers beside the pictures of samples: zero where nothing disturbs, right where it does."""

import csv
from pathlib import Path

import numpy as np
import pytest

from sample_blends import quality

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)
CELL = np.array([[0, 1, 2, 3]])


def test_what_accelerates_evenly_has_no_jerk() -> None:
    times = np.arange(20.0)
    path = np.stack([3.0 - 2.0 * times + 0.5 * times**2] * 3, axis=1)[:, None, :]
    assert np.allclose(quality.jerk(path, 1.0), 0.0, atol=1e-10)


def test_jerk_is_the_third_derivative_as_a_share_of_the_size() -> None:
    times = np.arange(20.0)
    path = np.stack([times**3, 0 * times, 0 * times], axis=1)[:, None, :]
    values = quality.jerk(path, 50.0)
    assert np.allclose(values[2:-1], 100.0 * 6.0 / 50.0) and len(values) == 20


@pytest.mark.parametrize("frame", [2, 7, 12])
def test_a_jump_shows_where_it_lands_and_one_vertex_is_enough(frame: int) -> None:
    path = np.zeros((15, 4, 3))
    path[frame:, 2, 1] = 0.1
    values = quality.jerk(path, 1.0)
    assert int(values.argmax()) == frame and values.max() == pytest.approx(20.0)


def test_too_few_frames_have_none() -> None:
    assert list(quality.jerk(np.zeros((2, 4, 3)), 1.0)) == [0.0, 0.0]


def test_a_cell_is_inverted_once_a_corner_has_gone_through_the_opposite_face() -> None:
    moved = TETRAHEDRON.copy()
    assert quality.count_inverted(moved, CELL, TETRAHEDRON) == 0
    moved[3, 2] = 1e-6
    assert quality.count_inverted(moved, CELL, TETRAHEDRON) == 0
    moved[3, 2] = 0.0
    assert quality.count_inverted(moved, CELL, TETRAHEDRON) == 1
    moved[3, 2] = -0.5
    assert quality.count_inverted(moved, CELL, TETRAHEDRON) == 1
    # whichever way its corners are counted at rest
    assert quality.count_inverted(TETRAHEDRON, CELL[:, ::-1], TETRAHEDRON) == 0


def test_neighbours_share_an_edge_that_no_third_face_has() -> None:
    edges = np.array([0, 1, 2, 2, 3, 4, 4, 5, 6, 4, 7, 8])
    faces = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    assert quality.neighbours(edges, faces).tolist() == [[0, 1]]  # edge 4 has three faces


def test_a_sheet_is_folded_when_it_is_bent_by_more_than_120_degrees() -> None:
    pairs = np.array([[0, 1]])
    for degrees, expected in ((0, False), (90, False), (119, False), (121, True), (180, True)):
        angle = np.radians(degrees)
        normals = np.array([[0.0, 0.0, 1.0], [np.sin(angle), 0.0, np.cos(angle)]])
        assert quality.folded(normals, pairs).tolist() == [expected]


def test_skins_of_one_scene_are_taken_together_and_written_down(tmp_path: Path) -> None:
    one = quality.Quality(np.array([0.0, 1.5]), np.array([0, 2]), np.array([1, 0]))
    two = quality.Quality(np.array([0.5, 1.0]), np.array([1, 1]), np.array([0, 4]))
    both = one + two
    assert both.tell(1) == "jerk 1.50 inverted 3 folds 4"
    shown = quality.table(range(5, 7), one, both, (5,)).splitlines()
    assert shown[1].split() == "5 0.00 | 0.50 0 | 1 1 | 1".split()
    assert shown[2].split() == "worst 1.50 | 1.50 2 | 3 1 | 4".split()
    quality.write(tmp_path / "shot.csv", range(5, 7), one, both)
    with (tmp_path / "shot.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["frame"] for row in rows] == ["5", "6"]
    assert (rows[1]["folds before"], rows[1]["folds after"]) == ("0", "4")
