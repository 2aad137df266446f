# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones and weights on their way from Blender's shape to the library's."""

from dataclasses import replace

import numpy as np
import pytest
from sample import make_character
from softrig.model.maps import Groups
from softrig.model.rig import (
    LOOSE_TIP,
    SourceBone,
    is_loose,
    order_bones,
    split_words,
    weights_from_groups,
)
from softrig.model.settings import DEFAULT_LOOSE_PARTS, frequency_from_softness

REST = tuple(float(i) for i in range(16))
WORDS = split_words(DEFAULT_LOOSE_PARTS)


def bone(name: str, parent: str | None = None, deforms: bool = True) -> SourceBone:
    return SourceBone(name, parent, deforms, 1.0, REST)


def test_parents_stand_before_children_whatever_the_order_was() -> None:
    bones = order_bones([[bone("c", "b"), bone("b", "a"), bone("a")]], ())
    assert [b.name for b in bones] == ["a", "b", "c"]
    assert [b.parent for b in bones] == [-1, 0, 1]


def test_bones_that_do_not_deform_are_bridged() -> None:
    sources = [bone("a"), bone("x", "a", False), bone("y", "x", False), bone("b", "y")]
    bones = order_bones([sources], ())
    assert [(b.name, b.parent) for b in bones] == [("a", -1), ("b", 0)]


def test_a_bone_under_helpers_only_is_a_root() -> None:
    assert order_bones([[bone("x", None, False), bone("a", "x")]], ())[0].parent == -1


def test_each_armature_is_a_space_of_its_own() -> None:
    bones = order_bones([[bone("a")], [bone("a"), bone("b", "a")]], ())
    assert [(b.space, b.parent) for b in bones] == [(0, -1), (1, -1), (1, 1)]


@pytest.mark.parametrize("name", ["ear.L", "Ear2.R", "DEF-tail.001", "hair_04", "BackFin", "ears"])
def test_loose_names(name: str) -> None:
    assert is_loose(name, WORDS)


@pytest.mark.parametrize("name", ["forearm.L", "gear", "detail", "head", "chair", "muffin", ""])
def test_names_that_only_contain_the_word_are_not_loose(name: str) -> None:
    assert not is_loose(name, WORDS)


def test_loose_bones_get_the_share() -> None:
    bones = order_bones([[bone("head"), bone("ear", "head")]], WORDS)
    assert [b.loose_tip for b in bones] == [0.0, LOOSE_TIP]


def test_no_words_no_loose_bones() -> None:
    assert split_words(" , ,") == ()
    assert not is_loose("ear", ())


def test_weights_are_rows_sorted_by_vertex() -> None:
    bones = order_bones([[bone("a"), bone("b", "a")]], ())
    groups = Groups(
        np.array([3, 0, 0, 2, 1], np.int32),
        np.array([0, 1, 0, 2, 1], np.int32),
        np.array([0.5, 0.25, 0.75, 1.0, 0.0], np.float32),
        ("a", "b", "not a bone"),
    )
    weights = weights_from_groups(4, groups, bones)
    assert weights.starts.tolist() == [0, 2, 2, 2, 3]
    assert weights.bones.tolist() == [0, 1, 0]
    assert weights.values.tolist() == [0.75, 0.25, 0.5]


def test_a_group_moves_the_bones_of_that_name_in_all_armatures() -> None:
    bones = order_bones([[bone("a")], [bone("a")]], ())
    one = np.zeros(1, np.int32)
    groups = Groups(one, one, np.ones(1, np.float32), ("a",))
    assert weights_from_groups(1, groups, bones).bones.tolist() == [0, 1]


def test_the_group_of_a_bone_that_does_not_deform_has_no_effect() -> None:
    bones = order_bones([[bone("a"), bone("control", deforms=False)]], ())
    both = Groups(
        np.zeros(2, np.int32),
        np.arange(2, dtype=np.int32),
        np.array([0.25, 0.75], np.float32),
        ("a", "control"),
    )
    weights = weights_from_groups(2, both, bones)
    assert weights.starts.tolist() == [0, 1, 1]
    assert weights.bones.tolist() == [0]


def test_no_groups_no_weights() -> None:
    empty = np.zeros(0, np.int32)
    weights = weights_from_groups(3, Groups(empty, empty, empty.astype(np.float32), ()), ())
    assert weights.starts.tolist() == [0, 0, 0, 0]
    assert len(weights.bones) == len(weights.values) == 0


def test_softness_is_a_scale_of_equal_steps() -> None:
    assert frequency_from_softness(0.0) == 8.0
    assert frequency_from_softness(0.5) == 2.0
    assert frequency_from_softness(1.0) == 0.5
    assert frequency_from_softness(0.25) == 4.0
    assert frequency_from_softness(7.0) == 0.5


def nudged(array: np.ndarray) -> np.ndarray:
    other = array.copy()
    other[-1] += 1
    return other


def test_any_change_of_the_shape_is_another_fingerprint() -> None:
    shape = make_character()
    weights = shape.weights
    others = [
        replace(shape, positions=nudged(shape.positions)),
        replace(shape, triangles=nudged(shape.triangles)),
        replace(shape, weights=replace(weights, starts=nudged(weights.starts))),
        replace(shape, weights=replace(weights, bones=nudged(weights.bones))),
        replace(shape, weights=replace(weights, values=nudged(weights.values))),
        replace(shape, bones=shape.bones[:1]),
        replace(shape, bones=(replace(shape.bones[0], name="hip"), shape.bones[1])),
    ]
    assert len({shape.fingerprint(), *(other.fingerprint() for other in others)}) == 8
    assert make_character().fingerprint() == shape.fingerprint()
