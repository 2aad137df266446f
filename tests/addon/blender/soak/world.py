# SPDX-License-Identifier: GPL-3.0-or-later
"""The file that the soak plays with: who is in it, what has happened, and chance from a seed."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import bpy
from support import addon, scenes

MOST_SKINS = 4
MOST_RIDERS = 4
CAGE_NODES = 120


class World:
    """Holds no reference to Blender's data, as an add-on must not either."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = random.Random(seed)
        self.folder = folder
        self.serial = 0
        self.log: list[str] = []
        self.succeeded: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        """What the checks met: how many characters were live, baked, refused."""

    def new_name(self, what: str) -> str:
        self.serial += 1
        return f"{what} {self.serial}"

    def pick(self, candidates: list[Any]) -> Any:
        """One of them, or None."""
        return self.chance.choice(candidates) if candidates else None

    def meshes(self) -> list[Any]:
        """Of this scene, that an artist could have made."""
        found = sorted(bpy.context.scene.objects, key=lambda ob: ob.name)
        return [ob for ob in found if ob.type == "MESH" and ob.library is None]

    def skins(self) -> list[Any]:
        """Those that follow nobody."""
        return [ob for ob in self.meshes() if not ob.softrig.follower_uuid]

    def riders(self) -> list[Any]:
        """Those that follow somebody, who may be gone."""
        return [ob for ob in self.meshes() if ob.softrig.follower_uuid]

    def characters(self, baked: bool | None = None) -> list[Any]:
        """Those with Softrig; `baked` chooses by whether a bake plays."""
        carrier, objects = addon.module("blender.carrier"), addon.module("blender.objects")
        found = [ob for ob in self.skins() if objects.is_character(ob)]
        if baked is None:
            return found
        return [ob for ob in found if (carrier.find_bake(ob) is not None) == baked]

    def bare(self) -> list[Any]:
        """Those that Add Softrig is for, also after somebody deleted the modifier."""
        is_character = addon.module("blender.objects").is_character
        return [ob for ob in self.skins() if not is_character(ob)]

    def armatures(self) -> list[Any]:
        found = sorted(bpy.context.scene.objects, key=lambda ob: ob.name)
        return [ob for ob in found if ob.type == "ARMATURE"]

    def choose(self, baked: bool | None = None) -> Any:
        """Makes a character active; None when there is none."""
        ob = self.pick(self.characters(baked))
        if ob is not None:
            scenes.make_active(ob)
        return ob

    def frame(self) -> int:
        scene = bpy.context.scene
        return self.chance.randint(scene.frame_start - 2, scene.frame_end + 2)


def to_object_mode() -> None:
    ob = bpy.context.object
    if ob is not None and ob.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def new_skin(world: World) -> Any:
    """A capsule on a chain, which rushes and stops; not a character yet."""
    skin, _ = scenes.make_character(world.new_name("Skin"))
    skin.softrig.cage_nodes = CAGE_NODES
    return skin
