# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders see what the artist saw, also from a file that nobody has looked at yet."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

FRAMES = (21, 22, 24)


def small_cycles(scene: Any, folder: Path) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples = "CPU", 1
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.render.resolution_percentage = 100
    scene.render.filepath = str(folder / "frame_")
    camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.location = (4.0, 0.0, 12.0)
    scene.camera = camera


def render_and_look(scene: Any, name: str) -> dict[int, np.ndarray]:
    """Positions as the render's own evaluation has them."""
    seen: dict[int, np.ndarray] = {}

    def look(scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == "RENDER":
            ob = bpy.data.objects[name]
            seen[scene.frame_current] = measure.evaluated(ob, depsgraph)

    start, end = scene.frame_start, scene.frame_end
    scene.frame_start, scene.frame_end, scene.frame_step = FRAMES[0], FRAMES[-1], 1
    bpy.app.handlers.frame_change_post.append(look)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(look)
        scene.frame_start, scene.frame_end = start, end
    return seen


@pytest.fixture
def shot(scene: Any, tmp_path: Path) -> Any:
    skin, _ = scenes.make_character()
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    small_cycles(scene, tmp_path)
    scenes.add_softrig(skin)
    return skin


def test_a_render_sees_what_was_live(shot: Any, scene: Any) -> None:
    live = {frame: measure.at_frame(shot, frame) for frame in FRAMES}
    posed = measure.without_us(shot)
    seen = render_and_look(scene, "Skin")
    for frame in FRAMES:
        assert measure.same_bits(seen[frame], live[frame]), f"frame {frame}"
    assert measure.largest(live[FRAMES[-1]], posed) > 1e-4


def test_a_render_of_a_file_just_loaded_prepares_by_itself(shot: Any, tmp_path: Path) -> None:
    live = {frame: measure.at_frame(shot, frame) for frame in FRAMES}
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not addon.session().entries
    seen = render_and_look(bpy.context.scene, "Skin")
    for frame in FRAMES:
        assert measure.same_bits(seen[frame], live[frame]), f"frame {frame}"


def test_a_render_reads_keys_that_a_script_just_changed(shot: Any, scene: Any) -> None:
    before = render_and_look(scene, "Skin")
    rig = bpy.data.objects["Skin Rig"]
    for frame, place in ((21, 4.0), (23, 7.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    after = render_and_look(scene, "Skin")
    posed = measure.at_frame(shot, 24)
    assert measure.largest(before[24], after[24]) > 1e-3
    assert measure.same_bits(after[24], posed)


def test_a_cancelled_or_finished_render_leaves_live_as_it_was(shot: Any, scene: Any) -> None:
    live = measure.at_frame(shot, 22)
    render_and_look(scene, "Skin")
    assert measure.same_bits(measure.at_frame(shot, 22), live)
