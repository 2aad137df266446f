# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists that the artist chooses from, and the range that a shot covers."""

from typing import Any

import numpy as np
import pytest
from softrig.model import settings
from softrig.model.settings import (
    COMPLEMENTS,
    LOOPS,
    MATERIALS,
    OWN_QUALITY,
    PRE_ROLLS,
    QUALITIES,
    SOLVERS,
    SWINGS,
)
from softrig.native import bindings
from softrig.native.inputs import FrameRange, InsideInput, ShotSettings

DIALS = {
    "softness": 0.5,
    "settle_frames": 24.0,
    "volume": 0.45,
    "pose_correction": 0.0,
    "stiffness_kpa": 0.0,
    "density_kg_m3": 1000.0,
    "substeps": 10,
}
INSIDE = {
    "hole_percent": 20.0,
    "sheet_percent": 1.0,
    "fills_hollows": False,
    "joins_touching": False,
}


def test_defaults_are_the_librarys() -> None:
    assert settings.make_settings(**DIALS) == ShotSettings()
    assert settings.make_inside(**INSIDE) == InsideInput()


def test_defaults_of_the_inside_are_the_librarys(api: Any) -> None:
    definition = api._lib.srDefaultCharacterDef()
    assert np.float32(InsideInput().largest_hole) == np.float32(definition.largestHole)
    assert np.float32(InsideInput().sheet_thickness) == np.float32(definition.sheetThickness)
    assert InsideInput().fills_hollows == definition.fillsHollows
    assert InsideInput().joins_touching == definition.joinsTouching


def test_hundredths_of_the_size_become_shares_of_it() -> None:
    assert settings.make_inside(**{**INSIDE, "hole_percent": 55.0}).largest_hole == 0.55
    # as Blender keeps it, in 32 bits
    narrow = float(np.float32(0.3))
    assert settings.make_inside(**{**INSIDE, "sheet_percent": narrow}).sheet_thickness == 0.003
    for wish in ("fills_hollows", "joins_touching"):
        assert getattr(settings.make_inside(**{**INSIDE, wish: True}), wish)


def test_each_choice_reaches_the_library() -> None:
    for choice in SOLVERS:
        assert settings.make_settings(**DIALS, solver=choice.key).solver == choice.number
    for choice in COMPLEMENTS:
        made = settings.make_settings(**DIALS, complement=choice.key)
        assert made.complement == choice.number
    for choice in MATERIALS:
        assert settings.make_settings(**DIALS, material=choice.key).material == choice.number
    for choice in SWINGS:
        assert settings.make_settings(**DIALS, swings=choice.key).swings == choice.number
    for choice in LOOPS:
        assert settings.make_settings(**DIALS, loop=choice.key).loop == choice.number


def test_a_limit_is_none_or_at_least_the_whole_length() -> None:
    limits = {0.0: 0.0, 0.4: 1.0, 1.0: 1.0, 1.5: 1.5}
    for asked, given in limits.items():
        assert settings.make_settings(**DIALS, stretch_limit=asked).stretch_limit == given
    assert settings.make_settings(**DIALS, fibre_stiffness=3.0).fibre_stiffness == 3.0


def test_a_choice_of_a_later_version_counts_as_the_first() -> None:
    assert settings.make_settings(**DIALS, solver="LATER").solver == SOLVERS[0].number


def test_lists_offer_all_that_the_library_has_and_each_once() -> None:
    assert {choice.number for choice in SOLVERS} == set(bindings.Solver)
    assert {choice.number for choice in COMPLEMENTS} == set(bindings.Complement)
    assert {choice.number for choice in MATERIALS} == set(bindings.MaterialKind)
    assert {choice.number for choice in SWINGS} == set(bindings.Swings)
    assert {choice.number for choice in LOOPS} == set(bindings.Loop)
    for choices in (SOLVERS, COMPLEMENTS, MATERIALS, SWINGS, LOOPS, PRE_ROLLS):
        assert len({choice.key for choice in choices}) == len(choices)
        assert len({choice.number for choice in choices}) == len(choices)


def test_qualities_grow_and_are_found_again() -> None:
    for number, quality in enumerate(QUALITIES):
        assert settings.find_quality(quality.nodes, quality.substeps) == number
    assert settings.find_quality(1001, 10) == OWN_QUALITY
    costs = [quality.nodes * quality.substeps for quality in QUALITIES]
    assert costs == sorted(costs)


@pytest.mark.parametrize("held", [False, True])
def test_a_pre_roll_comes_before_what_is_shown(held: bool) -> None:
    frames = FrameRange(10, 20, 24.0, pre_roll=5, held=held)
    assert (frames.first, frames.last) == (10, 29)
    assert (frames.shot_first, frames.shot_count) == (5, 25)
    expected = [10] * 6 + [11] if held else list(range(5, 12))
    assert [frames.to_scene(frame) for frame in range(5, 12)] == expected
