# SPDX-License-Identifier: GPL-3.0-or-later
"""How the shape keys are named that a bake makes."""

import re
from typing import Any

from ..native.inputs import FrameRange

PREFIX = "Softrig "
PATTERN = PREFIX + r"-?\d+( \d+/\d+)?"


def is_ours(key: Any) -> bool:
    return re.fullmatch(PATTERN, key.name) is not None


def is_our_path(path: str) -> bool:
    """Of a curve for such a key, which may be gone."""
    return re.fullmatch(rf'key_blocks\["{PATTERN}"\]\.value', path) is not None


def key_name(row: int, frames: FrameRange) -> str:
    """`Softrig 0012`, and between two frames `Softrig 0012 1/4`."""
    frame, part = divmod(row, frames.samples)
    return f"{PREFIX}{frames.first + frame:04d}" + (f" {part}/{frames.samples}" if part else "")


def has_ours(mesh: Any) -> bool:
    keys = mesh.shape_keys
    return keys is not None and any(is_ours(key) for key in keys.key_blocks)
