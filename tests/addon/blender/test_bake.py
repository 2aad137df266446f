# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake is the live result, to the bit, and needs no add-on to play."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

ALL = range(1, scenes.LAST_FRAME + 1)


@pytest.fixture
def saved(skin: Any, tmp_path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return skin


def carrier_of(skin: Any) -> Any:
    return addon.module("blender.carrier").find_carrier(skin)


def bake(skin: Any) -> Any:
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    return carrier_of(skin).modifiers["Softrig Bake"]


def test_the_bake_equals_live_with_the_addon_off(saved: Any) -> None:
    live = {frame: measure.at_frame(saved, frame) for frame in ALL}
    between = measure.at_frame(saved, 22.5)
    bake(saved)
    addon.disable()
    try:
        for frame in ALL:
            assert measure.same_bits(measure.at_frame(saved, frame), live[frame]), frame
        assert measure.largest(measure.at_frame(saved, 22.5), between) < 1e-6
        assert measure.largest(live[24], live[1]) > 0.1
    finally:
        addon.enable()


def test_the_file_lies_beside_the_blend(saved: Any, tmp_path: Path) -> None:
    modifier = bake(saved)
    name = f"shot.Skin_{saved.softrig.uuid[:8]}.pc2"
    assert modifier.filepath == f"//softrig/{name}"
    assert (tmp_path / "softrig" / name).is_file()
    assert [path.name for path in (tmp_path / "softrig").iterdir()] == [name]


def test_versions_of_a_file_and_appended_copies_do_not_share_a_bake(
    saved: Any, tmp_path: Path
) -> None:
    bake(saved)
    bpy.ops.wm.save_mainfile()
    baked, identity = measure.at_frame(saved, 24), saved.softrig.uuid
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot_v002.blend"))
    bpy.data.objects["Skin"].softrig.softness = 0.9
    bake(bpy.data.objects["Skin"])
    assert measure.largest(measure.at_frame(bpy.data.objects["Skin"], 24), baked) > 0.1
    scenes.start_empty()
    with bpy.data.libraries.load(str(tmp_path / "shot.blend")) as (_, wanted):
        wanted.objects = ["Skin", "Skin Rig"]
    for ob in wanted.objects:
        scenes.link(ob)
    scenes.rush(bpy.data.objects["Skin Rig"], -3.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    appended = bpy.data.objects["Skin"]
    assert appended.softrig.uuid == identity
    bake(appended)
    names = sorted(path.name.split(".")[0] for path in (tmp_path / "softrig").iterdir())
    assert names == ["other", "shot", "shot_v002"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], 24), baked)


def test_an_unsaved_file_bakes_into_the_temporary_folder(skin: Any) -> None:
    modifier = bake(skin)
    assert Path(modifier.filepath).parent == Path(bpy.app.tempdir)
    assert Path(modifier.filepath).is_file()


def test_live_does_not_write_while_the_bake_plays(saved: Any, scene: Any) -> None:
    scene.frame_set(24)
    bake(saved)
    before = addon.module("blender.compat").read_positions(carrier_of(saved).data)
    scene.frame_set(30)
    after = addon.module("blender.compat").read_positions(carrier_of(saved).data)
    assert measure.same_bits(before, after)


def test_freeing_goes_back_to_live(saved: Any) -> None:
    live = measure.at_frame(saved, 24)
    bake(saved)
    saved.softrig.softness = 0.9
    assert measure.same_bits(measure.at_frame(saved, 24), live)
    scenes.make_active(saved)
    assert bpy.ops.softrig.free_bake() == {"FINISHED"}
    assert measure.largest(measure.at_frame(saved, 24), live) > 1e-4


def test_a_loaded_bake_is_played_without_preparing_anything(saved: Any) -> None:
    live = measure.at_frame(saved, 24)
    bake(saved)
    path = bpy.data.filepath
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    loaded = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(loaded, 24), live)
    assert not addon.session().entries
    scenes.make_active(loaded)
    assert bpy.ops.softrig.free_bake() == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(loaded, 24), live)
    assert addon.entry_of(loaded).state.phase.name == "LIVE"


def test_baking_again_replaces_the_file(saved: Any) -> None:
    before = Path(bpy.path.abspath(bake(saved).filepath)).read_bytes()
    saved.softrig.softness = 0.9
    after = Path(bpy.path.abspath(bake(saved).filepath)).read_bytes()
    assert len(before) == len(after) and before != after
    assert len(carrier_of(saved).modifiers) == 1


def test_the_bake_reads_keys_that_were_just_changed(saved: Any) -> None:
    measure.at_frame(saved, 24)
    rig = bpy.data.objects["Skin Rig"]
    curve_x = [9.0]
    rig.location.x = curve_x[0]
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    path = Path(bpy.path.abspath(bake(saved).filepath))
    rows = np.frombuffer(path.read_bytes(), np.float32, offset=32).reshape(len(ALL), -1)
    addon.module("blender.takes").free(saved)
    measure.at_frame(saved, 24)
    points = addon.module("blender.compat").read_positions(carrier_of(saved).data)
    assert measure.same_bits(points, rows[23])


def test_a_bake_whose_file_is_gone_shows_the_plain_pose_and_is_told(saved: Any) -> None:
    measure.at_frame(saved, 24)
    path = Path(bpy.path.abspath(bake(saved).filepath))
    assert not addon.module("blender.compat").read_positions(carrier_of(saved).data).any()
    bpy.ops.wm.save_mainfile()
    path.unlink()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    loaded = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(loaded, 24), measure.without_us(loaded))
    uuid = loaded.softrig.uuid
    assert addon.session().bake_faults == {uuid: f"is missing: {path}"}
    bake(loaded)
    assert not addon.session().bake_faults
    path.unlink()
    addon.module("blender.watch").look_around(addon.session())
    assert uuid in addon.session().bake_faults
    bpy.ops.softrig.free_bake()
    addon.module("blender.watch").look_around(addon.session())
    assert not addon.session().bake_faults


def test_a_file_where_the_folder_belongs_is_told(saved: Any, tmp_path: Path) -> None:
    (tmp_path / "softrig").write_text("in the way", encoding="utf-8")
    scenes.make_active(saved)
    with pytest.raises(RuntimeError, match="A file lies where .*softrig.* Move or rename"):
        bpy.ops.softrig.bake()
    (tmp_path / "softrig").unlink()
    bake(saved)


@pytest.mark.parametrize("moment", ["before", "during"])
def test_a_deleted_carrier_is_told_and_made_anew(saved: Any, moment: str) -> None:
    live = measure.at_frame(saved, 24)
    if moment == "during":
        session, original = addon.session(), addon.session().start_bake

        def start_and_delete(*arguments: Any) -> None:
            original(*arguments)
            bpy.data.objects.remove(carrier_of(saved))

        session.start_bake = start_and_delete
    else:
        bpy.data.objects.remove(carrier_of(saved))
    scenes.make_active(saved)
    with pytest.raises(RuntimeError, match="was deleted. Prepare Again makes a new one"):
        bpy.ops.softrig.bake()
    if moment == "during":
        del session.start_bake
    assert measure.same_bits(measure.at_frame(saved, 24), measure.without_us(saved))
    assert "was deleted" in addon.entry_of(saved).state.message
    assert bpy.ops.softrig.prepare() == {"FINISHED"}
    assert measure.same_bits(measure.at_frame(saved, 24), live)
    bake(saved)
    assert measure.same_bits(measure.at_frame(saved, 24), live)


def test_a_folder_that_cannot_be_written_is_told(saved: Any, tmp_path: Path) -> None:
    (tmp_path / "softrig").write_text("in the way", encoding="utf-8")
    scenes.make_active(saved)
    with pytest.raises(RuntimeError, match="softrig"):
        bpy.ops.softrig.bake()
    assert not carrier_of(saved).modifiers
    assert addon.entry_of(saved).bake is None
