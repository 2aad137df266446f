# SPDX-License-Identifier: GPL-3.0-or-later
"""What was prepared goes with the carrier: nothing is prepared twice, and all move alike."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes
from test_files import save
from test_override import link_override

DATA, KEY = "softrig_prepared", "softrig_prepared_for"


class Counted:
    """How often the library was asked to prepare and to open."""

    def __init__(self, api: Any, monkeypatch: Any) -> None:
        self.prepared = self.opened = 0
        create, opening = api.create_character, api.open_character

        def count_create(data: Any) -> Any:
            self.prepared += 1
            return create(data)

        def count_open(data: bytes) -> Any:
            self.opened += 1
            return opening(data)

        monkeypatch.setattr(api, "create_character", count_create)
        monkeypatch.setattr(api, "open_character", count_open)


@pytest.fixture
def counted(skin: Any, monkeypatch: Any) -> Counted:
    return Counted(addon.session().api, monkeypatch)


def holder(skin: Any) -> Any:
    return addon.module("blender.carrier").find_carrier(skin)


def test_a_loaded_character_is_not_prepared_again(
    skin: Any, counted: Counted, tmp_path: Path
) -> None:
    expected = measure.at_frame(skin, 24)
    bpy.ops.wm.open_mainfile(filepath=save(tmp_path))
    again = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(again, 24), expected)
    assert (counted.prepared, counted.opened) == (0, 1)
    assert addon.entry_of(again).report["nodeCount"] > 0


def test_an_appended_character_is_not_prepared_again(
    skin: Any, counted: Counted, tmp_path: Path
) -> None:
    path, expected = save(tmp_path), measure.at_frame(skin, 24)
    scenes.start_empty()
    with bpy.data.libraries.load(path) as (source, target):
        target.objects = [name for name in source.objects if name in ("Skin", "Skin Rig")]
    for ob in target.objects:
        scenes.link(ob)
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], 24), expected)
    assert (counted.prepared, counted.opened) == (0, 1)


def test_an_override_takes_what_the_linked_file_has(
    skin: Any, counted: Counted, tmp_path: Path
) -> None:
    expected = measure.at_frame(skin, 24)
    save(tmp_path)
    overridden = link_override(tmp_path / "shot.blend")
    scenes.add_softrig(overridden)
    assert measure.same_bits(measure.at_frame(overridden, 24), expected)
    assert (counted.prepared, counted.opened) == (0, 1)
    assert holder(overridden).library is None
    assert DATA in holder(overridden), "once it is here it does not need the other file"


def test_a_duplicate_is_not_prepared_again(skin: Any, counted: Counted) -> None:
    expected = measure.at_frame(skin, 24)
    copied = skin.copy()
    scenes.link(copied)
    bpy.context.view_layer.update()
    addon.module("blender.watch").look_around(addon.session())
    assert measure.same_bits(measure.at_frame(copied, 24), expected)
    assert (counted.prepared, counted.opened) == (0, 1)


def test_prepare_again_prepares(skin: Any, counted: Counted) -> None:
    assert bpy.ops.softrig.prepare() == {"FINISHED"}
    assert (counted.prepared, counted.opened) == (1, 0)


def test_another_mesh_or_cage_is_prepared_and_kept(
    skin: Any, counted: Counted, tmp_path: Path
) -> None:
    key = holder(skin)[KEY]
    skin.softrig.cage_nodes = 300
    expected = measure.at_frame(skin, 24)
    assert counted.prepared == 1
    assert holder(skin)[KEY] != key
    bpy.ops.wm.open_mainfile(filepath=save(tmp_path))
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], 24), expected)
    assert (counted.prepared, counted.opened) == (1, 1)
    loaded = bpy.data.objects["Skin"]
    loaded.data.vertices[0].co.x += 0.25
    path = save(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=path)
    measure.at_frame(bpy.data.objects["Skin"], 24)
    assert counted.prepared == 2, "what is stored is of another mesh"


@pytest.mark.parametrize("damage", ["cut", "bits", "text", "empty"])
def test_damaged_bytes_are_prepared_again(
    skin: Any, counted: Counted, tmp_path: Path, damage: str
) -> None:
    expected, data = measure.at_frame(skin, 24), holder(skin)[DATA]
    middle = len(data) // 2
    changed = bytes([data[middle] ^ 1])
    del holder(skin)[DATA]
    holder(skin)[DATA] = {
        "cut": data[:-64],
        "bits": data[:middle] + changed + data[middle + 1 :],
        "text": "not bytes",
        "empty": b"",
    }[damage]
    bpy.ops.wm.open_mainfile(filepath=save(tmp_path))
    again = bpy.data.objects["Skin"]
    assert measure.same_bits(measure.at_frame(again, 24), expected)
    assert counted.prepared == 1
    assert holder(again)[DATA] == data


def test_undo_brings_back_what_was_kept(skin: Any) -> None:
    data, key = holder(skin)[DATA], holder(skin)[KEY]
    bpy.ops.ed.undo_push(message="before")
    skin.softrig.softness = 0.9
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    again = bpy.data.objects["Skin"]
    assert holder(again)[DATA] == data and holder(again)[KEY] == key


def test_removing_takes_it_away(skin: Any) -> None:
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    assert not any(DATA in ob for ob in bpy.data.objects)


def paint(skin: Any, name: str, weight: float) -> Any:
    group = skin.vertex_groups.new(name=name)
    group.add([v.index for v in skin.data.vertices if v.co.z > 1.0], weight, "REPLACE")
    return group


def test_a_painted_map_changes_the_motion_without_a_new_cage(
    skin: Any, counted: Counted, tmp_path: Path
) -> None:
    before = measure.at_frame(skin, 24)
    paint(skin, "Heavy", 1.0)
    skin.softrig.map_mass = "Heavy"
    heavy = measure.at_frame(skin, 24)
    assert measure.largest(heavy, before) > 1e-4
    skin.softrig.full_mass = 1.0
    assert measure.same_bits(measure.at_frame(skin, 24), before), "once the mass is the same mass"
    skin.softrig.full_mass = 4.0
    assert measure.same_bits(measure.at_frame(skin, 24), heavy)
    assert (counted.prepared, counted.opened) == (0, 0)
    bpy.ops.wm.open_mainfile(filepath=save(tmp_path))
    assert measure.same_bits(measure.at_frame(bpy.data.objects["Skin"], 24), heavy)
    assert (counted.prepared, counted.opened) == (0, 1)


def test_pinned_skin_hardly_leaves_the_pose(skin: Any) -> None:
    measure.at_frame(skin, 24)
    paint(skin, "Still", 1.0)
    skin.softrig.map_pin = "Still"
    shown = measure.at_frame(skin, 24).reshape(-1, 3)
    plain = measure.without_us(skin).reshape(-1, 3)
    pinned = [v.index for v in skin.data.vertices if v.co.z > 1.0]
    moved = np.abs(shown - plain).max(axis=1)
    # the cage stands still there; what smooths the skin lets its border lean a little
    assert moved[pinned].max() < 0.1 * moved.max()


def test_leaving_weight_paint_takes_the_painted_map(skin: Any, counted: Counted) -> None:
    group = paint(skin, "Firm", 0.1)
    skin.softrig.map_stiffness = "Firm"
    before = measure.at_frame(skin, 24)
    scenes.make_active(skin)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    measure.at_frame(skin, 3)
    group.add([v.index for v in skin.data.vertices], 1.0, "REPLACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    after = measure.at_frame(skin, 24)
    assert measure.largest(after, before) > 1e-5
    assert counted.prepared == 0
