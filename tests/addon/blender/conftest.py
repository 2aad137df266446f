# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test starts in an empty file with the add-on on, and ends without a fault behind a door."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT)]

from support import addon, scenes  # noqa: E402


@pytest.fixture
def scene() -> Iterator[Any]:
    if not addon.is_enabled():
        addon.enable()
    made = scenes.start_empty()
    session = addon.session()
    assert not session.problem, session.problem
    session.fault = ""
    yield made
    session = addon.session()
    assert session is None or not session.fault, session.fault


@pytest.fixture
def skin(scene: Any) -> Any:
    """A character with Softrig that runs and stops."""
    skin, _ = scenes.make_character()
    scenes.add_softrig(skin)
    return skin
