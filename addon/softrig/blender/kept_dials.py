# SPDX-License-Identifier: GPL-3.0-or-later
"""The dials of library overrides, kept on their carriers.

Opened without this add-on, a file loses them: Blender drops overrides of properties that it does
not know. What the file holds itself it keeps, and the carrier of an override is such a thing.
"""

import json
from typing import Any

import bpy

from . import carrier, owners
from .properties import setting_names

DIALS = "softrig_dials"
"""On the carrier: those that are not at their defaults, as JSON."""


def keep(ob: Any) -> None:
    """Before the file is saved."""
    holder = carrier.find_carrier(ob)
    if ob.override_library is None or holder is None or holder.library is not None:
        return
    values = {name: getattr(ob.softrig, name) for name in setting_names()}
    chosen = {name: value for name, value in values.items() if ob.softrig.is_property_set(name)}
    holder[DIALS] = json.dumps(chosen, default=list)


def bring_back() -> None:
    """To overrides that show what the other file has, while their carriers are somebody's who is
    not here.
    """
    lost = [(ob, _kept(ob)) for ob in bpy.data.objects if ob.override_library is not None]
    for ob, kept in lost:
        if kept and all(other.softrig.uuid != kept.get("uuid") for other in bpy.data.objects):
            for name, value in kept.items():
                setattr(ob.softrig, name, value)


def _kept(ob: Any) -> dict[str, Any]:
    """What was kept for it, where it has lost it."""
    holder, source = carrier.find_carrier(ob), ob.override_library.reference
    if holder is None or holder.library is not None or DIALS not in holder or source is None:
        return {}
    if ob.softrig.uuid != source.softrig.uuid or holder.get(owners.OWNER) == ob.softrig.uuid:
        return {}
    try:
        kept = json.loads(holder[DIALS])
    except ValueError:
        return {}
    known = setting_names()
    return {name: value for name, value in kept.items() if name in known} if kept else {}
