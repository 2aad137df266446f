# SPDX-License-Identifier: GPL-3.0-or-later
"""The plain files that the command line program reads: the surface as OBJ, the rest as a rig file.

docs/rig-format.md describes the rig file. Nine digits bring a float32 back with all its bits.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from ..native.arrays import FloatArray
from ..native.inputs import FrameRange
from .rig import Character

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")


def escape_name(name: str) -> str:
    """Bytes that are not letters, digits or one of _.- become %XX."""
    return "".join(
        chr(byte) if chr(byte) in _SAFE else f"%{byte:02X}" for byte in name.encode("utf-8")
    )


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in np.asarray(values, np.float32).reshape(-1).tolist())


def obj_lines(character: Character) -> Iterator[str]:
    for vertex in character.positions.reshape(-1, 3):
        yield f"v {_numbers(vertex)}"
    for a, b, c in (character.triangles.reshape(-1, 3) + 1).tolist():
        yield f"f {a} {b} {c}"


def rig_lines(character: Character, frames: FrameRange, rows: FloatArray) -> Iterator[str]:
    yield "softrig-rig 1"
    yield f"fps {frames.rate:.17g}"
    yield f"spaces {character.armature_count}"
    yield f"bones {len(character.bones)}"
    for bone in character.bones:
        head = f"bone {escape_name(bone.name)} {bone.space} {bone.parent}"
        yield f"{head} {_numbers([bone.length, bone.loose_tip])} {_numbers(bone.rest)}"
    for matrix in character.space_to_skin.reshape(-1, 16):
        yield f"space {_numbers(matrix)}"
    yield from _weight_lines(character)
    yield f"frames {frames.first} {frames.count}"
    for matrix in rows.reshape(-1, 16):
        yield f"m {_numbers(matrix)}"


def _weight_lines(character: Character) -> Iterator[str]:
    weights = character.weights
    yield f"weights {character.vertex_count}"
    starts = weights.starts.tolist()
    bones, values = weights.bones.tolist(), weights.values.tolist()
    for first, end in zip(starts, starts[1:], strict=False):
        pairs = "".join(f" {bones[i]} {values[i]:.9g}" for i in range(first, end))
        yield f"v {end - first}{pairs}"
