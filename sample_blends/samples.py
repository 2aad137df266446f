# SPDX-License-Identifier: GPL-3.0-or-later
"""Five small scenes, one idea each; README.md says what to look at. Run inside Blender.

`SAMPLES[name].build()` fills the current scene and gives the skins that want Softrig.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from . import field, limbs, puppet

Keys = dict[puppet.Channel, list[tuple[float, float]]]
Colour = tuple[float, float, float, float]


@dataclass(frozen=True)
class Sample:
    """`frames` are the ones that show it best; the camera looks at `target` from `distance`."""

    build: Callable[[], list[Any]]
    frames: tuple[int, ...]
    target: tuple[float, float, float]
    distance: float
    follows: bool = False
    """The camera goes along with the rig's root; the marks on the floor show how far."""


def _puppet(
    name: str, parts: list[limbs.Limb], step: float, colour: Colour, keys: Keys
) -> tuple[Any, Any]:
    """Skin and armature of a figure, the skin a child of the armature."""
    points, faces = limbs.skin_of(parts, step)
    armature = puppet.make_armature(f"{name} Rig", limbs.bones_of(parts))
    skin = puppet.make_skin(name, points, faces)
    puppet.paint_weights(skin, limbs.weights_of(parts, points))
    _dress(skin, armature, colour)
    puppet.animate(armature, keys)
    return skin, armature


def _dress(skin: Any, armature: Any, colour: Colour) -> None:
    skin.parent = armature
    puppet.bind(skin, armature)
    material = bpy.data.materials.new(skin.name)
    material.diffuse_color = colour
    skin.data.materials.append(material)


def _steps(values: Iterable[tuple[float, float]], scale: float = 1.0) -> list[tuple[float, float]]:
    return [(frame, scale * value) for frame, value in values]


def _sway(frames: range, size: float, period: float, lag: float = 0.0) -> list[tuple[float, float]]:
    return [(f, size * math.sin(2.0 * math.pi * (f - lag) / period)) for f in frames]


# ---- a round fish ------------------------------------------------------------------------------


def fish() -> list[Any]:
    """Two darts and two dead stops: tail and fins go on by themselves."""
    body = limbs.smooth((-0.55, 0, 0), (0.5, 0, 0), (0.10, 0.33, 0.43, 0.45, 0.38, 0.26, 0.13))
    top = field.bend(
        (0.45, 0, 0), (0.6, 0, 0.02), (0.75, 0, 0.2), (0.85, 0, 0.36), (0.14, 0.17, 0.18, 0.12), 0.4
    )
    low = field.bend(
        (0.45, 0, 0),
        (0.6, 0, -0.02),
        (0.75, 0, -0.2),
        (0.85, 0, -0.34),
        (0.14, 0.17, 0.17, 0.11),
        0.4,
    )
    back = field.bend(
        (-0.15, 0, 0.35),
        (-0.05, 0, 0.5),
        (0.08, 0, 0.58),
        (0.25, 0, 0.6),
        (0.16, 0.17, 0.13, 0.06),
        0.4,
    )
    side = limbs.straight((-0.1, 0.38, -0.1), (0.3, 0.62, -0.22), (0.08, 0.10, 0.09))
    other = limbs.straight((-0.1, -0.38, -0.1), (0.3, -0.62, -0.22), (0.08, 0.10, 0.09))
    parts = [
        limbs.Limb("body", body, 2),
        limbs.Limb("tail fin top", top, 2, "body2", reach=0.25),
        limbs.Limb("tail fin low", low, 2, "body2", reach=0.25),
        limbs.Limb("back fin", back, 2, "body1", reach=0.25),
        limbs.Limb("fin.L", side, 1, "body1", reach=0.25),
        limbs.Limb("fin.R", other, 1, "body1", reach=0.25),
    ]
    darts = [(1, 0), (10, 0), (18, -0.9), (36, -0.9), (44, -1.8), (72, -1.8)]
    keys: Keys = {
        ("root", "location", 0): _steps(darts),
        ("body2", "rotation_euler", 0): [(1, 0), (8, -0.2), (12, 0.2), (16, -0.2), (19, 0), (34, 0)]
        + [(38, 0.2), (42, -0.2), (45, 0), (72, 0)],
    }
    skin, armature = _puppet("Fish", parts, 0.032, (0.95, 0.55, 0.25, 1.0), keys)
    armature.location, armature.rotation_euler = (0, 0, 0.75), (0, 0, math.pi / 2)
    skin.softrig.softness, skin.softrig.settle_frames = 0.32, 16.0
    puppet.set_frames(bpy.context.scene, 1, 72)
    return [skin]


# ---- Blender's own monkey ----------------------------------------------------------------------


def monkey() -> list[Any]:
    """A mesh that nobody cleaned: open eyes, thin ears. It says no, and means it.

    The skull is painted with Hold, so that cheeks and ears swing and the face keeps its shape.
    """
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_monkey_add(size=1.6, location=(0, 0, 0))
    skin = bpy.context.object
    skin.name = skin.data.name = "Monkey"
    parts = [
        limbs.Limb("head", limbs.straight((0, 0.2, -0.8), (0, 0.1, 0.7), (0.5, 0.5))),
        limbs.Limb("ear.L", limbs.straight((0.6, 0, 0.1), (1.1, 0.1, 0.2), (0.2, 0.2)), 2, "head1"),
    ]
    parts.append(limbs.mirrored(parts[1]))
    armature = puppet.make_armature("Monkey Rig", limbs.bones_of(parts))
    points = np.array([vertex.co for vertex in skin.data.vertices], np.float64)
    puppet.paint_weights(skin, _ears(points))
    _dress(skin, armature, (0.75, 0.55, 0.40, 1.0))
    skin.data.polygons.foreach_set("use_smooth", np.ones(len(skin.data.polygons), bool))
    skin.modifiers.new("Subdivision", "SUBSURF").levels = 1
    skull = skin.vertex_groups.new(name="Skull")
    for index, hold in enumerate(1.0 - np.clip((np.abs(points[:, 0]) - 0.35) / 0.4, 0.0, 1.0)):
        skull.add([index], float(hold), "REPLACE")
    skin.softrig.map_hold = "Skull"
    skin.softrig.softness, skin.softrig.settle_frames = 0.2, 18.0
    shake = [(1, 0), (8, 0), (12, 0.7), (17, -0.7), (22, 0.7), (26, 0), (60, 0)]
    nod = [(1, 0), (26, 0), (32, 0.35), (36, -0.1), (39, 0), (60, 0)]
    puppet.animate(
        armature,
        {("head1", "rotation_euler", 1): _steps(shake), ("head1", "rotation_euler", 0): nod},
    )
    armature.location, armature.rotation_euler = (0, 0, 0.95), (0, 0, math.radians(40.0))
    puppet.set_frames(scene, 1, 60)
    return [skin]


def _ears(points: np.ndarray) -> dict[str, np.ndarray]:
    """Head in the middle, ears from where they leave it; they bend half way."""
    weights = {"head1": np.ones(len(points))}
    for side, x in (("L", points[:, 0]), ("R", -points[:, 0])):
        ear = np.clip((x - 0.58) / 0.12, 0.0, 1.0)
        tip = np.clip((x - 0.78) / 0.2, 0.0, 1.0)
        weights[f"ear.{side}1"], weights[f"ear.{side}2"] = ear * (1.0 - tip), ear * tip
        weights["head1"] = weights["head1"] - ear
    return weights


# ---- a creature with fifty bones ---------------------------------------------------------------


def creature() -> list[Any]:
    """A long beast that trots and stops: many bones, loose trunk, ears, belly and tail."""
    spine = limbs.straight((0, 0.8, 0.95), (0, -0.7, 1.0), (0.2, 0.33, 0.36, 0.34, 0.32, 0.22))
    neck = limbs.straight((0, -0.75, 1.1), (0, -1.1, 1.5), (0.2, 0.17, 0.16))
    head = limbs.straight((0, -1.1, 1.55), (0, -1.4, 1.5), (0.2, 0.22, 0.17))
    nose = field.bend(
        (0, -1.5, 1.45), (0, -1.75, 1.3), (0, -1.7, 0.9), (0, -1.9, 0.7), (0.1, 0.08, 0.07, 0.07)
    )
    tail = field.bend(
        (0, 0.9, 1.0), (0, 1.4, 1.2), (0, 1.6, 0.6), (0, 2.1, 0.9), (0.13, 0.1, 0.08, 0.09)
    )
    ear = limbs.straight((0.15, -1.1, 1.65), (0.5, -1.0, 1.5), (0.06, 0.11, 0.09))
    front = limbs.straight((0.2, -0.55, 0.8), (0.24, -0.6, 0.1), (0.15, 0.12, 0.10, 0.12))
    hind = limbs.straight((0.2, 0.65, 0.8), (0.24, 0.7, 0.1), (0.16, 0.12, 0.10, 0.12))
    left = [
        limbs.Limb("ear.L", ear, 3, "head1"),
        limbs.Limb("front.L", front, 4, "spine5"),
        limbs.Limb("hind.L", hind, 4, "spine1"),
    ]
    parts = [
        limbs.Limb("spine", spine, 6),
        limbs.Limb("neck", neck, 4, "spine6"),
        limbs.Limb("head", head, 1, "neck4"),
        limbs.Limb("trunk", nose, 7, "head1"),
        *left,
        *(limbs.mirrored(limb) for limb in left),
        limbs.Limb("tail", tail, 10, "spine1"),
    ]
    trot, last = range(1, 50, 3), 84
    fade = [(52, 0.0), (last, 0.0)]
    keys: Keys = {
        ("root", "location", 1): [(1, 0), (8, 0), (46, -2.6), (52, -2.75), (last, -2.75)],
        ("root", "location", 2): [(f, abs(0.08 * math.sin(f * 0.52))) for f in trot] + fade,
        ("neck1", "rotation_euler", 0): _sway(trot, 0.12, 12) + fade,
        ("head1", "rotation_euler", 0): _sway(trot, 0.15, 12, 2) + fade,
    }
    for name, lag in (("front.L", 0), ("front.R", 6), ("hind.L", 6), ("hind.R", 0)):
        keys[(f"{name}1", "rotation_euler", 0)] = _sway(trot, 0.35, 12, lag) + fade
        keys[(f"{name}3", "rotation_euler", 0)] = _sway(trot, 0.25, 12, lag + 3) + fade
    skin, _ = _puppet("Creature", parts, 0.055, (0.45, 0.55, 0.75, 1.0), keys)
    skin.softrig.cage_nodes = 2500
    puppet.set_frames(bpy.context.scene, 1, last)
    return [skin]


# ---- four characters in one scene --------------------------------------------------------------


def quartet() -> list[Any]:
    """Four gourds hop one after another: from firm to jelly, with the same keys."""
    body = limbs.smooth((0, 0, 0.22), (0, 0, 0.95), (0.22, 0.30, 0.30, 0.22, 0.17, 0.18))
    ear = field.bend(
        (0.08, 0, 1.0), (0.14, 0, 1.3), (0.3, 0, 1.5), (0.45, 0, 1.3), (0.06, 0.06, 0.07, 0.07)
    )
    first = limbs.Limb("ear.L", ear, 3, "body2")
    parts = [limbs.Limb("body", body, 2), first, limbs.mirrored(first)]
    colours = ((0.9, 0.4, 0.4), (0.9, 0.7, 0.3), (0.45, 0.75, 0.45), (0.45, 0.55, 0.9))
    skins = []
    for number, softness in enumerate((0.15, 0.3, 0.4, 0.5)):
        start = 6 + 5 * number
        hop = [(1, 0), (start, 0), (start + 7, 0.45), (start + 14, 0), (90, 0)]
        crouch = [(1, 0), (start - 4, 0), (start, -0.10), (start + 5, 0.05), (start + 14, 0)]
        keys: Keys = {("root", "location", 2): hop, ("body2", "location", 1): [*crouch, (90, 0)]}
        name = f"Gourd {number + 1}"
        skin, armature = _puppet(name, parts, 0.05, (*colours[number], 1.0), keys)
        armature.location.y = 1.1 * number - 1.65
        skin.softrig.softness, skin.softrig.settle_frames = softness, 30.0
        skins.append(skin)
    puppet.set_frames(bpy.context.scene, 1, 90)
    return skins


# ---- a loop for a game -------------------------------------------------------------------------

LOOP_FRAMES = 24
LOOP_ROUNDS = 4


def loop() -> list[Any]:
    """A run on the spot, again and again: from the second round on each is as the one before."""
    body = limbs.smooth((0, 0, 0.5), (0, 0, 1.1), (0.25, 0.33, 0.33, 0.27, 0.2))
    ear = field.bend(
        (0.1, 0, 1.2), (0.15, 0.1, 1.5), (0.2, 0.3, 1.6), (0.25, 0.5, 1.4), (0.07, 0.08, 0.08, 0.07)
    )
    tail = field.bend(
        (0, 0.25, 0.6), (0, 0.6, 0.5), (0, 0.8, 0.8), (0, 1.0, 0.9), (0.1, 0.08, 0.09, 0.1)
    )
    leg = limbs.straight((0.15, 0, 0.45), (0.16, -0.02, 0.1), (0.12, 0.1, 0.12))
    left = [limbs.Limb("ear.L", ear, 3, "body2"), limbs.Limb("leg.L", leg, 2, reach=0.3)]
    parts = [
        limbs.Limb("body", body, 2),
        *left,
        *(limbs.mirrored(limb) for limb in left),
        limbs.Limb("tail", tail, 4, "body1"),
    ]
    last = LOOP_FRAMES * LOOP_ROUNDS
    frames = range(1, last + 2, 2)
    half = LOOP_FRAMES / 2.0
    keys: Keys = {
        ("root", "location", 2): _sway(frames, 0.09, half),
        ("body1", "rotation_euler", 0): _sway(frames, 0.10, half, 2),
        ("body2", "rotation_euler", 1): _sway(frames, 0.15, LOOP_FRAMES),
        ("leg.L1", "rotation_euler", 0): _sway(frames, 0.5, LOOP_FRAMES),
        ("leg.R1", "rotation_euler", 0): _sway(frames, -0.5, LOOP_FRAMES),
    }
    skin, _ = _puppet("Runner", parts, 0.045, (0.55, 0.75, 0.45, 1.0), keys)
    puppet.set_frames(bpy.context.scene, 1, last)
    return [skin]


SAMPLES = {
    "fish": Sample(fish, (8, 11, 14, 18, 21, 40, 44), (0, 0.1, 0.7), 4.2, follows=True),
    "monkey": Sample(monkey, (8, 13, 18, 20, 23, 27, 40), (0, 0, 0.95), 4.8),
    "creature": Sample(creature, (8, 20, 32, 46, 50, 54, 60), (0, -0.35, 0.85), 8.8, follows=True),
    "quartet": Sample(quartet, (5, 13, 18, 23, 28, 35, 42), (0, 0, 0.75), 8.0),
    "loop": Sample(loop, (73, 77, 81, 85, 89, 93, 96), (0, 0.3, 0.85), 4.6),
}
