# SPDX-License-Identifier: GPL-3.0-or-later
"""The soak in Blender's window, where Blender's own timer does the work and undo is real.

Ends Blender with 0, or with 1 after a traceback. Arguments: as `soak.py`, without plants.
"""

import argparse
import faulthandler
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parents[3])]

from support import addon, scenes  # noqa: E402

from soak import actions, checks, soak  # noqa: E402
from soak.world import World, to_object_mode  # noqa: E402

MOST_TURNS = 3000
"""That nothing may be owed after: some minutes. A clock would go on while somebody who measures
holds Blender still, and many at work on few cores make frames of a small character take seconds."""


def remember(name: str) -> None:
    """A step of the history, as the end of each operator of the interface makes one."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message=name)


def step(operator: Any) -> bool:
    """Back or forth in the history, which dies with each loaded file."""
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        return actions.succeeds(operator)


@actions.action
def undo(world: World) -> bool:
    return step(bpy.ops.ed.undo)


@actions.action
def undo_twice_and_redo(world: World) -> bool:
    done = step(bpy.ops.ed.undo) and step(bpy.ops.ed.undo)
    return step(bpy.ops.ed.redo) and done


def is_settled(world: World) -> bool:
    """Nothing is owed to any character that can be had."""
    carrier, phases = addon.module("blender.carrier"), addon.module("model.lifecycle").Phase
    for ob in world.characters():
        entry = addon.session().entries.get(ob.softrig.uuid)
        if carrier.find_bake(ob) is not None:
            continue
        if entry is None or entry.object_name != ob.name:
            return False
        if entry.state.is_refused or entry.blocked:
            continue
        wish = addon.module("blender.stage").make_wish(
            addon.session(), entry, ob, bpy.context.scene
        )
        due = addon.module("model.schedule").due_events(entry, wish, time.monotonic() + 100.0)
        state = entry.state
        if due or state.phase is not phases.LIVE or state.stale or state.owed:
            return False
        if addon.module("blender.followers").changed(addon.session(), entry):
            return False
    return not addon.session().rescan


def states() -> list[str]:
    entries = addon.session().entries.values()
    return [
        f"{entry.object_name}: {entry.state} {entry.blocked} {entry.shot_status} {entry.settings}"
        for entry in entries
    ]


def settle(world: World) -> Iterator[float]:
    for _ in range(MOST_TURNS):
        if is_settled(world):
            return
        yield 0.05
    raise checks.SoakError(f"it does not settle: {states()}")


def look_closely(world: World) -> Iterator[float]:
    to_object_mode()
    actions.look(world)
    yield 0.3
    yield from settle(world)
    bpy.context.view_layer.update()
    for ob in world.characters():
        checks.check_character(world, ob)
    checks.check_doors()


def play(world: World, count: int, least: int) -> Iterator[float]:
    bpy.context.preferences.view.show_splash = False
    yield 1.0
    scenes.start_empty()
    yield 1.0
    turn = 0
    while soak.is_short(world, count, least):
        turn += 1
        checks.demand(turn <= 3 * count, "some kinds of action never succeed")
        name = soak.choose_kind(world, least)
        print(f"{turn:4} {name}", flush=True)
        soak.act(world, name)
        remember(name)
        yield world.pick([0.01, 0.05, 0.15])
        checks.check_doors()
        if turn % soak.CHECK_EVERY == 0:
            yield from look_closely(world)
    to_object_mode()
    for ob in world.meshes():
        bpy.data.objects.remove(ob)
    yield 3.0
    checks.check_nothing_left()


def run(options: argparse.Namespace) -> Iterator[float]:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        world = World(options.seed, Path(folder))
        try:
            yield from play(world, options.actions, options.least)
        except Exception:
            print("the last ones:", *world.log[-soak.SHOWN :], sep="\n  ", flush=True)
            raise
    print(soak.report(world, time.monotonic() - started), flush=True)


def turn(steps: Iterator[float]) -> float | None:
    try:
        return next(steps)
    except StopIteration:
        code = 0
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.exit(code)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Random actions in the window.")
    parser.add_argument("--actions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=int, default=3)
    faulthandler.enable()
    steps = run(parser.parse_args(arguments))
    bpy.app.timers.register(lambda: turn(steps), first_interval=1.0, persistent=True)


main(sys.argv[sys.argv.index("--") + 1 :])
