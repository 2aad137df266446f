# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in the window: a save that fails, and a character of another file that is let move."""

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
