# SPDX-License-Identifier: GPL-3.0-or-later
"""What was prepared, kept with the carrier: bytes in a custom property of its object.

Every Blender takes such a property along when it saves, undoes, copies, appends and links. So a
character that comes from a file moves at once, and moves alike on every machine.
"""

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.proportions import EVEN, stored
from ..model.rig import Shape, Spaces
from ..model.session import BuildInputs, Entry, Session
from ..native.arrays import FloatArray
from ..native.errors import NativeError
from . import carrier, compat, graph

log = logging.getLogger(__name__)

DATA = "softrig_prepared"
KEY = "softrig_prepared_for"
"""Names what was prepared: the same skin, weights, bones and wishes give the same text."""
SPACES = "softrig_prepared_spaces"
"""Where the armatures were then, in relation to the skin. Older files do not tell."""
PROPORTIONS = "softrig_prepared_proportions"
"""What the object made of the skin's shape then; absent where nothing."""


def keep(session: Session, entry: Entry, ob: Any) -> None:
    """On the carrier, if there is one that may be written; else the next turn to do so."""
    holder = carrier.find_carrier(ob)
    if holder is None or holder.library is not None or entry.character is None:
        return
    try:
        data = session.api.character_file(entry.character)
    except NativeError as error:
        log.warning("%s was not stored: %s", entry.object_name, error)
        return
    compat.write_bytes(holder, DATA, data)
    holder[KEY] = entry.key
    _set(holder, SPACES, entry.spaces)
    _set(holder, PROPORTIONS, None if entry.proportions.are_even else entry.proportions.matrix)
    entry.is_kept = True


def _set(holder: Any, name: str, numbers: FloatArray | None) -> None:
    if numbers is not None and len(numbers):
        holder[name] = numbers.reshape(-1).tolist()
    elif name in holder:
        del holder[name]


def open_kept(
    session: Session, entry: Entry, ob: Any, shape: Shape, build: BuildInputs, spaces: Spaces
) -> bool:
    """Takes what fits from the carrier, an override also from that of the linked file."""
    key = build.key(shape)
    for holder in _holders(ob):
        data = holder.get(DATA) if holder.get(KEY) == key else None
        kept = np.array(holder[SPACES], np.float32) if SPACES in holder else None
        shaped = stored(holder[PROPORTIONS]) if PROPORTIONS in holder else EVEN
        if not isinstance(data, bytes) or (kept is not None and not spaces.are(kept)):
            continue
        if not spaces.proportions.are(shaped):
            continue
        try:
            session.open_prepared(entry, shape, build, data)
        except NativeError as error:
            log.warning("%s is prepared again: %s", entry.object_name, error)
            continue
        entry.spaces, entry.proportions = kept, shaped
        entry.is_kept = holder == carrier.find_carrier(ob)
        return True
    return False


def _holders(ob: Any) -> Iterator[Any]:
    borrowed = carrier.find_borrowed(ob)
    linked = compat.get_input(borrowed, graph.CARRIER) if borrowed is not None else None
    return (holder for holder in (carrier.find_carrier(ob), linked) if holder is not None)
