# SPDX-License-Identifier: GPL-3.0-or-later
"""A short soak; `./softrig test soak` does thousands of actions, and plants worse faults."""

from pathlib import Path
from typing import Any

import pytest
from soak import plants, soak
from soak.checks import SoakError

ACTIONS = 200
SEED = 7


def test_random_actions_leave_what_a_clean_simulation_gives(scene: Any, tmp_path: Path) -> None:
    world = soak.run(ACTIONS, SEED, 0, tmp_path)
    assert world.found["live"] > ACTIONS / 10, "hardly anything was compared"


def test_it_finds_a_cache_that_outlives_its_settings(scene: Any, tmp_path: Path) -> None:
    with plants.planted("cache"), pytest.raises(SoakError, match="clean simulation"):
        soak.run(ACTIONS, SEED, 0, tmp_path)
