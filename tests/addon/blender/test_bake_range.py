# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames are baked and how finely: one choice, honoured by every way to bake."""

import json
import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes
from test_bake_keys import KINDS, TOLERANCE
from test_render import small_cycles

FIRST, LAST = 18, 30
BETWEEN = (18, 19.25, 22, 22.5, 24.75, 30)
PARTS = 4


@pytest.fixture
def saved(skin: Any, tmp_path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return skin


def choose(skin: Any, subframes: int = PARTS - 1) -> None:
    skin.softrig.bake_range, skin.softrig.bake_subframes = "OWN", subframes
    skin.softrig.bake_first, skin.softrig.bake_last = FIRST, LAST


def file_of(skin: Any) -> Path:
    return Path(bpy.path.abspath(addon.module("blender.carrier").find_bake(skin).filepath))


def header_of(path: Path) -> tuple[float, int]:
    """Its sampling rate and how many rows it has."""
    return struct.unpack("<12siiffi", path.read_bytes()[:32])[4:]


def traps_of(skin: Any) -> list[str]:
    session = addon.session()
    addon.module("blender.examine").examine(session, skin, bpy.context.scene)
    return [finding.text for finding in session.findings[skin.softrig.uuid]]


@pytest.mark.parametrize("stretch", [1.0, 2.0])
def test_a_bake_with_subframes_is_what_was_live(saved: Any, scene: Any, stretch: float) -> None:
    scene.render.frame_map_new = round(100 * stretch)
    live = {frame: measure.at_frame(saved, frame) for frame in BETWEEN}
    choose(saved)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    rate, rows = header_of(file_of(saved))
    assert (rate, rows) == (1.0 / PARTS, (LAST - FIRST) * PARTS + 1)
    assert file_of(saved).name.endswith(".0018-0030.pc2")
    assert not [text for text in traps_of(saved) if "other frames" in text]
    addon.disable()
    try:
        for frame, positions in live.items():
            shown = measure.at_frame(saved, frame)
            assert measure.largest(shown, positions) < 1e-6, frame
    finally:
        addon.enable()


def test_blurred_renders_of_a_bake_with_subframes_are_the_live_ones(
    saved: Any, scene: Any, tmp_path: Path
) -> None:
    small_cycles(scene, tmp_path)
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1.0
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.cycles.samples, scene.cycles.seed = 16, 1
    scene.frame_set(20)

    def picture(name: str) -> np.ndarray:
        scene.render.filepath = str(tmp_path / f"{name}.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        return np.array(image.pixels[:])

    scene.camera.location = (2.5, 0.0, 9.0)
    lamp = scenes.link(bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN")))
    lamp.data.energy = 4.0
    live = picture("live")
    assert np.ptp(live) > 0.2, "something is to be seen"
    choose(saved)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    missed = np.abs(picture("baked") - live).mean()
    scene.render.use_motion_blur = False
    blur = np.abs(picture("sharp") - live).mean()
    assert missed < 0.02 * blur and blur > 5e-4


def test_the_preview_range_is_baked_where_there_is_one(saved: Any, scene: Any) -> None:
    saved.softrig.bake_range = "PREVIEW"
    with pytest.raises(RuntimeError, match="has no preview range"):
        bpy.ops.softrig.bake()
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 5, 9
    live = measure.at_frame(saved, 7)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert header_of(file_of(saved)) == (1.0, 5)
    assert measure.same_bits(measure.at_frame(saved, 7), live)


def test_frames_that_are_not_there_are_refused(saved: Any) -> None:
    choose(saved)
    saved.softrig.bake_last = 400
    for operator in (bpy.ops.softrig.bake, bpy.ops.softrig.bake_keys):
        with pytest.raises(RuntimeError, match="Frames 18 to 400 are not within"):
            operator()
    saved.softrig.bake_first, saved.softrig.bake_last = 30, 20
    with pytest.raises(RuntimeError, match="Frames 30 to 20"):
        bpy.ops.softrig.bake()


def test_too_fine_a_bake_is_told(saved: Any, scene: Any) -> None:
    scene.render.frame_map_new = 900
    saved.softrig.bake_subframes = 20
    with pytest.raises(RuntimeError, match="take fewer Subframes"):
        bpy.ops.softrig.bake()
    scene.render.frame_map_new, saved.softrig.bake_subframes = 100, 99
    scene.frame_end, scene.frame_start = 10488, 10487
    with pytest.raises(RuntimeError, match="cannot begin so late"):
        bpy.ops.softrig.bake()
    saved.softrig.bake_subframes = 98
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    frames_to_bake = addon.module("blender.bake_dials").frames_to_bake
    with pytest.raises(addon.module("model.rig").RefusalError, match="100 subframes are too many"):
        frames_to_bake(saved, scene, addon.entry_of(saved).frames, "", 100)


def test_a_part_is_gone_on_from(saved: Any, tmp_path: Path) -> None:
    choose(saved, 0)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    part = file_of(saved).read_bytes()[32:]
    assert list((tmp_path / "softrig").glob("*.resume"))
    saved.softrig.bake_range, saved.softrig.bake_subframes = "ALL", 1
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert not list((tmp_path / "softrig").glob("*.resume"))
    rows = np.frombuffer(file_of(saved).read_bytes(), np.float32, offset=32)
    rows = rows.reshape(2 * scenes.LAST_FRAME - 1, -1)[::2]
    assert rows[FIRST - 1 : LAST].tobytes() == part


def test_a_farm_takes_the_same_choice_or_its_own(saved: Any, tmp_path: Path, capfd: Any) -> None:
    choose(saved)
    told = []
    for number, wish in enumerate(({}, {"subframes": 0}, {"frames": "2-3", "subframes": 1})):
        assert bpy.ops.softrig.farm(output=str(tmp_path / str(number)), **wish) == {"FINISHED"}
        lines = [json.loads(t) for t in capfd.readouterr().out.splitlines() if '"done"' in t]
        told.append((lines[0]["frames"], lines[0]["subframes"]))
        parts = lines[0]["subframes"] + 1
        rows = (lines[0]["frames"][1] - lines[0]["frames"][0]) * parts + 1
        assert header_of(Path(lines[0]["path"])) == (1.0 / parts, rows)
    assert told == [([FIRST, LAST], 3), ([FIRST, LAST], 0), ([2, 3], 1)]


@pytest.mark.parametrize("is_part", [True, False])
def test_a_file_that_begins_later_is_used_from_disk(saved: Any, is_part: bool) -> None:
    """A part by its name, a whole shot by its start."""
    if is_part:
        choose(saved, 1)
    else:
        saved.softrig.use_start_frame, saved.softrig.start_frame = True, FIRST
    live = {frame: measure.at_frame(saved, frame) for frame in (FIRST, 22.5, 24, LAST)}
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    path = str(file_of(saved))
    bpy.ops.softrig.free_bake()
    assert bpy.ops.softrig.use_bake(filepath=path) == {"FINISHED"}
    for frame, positions in live.items():
        assert measure.largest(measure.at_frame(saved, frame), positions) < 1e-6, frame
    assert not [text for text in traps_of(saved) if "other frames" in text]


def test_a_file_with_subframes_is_used_from_disk(saved: Any, tmp_path: Path) -> None:
    live = {frame: measure.at_frame(saved, frame) for frame in (19, 22.5)}
    saved.softrig.bake_subframes = 1
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    path = str(file_of(saved))
    bpy.ops.softrig.free_bake()
    assert bpy.ops.softrig.use_bake(filepath=path) == {"FINISHED"}
    for frame, positions in live.items():
        assert measure.largest(measure.at_frame(saved, frame), positions) < 1e-6
    assert not [text for text in traps_of(saved) if "other frames" in text]


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
def test_shape_keys_have_the_chosen_frames_and_what_is_between(skin: Any, kind: str) -> None:
    live = {frame: measure.at_frame(skin, frame) for frame in BETWEEN}
    choose(skin)
    for _ in range(2):  # the second takes the keys of the first away
        assert bpy.ops.softrig.bake_keys(kind=kind) == {"FINISHED"}
    keys = skin.data.shape_keys.key_blocks
    assert len(keys) == 1 + (LAST - FIRST) * PARTS + 1
    assert keys[1].name == "Softrig 0018" and keys[2].name == "Softrig 0018 1/4"
    for frame, positions in live.items():
        assert measure.largest(measure.at_frame(skin, frame), positions) < TOLERANCE, frame
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    assert skin.data.shape_keys is None


if KINDS:

    @pytest.mark.parametrize("kind", KINDS)
    def test_exports_have_the_chosen_frames(
        skin: Any, scene: Any, kind: str, tmp_path: Path
    ) -> None:
        scene.use_preview_range = True
        scene.frame_preview_start, scene.frame_preview_end = 10, 35
        live = {frame: measure.at_frame(skin, frame) for frame in BETWEEN}
        place = {frame: place_at(scene, skin, frame) for frame in BETWEEN}
        choose(skin)
        before = [scene.frame_start, scene.frame_end, 10, 35]
        character = addon.entry_of(skin).character
        path = tmp_path / ("out.abc" if kind == "ALEMBIC" else "out.usdc")
        assert bpy.ops.softrig.export_motion(kind=kind, filepath=str(path)) == {"FINISHED"}
        assert addon.entry_of(skin).character == character
        preview = [scene.frame_preview_start, scene.frame_preview_end]
        assert [scene.frame_start, scene.frame_end, *preview] == before
        assert scene.use_preview_range
        known = set(bpy.data.objects)
        if kind == "ALEMBIC":
            bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
        else:
            bpy.ops.wm.usd_import(filepath=str(path))
        came = next(ob for ob in bpy.data.objects if ob not in known and ob.type == "MESH")
        for frame in BETWEEN:
            if kind == "USD" and frame != int(frame):
                continue
            got = world(measure.at_frame(came, frame), np.array(came.matrix_world))
            expected = world(live[frame], place[frame])
            assert np.abs(got - expected).max() < 2e-5, frame
        # the last frame's own subframes are there, for its blur, and nothing behind them
        ends = [measure.at_frame(came, frame) for frame in (LAST + 1, LAST + 5)]
        assert measure.largest(*ends) < 1e-5

    def place_at(scene: Any, skin: Any, frame: float) -> np.ndarray:
        scene.frame_set(int(frame), subframe=frame - int(frame))
        return np.array(skin.matrix_world)

    def world(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
