# SPDX-License-Identifier: GPL-3.0-or-later
"""A script edits keys and goes on: Blender evaluates nothing in between, and tells nothing."""

from collections.abc import Callable, Iterator
from typing import Any

import bpy
import pytest
from support import addon, measure, scenes

LOOK = scenes.STOP_FRAME + 2


def first_curve(skin: Any) -> Any:
    curves = addon.module("blender.actions").find_curves(skin.parent)
    return next(c for c in curves if c.data_path == "location" and c.array_index == 0)


def move_key(skin: Any) -> None:
    curve = first_curve(skin)
    curve.keyframe_points[-1].co.y = -6.0
    curve.update()


def insert_key(skin: Any) -> None:
    skin.parent.location.x = -6.0
    skin.parent.keyframe_insert("location", frame=scenes.STOP_FRAME)


def clear_animation(skin: Any) -> None:
    """Blender tells of it when it evaluates; 3.4 not even then."""
    skin.parent.animation_data_clear()


def clear_and_evaluate(skin: Any) -> None:
    clear_animation(skin)
    bpy.context.view_layer.update()


def other_handler(*_: Any) -> None:
    """Of another add-on: what is pending before a frame may be its doing."""


@pytest.fixture
def stranger() -> Iterator[None]:
    bpy.app.handlers.frame_change_pre.append(other_handler)
    yield
    bpy.app.handlers.frame_change_pre.remove(other_handler)


def check(skin: Any, edit: Callable[[Any], None]) -> None:
    """The first frame after the edit is that of the new keys, and nobody suspects the rig."""
    before = measure.at_frame(skin, LOOK)
    addon.entry_of(skin).compared_at = -1e9
    edit(skin)
    shown, entry = measure.at_frame(skin, LOOK + 1), addon.entry_of(skin)
    assert not entry.notice and not entry.steps_scene and not entry.state.stale
    assert bpy.ops.softrig.record() == {"FINISHED"}
    assert measure.same_bits(shown, measure.at_frame(skin, LOOK + 1))
    assert measure.largest(before, measure.at_frame(skin, LOOK)) > 0.01


@pytest.mark.parametrize("edit", [move_key, insert_key, clear_animation, clear_and_evaluate])
def test_the_next_frame_shows_edited_keys(skin: Any, edit: Callable[[Any], None]) -> None:
    check(skin, edit)


@pytest.mark.parametrize("edit", [move_key, insert_key])
def test_handlers_of_others_hide_no_edited_keys(
    skin: Any, edit: Callable[[Any], None], stranger: None
) -> None:
    check(skin, edit)


def test_a_frame_of_no_news_is_evaluated_once(skin: Any, scene: Any) -> None:
    counted: list[int] = []
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: counted.append(scene.frame_current))
    try:
        scene.frame_set(LOOK)
        counted.clear()
        for frame in (3, 9, LOOK):
            scene.frame_set(frame)
        assert not counted
        move_key(skin)
        scene.frame_set(LOOK + 1)
        assert counted == [LOOK + 1]
    finally:
        bpy.app.handlers.depsgraph_update_post.pop()
