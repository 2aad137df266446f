# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of takes and files, ranges, and how long it will take."""

from pathlib import Path

import numpy as np
import pytest
from softrig.model import baking, point_cache
from softrig.model.rig import RefusalError
from softrig.native.inputs import FrameRange

WHOLE = FrameRange(-5, 106, 24.0, 2.0)


def test_a_print_tells_files_of_other_motion_apart(tmp_path: Path) -> None:
    """Whatever row the change begins at."""
    path, rows = tmp_path / "a.pc2", np.random.default_rng(7).random((50, 300), np.float32)
    head = point_cache.HEAD.pack(point_cache.SIGN, 1, 100, 0.0, 1.0, 50)
    path.write_bytes(head + rows.tobytes())
    prints = {point_cache.read_print(path)}
    copied = tmp_path / "b.pc2"
    copied.write_bytes(path.read_bytes())
    assert point_cache.read_print(copied) in prints
    for first in range(50):
        changed = rows.copy()
        changed[first:] *= 1.0 + 1e-6
        copied.write_bytes(head + changed.tobytes())
        prints.add(point_cache.read_print(copied))
    assert len(prints) == 51 and "" not in prints
    copied.write_bytes(b"")
    assert point_cache.read_print(copied) not in prints
    assert point_cache.read_print(tmp_path / "none.pc2") == ""


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_no_number_is_found(tmp_path: Path, number: float) -> None:
    path, rows = tmp_path / "a.pc2", np.zeros((4, 30), np.float32)
    path.write_bytes(point_cache.HEAD.pack(point_cache.SIGN, 1, 10, 0.0, 1.0, 4) + rows.tobytes())
    size = point_cache.read_size(path)
    point_cache.check_numbers(path, size)
    rows[2, 7] = number
    path.write_bytes(path.read_bytes()[: point_cache.HEAD.size] + rows.tobytes())
    with pytest.raises(point_cache.PointCacheError, match="damaged in row 3 of 4"):
        point_cache.check_numbers(path, size)


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("Ears", "Ears"),
        ("  soft ears ", "soft ears"),
        ("a/b\\c:d", "abcd"),
        ("..", "Main"),
        ("", "Main"),
        ("Öhrchen", "Öhrchen"),
        ("ö" * 60, "ö" * 20),
    ],
)
def test_a_take_has_a_name_that_files_can_have(name: str, cleaned: str) -> None:
    assert baking.clean_take(name) == cleaned


def test_names_of_characters_may_have_commas() -> None:
    there = ["Hero", "Dog, big", "Dog"]
    assert baking.split_names(" Dog,big , Hero,Dog", there) == ["Dog, big", "Hero", "Dog"]
    assert baking.split_names("", there) == baking.split_names(" , ", there) == []
    with pytest.raises(RefusalError, match='No character is named "Cat"'):
        baking.split_names("Hero,Cat", there)


def test_a_new_take_has_a_name_of_its_own() -> None:
    taken: list[str] = []
    for expected in ("Main", "Take 2", "Take 3"):
        taken.append(baking.new_take(taken))
        assert taken[-1] == expected
    taken.remove("Take 2")
    assert baking.new_take(taken) == "Take 2"


def test_files_of_takes_and_chunks_do_not_meet() -> None:
    names = [baking.file_name("Skin", "0123456789", take) for take in ("Main", "Take 2", "Ears")]
    assert names == [
        "Skin_01234567.pc2",
        "Skin_01234567_Take_2.pc2",
        "Skin_01234567_Ears.pc2",
    ]
    shot = baking.file_name("Skin", "0123456789", "Main", "shot_v001")
    assert shot == "shot_v001.Skin_01234567.pc2" and baking.is_file_of(shot, "0123456789")
    longest = baking.file_name("Skin", "0123456789", "Main", 100 * "ö")
    assert len(longest.encode()) < 160
    chunk = FrameRange(-5, 10, 24.0)
    name = baking.chunk_name(names[0], chunk)
    assert name == "Skin_01234567.-005-0004.pc2"
    assert baking.first_in_name(name, chunk.count, 1) == chunk.first
    assert baking.first_in_name(name, chunk.count + 1, 1) == 1, "cut, or named by somebody else"
    assert baking.first_in_name(names[0], chunk.count, 1) == 1


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("", -5, 106),
        ("  ", -5, 106),
        ("1-10", 1, 10),
        ("7", 7, 1),
        ("-5--3", -5, 3),
        ("-5-100", -5, 106),
    ],
)
def test_ranges_are_read_as_people_write_them(text: str, first: int, count: int) -> None:
    frames = baking.parse_frames(text, WHOLE)
    assert (frames.first, frames.count, frames.rate, frames.stretch) == (first, count, 24.0, 2.0)


@pytest.mark.parametrize("text", ["a", "1-", "10-1", "-6-3", "1-101", "1,2", "1.5"])
def test_other_ranges_are_refused(text: str) -> None:
    with pytest.raises(RefusalError):
        baking.parse_frames(text, WHOLE)


def test_time_left_does_not_count_what_was_there_already() -> None:
    pace = baking.Pace(0.0)
    assert pace.seconds_left(0.5, 100.0) is None
    assert pace.seconds_left(0.5, 101.0) is None
    # a quarter took ten seconds, a quarter is left
    assert pace.seconds_left(0.75, 110.0) == pytest.approx(10.0)
    assert pace.seconds_left(1.0, 120.0) == 0.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.2, "1 s left"),
        (12.4, "12 s left"),
        (120.0, "2 min left"),
        (7260.0, "2 h 1 min left"),
    ],
)
def test_time_left_in_words(seconds: float | None, text: str) -> None:
    assert baking.describe_seconds(seconds) == text


def test_the_bar_says_what_is_known() -> None:
    assert baking.describe_bake(0.404, None) == "Baking, 40 %"
    assert baking.describe_bake(0.5, 12.0) == "Baking, 50 %, 12 s left"
