# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws samples as strips, above without Softrig and below with it, and saves them as .blend.

Each picture says what disturbs an eye in it: jerk, cells turned inside out, folds of the skin.

./softrig samples [NAME...]         pictures, files and tables go into samples/
"""

import argparse
import operator
import os
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import bpy
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sample_blends import character, demo, figures, puppet, quality, render
from sample_blends.samples import SAMPLES, Sample

SIZE = (280, 280)


def make(sample: Sample) -> list[Any]:
    """The sample alone in an empty file, its skins with Softrig."""
    character.start_empty()
    skins = sample.build()
    for skin in skins:
        puppet.make_active(skin)
        if bpy.ops.softrig.add() != {"FINISHED"}:
            raise demo.DemoError(f"{skin.name} did not get Softrig.")
    return skins


def set_stage(scene: Any, sample: Sample, skin: Any) -> None:
    """The demo's stage with a camera of its own, looking where the sample wants it."""
    render.set_stage(scene, SIZE)
    camera = scene.camera
    camera.animation_data_clear()
    away = np.array(camera.rotation_euler.to_matrix())[:, 2]
    place = np.array(sample.target) + sample.distance * away
    for frame in sample.frames:
        camera.location = place + (_travel(scene, skin, frame) if sample.follows else 0.0)
        camera.keyframe_insert("location", frame=frame)


def _travel(scene: Any, skin: Any, frame: int) -> np.ndarray:
    """How far the rig's root has come along the floor since the first frame."""
    places = []
    for shown in (scene.frame_start, frame):
        scene.frame_set(shown)
        rig = skin.parent
        places.append(np.array(rig.matrix_world @ rig.pose.bones["root"].matrix)[:3, 3])
    return (places[1] - places[0]) * (1.0, 1.0, 0.0)


def draw(name: str, folder: Path) -> Path:
    """Makes, saves and draws one sample; gives the strip."""
    sample = SAMPLES[name]
    skins = make(sample)
    set_stage(bpy.context.scene, sample, skins[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    rows, found = [], [_measure(scene, skins, softrig) for softrig in (False, True)]
    for row, softrig in enumerate((False, True)):
        for skin in skins:
            _switch(skin, softrig)
        place = folder / "frames" / f"{name}-{row}"
        for frame in sample.frames:
            _stamp(scene, found[row].tell(frame - frames.start))
            render.render_frames(scene, place, [frame])
        rows.append(
            np.concatenate([_pixels(place / f"{f:04d}.png") for f in sample.frames], axis=1)
        )
    print(f"\n{name}: without Softrig | with it")
    print(quality.table(frames, *found, sample.frames), flush=True)
    quality.write(folder / f"{name}.csv", frames, *found)
    # Blender counts rows of pixels from below
    return _write(folder / f"{name}.png", np.concatenate(rows[::-1], axis=0))


def _measure(scene: Any, skins: list[Any], softrig: bool) -> quality.Quality:
    """All skins of the scene together."""
    each = [figures.quality_of(scene, skin, softrig) for skin in skins]
    return reduce(operator.add, each)


def _stamp(scene: Any, text: str) -> None:
    """Into the picture, in its lower left corner."""
    settings = scene.render
    for name in dir(settings):
        if name.startswith("use_stamp_"):
            setattr(settings, name, name == "use_stamp_note")
    settings.use_stamp, settings.stamp_font_size, settings.stamp_note_text = True, 11, text


def _switch(skin: Any, on: bool) -> None:
    modifier = skin.modifiers["Softrig"]
    modifier.show_viewport = modifier.show_render = on


def _pixels(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    flat = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(flat)
    shape = (image.size[1], image.size[0], 4)
    bpy.data.images.remove(image)
    return flat.reshape(shape)


def _write(path: Path, pixels: np.ndarray) -> Path:
    image = bpy.data.images.new(path.stem, pixels.shape[1], pixels.shape[0])
    image.pixels.foreach_set(pixels.astype(np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
    return path


def _main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Draw the sample scenes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SAMPLES))
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in SAMPLES]
    if unknown:
        print(f"There is no sample {unknown[0]!r}; there are {', '.join(SAMPLES)}", file=sys.stderr)
        return 2
    folder = options.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    demo.enable_softrig()
    for name in options.names or SAMPLES:
        print(draw(name, folder), flush=True)
    return 0


if __name__ == "__main__":
    code = _main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    sys.stdout.flush()
    # why not sys.exit: bpy 4.5 hangs at exit while an add-on's handler is registered
    os._exit(code)
