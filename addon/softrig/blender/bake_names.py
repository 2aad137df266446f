# SPDX-License-Identifier: GPL-3.0-or-later
"""How the shape keys are named that a bake makes."""

from typing import Any

PREFIX = "Softrig "


def is_ours(key: Any) -> bool:
    return key.name.startswith(PREFIX) and key.name[len(PREFIX) :].lstrip("-").isdigit()


def has_ours(mesh: Any) -> bool:
    keys = mesh.shape_keys
    return keys is not None and any(is_ours(key) for key in keys.key_blocks)
