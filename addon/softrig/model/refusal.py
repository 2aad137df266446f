# SPDX-License-Identifier: GPL-3.0-or-later
"""A render of the window that is to have no first frame, or had some that were wrong."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Refusal:
    """Lives until the artist was told."""

    scene_name: str
    title: str
    """Of what the artist is told."""
    kept: dict[str, Any] = field(default_factory=dict)
    """The artist's border; empty until it is taken."""
    is_over: bool = False
    """The border is back; the artist is to be told yet."""
