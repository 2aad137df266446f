# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays the story in Blender's real window and ends Blender with 0 when all of it held, else 1.

Started by addon/packaging/run_installed.py. Names behind `--` choose parts of the story;
`pictures` takes those of the docs instead.
"""

import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]


def chosen_parts() -> list:
    from story import STORY

    names = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    if names == ["pictures"]:
        from pictures import PICTURES

        return list(PICTURES)
    return [part for part in all_parts(STORY) if not names or part.__name__ in names]


def all_parts(told: tuple) -> list:
    """Options follow the bake that they are about; switching off comes last."""
    from baking import bake_options_by_mouse
    from files import FILES
    from playing import everything_changes_while_it_plays
    from renders import RENDERS

    parts = [*told[:-1], everything_changes_while_it_plays, *FILES, *RENDERS, told[-1]]
    after = next(k for k, part in enumerate(parts) if part.__name__ == "bake_and_free")
    return [*parts[: after + 1], bake_options_by_mouse, *parts[after + 1 :]]


def play_story() -> Iterator[float]:
    from support import addon, scenes

    bpy.context.preferences.view.show_splash = False
    yield 1.0
    scenes.start_empty()
    yield 1.0
    for part in chosen_parts():
        started = time.monotonic()
        yield from part()
        fault = addon.session().fault if addon.session() else ""
        assert not fault, fault
        print(f"window: {part.__name__}: held, {time.monotonic() - started:.1f} s", flush=True)


STORY_STEPS = play_story()


def turn() -> float:
    try:
        return next(STORY_STEPS)
    except StopIteration:
        end(0)
    except Exception:
        traceback.print_exc()
        end(1)
    return 1.0


def end(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(code)


bpy.app.timers.register(turn, first_interval=1.0, persistent=True)
