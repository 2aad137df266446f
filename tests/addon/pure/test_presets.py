# SPDX-License-Identifier: GPL-3.0-or-later
"""Tissues are in range and told apart; files come back, and bad ones are refused in words."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from softrig.model.presets import (
    LIMITS,
    NAME_LENGTH,
    TISSUES,
    file_name,
    find_tissue,
    from_json,
    to_json,
)
from softrig.model.rig import RefusalError
from softrig.model.settings import (
    FASTEST_HZ,
    SLOWEST_HZ,
    frequency_from_softness,
    softness_from_frequency,
)

REPOSITORY = Path(__file__).resolve().parents[3]
MINE = {
    "softness": 0.31,
    "settle_frames": 17.5,
    "volume": 0.4,
    "density": 900.0,
    "stiffness_kpa": 12.0,
    "pose_correction": 0.25,
}


def test_tissues_are_in_range_and_found_again() -> None:
    assert len({tissue.key for tissue in TISSUES}) == len(TISSUES)
    for tissue in TISSUES:
        assert set(tissue.values) == set(LIMITS)
        for name, (least, most) in LIMITS.items():
            assert least <= tissue.values[name] <= most, (tissue.key, name)
        assert find_tissue(tissue.values) is tissue
    assert find_tissue(MINE) is None
    assert find_tissue({**TISSUES[0].values, "pose_correction": 0.5}) is None


def test_stiffer_tissues_swing_faster() -> None:
    softness = {tissue.key: tissue.values["softness"] for tissue in TISSUES}
    order = ["TAIL", "JELLY", "FAT", "FLESH", "EAR_CARTILAGE", "SKIN", "RUBBER", "MUSCLE"]
    assert [softness[key] for key in order] == sorted((softness[k] for k in order), reverse=True)


@pytest.mark.parametrize("hertz", [SLOWEST_HZ, 1.4, 2.0, FASTEST_HZ])
def test_softness_and_frequency_are_each_others_inverse(hertz: float) -> None:
    assert frequency_from_softness(softness_from_frequency(hertz)) == pytest.approx(hertz, abs=1e-4)


def test_a_file_comes_back() -> None:
    assert from_json(to_json(MINE), "mine") == MINE


def test_what_a_file_lacks_stays_as_it_is() -> None:
    assert from_json('{"softrig_preset": 1, "dials": {"volume": 0.2, "new": 3}}', "a") == {
        "volume": 0.2
    }


def changed(**dials: Any) -> str:
    data = json.loads(to_json(MINE))
    data["dials"].update(dials)
    return json.dumps(data)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "damaged"),
        ("{", "damaged"),
        pytest.param("[" * 100_000, "damaged", id="deep"),
        ("null", "no preset"),
        ("[1, 2]", "no preset"),
        ('{"softness": 0.5}', "no preset"),
        ('{"softrig_preset": 2, "dials": {}}', "another version"),
        ('{"softrig_preset": 1}', "holds no dials"),
        ('{"softrig_preset": 1, "dials": [1]}', "holds no dials"),
        (changed(softness="soft"), '"softness" has to be a number from 0 to 1'),
        (changed(softness=True), '"softness" has to be'),
        (changed(softness=None), '"softness" has to be'),
        (changed(volume=0.7), '"volume" has to be a number from 0 to 0.5'),
        (changed(density=-1), '"density" has to be'),
        (changed(settle_frames=float("nan")), '"settle_frames" has to be'),
        (changed(settle_frames=float("inf")), '"settle_frames" has to be'),
        pytest.param(changed(settle_frames=10**400), "has to be", id="large"),
    ],
)
def test_bad_files_are_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(RefusalError) as caught:
        from_json(text, "my file")
    assert words in str(caught.value) and '"my file"' in str(caught.value)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Belly", "Belly.json"),
        (" Bauch, groß (2) ", "Bauch_ groß (2).json"),
        ("../../etc/passwd", "______etc_passwd.json"),
        (".hidden", "_hidden.json"),
        ("a\nb\0c", "a_b_c.json"),
    ],
)
def test_names_make_files_in_the_folder_only(name: str, expected: str) -> None:
    assert file_name(name) == expected
    assert len(file_name(100 * name)) <= NAME_LENGTH + 5


@pytest.mark.parametrize("name", ["", "   ", "\t"])
def test_a_preset_wants_a_name(name: str) -> None:
    with pytest.raises(RefusalError, match="name"):
        file_name(name)


def test_the_librarys_tests_play_these_tissues() -> None:
    source = (REPOSITORY / "tests/native/sim/test_body_flesh.c").read_text(encoding="utf-8")
    table = re.search(r"Tissue TISSUES\[\] = \{\n(.*?)\};", source, re.DOTALL)
    assert table is not None
    row = r'\{"(\w+)", ([\d.]+)f, ([\d.]+)f, ([\d.]+)f, ([\d.]+)f\}'
    rows = re.findall(row, table.group(1))
    assert len(rows) == len(TISSUES)
    for tissue, (name, *numbers) in zip(TISSUES, rows, strict=True):
        hertz, settle, volume, density = map(float, numbers)
        assert tissue.key.lower().startswith(name)
        assert tissue.values["softness"] == round(softness_from_frequency(hertz), 3)
        assert tissue.values["settle_frames"] == settle
        assert tissue.values["volume"] == volume
        assert tissue.values["density"] == density
