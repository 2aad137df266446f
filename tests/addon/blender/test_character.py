# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character with default settings swings, swings back, and comes to rest."""

from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

REGIONS = ("belly", "ears", "tail tip")


def shot_offsets(skin: Any, scene: Any) -> dict[int, np.ndarray]:
    """World offsets of all vertices at all frames."""
    session, entry = addon.session(), addon.entry_of(skin)
    turn = np.array(skin.matrix_world, np.float64)[:3, :3]
    found = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        assert session.read_offsets(entry, frame, 60.0)
        found[frame] = entry.buffer.reshape(-1, 3) @ turn.T
    return found


@pytest.fixture
def pebble(scene: Any) -> tuple[Any, Any]:
    from sample_blends import character

    skin, _ = character.build()
    scenes.add_softrig(skin)
    return skin, character


@pytest.fixture
def region_offsets(pebble: tuple[Any, Any]) -> Any:
    skin, character = pebble
    offsets = shot_offsets(skin, bpy.context.scene)
    rest = np.array([vertex.co[:] for vertex in skin.data.vertices])

    def of(region: str) -> tuple[np.ndarray, np.ndarray]:
        """Frames from the stop on; offsets of the region's vertices in each."""
        chosen = character.vertices_of(region, rest)
        frames = np.arange(character.MARKERS["stop_frame"], bpy.context.scene.frame_end + 1)
        return frames, np.stack([offsets[frame][chosen] for frame in frames])

    return of


@pytest.mark.parametrize("region", REGIONS)
def test_the_stop_is_seen_and_dies_down(pebble: Any, region_offsets: Any, region: str) -> None:
    skin, character = pebble
    size = addon.entry_of(skin).report["size"]
    frames, offsets = region_offsets(region)
    lengths = np.linalg.norm(offsets, axis=2).max(axis=1)
    late = frames >= character.MARKERS["stop_frame"] + 2 * character.MARKERS["fps"]
    assert late.any()
    assert lengths.max() >= 0.03 * size
    assert lengths[late].max() < 0.003 * size


@pytest.mark.parametrize("region", ("head", "feet"))
def test_what_stands_firm_keeps_still(pebble: Any, region_offsets: Any, region: str) -> None:
    _, offsets = region_offsets(region)
    lengths = np.linalg.norm(offsets, axis=2)
    assert lengths.max() <= 0.005 * addon.entry_of(pebble[0]).report["size"]


@pytest.mark.parametrize("region", REGIONS)
def test_it_swings_back_at_least_twice(pebble: Any, region_offsets: Any, region: str) -> None:
    _, character = pebble
    _, offsets = region_offsets(region)
    along = offsets.mean(axis=1) @ np.array(character.MARKERS["stop_direction"])
    seen = along[np.abs(along) > 0.01 * np.abs(along).max()]  # what the eye could see
    assert (np.diff(np.sign(seen)) != 0).sum() >= 2


def test_in_the_rest_pose_every_bit_is_zero(scene: Any) -> None:
    from sample_blends import character

    skin, armature = character.build()
    armature.animation_data_clear()
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    scenes.add_softrig(skin)
    for frame in (1, 30, 60, 96):
        shown = measure.at_frame(skin, frame)
        assert not addon.entry_of(skin).buffer.view(np.uint32).any()
        assert measure.same_bits(shown, measure.without_us(skin))
