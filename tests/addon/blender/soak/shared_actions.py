# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist may do with characters of other files, with instances, and with copied stacks."""

from pathlib import Path
from typing import Any

import bpy
from support import scenes

from .actions import action, look, succeeds, sweep
from .checks import demand
from .world import MOST_SKINS, World


def list_family(ob: Any) -> list[Any]:
    return [ob, *{m.object for m in ob.modifiers if m.type == "ARMATURE" and m.object is not None}]


def collect(world: World, ob: Any) -> Any:
    """A collection with it and what moves it, which no scene has."""
    collection = bpy.data.collections.new(world.new_name("Collection"))
    for member in list_family(ob):
        collection.objects.link(member)
    return collection


def show(world: World, collection: Any) -> Any:
    """By an instance, on its own in the scene."""
    empty = scenes.link(bpy.data.objects.new(world.new_name("Place"), None))
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    empty.location.y = 5.0
    return empty


def link_guest(world: World, ob: Any) -> tuple[Any, Any]:
    """It comes back from another file: what shows it here, and the library."""
    collection = collect(world, ob)
    name, path = collection.name, world.folder / f"{world.new_name('Library')}.blend"
    bpy.data.libraries.write(str(path), {collection}, fake_user=True)
    bpy.data.collections.remove(collection)
    with bpy.data.libraries.load(str(path), link=True) as (_, target):
        target.collections = [name]
    return show(world, target.collections[0]), find_library(path)


def find_library(path: Path) -> Any:
    return next(lib for lib in bpy.data.libraries if Path(bpy.path.abspath(lib.filepath)) == path)


def shown_meshes() -> int:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return sum(i.is_instance and i.object.type == "MESH" for i in depsgraph.object_instances)


@action
def see_a_guest(world: World) -> bool:
    """Linked, played for a while, its file read again or not; it goes with its library."""
    ob = world.choose()
    if ob is None:
        return False
    empty, library = link_guest(world, ob)
    for _ in range(2):
        look(world)
    if world.chance.random() < 0.3:
        library.reload()
        look(world)
    bpy.data.objects.remove(empty)
    bpy.data.libraries.remove(library)
    return True


@action
def override_a_guest(world: World) -> bool:
    """It moves here; then it becomes this file's own, or goes."""
    if len(world.skins()) >= MOST_SKINS:
        sweep(world)
    if len(world.skins()) >= MOST_SKINS or world.choose(baked=False) is None:
        return False
    before = set(bpy.context.scene.objects.keys())
    empty, library = link_guest(world, bpy.context.object)
    scenes.make_active(empty)
    done = succeeds(bpy.ops.softrig.override)
    look(world)
    made = [ob for ob in bpy.context.scene.objects if ob.name not in before and ob != empty]
    if done and world.chance.random() < 0.5:
        bpy.ops.object.select_all(action="DESELECT")
        for ob in made:
            ob.select_set(True)
        done = succeeds(bpy.ops.object.make_local, type="ALL")
    else:
        for ob in made:
            bpy.data.objects.remove(ob)
    bpy.data.objects.remove(empty)
    bpy.data.libraries.remove(library)
    return done


@action
def show_by_an_instance(world: World) -> bool:
    """Alone for a while: nothing else shows the character."""
    ob = world.choose()
    if ob is None:
        return False
    collection, name = collect(world, ob), ob.name
    empty, homes = show(world, collection), list(ob.users_collection)
    homes.remove(collection)
    for home in homes:
        home.objects.unlink(ob)
    look(world)
    demand(shown_meshes() == 1, f"the instance does not show {name}")
    ob = bpy.data.objects[name]
    for home in homes:
        home.objects.link(ob)
    bpy.data.objects.remove(empty)
    bpy.data.collections.remove(collection)
    return True


@action
def copy_the_modifiers(world: World) -> bool:
    """Of one character to another, or to a plain mesh, which may then be added."""
    ob = world.choose()
    if ob is None:
        return False
    others = [other for other in world.characters() if other != ob]
    if others and world.chance.random() < 0.5:
        other = world.pick(others)
    else:
        other = scenes.make_skin(world.new_name("Plain"), 8)
        scenes.make_active(ob)
    other.select_set(True)
    return succeeds(bpy.ops.object.make_links_data, type="MODIFIERS")
