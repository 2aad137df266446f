# SPDX-License-Identifier: GPL-3.0-or-later
"""Updates of Blender that only echo a turned dial.

Whatever setting of an object is changed in the panel, Blender tells that the object moved, and so
did its shape keys and all that hangs on it. Taken for a change of the rig, each dragged dial would
be followed by a recording of the whole shot. So we note where these stood when the dial was turned:
one that still stands there, on what it stood on when the rig was recorded, did not move.
"""

from collections.abc import Iterator
from typing import Any

from ..model.session import Entry, Session
from . import compat


def stance(ob: Any) -> str:
    """What an object stands on. Some of it may be keyed: then no update is taken for an echo."""
    held_by = [(c.type, c.name, c.mute, _name(getattr(c, "target", None))) for c in ob.constraints]
    inverse = [tuple(row) for row in ob.matrix_parent_inverse]
    return repr((_name(ob.parent), ob.parent_type, ob.parent_bone, inverse, held_by))


def listen(entry: Entry, ob: Any, scene: Any) -> None:
    """A dial of this character is being turned, and Blender has evaluated nothing yet."""
    if _key(ob) in entry.places or stance(ob) != entry.stance:
        return
    hanging = [other for other in scene.objects if other != ob and _hangs_on(other, ob)]
    told = (ob, *hanging) if ob.data.is_editmode else (ob, ob.data, *hanging)
    entry.places.update((_key(moved), _place(moved)) for moved in told)
    depsgraph = next((layer.depsgraph for layer in scene.view_layers if layer.depsgraph), None)
    if ob.data.shape_keys is not None and depsgraph is not None:
        # what a script has just set is not evaluated, and no echo
        shapes = ob.data.shape_keys.evaluated_get(depsgraph)
        entry.places[_key(shapes)] = _place(shapes)


def is_echo(session: Session, identity: Any) -> bool:
    """Blender says that it moved, because a dial was turned."""
    key = _key(identity)
    noted = [entry.places[key] for entry in session.entries.values() if key in entry.places]
    return bool(noted) and all(place == _place(identity) for place in noted)


def forget(session: Session) -> None:
    """Blender has told."""
    for entry in session.entries.values():
        entry.places.clear()


def _hangs_on(ob: Any, base: Any) -> bool:
    """By parents and constraints, which may go round in circles."""
    known, left = set(), [ob]
    while left:
        for holder in _holders(left.pop()):
            if holder == base:
                return True
            if holder.name not in known:
                known.add(holder.name)
                left.append(holder)
    return False


def _holders(ob: Any) -> Iterator[Any]:
    if ob.parent is not None:
        yield ob.parent
    for constraint in ob.constraints:
        target = getattr(constraint, "target", None)
        if target is not None and target != ob:
            yield target


def _key(identity: Any) -> tuple[str, str]:
    return identity.rna_type.identifier, identity.name


def _place(identity: Any) -> Any:
    """An object, shape keys, or where the points of a mesh are."""
    if identity.rna_type.identifier == "Key":
        blocks = [(block.name, block.value, block.mute) for block in identity.key_blocks]
        return identity.eval_time, blocks
    if identity.rna_type.identifier == "Mesh":
        mesh = identity.original
        return None if mesh.is_editmode else compat.read_positions(mesh).tobytes()
    return stance(identity), [tuple(row) for row in identity.matrix_world]


def _name(ob: Any) -> str:
    return ob.name if ob is not None else ""
