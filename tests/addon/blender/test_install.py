# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip, installed as a user would: the add-on is enabled, its library is loaded from the zip."""

import ctypes
import importlib
import os
import re
from pathlib import Path

import addon_utils
import bpy
import pytest

NAME = os.environ["SOFTRIG_MODULE"]


def installed_folder() -> Path:
    return Path(importlib.import_module(NAME).__file__).parent


def library_module():
    return importlib.import_module(f"{NAME}.native.library")


def test_the_addon_is_enabled() -> None:
    assert NAME in bpy.context.preferences.addons
    is_default, is_loaded = addon_utils.check(NAME)
    assert is_loaded


def test_the_library_comes_from_the_zip() -> None:
    path = library_module().find_library()
    assert installed_folder() / "native" / "lib" in path.parents


def test_the_library_loads_and_has_the_version_of_the_manifest() -> None:
    library = library_module().load_library(library_module().find_library())
    version = library.srGetVersion()
    manifest = (installed_folder() / "blender_manifest.toml").read_text("utf-8")
    numbers = f"{version.major}.{version.minor}.{version.patch}"
    assert re.search(rf'^version = "{re.escape(numbers)}"$', manifest, re.MULTILINE)


@pytest.mark.parametrize("symbol", ["srGetVersion", "scipy_dgemm_", "cholmod_start"])
def test_nothing_of_the_library_is_visible_to_the_process(symbol: str) -> None:
    library_module().load_library(library_module().find_library())
    assert not hasattr(ctypes.CDLL(None), symbol)
