# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the shot is baked, chosen in the Bake panel by mouse."""

from collections.abc import Callable, Iterator

import bpy
import driver
import story
from support import addon, measure


def bake_options_by_mouse() -> Iterator[float]:
    """The preview range, with positions between frames: the file has just these."""
    scene, carrier = bpy.context.scene, addon.module("blender.carrier")
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 20
    yield 0.5
    yield from driver.wait_until(story.is_whole, "the shot with a preview range")
    scene.frame_set(18)
    live = measure.evaluated(story.skin())
    yield from turn_wheel("bake_range", lambda: story.skin().softrig.bake_range == "PREVIEW")
    yield from driver.drag_dial("bake_subframes", 40)
    between = story.skin().softrig.bake_subframes
    assert between > 0, "the mouse turned nothing"
    yield from driver.screenshot("6-bake-options")
    yield from driver.press_button("bpy.ops.softrig.bake()")
    yield from driver.wait_until(lambda: carrier.find_bake(story.skin()), "the bake")
    frames = addon.module("blender.takes").baked_frames(carrier.find_bake(story.skin()))
    assert (frames.first, frames.last, frames.samples) == (5, 20, between + 1), frames
    assert measure.same_bits(measure.evaluated(story.skin()), live)
    yield from driver.press_button("bpy.ops.softrig.free_bake()")
    for name in ("bake_range", "bake_subframes"):
        story.skin().softrig.property_unset(name)
    scene.use_preview_range = False
    yield 0.5
    yield from driver.wait_until(story.is_whole, "the shot after it")
    bpy.ops.ed.undo_push(message="baked by mouse")


def turn_wheel(path: str, is_there: Callable[[], bool]) -> Iterator[float]:
    """Over a choice, with Ctrl, as far as it takes."""
    found: list[tuple[int, int]] = []
    yield from driver.find_button(path, found, driver.path_under_mouse)
    for _ in range(4):
        if is_there():
            return
        driver.x_event("keydown", "ctrl", "click", 5, "keyup", "ctrl")
        yield 0.4
    raise AssertionError(f"the wheel does not turn {path}")
