# SPDX-License-Identifier: GPL-3.0-or-later
"""Followers in memory: made, kept, dropped with their shot, and what goes onto their tape."""

from typing import Any

import numpy as np
import pytest
from fake import FakeApi
from softrig.model.followers import (
    FollowerShape,
    affine_map,
    fit_map,
    follow,
    make_row,
    name_motion,
    rewind,
    write_rows,
)
from softrig.native.errors import NativeError


def make_shape(uuid: str, at: float = 0.0, is_rigid: bool = False) -> FollowerShape:
    rest = np.full(12, at, np.float32)
    return FollowerShape(uuid, uuid.title(), rest, np.eye(4), is_rigid)


def make_shot(api: FakeApi) -> int:
    api.alive.add(1000)
    return 1000


def test_only_what_changed_is_made_anew() -> None:
    api = FakeApi()
    shot = make_shot(api)
    first = follow(api, shot, (), [make_shape("hat"), make_shape("eye")])
    same = follow(api, shot, first, [make_shape("eye"), make_shape("hat")])
    assert [f.identity for f in same] == [first[1].identity, first[0].identity]
    moved = follow(api, shot, same, [make_shape("eye", 1.0), make_shape("hat", 0.0, True)])
    assert not {f.identity for f in moved} & {f.identity for f in first}
    assert api.alive == {shot, *(f.identity for f in moved)}
    assert follow(api, shot, moved, ()) == []
    assert api.alive == {shot}


def test_one_that_cannot_be_made_leaves_all_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    api = FakeApi()
    shot = make_shot(api)
    had = follow(api, shot, (), [make_shape("hat")])
    alive, make = set(api.alive), api.create_follower

    def fail_at_second(shot: int, rest: Any, is_rigid: bool) -> int:
        if rest[0] == 2.0:
            raise NativeError(9, "Out of memory.")
        return make(shot, rest, is_rigid)

    monkeypatch.setattr(api, "create_follower", fail_at_second)
    with pytest.raises(NativeError):
        follow(api, shot, had, [make_shape("eye", 1.0), make_shape("tooth", 2.0)])
    assert api.alive == alive


def test_motion_is_named_by_what_was_written() -> None:
    api = FakeApi()
    made = follow(api, make_shot(api), (), [make_shape("hat")])
    rows = np.arange(64, dtype=np.float32).reshape(2, 32)
    write_rows(api, made, 1, [rows])
    whole = name_motion(made)
    rewind(made)
    write_rows(api, made, 1, [rows[:1]])
    assert name_motion(made) != whole
    write_rows(api, made, 2, [rows[1:]])
    assert name_motion(made) == whole and made[0].recorded == 2
    assert name_motion(()) == b""


def test_an_affine_map_is_found_again() -> None:
    generator = np.random.default_rng(7)
    points = generator.normal(size=(50, 3))
    wanted = np.eye(4)
    wanted[:3] = generator.normal(size=(3, 4))
    goals = points @ wanted[:3, :3].T + wanted[:3, 3]
    fit = fit_map(points.reshape(-1))
    assert np.abs(affine_map(fit, goals.reshape(-1)) - wanted).max() < 1e-12
    # all in one plane: the map is right wherever there are points
    points[:, 2] = 0.5 * points[:, 0]
    goals = points @ wanted[:3, :3].T + wanted[:3, 3]
    found = affine_map(fit_map(points.reshape(-1)), goals.reshape(-1))
    assert np.abs(points @ found[:3, :3].T + found[:3, 3] - goals).max() < 1e-12


def test_a_row_holds_both_matrices_column_by_column() -> None:
    world, to_object = np.eye(4), np.eye(4)
    world[:3, 3], to_object[0, 0] = (1, 2, 3), 5.0
    row = make_row(world, to_object)
    assert row.dtype == np.float32 and row.shape == (32,)
    assert list(row[12:16]) == [1, 2, 3, 1]
    assert row[16] == 5.0 and list(row[28:32]) == [1, 2, 3, 1]
