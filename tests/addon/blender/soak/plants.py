# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that the soak must find, planted from outside: the shipped code knows nothing of them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from support import addon

Plant = Callable[[], Callable[[], None]]
"""Plants a fault; its answer takes it away."""


def _replace(owner: Any, name: str, fault: Any) -> Callable[[], None]:
    original = getattr(owner, name)
    setattr(owner, name, fault)
    return lambda: setattr(owner, name, original)


def _none() -> Callable[[], None]:
    return lambda: None


def _pointer() -> Callable[[], None]:
    """References to Blender's objects that are kept across events, in place of names."""
    objects = addon.module("blender.objects")
    original, kept = objects.find_object, {}

    def find_object(entry: Any) -> Any:
        if entry.uuid not in kept:
            kept[entry.uuid] = original(entry)
        return kept[entry.uuid]

    return _replace(objects, "find_object", find_object)


def _cache() -> Callable[[], None]:
    """Other dials are noted, but the frames that are there stay."""
    session_class = addon.module("model.session").Session

    def set_params(self: Any, entry: Any, settings: Any) -> None:
        entry.settings = settings

    return _replace(session_class, "set_params", set_params)


PLANTS: dict[str, Plant] = {"none": _none, "pointer": _pointer, "cache": _cache}


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """Also after the add-on was switched off and on, which loads its modules anew."""
    enable, undo = addon.enable, [PLANTS[name]()]

    def enable_planted() -> None:
        enable()
        undo.append(PLANTS[name]())

    addon.enable = enable_planted
    try:
        yield
    finally:
        addon.enable = enable
        for take_away in undo:
            take_away()
