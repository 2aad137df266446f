# SPDX-License-Identifier: GPL-3.0-or-later
"""What `./softrig bake` runs inside a Blender that has the add-on: opens the file, bakes, leaves.

Started by run_installed.py. Events go to descriptor 3, which the runner makes its standard output;
what Blender says of itself goes to the error output.
"""

import argparse
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TextIO

import bpy


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="softrig bake", description="Bakes a .blend's characters")
    parser.add_argument("file", type=Path, help="the .blend")
    parser.add_argument("--characters", default="", help="names of objects, separated by commas")
    parser.add_argument("--frames", default="", help="a range such as 1-100")
    parser.add_argument("--subframes", type=int, default=-1, help="between two frames, 0 to 99")
    parser.add_argument("--output", default="", help="another folder than beside the file")
    parser.add_argument("--take", default="Main", help="the take to bake")
    parser.add_argument("--save", action="store_true", help="let the file play the bake, save it")
    return parser.parse_args(arguments)


def give_up(message: str) -> int:
    """Before any character was met."""
    for event in (
        {"event": "failed", "message": message},
        {"event": "end", "ok": False, "baked": 0, "failed": 1},
    ):
        print(json.dumps(event))
    print(f"softrig: {message}", file=sys.stderr)
    return 1


def bake(wish: argparse.Namespace) -> int:
    if not wish.file.is_file():
        return give_up(f"There is no file {wish.file}.")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(wish.file.resolve()))
    except RuntimeError as error:
        return give_up(f"{wish.file} cannot be opened: {str(error).strip()}")
    try:
        bpy.ops.softrig.farm(
            characters=wish.characters,
            frames=wish.frames,
            subframes=wish.subframes,
            output=str(Path(wish.output).resolve()) if wish.output else "",
            take=wish.take,
            save=wish.save,
        )
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str], events: TextIO) -> int:
    wish = parse(arguments)
    with redirect_stdout(events), events:
        return bake(wish)


if __name__ == "__main__":
    told = os.fdopen(3, "w", encoding="utf-8")
    sys.exit(main(sys.argv[sys.argv.index("--") + 1 :], told))
