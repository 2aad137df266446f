# SPDX-License-Identifier: GPL-3.0-or-later
"""Each trap is told in its case, alone, and not otherwise."""

import pytest
from softrig.model.diagnostics import FIX, TRAPS, Facts, find_traps

BAKED = {"is_baked": True, "baked_frames": (1, 40), "frames": (1, 40)}
CASES = {
    "MULTIRES": {"multires": "Multires", "blocker": "Multires"},
    "BLOCKER": {"blocker": "Remesh"},
    "UNEVEN": {"uneven": "Subsurf"},
    "KEYED": {"keyed": "Array"},
    "STACK_CHANGED": {"is_stack_changed": True},
    "ARMATURE_AFTER": {"armature_after": "Armature"},
    "ARMATURE_BEYOND": {"armature_beyond": "Armature"},
    "NODES_AFTER": {"nodes_after": "Waves"},
    "HALF_ARMATURE": {"half_armature": "Armature"},
    "RESTING": {"resting": "Rig"},
    "HIDDEN": {"hidden": "Rig"},
    "OFF_IN_RENDER": {"off_in_render": True},
    "OFF_IN_VIEWPORT": {"off_in_viewport": True},
    "FLAT": {"is_flat": True},
    "CHANGING_SCALE": {"changes_proportions": True},
    "EDITED": {"vertices": 100, "prepared_vertices": 90},
    "UNWEIGHTED": {"vertices": 100, "unweighted": 100},
    "ODD_GRAVITY": {"gravity": 1.0, "size": 180.0},
    "LOST_MAP": {"lost_map": "Mass", "lost_group": "heavy"},
    "STUCK_FOLLOWER": {"stuck_follower": "Shirt", "stuck_because": "It hangs on vertices."},
    "UNBAKED_FOLLOWER": {"unbaked_follower": "Shirt"},
    "TROUBLE": {"trouble": "Out of memory."},
    "LIMITED": {"limited": 3},
    "BROKEN_BAKE": {"is_baked": True, "bake_fault": "is missing: /a.pc2", "frames": (1, 40)},
    "SHORT_BAKE": {**BAKED, "frames": (1, 60)},
    "COARSE_BAKE": {**BAKED, "baked_subframes": 1, "subframes": 3},
    "OTHER_BAKE": {**BAKED, "is_rewritten": True, "baked_of": "a", "made_of": "b"},
    "OLD_KEYS": {"keys_of": "a", "made_of": "b"},
    "OLD_BAKE": {**BAKED, "baked_of": "a", "made_of": "b"},
}
NO_CASES = (
    {},
    {"is_rewritten": True},
    {"vertices": 100, "prepared_vertices": 90, "editing": True},
    {"vertices": 100, "prepared_vertices": 0},
    {"is_stack_changed": True, "editing": True},
    {"vertices": 100, "unweighted": 99},
    {"gravity": 1.0, "size": 2.0},
    {"gravity": 90.0, "size": 180.0},
    {"gravity": -90.0, "size": 180.0},
    {"gravity": 0.0, "size": 180.0},
    {"gravity": 1.0, "size": 180.0, "is_gravity_keyed": True},
    {"gravity": 1.0, "size": 0.0},
    BAKED,
    {**BAKED, "baked_of": "a", "made_of": "a"},
    {**BAKED, "baked_of": "a"},
    {**BAKED, "made_of": "b"},
    {**BAKED, "baked_frames": None},
    {**BAKED, "baked_subframes": 3, "subframes": 1},
    {**BAKED, "baked_frames": None, "subframes": 1},
)


def test_there_is_a_case_for_each_trap() -> None:
    assert [trap.key for trap in TRAPS] == list(CASES)


@pytest.mark.parametrize("key", CASES)
def test_a_trap_is_told_alone(key: str) -> None:
    (finding,) = find_traps(Facts(**CASES[key]))
    assert finding.key == key
    for value in CASES[key].values():
        if isinstance(value, str) and len(value) > 1:
            assert value in finding.text
    assert "{" not in finding.text and finding.text[0].isupper()


@pytest.mark.parametrize("facts", NO_CASES)
def test_otherwise_nothing_is_told(facts: dict[str, object]) -> None:
    assert find_traps(Facts(**facts)) == ()


def test_what_fitting_gravity_sets_is_no_trap() -> None:
    for size in (1e-3, 0.1, 50.0, 1e4):
        facts = Facts(gravity=1.0, size=size)
        assert find_traps(facts)
        assert not find_traps(Facts(gravity=facts.wanted_gravity, size=size))


def test_several_come_in_the_order_of_the_table() -> None:
    every = {name: value for case in CASES.values() for name, value in case.items()}
    keys = [finding.key for finding in find_traps(Facts(**every))]
    assert keys == [trap.key for trap in TRAPS if trap.key in keys] and len(keys) > 10


def test_a_button_has_a_label() -> None:
    for trap in TRAPS:
        assert not trap.operator or trap.label
        assert trap.operator == FIX or trap.label != "Fix" or not trap.operator
