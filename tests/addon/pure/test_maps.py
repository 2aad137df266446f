# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted maps on their way from vertex groups to the library's numbers."""

from dataclasses import replace

import numpy as np
from sample import BUILD, make_character
from softrig.model.maps import KINDS, Groups, MapChoice, MapChoices, maps_from_groups, to_factor
from softrig.native.bindings import Mesher
from softrig.native.inputs import MapsInput

GROUPS = Groups(
    np.array([0, 2, 2], np.int32),
    np.array([0, 0, 1], np.int32),
    np.array([1.0, 0.5, 0.25], np.float32),
    ("firm", "held"),
)


def test_no_paint_is_once_and_full_paint_what_the_artist_said() -> None:
    painted = np.array([0.0, 0.5, 1.0], np.float32)
    assert to_factor(painted, 4.0).tolist() == [1.0, 2.0, 4.0]
    assert to_factor(painted, 0.25).tolist() == [1.0, 0.5, 0.25]
    assert to_factor(painted, 1.0).tolist() == [1.0, 1.0, 1.0]


def test_a_group_that_nobody_named_or_that_is_gone_is_no_map() -> None:
    choices = MapChoices(mass=MapChoice("firm", 4.0), pin=MapChoice("no such group"))
    maps = maps_from_groups(3, GROUPS, choices)
    assert maps.mass.tolist() == [4.0, 1.0, 2.0]
    assert all(getattr(maps, kind) is None for kind in KINDS if kind != "mass")


def test_shares_are_taken_as_they_are_painted() -> None:
    maps = maps_from_groups(3, GROUPS, MapChoices(hold=MapChoice("held", 9.0)))
    assert maps.hold.tolist() == [0.0, 0.0, 0.25]
    assert maps.hold.dtype == np.float32


def test_only_detail_asks_for_another_cage() -> None:
    shape = make_character()
    for kind in KINDS:
        painted = MapsInput(**{kind: np.full(shape.vertex_count, 0.5, np.float32)})
        other = replace(shape, maps=painted)
        assert (other.fingerprint() != shape.fingerprint()) == (kind == "detail")
        assert (other.maps_fingerprint() != shape.maps_fingerprint()) == (kind != "detail")
        assert BUILD.key(other) != BUILD.key(shape)


def test_another_size_and_another_mesher_ask_for_another_cage() -> None:
    shape = make_character()
    sizes = [replace(BUILD, node_count=count) for count in (1000, 1001)]
    builds = [replace(size, mesher=mesher) for size in sizes for mesher in Mesher]
    assert len({build.key(shape) for build in builds}) == 2 * len(Mesher)


def test_the_same_paint_in_another_map_is_another_map() -> None:
    shape = make_character()
    paint = np.full(shape.vertex_count, 0.5, np.float32)
    one, two = replace(shape, maps=MapsInput(hold=paint)), replace(shape, maps=MapsInput(pin=paint))
    assert one.maps_fingerprint() != two.maps_fingerprint()
