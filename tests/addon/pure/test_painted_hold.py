# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted Hold on the stop of test_stop.py: a dial without a cliff, in all solvers alike."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from softrig.native import bindings
from softrig.native.api import Api
from softrig.native.inputs import MapsInput, ShotSettings
from softrig.native.library import load_library
from test_stop import FRAMES, character, rows, skin

from sample_blends import motion, skeleton

PAINTS = (0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
SOLVERS = tuple(bindings.Solver)
REGIONS = ("tail", "belly")


class Stage:
    """Plays the stop with a region painted."""

    def __init__(self, library_path: Path) -> None:
        self.points, self.triangles = skin()
        self.api, self.lib = Api(library_path), load_library(library_path)
        self.size = np.ptp(self.points, axis=0).max()
        self.characters: dict[int, object] = {}

    def character_of(self, count: int) -> object:
        """Prepared once at each size of the cage; painted anew for each play."""
        if count not in self.characters:
            data = character(self.points, self.triangles, count)
            self.characters[count] = self.api.create_character(data)
            self.lib.srCharacter_Wait(self.characters[count], -1.0)
        return self.characters[count]

    def play(self, region: str, paint: float, solver: int, kind: str, count: int) -> np.ndarray:
        """In percent of the size, how far each vertex of the region goes, frame by frame."""
        chosen = skeleton.vertices_of(region, self.points)
        painted = np.zeros(len(self.points), np.float32)
        painted[chosen] = paint
        character_id = self.character_of(count)
        self.api.set_maps(character_id, MapsInput(**{kind: painted}), len(self.points))
        shot = self.api.create_shot(character_id, FRAMES, ShotSettings(solver=solver))
        self.api.write_tape(shot, FRAMES.first, rows())
        assert self.api.wait_frame(shot, FRAMES.last, 300.0)
        buffer = np.zeros(3 * len(self.points), np.float32)
        lengths = []
        for frame in range(motion.STOP_FRAME, FRAMES.last + 1):
            assert self.api.read_offsets(shot, frame, buffer)
            offsets = buffer.reshape(-1, 3)[chosen].astype(np.float64)
            lengths.append(np.linalg.norm(offsets, axis=1) * 100.0 / self.size)
        self.api.destroy_shot(shot)
        return np.array(lengths)


@pytest.fixture(scope="module")
def stage(library_path: Path) -> Iterator[Stage]:
    made = Stage(library_path)
    yield made
    for character_id in made.characters.values():
        made.api.destroy_character(character_id)
    made.api.shutdown()
    assert made.api.byte_count() == 0


def mean(lengths: np.ndarray) -> float:
    return float(np.sqrt(np.mean(lengths**2)))


@pytest.fixture(scope="module")
def left(stage: Stage) -> dict[tuple[str, int], list[float]]:
    """Of each region and solver: what each paint leaves of the unpainted motion."""
    shares = {}
    for region in REGIONS:
        for solver in SOLVERS:
            sizes = [mean(stage.play(region, paint, solver, "hold", 1200)) for paint in PAINTS]
            shares[region, solver] = [size / sizes[0] for size in sizes]
            print(region, solver.name, *(f"{share:.3f}" for share in shares[region, solver]))
    return shares


def test_a_trace_of_paint_is_a_trace_of_a_hold(left: dict[tuple[str, int], list[float]]) -> None:
    for shares in left.values():
        for paint, share in zip(PAINTS, shares, strict=True):
            assert share >= 1.0 - 3.0 * paint


def test_more_paint_holds_more_until_nearly_nothing_moves(
    left: dict[tuple[str, int], list[float]],
) -> None:
    for (region, _), shares in left.items():
        assert all(more < less for less, more in zip(shares, shares[1:], strict=False))
        assert 0.2 < shares[PAINTS.index(0.5)] < 0.8
        # the belly's own border, two cells wide, is a good part of it
        assert shares[-1] < (0.03 if region == "tail" else 0.25)


def test_paint_means_the_same_in_all_solvers(left: dict[tuple[str, int], list[float]]) -> None:
    for region in REGIONS:
        for solver in SOLVERS:
            theirs = left[region, bindings.Solver.COMPLEMENTARY]
            for one, other in zip(left[region, solver], theirs, strict=True):
                assert abs(one - other) < 0.12


def test_the_size_of_the_cage_hardly_matters(stage: Stage) -> None:
    for region in REGIONS:
        largest = [
            stage.play(region, 0.5, bindings.Solver.COMPLEMENTARY, "hold", count).max()
            for count in (400, 4000)
        ]
        print(region, largest)
        assert max(largest) <= 1.25 * min(largest)


def test_what_is_pinned_does_not_move_at_all(stage: Stage) -> None:
    for region in REGIONS:
        for solver in SOLVERS:
            assert not stage.play(region, 1.0, solver, "pin", 1200).any()
