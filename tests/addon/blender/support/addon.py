# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on under test, under the name that this Blender gave it."""

import importlib
import os
from types import ModuleType
from typing import Any

import addon_utils

NAME = os.environ.get("SOFTRIG_MODULE", "softrig")


def module(path: str) -> ModuleType:
    return importlib.import_module(f"{NAME}.{path}")


def session() -> Any:
    return module("model.session").current()


def entry_of(ob: Any) -> Any:
    return session().entries[ob.softrig.uuid]


def is_enabled() -> bool:
    return addon_utils.check(NAME)[1]


def enable() -> None:
    addon_utils.enable(NAME, default_set=True)
    assert is_enabled()


def disable() -> None:
    addon_utils.disable(NAME, default_set=True)
    assert not is_enabled()
