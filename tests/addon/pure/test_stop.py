# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character jumps, slides and stops dead: what the complementary solver makes of it.

Its way is the demo's (the root bone's keys); the other bones keep still, so that whatever moves
after the stop is flesh.
"""

import ctypes
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from softrig.model.rig import LOOSE_TIP, is_loose
from softrig.model.settings import DEFAULT_LOOSE_PARTS
from softrig.native import bindings
from softrig.native.api import Api
from softrig.native.inputs import CharacterInput, FrameRange, MapsInput, ShotSettings
from softrig.native.library import load_library

sys.path.append(str(Path(__file__).resolve().parents[3]))

from sample_blends import field, motion, skeleton, surface

# coarser than the demo's skin, whose cage is the same
STEP = 0.045
FRAMES = FrameRange(motion.FIRST_FRAME, motion.LAST_FRAME, float(motion.FPS))
NODE_COUNTS = (400, 1200, 4000)
FREE = ("belly", "ears", "tail")
FIRM = ("head", "feet")

# the root bends nothing, so the add-on leaves it out: hips and feet have no parent then
BONES = [bone for bone in skeleton.BONES if bone.name != "root"]

# painted stiffness of the firm parts
FIRMER = 25.0


def skin() -> tuple[np.ndarray, np.ndarray]:
    points, quads = surface.surface_nets(field.whole, field.LOWEST, field.HIGHEST, STEP)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return surface.relax(field.whole, points, quads, 8), triangles


def rest_of(bone: skeleton.Bone) -> np.ndarray:
    """Bone to armature: y along the bone, z towards `up`."""
    head, tail, up = (np.array(p) for p in (bone.head, bone.tail, bone.up))
    y = (tail - head) / np.linalg.norm(tail - head)
    z = up - y * (up @ y)
    z /= np.linalg.norm(z)
    matrix = np.eye(4)
    matrix[:3, :4] = np.stack([np.cross(y, z), y, z, head], axis=1)
    return matrix


def columns(matrices: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([m.T.reshape(-1) for m in matrices]).astype(np.float32)


def character(points: np.ndarray, triangles: np.ndarray, node_count: int) -> CharacterInput:
    names = [bone.name for bone in BONES]
    table = np.zeros((len(points), len(names)))
    for name, column in skeleton.weights(points).items():
        table[:, names.index(name)] = column
    vertices, bones = np.nonzero(table)
    words = [word.strip() for word in DEFAULT_LOOSE_PARTS.split(",")]
    lengths = [np.linalg.norm(np.subtract(b.tail, b.head)) for b in BONES]
    loose = [LOOSE_TIP if is_loose(name, words) else 0.0 for name in names]
    parents = [names.index(b.parent) if b.parent in names else -1 for b in BONES]
    return CharacterInput(
        skin_positions=points.astype(np.float32).reshape(-1),
        skin_triangles=triangles.astype(np.int32).reshape(-1),
        weight_starts=np.searchsorted(vertices, np.arange(len(points) + 1)).astype(np.int32),
        weight_bones=bones.astype(np.int32),
        weight_values=table[vertices, bones].astype(np.float32),
        bone_rests=columns([rest_of(bone) for bone in BONES]),
        bone_lengths=np.array(lengths, np.float32),
        bone_parents=np.array(parents, np.int32),
        bone_loose_tips=np.array(loose, np.float32),
        bone_spaces=np.zeros(len(names), np.int32),
        space_to_skin=columns([np.eye(4)]),
        target_node_count=node_count,
    )


def value_at(keys: tuple[motion.Key, ...], frame: int) -> float:
    """A channel of straight lines and parabolas; it holds its last key."""
    for (start, low, way), (end, high, _) in itertools.pairwise(keys):
        if start <= frame <= end:
            t = (frame - start) / (end - start)
            eased = {motion.LINE: t, motion.FALL: t * t, motion.RISE: 1.0 - (1.0 - t) ** 2}[way]
            return low + (high - low) * eased
    return keys[-1][1]


def rows() -> np.ndarray:
    """The root's way; its axes are the armature's."""
    keys = motion.keys()
    result = []
    for frame in range(FRAMES.first, FRAMES.last + 1):
        move = np.eye(4)
        move[:3, 3] = [0.0] + [value_at(keys["root", "location", axis], frame) for axis in (1, 2)]
        result.append(columns([np.eye(4)] * 2 + [move @ rest_of(b) for b in BONES]))
    return np.array(result, np.float32)


def play(api: Api, lib: Any, data: CharacterInput) -> np.ndarray:
    """Offsets of all vertices at all frames from the stop on."""
    character_id = api.create_character(data)
    lib.srCharacter_Wait(character_id, -1.0)
    shot = api.create_shot(character_id, FRAMES, ShotSettings())
    params = lib.srDefaultShotParams()
    params.solver = bindings.Solver.COMPLEMENTARY
    lib.srShot_SetParams(shot, ctypes.byref(params))
    api.write_tape(shot, FRAMES.first, rows())
    assert api.wait_frame(shot, FRAMES.last, 300.0)
    buffer = np.zeros(3 * data.vertex_count, np.float32)
    frames = []
    for frame in range(motion.STOP_FRAME, FRAMES.last + 1):
        assert api.read_offsets(shot, frame, buffer)
        frames.append(buffer.reshape(-1, 3).astype(np.float64))
    status, report = api.shot_status(shot), api.character_report(character_id)
    print(f"{report['nodeCount']} nodes, {1000.0 * status.seconds / FRAMES.count:.2f} ms a frame")
    api.destroy_shot(shot)
    api.destroy_character(character_id)
    return np.array(frames)


def percents(offsets: np.ndarray, points: np.ndarray) -> dict[str, tuple[float, float]]:
    """Of each region, in percent of the size: the largest offset, and that from two seconds on."""
    lengths = np.linalg.norm(offsets, axis=2) * 100.0 / np.ptp(points, axis=0).max()
    late = lengths[2 * motion.FPS :]
    chosen = {name: skeleton.vertices_of(name, points) for name in FREE + FIRM}
    return {name: (lengths[:, v].max(), late[:, v].max()) for name, v in chosen.items()}


Found = dict[str, dict[int, dict[str, tuple[float, float]]]]


@pytest.fixture(scope="module")
def found(library_path: Path) -> Found:
    """Figures at each size of the cage, as it is and with firm parts that are painted firm."""
    points, triangles = skin()
    firm = np.ones(len(points), np.float32)
    for name in FIRM:
        firm[skeleton.vertices_of(name, points)] = FIRMER
    api, lib = Api(library_path), load_library(library_path)
    figures = {}
    for kind, maps in (("unpainted", MapsInput()), ("painted", MapsInput(stiffness=firm))):
        figures[kind] = {}
        for count in NODE_COUNTS:
            data = replace(character(points, triangles, count), maps=maps)
            figures[kind][count] = percents(play(api, lib, data), points)
            for name, (largest, left) in figures[kind][count].items():
                print(
                    f"{kind} {count:5} {name:6} {largest:6.2f} % at most, {left:.3f} % in the end"
                )
    api.shutdown()
    assert api.byte_count() == 0
    return figures


def test_after_the_stop_flesh_swings_and_settles(found: Found) -> None:
    for kind in found.values():
        for count, figures in kind.items():
            for name in FREE:
                assert figures[name][0] >= 3.0, (count, name)
                assert figures[name][1] < 0.3, (count, name)
            for name in FIRM:
                assert figures[name][0] < 3.5, (count, name)
                assert figures[name][1] < 0.01, (count, name)


def test_the_size_of_the_cage_hardly_matters(found: Found) -> None:
    # paint reaches further on a coarse cage, so it is left out
    for name in FREE:
        largest = [figures[name][0] for figures in found["unpainted"].values()]
        assert max(largest) <= 1.25 * min(largest), name


def test_head_and_feet_stay_where_they_were_painted_firm(found: Found) -> None:
    for count, figures in found["painted"].items():
        for name in FIRM:
            assert figures[name][0] <= 0.5, (count, name)


def test_head_and_feet_stay_by_themselves(found: Found) -> None:
    for count, figures in found["unpainted"].items():
        for name in FIRM:
            assert figures[name][0] <= 0.5, (count, name)
