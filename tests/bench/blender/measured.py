# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured: 45,000 vertices, a cage of 4,000 nodes, 24 bones, 250 frames; and how."""

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
from support import addon

from sample_blends import field, limbs, puppet

FRAME_COUNT = 250
NODE_COUNT = 4000
STEP = 0.0524
HALVINGS = 2
"""These two give 45,000 vertices."""


def figure() -> list[limbs.Limb]:
    """A sitting animal: trunk, head, two ears, four legs, a tail; 24 bones that deform."""
    trunk = limbs.straight((0, 0, 0.5), (0, 0, 1.1), (0.32, 0.38, 0.36, 0.30, 0.20))
    head = limbs.straight((0, -0.02, 1.2), (0, -0.1, 1.55), (0.20, 0.30, 0.30, 0.24))
    ear = field.bend(
        (0.13, 0, 1.6), (0.2, 0, 1.9), (0.3, 0, 2.2), (0.5, 0, 1.9), (0.07, 0.09, 0.1, 0.09), 0.7
    )
    arm = limbs.straight((0.26, -0.06, 0.95), (0.6, -0.2, 0.62), (0.09, 0.08, 0.09))
    leg = limbs.straight((0.19, 0, 0.4), (0.21, -0.05, 0.08), (0.13, 0.11, 0.12))
    tail = field.bend(
        (0, 0.3, 0.5), (0, 0.7, 0.3), (0, 0.85, 0.7), (0, 0.7, 1.1), (0.09, 0.08, 0.1, 0.12)
    )
    left = [
        limbs.Limb("ear.L", ear, 3, "head1"),
        limbs.Limb("arm.L", arm, 2, "trunk3"),
        limbs.Limb("leg.L", leg, 2, "root"),
    ]
    return [
        limbs.Limb("trunk", trunk, 3),
        limbs.Limb("head", head, 1, "trunk3"),
        *left,
        *(limbs.mirrored(limb) for limb in left),
        limbs.Limb("tail", tail, 6, "trunk1"),
    ]


def build() -> tuple[Any, Any]:
    """The animal, which wanders, turns and stops; frames 1 to 250."""
    parts = figure()
    points, faces = limbs.skin_of(parts, STEP, HALVINGS)
    armature = puppet.make_armature("Rig", limbs.bones_of(parts))
    skin = puppet.make_skin("Skin", points, faces)
    puppet.paint_weights(skin, limbs.weights_of(parts, points))
    puppet.bind(skin, armature)
    puppet.animate(armature, motion())
    puppet.set_frames(bpy.context.scene, 1, FRAME_COUNT)
    puppet.make_active(skin)
    return skin, armature


def motion() -> dict[puppet.Channel, list[tuple[float, float]]]:
    """Every bone of the trunk, arms and tail turns; the root runs, stops, and runs on."""
    frames = range(1, FRAME_COUNT + 1, 6)
    keys = {("root", "location", 1): [(f, -0.4 * math.sin(f / 9.0)) for f in frames]}
    turning = ("trunk1", "trunk2", "head1", "arm.L1", "arm.R1", "tail1", "tail2", "tail3")
    for number, bone in enumerate(turning):
        for axis in range(3):
            values = [(f, 0.15 * math.sin(f / (5.0 + number) + axis)) for f in frames]
            keys[(bone, "rotation_euler", axis)] = values
    return keys


def add_softrig(skin: Any) -> float:
    """Seconds until the whole shot is there, prepared from nothing."""
    skin.softrig.cage_nodes = NODE_COUNT
    started = time.perf_counter()
    if bpy.ops.softrig.add() != {"FINISHED"}:
        raise RuntimeError("Softrig was not added")
    wait_for(addon.entry_of(skin), FRAME_COUNT)
    return time.perf_counter() - started


def wait_for(entry: Any, frame: int) -> None:
    if not addon.session().api.wait_frame(entry.shot, frame, 300.0):
        raise RuntimeError(f"frame {frame} did not come")


@contextlib.contextmanager
def switched_off(*skins: Any) -> Iterator[None]:
    """Plain playback: the modifiers' eyes are off and none of our handlers is there."""
    handlers = addon.module("handlers")
    modifiers = [skin.modifiers["Softrig"] for skin in skins]
    for modifier in modifiers:
        modifier.show_viewport = False
    handlers.unregister()
    try:
        yield
    finally:
        for modifier in modifiers:
            modifier.show_viewport = True
        handlers.register()


def frame_times(frames: range) -> list[float]:
    """Milliseconds of each shown frame; the first few after a switch are not counted."""
    scene, times = bpy.context.scene, []
    for number, frame in enumerate(frames):
        started = time.perf_counter()
        scene.frame_set(frame)
        if number >= 3:
            times.append(1e3 * (time.perf_counter() - started))
    return times


def shown_frames(*skins: Any, rounds: int = 7) -> tuple[float, float, float]:
    """Milliseconds of a plain frame, of one with us, and the difference: medians over the rounds.

    Both take turns over the same frames, so that a busy machine is as busy for one as for the
    other. A round is worth its quickest frame: all frames cost alike, what is above it is others'.
    """
    plain, ours = [], []
    for turn in range(rounds):
        frames = range(20 + 30 * turn, 50 + 30 * turn)
        with switched_off(*skins):
            plain.append(min(frame_times(frames)))
        ours.append(min(frame_times(frames)))
    share = [b - a for a, b in zip(plain, ours, strict=True)]
    return statistics.median(plain), statistics.median(ours), statistics.median(share)


class Counter:
    """Stands before the loaded library and counts its calls."""

    def __init__(self, library: Any) -> None:
        self._library, self.calls = library, []

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            return function(*arguments)

        return call


@contextlib.contextmanager
def counted() -> Iterator[tuple[Counter, list[str]]]:
    """Native calls, and copies of the whole skin: by the library and to or from a carrier."""
    api, compat = addon.session().api, addon.module("blender.compat")
    library, counter, copies = api._lib, Counter(api._lib), []
    kept = {name: getattr(compat, name) for name in ("write_positions", "read_positions")}

    def noted(name: str, function: Callable) -> Callable:
        def call(*arguments: Any) -> Any:
            copies.append(name)
            return function(*arguments)

        return call

    api._lib = counter
    for name, function in kept.items():
        setattr(compat, name, noted(name, function))
    try:
        yield counter, copies
    finally:
        api._lib = library
        for name, function in kept.items():
            setattr(compat, name, function)


def positions(skin: Any) -> np.ndarray:
    mesh = skin.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat
