# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters of other files: their carriers lie there too, and Blender lets nobody write them here.

They play the bake that their file has. Without one they stand still, which is told and stops a
render, or they get a carrier of this file, which takes a library override.
"""

import os
from collections.abc import Iterable
from typing import Any

import bpy
from mathutils import Matrix

from ..model.rig import RefusalError
from . import bake_names, carrier, compat, followers, graph, objects, owners, takes

BASE = "It has Softrig in {}, where it is linked from, but no bake there, so it stands still here. "
LINKED = BASE + "Bake it there, or press Make Library Override to let it move in this file."
BORROWED = BASE + "Bake it there, or press Add Softrig to let it move in this file."
FOLLOWING = BASE + "Bake it there, or let it follow its character here: Let Selected Follow."
BROKEN = "The bake {}. Bring it back, or bake again in {}."


def find_ours(ob: Any) -> Any:
    """Our modifier with the carrier of another file, unless it has one of this file beside it."""
    if ob.type != "MESH":
        return None
    if ob.library is not None:
        return carrier.find_modifier(ob)
    return carrier.find_borrowed(ob) if carrier.find_modifier(ob) is None else None


def list_guests() -> list[Any]:
    """The characters and followers that come from other files and have nothing of this one."""
    return [ob for ob in bpy.data.objects if find_ours(ob) is not None]


def file_of(ob: Any) -> str:
    library = carrier.find_library(compat.get_input(find_ours(ob), graph.CARRIER) or ob)
    return os.path.normpath(bpy.path.abspath((library or ob.library).filepath))


def is_baked(ob: Any) -> bool:
    return carrier.plays_bake(find_ours(ob)) or bake_names.has_ours(ob.data)


def find_problem(ob: Any) -> str:
    """Why it stands still, as a sentence; empty when a bake moves it."""
    if not is_baked(ob):
        own = FOLLOWING if ob.softrig.follower_uuid else BORROWED
        return (own if ob.library is None else LINKED).format(file_of(ob))
    holder = compat.get_input(find_ours(ob), graph.CARRIER)
    fault = takes.fault_on(holder) if holder is not None else ""
    return BROKEN.format(fault, file_of(ob)) if fault else ""


def find_problems(guests: Iterable[Any]) -> dict[str, str]:
    """A sentence for each that stands still, by a name that no other file's object has."""
    found = {ob.name_full: find_problem(ob) for ob in guests}
    return {name: problem for name, problem in found.items() if problem}


def list_held(ob: Any) -> list[Any]:
    """The characters of another file that a linked object is, or that one shows by a collection."""
    base = ob.instance_collection if _shows_collection(ob) else ob
    held = base.all_objects if base != ob else [ob]
    return [other for other in held if find_ours(other) is not None] if base.library else []


def _shows_collection(ob: Any) -> bool:
    return ob.instance_type == "COLLECTION" and ob.instance_collection is not None


def make_override(context: Any, ob: Any) -> list[Any]:
    """Of all that comes with it, where it is now; lets the characters in it move."""
    before = set(list_guests())
    if _shows_collection(ob):
        _override_shown(context, ob)
    else:
        roots = [root for root in _linked_roots(context.scene) if ob in root.all_objects.values()]
        if roots:
            _override_root(context, roots[0])
        else:
            _override_objects(ob)
    context.view_layer.update()
    made = [other for other in list_guests() if other.library is None and other not in before]
    if not made:
        raise RefusalError("Blender made no library override of it.")
    return adopt(made)


def _own_collections(scene: Any) -> list[Any]:
    """Those of this file: only they can be changed."""
    return [c for c in (scene.collection, *scene.collection.children_recursive) if not c.library]


def _linked_roots(scene: Any) -> list[Any]:
    """The linked collections that are in collections of this file."""
    return [child for own in _own_collections(scene) for child in own.children if child.library]


def _override_collection(context: Any, collection: Any, parents: list[Any]) -> Any:
    """Blender puts it into the scene's own collection; it belongs where the linked one is shown."""
    root = context.scene.collection
    made = collection.override_hierarchy_create(
        context.scene, context.view_layer, do_fully_editable=True
    )
    if made is None:
        raise RefusalError("Blender made no library override of it.")
    for parent in parents:
        if made not in parent.children.values():
            parent.children.link(made)
    if root not in parents and made in root.children.values():
        root.children.unlink(made)
    return made


def _override_root(context: Any, root: Any) -> None:
    """The override takes the place of the linked collection."""
    parents = [own for own in _own_collections(context.scene) if root in own.children.values()]
    _override_collection(context, root, parents)
    for parent in parents:
        parent.children.unlink(root)


def _override_shown(context: Any, shower: Any) -> None:
    """What it showed hangs on it from now on, and so stays in its place."""
    offset = Matrix.Translation(-shower.instance_collection.instance_offset)
    there = [c for c in _own_collections(context.scene) if shower in c.objects.values()]
    made = _override_collection(context, shower.instance_collection, there)
    shower.instance_type, shower.instance_collection = "NONE", None
    for ob in made.all_objects:
        if ob.parent is None:
            ob.parent, ob.matrix_parent_inverse = shower, offset


def _override_objects(ob: Any) -> None:
    """Linked without a collection: the character, and what follows it."""
    leader = ob.softrig.leader or ob
    family = [other for other in list_guests() if other.softrig.leader == leader]
    for other in (*family, leader):
        if other.library is not None:
            other.override_create(remap_local_usages=True)


def adopt(guests: Iterable[Any]) -> list[Any]:
    """Gives overrides that stand still carriers of this file; the next look around meets them."""
    still = [ob for ob in guests if ob.library is None and not is_baked(ob)]
    for ob in still:
        uuid = objects.new_uuid()
        if ob.softrig.follower_uuid:
            followers.attach(ob, ob.softrig.leader, uuid)
        else:
            carrier.check_stack(ob)
            carrier.attach(ob)
            ob.softrig.uuid = uuid
            owners.own(ob)
    return still
