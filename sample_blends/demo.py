# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: builds the character, adds Softrig, bakes by two solvers, and shows before and after.

    blender -b --python sample_blends/demo.py -- --zip ZIP --output FOLDER
    python sample_blends/demo.py --zip ZIP --output FOLDER         (with the bpy package)

Without --zip, Softrig must be installed already; ffmpeg, if there, makes the video.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sample_blends import character, figures, film, motion, render
from sample_blends.figures import Array

_STAGE_COUNT = 11

_SOLVERS = {"position-based": "FLESH", "complementary": "COMPLEMENTARY"}
"""What the film shows, the default last."""


class DemoError(Exception):
    """Something that the demo needs is missing or refused; its text is for people."""


class Story:
    """Says what is being done, keeps Blender's own chatter apart, and notes the times."""

    def __init__(self, folder: Path) -> None:
        self.stages: list[dict] = []
        self._log = (folder / "blender.log").open("wb")
        self._out = os.fdopen(os.dup(1), "w")

    def say(self, text: str) -> None:
        print(text, file=self._out, flush=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[dict]:
        """One stage; what it finds out goes into the dictionary."""
        self.say(f"[{len(self.stages) + 1}/{_STAGE_COUNT}] {name} ...")
        note: dict = {"stage": name}
        start = time.perf_counter()
        with self._quiet():
            yield note
        note["seconds"] = round(time.perf_counter() - start, 3)
        self.stages.append(note)
        self.say(f"      {note['seconds']:.2f} s")

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        sys.stdout.flush()
        kept = os.dup(1), os.dup(2)
        os.dup2(self._log.fileno(), 1)
        os.dup2(self._log.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])

    def frames(self, frame: int) -> None:
        """Progress of a frame range: one line for every second of film."""
        if frame % motion.FPS == 0:
            self.say(f"      frame {frame} of {motion.LAST_FRAME}")


def _call(operator: Callable, what: str, **options: object) -> None:
    try:
        result = operator(**options)
    except RuntimeError as error:
        raise DemoError(f"{what} failed: {error}") from error
    if result != {"FINISHED"}:
        raise DemoError(f"{what} did not finish: {result}")


def install_softrig(zip_path: Path) -> None:
    """Installs the add-on's zip as a user would; 3.4 knows no extensions."""
    if not zip_path.is_file():
        raise DemoError(f"{zip_path} is not there.")
    options = {"filepath": str(zip_path)}
    if bpy.app.version < (4, 2, 0):
        _call(bpy.ops.preferences.addon_install, "Installing Softrig", **options)
    else:
        options.update(repo="user_default", enable_on_install=True)
        _call(bpy.ops.extensions.package_install_files, "Installing Softrig", **options)


def enable_softrig() -> None:
    """Enables the installed add-on where the preferences have not done so."""
    if "add" in dir(bpy.ops.softrig):
        return
    import addon_utils  # bpy's own module: there only after bpy has been imported

    for module in addon_utils.modules():
        if module.__name__.split(".")[-1] == "softrig":
            addon_utils.enable(module.__name__)
    if "add" not in dir(bpy.ops.softrig):
        raise DemoError("Softrig is not installed in this Blender: its operators are missing.")


def _save(folder: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "demo.blend"))


def _prepare(story: Story, folder: Path, zip_path: Path | None) -> bpy.types.Object:
    with story.stage("Getting Softrig ready"):
        if zip_path:
            install_softrig(zip_path)
        enable_softrig()
    with story.stage("Building the character") as note:
        character.start_empty()
        skin, armature = character.build()
        note.update(vertices=len(skin.data.vertices), bones=len(armature.data.bones))
    with story.stage("Adding Softrig: cage, weights, tape, simulation"):
        _call(bpy.ops.softrig.add, "Adding Softrig")
        if not any(m.name.startswith(render.MODIFIER_PREFIX) for m in skin.modifiers):
            raise DemoError("Softrig was added, but the skin has no modifier of its name.")
    return skin


def _bake(story: Story, skin: bpy.types.Object, name: str, solver: str, still: Array) -> dict:
    """By one solver; gives what the offsets from the `still` shot come to after the stop."""
    with story.stage(f"Simulating and baking, {name}"):
        if bpy.ops.softrig.free_bake.poll():
            _call(bpy.ops.softrig.free_bake, "Freeing the bake")
        skin.softrig.solver = solver
        _call(bpy.ops.softrig.bake, "Baking")
    with story.stage(f"Measuring the offsets, {name}") as note:
        rest = np.array([v.co for v in skin.data.vertices])
        moved = figures.shot(bpy.context.scene, skin, True)
        note["offsets_percent"] = figures.describe(still, moved, rest)
    return note["offsets_percent"]


def _draw(story: Story, skin: bpy.types.Object, folder: Path, name: str, softrig: bool) -> None:
    frames = range(motion.FIRST_FRAME, motion.LAST_FRAME + 1)
    with story.stage(f"Drawing {name}") as note, render.softrig_switched(skin, softrig):
        note.update(render.render_frames(bpy.context.scene, folder / name, frames, story.frames))


def _join(story: Story, folder: Path) -> None:
    with story.stage("Making video, stills and contact sheet") as note:
        if not film.is_possible():
            note["files"] = []
            note["left_out"] = "ffmpeg is not installed: the frames are there, the video is not."
            story.say("      " + note["left_out"])
            return
        note["files"] = film.make_all(folder)


def _write_report(folder: Path, story: Story, offsets: dict, seconds: float) -> None:
    report = {
        "blender": bpy.app.version_string,
        "stop_frame": motion.STOP_FRAME,
        "stop_direction": motion.STOP_DIRECTION,
        "seconds": round(seconds, 2),
        "stages": story.stages,
    }
    (folder / "demo.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    lines = [f"Softrig demo in Blender {bpy.app.version_string}, {seconds:.1f} s", ""]
    lines += [f"{note['seconds']:8.2f} s  {note['stage']}" for note in story.stages]
    lines += ["", f"Offsets after the stop at frame {motion.STOP_FRAME}, % of the size:"]
    for name, regions in offsets.items():
        lines += ["", f"{name:16}{'largest':>9}{'swings':>8}{'2 s later':>11}"]
        for region, found in regions.items():
            numbers = (found["largest"], found["sign_changes"], found["settled"])
            lines.append("{:16}{:9.2f}{:8d}{:11.3f}".format(region, *numbers))
    (folder / "demo.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(folder: Path, size: tuple[int, int], zip_path: Path | None = None) -> None:
    """The whole demo; everything it makes is in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    story = Story(folder)
    skin = _prepare(story, folder, zip_path)
    render.set_stage(bpy.context.scene, size)
    _save(folder)
    _draw(story, skin, folder, film.COLUMNS[0], False)
    still = figures.shot(bpy.context.scene, skin, False)
    offsets = {}
    for name, solver in _SOLVERS.items():
        offsets[name] = _bake(story, skin, name, solver, still)
        _draw(story, skin, folder, name, True)
    _save(folder)
    _join(story, folder)
    _write_report(folder, story, offsets, time.perf_counter() - start)
    story.say((folder / "demo.txt").read_text(encoding="utf-8"))
    story.say(f"Everything is in {folder}")


def _main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Show Softrig on the sample character.")
    parser.add_argument("--output", required=True, type=Path, help="folder for what is made")
    parser.add_argument("--zip", type=Path, help="the add-on, to be installed first")
    parser.add_argument("--size", default=render.DEFAULT_SIZE, help="pixels of one column")
    options = parser.parse_args(arguments)
    width, height = (int(n) // 2 * 2 for n in options.size.split("x"))
    try:
        run(options.output.resolve(), (width, height), options.zip and options.zip.resolve())
    except (DemoError, film.FilmError) as error:
        print(f"The demo stopped: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    code = _main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    sys.stdout.flush()
    # why not sys.exit: bpy 4.5 hangs at exit while an add-on's handler is registered
    os._exit(code)
