# SPDX-License-Identifier: GPL-3.0-or-later
"""Shape keys and files for other programs show what was live; the artist's own keys stay."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

FRAMES = (1, 19, 22, 24, 30, 40)
TOLERANCE = 3e-5
"""Of a character of 4 m: single precision through a measured matrix and back."""

KINDS = [k for k in ("ALEMBIC", "USD") if addon.module("blender.compat").can_export(k)]
"""What this Blender writes for other programs; Debian builds its own without either."""


def live_of(skin: Any) -> dict[float, np.ndarray]:
    return {frame: measure.at_frame(skin, frame) for frame in (*FRAMES, 22.5)}


def compare(skin: Any, live: dict[float, np.ndarray], between: float) -> None:
    for frame, positions in live.items():
        # between frames the rig turns, and a straight line before it is not one behind it
        tolerance = TOLERANCE if frame == int(frame) else between
        assert measure.largest(measure.at_frame(skin, frame), positions) < tolerance, frame


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
@pytest.mark.parametrize("volume", [False, True])
def test_shape_keys_show_what_was_live_without_the_addon(
    skin: Any, kind: str, volume: bool
) -> None:
    skin.modifiers["Armature"].use_deform_preserve_volume = volume
    live = live_of(skin)
    assert measure.largest(live[24], measure.without_us(skin)) >= 0.0
    assert bpy.ops.softrig.bake_keys(kind=kind) == {"FINISHED"}
    assert len(skin.data.shape_keys.key_blocks) == 1 + scenes.LAST_FRAME
    assert not skin.modifiers["Softrig"].show_render
    addon.disable()
    try:
        compare(skin, live, 2e-2)
    finally:
        addon.enable()


def test_freeing_leaves_nothing_behind(skin: Any) -> None:
    live = live_of(skin)
    actions = len(bpy.data.actions)
    for kind in ("RELATIVE", "ABSOLUTE", "RELATIVE"):
        assert bpy.ops.softrig.bake_keys(kind=kind) == {"FINISHED"}
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    assert skin.data.shape_keys is None
    assert len(bpy.data.actions) == actions
    assert not bpy.data.shape_keys
    assert not [mesh for mesh in bpy.data.meshes if mesh.users == 0]
    assert measure.same_bits(measure.at_frame(skin, 24), live[24])


def test_keys_of_the_artist_stay_with_their_curves(skin: Any) -> None:
    skin.shape_key_add(name="Basis")
    smile = skin.shape_key_add(name="Smile", from_mix=False)
    smile.data[5].co.x += 0.2
    for frame, value in ((1, 0.0), (30, 1.0)):
        smile.value = value
        smile.keyframe_insert("value", frame=frame)
    live = live_of(skin)
    with pytest.raises(RuntimeError, match='"Smile", which absolute keys would switch off'):
        bpy.ops.softrig.bake_keys(kind="ABSOLUTE")
    assert bpy.ops.softrig.bake_keys(kind="RELATIVE") == {"FINISHED"}
    compare(skin, live, 2e-2)
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    keys = skin.data.shape_keys
    assert [key.name for key in keys.key_blocks] == ["Basis", "Smile"]
    assert measure.same_bits(measure.at_frame(skin, 24), live[24])
    bpy.context.scene.frame_set(30)
    assert keys.key_blocks["Smile"].value == 1.0


def test_drivers_and_strips_of_the_artists_keys_stay(skin: Any) -> None:
    """A corrective rig has no curves of its own, and is baked twice."""
    skin.shape_key_add(name="Basis")
    driven, played = skin.shape_key_add(name="Driven"), skin.shape_key_add(name="Played")
    driven.driver_add("value").driver.expression = "0.5"
    played.keyframe_insert("value", frame=1)
    animation = skin.data.shape_keys.animation_data
    animation.nla_tracks.new().strips.new("Face", 1, animation.action)
    animation.action = None
    for _ in range(2):
        assert bpy.ops.softrig.bake_keys(kind="RELATIVE") == {"FINISHED"}
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    animation = skin.data.shape_keys.animation_data
    assert [curve.data_path for curve in animation.drivers] == ['key_blocks["Driven"].value']
    assert [strip.action.name for strip in animation.nla_tracks[0].strips]
    assert animation.action is None
    assert [key.name for key in skin.data.shape_keys.key_blocks] == ["Basis", "Driven", "Played"]


def findings(skin: Any) -> list[str]:
    session = addon.session()
    addon.module("blender.examine").examine(session, skin, bpy.context.scene)
    return [finding.key for finding in session.findings[skin.softrig.uuid]]


def test_baked_keys_play_alone_and_tell_when_they_are_old(skin: Any, scene: Any) -> None:
    modifier = skin.modifiers["Softrig"]
    modifier.show_render = False
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    assert not {"OFF_IN_RENDER", "OFF_IN_VIEWPORT", "OLD_KEYS"} & set(findings(skin))
    skin.softrig.softness = 0.9
    scene.frame_set(24)
    assert "OLD_KEYS" in findings(skin)
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    assert "OLD_KEYS" not in findings(skin)
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    assert modifier.show_viewport and not modifier.show_render


@pytest.mark.parametrize("own", [False, True])
def test_a_bake_to_a_file_plays_in_place_of_baked_keys(
    skin: Any, tmp_path: Path, own: bool
) -> None:
    if own:
        skin.shape_key_add(name="Basis")
        skin.shape_key_add(name="Smile", from_mix=False)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    live = live_of(skin)
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    keys = skin.data.shape_keys
    assert [k.name for k in keys.key_blocks if own] == ["Basis", "Smile"] if own else keys is None
    for frame in FRAMES:
        assert measure.same_bits(measure.at_frame(skin, frame), live[frame])


def key_modifier(skin: Any) -> None:
    skin.keyframe_insert('modifiers["Softrig"].show_viewport', frame=1)


def pin_key(skin: Any) -> None:
    skin.show_only_shape_key = True


def play_solo(skin: Any) -> None:
    tracks = skin.data.shape_keys.animation_data.nla_tracks
    tracks.new().is_solo = True


def blend(skin: Any) -> None:
    skin.data.shape_keys.animation_data.action_influence = 0.5


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (key_modifier, "switched by keyframes"),
        (pin_key, "pinned"),
        (play_solo, "plays solo"),
        (blend, "blended with strips"),
    ],
)
def test_what_would_spoil_the_keys_is_refused(skin: Any, spoil: Any, sentence: str) -> None:
    skin.shape_key_add(name="Basis")
    smile = skin.shape_key_add(name="Smile", from_mix=False)
    smile.keyframe_insert("value", frame=1)
    spoil(skin)
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.softrig.bake_keys()
    assert len(skin.data.shape_keys.key_blocks) == 2


@pytest.mark.parametrize("all_of_them", [False, True])
def test_keys_that_were_deleted_by_hand_are_baked_anew(skin: Any, all_of_them: bool) -> None:
    """Blender leaves their curves, and the modifier was off for their sake."""
    skin.shape_key_add(name="Basis")
    skin.shape_key_add(name="Smile", from_mix=False).value = 0.0
    live = live_of(skin)
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    ours = [k for k in skin.data.shape_keys.key_blocks if k.name.startswith("Softrig")]
    for key in ours if all_of_them else ours[5:6]:
        skin.shape_key_remove(key)
    if all_of_them:
        addon.module("blender.watch").look_around(addon.session())
        assert skin.modifiers["Softrig"].show_viewport and skin.modifiers["Softrig"].show_render
        assert measure.same_bits(measure.at_frame(skin, 24), live[24])
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    compare(skin, live, 2e-2)


def test_all_who_share_the_mesh_play_live_again(skin: Any, scene: Any) -> None:
    live = live_of(skin)
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    other = scenes.link(skin.copy())
    addon.module("blender.watch").look_around(addon.session())
    scenes.make_active(skin)
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    for ob in (skin, other):
        assert ob.modifiers["Softrig"].show_viewport and ob.modifiers["Softrig"].show_render
        assert measure.same_bits(measure.at_frame(ob, 24), live[24])


def test_a_frame_that_no_key_is_for_is_told(skin: Any, scene: Any) -> None:
    skin.softrig.bake_range, skin.softrig.bake_first, skin.softrig.bake_last = "OWN", 18, 24
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    find_missed = addon.module("blender.rendering").find_missed
    assert not find_missed(scene, [18, 24])
    (told,) = find_missed(scene, [18, 25])
    assert told == "Skin: frame 25 is not there, the shape keys have frames 18 to 24."


def test_a_rig_of_others_in_edit_mode_is_none_of_ours(skin: Any) -> None:
    other = scenes.make_armature("Other")
    scenes.make_active(other)
    bpy.ops.object.mode_set(mode="EDIT")
    find_unposed = addon.module("blender.tape").find_unposed
    assert not find_unposed(skin)
    bpy.ops.object.mode_set(mode="OBJECT")
    scenes.make_active(bpy.data.objects["Skin Rig"])
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Leave Edit Mode" in find_unposed(skin)
    (told,) = addon.module("blender.rendering").find_problems(addon.session(), bpy.context.scene)
    assert "Leave Edit Mode" in told
    bpy.ops.object.mode_set(mode="OBJECT")


def share_keys(skin: Any, other: Any) -> list[Any]:
    """Two characters blink by the same curve."""
    shapes = []
    for ob in (skin, other):
        ob.shape_key_add(name="Basis")
        ob.shape_key_add(name="Blink", from_mix=False)
        shapes.append(ob.data.shape_keys)
    for frame, value in ((1, 0.0), (30, 1.0)):
        shapes[0].key_blocks["Blink"].value = value
        shapes[0].key_blocks["Blink"].keyframe_insert("value", frame=frame)
    animation = shapes[0].animation_data
    shared = shapes[1].animation_data_create()
    shared.action = animation.action
    if hasattr(shared, "action_slot"):
        shared.action_slot = animation.action_slot
    return shapes


def curves_of(keys: Any) -> list[str]:
    return [c.data_path for c in addon.module("blender.actions").find_curves(keys) or ()]


@pytest.mark.parametrize("first", [0, 1])
def test_characters_that_share_curves_are_baked_by_themselves(skin: Any, first: int) -> None:
    other, _ = scenes.make_character("Other")
    scenes.add_softrig(other)
    shapes, pair = share_keys(skin, other), [skin, other]
    action = shapes[0].animation_data.action
    live = [{f: measure.at_frame(ob, f) for f in (10, 24)} for ob in pair]
    for ob in pair:
        scenes.make_active(ob)
        assert bpy.ops.softrig.bake_keys(kind="RELATIVE") == {"FINISHED"}
    blink = ['key_blocks["Blink"].value']
    for ob, frames in zip(pair, live, strict=True):
        for frame, positions in frames.items():
            assert measure.largest(measure.at_frame(ob, frame), positions) < 2e-2
        assert len(curves_of(ob.data.shape_keys)) == 41
    scenes.make_active(pair[first])
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    assert curves_of(shapes[first]) == blink and len(curves_of(shapes[1 - first])) == 41
    scenes.make_active(pair[1 - first])
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    for keys in shapes:
        assert keys.animation_data.action == action and curves_of(keys) == blink
    assert [a for a in bpy.data.actions if a.name.startswith(action.name)] == [action]


def test_curves_that_were_edited_after_a_bake_are_kept(skin: Any) -> None:
    other, _ = scenes.make_character("Other")
    shapes = share_keys(skin, other)
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake_keys(kind="RELATIVE") == {"FINISHED"}
    shapes[0].key_blocks["Blink"].value = 0.5
    shapes[0].key_blocks["Blink"].keyframe_insert("value", frame=15)
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    find = addon.module("blender.actions").find_curves
    assert [len(find(keys)[0].keyframe_points) for keys in shapes] == [3, 2]


def test_removing_takes_baked_keys_along(skin: Any) -> None:
    """They would move the flesh a second time when Softrig is added again."""
    live = live_of(skin)
    assert bpy.ops.softrig.bake_keys(kind="RELATIVE") == {"FINISHED"}
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    assert skin.data.shape_keys is None
    scenes.add_softrig(skin)
    assert measure.same_bits(measure.at_frame(skin, 24), live[24])


def test_a_mesh_of_two_objects_is_refused(skin: Any) -> None:
    scenes.link(bpy.data.objects.new("Other", skin.data))
    with pytest.raises(RuntimeError, match="Several objects share this mesh"):
        bpy.ops.softrig.bake_keys()
    assert skin.data.shape_keys is None


def test_time_remapping_moves_the_keys_along(skin: Any, scene: Any) -> None:
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    live = {frame: measure.at_frame(skin, frame) for frame in (10, 24, 31)}
    assert bpy.ops.softrig.bake_keys() == {"FINISHED"}
    for frame, positions in live.items():
        assert measure.largest(measure.at_frame(skin, frame), positions) < TOLERANCE


def test_the_command_that_plays_nowhere_else_says_so(skin: Any, tmp_path: Path) -> None:
    for kind in ("ALEMBIC", "USD"):
        if kind in KINDS:
            continue
        with pytest.raises(RuntimeError, match="was built without"):
            bpy.ops.softrig.export_motion(kind=kind, filepath=str(tmp_path / "x"))
        assert not list(tmp_path.iterdir())


def test_a_blender_from_its_makers_exports_both() -> None:
    assert bpy.app.version < (4, 0) or ["ALEMBIC", "USD"] == KINDS


if KINDS:

    @pytest.mark.parametrize("baked", [False, True])
    @pytest.mark.parametrize("kind", KINDS)
    def test_exported_motion_is_what_was_live(
        skin: Any, scene: Any, kind: str, baked: bool, tmp_path: Path
    ) -> None:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        live, places = live_of(skin), {}
        for frame in FRAMES:
            scene.frame_set(frame)
            places[frame] = np.array(skin.matrix_world)
        if baked:
            bpy.ops.softrig.bake()
        scenes.make_active(skin)
        assert bpy.ops.softrig.export_motion(kind=kind, filepath=str(tmp_path / "out")) == {
            "FINISHED"
        }
        written = [path for path in tmp_path.iterdir() if path.stem.startswith("out")]
        assert [path.suffix for path in written] == [".abc" if kind == "ALEMBIC" else ".usdc"]
        before = set(bpy.data.objects)
        if kind == "ALEMBIC":
            bpy.ops.wm.alembic_import(filepath=str(written[0]), as_background_job=False)
        else:
            bpy.ops.wm.usd_import(filepath=str(written[0]))
        came = next(ob for ob in bpy.data.objects if ob not in before and ob.type == "MESH")
        for frame in FRAMES:
            got = measure.at_frame(came, frame).reshape(-1, 3)
            got = got @ np.array(came.matrix_world)[:3, :3].T + np.array(came.matrix_world)[:3, 3]
            expected = live[frame].reshape(-1, 3) @ places[frame][:3, :3].T + places[frame][:3, 3]
            assert np.abs(got - expected).max() < 1e-5, frame


def test_an_export_that_cannot_be_written_says_so(skin: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    for kind in KINDS:
        with pytest.raises(RuntimeError, match="was not written"):
            bpy.ops.softrig.export_motion(kind=kind, filepath=str(tmp_path / "file" / "x"))


if KINDS:

    @pytest.mark.parametrize("why", ["hidden", "no folder", "no room", "cut"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_an_export_that_would_not_be_whole_leaves_the_old_one(
        skin: Any, tmp_path: Path, kind: str, why: str, monkeypatch: Any
    ) -> None:
        """On a full disk one exporter ends Blender, the other says that all is well."""
        path = tmp_path / ("out.abc" if kind == "ALEMBIC" else "out.usdc")
        assert bpy.ops.softrig.export_motion(kind=kind, filepath=str(path)) == {"FINISHED"}
        old, wanted = path.read_bytes(), str(path)
        files = addon.module("blender.export_files")
        if why == "hidden":
            skin.hide_set(True)
        elif why == "no folder":
            wanted = str(tmp_path / "gone" / path.name)
        elif why == "no room":
            monkeypatch.setattr(files.shutil, "disk_usage", lambda _: SimpleNamespace(free=10000))
        else:
            check = files.check_after
            monkeypatch.setattr(files, "check_after", lambda p: (cut(p), check(p)))
        with pytest.raises(RuntimeError, match=TOLD[why]):
            bpy.ops.softrig.export_motion(kind=kind, filepath=wanted)
        assert path.read_bytes() == old
        assert list(tmp_path.iterdir()) == [path]


def cut(path: Path) -> None:
    """As a full disk leaves them: the one without its end, the other without its seal."""
    data = bytearray(path.read_bytes()[:-200])
    data[5:6] = b"\0" if path.suffix == ".abc" else data[5:6]
    path.write_bytes(data)


TOLD = {
    "hidden": "it is hidden",
    "no folder": "there is no folder",
    "no room": "0 MB are free",
    "cut": "is cut",
}


@pytest.mark.parametrize("kind", ["ABSOLUTE", "RELATIVE"])
def test_a_stack_that_makes_vertices_first_is_refused(skin: Any, kind: str) -> None:
    skin.modifiers.new("Mirror", "MIRROR")
    addon.module("blender.compat").move_modifier(skin, skin.modifiers["Mirror"], 0)
    with pytest.raises(RuntimeError, match='"Mirror" makes vertices before Softrig'):
        bpy.ops.softrig.bake_keys(kind=kind)
    assert skin.data.shape_keys is None
