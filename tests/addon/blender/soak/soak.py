# SPDX-License-Identifier: GPL-3.0-or-later
"""Does random things from a seed, looks after each, and ends with an empty file.

Started by addon/packaging/run_installed.py with `--actions N --seed S [--least N] [--plant NAME]`.
"""

import argparse
import faulthandler
import logging
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

import bpy

if __name__ == "__main__":
    FOLDER = Path(__file__).resolve().parent
    sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parents[3])]

from support import addon, scenes  # noqa: E402

from soak import more_actions, plants, shared_actions  # noqa: E402
from soak.actions import ACTIONS, look  # noqa: E402
from soak.checks import (  # noqa: E402
    SoakError,
    check_character,
    check_doors,
    check_finite,
    check_known,
    check_nothing_left,
)
from soak.world import World, to_object_mode  # noqa: E402

CHECK_EVERY = 3
"""Actions from one comparison with a clean simulation to the next."""
SHOWN = 25
assert more_actions and shared_actions  # their actions are among the others
OFTEN = ["turn_a_dial", "key_a_bone", "key_the_rig"]
"""What artists do more than anything else."""


def choose_kind(world: World, least: int) -> str:
    """At random, though an empty file fills up soon; every second turn one that is behind."""
    names = sorted(ACTIONS)
    if len(world.characters()) < 2 and world.chance.random() < 0.6:
        return "add"
    behind = [name for name in names if world.succeeded[name] < least]
    if behind and world.chance.random() < 0.5:
        return world.chance.choice(behind)
    return world.chance.choice(names + 3 * OFTEN)


def act(world: World, name: str) -> None:
    to_object_mode()
    world.tried[name] += 1
    done = ACTIONS[name](world)
    world.succeeded[name] += done
    world.log.append(f"{name}: {'done' if done else 'not now'}")


def check(world: World, whole: bool) -> None:
    """After a look at some frame, as an artist would."""
    look(world)
    check_doors()
    check_known()
    if whole:
        to_object_mode()
        look(world)
        check_finite(world)
        for ob in world.characters():
            check_character(world, ob)
        check_doors()


def empty(world: World) -> None:
    """All characters go, one way or another."""
    to_object_mode()
    has_ours = addon.module("blender.carrier").find_modifier
    for ob in [ob for ob in world.bare() if has_ours(ob)]:  # by Copy Modifiers, and never added
        bpy.data.objects.remove(ob)
    for ob in list(world.characters()):
        scenes.make_active(ob)
        if world.chance.random() < 0.5:
            bpy.ops.softrig.remove()
        else:
            bpy.data.objects.remove(ob)
    for ob in world.riders():
        bpy.data.objects.remove(ob)
    look(world)
    check_doors()
    check_nothing_left()


def is_short(world: World, count: int, least: int) -> bool:
    done = world.succeeded
    return sum(done.values()) < count or min(done[name] for name in ACTIONS) < least


def run(count: int, seed: int, least: int, folder: Path) -> World:
    """At least so many actions that succeed, and of each kind at least so many."""
    world = World(seed, folder)
    scenes.start_empty()
    turn = 0
    try:
        while is_short(world, count, least):
            turn += 1
            if turn > 3 * count:
                raise SoakError(f"too seldom possible:\n{report(world, 0.0)}")
            act(world, choose_kind(world, least))
            check(world, whole=turn % CHECK_EVERY == 0)
        empty(world)
    except BaseException:
        lines = (f"seed {seed}, action {turn}; the last ones:", *world.log[-SHOWN:])
        print(*lines, sep="\n  ", file=sys.stderr, flush=True)
        raise
    return world


def report(world: World, seconds: float) -> str:
    lines = [f"{'action':26}{'tried':>7}{'done':>7}"]
    lines += [f"{name:26}{world.tried[name]:7}{world.succeeded[name]:7}" for name in ACTIONS]
    kinds, total = len(ACTIONS), sum(world.succeeded.values())
    seen = ", ".join(f"{count} {what}" for what, count in sorted(world.found.items()))
    lines.append(f"{total} actions of {kinds} kinds done in {seconds:.0f} s; compared: {seen}")
    return "\n".join(lines)


def own_output() -> TextIO:
    """Where the report goes; what Blender tells about each render goes nowhere."""
    out = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return out


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Random actions, and what must hold after each.")
    parser.add_argument("--actions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=int, default=30)
    parser.add_argument("--plant", choices=sorted(plants.PLANTS), default="none")
    options = parser.parse_args(arguments)
    faulthandler.enable()
    logging.getLogger().setLevel(logging.ERROR)
    started, out = time.monotonic(), own_output()
    with tempfile.TemporaryDirectory() as folder, plants.planted(options.plant):
        world = run(options.actions, options.seed, options.least, Path(folder))
    print(f"Blender {bpy.app.version_string}, seed {options.seed}", file=out)
    print(report(world, time.monotonic() - started), file=out, flush=True)
    addon.disable()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[sys.argv.index("--") + 1 :]))
