# SPDX-License-Identifier: GPL-3.0-or-later
"""Followers: clothes and eyes ride on the flesh, each in its own way and its own space."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from support import addon, measure, scenes

FRAMES = (1, 14, scenes.STOP_FRAME + 2, 27)
PLACE = (0.1, 0.1, 2.4)
"""In the flesh, with the rig at rest."""
BUSY = scenes.STOP_FRAME + 3


def make_cloth(skin: Any, name: str = "Cloth") -> Any:
    """As the skin, deformed by the same armature: what is true of the one is of the other."""
    cloth = scenes.link(bpy.data.objects.new(name, skin.data.copy()))
    cloth.parent = skin.parent
    for group in skin.vertex_groups:
        cloth.vertex_groups.new(name=group.name)
    armature = skin.modifiers["Armature"].object
    cloth.modifiers.new("Armature", "ARMATURE").object = armature
    return cloth


def make_ball(name: str = "Eye", segments: int = 8, radius: float = 0.2) -> Any:
    ball = scenes.make_skin(name, segments)
    ball.data.transform(Matrix.Translation((0, 0, -1)))
    ball.data.transform(Matrix.Diagonal((radius / 0.6, radius / 0.6, radius / 2.0, 1.0)))
    return ball


def put_on_bone(ob: Any, armature: Any, bone: str, place: Any) -> None:
    """At a place of the world, hung on a bone as the artist does it at the first frame."""
    ob.parent, ob.parent_type, ob.parent_bone = armature, "BONE", bone
    bpy.context.view_layer.update()
    posed = armature.matrix_world @ armature.pose.bones[bone].matrix
    tail = Matrix.Translation((0, armature.pose.bones[bone].length, 0))
    ob.matrix_parent_inverse = (posed @ tail).inverted()
    ob.matrix_basis = place
    bpy.context.view_layer.update()


def put_on_weights(ob: Any, armature: Any, bone: str) -> None:
    ob.data.transform(Matrix.Translation(PLACE))
    ob.parent = armature
    group = ob.vertex_groups.new(name=bone)
    group.add(range(len(ob.data.vertices)), 1.0, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = armature


def follow(skin: Any, *others: Any) -> None:
    scenes.make_active(skin)
    for other in others:
        other.select_set(True)
    assert bpy.ops.softrig.follow() == {"FINISHED"}
    settle(skin)


def settle(skin: Any) -> None:
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    entry = addon.entry_of(skin)
    session = addon.session()
    session.api.wait_frame(entry.shot, scenes.LAST_FRAME, 60.0)


def offsets_at(ob: Any, frame: float) -> np.ndarray:
    """In the world, 3 a point: what we add to what Blender shows without us."""
    moved = measure.at_frame(ob, frame)
    added = moved - measure.without_us(ob)
    turn = np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return added.reshape(-1, 3) @ turn[:3, :3].T


def world_at(ob: Any, frame: float) -> np.ndarray:
    points = measure.at_frame(ob, frame).reshape(-1, 3)
    matrix = np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def spans(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def names_of_data() -> set[str]:
    kinds = ("objects", "meshes", "armatures", "node_groups", "scenes")
    return {f"{kind}/{item.name}" for kind in kinds for item in getattr(bpy.data, kind)}


def test_cloth_that_lies_on_the_skin_moves_as_the_skin(skin: Any) -> None:
    """To the rounding of Blender's deformation at rest."""
    cloth = make_cloth(skin)
    follow(skin, cloth)
    for frame in (*FRAMES, 24.5):
        assert measure.largest(measure.at_frame(cloth, frame), measure.at_frame(skin, frame)) < 2e-6
    assert np.abs(offsets_at(skin, BUSY)).max() > 0.05


def test_offsets_are_right_in_any_space_and_however_it_hangs(skin: Any) -> None:
    """On a bone, scaled and mirrored; its points lie at rest where those of the skin lie."""
    armature = skin.parent
    cloth = scenes.link(bpy.data.objects.new("Hat", skin.data.copy()))
    crooked = Matrix.LocRotScale(
        (3, -2, 1), Matrix.Rotation(1.0, 3, "X").to_quaternion(), (2, -0.5, 3)
    )
    cloth.data.transform(crooked.inverted())
    empty = scenes.link(bpy.data.objects.new("Hook", None))
    armature.data.pose_position = "REST"
    put_on_bone(empty, armature, "spine", Matrix.Translation((0.3, 0.1, 0.2)))
    cloth.parent = empty
    cloth.matrix_parent_inverse = empty.matrix_world.inverted()
    cloth.matrix_basis = crooked
    armature.data.pose_position = "POSE"
    follow(skin, cloth)
    for frame in FRAMES[1:]:
        assert np.abs(offsets_at(cloth, frame) - offsets_at(skin, frame)).max() < 2e-5
    assert np.abs(offsets_at(cloth, BUSY)).max() > 0.05


@pytest.mark.parametrize("way", ["bone", "armature"])
def test_a_rigid_follower_keeps_its_shape(skin: Any, way: str) -> None:
    armature, eye = skin.parent, make_ball()
    if way == "bone":
        armature.data.pose_position = "REST"
        put_on_bone(eye, armature, "tail2", Matrix.Translation(PLACE))
        armature.data.pose_position = "POSE"
    else:
        put_on_weights(eye, armature, "tail2")
    follow(skin, eye)
    at_rest = spans(np.array([v.co for v in eye.data.vertices]))
    soft = np.abs(spans(world_at(eye, BUSY)) - at_rest).max()
    moved = np.abs(offsets_at(eye, BUSY)).max()
    eye.softrig.rigid = True
    settle(skin)
    rigid = np.abs(spans(world_at(eye, BUSY)) - at_rest).max()
    print(f"{way}: bent by {soft:.4f}, rigid by {rigid:.2e}, moved by {moved:.3f}")
    assert soft > 1e-3 and rigid < 1e-5
    assert np.abs(offsets_at(eye, BUSY)).max() > 0.5 * moved


def test_moving_a_follower_or_its_mesh_is_noticed(skin: Any) -> None:
    eye = make_ball()
    eye.location = (0.2, 0.3, 1.6)
    follow(skin, eye)
    before = offsets_at(eye, BUSY)
    eye.location.z = -0.5
    scenes.make_active(skin)
    settle(skin)
    assert np.abs(offsets_at(eye, BUSY) - before).max() > 0.01
    # another mesh under the same object
    eye.data = make_ball("Other", 12).data
    bpy.context.scene.frame_set(1)
    settle(skin)
    assert np.abs(offsets_at(eye, BUSY)).max() > 0.0
    assert len(addon.module("blender.carrier").find_carrier(eye).data.vertices) == len(
        eye.data.vertices
    )


def test_a_bake_holds_followers_and_is_freed_with_them(skin: Any, tmp_path: Path) -> None:
    cloth, eye = make_cloth(skin), make_ball()
    eye.softrig.rigid = True
    put_on_bone(eye, skin.parent, "tail1", Matrix.Translation((0.2, 0.3, 1.6)))
    follow(skin, cloth, eye)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    live = {(ob, f): measure.at_frame(ob, f) for ob in (skin, cloth, eye) for f in (*FRAMES, 24.5)}
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert len(list((tmp_path / "softrig").glob("*.pc2"))) == 3
    for (ob, frame), points in live.items():
        assert measure.same_bits(measure.at_frame(ob, frame), points)
    assert bpy.ops.softrig.free_bake() == {"FINISHED"}
    settle(skin)
    for (ob, frame), points in live.items():
        assert addon.module("blender.carrier").find_bake(ob) is None
        assert measure.same_bits(measure.at_frame(ob, frame), points)


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
def test_followers_get_shape_keys_too(skin: Any, kind: str) -> None:
    """They show what was live without the add-on; one that shares its mesh is told and goes on."""
    cloth, ball = make_cloth(skin), make_ball()
    ball.softrig.rigid = True
    put_on_bone(ball, skin.parent, "tail1", Matrix.Translation(PLACE))
    third = scenes.link(bpy.data.objects.new("Third", make_ball("Twin").data))
    third.location = PLACE
    follow(skin, cloth, ball, third)
    live = {ob.name: {f: measure.at_frame(ob, f) for f in FRAMES} for ob in (skin, cloth, ball)}
    before = names_of_data()
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake_keys(kind=kind) == {"FINISHED"}
    assert third.data.shape_keys is None and third.modifiers["Softrig"].show_viewport
    addon.disable()
    try:
        for name, frames in live.items():
            ob = bpy.data.objects[name]
            assert len(ob.data.shape_keys.key_blocks) == 1 + scenes.LAST_FRAME
            for frame, positions in frames.items():
                assert measure.largest(measure.at_frame(ob, frame), positions) < 3e-5, frame
    finally:
        addon.enable()
    bpy.context.scene.frame_set(1)
    scenes.make_active(skin)
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    assert not bpy.data.shape_keys and names_of_data() == before
    settle(skin)
    for ob in (skin, cloth, ball):
        for frame, positions in live[ob.name].items():
            assert measure.same_bits(measure.at_frame(ob, frame), positions), (ob.name, frame)


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
def test_what_is_recorded_while_keys_are_baked_has_no_keys_in_it(skin: Any, kind: str) -> None:
    eye = make_ball()
    put_on_weights(eye, skin.parent, "tail2")
    eye.softrig.rigid = True
    follow(skin, eye)
    live = measure.at_frame(eye, BUSY)
    before = names_of_data()
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake_keys(kind=kind) == {"FINISHED"}
    for rigid in (False, True):
        eye.softrig.rigid = rigid
        settle(skin)
    assert bpy.ops.softrig.free_keys() == {"FINISHED"}
    assert names_of_data() == before
    settle(skin)
    assert measure.same_bits(measure.at_frame(eye, BUSY), live)


def test_saved_and_opened_again_it_moves_alike(skin: Any, tmp_path: Path) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    live = measure.at_frame(cloth, BUSY)
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Cloth"], BUSY), live)


def test_appended_it_brings_its_character(skin: Any, tmp_path: Path) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    live = measure.at_frame(cloth, BUSY)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene = scenes.start_empty()
    with bpy.data.libraries.load(path) as (_, target):
        target.objects = ["Cloth"]
    appended = bpy.data.objects["Cloth"]
    for ob in (appended, appended.parent, appended.softrig.leader):
        scene.collection.objects.link(ob)
    assert measure.same_bits(measure.at_frame(appended, BUSY), live)


def test_copies_follow_too_and_names_do_not_matter(skin: Any) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    live = measure.at_frame(cloth, BUSY)
    scenes.make_active(skin)
    for ob in (cloth, skin.parent):
        ob.select_set(True)
    bpy.ops.object.duplicate()
    copied = next(ob for ob in bpy.context.selected_objects if ob.name.startswith("Cloth"))
    leader = next(ob for ob in bpy.context.selected_objects if ob.name.startswith("Skin."))
    copied.name, skin.name = "Shirt", "Anna"
    assert measure.same_bits(measure.at_frame(copied, BUSY), live)
    assert measure.same_bits(measure.at_frame(cloth, BUSY), live)
    assert copied.softrig.leader == leader and cloth.softrig.leader == skin
    assert copied.softrig.follower_uuid != cloth.softrig.follower_uuid
    find = addon.module("blender.carrier").find_carrier
    assert find(copied) != find(cloth)


def test_deleting_either_leaves_the_other_in_peace(skin: Any) -> None:
    cloth, second = make_cloth(skin), make_cloth(skin, "Second")
    follow(skin, cloth, second)
    bpy.data.objects.remove(cloth)
    assert np.abs(offsets_at(second, BUSY)).max() > 0.05
    bpy.data.objects.remove(skin)
    measure.at_frame(second, BUSY)
    assert np.abs(offsets_at(second, BUSY)).max() == 0.0
    scenes.make_active(second)
    assert bpy.ops.softrig.unfollow() == {"FINISHED"}
    assert not [m for m in second.modifiers if m.type == "NODES"]


def test_a_deleted_character_that_somebody_follows_is_forgotten(skin: Any, scene: Any) -> None:
    """Blender keeps it in its data, in no scene; linked again it moves again."""
    cloth, watch, session = make_cloth(skin), addon.module("blender.watch"), addon.session()
    follow(skin, cloth)
    before = measure.at_frame(cloth, BUSY)
    scene.collection.objects.unlink(skin)
    assert bpy.data.objects.get(skin.name) is skin
    for _ in range(2):
        watch.tick(session)
    assert not session.entries and session.api.byte_count() == 0
    assert not session.rescan, "it is not looked for at every turn"
    assert np.abs(offsets_at(cloth, BUSY)).max() == 0.0
    scene.collection.objects.link(skin)
    session.rescan = True
    assert measure.same_bits(measure.at_frame(cloth, BUSY), before)


def test_removing_softrig_leaves_nothing_of_ours(scene: Any) -> None:
    skin, _ = scenes.make_character()
    cloth = make_cloth(skin)
    before, plain = names_of_data(), measure.at_frame(cloth, BUSY)
    scenes.add_softrig(skin)
    follow(skin, cloth)
    assert not measure.same_bits(measure.at_frame(cloth, BUSY), plain)
    scenes.make_active(skin)
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    assert names_of_data() == before
    assert measure.same_bits(measure.at_frame(cloth, BUSY), plain)
    assert addon.session().api.byte_count() == 0


def test_what_moves_with_the_character_already_is_refused_in_words(skin: Any) -> None:
    wrapped = make_ball("Wrapped")
    wrapped.modifiers.new("Wrap", "SHRINKWRAP").target = skin
    nailed = make_ball("Nailed")
    nailed.parent, nailed.parent_type = skin, "VERTEX"
    before = names_of_data()
    for ob, words in ((wrapped, "Wrap"), (nailed, "vertices")):
        scenes.make_active(skin)
        ob.select_set(True)
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.softrig.follow()
        assert not ob.softrig.follower_uuid and names_of_data() == before


def test_one_that_cannot_follow_any_more_is_told_and_stands_still(skin: Any) -> None:
    cloth, good = make_cloth(skin), make_cloth(skin, "Good")
    follow(skin, cloth, good)
    cloth.modifiers.new("Wrap", "SHRINKWRAP").target = skin
    with bpy.context.temp_override(object=cloth, active_object=cloth):
        bpy.ops.object.modifier_move_to_index(modifier="Wrap", index=0)
    bpy.context.scene.frame_set(1)
    settle(skin)
    assert np.abs(offsets_at(good, BUSY)).max() > 0.05
    assert np.abs(offsets_at(cloth, BUSY)).max() == 0.0
    session, scene = addon.session(), bpy.context.scene
    addon.module("blender.examine").examine(session, skin, scene)
    found = {finding.key: finding for finding in session.findings[skin.softrig.uuid]}
    assert "Cloth" in found["STUCK_FOLLOWER"].text
    problems = addon.module("blender.rendering").make_ready(session, scene)
    assert len(problems) == 1 and problems[0].startswith("Cloth: ")
    scenes.make_active(skin)
    assert bpy.ops.softrig.fix(trap="STUCK_FOLLOWER") == {"FINISHED"}
    assert not cloth.softrig.follower_uuid
    assert not addon.module("blender.rendering").make_ready(session, scene)


def test_a_rig_that_reads_the_scene_carries_its_followers(scene: Any) -> None:
    skin, armature = scenes.make_character()
    driver = armature.pose.bones["root"].driver_add("location", 0).driver
    driver.expression = "0.02 * frame"
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = scene
    variable.targets[0].data_path = "frame_current"
    scenes.add_softrig(skin)
    cloth = make_cloth(skin)
    follow(skin, cloth)
    assert addon.entry_of(skin).steps_scene
    assert bpy.ops.softrig.record() == {"FINISHED"}
    settle(skin)
    assert np.abs(offsets_at(cloth, BUSY)).max() > 0.05
    for frame in FRAMES:
        assert measure.largest(measure.at_frame(cloth, frame), measure.at_frame(skin, frame)) < 2e-6


def test_a_follower_without_size_stands_still_and_the_others_do_not(skin: Any) -> None:
    cloth, flat = make_cloth(skin), make_ball("Flat")
    flat.scale = (0.0, 0.0, 0.0)
    follow(skin, cloth, flat)
    assert "Flat" in addon.entry_of(skin).notice
    assert np.abs(offsets_at(cloth, BUSY)).max() > 0.05
    flat.scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    settle(skin)
    assert not addon.entry_of(skin).notice
    assert np.abs(offsets_at(flat, BUSY)).max() > 0.0


def test_what_is_edited_is_read_after_editing(skin: Any) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    before = offsets_at(cloth, BUSY)
    scenes.make_active(cloth)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.frame_set(3)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0.0, 0.0, 0.5))
    bpy.ops.object.mode_set(mode="OBJECT")
    settle(skin)
    after = offsets_at(cloth, BUSY)
    assert np.abs(after - before).max() > 0.01


@pytest.mark.parametrize("rigid", [False, True])
def test_points_that_a_script_moves_are_read_again(skin: Any, rigid: bool) -> None:
    """In Object Mode, where nothing but Blender's own word tells of it."""
    cloth = make_cloth(skin)
    cloth.softrig.rigid = rigid
    follow(skin, cloth)
    before = offsets_at(cloth, BUSY)
    for vertex in cloth.data.vertices:
        vertex.co.z += 0.5
    cloth.data.update()
    bpy.context.view_layer.update()
    settle(skin)
    assert np.abs(offsets_at(cloth, BUSY) - before).max() > 0.01


def test_sculpted_or_with_other_vertices_it_goes_on(skin: Any) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    scenes.make_active(cloth)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    settle(skin)
    assert len(measure.at_frame(cloth, BUSY)) == 3 * len(cloth.data.vertices)
    assert np.abs(offsets_at(cloth, BUSY)).max() > 0.05


def test_time_remapping_and_pre_roll_hold_for_followers(skin: Any, scene: Any) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    skin.softrig.pre_roll_mode = "RUN_IN"
    scene.render.frame_map_new = 150
    settle(skin)
    for frame in (1, 20, 33):
        assert measure.largest(measure.at_frame(cloth, frame), measure.at_frame(skin, frame)) < 2e-6


def test_a_farm_bakes_followers_too_and_their_files_are_put_on(
    skin: Any, tmp_path: Path, capfd: Any
) -> None:
    cloth = make_cloth(skin)
    follow(skin, cloth)
    live = {frame: measure.at_frame(cloth, frame) for frame in FRAMES}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    capfd.readouterr()
    assert bpy.ops.softrig.farm(output=str(tmp_path / "farm")) == {"FINISHED"}
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    done = next(event for event in map(json.loads, lines) if event["event"] == "done")
    (path,) = done["followers"]
    assert {p.name for p in (tmp_path / "farm").iterdir()} == {
        Path(path).name,
        Path(done["path"]).name,
    }
    # without its own file it does not keep the offsets of one frame
    scenes.make_active(skin)
    assert bpy.ops.softrig.use_bake(filepath=done["path"]) == {"FINISHED"}
    assert np.abs(offsets_at(cloth, BUSY)).max() == 0.0
    scene = bpy.context.scene
    (problem,) = addon.module("blender.rendering").make_ready(addon.session(), scene)
    assert problem.startswith("Cloth: ")
    scenes.make_active(cloth)
    assert bpy.ops.softrig.use_bake(filepath=path) == {"FINISHED"}
    assert not addon.module("blender.rendering").make_ready(addon.session(), scene)
    for frame in FRAMES:
        assert measure.same_bits(measure.at_frame(cloth, frame), live[frame])


def test_what_is_rendered_is_what_plain_meshes_at_the_same_places_show(
    skin: Any, tmp_path: Path
) -> None:
    """An unbaked render in background, of the follower alone."""
    cloth, scene = make_cloth(skin), bpy.context.scene
    follow(skin, cloth)
    skin.hide_render = True
    scene.world = bpy.data.worlds.new("World")
    camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.location, camera.rotation_euler = (4.0, -9.0, 1.0), (np.pi / 2, 0, 0)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 96
    scene.frame_set(BUSY)
    points = measure.at_frame(cloth, BUSY)

    def render(name: str) -> np.ndarray:
        scene.render.filepath = str(tmp_path / name)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath + ".png")
        return np.array(image.pixels[:])

    ours = render("ours")
    plain = scenes.link(bpy.data.objects.new("Plain", skin.data.copy()))
    plain.matrix_world = cloth.matrix_world.copy()
    plain.data.vertices.foreach_set("co", points)
    cloth.hide_render = True
    expected = render("plain")
    assert np.abs(ours - expected).max() < 0.02
    cloth.hide_render, plain.hide_render = False, True
    cloth.modifiers["Softrig"].show_render = False
    assert np.abs(render("without") - expected).max() > 0.1
