# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is seen where: objects are in a scene themselves, something there shows them or their
collection, or the scene has theirs as its background.

Blender answers the first alone. What only an instance shows is in no scene, and moves all the same.
"""

from functools import cache
from typing import Any

import bpy

from ..model.session import Session, current
from . import actions, compat, graph


def scenes_with(ob: Any) -> list[Any]:
    """As `users_scene`, which makes lists of all objects."""
    return [scene for scene in bpy.data.scenes if _holds(scene.collection, ob)]


def scenes_of(ob: Any) -> list[Any]:
    """Those that show it, the ones that hold it first."""
    scenes, waiting, met = [], [ob], set()
    while waiting and len(scenes) < len(bpy.data.scenes):
        seen = waiting.pop(0)
        if seen not in met:
            met.add(seen)
            scenes += [scene for scene in scenes_with(seen) if scene not in scenes]
            waiting += _showers_of(seen)
    for scene in scenes:
        before = [s for s in bpy.data.scenes if s.background_set == scene and s not in scenes]
        scenes.extend(before)  # those are looked at too
    return scenes


def is_in(ob: Any, scene: Any) -> bool:
    return _holds(scene.collection, ob) or scene in scenes_of(ob)


def is_anywhere(ob: Any) -> bool:
    return bool(scenes_with(ob)) or bool(scenes_of(ob))


def _showers_of(ob: Any) -> list[Any]:
    """The objects that show it, or a collection which holds it."""
    return [
        other
        for other in _list_showers()
        if ob in _objects_shown_by(other)
        or any(_holds(collection, ob) for collection in _shown_by(other))
    ]


def _list_showers() -> list[Any]:
    """The objects that show others. To look at all takes milliseconds, so who was found counts
    until `forget`; what they show is asked anew."""
    session = current()
    names = session.showers if session is not None else None
    found = [bpy.data.objects.get(name) for name in names or ()]
    if names is None or None in found:
        found = [ob for ob in bpy.data.objects if _shows_others(ob)]
        if session is not None:
            session.showers = {_name(ob) for ob in found}
    return found


def forget(session: Session) -> None:
    """Others may show something now."""
    session.showers = None


def note_update(session: Session, ob: Any) -> None:
    """Of the objects that Blender tells of one may have begun to show others."""
    if session.showers is None:
        return
    if _name(ob) not in session.showers and _shows_others(ob.original):
        forget(session)


def _name(ob: Any) -> tuple[str, str | None]:
    """That no other object has."""
    return ob.name, ob.library.filepath if ob.library is not None else None


def _holds(collection: Any, ob: Any) -> bool:
    """Two of one name may be there, from different files; else no list is made of all objects."""
    found = collection.all_objects.get(ob.name)
    return found is not None and (found == ob or ob in collection.all_objects.values())


def _shown_by(ob: Any) -> list[Any]:
    """The collections whose objects it shows as instances: by itself, nodes or particles."""
    found = [ob.instance_collection] if ob.instance_type == "COLLECTION" else []
    for modifier in ob.modifiers:
        if modifier.type == "NODES":
            found += compat.list_named(modifier, "COLLECTION")
        elif modifier.type == "PARTICLE_SYSTEM":
            settings = modifier.particle_system.settings
            found += [settings.instance_collection] if settings.render_type == "COLLECTION" else []
    return [collection for collection in found if collection is not None]


def _objects_shown_by(ob: Any) -> list[Any]:
    """Likewise objects: by nodes, or as particles. Our own modifier shows nobody."""
    found = []
    for modifier in ob.modifiers:
        if modifier.type == "NODES" and not graph.is_our_tree(modifier.node_group):
            found += compat.list_named(modifier, "OBJECT")
        elif modifier.type == "PARTICLE_SYSTEM":
            settings = modifier.particle_system.settings
            found += [settings.instance_object] if settings.render_type == "OBJECT" else []
    return [shown for shown in found if shown is not None]


def _shows_others(ob: Any) -> bool:
    return bool(_shown_by(ob) or _objects_shown_by(ob))


def _read_by(ob: Any) -> list[Any]:
    """The objects that its modifiers read: a cage, a body to shrink onto."""
    return [
        read
        for modifier in ob.modifiers
        for read in (getattr(modifier, name) for name in _pointers(modifier.bl_rna.identifier))
        if read is not None
    ]


@cache
def _pointers(kind: str) -> tuple[str, ...]:
    """The properties of such a modifier that are objects."""
    properties = getattr(bpy.types, kind).bl_rna.properties
    pointers = [p for p in properties if p.type == "POINTER"]
    return tuple(p.identifier for p in pointers if p.fixed_type.identifier == "Object")


def scenes_rendered(scene: Any) -> list[Any]:
    """Itself first, then those whose pictures its compositor takes: Blender tells of none."""
    return [scene, *(other for other in compat.list_composited(scene) if other != scene)]


def rendered_in(scene: Any) -> set[Any]:
    """All objects that a render of it shows: of its view layers, instances, its background and what
    its compositor takes.
    """
    found: set[Any] = set()
    for shown in scenes_rendered(scene):
        while shown is not None:
            for layer in shown.view_layers:
                if layer.use:
                    _walk_layer(layer.layer_collection, found)
            shown = shown.background_set
    return found


def _walk_layer(held: Any, found: set[Any]) -> None:
    if held.collection.hide_render:
        return
    if not held.exclude:
        _take(held.collection, found)
    for child in held.children:
        _walk_layer(child, found)


def _take(collection: Any, found: set[Any]) -> None:
    for ob in collection.objects:
        # a key may bring it into sight at any frame
        if not ob.hide_render or "hide_render" in actions.animated_paths(ob):
            _take_object(ob, found)


def _take_object(ob: Any, found: set[Any]) -> None:
    """With what it shows, and with what its shape is made from, hidden or not."""
    if ob in found:
        return
    found.add(ob)
    for shown in _shown_by(ob):
        _walk(shown, found)
    for read in (*_objects_shown_by(ob), *_read_by(ob)):
        _take_object(read, found)


def _walk(collection: Any, found: set[Any]) -> None:
    """Of a collection that is shown as an instance, whether or not a view layer has it."""
    if not collection.hide_render:
        _take(collection, found)
        for child in collection.children:
            _walk(child, found)
