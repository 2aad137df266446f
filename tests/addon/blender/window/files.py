# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and history in the window: a save that fails, a character of another file that is let move,
and undo of what our timer has answered meanwhile."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy
import driver
import story
from support import addon, measure, scenes

LOOKED_AT = scenes.STOP_FRAME + 4


def begin() -> Iterator[float]:
    scenes.start_empty()
    yield 1.0
    scenes.make_character()
    scenes.add_softrig(story.skin())
    yield from driver.wait_until(story.is_whole, "the shot")
    bpy.context.scene.frame_set(LOOKED_AT)
    yield 0.3


def a_failed_save_leaves_what_is_shown() -> Iterator[float]:
    yield from begin()
    shown = story.offset()
    assert shown > 1e-3
    with tempfile.TemporaryDirectory() as folder:
        with suppress(RuntimeError):
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "nowhere" / "shot.blend"))
        assert not list(Path(folder).iterdir())
    yield 0.5
    assert story.offset() == shown


def shown_skin() -> Any:
    """The one that the scene shows, by an instance or itself."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = [i.object.original for i in depsgraph.object_instances if i.object.type == "MESH"]
    assert len(found) == 1, found
    return found[0]


def moves() -> bool:
    skin = shown_skin()
    if skin.library is not None:
        return False
    points = measure.evaluated(skin)
    (modifier,) = [m for m in skin.modifiers if m.type == "NODES" and m.show_viewport]
    modifier.show_viewport = False
    plain = measure.evaluated(skin)
    modifier.show_viewport = True
    return measure.largest(points, plain) > 1e-3


def an_override_moves_is_undone_and_redone() -> Iterator[float]:
    yield from begin()
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder) / "character.blend")
        bpy.ops.wm.save_as_mainfile(filepath=library)
        scene = scenes.start_empty()
        yield 1.0
        with bpy.data.libraries.load(library, link=True) as (_, target):
            target.objects = ["Skin", "Skin Rig"]
        collection = bpy.data.collections.new("Char")
        for ob in target.objects:
            collection.objects.link(ob)
        empty = scenes.link(bpy.data.objects.new("Place", None))
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        scene.frame_set(LOOKED_AT)
        yield from driver.wait_until(lambda: addon.session().still, "a word about the linked one")
        empty.instance_type = "NONE"
        scene.collection.children.link(collection)
        scenes.make_active(shown_skin())
        bpy.ops.ed.undo_push(message="a linked character")
        assert bpy.ops.softrig.override() == {"FINISHED"}
        bpy.ops.ed.undo_push(message="an override")
        yield from driver.wait_until(moves, "the override")
        yield from driver.key("ctrl+z")
        yield from driver.wait_until(lambda: shown_skin().library is not None, "undo")
        yield from driver.wait_until(lambda: not addon.session().entries, "forgetting it")
        yield from driver.key("ctrl+shift+z")
        yield from driver.wait_until(moves, "redo")
        scenes.start_empty()
        yield 1.0


def press_undo() -> None:
    with bpy.context.temp_override(window=driver.window()):
        bpy.ops.ed.undo()


def what_the_timer_answered_is_undone() -> Iterator[float]:
    """It gives the carrier other points, and a copied modifier another carrier, in no step of the
    history. Blender leaves alone what is the same in both steps: nothing of it may read what the
    undo has freed."""
    yield from begin()
    scenes.add_softrig(scenes.make_character("Another", moves=False)[0])
    move = addon.module("blender.compat").move_modifier
    bpy.ops.ed.undo_push(message="two characters")
    yield 0.5
    for _ in range(2):
        bpy.ops.ed.undo_push(message="before")
        yield from driver.wait_until(story.is_whole, "the shot before")
        mirror = story.skin().modifiers.new("Mirror", "MIRROR")
        move(story.skin(), mirror, 0)
        bpy.ops.ed.undo_push(message="a mirror")
        many = 2 * len(story.skin().data.vertices)
        yield from driver.wait_until(lambda m=many: count_points() > m - 60, "its points")
        press_undo()
        yield from driver.wait_until(lambda m=many: count_points() == m // 2, "the old ones")
        yield from driver.wait_until(story.is_whole, "the shot after undo")
    for source, target in (("Skin", "Another"), ("Another", "Skin")):
        one, other = bpy.data.objects[source], bpy.data.objects[target]
        scenes.make_active(one)
        other.select_set(True)
        bpy.ops.ed.undo_push(message="selected")
        assert bpy.ops.object.make_links_data(type="MODIFIERS") == {"FINISHED"}
        bpy.ops.ed.undo_push(message="copied")
        yield from driver.wait_until(are_apart, "a carrier each")
        press_undo()
        assert are_apart()
        yield 0.5
    scenes.start_empty()
    yield 1.0


def count_points() -> int:
    return len(addon.module("blender.carrier").find_carrier(story.skin()).data.vertices)


def are_apart() -> bool:
    find = addon.module("blender.carrier").find_carrier
    return find(bpy.data.objects["Skin"]) != find(bpy.data.objects["Another"])


FILES = (
    a_failed_save_leaves_what_is_shown,
    an_override_moves_is_undone_and_redone,
    what_the_timer_answered_is_undone,
)
