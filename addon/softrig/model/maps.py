# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted maps: from what the artist paints, 0 to 1, to the library's factors and shares. Pure."""

import hashlib
from dataclasses import dataclass, fields, replace

import numpy as np

from ..native.arrays import FloatArray, IntArray, as_floats
from ..native.inputs import MapsInput

FACTORS = ("stiffness", "mass", "damping")
SHARES = ("detail", "hold", "pin")
KINDS = FACTORS + SHARES


@dataclass(frozen=True)
class MapChoice:
    """The vertex group of a map, and for a factor what full paint means."""

    group: str = ""
    full: float = 1.0


@dataclass(frozen=True)
class MapChoices:
    """Which groups the artist named; an empty name is no map."""

    stiffness: MapChoice = MapChoice()
    mass: MapChoice = MapChoice()
    damping: MapChoice = MapChoice()
    detail: MapChoice = MapChoice()
    hold: MapChoice = MapChoice()
    pin: MapChoice = MapChoice()

    def without_detail(self) -> "MapChoices":
        """The part that needs no new cage."""
        return replace(self, detail=MapChoice())


@dataclass(frozen=True)
class Groups:
    """All entries of all vertex groups, side by side."""

    vertices: IntArray
    groups: IntArray
    values: FloatArray
    names: tuple[str, ...]


def maps_from_groups(vertex_count: int, groups: Groups, choices: MapChoices) -> MapsInput:
    """A group that is not there is a map that nobody painted."""
    found: dict[str, FloatArray] = {}
    for kind in KINDS:
        choice: MapChoice = getattr(choices, kind)
        if choice.group in groups.names:
            index = groups.names.index(choice.group)
            painted = _weights_of(vertex_count, groups, index)
            found[kind] = painted if kind in SHARES else to_factor(painted, choice.full)
    return MapsInput(**found)


def _weights_of(vertex_count: int, groups: Groups, index: int) -> FloatArray:
    chosen = groups.groups == index
    painted = np.zeros(vertex_count, np.float32)
    painted[groups.vertices[chosen]] = groups.values[chosen]
    return painted


def to_factor(painted: FloatArray, full: float) -> FloatArray:
    """No paint is 1, full paint is `full`, and half of the paint half the way as ratios go.

    So a soft edge of the brush fades into what is not painted, and not in the group is no paint.
    """
    return as_floats(np.power(np.float64(full), painted.astype(np.float64)))


def fingerprint(maps: MapsInput, kinds: tuple[str, ...] = KINDS) -> str:
    """Another one as soon as one bit of one of these maps differs."""
    digest = hashlib.blake2b(digest_size=16)
    for field in fields(maps):
        values = getattr(maps, field.name)
        if field.name in kinds and values is not None:
            digest.update(field.name.encode())
            digest.update(values.tobytes())
    return digest.hexdigest()
