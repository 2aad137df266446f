# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders that begin in the same moment as what they are to show, and one that must not begin."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import driver
import story
from support import addon, measure, scenes

FRAMES = (1, 15, 22, 29)


def begin(folder: str) -> Iterator[float]:
    scene = scenes.start_empty()
    yield 1.0
    scenes.make_character()
    scenes.add_softrig(story.skin())
    story.skin().softrig.substeps = 60  # worth waiting for
    story.prepare_render(scene)
    scene.frame_start, scene.frame_end, scene.frame_step = FRAMES[0], FRAMES[-1], 14
    scene.render.filepath = f"{folder}/frame_"
    scene.frame_set(scenes.STOP_FRAME)
    bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/shot.blend")
    yield 0.3
    yield from driver.wait_until(story.is_whole, "the shot")


@contextlib.contextmanager
def watched(mode: str) -> Iterator[dict[int, Any]]:
    """What each frame of that kind of evaluation shows; loading ends it."""
    seen: dict[int, Any] = {}

    def look(scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == mode:
            seen[scene.frame_current] = measure.evaluated(story.skin(), depsgraph)

    bpy.app.handlers.frame_change_post.append(look)
    try:
        yield seen
    finally:
        bpy.app.handlers.frame_change_post.remove(look)


def insert_key() -> None:
    rig = bpy.data.objects["Skin Rig"]
    rig.location.x = -6.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)


def turn_dial() -> None:
    story.skin().softrig.softness = 0.8


def load() -> None:
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


def with_view(operator: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """A file that a timer loads leaves no window in the context."""
    region = next(r for r in driver.view().regions if r.type == "WINDOW")
    place = {"window": driver.window(), "area": driver.view(), "region": region}
    with bpy.context.temp_override(**place):
        return operator(*arguments, **options)


def is_over() -> bool:
    return not bpy.app.is_job_running("RENDER")


def check(seen: dict[int, Any], what: str) -> Iterator[float]:
    """What was rendered is what plays when all has come to rest."""
    scene, session = bpy.context.scene, addon.session()
    assert not session.render_problems and not session.render_waits, session.render_problems
    yield 0.3
    yield from driver.wait_until(story.is_whole, f"rest after {what}", 60)
    assert not story.entry().notice, story.entry().notice
    for frame, positions in seen.items():
        scene.frame_set(frame)
        assert measure.same_bits(measure.evaluated(story.skin()), positions), (what, frame)
    scene.frame_set(22)
    assert story.offset() > 1e-3


def a_script_changes_and_renders_at_once() -> Iterator[float]:
    """On the main thread, which nobody else gets meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        for change in (turn_dial, insert_key, load):
            yield from begin(folder)
            change()
            with watched("RENDER") as seen:
                with_view(bpy.ops.render.render, animation=True)
            assert sorted(seen) == [1, 15, 29]
            yield from check(seen, change.__name__)


def a_script_changes_and_films_the_view_at_once() -> Iterator[float]:
    """Of a playblast Blender tells nobody but those who wait for frames."""
    with tempfile.TemporaryDirectory() as folder:
        for change in (turn_dial, insert_key, load):
            yield from begin(folder)
            change()
            with watched("VIEWPORT") as seen:
                with_view(bpy.ops.render.opengl, animation=True)
            assert {15, 29} <= set(seen)
            yield from check(seen, change.__name__)


def a_render_begins_with_the_change() -> Iterator[float]:
    """As with F12, before Blender has drawn what changed."""
    with tempfile.TemporaryDirectory() as folder:
        for change in (turn_dial, insert_key, load):
            yield from begin(folder)
            change()
            with watched("RENDER") as seen:
                with_view(bpy.ops.render.render, "INVOKE_DEFAULT", animation=True)
                yield 0.5
                yield from driver.wait_until(is_over, "the render", 60)
            assert sorted(seen) == [1, 15, 29]
            yield from check(seen, change.__name__)


def border_of(scene: Any) -> list[float]:
    return [getattr(scene.render, name) for name in addon.module("blender.refusing").BORDER]


def render_in_vain(mode: str, options: dict[str, bool]) -> Iterator[float]:
    with contextlib.suppress(RuntimeError):  # where a script calls, Blender throws
        with_view(bpy.ops.render.render, mode, **options)
    yield 0.5
    yield from driver.wait_until(is_over, "the end of the render", 60)
    yield 0.7


@contextlib.contextmanager
def boxes() -> Iterator[list[list[str]]]:
    """What the artist is told in boxes."""
    status, told = addon.module("blender.status"), []
    tell, status.tell = status.tell, lambda title, lines: (told.append(lines), tell(title, lines))
    try:
        yield told
    finally:
        status.tell = tell


def a_render_that_would_be_wrong_does_not_begin() -> Iterator[float]:
    """Its bake is gone: no picture, a box that says why, and the artist's border as it was."""
    with tempfile.TemporaryDirectory() as folder, boxes() as told:
        yield from begin(folder)
        with_view(bpy.ops.softrig.bake, "EXEC_DEFAULT")
        bpy.ops.wm.save_mainfile()
        shutil.rmtree(Path(folder) / "softrig")
        load()
        yield 1.0
        scene = bpy.context.scene
        scene.render.border_min_x, scene.render.border_max_x = 0.25, 0.75
        before = border_of(scene)
        for mode in ("INVOKE_DEFAULT", "EXEC_DEFAULT"):
            for options in ({"animation": True}, {"write_still": True}):
                told.clear()
                yield from render_in_vain(mode, options)
                assert not list(Path(folder).glob("frame_*")), (mode, options)
                assert border_of(scene) == before, (mode, options)
                assert "Skin: the bake is missing" in told[0][0], (mode, options)
        yield from driver.screenshot("9-refused-render")
        yield from driver.key("Escape")
        with_view(bpy.ops.softrig.free_bake)
        yield from driver.wait_until(story.is_whole, "the shot", 60)
        yield from render_in_vain("INVOKE_DEFAULT", {"animation": True})
        assert len(list(Path(folder).glob("frame_*"))) == 3


def frames_that_are_not_baked_are_told() -> Iterator[float]:
    """After a render, as nothing ends it on its way; before one that shows the current frame."""
    with tempfile.TemporaryDirectory() as folder, boxes() as told:
        yield from begin(folder)
        settings = story.skin().softrig
        settings.bake_range, settings.bake_first, settings.bake_last = "OWN", 1, 20
        with_view(bpy.ops.softrig.bake, "EXEC_DEFAULT")
        before = border_of(bpy.context.scene)
        yield from render_in_vain("INVOKE_DEFAULT", {"animation": True})
        assert len(list(Path(folder).glob("frame_*"))) == 3
        assert "frame 29 is not there" in told[0][0] and len(told) == 1, told
        assert border_of(bpy.context.scene) == before
        yield from driver.key("Escape")
        for path in Path(folder).glob("frame_*"):
            path.unlink()
        bpy.context.scene.frame_set(29)
        for options in ({"animation": True}, {"write_still": True}):
            told.clear()
            yield from render_in_vain("INVOKE_DEFAULT", options)
            assert not list(Path(folder).glob("frame_*")), options
            assert "frame 29 is not there" in told[0][0] and len(told) == 1, told
            yield from driver.key("Escape")
        with_view(bpy.ops.softrig.free_bake)
        yield from driver.wait_until(story.is_whole, "the shot", 60)
        yield from render_in_vain("INVOKE_DEFAULT", {"animation": True})
        assert len(told) == 1 and not addon.session().render_problems


RENDERS = (
    a_script_changes_and_renders_at_once,
    a_script_changes_and_films_the_view_at_once,
    a_render_begins_with_the_change,
    a_render_that_would_be_wrong_does_not_begin,
    frames_that_are_not_baked_are_told,
)
