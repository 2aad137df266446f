# SPDX-License-Identifier: GPL-3.0-or-later
"""Each trap, sprung in Blender: it is told, its button mends it, and then it is gone."""

from pathlib import Path
from typing import Any

import bpy
import pytest
from support import addon, measure, scenes

HEAD = 32
DAMAGES = {
    "cut": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "no point cache": lambda whole: b"#" * len(whole),
    "other points": lambda whole: whole[:16] + (7).to_bytes(4, "little") + whole[20:],
}


def keys(skin: Any) -> list[str]:
    bpy.context.view_layer.update()
    addon.module("blender.examine").examine(addon.session(), skin, bpy.context.scene)
    return [finding.key for finding in addon.session().findings[skin.softrig.uuid]]


def press(skin: Any, key: str) -> None:
    """The button of a finding, as the panel draws it."""
    scenes.make_active(skin)
    (finding,) = [f for f in addon.session().findings[skin.softrig.uuid] if f.key == key]
    group, verb = finding.operator.split(".")
    arguments = {"trap": key} if finding.operator == "softrig.fix" else {}
    assert getattr(getattr(bpy.ops, group), verb)(**arguments) == {"FINISHED"}


def assert_mended(skin: Any, key: str) -> None:
    assert keys(skin) == [key]
    press(skin, key)
    assert keys(skin) == []


def move(skin: Any, name: str, index: int) -> None:
    addon.module("blender.compat").move_modifier(skin, skin.modifiers[name], index)


@pytest.fixture
def saved(skin: Any, tmp_path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return bpy.data.objects["Skin"]


def test_a_good_character_is_in_no_trap(skin: Any) -> None:
    measure.at_frame(skin, scenes.LAST_FRAME)
    skin.modifiers.new("Subsurf", "SUBSURF")
    skin.softrig.gravity_factor = 1.0
    assert keys(skin) == []


@pytest.mark.parametrize("kind", ["DECIMATE", "REMESH", "SCREW"])
def test_what_stands_before_us_is_passed(skin: Any, kind: str) -> None:
    expected = measure.at_frame(skin, 24)
    skin.modifiers.new("Before", kind)
    move(skin, "Before", 0)
    # the armature is then behind it as well, which only the artist can order
    assert keys(skin) == ["BLOCKER"]
    move(skin, "Before", 1)
    assert_mended(skin, "BLOCKER")
    assert [m.name for m in skin.modifiers] == ["Armature", "Softrig", "Before"]
    skin.modifiers.remove(skin.modifiers["Before"])
    assert measure.same_bits(measure.at_frame(skin, 24), expected)


def test_an_armature_behind_us_is_passed(skin: Any) -> None:
    move(skin, "Softrig", 0)
    assert_mended(skin, "ARMATURE_AFTER")
    assert [m.name for m in skin.modifiers] == ["Armature", "Softrig"]


def test_an_armature_behind_what_makes_new_vertices_is_told(skin: Any) -> None:
    skin.modifiers.new("Remesh", "REMESH")
    move(skin, "Armature", 2)
    assert keys(skin) == ["ARMATURE_BEYOND"]


def test_multires_is_told(skin: Any) -> None:
    skin.modifiers.new("Multires", "MULTIRES")
    assert "MULTIRES" in keys(skin)


def test_an_armature_that_is_half_on(skin: Any) -> None:
    skin.modifiers["Armature"].show_render = False
    assert_mended(skin, "HALF_ARMATURE")


def test_an_armature_at_rest(skin: Any) -> None:
    bpy.data.objects["Skin Rig"].data.pose_position = "REST"
    assert_mended(skin, "RESTING")


def test_a_disabled_armature_matters_where_the_scene_is_stepped(skin: Any) -> None:
    bpy.data.objects["Skin Rig"].hide_viewport = True
    assert keys(skin) == []
    addon.entry_of(skin).steps_scene = True
    assert_mended(skin, "HIDDEN")


def test_our_modifier_switched_off(skin: Any) -> None:
    skin.modifiers["Softrig"].show_render = False
    assert_mended(skin, "OFF_IN_RENDER")
    skin.modifiers["Softrig"].show_viewport = False
    assert_mended(skin, "OFF_IN_VIEWPORT")


def test_a_scale_of_nothing(skin: Any) -> None:
    skin.scale.y = 0.0
    assert_mended(skin, "FLAT")
    assert tuple(skin.scale) == (1.0, 1.0, 1.0)
    bpy.data.objects["Skin Rig"].scale.x = 0.0
    assert keys(skin) == ["FLAT"]
    with pytest.raises(RuntimeError, match="parent"):
        bpy.ops.softrig.fix(trap="FLAT")


def test_no_weights(scene: Any) -> None:
    skin, _ = scenes.make_character()
    skin.vertex_groups.clear()
    scenes.add_softrig(skin)
    assert keys(skin) == ["UNWEIGHTED"]
    scenes.weigh(skin)
    press(skin, "UNWEIGHTED")
    assert keys(skin) == []


def test_a_giant_under_gravity(skin: Any) -> None:
    skin.scale = (50.0, 50.0, 50.0)
    assert keys(skin) == []
    skin.softrig.gravity_factor = 1.0
    assert_mended(skin, "ODD_GRAVITY")
    assert skin.softrig.gravity_factor == pytest.approx(max(skin.dimensions) / 2.0)


def test_a_map_without_its_group(skin: Any) -> None:
    skin.softrig.map_mass = "gone"
    assert_mended(skin, "LOST_MAP")
    assert not skin.softrig.map_mass


def test_a_teleport_asks_for_a_cut(skin: Any) -> None:
    rig = bpy.data.objects["Skin Rig"]
    rig.animation_data_clear()
    for frame, x in ((1, 0.0), (19, 0.0), (20, 3e4), (40, 3e4)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    measure.at_frame(skin, scenes.LAST_FRAME)
    addon.session().refresh(addon.entry_of(skin))
    assert keys(skin) == ["LIMITED"]
    bpy.context.scene.frame_set(20)
    bpy.ops.softrig.cut_marker()
    measure.at_frame(skin, scenes.LAST_FRAME)
    addon.session().refresh(addon.entry_of(skin))
    assert keys(skin) == []


def test_another_number_of_vertices_than_prepared(saved: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    saved.data.vertices.add(3)
    assert "EDITED" in keys(saved)
    press(saved, "EDITED")
    assert "EDITED" not in keys(saved)


def test_a_bake_of_other_frames(saved: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert keys(saved) == []
    bpy.context.scene.frame_end = 45
    assert_mended(saved, "SHORT_BAKE")


@pytest.mark.parametrize("what", ["dial", "keys", "gravity", "marker"])
def test_an_old_bake(saved: Any, what: str) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert keys(saved) == []
    rig = bpy.data.objects["Skin Rig"]
    if what == "dial":
        saved.softrig.softness = 0.8
    elif what == "keys":
        rig.location.x = 9.0
        rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    elif what == "gravity":
        saved.softrig.gravity_factor = 1.0
    else:
        bpy.context.scene.timeline_markers.new("Cut", frame=12)
    bpy.context.view_layer.update()
    stage, entry = addon.module("blender.stage"), addon.entry_of(saved)
    for _ in range(3):
        stage.advance(addon.session(), entry, saved, bpy.context.scene, at_once=True)
    assert_mended(saved, "OLD_BAKE")


def test_a_bake_that_is_newer_than_the_file(saved: Any) -> None:
    """Baked again, and not saved: the dial goes back, the file on disk does not."""
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    saved.softrig.softness = 0.8
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert keys(saved) == []
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    loaded = bpy.data.objects["Skin"]
    scenes.make_active(loaded)
    assert_mended(loaded, "OTHER_BAKE")


def test_a_missing_bake(saved: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bake = addon.module("blender.carrier").find_bake(saved)
    Path(bpy.path.abspath(bake.filepath)).unlink()
    assert_mended(saved, "BROKEN_BAKE")


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_a_damaged_bake(saved: Any, damage: str) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bake = addon.module("blender.carrier").find_bake(saved)
    path = Path(bpy.path.abspath(bake.filepath))
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert (
        len(addon.module("blender.rendering").make_ready(addon.session(), bpy.context.scene)) == 1
    )
    assert_mended(saved, "BROKEN_BAKE")


def test_a_bake_with_fewer_subframes_than_asked_for(saved: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    saved.softrig.bake_subframes = 2
    assert_mended(saved, "COARSE_BAKE")
    saved.softrig.bake_subframes = 1
    assert keys(saved) == []


def test_each_fix_belongs_to_a_trap() -> None:
    traps = addon.module("model.diagnostics")
    wanted = {trap.key for trap in traps.TRAPS if trap.operator == traps.FIX}
    assert wanted == set(addon.module("blender.fixes").FIXES)


def test_an_unknown_fix_is_refused(skin: Any) -> None:
    with pytest.raises(RuntimeError, match="no fix"):
        bpy.ops.softrig.fix(trap="NONSENSE")


def test_the_timer_looks_by_itself(skin: Any) -> None:
    skin.modifiers["Softrig"].show_render = False
    session, watch = addon.session(), addon.module("blender.watch")
    session.examined_at = -1e9
    watch.tick(session)
    (finding,) = session.findings[skin.softrig.uuid]
    assert finding.key == "OFF_IN_RENDER"
    assert finding.text in str(addon.module("model.schedule").fingerprint(session))


def test_a_character_that_only_plays_its_bake_is_looked_at_too(saved: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    path = bpy.data.filepath
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    loaded, session = bpy.data.objects["Skin"], addon.session()
    session.examined_at = -1e9
    addon.module("blender.watch").tick(session)
    assert loaded.softrig.uuid not in session.entries
    assert session.findings[loaded.softrig.uuid] == ()
    bpy.context.scene.frame_end = 60
    assert_mended(loaded, "SHORT_BAKE")
