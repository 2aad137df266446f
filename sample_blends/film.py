# SPDX-License-Identifier: GPL-3.0-or-later
"""Film, stills and contact sheet from the demo's frames, by ffmpeg; needs no Blender."""

import shutil
import subprocess
from pathlib import Path

from . import motion

COLUMNS = ("before", "position-based", "complementary")
"""Folders of frames, from left to right."""

STILLS = (13, 20, 31, motion.STOP_FRAME + 2, motion.STOP_FRAME + 5, motion.STOP_FRAME + 9)
SHEET = (13, 18, 24, 31, 40, 46, 48, 51, 54, 58)


class FilmError(Exception):
    """ffmpeg refused; the text is its own."""


def is_possible() -> bool:
    """Whether ffmpeg is installed."""
    return shutil.which("ffmpeg") is not None


def make_all(folder: Path) -> list[str]:
    """Makes everything from the folders of frames; gives the names of the files."""
    stills = [still(folder, frame) for frame in STILLS]
    return [video(folder), contact_sheet(folder), *stills]


def _ffmpeg(*arguments: str) -> None:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FilmError(f"ffmpeg failed: {done.stderr.strip()[-400:]}")


def _side_by_side() -> str:
    """Filter that puts the columns side by side, a thin line between them."""
    last = len(COLUMNS) - 1
    padded = "".join(f"[{i}]pad=iw+4:ih:0:0:color=white[p{i}];" for i in range(last))
    return padded + "".join(f"[p{i}]" for i in range(last)) + f"[{last}]hstack=inputs={last + 1}"


def video(folder: Path) -> str:
    """The film: before on the left, then the solvers."""
    rate = str(motion.FPS)
    sides = []
    for name in COLUMNS:
        sides += ["-framerate", rate, "-start_number", str(motion.FIRST_FRAME)]
        sides += ["-i", str(folder / name / "%04d.png")]
    output = folder / "before-after.mp4"
    coding = ["-c:v", "libx264", "-crf", "17", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
    ends = ["-movflags", "+faststart", str(output)]
    _ffmpeg(*sides, "-filter_complex", _side_by_side(), *coding, *ends)
    return output.name


def still(folder: Path, frame: int) -> str:
    """One frame of each column, side by side."""
    sides = []
    for name in COLUMNS:
        sides += ["-i", str(folder / name / f"{frame:04d}.png")]
    output = folder / f"still-{frame:04d}.png"
    _ffmpeg(*sides, "-filter_complex", _side_by_side(), "-frames:v", "1", str(output))
    return output.name


def contact_sheet(folder: Path) -> str:
    """Rows of small pictures at the frames of `SHEET`, one a column of the film, in its order."""
    inputs, rows, count = [], "", len(SHEET)
    for row, name in enumerate(COLUMNS):
        for i, frame in enumerate(SHEET):
            inputs += ["-i", str(folder / name / f"{frame:04d}.png")]
            rows += f"[{row * count + i}]scale=240:-2[s{row * count + i}];"
        rows += "".join(f"[s{row * count + i}]" for i in range(count))
        rows += f"hstack=inputs={count}[row{row}];"
    output = folder / "contact-sheet.png"
    picture = rows + "".join(f"[row{row}]" for row in range(len(COLUMNS)))
    picture += f"vstack=inputs={len(COLUMNS)}"
    _ffmpeg(*inputs, "-filter_complex", picture, "-frames:v", "1", str(output))
    return output.name
