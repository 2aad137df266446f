# SPDX-License-Identifier: GPL-3.0-or-later
"""What `./softrig bake` runs inside a Blender that has the add-on: opens the file, bakes, leaves.

Started by run_installed.py. Events go to descriptor 3, which the runner makes its standard output;
what Blender says of itself goes to the error output.
"""

import argparse
import os
import sys
from pathlib import Path

import bpy


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="softrig bake", description="Bakes a .blend's characters")
    parser.add_argument("file", type=Path, help="the .blend")
    parser.add_argument("--characters", default="", help="names of objects, separated by commas")
    parser.add_argument("--frames", default="", help="a range such as 1-100")
    parser.add_argument("--subframes", type=int, default=-1, help="between two frames, 0 to 99")
    parser.add_argument("--output", default="", help="another folder than beside the file")
    parser.add_argument("--take", default="Main", help="the take to bake")
    parser.add_argument("--save", action="store_true", help="let the file play the bake, save it")
    return parser.parse_args(sys.argv[sys.argv.index("--") + 1 :])


def main() -> int:
    wish = parse()
    if not wish.file.is_file():
        print(f"softrig: there is no file {wish.file}", file=sys.stderr)
        return 1
    bpy.ops.wm.open_mainfile(filepath=str(wish.file.resolve()))
    output = str(Path(wish.output).resolve()) if wish.output else ""
    sys.stdout = os.fdopen(3, "w", encoding="utf-8")
    try:
        bpy.ops.softrig.farm(
            characters=wish.characters,
            frames=wish.frames,
            subframes=wish.subframes,
            output=output,
            take=wish.take,
            save=wish.save,
        )
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
