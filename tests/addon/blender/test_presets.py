# SPDX-License-Identifier: GPL-3.0-or-later
"""Tissues, presets in files, copies to other characters, the quality dial, and the brush."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes


def presets() -> Any:
    return addon.module("blender.presets")


def values(skin: Any) -> dict[str, float]:
    return presets().read_values(skin)


@pytest.fixture(autouse=True)
def no_presets_before_and_after() -> Any:
    yield
    for path in presets().list_presets():
        path.unlink()


def test_limits_are_the_properties(skin: Any) -> None:
    for name, limits in addon.module("model.presets").LIMITS.items():
        item = skin.softrig.bl_rna.properties[name]
        assert (item.hard_min, item.hard_max) == limits, name


def test_what_an_object_begins_with_is_a_tissue(skin: Any) -> None:
    assert addon.module("model.presets").find_tissue(values(skin)).key == "FLESH"


def test_a_tissue_is_applied_and_moves_differently(skin: Any) -> None:
    before = measure.at_frame(skin, 26)
    model, seen = addon.module("model.presets"), []
    for tissue in model.TISSUES:
        assert bpy.ops.softrig.apply_tissue(tissue=tissue.key) == {"FINISHED"}
        assert model.find_tissue(values(skin)) is tissue
        seen.append(measure.at_frame(skin, 26))
        assert np.isfinite(seen[-1]).all()
    assert measure.same_bits(seen[0], before)
    assert len({points.tobytes() for points in seen}) == len(seen)
    with pytest.raises(RuntimeError, match="no tissue"):
        bpy.ops.softrig.apply_tissue(tissue="STONE")


def test_fibres_and_a_limit_of_stretch_are_the_fast_methods(skin: Any) -> None:
    dials = skin.softrig
    ways: dict[str, list[np.ndarray]] = {"COMPLEMENTARY": [], "FLESH": []}
    for solver, seen in ways.items():
        dials.solver = solver
        for fibres, limit in ((1.0, 0.0), (8.0, 0.0), (1.0, 1.0), (1.0, 0.0)):
            dials.fibre_stiffness, dials.stretch_limit = fibres, limit
            seen.append(measure.at_frame(skin, 26))
            assert np.isfinite(seen[-1]).all()
    theirs, ours = ways["COMPLEMENTARY"], ways["FLESH"]
    assert all(measure.same_bits(points, theirs[0]) for points in theirs)
    assert measure.same_bits(ours[3], ours[0])
    assert measure.largest(ours[1], ours[0]) > 1e-3
    assert measure.largest(ours[2], ours[0]) > 1e-4


def test_swings_last_as_chosen_by_the_fast_method_alone(skin: Any) -> None:
    dials = skin.softrig
    dials.settle_frames = 200.0
    ways: dict[str, list[np.ndarray]] = {"COMPLEMENTARY": [], "FLESH": []}
    for solver, seen in ways.items():
        dials.solver = solver
        for swings in ("FADE", "LAST", "KEEP", "FADE"):
            dials.swings = swings
            seen.append(measure.at_frame(skin, 26))
            assert np.isfinite(seen[-1]).all()
    theirs, ours = ways["COMPLEMENTARY"], ways["FLESH"]
    assert all(measure.same_bits(points, theirs[0]) for points in theirs)
    assert measure.same_bits(ours[3], ours[0])
    assert measure.largest(ours[1], ours[0]) > 1e-4
    assert measure.largest(ours[2], ours[1]) > 1e-4


def test_a_preset_comes_back_for_another_character(skin: Any) -> None:
    skin.softrig.softness, skin.softrig.density = 0.37, 640.0
    kept = values(skin)
    assert bpy.ops.softrig.save_preset(preset="Bäuche / 1") == {"FINISHED"}
    (path,) = presets().list_presets()
    assert path.stem == "Bäuche _ 1"
    scenes.start_empty()
    other, _ = scenes.make_character()
    scenes.add_softrig(other)
    assert values(other) != kept
    assert bpy.ops.softrig.load_preset(filepath=str(path)) == {"FINISHED"}
    assert values(other) == pytest.approx(kept)
    assert bpy.ops.softrig.delete_preset(preset=path.stem) == {"FINISHED"}
    assert presets().list_presets() == []


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"{}", b"x" * 100_000, None])
def test_bad_files_are_refused_and_change_nothing(skin: Any, tmp_path: Path, data: Any) -> None:
    before, path = values(skin), tmp_path / "bad.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(RuntimeError, match='"bad"'):
        bpy.ops.softrig.load_preset(filepath=str(path))
    assert values(skin) == before


def test_a_file_with_one_bad_dial_changes_none(skin: Any, tmp_path: Path) -> None:
    before, path = values(skin), tmp_path / "bad.json"
    path.write_text(json.dumps({"softrig_preset": 1, "dials": {"softness": 0.9, "volume": 9}}))
    with pytest.raises(RuntimeError, match="volume"):
        bpy.ops.softrig.load_preset(filepath=str(path))
    assert values(skin) == before


def test_a_folder_that_cannot_be_written_is_told(skin: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(presets(), "folder", lambda: Path("/proc/nowhere"))
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.softrig.save_preset(preset="Mine")


def test_settings_are_copied_to_selected_characters(skin: Any) -> None:
    other, _ = scenes.make_character("Other")
    scenes.add_softrig(other)
    third, _ = scenes.make_character("Third")
    other.softrig.map_mass, other.softrig.loose_parts = "Mine", "wing"
    uuid = other.softrig.uuid
    scenes.make_active(skin)
    with pytest.raises(RuntimeError, match="Select other characters"):
        bpy.ops.softrig.copy_settings()
    skin.softrig.softness, skin.softrig.pre_roll_mode = 0.8, "SETTLE"
    skin.softrig.wind_direction = (0.0, 1.0, 0.0)
    skin.softrig.largest_hole, skin.softrig.joins_touching = 33.0, True
    compat, graph = addon.module("blender.compat"), addon.module("blender.graph")
    compat.set_input(skin.modifiers["Softrig"], graph.AMOUNT, 0.5)
    other.select_set(True)
    third.select_set(True)
    assert bpy.ops.softrig.copy_settings() == {"FINISHED"}
    copied = other.softrig
    assert copied.softness == skin.softrig.softness and copied.pre_roll_mode == "SETTLE"
    assert tuple(copied.wind_direction) == (0.0, 1.0, 0.0)
    assert (copied.largest_hole, copied.joins_touching) == (33.0, True)
    assert compat.get_input(other.modifiers["Softrig"], graph.AMOUNT) == 0.5
    assert (copied.uuid, copied.map_mass, copied.loose_parts) == (uuid, "Mine", "wing")
    assert third.softrig.softness == 0.5, "it has no Softrig"


def test_quality_is_one_dial_for_two_numbers(skin: Any) -> None:
    settings = skin.softrig
    assert settings.quality == "NORMAL"
    settings.quality = "DRAFT"
    assert (settings.cage_nodes, settings.substeps) == (400, 6)
    settings.substeps = 7
    assert settings.quality == "OWN"
    settings.quality = "OWN"
    assert (settings.cage_nodes, settings.substeps) == (400, 7)
    settings.quality = "FINE"
    measure.at_frame(skin, 24)
    assert addon.entry_of(skin).report["nodeCount"] > 1800
    assert settings.quality == "FINE"


def test_the_brush_is_one_click_away(skin: Any) -> None:
    before = measure.at_frame(skin, 24)
    assert bpy.ops.softrig.paint(kind="mass") == {"FINISHED"}
    assert skin.mode == "WEIGHT_PAINT"
    group = skin.vertex_groups.active
    assert group.name == skin.softrig.map_mass == "Softrig Mass"
    count = len(skin.vertex_groups)
    bpy.ops.softrig.paint(kind="pin")
    assert skin.mode == "WEIGHT_PAINT" and skin.vertex_groups.active.name == "Softrig Pin"
    bpy.ops.softrig.paint(kind="pin")
    assert skin.mode == "OBJECT"
    bpy.ops.softrig.paint(kind="mass")
    assert len(skin.vertex_groups) == count + 1, "a map that has a group keeps it"
    group = skin.vertex_groups["Softrig Mass"]
    group.add(list(range(len(skin.data.vertices) // 2)), 1.0, "REPLACE")
    bpy.ops.softrig.paint(kind="mass")
    assert skin.mode == "OBJECT"
    assert measure.largest(measure.at_frame(skin, 24), before) > 1e-4


def test_a_map_may_have_a_group_of_another_name(skin: Any) -> None:
    skin.softrig.map_hold = "tail1"
    bpy.ops.softrig.paint(kind="hold")
    assert skin.vertex_groups.active.name == "tail1"


def test_cut_markers_come_and_go(skin: Any, scene: Any) -> None:
    scene.frame_set(12)
    bpy.ops.softrig.cut_marker()
    assert [(m.name, m.frame) for m in scene.timeline_markers] == [("Cut", 12)]
    bpy.ops.softrig.cut_marker()
    assert len(scene.timeline_markers) == 0
