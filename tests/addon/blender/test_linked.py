# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that are linked, shown by an instance, or both: they move, or it is said why they do
not, and no frame is rendered."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, child, measure, scenes
from test_everyday import moves
from test_override import without_any
from test_render_ready import RENDER, set_up

LOOKED_AT = 24
"""Shortly after the rig's stop."""
BESIDE = (0.0, 5.0, 0.0)


def put_into_collection(scene: Any, *obs: Any) -> Any:
    collection = bpy.data.collections.new("Char")
    scene.collection.children.link(collection)
    for ob in obs:
        scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    return collection


def show_by_empty(collection: Any) -> Any:
    empty = scenes.link(bpy.data.objects.new("Place", None))
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    empty.location = BESIDE
    return empty


def link_collection(library: Path) -> tuple[Any, Any]:
    scene = scenes.start_empty()
    with bpy.data.libraries.load(str(library), link=True) as (_, target):
        target.collections = ["Char"]
    return scene, target.collections[0]


def by_collection(library: Path) -> Any:
    scene, collection = link_collection(library)
    scene.collection.children.link(collection)
    return collection.all_objects["Skin"]


def by_inner_collection(library: Path) -> Any:
    scene, collection = link_collection(library)
    outer = bpy.data.collections.new("Outer")
    scene.collection.children.link(outer)
    outer.children.link(collection)
    return collection.all_objects["Skin"]


def by_object(library: Path) -> Any:
    _, collection = link_collection(library)
    for ob in collection.all_objects:
        scenes.link(ob)
    return collection.all_objects["Skin"]


def by_instance(library: Path) -> Any:
    return show_by_empty(link_collection(library)[1])


def by_instance_in_instance(library: Path) -> Any:
    inner = by_instance(library)
    outer = bpy.data.collections.new("Outer")
    outer.objects.link(inner)
    bpy.context.scene.collection.objects.unlink(inner)
    return show_by_empty(outer)


def by_override(library: Path) -> Any:
    """As Blender's own command does it; 3.4 makes an override of the carrier too."""
    empty = by_instance(library)
    scenes.make_active(empty)
    bpy.ops.object.make_override_library()
    return next(ob for ob in bpy.context.scene.objects if ob.type == "MESH")


WAYS = (by_collection, by_object, by_instance, by_instance_in_instance, by_override)
Way = Callable[[Path], Any]


@pytest.fixture
def library(skin: Any, scene: Any, tmp_path: Path) -> Path:
    """A file with a character in a collection."""
    put_into_collection(scene, skin, skin.parent)
    (tmp_path / "library").mkdir()
    path = tmp_path / "library" / "character.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def baked(library: Path) -> Path:
    scenes.make_active(bpy.data.objects["Skin"])
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    return library


def shown(frame: int = LOOKED_AT) -> tuple[np.ndarray, tuple[float, ...]]:
    """The only mesh that the scene shows, and where."""
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = [
        (measure.evaluated(i.object, depsgraph), tuple(i.matrix_world.translation))
        for i in depsgraph.object_instances
        if i.object.type == "MESH"
    ]
    assert len(found) == 1
    return found[0]


def expected_of(skin: Any) -> np.ndarray:
    assert moves(skin)
    return measure.at_frame(skin, LOOKED_AT)


def problems() -> list[str]:
    scene, session = bpy.context.scene, addon.session()
    return addon.module("blender.rendering").make_ready(session, scene)


def save(path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def reopen(path: Path) -> None:
    save(path)
    bpy.ops.wm.open_mainfile(filepath=str(path))


@pytest.mark.parametrize("way", WAYS)
def test_the_bake_of_the_library_plays(baked: Path, tmp_path: Path, way: Way) -> None:
    expected = expected_of(bpy.data.objects["Skin"])
    way(baked)
    reopen(tmp_path / "shot.blend")
    assert measure.same_bits(shown()[0], expected)
    assert not problems() and not addon.session().still


@pytest.mark.parametrize("way", WAYS)
def test_without_a_bake_or_with_a_lost_one_it_is_told(
    baked: Path, tmp_path: Path, way: Way
) -> None:
    """By name, file and what to do; in the log, in the panel and before a render."""
    bake = next((baked.parent / "softrig").glob("*.pc2"))
    bake.unlink()
    way(baked)
    reopen(tmp_path / "shot.blend")
    (found,) = problems()
    assert found.startswith("Skin") and str(bake) in found and str(baked) in found
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    scenes.make_active(bpy.data.objects["Skin"])
    bpy.ops.softrig.free_bake()
    save(baked)
    way(baked)
    reopen(tmp_path / "shot.blend")
    (found,) = problems()
    assert found.startswith("Skin") and str(baked) in found and "press" in found
    told = addon.module("model.schedule").fingerprint(addon.session())
    assert found in [f"{name}: {text}" for name, text in told], "the panel is drawn anew"


@pytest.mark.parametrize("way", [by_collection, by_instance, by_override])
def test_a_render_in_background_leaves_before_its_first_frame(
    library: Path, tmp_path: Path, way: Way
) -> None:
    way(library)
    set_up(bpy.context.scene, tmp_path)
    save(tmp_path / "shot.blend")
    code, text = child.run(tmp_path / "shot.blend", RENDER.format(""))
    assert code == 1, text
    assert "Softrig: Skin" in text and str(library) in text and "nothing was rendered" in text
    assert not list(tmp_path.glob("frame_*"))


def test_who_is_not_rendered_is_not_missed(library: Path) -> None:
    empty = by_instance(library)
    assert problems()
    empty.hide_render = True
    assert not problems()
    empty.hide_render = False
    outer = bpy.data.collections.new("Outer")
    bpy.context.scene.collection.children.link(outer)
    outer.objects.link(empty)
    bpy.context.scene.collection.objects.unlink(empty)
    assert problems()
    outer.hide_render = True
    assert not problems()
    outer.hide_render = False
    bpy.context.view_layer.layer_collection.children["Outer"].exclude = True
    assert not problems()


@pytest.mark.parametrize("way", [by_collection, by_inner_collection, by_object, by_instance])
def test_the_button_makes_an_override_that_moves_where_it_stood(
    library: Path, tmp_path: Path, way: Way
) -> None:
    expected = expected_of(bpy.data.objects["Skin"])
    chosen = way(library)
    save(tmp_path / "shot.blend")
    place = shown()[1]
    scenes.make_active(chosen)
    assert bpy.ops.softrig.override() == {"FINISHED"}
    for _ in range(2):
        points, found = shown()
        assert measure.largest(points, expected) < 1e-6
        assert found == pytest.approx(place)
        assert not problems() and not addon.session().still
        reopen(tmp_path / "shot.blend")
    skin = next(ob for ob in bpy.data.objects if ob.name == "Skin" and ob.library is None)
    before = shown()[0]
    skin.softrig.softness = 0.9
    assert measure.largest(shown()[0], before) > 1e-4, "its dials are its own"


def cut_edges(skin: Any) -> None:
    scenes.make_active(skin)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")


def move_vertex(skin: Any) -> None:
    skin.data.vertices[30].co.x += 0.3


@pytest.mark.parametrize("is_baked", [False, True])
@pytest.mark.parametrize("change", [move_vertex, cut_edges])
def test_an_override_meets_what_its_library_became(
    library: Path, tmp_path: Path, change: Callable[[Any], None], is_baked: bool
) -> None:
    scenes.make_active(by_collection(library))
    assert bpy.ops.softrig.override() == {"FINISHED"}
    save(tmp_path / "shot.blend")
    before = shown()[0]
    if is_baked:
        scenes.make_active(next(ob for ob in bpy.context.scene.objects if ob.type == "MESH"))
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(library))
    change(bpy.data.objects["Skin"])
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    skin = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH")
    if is_baked and change == cut_edges:
        (found,) = problems()
        assert f"the mesh has {len(skin.data.vertices)} vertices now" in found
        scenes.make_active(skin)
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert not problems()
    points = shown()[0]
    assert not measure.same_bits(points, before), "the edit is there"
    if not is_baked:
        scenes.make_active(skin)
        bpy.ops.softrig.prepare()
        assert measure.same_bits(shown()[0], points)


def test_the_button_is_offered_for_what_stands_still_alone(library: Path) -> None:
    scenes.make_active(by_instance(library))
    assert bpy.ops.softrig.override.poll()
    assert not bpy.ops.softrig.remove.poll() and not bpy.ops.softrig.bake.poll()
    scenes.start_empty()
    assert not bpy.ops.softrig.override.poll()


def test_followers_come_along(skin: Any, scene: Any, tmp_path: Path) -> None:
    cloth = scenes.link(bpy.data.objects.new("Cloth", skin.data.copy()))
    scenes.make_active(skin)
    cloth.select_set(True)
    assert bpy.ops.softrig.follow() == {"FINISHED"}
    put_into_collection(scene, skin, skin.parent, cloth)
    expected = [measure.at_frame(ob, LOOKED_AT) for ob in (skin, cloth)]
    assert moves(cloth)
    save(tmp_path / "character.blend")
    scenes.make_active(by_instance(tmp_path / "character.blend"))
    assert len(problems()) == 2
    assert bpy.ops.softrig.override() == {"FINISHED"}
    reopen(tmp_path / "shot.blend")
    for name, points in zip(("Skin", "Cloth"), expected, strict=True):
        ob = next(ob for ob in bpy.context.scene.objects if ob.name == name)
        assert measure.largest(measure.at_frame(ob, LOOKED_AT), points) < 1e-6, name
    assert not problems() and not addon.session().still


def test_a_farm_names_who_cannot_be_baked_here(library: Path, tmp_path: Path, capfd: Any) -> None:
    by_instance(library)
    save(tmp_path / "shot.blend")
    with pytest.raises(RuntimeError):
        bpy.ops.softrig.farm()
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line[:1] == "{"]
    (failed,) = [line for line in told if line["event"] == "failed"]
    assert failed["message"].startswith("Skin") and str(library) in failed["message"]
    assert told[-1] == {"event": "end", "ok": False, "baked": 0, "failed": 1}


def test_what_was_made_local_without_its_carrier_is_told_and_can_move(library: Path) -> None:
    skin = by_object(library)
    scenes.make_active(skin)
    skin.select_set(True)
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    skin = next(ob for ob in bpy.context.scene.objects if ob.name == "Skin")
    assert skin.library is None
    (found,) = problems()
    assert found.startswith("Skin: ") and "press Add Softrig" in found
    scenes.make_active(skin)
    assert bpy.ops.softrig.add() == {"FINISHED"}
    assert measure.largest(measure.at_frame(skin, LOOKED_AT), without_any(skin)) > 0.01
    assert not problems()


@pytest.mark.parametrize("is_baked", [False, True])
def test_a_character_of_this_file_moves_in_an_instance(
    skin: Any, scene: Any, tmp_path: Path, is_baked: bool
) -> None:
    expected = expected_of(skin)
    save(tmp_path / "shot.blend")
    if is_baked:
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    collection = put_into_collection(scene, skin, skin.parent)
    scene.collection.children.unlink(collection)
    show_by_empty(collection)
    assert measure.same_bits(shown()[0], expected)
    reopen(tmp_path / "shot.blend")
    assert measure.same_bits(shown()[0], expected)
    assert not problems()
    skin, scene = bpy.data.objects["Skin"], bpy.context.scene
    skin.softrig.softness = 0.9
    assert is_baked or measure.largest(shown()[0], expected) > 1e-4
    assert bpy.ops.softrig.bake_all() == {"FINISHED"}
    assert not problems()
    bpy.data.objects.remove(bpy.data.objects["Place"])
    scene.frame_set(1)
    assert skin.softrig.uuid not in addon.session().entries, "nothing shows it any more"


def in_background(skin: Any) -> Any:
    """Another scene, which has that of the skin behind it."""
    other = bpy.data.scenes.new("Before")
    other.background_set = skin.users_scene[0]
    return other


def in_an_instance_there(skin: Any) -> Any:
    """Another scene, which shows the skin's collection."""
    collection = put_into_collection(skin.users_scene[0], skin, skin.parent)
    other = bpy.data.scenes.new("Beside")
    empty = bpy.data.objects.new("Place", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    other.collection.objects.link(empty)
    return other


@pytest.mark.parametrize("last", [scenes.LAST_FRAME, 30])
@pytest.mark.parametrize("make", [in_background, in_an_instance_there])
def test_another_scene_that_shows_it_shows_it_moving(skin: Any, make: Any, last: int) -> None:
    expected = expected_of(skin)
    other = make(skin)
    other.frame_start, other.frame_end, other.render.fps = 1, last, 24
    skin.users_scene[0].frame_set(1)
    bpy.context.window.scene = other
    other.frame_set(1)  # 3.4 lets nothing be recorded at a scene's first frame
    assert not addon.module("blender.rendering").make_ready(addon.session(), other)
    other.frame_set(LOOKED_AT)
    points = measure.evaluated(skin, bpy.context.evaluated_depsgraph_get())
    assert measure.largest(points, expected) < 1e-6
    assert skin in addon.module("blender.seen").rendered_in(other)


def new_tree(name: str) -> tuple[Any, Any]:
    """With an output for geometry."""
    compat = addon.module("blender.compat")
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    compat.add_socket(tree, "Geometry", "NodeSocketGeometry", output=True)
    return tree, tree.nodes.new("NodeGroupOutput").inputs[0]


def new_shower(tree: Any) -> Any:
    shower = scenes.link(bpy.data.objects.new("Shower", bpy.data.meshes.new("Shower")))
    shower.modifiers.new("Show", "NODES").node_group = tree
    return shower


def show_by_nodes(collection: Any) -> Any:
    compat = addon.module("blender.compat")
    tree, output = new_tree("Show")
    compat.add_socket(tree, "Collection", "NodeSocketCollection")
    source, info = tree.nodes.new("NodeGroupInput"), tree.nodes.new("GeometryNodeCollectionInfo")
    tree.links.new(source.outputs["Collection"], info.inputs["Collection"])
    tree.links.new(info.outputs[0], output)
    shower = new_shower(tree)
    compat.set_input(shower.modifiers["Show"], "Collection", collection)
    return shower


def show_by_nodes_within(collection: Any) -> Any:
    """Named by a node of a group in the group."""
    inner, output = new_tree("Inner")
    info = inner.nodes.new("GeometryNodeCollectionInfo")
    info.inputs["Collection"].default_value = collection
    inner.links.new(info.outputs[0], output)
    outer, output = new_tree("Outer")
    group = outer.nodes.new("GeometryNodeGroup")
    group.node_tree = inner
    outer.links.new(group.outputs[0], output)
    return new_shower(outer)


def show_by_particles(collection: Any) -> Any:
    shower = scenes.make_skin("Shower", 4)
    shower.modifiers.new("Show", "PARTICLE_SYSTEM")
    settings = shower.particle_systems[0].settings
    settings.count, settings.frame_end = 1, 1.0
    settings.render_type, settings.instance_collection = "COLLECTION", collection
    return shower


@pytest.mark.parametrize("show", [show_by_nodes, show_by_nodes_within, show_by_particles])
def test_whatever_shows_its_collection(skin: Any, scene: Any, show: Any) -> None:
    expected = expected_of(skin)
    collection = put_into_collection(scene, skin, skin.parent)
    scene.collection.children.unlink(collection)
    shower = show(collection)
    bpy.context.view_layer.update()
    scene.frame_set(LOOKED_AT)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = [
        measure.evaluated(i.object.original, depsgraph)
        for i in depsgraph.object_instances
        if i.object.original == skin
    ]
    assert found and all(measure.same_bits(points, expected) for points in found)
    assert skin in addon.module("blender.seen").rendered_in(scene)
    shower.hide_render = True
    assert skin not in addon.module("blender.seen").rendered_in(scene)


def test_turns_do_not_look_at_all_objects(skin: Any, scene: Any, monkeypatch: Any) -> None:
    """Of thousands of them that takes longer than a turn may."""
    collection = put_into_collection(scene, skin, skin.parent)
    scene.collection.children.unlink(collection)
    place = show_by_empty(collection)
    others = [scenes.link(bpy.data.objects.new("Other", None)) for _ in range(50)]
    bpy.context.view_layer.update()
    watch, seen = addon.module("blender.watch"), addon.module("blender.seen")
    session, asked, shown_by = addon.session(), [], seen._shown_by
    watch.look_around(session)
    session.examined_at = session.now()
    monkeypatch.setattr(seen, "_shown_by", lambda ob: (asked.append(ob.name), shown_by(ob))[1])
    watch.tick(session)
    assert set(asked) == {"Place"}
    others[7].instance_type, others[7].instance_collection = "COLLECTION", collection
    bpy.context.view_layer.update()
    place.instance_collection = None
    assert seen.is_in(skin, scene), "who begins to show it is met at once"
    bpy.data.objects.remove(others[7])
    assert not seen.is_in(skin, scene)


def test_an_instance_with_a_lost_bake_leaves_before_the_first_frame(
    skin: Any, scene: Any, tmp_path: Path
) -> None:
    save(tmp_path / "shot.blend")
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    collection = put_into_collection(scene, skin, skin.parent)
    scene.collection.children.unlink(collection)
    show_by_empty(collection)
    set_up(scene, tmp_path)
    bpy.ops.wm.save_mainfile()
    next((tmp_path / "softrig").glob("*.pc2")).unlink()
    code, text = child.run(tmp_path / "shot.blend", RENDER.format(""))
    assert code == 1 and "the bake is missing" in text, text
    assert not list(tmp_path.glob("frame_*"))
