# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the pictures of docs/artists/first-steps.md: the sample character in the real window.

`run.py pictures` plays it; the pictures lie where the story's do. Not a part of the tests.
"""

import sys
from collections.abc import Iterator
from typing import Any

import bpy
import driver
import story
from support import scenes

LOOKED_AT = 48
"""Just after the sample character's stop."""


def look_at_it() -> None:
    region = next(r for r in driver.view().regions if r.type == "WINDOW")
    view: dict[str, Any] = {"window": driver.window(), "area": driver.view(), "region": region}
    with bpy.context.temp_override(**view):
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_selected()


def character() -> Iterator[float]:
    sys.path.append(str(driver.ROOT))
    from sample_blends import character as sample

    skin, _ = sample.build()
    skin.name = "Skin"
    scenes.make_active(skin)
    bpy.context.scene.frame_set(1)
    yield 0.5
    look_at_it()
    driver.view().spaces.active.overlay.show_relationship_lines = False
    yield 0.5


def add() -> Iterator[float]:
    drawn = story.count_draws()
    yield from driver.open_tab(lambda: drawn)
    yield from driver.screenshot("first-steps-add")
    yield from driver.press_button("bpy.ops.softrig.add()")
    yield from driver.wait_until(lambda: story.skin().softrig.uuid, "Add Softrig", 120)
    yield from driver.wait_until(story.is_whole, "the whole shot", 240)
    bpy.context.scene.frame_set(LOOKED_AT)
    yield 0.5
    look_at_it()
    yield 0.5
    yield from driver.screenshot("first-steps-ready")


def bake() -> Iterator[float]:
    bpy.context.scene.frame_end = 1500  # so that there is time to look
    bpy.ops.wm.save_as_mainfile(filepath=str(driver.OUTPUT / "first-steps.blend"))
    yield 0.5
    yield from driver.press_button("bpy.ops.softrig.bake()")
    yield from driver.wait_until(lambda: story.entry().bake is not None, "the bake", 60)
    yield 0.5
    yield from driver.screenshot("first-steps-bake")
    yield from driver.key("Escape")
    yield from driver.wait_until(lambda: story.entry().bake is None, "the end of the bake", 60)


PICTURES = (character, add, bake)
