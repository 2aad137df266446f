# SPDX-License-Identifier: GPL-3.0-or-later
"""Computed weights without Blender: whose they are, what is kept, and the library's own answer."""

from typing import Any

import numpy as np
import pytest
from softrig.model import weights
from softrig.model.weights import RestBone
from softrig.native.errors import NativeError, StaleIdError
from softrig.native.inputs import InsideInput

FLIPPED = {"arm.L": "arm.R", "arm.R": "arm.L"}


def flip(name: str) -> str:
    return FLIPPED.get(name, name)


def make_bones(right: float = -1.0) -> list[RestBone]:
    return [
        RestBone("arm.L", (1, 0, 0), (2, 0, 0)),
        RestBone("spine", (0, 0, 0), (0, 0, 1)),
        RestBone("arm.R", (right, 0, 0), (2 * right, 0, 0)),
    ]


def make_ball(count: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A sphere of radius one: points and triangles, flat."""
    step = np.pi / count
    t, p = np.meshgrid(step * np.arange(count + 1), step * np.arange(2 * count), indexing="ij")
    points = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=-1)
    a = np.arange(count * 2 * count)
    b = a // (2 * count) * (2 * count) + (a + 1) % (2 * count)
    triangles = np.stack([a, a + 2 * count, b + 2 * count, a, b + 2 * count, b], axis=1)
    return points.astype(np.float32).reshape(-1), triangles.astype(np.int32).reshape(-1)


def test_mirror_columns_want_names_and_places() -> None:
    assert weights.find_mirror_columns(make_bones(), flip).tolist() == [2, 1, 0]
    assert weights.find_mirror_columns(make_bones(right=-1.1), flip).tolist() == [-1, 1, -1]
    assert weights.find_mirror_columns([], flip) is None


def test_a_bone_without_partner_leaves_the_other_pairs() -> None:
    sword = RestBone("sword", (2, 0, 0), (2, 1, 0))
    assert weights.find_mirror_columns([*make_bones(), sword], flip).tolist() == [2, 1, 0, -1]
    assert weights.find_mirror_columns(make_bones()[:2], flip).tolist() == [-1, 1]
    assert weights.find_mirror_columns([sword, make_bones()[0]], flip) is None


def test_half_a_mesh_is_made_whole_and_closed() -> None:
    """Half a tetrahedron, its cut open: two points on the plane, one a hair off, one beyond."""
    points = np.array([(0, 0, 0), (0, 1, 0), (1e-4, 0, 1), (2, 0, 0)], np.float32)
    triangles = np.array([(0, 1, 3), (1, 2, 3), (2, 0, 3)], np.int32)
    reflection = np.diag([-1.0, 1.0, 1.0, 1.0])
    whole, faces = weights.mirror_mesh(
        points.reshape(-1), triangles.reshape(-1), weights.Mirror(reflection, 1e-3)
    )
    assert (whole.reshape(-1, 3)[:4] == points).all() and len(whole) == 15
    assert whole[12:].tolist() == [-2, 0, 0]
    corners = faces.reshape(-1, 3)
    edges = np.concatenate([corners[:, (0, 1)], corners[:, (1, 2)], corners[:, (2, 0)]]).tolist()
    assert len(corners) == 6 and sorted(edges) == sorted([b, a] for a, b in edges)
    apart, _ = weights.mirror_mesh(
        points.reshape(-1), triangles.reshape(-1), weights.Mirror(reflection, 0.0)
    )
    assert len(apart) == 3 * (4 + 2)


def test_what_bisect_takes_is_replaced_by_the_image() -> None:
    """A ball cut beside its middle: closed, symmetric, and its own points where they were."""
    points, triangles = make_ball(12)
    for side in (1.0, -1.0):
        kept = side * np.array([1.0, 0.0, 0.0, -0.3])  # x >= 0.3, or what is left of it
        reflection = np.diag([-1.0, 1.0, 1.0, 1.0])
        reflection[0, 3] = 0.6
        mirror = weights.Mirror(reflection, 1e-6, kept)
        whole, faces = weights.mirror_mesh(points, triangles, mirror)
        assert (whole[: len(points)] == points).all()
        # poles are many points at one place
        places, numbers = np.unique(whole.reshape(-1, 3).round(5), axis=0, return_inverse=True)
        corners = numbers.reshape(-1)[faces.reshape(-1, 3)]
        corners = corners[[len(set(triangle)) == 3 for triangle in corners.tolist()]]
        used = places[np.unique(corners)]
        edges = np.concatenate([corners[:, (0, 1)], corners[:, (1, 2)], corners[:, (2, 0)]])
        ends, counts = np.unique(edges, axis=0, return_counts=True)
        assert counts.max() == 1 and (np.unique(edges[:, ::-1], axis=0) == ends).all()
        assert abs((used[:, 0] - 0.3).min() + (used[:, 0] - 0.3).max()) < 1e-6
        reach = np.abs(used[:, 0] - 0.3).max()
        assert abs(reach - (0.7 if side > 0.0 else 1.3)) < 0.02


def test_sides_are_found_where_the_mirror_is() -> None:
    frame, columns = weights.find_sides(make_bones(), [], flip)
    assert (frame == np.identity(4)).all() and columns.tolist() == [2, 1, 0]
    turn = np.array([[0.6, -0.8, 0.0, 3.0], [0.8, 0.6, 0.0, 1.0], [0, 0, 1, 2], [0, 0, 0, 1]])
    away = weights.move_bones(make_bones(), turn)
    reflection = turn @ np.diag([-1.0, 1.0, 1.0, 1.0]) @ np.linalg.inv(turn)
    assert weights.find_sides(away, [], flip)[1] is None
    frame, columns = weights.find_sides(away, [weights.Mirror(reflection, 0.0)], flip)
    assert columns.tolist() == [2, 1, 0]
    assert np.allclose(frame[:3, :3] @ frame[:3, :3].T, np.identity(3))
    assert np.linalg.det(frame[:3, :3]) > 0.99
    # a plane of another axis does not hide the sides that are there
    other = weights.Mirror(np.diag([1.0, -1.0, 1.0, 1.0]), 0.0)
    frame, columns = weights.find_sides(make_bones(), [other], flip)
    assert (frame == np.identity(4)).all() and columns.tolist() == [2, 1, 0]
    skewed = np.diag([-1.0, 1.0, 1.0, 1.0])
    skewed[0, 1] = 0.5
    assert (weights.frame_of(weights.Mirror(skewed, 0.0)) == np.identity(4)).all()


def test_small_weights_go_and_rows_sum_to_one() -> None:
    values = np.array([[0.9995, 0.0005, 0.0], [0.5, 0.3, 0.2], [0.0, 0.0, 0.0]], np.float32)
    kept = weights.drop_small(values, 0)
    assert kept[0].tolist() == [1.0, 0.0, 0.0]
    assert np.allclose(kept[1], values[1]) and not kept[2].any()
    two = weights.drop_small(values, 2)
    assert np.allclose(two[1], [0.625, 0.375, 0.0])
    equal = weights.drop_small(np.full((1, 4), 0.25, np.float32), 2)
    assert equal.tolist() == [[0.5, 0.5, 0.0, 0.0]]


SIDES = weights.Sides(
    np.array([1, 0, 2, 4, 3, -1], np.int32), np.array([1.0, -1, 0, 1, -1, 2]), np.zeros(0)
)
"""Columns: two pairs, one in the middle, one without partner."""


def mirrored(rows: np.ndarray) -> np.ndarray:
    return rows[:, [1, 0, 2, 4, 3, 5]]


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_few_bones_of_mirrored_vertices_mirror_each_other(most: int) -> None:
    """Rows full of equals, and off by rounding, as what a bone without partner holds makes them."""
    random = np.random.default_rng(5)
    rows = random.integers(1, 5, (2000, 6)).astype(np.float64)
    rows /= rows.sum(axis=1, keepdims=True)
    off = 1.0 + 1e-7 * random.integers(-1, 2, rows.shape)
    both = np.concatenate([rows, mirrored(rows * off)]).astype(np.float32)
    places = random.uniform(0.1, 1.0, 2000)
    sides = SIDES._replace(vertices=np.concatenate([places, -places]))
    kept = weights.drop_small(both, most, sides)
    held = kept > 0.0
    assert held.sum(axis=1).max() == most and held.any(axis=1).all()
    assert np.allclose(kept.sum(axis=1), 1.0)
    assert (mirrored(held[:2000]) == held[2000:]).all()
    assert np.abs(mirrored(kept[:2000]) - kept[2000:]).max() < 1e-5
    # what stays is not smaller than what goes
    assert np.where(held, both, 1.0).min(axis=1).min() > 0.0
    least, largest = np.where(held, both, 2.0).min(axis=1), np.where(held, 0.0, both).max(axis=1)
    assert (least > largest * (1.0 - 1e-4)).all()
    # without sides the lowest columns win, and nothing of that holds
    alone = weights.drop_small(both, most) > 0.0
    assert (mirrored(alone[:2000]) != alone[2000:]).any()


def test_a_vertex_in_the_middle_keeps_both_arms_or_none() -> None:
    sides = SIDES._replace(vertices=np.array([0.0, 0.0, 0.0, 0.5, -0.5]))
    rows = [[0.25, 0.25, 0.5, 0, 0, 0], [0.3, 0.3, 0.2, 0.1, 0.1, 0]]
    rows += 3 * [[0.5, 0.5, 0, 0, 0, 0]]
    values = np.array(rows, np.float32)
    two = weights.drop_small(values, 2, sides)
    assert two[0].tolist() == [0, 0, 1, 0, 0, 0] and two[1].tolist() == [0.5, 0.5, 0, 0, 0, 0]
    four = weights.drop_small(values, 4, sides)
    assert np.allclose(four[1], [0.375, 0.375, 0.25, 0, 0, 0])
    one = weights.drop_small(values, 1, sides)
    # one bone a vertex: a pair that holds all leaves it to the one of that side
    assert one.argmax(axis=1).tolist() == [2, 0, 0, 0, 1] and (one.max(axis=1) == 1.0).all()


def test_sides_are_those_of_the_input() -> None:
    points, triangles = make_ball(4)
    columns = weights.find_mirror_columns(make_bones(), flip)
    data = weights.make_input(points, triangles, make_bones(), columns, 500)
    sides = weights.find_sides_of(data)
    assert sides.images.tolist() == [2, 1, 0] and sides.places.tolist() == [3, 0, -3]
    assert (sides.vertices == points[0::3]).all()
    assert (
        weights.find_sides_of(weights.make_input(points, triangles, make_bones(), None, 500))
        is None
    )


def test_locked_groups_leave_their_rest() -> None:
    values = np.array([[0.5, 0.5], [1.0, 0.0]], np.float32)
    shared = weights.share_with_locked(values, np.array([0.25, 1.5]))
    assert shared.tolist() == [[0.375, 0.375], [0.0, 0.0]]


def test_entries_are_what_is_not_zero() -> None:
    written = weights.to_entries(np.array([[0.0, 1.0], [0.25, 0.75], [0.25, 0.75]], np.float32))
    assert written == [[(0.25, [1, 2])], [(0.75, [1, 2]), (1.0, [0])]]


def test_a_bone_that_holds_nothing_has_no_entries() -> None:
    assert weights.to_entries(np.array([[0.0, 1.0], [0.0, 1.0]], np.float32)) == [
        [],
        [(1.0, [0, 1])],
    ]
    assert weights.to_entries(np.zeros((3, 2), np.float32)) == [[], []]


def finish(api: Any, job: Any) -> Any:
    while api.weights_status(job).running:
        pass
    return api.weights_status(job)


def test_the_library_weighs_a_ball(api: Any) -> None:
    points, triangles = make_ball()
    bones = [
        RestBone("low", (0, 0, -0.8), (0, 0, -0.2)),
        RestBone("high", (0, 0, 0.2), (0, 0, 0.8)),
    ]
    data = weights.make_input(points, triangles, bones, None, 500)
    job = api.start_weights(data)
    assert not finish(api, job).failed
    values = api.read_weights(job, data.vertex_count, 2)
    assert np.abs(values.sum(axis=1) - 1.0).max() < 1e-6
    heights = points.reshape(-1, 3)[:, 2]
    assert values[heights > 0.9, 1].min() > 0.6 and values[heights < -0.9, 0].min() > 0.6
    report = api.weights_report(job)
    assert report["isConverged"] and report["nodeCount"] > 100
    assert "2 bones" in weights.describe(report, 2, [])[0]
    assert not any("nothing is left" in text for text in weights.describe(report, 2, []))
    assert weights.describe(report, 2, ["low"])[1].endswith("nothing is left to low")
    api.destroy_weights(job)
    with pytest.raises(StaleIdError):
        api.weights_report(job)


def test_the_inside_is_the_characters(api: Any) -> None:
    """A sheet has one only where it is given a thickness."""
    points = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], np.float32).reshape(-1)
    triangles = np.array([0, 1, 2, 0, 2, 3], np.int32)
    bones = [RestBone("bone", (-0.5, 0, 0), (0.5, 0, 0))]
    for thickness, fails in ((0.05, False), (0.0, True)):
        inside = InsideInput(sheet_thickness=thickness)
        job = api.start_weights(weights.make_input(points, triangles, bones, None, 200, inside))
        assert finish(api, job).failed == fails
        api.destroy_weights(job)


def test_what_is_wrong_is_a_sentence(api: Any) -> None:
    points, triangles = make_ball()
    bones = [RestBone("nowhere", (0, 0, float("nan")), (0, 0, 1))]
    with pytest.raises(NativeError, match="points"):
        api.start_weights(weights.make_input(points, triangles, bones, None, 500))
