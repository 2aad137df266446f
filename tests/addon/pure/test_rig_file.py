# SPDX-License-Identifier: GPL-3.0-or-later
"""The exported text: names that survive blanks, numbers that keep all bits."""

import numpy as np
import pytest
from sample import FRAMES, make_character, make_rows
from softrig.model.rig_file import escape_name, obj_lines, rig_lines


def test_numbers_come_back_with_all_bits() -> None:
    rows = make_rows()
    rows[:, 5] = np.random.default_rng(1).standard_normal(len(rows)).astype(np.float32) * 1e-7
    lines = [line for line in rig_lines(make_character(), FRAMES, rows) if line.startswith("m ")]
    read = np.array([line.split()[1:] for line in lines], np.float32).reshape(rows.shape)
    assert (read.view(np.uint32) == rows.view(np.uint32)).all()


def test_the_surface_comes_back_with_all_bits() -> None:
    character = make_character()
    lines = list(obj_lines(character))
    read = np.array([line.split()[1:] for line in lines if line[0] == "v"], np.float32)
    assert (read.reshape(-1).view(np.uint32) == character.positions.view(np.uint32)).all()
    assert sum(line[0] == "f" for line in lines) == len(character.triangles) // 3


def test_each_record_has_its_count() -> None:
    character = make_character()
    lines = list(rig_lines(character, FRAMES, make_rows()))
    heads = [line.split()[0] for line in lines]
    assert lines[0] == "softrig-rig 1"
    assert heads.count("bone") == 2 and heads.count("space") == 1
    assert heads.count("v") == character.vertex_count
    assert heads.count("m") == FRAMES.count * 4
    assert all(len(line.split()) == 22 for line in lines if line.startswith("bone "))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ear tip", "Ear%20tip"),
        ("a%b#c", "a%25b%23c"),
        ("ör", "%C3%B6r"),
        ("ear.L_1-x", "ear.L_1-x"),
    ],
)
def test_names_have_no_blanks(name: str, text: str) -> None:
    assert escape_name(name) == text
