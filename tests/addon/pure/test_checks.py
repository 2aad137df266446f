# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist is told instead of the library's numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sample import FRAMES, make_character, make_rows
from softrig.model.checks import (
    FARTHEST,
    MOST_FRAMES,
    check_character,
    check_frames,
    check_rows,
)
from softrig.model.rig import Character, RefusalError
from softrig.native.errors import NativeError, error_from_result
from softrig.native.inputs import FrameRange, ShotSettings

CHARACTER = make_character()


def moved(value: float) -> Character:
    positions = CHARACTER.positions.copy()
    positions[16] = value
    return replace(CHARACTER, positions=positions)


def test_what_is_fine_passes() -> None:
    check_character(CHARACTER)
    check_character(moved(0.9 * FARTHEST))
    check_frames(FrameRange(1, MOST_FRAMES, 24.0))
    check_rows(CHARACTER.tape_plan, 1, make_rows())


def test_a_vertex_beyond_any_scene_is_named() -> None:
    with pytest.raises(RefusalError, match="Vertex 5 lies 1e[+]30 m away.*Bring it back"):
        check_character(moved(-1e30))


def test_vertices_without_a_position_are_left_to_the_library() -> None:
    check_character(moved(np.nan))
    check_character(moved(np.inf))


def test_too_many_frames_are_told() -> None:
    with pytest.raises(RefusalError, match="1000001 frames.*Shorten the frame range"):
        check_frames(FrameRange(1, MOST_FRAMES + 1, 24.0))


@pytest.mark.parametrize(
    ("column", "name"), [(12, "the object"), (28, "the armature"), (60, 'the bone "tail"')]
)
@pytest.mark.parametrize(("value", "what"), [(np.nan, "has no place"), (-1e15, "lies 1e[+]15 m")])
def test_frame_and_bone_that_leave_the_world_are_named(
    column: int, name: str, value: float, what: str
) -> None:
    rows = make_rows()
    rows[3, column] = value
    with pytest.raises(RefusalError, match=f"At frame 13 {name} {what}.*Look at its keys"):
        check_rows(CHARACTER.tape_plan, 10, rows)


def test_the_limits_are_the_librarys(api: Any) -> None:
    with pytest.raises(NativeError):
        api.create_character(moved(1.1 * FARTHEST).to_native())
    character = api.create_character(moved(0.0).to_native())
    with pytest.raises(NativeError, match="frameCount"):
        api.create_shot(character, FrameRange(1, MOST_FRAMES + 1, 24.0), ShotSettings())
    while api.character_status(character).running:
        pass
    shot = api.create_shot(character, FRAMES, ShotSettings())
    rows = make_rows()
    rows[3, 12] = 1.1 * FARTHEST
    with pytest.raises(NativeError):
        api.write_tape(shot, FRAMES.first, rows)


def test_what_has_no_inside_is_given_a_remedy() -> None:
    from softrig.native.bindings import Result

    assert "Solidify" in str(error_from_result(Result.ERROR_NO_INSIDE, "It is open."))
