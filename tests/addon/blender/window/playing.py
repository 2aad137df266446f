# SPDX-License-Identifier: GPL-3.0-or-later
"""While Blender plays, everything changes below it; it plays on, and shows what is there."""

import os
from collections.abc import Callable, Iterator

import bpy
import driver
import story
from support import addon, scenes


def note(message: str) -> None:
    bpy.ops.ed.undo_push(message=message)


def rename_everything() -> None:
    bpy.data.objects["Skin Rig"].name = "Other Rig"
    bpy.data.armatures["Skin Rig"].name = "Other Bones"
    bpy.context.scene.name = "Other Scene"


def switch_off_and_on() -> None:
    addon.disable()
    addon.enable()


def install_again() -> None:
    """An upgrade: the old library is at work."""
    bpy.ops.preferences.addon_install(filepath=os.environ["SOFTRIG_ZIP"])
    bpy.ops.preferences.addon_enable(module=addon.NAME)


def turn_dials() -> None:
    settings = story.skin().softrig
    settings.softness, settings.volume = 0.7, 0.2
    settings.gravity_factor = 0.5


def move_a_vertex() -> None:
    """As an edited mesh: the shape is another one."""
    story.skin().data.vertices[0].co.z += 0.2
    story.skin().data.update()


def delete_the_carrier() -> None:
    carrier = addon.module("blender.carrier").find_carrier(story.skin())
    bpy.data.objects.remove(carrier)


def delete_the_rig() -> None:
    bpy.data.objects.remove(bpy.data.objects["Other Rig"])


MISHAPS: tuple[tuple[Callable[[], None], bool], ...] = (
    (turn_dials, True),
    (rename_everything, True),
    (switch_off_and_on, True),
    (install_again, True),
    (move_a_vertex, True),
    (delete_the_carrier, False),
    (delete_the_rig, False),
)
"""And whether it plays a whole shot afterwards by itself."""


def pause() -> Iterator[float]:
    """What changed is recorded when nothing plays: not while it does."""
    yield from driver.key("space")
    yield from driver.wait_until(lambda: not story.is_playing(), "a pause")
    yield 0.5


def start() -> Iterator[float]:
    yield from driver.key("space")
    yield from driver.wait_until(story.is_playing, "playback")
    yield 0.5


def everything_changes_while_it_plays() -> Iterator[float]:
    scenes.start_empty()
    yield 1.0
    scenes.make_character()
    note("a character")
    bpy.ops.softrig.add()
    yield from driver.wait_until(lambda: story.skin().softrig.uuid, "Add Softrig")
    yield from driver.wait_until(story.is_whole, "the shot")
    note("with Softrig")
    for change, is_survived in MISHAPS:
        yield from start()
        change()
        note(change.__name__)
        yield 0.8
        assert story.is_playing(), change.__name__
        yield from pause()
        if is_survived:
            yield from driver.wait_until(story.is_whole, f"the shot after {change.__name__}", 60)
            bpy.context.scene.frame_set(scenes.STOP_FRAME + 2)
            yield 0.3
            assert story.offset() > 1e-3, change.__name__
        else:
            yield from undo_while_it_plays(change.__name__)
    bpy.data.objects.remove(story.skin())
    yield from driver.wait_until(lambda: not addon.session().entries, "forgetting it")


def undo_while_it_plays(what: str) -> Iterator[float]:
    """It was told, and comes back to life."""
    yield from driver.wait_until(lambda: story.entry().state.is_refused, f"a word about {what}")
    yield from start()
    yield from driver.key("ctrl+z")
    yield 0.5
    yield from pause()
    yield from driver.wait_until(story.is_whole, f"the shot after {what} was undone", 60)
    bpy.context.scene.frame_set(scenes.STOP_FRAME + 2)
    yield 0.3
    assert story.offset() > 1e-3, what
    note(f"{what}, undone")
