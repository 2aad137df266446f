# SPDX-License-Identifier: GPL-3.0-or-later
"""What disturbs an eye, in numbers a frame: jerk, inverted cells, folds. Needs no Blender."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Array = np.ndarray

FOLDED = -0.5
"""Cosine between the normals of two neighbours from which on the skin counts as folded there."""


@dataclass(frozen=True)
class Quality:
    """Of one shot, a value a frame; several skins of a scene together."""

    jerk: Array
    """The largest third difference of any vertex's path, in percent of the character's size."""
    inverted: Array
    """Cells of the cage whose volume has changed its sign."""
    folds: Array
    """Edges of the skin that are folded and are not so at rest."""

    def __add__(self, other: "Quality") -> "Quality":
        jerk = np.maximum(self.jerk, other.jerk)
        return Quality(jerk, self.inverted + other.inverted, self.folds + other.folds)

    def tell(self, number: int) -> str:
        """The frame of that number, in a few words."""
        inverted, folds = self.inverted[number], self.folds[number]
        return f"jerk {self.jerk[number]:.2f} inverted {inverted} folds {folds}"


def jerk(paths: Array, size: float) -> Array:
    """Of frames x vertices x 3. A jump shows at the frame where it lands."""
    values = np.zeros(len(paths))
    third = np.linalg.norm(np.diff(paths, 3, axis=0), axis=2).max(axis=1, initial=0.0)
    values[2 : 2 + len(third)] = 100.0 * third / size
    return values


def volumes(nodes: Array, cells: Array) -> Array:
    """Six times the signed volume of each cell."""
    a, b, c, d = (nodes[cells[:, corner]].astype(np.float64) for corner in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)


def count_inverted(nodes: Array, cells: Array, rest: Array) -> int:
    return int(np.count_nonzero(volumes(nodes, cells) * np.sign(volumes(rest, cells)) <= 0.0))


def neighbours(edges: Array, faces: Array) -> Array:
    """Pairs of faces that share an edge; given are edge and face of each corner of each face."""
    order = np.argsort(edges, kind="stable")
    edges, faces = edges[order], faces[order]
    starts = np.flatnonzero(np.diff(edges, prepend=-1))
    whole = starts[np.diff(starts, append=len(edges)) == 2]
    return np.stack([faces[whole], faces[whole + 1]], axis=1)


def folded(normals: Array, pairs: Array) -> Array:
    return np.einsum("ij,ij->i", normals[pairs[:, 0]], normals[pairs[:, 1]]) < FOLDED


def table(frames: range, before: Quality, after: Quality, shown: tuple[int, ...]) -> str:
    """The shown frames, and the worst of all: before Softrig | after."""
    lines = [f"{'frame':>8}{'jerk, % of size':>22}{'inverted cells':>18}{'folded edges':>16}"]
    for frame in shown:
        lines.append(_row(str(frame), before, after, [frame - frames.start]))
    lines.append(_row("worst", before, after, range(len(frames))))
    return "\n".join(lines)


def _row(name: str, before: Quality, after: Quality, chosen: object) -> str:
    def worst(quality: Quality) -> tuple[float, int, int]:
        parts = (quality.jerk, quality.inverted, quality.folds)
        return tuple(part[chosen].max() for part in parts)

    (a, b, c), (d, e, f) = worst(before), worst(after)
    jerks, cells, folds = f"{a:.2f} | {d:.2f}", f"{b} | {e}", f"{c} | {f}"
    return f"{name:>8}{jerks:>22}{cells:>18}{folds:>16}"


def write(path: Path, frames: range, before: Quality, after: Quality) -> None:
    """All frames, for whoever wants a plot."""
    names = ("jerk", "inverted", "folds")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["frame", *(f"{n} {when}" for n in names for when in ("before", "after"))])
        for number, frame in enumerate(frames):
            pairs = ((getattr(before, n)[number], getattr(after, n)[number]) for n in names)
            writer.writerow([frame, *(f"{value:.6g}" for pair in pairs for value in pair)])
