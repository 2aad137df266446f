# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies in a bake's file (PC2), as Blender's Mesh Cache would play it. Pure."""

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .baking import MOST_SAMPLES

HEAD = struct.Struct("<12siiffi")
SIGN = b"POINTCACHE2\0"
PRINT_PARTS, PRINT_BYTES = 64, 512
"""Of a file's print: so many parts of it, spread over all of its rows, and so long."""
POINT_BYTES = 12


class PointCacheError(Exception):
    """What is wrong with a file, to be read behind "the bake"."""


@dataclass(frozen=True)
class Size:
    points: int
    rows: int
    samples: int
    """Rows for each frame but the last."""

    @property
    def frames(self) -> int:
        return (self.rows - 1) // self.samples + 1


def read_size(path: Path) -> Size:
    """Refuses what is none or not whole; bytes behind the last row are nobody's."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD.size)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise PointCacheError(f"is missing: {path}") from error
    except OSError as error:
        raise PointCacheError(f"cannot be read ({error.strerror}): {path}") from error
    if len(head) < HEAD.size or not head.startswith(SIGN):
        raise PointCacheError(f"is no point cache (PC2): {path}")
    _, _, points, _, rate, rows = HEAD.unpack(head)
    if points < 0 or rows < 1 or size < HEAD.size + POINT_BYTES * points * rows:
        raise PointCacheError(f"is cut or damaged: {path}")
    return Size(points, rows, samples_of(rate))


def check_numbers(path: Path, size: Size) -> None:
    """Refuses a file that `read_size` took and that has infinite numbers, or none; reads all."""
    try:
        with path.open("rb") as file:
            file.seek(HEAD.size)
            for number in range(1, size.rows + 1):
                if not np.isfinite(np.fromfile(file, "<f4", 3 * size.points)).all():
                    raise PointCacheError(f"is damaged in row {number} of {size.rows}: {path}")
    except OSError as error:
        raise PointCacheError(f"cannot be read ({error.strerror}): {path}") from error


def read_print(path: Path) -> str:
    """Two files of one print hold the same motion; empty where there is no file.

    A few parts tell: what changes a motion changes all of it behind the frame where it begins.
    """
    try:
        whole = path.stat().st_size
        digest = hashlib.blake2b(str(whole).encode(), digest_size=16)
        with path.open("rb") as file:
            for part in range(1, PRINT_PARTS + 1):
                file.seek(max(whole * part // PRINT_PARTS - PRINT_BYTES, 0))
                digest.update(file.read(PRINT_BYTES))
    except OSError:
        return ""
    return digest.hexdigest()


def find_fault(path: Path, points: int) -> str:
    """Why it cannot play on so many points, to be read behind "the bake"; empty when it can."""
    try:
        found = read_size(path).points
    except PointCacheError as error:
        return str(error)
    return "" if found == points else f"has {found} points, not {points}: {path}"


def samples_of(rate: float) -> int:
    """Rows for each frame, from the header's sampling rate; one where that says nothing."""
    return min(max(round(1.0 / rate), 1), MOST_SAMPLES) if 0.0 < rate < 1.0 else 1
