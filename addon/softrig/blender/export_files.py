# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's exporters of Alembic and USD do not look after: on a full disk the one ends
Blender and the other says that all is well, and of what is hidden they write an empty file."""

import shutil
import struct
from pathlib import Path
from typing import Any

from ..model.rig import RefusalError
from ..native.inputs import FrameRange

VECTOR_BYTES = 12
INDEX_BYTES = 8
"""Of a corner, once: its vertex, and a share of its face."""
SLACK_BYTES = 1 << 20
USD_HEAD = struct.Struct("<8s8sq")
ALEMBIC_WHOLE = b"Ogawa\xff"
CUT = "Blender's exporter left a file that is cut. Is there room on the disk?"
NOTHING = "Blender's exporter left no file. Is there room on the disk, and may you write there?"


def check_before(ob: Any, depsgraph: Any, folder: Path, frames: FrameRange) -> None:
    """Refuses what would come out empty, or end Blender."""
    if not ob.visible_get():
        raise RefusalError(
            "it is hidden, and Blender's exporters leave hidden objects out. Show it."
        )
    mesh = ob.evaluated_get(depsgraph).data
    corners, rows = len(mesh.loops), (frames.count - 1) * frames.samples + 1
    needed = rows * VECTOR_BYTES * (len(mesh.vertices) + corners) + INDEX_BYTES * corners
    if not folder.is_dir():
        raise RefusalError(f"there is no folder {folder}. Choose another.")
    free = shutil.disk_usage(folder).free
    if free < needed + SLACK_BYTES:
        raise RefusalError(
            f"it may take {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free on this disk. "
            f"Make room, choose another folder, or fewer frames."
        )


def check_after(path: Path) -> None:
    """Refuses what is not whole; neither exporter tells."""
    try:
        with path.open("rb") as file:
            head = file.read(USD_HEAD.size)
        size = path.stat().st_size
    except OSError as error:
        raise RefusalError(NOTHING) from error
    if path.suffix == ".abc":
        whole = head.startswith(ALEMBIC_WHOLE)
    else:
        whole = len(head) == USD_HEAD.size and 0 < USD_HEAD.unpack(head)[2] < size
    if not whole:
        raise RefusalError(CUT)
