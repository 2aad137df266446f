# SPDX-License-Identifier: GPL-3.0-or-later
"""A render shows the cache, motion blur too, or it leaves before its first frame and says why."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, child, measure, scenes

FRAMES = (21, 23, 25)
SHUTTER = 0.5
SIZE = 64


def set_up(scene: Any, folder: Path) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.seed = "CPU", 16, 5
    scene.cycles.use_denoising = scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, SHUTTER
    scene.render.image_settings.file_format = "PNG"
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.location, camera.rotation_euler = (4.0, -10.0, 1.0), (1.5708, 0.0, 0.0)
    sun = scenes.link(bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN")))
    sun.data.energy, sun.rotation_euler = 3.0, (0.7, 0.3, 0.0)
    scene.camera = camera
    scene.render.filepath = str(folder / "frame_")


def render(scene: Any, folder: Path, name: str) -> np.ndarray:
    """The three frames, as floats."""
    pictures = []
    for frame in FRAMES:
        scene.frame_set(frame)
        scene.render.filepath = str(folder / f"{name}_{frame}.png")
        bpy.ops.render.render(write_still=True)
        picture = bpy.data.images.load(scene.render.filepath)
        pictures.append(np.array(picture.pixels[:]).reshape(SIZE, SIZE, 4)[:, :, :3])
        bpy.data.images.remove(picture)
    return np.stack(pictures)


def in_world(skin: Any, frame: float) -> np.ndarray:
    positions = measure.at_frame(skin, frame).reshape(-1, 3)
    matrix = np.array(skin.matrix_world)
    return positions @ matrix[:3, :3].T + matrix[:3, 3]


def make_plain(skin: Any) -> Any:
    """A mesh without us that holds the same positions wherever the shutter opens and closes."""
    times = [f + part * SHUTTER for f in FRAMES for part in (-0.5, 0.0, 0.5)]
    places = {time: in_world(skin, time).astype(np.float32) for time in times}
    mesh = skin.data.copy()
    plain = scenes.link(bpy.data.objects.new("Plain", mesh))
    mesh.vertices.foreach_set("co", places[FRAMES[0]].reshape(-1))
    plain.shape_key_add(name="Basis")
    for number, time in enumerate(times):
        key = plain.shape_key_add(name=str(number), from_mix=False)
        key.data.foreach_set("co", places[time].reshape(-1))
        for other in range(max(number - 1, 0), min(number + 2, len(times))):
            key.value = float(other == number)
            key.keyframe_insert("value", frame=times[other])
    for curve in addon.module("blender.actions").find_curves(mesh.shape_keys):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return plain


@pytest.mark.parametrize("baked", [False, True])
def test_motion_blur_is_that_of_plain_meshes_at_the_same_places(
    skin: Any, scene: Any, tmp_path: Path, baked: bool
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    set_up(scene, tmp_path)
    plain = make_plain(skin)
    if baked:
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    plain.hide_render = True
    ours = render(scene, tmp_path, "ours")
    skin.modifiers["Softrig"].show_render = False
    stiff = render(scene, tmp_path, "stiff")
    skin.modifiers["Softrig"].show_render = True
    scene.render.use_motion_blur = False
    sharp = render(scene, tmp_path, "sharp")
    scene.render.use_motion_blur = True
    skin.hide_render, plain.hide_render = True, False
    theirs = render(scene, tmp_path, "theirs")
    difference = np.abs(ours - theirs)
    print("ours - theirs:", difference.mean(), difference.max())
    print("ours - stiff, sharp:", np.abs(ours - stiff).mean(), np.abs(ours - sharp).mean())
    # rays at the silhouette hit or miss by the last bit of a position
    assert difference.mean() < 2e-4
    assert np.abs(ours - stiff).mean() > 20 * difference.mean()
    assert np.abs(ours - sharp).mean() > 20 * difference.mean()


RENDER = (
    "import bpy; s = bpy.context.scene; s.frame_start, s.frame_end = 21, 22; {} "
    "bpy.ops.render.render(animation=True)"
)


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (
            "s.objects['Skin'].modifiers.new('S', 'SUBSURF'); o = s.objects['Skin']; "
            "bpy.context.view_layer.objects.active = o; "
            "[bpy.ops.object.modifier_move_up(modifier='S') for _ in range(2)];",
            "stands before Softrig",
        ),
        (
            "r = s.objects['Skin Rig']; r.location.x = 1e30; r.animation_data_clear();",
            "away",
        ),
    ],
)
def test_what_cannot_be_shown_leaves_before_the_first_frame(
    skin: Any, scene: Any, tmp_path: Path, what: str, sentence: str
) -> None:
    set_up(scene, tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    code, text = child.run(tmp_path / "shot.blend", RENDER.format(what))
    assert code == 1, text
    assert sentence in text and "nothing was rendered" in text
    assert not list(tmp_path.glob("frame_*"))


@pytest.mark.parametrize("changed", ["Skin", "Cloth"])
def test_other_vertices_than_the_bake_has_are_told(
    skin: Any, scene: Any, tmp_path: Path, changed: str
) -> None:
    cloth = scenes.link(bpy.data.objects.new("Cloth", skin.data.copy()))
    scenes.make_active(skin)
    cloth.select_set(True)
    assert bpy.ops.softrig.follow() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    make_ready = addon.module("blender.rendering").make_ready
    assert not make_ready(addon.session(), scene)
    bpy.data.objects[changed].data.vertices.add(3)
    (found,) = make_ready(addon.session(), scene)
    count = len(bpy.data.objects[changed].data.vertices)
    assert found.startswith(f"{changed}: the mesh has {count} vertices now")


def test_a_missing_bake_leaves_before_the_first_frame(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    set_up(scene, tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.softrig.bake()
    bpy.ops.wm.save_mainfile()
    code, text = child.run(tmp_path / "shot.blend", RENDER.format(""))
    assert code == 0, text
    pictures = sorted(tmp_path.glob("frame_*"))
    assert len(pictures) == 2
    for path in (*pictures, *(tmp_path / "softrig").iterdir()):
        path.unlink()
    code, text = child.run(tmp_path / "shot.blend", RENDER.format(""))
    assert code == 1 and "the bake is missing" in text, text
    assert not list(tmp_path.glob("frame_*"))
    # who hides it, or switches Softrig off, wants the rest of the picture
    hidden = RENDER.format("s.objects['Skin'].hide_render = True;")
    code, text = child.run(tmp_path / "shot.blend", hidden)
    assert code == 0, text


def test_a_live_frame_after_the_shot_leaves_before_it_is_drawn(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    set_up(scene, tmp_path)
    scene.frame_set(scenes.LAST_FRAME + 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    still = "import bpy; bpy.ops.render.render(write_still=True)"
    code, text = child.run(tmp_path / "shot.blend", still)
    told = f"frame {scenes.LAST_FRAME + 1} is not there, the shot ends with {scenes.LAST_FRAME}"
    assert code == 1 and told in text, text
    assert not list(tmp_path.glob("frame_*"))


def test_a_bake_of_some_frames_leaves_before_the_first_that_it_has_not(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    set_up(scene, tmp_path)
    skin.softrig.bake_range, skin.softrig.bake_first, skin.softrig.bake_last = "OWN", 20, 21
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    code, text = child.run(tmp_path / "shot.blend", RENDER.format(""))
    assert code == 1 and "frame 22 is not there, the bake has frames 20 to 21" in text, text
    assert [path.name for path in tmp_path.glob("frame_*")] == ["frame_0021.png"]
    for path in tmp_path.glob("frame_*"):
        path.unlink()
    # the command line tells in advance that it is the scene's range that is rendered
    begin = (RENDER.format(""), "-a") if child.IS_MODULE else ("", "-s", "21", "-e", "22", "-a")
    code, text = child.run(tmp_path / "shot.blend", *begin)
    assert code == 1 and "frame 22 is not there" in text and "nothing was rendered" in text, text
    assert not list(tmp_path.glob("frame_*"))
    early = RENDER.format("s.frame_start = 19;")
    code, text = child.run(tmp_path / "shot.blend", early)
    assert code == 1 and "frame 19 is not there" in text, text


KEEP = """
import bpy, numpy as np
s = bpy.context.scene
s.render.use_motion_blur = False  # whole frames alone
seen = {{}}
def look(scene, depsgraph):
    if depsgraph.mode == 'RENDER':
        mesh = bpy.data.objects[{name!r}].evaluated_get(depsgraph).data
        seen[str(scene.frame_current)] = np.array([v.co for v in mesh.vertices])
bpy.app.handlers.frame_change_post.append(look)
{change}
bpy.ops.render.render(animation=True)
np.savez({out!r}, **seen)
"""


def render_apart(path: Path, name: str, change: str) -> tuple[int, str, dict[str, np.ndarray]]:
    """By another Blender: exit code, what it said, and the shapes that its render saw."""
    out = path.with_suffix(".npz")
    out.unlink(missing_ok=True)
    code, text = child.run(path, KEEP.format(name=name, change=change, out=str(out)))
    shapes = dict(np.load(out)) if out.exists() else {}
    return code, text, shapes


def offset_from(shape: np.ndarray, expected: np.ndarray) -> float:
    return measure.largest(shape.reshape(-1), expected)


@pytest.mark.parametrize("loop", ["NONE", "FIRST_FOLLOWS_LAST"])
def test_a_share_of_the_frames_is_that_of_the_whole_shot(
    skin: Any, scene: Any, tmp_path: Path, loop: str
) -> None:
    """As farms split an unbaked shot: each machine renders another range of frames."""
    set_up(scene, tmp_path)
    skin.softrig.loop = loop
    measure.at_frame(skin, scenes.LAST_FRAME)
    live = measure.at_frame(skin, 22)
    assert measure.largest(live, measure.without_us(skin)) > 0.1
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    share = "s.frame_start, s.frame_end = 21, 22"
    code, text, shapes = render_apart(tmp_path / "shot.blend", "Skin", share)
    assert code == 0, text
    assert offset_from(shapes["22"], live) < 1e-6
    # what reaches past it goes on from it; what loops has the frames of the file
    if loop == "NONE":
        scene.frame_end = scenes.LAST_FRAME + 5
        longer = measure.at_frame(skin, scenes.LAST_FRAME + 5)
    code, text, shapes = render_apart(
        tmp_path / "shot.blend", "Skin", "s.frame_start, s.frame_end = 39, 41"
    )
    assert code == 0 and "41" in shapes, text
    if loop == "NONE":
        past = f"s.frame_start, s.frame_end = {scenes.LAST_FRAME}, {scenes.LAST_FRAME + 5}"
        code, text, shapes = render_apart(tmp_path / "shot.blend", "Skin", past)
        assert offset_from(shapes[str(scenes.LAST_FRAME + 5)], longer) < 1e-6


def test_who_comes_into_sight_later_is_ready_or_there_is_no_render(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    set_up(scene, tmp_path)
    live = measure.at_frame(skin, 22)
    for frame, is_hidden in ((1, True), (22, False)):
        skin.hide_render = is_hidden
        skin.keyframe_insert("hide_render", frame=frame)
    scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    share = "s.frame_start, s.frame_end = 20, 22"
    code, text, shapes = render_apart(tmp_path / "shot.blend", "Skin", share)
    assert code == 0, text
    assert offset_from(shapes["22"], live) < 1e-6
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    for path in (*tmp_path.glob("frame_*"), *(tmp_path / "softrig").iterdir()):
        path.unlink()
    code, text, shapes = render_apart(tmp_path / "shot.blend", "Skin", share)
    assert code == 1 and "the bake is missing" in text, text
    assert not list(tmp_path.glob("frame_*"))


def show_by_nodes(skin: Any) -> Any:
    tree = bpy.data.node_groups.new("Shows", "GeometryNodeTree")
    compat = addon.module("blender.compat")
    compat.add_socket(tree, "Geometry", "NodeSocketGeometry", output=True)
    info, out = tree.nodes.new("GeometryNodeObjectInfo"), tree.nodes.new("NodeGroupOutput")
    info.inputs["Object"].default_value = skin
    tree.links.new(info.outputs["Geometry"], out.inputs[0])
    shower = scenes.link(bpy.data.objects.new("Shower", bpy.data.meshes.new("Shower")))
    shower.modifiers.new("Shows", "NODES").node_group = tree
    return shower


def follow_by_surface(skin: Any) -> Any:
    rider = scenes.link(bpy.data.objects.new("Shower", skin.data.copy()))
    rider.modifiers.new("Shows", "SURFACE_DEFORM").target = skin
    return rider


@pytest.mark.parametrize("shown_by", [show_by_nodes, follow_by_surface])
def test_a_hidden_character_that_others_are_made_from_is_asked_for(
    skin: Any, scene: Any, tmp_path: Path, shown_by: Any
) -> None:
    set_up(scene, tmp_path)
    shown_by(skin)
    skin.hide_render = True
    scenes.make_active(skin)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    rendering = addon.module("blender.rendering")
    assert not rendering.find_problems(addon.session(), scene)
    for path in (tmp_path / "softrig").iterdir():
        path.unlink()
    (problem,) = rendering.find_problems(addon.session(), scene)
    assert "the bake is missing" in problem
    bpy.data.objects["Shower"].hide_render = True
    assert not rendering.find_problems(addon.session(), scene)


def compose(scene: Any) -> Any:
    """A scene in front that shows the other's picture in its compositor alone."""
    front = bpy.data.scenes.new("Front")
    set_up(front, Path(scene.render.filepath).parent)
    front.frame_end = scene.frame_end
    if hasattr(front, "compositing_node_group"):
        tree = bpy.data.node_groups.new("Front", "CompositorNodeTree")
        front.compositing_node_group = tree
        tree.interface.new_socket("Image", in_out="OUTPUT", socket_type="NodeSocketColor")
        end = tree.nodes.new("NodeGroupOutput")
    else:
        front.use_nodes = True
        tree = front.node_tree
        tree.nodes.clear()
        end = tree.nodes.new("CompositorNodeComposite")
    layers = tree.nodes.new("CompositorNodeRLayers")
    layers.scene = scene
    tree.links.new(layers.outputs[0], end.inputs[0])
    bpy.context.window.scene = front
    return front


def test_what_a_compositor_shows_is_ready_or_there_is_no_render(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    set_up(scene, tmp_path)
    live = measure.at_frame(skin, 22)
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    compose(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    addon.module("blender.takes").free(skin)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    share = "s.frame_start, s.frame_end = 21, 22"
    code, text, shapes = render_apart(path, "Skin", share)
    assert code == 0, text
    assert offset_from(shapes["22"], live) < 1e-6
    for baked in (tmp_path / "softrig").iterdir():
        baked.unlink()
    code, text, shapes = render_apart(tmp_path / "baked.blend", "Skin", share)
    assert code == 1 and "Skin: the bake is missing" in text and not shapes, text
    muted = f"{share}; [setattr(n, 'mute', True) for t in TREES for n in t.nodes]".replace(
        "TREES", "(getattr(s, 'compositing_node_group', None) or s.node_tree,)"
    )
    code, text, shapes = render_apart(tmp_path / "baked.blend", "Skin", muted)
    assert code == 0, text


def show_as_particle(skin: Any) -> Any:
    shower = scenes.link(bpy.data.objects.new("Shower", skin.data.copy()))
    shower.modifiers.new("Hair", "PARTICLE_SYSTEM")
    settings = shower.particle_systems[0].settings
    settings.type, settings.count = "HAIR", 2
    settings.render_type, settings.instance_object = "OBJECT", skin
    skin.use_fake_user = True  # particles do not keep it in the file
    return shower


@pytest.mark.parametrize("shown_by", [show_by_nodes, show_as_particle])
def test_a_character_that_only_others_show_moves(
    skin: Any, scene: Any, tmp_path: Path, shown_by: Any
) -> None:
    """It is in no scene and in no collection."""
    set_up(scene, tmp_path)
    live = measure.at_frame(skin, 22)
    assert measure.largest(live, measure.without_us(skin)) > 0.1
    shown_by(skin)
    scene.collection.objects.unlink(skin)
    assert not skin.users_scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    code, text, shapes = render_apart(
        tmp_path / "shot.blend", "Skin", "s.frame_start, s.frame_end = 21, 22"
    )
    assert code == 0 and "22" in shapes, text
    assert offset_from(shapes["22"], live) < 1e-6
    code, text = child.run(tmp_path / "shot.blend", "import bpy; bpy.ops.softrig.farm(save=True)")
    assert code == 0, text
    for path in (tmp_path / "softrig").iterdir():
        path.unlink()
    code, text, _ = render_apart(tmp_path / "shot.blend", "Skin", "s.frame_end = 2")
    assert code == 1 and "the bake is missing" in text, text
