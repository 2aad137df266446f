# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes lie beside each other, are shown one by one, and mix by painted group and influence."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

FRAME = 24


@pytest.fixture
def two(skin: Any, tmp_path: Path) -> Any:
    """A firm Main and a soft "Soft", and what each shows."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    skin.softrig.softness = 0.2
    shown = {"Main": measure.at_frame(skin, FRAME)}
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    skin.softrig.softness = 0.8
    assert bpy.ops.softrig.bake_take(take="Soft") == {"FINISHED"}
    shown["Soft"] = measure.at_frame(skin, FRAME)
    return skin, shown


def offsets(positions: np.ndarray, posed: np.ndarray) -> np.ndarray:
    return (positions - posed).reshape(-1, 3)


def test_a_new_take_lies_beside_the_others_and_is_shown(two: Any, tmp_path: Path) -> None:
    skin, shown = two
    assert measure.largest(shown["Main"], shown["Soft"]) > 1e-2
    files = sorted(path.name for path in (tmp_path / "softrig").iterdir())
    uuid = skin.softrig.uuid[:8]
    assert files == [f"shot.Skin_{uuid}.pc2", f"shot.Skin_{uuid}_Soft.pc2"]
    assert bpy.ops.softrig.show_take(take="Main") == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, FRAME), shown["Main"])
    assert bpy.ops.softrig.show_take(take="Soft") == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, FRAME), shown["Soft"])


def test_takes_mix_by_vertex_group_and_influence_without_the_addon(two: Any) -> None:
    skin, shown = two
    group = skin.vertex_groups.new(name="ears")
    weights = np.zeros(len(skin.data.vertices))
    for vertex in skin.data.vertices:
        weights[vertex.index] = min(max(vertex.co.z - 1.0, 0.0), 1.0)
        group.add([vertex.index], weights[vertex.index], "REPLACE")
    assert bpy.ops.softrig.show_take(take="Main") == {"FINISHED"}
    assert bpy.ops.softrig.mix_take(take="Soft", vertex_group="ears", influence=0.5) == {"FINISHED"}
    mixed = measure.at_frame(skin, FRAME)
    share = (0.5 * weights)[:, None]
    posed = measure.without_us(skin)
    expected = (1 - share) * offsets(shown["Main"], posed) + share * offsets(shown["Soft"], posed)
    # weights are copied in steps of 1/65535, positions are single precision
    assert np.abs(offsets(mixed, posed) - expected).max() < 2e-5
    addon.disable()
    try:
        assert measure.same_bits(measure.at_frame(skin, FRAME), mixed)
    finally:
        addon.enable()


def test_influence_can_be_keyed_and_plays_without_the_addon(two: Any, tmp_path: Path) -> None:
    skin, shown = two
    bpy.ops.softrig.show_take(take="Main")
    bpy.ops.softrig.mix_take(take="Soft")
    modifier = addon.module("blender.takes").find(skin, "Soft")
    for frame, value in ((FRAME - 10, 0.0), (FRAME, 1.0)):
        modifier.factor = value
        modifier.id_data.keyframe_insert(f'modifiers["{modifier.name}"].factor', frame=frame)
    path = str(tmp_path / "keyed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    addon.disable()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        loaded = bpy.data.objects["Skin"]
        assert measure.same_bits(measure.at_frame(loaded, FRAME), shown["Soft"])
        before = measure.at_frame(loaded, FRAME - 10)
        loaded.modifiers["Softrig"].show_viewport = False
        plain = measure.at_frame(loaded, FRAME - 10)
        loaded.modifiers["Softrig"].show_viewport = True
    finally:
        addon.enable()
    bpy.ops.wm.open_mainfile(filepath=path)
    loaded = bpy.data.objects["Skin"]
    scenes.make_active(loaded)
    bpy.ops.softrig.show_take(take="Main")
    assert measure.same_bits(measure.at_frame(loaded, FRAME - 10), before)
    assert measure.largest(before, plain) > 1e-4


def test_a_removed_take_leaves_the_others_and_its_file(two: Any, tmp_path: Path) -> None:
    skin, shown = two
    assert bpy.ops.softrig.remove_take(take="Soft") == {"FINISHED"}
    assert len(list((tmp_path / "softrig").iterdir())) == 2
    bpy.ops.softrig.show_take(take="Main")
    assert measure.same_bits(measure.at_frame(skin, FRAME), shown["Main"])
    assert bpy.ops.softrig.remove_take(take="Main") == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, FRAME), shown["Soft"])  # live, as set


def test_what_is_not_there_is_refused(two: Any) -> None:
    with pytest.raises(RuntimeError, match='no take "Firm"'):
        bpy.ops.softrig.show_take(take="Firm")
    with pytest.raises(RuntimeError, match='no vertex group "none"'):
        bpy.ops.softrig.mix_take(take="Soft", vertex_group="none")


def test_a_bake_from_elsewhere_is_used_when_it_fits(two: Any, tmp_path: Path) -> None:
    skin, shown = two
    source = next((tmp_path / "softrig").glob("*_Soft.pc2"))
    data = source.read_bytes()
    bpy.ops.softrig.free_bake()
    copied = tmp_path / "farm.pc2"
    copied.write_bytes(data)
    skin.softrig.softness = 0.5
    assert bpy.ops.softrig.use_bake(filepath=str(copied)) == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(skin, FRAME), shown["Soft"])
    copied.write_bytes(data[:-4])
    with pytest.raises(RuntimeError, match="cut or damaged"):
        bpy.ops.softrig.use_bake(filepath=str(copied))
    copied.write_bytes(data[:-4] + np.float32(np.nan).tobytes())
    with pytest.raises(RuntimeError, match="damaged in row"):
        bpy.ops.softrig.use_bake(filepath=str(copied))
    copied.write_bytes(b"not a cache" * 10)
    with pytest.raises(RuntimeError, match="no point cache"):
        bpy.ops.softrig.use_bake(filepath=str(copied))


def test_bake_all_and_free_all_take_every_character_of_the_scene(skin: Any, tmp_path: Path) -> None:
    other, _ = scenes.make_character("Other")
    scenes.add_softrig(other)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    live = [measure.at_frame(ob, FRAME) for ob in (skin, other)]
    assert bpy.ops.softrig.bake_all() == {"FINISHED"}
    find_bake = addon.module("blender.carrier").find_bake
    for ob, before in zip((skin, other), live, strict=True):
        assert find_bake(ob) is not None
        assert measure.same_bits(measure.at_frame(ob, FRAME), before)
    assert bpy.ops.softrig.free_all() == {"FINISHED"}
    assert find_bake(skin) is None and find_bake(other) is None


def test_a_bake_of_another_character_is_told(
    skin: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other, _ = scenes.make_character("Other")
    scenes.add_softrig(other)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.softrig.bake_all() == {"FINISHED"}
    bpy.ops.softrig.free_all()
    path = next((tmp_path / "softrig").glob("*.Skin_*.pc2"))
    for ob in (skin, other):
        scenes.make_active(ob)
        capfd.readouterr()
        assert bpy.ops.softrig.use_bake(filepath=str(path)) == {"FINISHED"}
        assert ('baked for "Skin"' in capfd.readouterr().out) == (ob == other)


def test_free_all_frees_baked_shape_keys_too(skin: Any) -> None:
    live = measure.at_frame(skin, FRAME)
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    assert bpy.ops.softrig.free_all() == {"FINISHED"}
    assert skin.data.shape_keys is None
    assert measure.same_bits(measure.at_frame(skin, FRAME), live)


def test_a_part_of_the_range_can_be_baked(skin: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "part.blend"))
    live = {frame: measure.at_frame(skin, frame) for frame in (20, 24, 30)}
    assert bpy.ops.softrig.bake(frames="20-30") == {"FINISHED"}
    for frame, positions in live.items():
        assert measure.same_bits(measure.at_frame(skin, frame), positions)
