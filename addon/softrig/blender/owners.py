# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a carrier is, where modifiers were copied, and that it has as many points as its skin.

What the timer changes here no step of the history knows: see decision 66.
"""

from collections.abc import Iterable
from typing import Any

import bpy

from ..model.baking import is_file_of
from . import carrier, compat, graph

OWNER = "softrig_owner"
"""On the carrier: the identity of the one that it was made for."""


def own(ob: Any) -> None:
    """The carrier is this one's from now on, whatever else comes to read it."""
    holder, identity = carrier.find_carrier(ob), _identity(ob)
    if holder is not None and identity and holder.get(OWNER) != identity:
        holder[OWNER] = identity


def _owns(ob: Any) -> bool:
    holder = carrier.find_carrier(ob)
    return holder is not None and bool(_identity(ob)) and holder.get(OWNER) == _identity(ob)


def _identity(ob: Any) -> str:
    return ob.softrig.uuid or ob.softrig.follower_uuid


def drop_doubles(ob: Any) -> bool:
    """An override whose linked data became local has two: what was the other file's moves it too.

    Its own one stays; whether another went. One that reads nothing is left alone: its file may
    come back.
    """
    holders = {m.name: compat.get_input(m, graph.CARRIER) for m in carrier.list_ours(ob)}
    names = [name for name, holder in holders.items() if holder is not None]
    if len(names) < 2:
        return False

    def rank(name: str) -> tuple[bool, bool]:
        return holders[name].get(OWNER) == _identity(ob), ob.modifiers[name].show_viewport

    kept = max(names, key=rank)
    for name in names:
        if name != kept:
            carrier.remove_modifier(ob, ob.modifiers[name])
    return True


def duplicate(ob: Any) -> None:
    """Gives a copied skin a carrier of its own, with the same bake if there is one."""
    modifier, holder = carrier.find_modifier(ob), carrier.find_carrier(ob)
    if holder is None:
        return
    copied = holder.copy()
    copied.data = holder.data.copy()
    compat.set_input(modifier, graph.CARRIER, copied)
    own(ob)


def separate(obs: Iterable[Any]) -> list[Any]:
    """Whose modifiers were copied from others gets points of its own; who it is, returned.

    The owner keeps what it has: undo leaves objects alone that no step changed, and one that came
    to read a new carrier meanwhile would then read freed memory. Takes stay with the one that they
    are named after.
    """
    met, renewed = set(), []
    for ob in sorted(obs, key=lambda ob: (_owns(ob), _is_named_after(ob)), reverse=True):
        holder = carrier.find_carrier(ob)
        if holder in met:
            compat.set_input(carrier.find_modifier(ob), graph.CARRIER, carrier.make_carrier(ob))
            renewed.append(ob)
        elif holder is not None:
            met.add(holder)
        own(ob)
    return renewed


def _is_shared(ob: Any) -> bool:
    holder, others = carrier.find_carrier(ob), (other for other in bpy.data.objects if other != ob)
    return any(carrier.find_carrier(other) == holder for other in others)


def _is_named_after(ob: Any) -> bool:
    identity, holder = _identity(ob), carrier.find_carrier(ob)
    if holder is None:
        return False
    paths = [modifier.filepath for modifier in carrier.list_bakes(holder)]
    is_baked = any(is_file_of(path, identity) for path in paths)
    return is_baked or (not paths and holder.name == f"{ob.name} Softrig")


def fit(ob: Any, count: int) -> None:
    """After the artist changed the mesh: as many points as it has now at our place, all zero.

    A carrier that was deleted is made anew, and one that another reads is left to that one.
    """
    if carrier.is_lost(ob) or (not carrier.fits(ob, count) and not _owns(ob) and _is_shared(ob)):
        compat.set_input(carrier.find_modifier(ob), graph.CARRIER, carrier.make_carrier(ob))
    holder, stack = carrier.find_carrier(ob), carrier.describe_stack(ob)
    if holder is None:
        return
    if holder.get(carrier.STACK, "") != stack:
        holder[carrier.STACK] = stack
    if len(holder.data.vertices) == count:
        return
    for modifier in carrier.list_bakes(holder):
        holder.modifiers.remove(modifier)
    # in place: undo leaves a carrier alone that no step changed, and a new mesh would be freed
    holder.data.clear_geometry()
    carrier.add_points(holder.data, count)
