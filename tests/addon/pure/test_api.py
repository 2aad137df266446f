# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library through ctypes: results become exceptions with the library's sentence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample import FRAMES, grid_box, make_character, make_rows
from softrig.model.rig import Weights
from softrig.native import bindings
from softrig.native.arrays import as_floats, float_pointer
from softrig.native.errors import BadFileError, NativeError, NotReadyError, StaleIdError
from softrig.native.inputs import InsideInput, MapsInput, ShotSettings


def prepare(api: Any) -> Any:
    character = api.create_character(make_character().to_native())
    while api.character_status(character).running:
        pass
    assert not api.character_status(character).failed, api.character_status(character).message
    return character


def ready_shot(api: Any, moves: bool = True) -> Any:
    shot = api.create_shot(prepare(api), FRAMES, ShotSettings())
    api.write_tape(shot, FRAMES.first, make_rows(moves=moves))
    assert api.wait_frame(shot, FRAMES.last, 60.0)
    return shot


def offsets_at(api: Any, shot: Any, frame: float) -> np.ndarray:
    buffer = np.full(3 * make_character().vertex_count, 7.0, np.float32)
    assert api.read_offsets(shot, frame, buffer)
    return buffer


def test_a_stale_id_is_an_exception_with_a_sentence(api: Any) -> None:
    with pytest.raises(StaleIdError) as caught:
        api.character_status(bindings.CharacterId(99, 1))
    assert caught.value.result == bindings.Result.ERROR_STALE_ID
    assert len(str(caught.value)) > 10


def test_who_made_the_cage_is_told(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_by(mesher: int) -> dict[str, Any]:
        character = api.create_character(replace(make_character(), mesher=mesher).to_native())
        while api.character_status(character).running:
            pass
        return api.character_report(character)

    lattice = made_by(bindings.Mesher.LATTICE)
    assert lattice["mesher"] == bindings.Mesher.LATTICE and "asked for" in lattice["mesherNote"]
    monkeypatch.setattr(api, "_helper", "")
    alone = made_by(bindings.Mesher.TETGEN)
    assert alone["mesher"] == bindings.Mesher.LATTICE
    assert "TetGen" in alone["mesherNote"] and "lattice" in alone["mesherNote"]
    assert made_by(bindings.Mesher.AUTOMATIC)["mesherNote"] == alone["mesherNote"]


def prepare_so(api: Any, points: np.ndarray, triangles: np.ndarray, **wishes: Any) -> Any:
    """A boneless character with these wishes for its inside; its report."""
    nothing = make_character()
    skin = replace(
        nothing,
        positions=points,
        triangles=triangles,
        weights=Weights(*(np.zeros(0, kind) for kind in (np.int32, np.int32, np.float32))),
        bones=(),
        armature_count=0,
        target_node_count=300,
        inside=InsideInput(**wishes),
    )
    character = api.create_character(skin.to_native())
    while api.character_status(character).running:
        pass
    status = api.character_status(character)
    assert not status.failed, status.message
    return api.character_report(character)


def open_box() -> tuple[np.ndarray, np.ndarray]:
    """Without its lid: a hole of 1 x 1 in bounds of 1 x 1 x 2, 58 % of their diagonal."""
    points, triangles = grid_box()
    corners = points.reshape(-1, 3)[triangles.reshape(-1, 3)]
    is_lid = (corners[:, :, 2] == 2.0).all(axis=1)
    return points, triangles.reshape(-1, 3)[~is_lid].reshape(-1)


def two_boxes(gap: float, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    points, triangles = grid_box()
    other = scale * points.reshape(-1, 3) + np.array([1.0 + gap, 0.0, 0.0], np.float32)
    both = np.concatenate([points, other.astype(np.float32).reshape(-1)])
    return both, np.concatenate([triangles, triangles + len(points) // 3])


def test_holes_are_closed_up_to_the_wish(api: Any) -> None:
    larger = prepare_so(api, *open_box(), largest_hole=0.6)
    assert (larger["closedHoleCount"], larger["openRimCount"]) == (1, 0)
    smaller = prepare_so(api, *open_box(), largest_hole=0.55)
    assert (smaller["closedHoleCount"], smaller["openRimCount"]) == (0, 1)


def test_what_is_flat_gets_the_thickness_of_the_wish(api: Any) -> None:
    points, triangles = grid_box()
    heights = points.reshape(-1, 3)[triangles.reshape(-1, 3)][:, :, 2]
    sheet = triangles.reshape(-1, 3)[(heights == 0.0).all(axis=1)].reshape(-1)
    thin, thick = (
        prepare_so(api, points, sheet, sheet_thickness=share)["insideVolume"]
        for share in (0.02, 0.04)
    )
    assert 1.7 < thick / thin < 2.3


def test_touching_parts_hang_together_where_that_is_the_wish(api: Any) -> None:
    apart = prepare_so(api, *two_boxes(0.005))
    joined = prepare_so(api, *two_boxes(0.005), joins_touching=True)
    assert (apart["cagePieceCount"], joined["cagePieceCount"]) == (2, 1)


def test_hollows_are_filled_where_that_is_the_wish(api: Any) -> None:
    points, triangles = two_boxes(-0.8, 0.6)
    half = len(triangles) // 2
    within = triangles[half:].reshape(-1, 3)[:, ::-1].reshape(-1)
    points.reshape(-1, 3)[len(points) // 6 :] += (0.0, 0.2, 0.4)
    shell = points, np.concatenate([triangles[:half], within])
    hollow, filled = (prepare_so(api, *shell, fills_hollows=wish) for wish in (False, True))
    assert (hollow["cavityCount"], filled["cavityCount"]) == (1, 0)
    # 1 - 0.6^3
    assert 0.74 < hollow["insideVolume"] / filled["insideVolume"] < 0.83


def test_what_was_destroyed_is_stale(api: Any) -> None:
    character = prepare(api)
    api.destroy_character(character)
    with pytest.raises(StaleIdError):
        api.character_report(character)


def test_not_a_number_is_named(api: Any) -> None:
    shot = api.create_shot(prepare(api), FRAMES, ShotSettings())
    rows = make_rows()
    rows[3, 20] = np.nan
    with pytest.raises(NativeError) as caught:
        api.write_tape(shot, FRAMES.first, rows)
    assert caught.value.result == bindings.Result.ERROR_NOT_FINITE
    assert api.shot_status(shot).recorded == 0


def test_settings_out_of_range_are_refused(api: Any) -> None:
    shot = api.create_shot(prepare(api), FRAMES, ShotSettings())
    with pytest.raises(NativeError) as caught:
        api.set_params(shot, ShotSettings(frequency_hz=1000.0))
    assert caught.value.result == bindings.Result.ERROR_INVALID_VALUE


def test_a_shot_wants_a_ready_character(api: Any) -> None:
    character = api.create_character(
        replace(make_character().to_native(), target_node_count=100_000)
    )
    with pytest.raises(NotReadyError):
        api.create_shot(character, FRAMES, ShotSettings())


def test_a_frame_that_is_not_recorded_is_zero_and_not_ready(api: Any) -> None:
    shot = api.create_shot(prepare(api), FRAMES, ShotSettings())
    buffer = np.full(3 * make_character().vertex_count, 7.0, np.float32)
    assert not api.read_offsets(shot, FRAMES.first, buffer)
    assert not buffer.any()
    assert not api.wait_frame(shot, FRAMES.first, 0.0)


def test_flesh_moves_when_the_rig_stops_and_rests_before(api: Any) -> None:
    shot = ready_shot(api)
    assert not offsets_at(api, shot, FRAMES.first).any()
    assert np.abs(offsets_at(api, shot, FRAMES.first + FRAMES.count // 2 + 2)).max() > 1e-3


def test_without_motion_every_bit_is_zero(api: Any) -> None:
    shot = ready_shot(api, moves=False)
    for frame in range(FRAMES.first, FRAMES.last + 1):
        assert not offsets_at(api, shot, frame).view(np.uint32).any()


def test_an_opened_character_moves_to_the_same_bits(api: Any) -> None:
    expected = offsets_at(api, ready_shot(api), 20)
    character = api.create_character(make_character().to_native())
    while api.character_status(character).running:
        pass
    data = api.character_file(character)
    assert data == api.character_file(character)
    opened = api.open_character(data)
    assert not api.character_status(opened).running
    report = api.character_report(opened)
    assert report["vertexCount"] == make_character().vertex_count
    shot = api.create_shot(opened, FRAMES, ShotSettings())
    api.write_tape(shot, FRAMES.first, make_rows())
    assert api.wait_frame(shot, 20, 60.0)
    again = offsets_at(api, shot, 20)
    assert (again.view(np.uint32) == expected.view(np.uint32)).all()


def test_bytes_that_are_no_character_are_refused(api: Any) -> None:
    for data in (b"", b"x", bytes(1000)):
        with pytest.raises(BadFileError):
            api.open_character(data)


def test_a_pinned_skin_stays_in_its_pose(api: Any) -> None:
    character = make_character()
    count = character.vertex_count
    native = api.create_character(character.to_native())
    while api.character_status(native).running:
        pass
    shot = api.create_shot(native, FRAMES, ShotSettings())
    api.write_tape(shot, FRAMES.first, make_rows())
    assert api.wait_frame(shot, 20, 60.0)
    assert offsets_at(api, shot, 20).any()
    api.set_maps(native, MapsInput(pin=np.ones(count, np.float32)), count)
    assert api.wait_frame(shot, 20, 60.0)
    assert not offsets_at(api, shot, 20).any()


def test_the_order_of_reading_changes_nothing(api: Any) -> None:
    shot = ready_shot(api)
    forward = [offsets_at(api, shot, frame) for frame in range(1, 25)]
    for frame in (24, 3, 17, 3, 1):
        again = offsets_at(api, shot, frame)
        assert (again.view(np.uint32) == forward[frame - 1].view(np.uint32)).all()


def test_the_bake_holds_what_is_read(api: Any, tmp_path: Path) -> None:
    shot = ready_shot(api)
    path = tmp_path / "ü.pc2"
    bake = api.start_bake(shot, str(path), FRAMES)
    while api.bake_status(bake).running:
        pass
    assert not api.bake_status(bake).failed, api.bake_status(bake).message
    api.destroy_bake(bake)
    rows = np.frombuffer(path.read_bytes(), np.uint32, offset=32).reshape(FRAMES.count, -1)
    for index in range(FRAMES.count):
        live = offsets_at(api, shot, FRAMES.first + index).view(np.uint32)
        assert (rows[index] == live).all()


def test_a_bake_that_cannot_be_written_tells_the_path(api: Any, tmp_path: Path) -> None:
    shot = ready_shot(api)
    path = tmp_path / "missing" / "a.pc2"
    try:
        bake = api.start_bake(shot, str(path), FRAMES)
        while api.bake_status(bake).running:
            pass
        message = api.bake_status(bake).message
    except NativeError as error:
        message = str(error)
    assert "missing" in message


def test_only_contiguous_floats_go_to_c() -> None:
    with pytest.raises(TypeError):
        float_pointer(np.zeros(4, np.float64))
    with pytest.raises(TypeError):
        float_pointer(np.zeros((4, 4), np.float32)[:, 1])
    ready = np.zeros(4, np.float32)
    assert as_floats(ready) is ready
