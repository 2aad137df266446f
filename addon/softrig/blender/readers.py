# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds rigs that read the artist's scene: a private scene cannot show them what they would see.

Such are drivers on scene properties, drivers on the context, expressions that reach for Blender's
data, constraints that take the scene's camera or clip, and rigid bodies, whose world is the
scene's. All that the rig depends on is walked: parents, targets, drivers and what those read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from . import actions

SCENE_CONSTRAINTS = frozenset(("FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"))
REACHING = re.compile(r"\b(bpy|depsgraph)\b")
TARGETS = ("target", "pole_target", "camera", "depth_object")


def reads_scene(ob: Any, armatures: Sequence[Any]) -> bool:
    """Whether anything that moves the object or its armatures looks at the scene itself."""
    return any(_looks_at_scene(identity) for identity in _walk(ob, armatures))


def find_unposed(ob: Any, armatures: Sequence[Any]) -> str:
    """A sentence where one that moves it is in Edit Mode: its rest pose would be recorded."""
    for identity in _walk(ob, armatures):
        if isinstance(identity, bpy.types.Armature) and identity.is_editmode:
            return f'Leave Edit Mode of the armature "{identity.name}" first: it has no pose there.'
    return ""


def _walk(ob: Any, armatures: Sequence[Any]) -> Iterator[Any]:
    """All data-blocks that these depend on, and themselves, each once."""
    waiting, seen = [ob, *armatures], set()
    while waiting:
        identity = waiting.pop()
        if identity not in seen:
            seen.add(identity)
            yield identity
            waiting += [other for other in _dependencies(identity) if other is not None]


def is_gravity_keyed(scene: Any) -> bool:
    """Then only stepping the scene tells it."""
    return any(path.startswith("gravity") for path in actions.animated_paths(scene))


def has_strange_handlers() -> bool:
    """Other add-ons do something at each frame; what, and in which scene, nobody can tell."""
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    return any(_is_strange(handler) for handler in handlers)


def do_others_come_first() -> bool:
    """What they do before a frame looks like what a script did since the last one."""
    return any(_is_strange(handler) for handler in bpy.app.handlers.frame_change_pre)


def _is_strange(handler: Any) -> bool:
    return not getattr(handler, "__module__", "").startswith(
        __name__.removesuffix(".blender.readers")
    )


def _looks_at_scene(identity: Any) -> bool:
    if isinstance(identity, bpy.types.Scene):
        return True
    if isinstance(identity, bpy.types.Object) and identity.rigid_body is not None:
        return True
    if any(constraint.type in SCENE_CONSTRAINTS for constraint in _constraints(identity)):
        return True
    return any(_reaches(driver) for driver in _drivers(identity))


def _reaches(driver: Any) -> bool:
    if driver.type == "SCRIPTED" and REACHING.search(driver.expression):
        return True
    return any(variable.type == "CONTEXT_PROP" for variable in driver.variables)


def _dependencies(identity: Any) -> Iterator[Any]:
    for driver in _drivers(identity):
        for variable in driver.variables:
            yield from (target.id for target in variable.targets)
    if not isinstance(identity, bpy.types.Object):
        return
    yield identity.parent
    yield identity.data
    yield getattr(identity.data, "shape_keys", None)
    for constraint in _constraints(identity):
        yield from (getattr(constraint, name, None) for name in TARGETS)
        yield from (target.target for target in getattr(constraint, "targets", ()))


def _drivers(identity: Any) -> list[Any]:
    animation = getattr(identity, "animation_data", None)
    return [curve.driver for curve in animation.drivers] if animation is not None else []


def _constraints(identity: Any) -> list[Any]:
    if not isinstance(identity, bpy.types.Object):
        return []
    found = list(identity.constraints)
    for bone in identity.pose.bones if identity.pose is not None else ():
        found += bone.constraints
    return found
