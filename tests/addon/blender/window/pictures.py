# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the pictures of docs/artists: the sample character, and each panel, in the real window.

`run.py pictures` plays it; the pictures lie where the story's do. Not a part of the tests.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import driver
import story
from support import addon, scenes

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
    last, bpy.context.scene.frame_end = bpy.context.scene.frame_end, 1500  # time to look
    bpy.ops.wm.save_as_mainfile(filepath=str(driver.OUTPUT / "first-steps.blend"))
    yield 0.5
    yield from driver.press_button("bpy.ops.softrig.bake()")
    yield from driver.wait_until(lambda: story.entry().bake is not None, "the bake", 60)
    yield 0.5
    yield from driver.screenshot("first-steps-bake")
    yield from driver.key("Escape")
    yield from driver.wait_until(lambda: story.entry().bake is None, "the end of the bake", 60)
    bpy.context.scene.frame_end = last
    if addon.module("blender.carrier").find_bake(story.skin()) is not None:  # it was faster
        with bpy.context.temp_override(window=driver.window(), area=driver.view()):
            bpy.ops.softrig.free_bake()
    yield from driver.wait_until(story.is_whole, "the shot as it was", 60)


PANELS = {
    "shape": "dials.shape",
    "forces": "dials.forces",
    "time": "dials.time",
    "paint": "paint.paint",
    "followers": "followers.followers",
    "shape-keys": "bake.elsewhere",
    "advanced": "dials.advanced",
    "report": "character.report",
}


def dress() -> None:
    """Somebody to see in the panel of followers."""
    for name, rigid in (("Scarf", False), ("Left Eye", True)):
        ob = scenes.make_skin(name, 8)
        ob.softrig.rigid = rigid
        scenes.make_active(story.skin())
        ob.select_set(True)
        assert bpy.ops.softrig.follow() == {"FINISHED"}
    scenes.make_active(story.skin())


def panels() -> Iterator[float]:
    """Each panel open and alone, cut out."""
    dress()
    bpy.context.preferences.system.use_region_overlap = False
    yield 0.5
    yield from cut_out("panel-softrig", "main.main")
    for name, place in PANELS.items():
        yield from cut_out(f"panel-{name}", place)
    bpy.ops.wm.save_as_mainfile(filepath=str(driver.OUTPUT / "panels.blend"))
    for take in ("Bake", "Soft"):
        with bpy.context.temp_override(window=driver.window(), area=driver.view()):
            bpy.ops.softrig.bake("EXEC_DEFAULT", take=take)
        yield 0.5
    yield from cut_out("panel-bake", "character.bake")
    yield from cut_out("panel-takes", "bake.takes")


def cut_out(name: str, place: str) -> Iterator[float]:
    """Nothing is in the sidebar meanwhile but that panel, which is open."""
    file, part = place.split(".")
    original = getattr(addon.module(f"panels.{file}"), f"SOFTRIG_PT_{part}")
    classes = [found for found in addon.module("panels").CLASSES if hasattr(found, "bl_category")]
    for found in reversed(classes):
        bpy.utils.unregister_class(found)
    content = {"draw": original.draw, "bl_label": original.bl_label, "bl_parent_id": ""}
    opened = type(f"SOFTRIG_PT_{part}_alone", original.__bases__, {**content, "bl_options": set()})
    bpy.utils.register_class(opened)
    yield 1.0
    yield from driver.screenshot(name)
    crop_to_sidebar(driver.OUTPUT / f"{name}.png")
    bpy.utils.unregister_class(opened)
    for found in classes:
        bpy.utils.register_class(found)


def crop_to_sidebar(path: Path) -> None:
    region, window = driver.sidebar(), driver.window()
    top = driver.screen_height() - (window.y + region.y + region.height)
    box = f"{region.width - 26}x{region.height - 4}+{window.x + region.x + 2}+{top + 2}"
    command = ["convert", str(path), "-crop", box, "+repage", "-fuzz", "1%", "-trim", "+repage"]
    subprocess.run([*command, str(path)], check=True)


PICTURES = (character, add, bake, panels)
