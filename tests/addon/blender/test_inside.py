# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist wishes of the inside of a mesh: it reaches the cage, is kept and undone."""

from pathlib import Path
from typing import Any

import bmesh
import bpy
import pytest
from support import addon, measure, scenes
from test_files import save

WISHES = {
    "largest_hole": 60.0,
    "sheet_thickness": 3.0,
    "fills_hollows": True,
    "joins_touching": True,
}


def add_mesh(name: str, shape: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    ob = scenes.link(bpy.data.objects.new(name, mesh))
    scenes.rush(ob)
    scenes.make_active(ob)
    return ob


def add_bowls() -> Any:
    """A ball without two caps: holes of 62 % and of 17 % of its size."""
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=32, v_segments=32, radius=1.0)
    caps = [v for v in shape.verts if v.co.z > 0.7 or v.co.z < -0.99]
    bmesh.ops.delete(shape, geom=caps, context="VERTS")
    return add_mesh("Bowls", shape)


def add_touching() -> Any:
    """Two cubes with a slit between them that is much narrower than a cell."""
    shape = bmesh.new()
    for place in (-1.0, 1.01):
        made = bmesh.ops.create_cube(shape, size=2.0)
        bmesh.ops.translate(shape, verts=made["verts"], vec=(place, 0.0, 0.0))
    return add_mesh("Touching", shape)


def report(ob: Any) -> dict[str, Any]:
    """Of what is there now, prepared again if that was due."""
    bpy.context.scene.frame_set(5)
    return addon.entry_of(ob).report


def test_holes_are_closed_up_to_the_size_that_the_artist_says(scene: Any) -> None:
    bowls = add_bowls()
    scenes.add_softrig(bowls)
    assert (report(bowls)["closedHoleCount"], report(bowls)["openRimCount"]) == (1, 1)
    bowls.softrig.largest_hole = 70.0
    assert (report(bowls)["closedHoleCount"], report(bowls)["openRimCount"]) == (2, 0)
    bowls.softrig.largest_hole = 10.0
    assert (report(bowls)["closedHoleCount"], report(bowls)["openRimCount"]) == (0, 2)


def test_touching_pieces_are_joined_if_the_artist_says_so(scene: Any) -> None:
    touching = add_touching()
    scenes.add_softrig(touching)
    assert report(touching)["cagePieceCount"] == 2
    touching.softrig.joins_touching = True
    assert report(touching)["cagePieceCount"] == 1
    touching.softrig.joins_touching = False
    assert report(touching)["cagePieceCount"] == 2


def test_flat_parts_get_the_thickness_that_the_artist_says(scene: Any) -> None:
    assert bpy.ops.mesh.primitive_grid_add() == {"FINISHED"}
    grid = bpy.context.object
    scenes.rush(grid)
    scenes.make_active(grid)
    scenes.add_softrig(grid)
    thin = report(grid)["insideVolume"]
    grid.softrig.sheet_thickness = 4.0
    assert report(grid)["insideVolume"] > 2.0 * thin


@pytest.mark.parametrize("name", WISHES)
def test_another_wish_prepares_again_and_the_old_one_back(skin: Any, name: str) -> None:
    expected, entry = measure.at_frame(skin, 24), addon.entry_of(skin)
    key, before = entry.key, getattr(skin.softrig, name)
    setattr(skin.softrig, name, WISHES[name])
    measure.at_frame(skin, 24)
    assert addon.entry_of(skin).key != key
    setattr(skin.softrig, name, before)
    assert measure.same_bits(measure.at_frame(skin, 24), expected)
    assert addon.entry_of(skin).key == key


def test_wishes_are_saved_and_what_was_prepared_for_them_is_opened(
    scene: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touching = add_touching()
    touching.softrig.joins_touching = True
    scenes.add_softrig(touching)
    key = addon.entry_of(touching).key
    path = save(tmp_path)
    api = addon.session().api
    monkeypatch.setattr(api, "create_character", forbidden)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = bpy.data.objects["Touching"]
    assert report(again)["cagePieceCount"] == 1
    assert again.softrig.joins_touching and addon.entry_of(again).key == key


def forbidden(*_: Any) -> None:
    raise AssertionError("it was prepared again")


def test_a_mesh_that_numbers_cannot_hold_is_told_to_stay_near_its_origin(scene: Any) -> None:
    assert bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3) == {"FINISHED"}
    ball = bpy.context.object
    for vertex in ball.data.vertices:
        vertex.co.x += 1e7
    scenes.rush(ball)
    scenes.make_active(ball)
    with pytest.raises(RuntimeError, match="cannot hold its shape") as told:
        scenes.add_softrig(ball)
    assert "holes" not in str(told.value)
