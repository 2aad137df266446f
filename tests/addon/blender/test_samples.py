# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample scenes move softly, stay whole, and come to rest; the loop repeats itself."""

from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

from sample_blends import figures, samples


def add_all(name: str) -> list[Any]:
    skins = samples.SAMPLES[name].build()
    for skin in skins:
        scenes.add_softrig(skin)
    return skins


def offsets_of(skin: Any) -> np.ndarray:
    """Frames x vertices x 3, in the skin's space."""
    session, entry, found = addon.session(), addon.entry_of(skin), []
    for frame in range(entry.frames.first, entry.frames.last + 1):
        assert session.read_offsets(entry, frame, 120.0)
        found.append(entry.buffer.reshape(-1, 3).copy())
    return np.array(found)


def normals(skin: Any) -> np.ndarray:
    mesh = skin.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("normal", flat)
    return flat.reshape(-1, 3)


def share_of_folds(skin: Any, frame: int) -> float:
    """Of the skin's faces, those that look the other way than they do without us."""
    bpy.context.scene.frame_set(frame)
    ours = normals(skin)
    skin.modifiers["Softrig"].show_viewport = False
    plain = normals(skin)
    skin.modifiers["Softrig"].show_viewport = True
    return float(((ours * plain).sum(axis=1) < -0.5).mean())


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_it_moves_and_stays_whole(scene: Any, name: str) -> None:
    for skin in add_all(name):
        offsets, size = offsets_of(skin), addon.entry_of(skin).report["size"]
        lengths = np.linalg.norm(offsets, axis=2).max(axis=1)
        print(f"{skin.name}: largest {lengths.max() / size:.3f}, last {lengths[-1] / size:.4f}")
        assert np.isfinite(offsets).all()
        assert lengths[0] == 0.0, "the first frame is the artist's pose"
        assert 0.01 * size < lengths.max() < 0.6 * size
        assert addon.session().refresh(addon.entry_of(skin)).limited_nodes == 0
        worst = bpy.context.scene.frame_start + int(lengths.argmax())
        folds = share_of_folds(skin, worst)
        print(f"    folds at frame {worst}: {folds:.4f}")
        assert folds < 0.05
        if name != "loop":
            assert lengths[-1] < 0.1 * lengths.max(), "it comes to rest"


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_no_cell_is_inside_out_and_no_edge_is_folded(scene: Any, name: str) -> None:
    """In any frame, in the rig's pose and with what we add to it: that is what an eye would see."""
    for skin in add_all(name):
        assert addon.session().api.wait_frame(addon.entry_of(skin).shot, scene.frame_end, 120.0)
        for softrig in (False, True):
            found = figures.quality_of(scene, skin, softrig)
            assert found.inverted.max() == 0, f"{skin.name}, with us: {softrig}"
            assert found.folds.max() == 0, f"{skin.name}, with us: {softrig}"


def test_the_loop_repeats_itself(scene: Any) -> None:
    (skin,) = add_all("loop")
    offsets, size = offsets_of(skin), addon.entry_of(skin).report["size"]
    period = samples.LOOP_FRAMES
    seam = measure.largest(offsets[-period:], offsets[-2 * period : -period]) / size
    assert seam < 0.01, f"a seam of {100.0 * seam:.2f} % of its size"


def test_there_are_as_many_bones_and_characters_as_the_names_say(scene: Any) -> None:
    (creature,) = samples.creature()
    assert len(creature.parent.data.bones) - 1 == 50  # and a root that deforms nothing
    assert len(samples.quartet()) == 4
