# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of baking that need no Blender: names of takes and files, time left, a range in words."""

import re
from dataclasses import dataclass, replace

from ..native.inputs import FrameRange
from .rig import RefusalError
from .settings import NO_LOOP, Choice

MAIN = "Main"
"""The take that Bake writes unless another is chosen."""
LONGEST_NAME = 40
"""Of a take: Blender's names have 63 bytes, and ours stand behind a prefix."""
LONGEST_BLEND = 60
"""Characters of a blend's name in those of its bakes: file systems take 255 bytes."""
RANGES = (
    Choice("ALL", "All Frames", "The scene's, and its preview range's if that is on", 0),
    Choice("PREVIEW", "Preview", "Those of the scene's preview range", 1),
    Choice("OWN", "Own", "From First to Last", 2),
)
MOST_SAMPLES = 100
"""For each frame: Blender's Mesh Cache plays no finer ones."""
SHORTEST_LOOP = 3
"""Frames; fewer go round as nothing."""
KEPT = ".resume"
"""Behind a bake's name: the simulated frames of one that has not come to its end."""


def clean_take(name: str) -> str:
    """A name that modifiers and files can have; the main take when nothing is left of it."""
    cleaned = re.sub(r"[^\w \-]", "", name).strip()
    return cleaned.encode("utf-8")[:LONGEST_NAME].decode("utf-8", "ignore").strip() or MAIN


def new_take(taken: list[str]) -> str:
    """A name that none has yet: the main one, then Take 2, Take 3, ..."""
    if MAIN not in taken:
        return MAIN
    number = 2
    while f"Take {number}" in taken:
        number += 1
    return f"Take {number}"


def file_name(object_name: str, uuid: str, take: str, blend: str = "") -> str:
    """Of the point cache; names are clean already.

    That of the blend comes first: a later version of a shot, or another shot that the same
    character was appended to, must not write over what this one plays.
    """
    begin = f"{blend[:LONGEST_BLEND]}." if blend else ""
    ending = "" if take == MAIN else "_" + take.replace(" ", "_")
    return f"{begin}{object_name}_{uuid[:8]}{ending}.pc2"


def split_names(text: str, there: list[str]) -> list[str]:
    """Names with commas between them; a name may have some too."""
    known = {_without_gaps(name): name for name in there}
    parts, found = [part.strip() for part in text.split(",") if part.strip()], []
    while parts:
        for count in range(len(parts), 0, -1):
            name = known.get(",".join(parts[:count]))
            if name is not None:
                found.append(name)
                del parts[:count]
                break
        else:
            raise RefusalError(
                f'No character is named "{parts[0]}". There are: {", ".join(there)}.'
            )
    return found


def _without_gaps(name: str) -> str:
    return ",".join(part.strip() for part in name.split(",") if part.strip())


def is_file_of(path: str, uuid: str) -> bool:
    """Whether it has the name of a bake of this character."""
    return f"_{uuid[:8]}" in path


def chunk_name(name: str, frames: FrameRange) -> str:
    """Of a file with some frames of a bake."""
    return f"{name.removesuffix('.pc2')}.{frames.first:04d}-{frames.last:04d}.pc2"


def choose_frames(
    text: str,
    whole: FrameRange,
    kind: str,
    own: tuple[int, int],
    preview: tuple[int, int] | None,
) -> FrameRange:
    """What somebody wrote, else the artist's choice; `preview` is None where the scene has none."""
    if text.strip() or kind == "ALL":
        return parse_frames(text, whole)
    if kind == "OWN":
        return _within(*own, whole)
    if preview is None:
        raise RefusalError(
            "The scene has no preview range: turn it on in the timeline, or bake all frames."
        )
    return _within(max(preview[0], whole.first), min(preview[1], whole.last), whole)


def within(whole: FrameRange, scene: FrameRange) -> FrameRange:
    """What of the shot is in the scene's range; all of it where they do not meet."""
    first, last = max(whole.first, scene.first), min(whole.last, scene.last)
    if first > last or (first, last) == (whole.first, whole.last):
        return whole
    return replace(whole, first=first, count=last - first + 1)


def parse_frames(text: str, whole: FrameRange) -> FrameRange:
    """`a-b`, `a`, or nothing for the whole range; frames outside of it are refused."""
    if not text.strip():
        return whole
    match = re.fullmatch(r"\s*(-?\d+)\s*(?:-\s*(-?\d+))?\s*", text)
    if match is None:
        raise RefusalError(f'"{text}" is no range of frames; write it as 1-250.')
    first = int(match[1])
    return _within(first, int(match[2]) if match[2] is not None else first, whole)


def _within(first: int, last: int, whole: FrameRange) -> FrameRange:
    if (first, last) == (whole.first, whole.last):
        return whole
    if first > last or first < whole.first or last > whole.last:
        raise RefusalError(
            f"Frames {first} to {last} are not within the scene's {whole.first} to {whole.last}."
        )
    return FrameRange(first, last - first + 1, whole.rate, whole.stretch)


def is_part(frames: FrameRange, whole: FrameRange) -> bool:
    """Not all frames of the shot."""
    return (frames.first, frames.count) != (whole.first, whole.count)


def with_margin(frames: FrameRange, whole: FrameRange, loop: str) -> FrameRange:
    """What a point cache has: of a whole loop a frame more at either end, for open shutters."""
    if loop == NO_LOOP or is_part(frames, whole) or frames.count < SHORTEST_LOOP:
        return frames
    return replace(frames, first=frames.first - 1, count=frames.count + 2)


def sample_frames(frames: FrameRange) -> list[float]:
    """The moments that a bake has a row of."""
    return [frames.first + row / frames.samples for row in range(frames.sample_count)]


def first_in_name(name: str, count: int, otherwise: int) -> int:
    """Where a file with so many frames begins, if `chunk_name` named it."""
    match = re.search(r"\.(-?\d+)-(-?\d+)\.pc2$", name)
    if match is None or int(match[2]) - int(match[1]) + 1 != count:
        return otherwise
    return int(match[1])


@dataclass
class Pace:
    """How long it will take, by how long it has taken."""

    started: float
    progress: float = 0.0
    """When we began to look: what an earlier bake left costs no time."""
    is_new: bool = True

    def seconds_left(self, progress: float, now: float) -> float | None:
        """None while nobody can tell."""
        if self.is_new:
            self.started, self.progress, self.is_new = now, progress, False
        done, passed = progress - self.progress, now - self.started
        if done < 0.01 or passed < 0.2:
            return None
        return passed * (1.0 - progress) / done


def describe_seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 90.0:
        return f"{max(round(seconds), 1)} s left"
    minutes = round(seconds / 60.0)
    if minutes < 90:
        return f"{minutes} min left"
    return f"{minutes // 60} h {minutes % 60} min left"


def describe_bake(progress: float, seconds: float | None) -> str:
    """For the status bar: `Baking, 40 %, 12 s left`."""
    parts = ["Baking", f"{100.0 * progress:.0f} %", describe_seconds(seconds)]
    return ", ".join(part for part in parts if part)
