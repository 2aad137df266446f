# SPDX-License-Identifier: GPL-3.0-or-later
"""From dials as they stand at each frame to what the library is given."""

from typing import Any

import numpy as np
import pytest
from sample import FRAMES, make_character, make_rows
from softrig.model import controls
from softrig.model.controls import (
    CUT,
    DIAL_COUNT,
    SCENE_GRAVITY,
    check_dials,
    controls_from_dials,
    is_cut_marker,
    rest_gravity,
)
from softrig.model.rig import RefusalError
from softrig.native.errors import NativeError
from softrig.native.inputs import FrameRange, ShotSettings

EARTH = (0.0, 0.0, -9.81)


def dials(count: int, **columns: Any) -> np.ndarray:
    """Defaults, and these columns."""
    table = np.zeros((count, DIAL_COUNT), np.float32)
    table[:, 2:5] = (1.0, 0.0, 0.0)
    table[:, 6] = 1.0
    table[:, SCENE_GRAVITY] = EARTH
    names = {"gravity": 0, "wind": 1, "direction": slice(2, 5), "gusts": 5, "travel": 6}
    names |= {"pressure": 7, "cut": CUT}
    for name, values in columns.items():
        table[:, names[name]] = values
    return table


def cut_frames(cut: list[int], **more: Any) -> list[int]:
    rows = controls_from_dials(dials(len(cut), cut=cut), 10, **more)
    return (10 + np.flatnonzero(rows[:, 8])).tolist()


def test_defaults_are_the_librarys() -> None:
    rows = controls_from_dials(dials(3), 1)
    assert (rows == np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 0], np.float32)).all()


def test_gravity_is_the_scenes_so_many_times() -> None:
    rows = controls_from_dials(dials(3, gravity=[0.0, 1.0, -2.0]), 1)
    assert rows[:, 2] == pytest.approx([0.0, -9.81, 19.62])


def test_a_winds_length_is_its_speed_whatever_the_length_of_its_direction() -> None:
    directions = [(3.0, 4.0, 0.0), (0.0, 0.0, 1e-3), (0.0, 0.0, 0.0)]
    rows = controls_from_dials(dials(3, wind=10.0, direction=directions), 1)
    assert rows[:, 3:6] == pytest.approx(np.array([(6, 8, 0), (0, 0, 10), (0, 0, 0)]), abs=1e-5)


def test_a_cut_is_where_cut_goes_on() -> None:
    assert cut_frames([0, 1, 1, 1, 0, 1]) == [11, 15]
    assert cut_frames([1, 1, 0]) == [], "at the first row of a shot there is nothing to cut"
    assert cut_frames([1, 1, 0], before=0.0) == [10], "but at that of a later piece there is"
    assert cut_frames([0, 0, 0], marked=[11, 99]) == [11]


def test_pieces_cut_where_the_whole_cuts() -> None:
    table = dials(9, cut=[0, 0, 1, 1, 0, 0, 1, 0, 1])
    whole = controls_from_dials(table, 1)
    for at in range(1, 9):
        parts = [
            controls_from_dials(table[:at], 1),
            controls_from_dials(table[at:], 1 + at, before=float(table[at - 1, CUT])),
        ]
        assert (np.concatenate(parts) == whole).all(), at


def test_what_is_out_of_range_is_brought_back() -> None:
    rows = controls_from_dials(
        dials(1, gravity=1e9, wind=-1e9, gusts=7.0, travel=-1.0, pressure=-9.0), 1
    )
    expected = [0.0, 0.0, -1e6, -1e4, 0.0, 0.0, 1.0, 0.0, 0.0, -0.9]
    assert rows[0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "column, name", [(0, "Gravity"), (7, "Pressure"), (8, "Cut"), (10, "the scene's gravity")]
)
def test_what_is_no_number_is_named_with_its_frame(column: int, name: str) -> None:
    table = dials(5)
    check_dials(table, 10)
    table[3, column] = np.nan
    with pytest.raises(RefusalError, match=f"At frame 13 {name} is not a number"):
        check_dials(table, 10)
    held = FrameRange(15, 5, 24.0, pre_roll=10, held=True)
    with pytest.raises(RefusalError, match="At frame 15 "):
        check_dials(table, 10, held.to_scene)


@pytest.mark.parametrize("name", ["cut", "Cut", "CUT.001", " cut to the beach", "Cut 2"])
def test_markers_that_cut(name: str) -> None:
    assert is_cut_marker(name)


@pytest.mark.parametrize("name", ["", "Cutaway", "F_20", "a cut", "uncut"])
def test_markers_that_do_not(name: str) -> None:
    assert not is_cut_marker(name)


def test_rest_gravity_is_seen_from_the_skin_without_its_scale() -> None:
    row = controls_from_dials(dials(1, gravity=1.0), 1)[0]
    plain = np.eye(4, dtype=np.float32)
    assert rest_gravity(row, plain.reshape(-1)) == tuple(np.float32(EARTH).tolist())
    upright = 0.01 * np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], np.float32)  # y up to z up
    world = plain.copy()
    world[:3, :3], world[:3, 3] = upright, (5.0, 6.0, 7.0)
    seen = rest_gravity(row, world.T.reshape(-1))
    assert seen == pytest.approx((0.0, -9.81, 0.0), abs=1e-5)
    mirrored = plain.copy()
    mirrored[2, 2] = -3.0
    assert rest_gravity(row, mirrored.reshape(-1)) == pytest.approx((0.0, 0.0, 9.81), abs=1e-5)
    assert np.isfinite(rest_gravity(row, np.zeros(16, np.float32))).all()


def test_limits_are_the_librarys(api: Any) -> None:
    character = api.create_character(make_character().to_native())
    while api.character_status(character).running:
        pass
    shot = api.create_shot(character, FRAMES, ShotSettings())
    good = controls_from_dials(dials(1, gravity=1e9, wind=1e9, gusts=1.0, pressure=1e9), 1)
    assert good[0, 2] == -controls.LARGEST_GRAVITY and good[0, 3] == controls.LARGEST_WIND
    api.write_controls(shot, FRAMES.first, good)
    for column in (2, 3, 9):
        bad = good.copy()
        bad[0, column] *= 1.01
        with pytest.raises(NativeError):
            api.write_controls(shot, FRAMES.first, bad)


def test_controls_reach_the_flesh_and_name_the_first_that_differs(api: Any) -> None:
    character = api.create_character(make_character().to_native())
    while api.character_status(character).running:
        pass
    shot = api.create_shot(character, FRAMES, ShotSettings())
    api.write_tape(shot, FRAMES.first, make_rows(moves=False))
    strength = np.zeros(FRAMES.count)
    strength[10:] = 1.0
    rows = controls_from_dials(dials(FRAMES.count, gravity=strength), FRAMES.first)
    assert api.write_controls(shot, FRAMES.first, rows) == FRAMES.first + 10
    assert api.write_controls(shot, FRAMES.first, rows) == FRAMES.first + FRAMES.count
    offsets = np.empty(3 * make_character().vertex_count, np.float32)
    assert api.wait_frame(shot, FRAMES.last, 60.0)
    api.read_offsets(shot, FRAMES.first + 9, offsets)
    assert not offsets.any()
    api.read_offsets(shot, FRAMES.last, offsets)
    assert offsets.reshape(-1, 3)[:, 2].min() < -1e-3
